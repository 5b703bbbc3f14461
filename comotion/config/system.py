"""What to build: the parts of a system."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from comotion.config.checked import Checked, Limits, RowOf, from_dict, to_dict


@dataclass(frozen=True)
class SystemConfig(Checked):
    """The parts of a system; `comotion systems` lists the named combinations.

    >>> cm.SystemConfig(pair="radial", order=2).kernel
    'se'
    """

    name: str = "I-GPODE"
    """the system these parts belong to"""
    function: Annotated[str, RowOf("FUNCTIONS")] = "gp"
    """what stands for an unknown law: gp knows how sure it is, mlp (a network) does not, bnn (a
    network with uncertain weights) in part"""
    who: Literal["interacting", "joint"] = "interacting"
    """interacting: f_s (what an object does alone) plus f_b (what each other object does to it),
    for any number of objects; joint: one law of all together, for a fixed number"""
    accumulation: Annotated[str, RowOf("ACCUMULATIONS")] = "sum"
    """how the pushes of several others become one: added up, added with weights, or any function"""
    alone: Annotated[str, RowOf("ALONE")] = "raw"
    """what an object by itself depends on: raw, its place and velocity; axis, each direction for
    itself; mirror, the same on both sides of the middle; speed, only how fast it is; wall, that and
    where the nearest wall is, as it sees it; none, nothing (it goes straight on)"""
    pair: Annotated[str, RowOf("PAIR")] = "relative"
    """what two objects depend on: raw, places and velocities of both; relative, how they lie to
    each other; galilean, only differences; radial, distance and approach, the same in every
    direction; central, the same along the line between them alone; distance, a push along that line
    by distance alone, which kinds may feel differently; log-distance, the same for forces that are
    steep nearby and reach far; multiplying, a push without bound nearby, and one more that the
    properties of both multiply; aligning, by distance, growing with the gap, and one that evens out
    velocities; body, where the other is as seen by the one that moves; none, they do not care"""
    order: Literal[1, 2] = 1
    """2: the rate of position is velocity, only accelerations are learned"""
    time: Literal["continuous", "discrete"] = "continuous"
    """an ODE, or one jump per frame"""
    hidden_axes: Annotated[int, Limits(1, 3)] = 2
    """axes of the hidden space when no positions are observed, only pixels for example"""
    hidden_velocity: bool = False
    """whether velocities that are not observed are part of the state"""
    latent: Annotated[int, Limits(0)] = 0
    """widen the state of each object to this many entries; 0: only what the others ask for"""
    properties: Literal["none", "observed", "inferred"] = "observed"
    """static properties: left out, given with the data, or inferred from the first frames"""
    property_count: Annotated[int, Limits(1)] = 1
    """how many properties to infer"""
    property_encoder: Literal["small", "large", "signs"] = "small"
    """size of the network that infers properties; signs, for a property that is -1 or 1, by what a
    law that multiplies it explains"""
    property_reading: Annotated[str, RowOf("READINGS")] = "features"
    """what the property encoder is told about a pair: features and their differences, or motion
    and rates as seen from the line between the two"""
    property_activation: Literal["elu", "relu"] = "elu"
    """nonlinearity of that network"""
    property_frames: Annotated[int, Limits(1)] = 49
    """frames the property encoder sees"""
    encoder: Literal["gru", "smoother", "filter"] = "gru"
    """states by a recurrent network or Bayesian regression on the first frames, or by a filter at
    the last frame seen"""
    process_noise: Literal["state", "body"] = "state"
    """of the law: none until it is calibrated, or speed and turning apart, with a memory"""
    encoder_frames: Annotated[int, Limits(1)] = 5
    """frames the initial-state encoder sees"""
    decoder: Literal["identity", "linear", "mlp"] = "identity"
    """from state to observation"""
    hidden_decoder: Annotated[int, Limits(1)] = 128
    """hidden units of the decoder when it is a network"""
    scaling: Literal["none", "units"] = "none"
    """data as they are, or in units in which positions and velocities are about one"""
    kernel: Annotated[str, RowOf("KERNELS")] = "se"
    """how smooth a law is expected to be: se very, matern52 and matern32 less, matern12 rough"""
    covariance: Literal["diagonal", "full"] = "diagonal"
    """whether the uncertainty of a law is kept for each support point, or for all together"""
    inducing_alone: Annotated[int, Limits(1)] = 250
    """support points of f_s (inducing inputs): more follow finer detail and cost time; a joint
    system has as many parameters as f_s and f_b together"""
    inducing_pair: Annotated[int, Limits(1)] = 250
    """support points of f_b"""
    fourier_features: Annotated[int, Limits(1)] = 256
    """waves that make up a drawn law between its support points: more are more exact and slower"""
    hidden_alone: Annotated[int, Limits(1)] = 256
    """hidden units of f_s when it is a network"""
    hidden_pair: Annotated[int, Limits(1)] = 512
    """hidden units of f_b when it is a network"""
    activation: Annotated[str, RowOf("ACTIVATIONS")] = "softplus"
    """nonlinearity of laws that are networks"""
    nearest: Annotated[int, Limits(0)] = 0
    """hear only this many nearest objects; 0: everyone the data's graph allows"""
    radius: Annotated[float, Limits(0)] = float("inf")
    """hear only objects this near, in the data's units"""
    substeps: Annotated[int, Limits(1)] = 1
    """RK4 steps per frame"""
    contacts: Literal["off", "hard", "soft", "auto"] = "off"
    """contacts: none, hard or soft ones found in the data (an error if there are none), or whether
    there are any decided by the data"""

    simplify: bool = False
    """whether a simple law takes the place of what `alone` and `pair` say where contacts are looked
    for and it explains nearly all that the data show: pushes by distance alone, times properties"""

    @property
    def frames_seen(self) -> int:
        """Frames of which a forecast knows anything, by either encoder."""
        inferred = self.properties == "inferred"
        return max(self.encoder_frames, self.property_frames if inferred else 0)


def replace(config: SystemConfig, **changes: Any) -> SystemConfig:
    """A copy with some parts changed, checked like any other config."""
    return from_dict(SystemConfig, {**to_dict(config), **changes}, where="system")
