"""Our own system and the paper's names, each a choice of parts; any other is just another row."""

import difflib
from typing import Any

from comotion.config import SystemConfig, replace
from comotion.errors import BadInput

_GP = {"function": "gp"}
_NN = {"function": "mlp"}
_BNN = {"function": "bnn"}
_JOINT = {"who": "joint"}
_LATENT = {"hidden_velocity": True}
_STRUCTURED = {"order": 2, "hidden_velocity": True}
_INFERRED = {"properties": "inferred"}

DEFAULT = "comotion"
"""What `fit` takes for data that nobody has said anything about."""

MOTION = "motion"
"""From the last frame seen, with process noise of its own; `identify` adds laws to it."""

_FOR_PEOPLE = {
    "scaling": "units",
    "pair": "radial",
    "encoder": "smoother",
    "inducing_alone": 60,
    "inducing_pair": 100,
    "fourier_features": 96,
}

_COLLIDING = {"contacts": "auto", "simplify": True}
"""Where things bounce, where and how is found in the data."""

_MOTION = {
    "scaling": "units",
    "encoder": "filter",
    "encoder_frames": 10,
    "process_noise": "body",
    "alone": "none",
    "pair": "none",
    "inducing_alone": 60,
    "inducing_pair": 60,
    "fourier_features": 64,
}
"""How people, animals and machines move: from the last frame seen, with noise of their own."""

OURS = {
    DEFAULT: "things that push and pull each other: balls, charges, springs, particles",
    MOTION: "things that move by themselves: people, animals, machines",
}
"""Systems that are not the paper's, and what they are for."""

SYSTEMS: dict[str, dict[str, Any]] = {
    DEFAULT: _GP | _STRUCTURED | _FOR_PEOPLE | _COLLIDING,
    MOTION: _GP | _STRUCTURED | _MOTION,
    "NODE": _NN | _JOINT,
    "NODE-L": _NN | _JOINT | _LATENT,
    "NODE-8": _NN | _JOINT | {"latent": 8, "decoder": "linear"},
    "NODE-16": _NN | _JOINT | {"latent": 16, "decoder": "linear"},
    "BNODE": _BNN | _JOINT,
    "BNODE-L": _BNN | _JOINT | _LATENT,
    "GPODE": _GP | _JOINT,
    "GPODE-L": _GP | _JOINT | _LATENT,
    "I-NODE": _NN,
    "I-NODE-L": _NN | _LATENT,
    "I-NODE-8": _NN | {"latent": 8, "decoder": "linear"},
    "I-NODE-16": _NN | {"latent": 16, "decoder": "linear"},
    "I-NODE-S": _NN | _STRUCTURED,
    "I-BNODE": _BNN,
    "I-GPODE": _GP,
    "I-GPODE-L": _GP | _LATENT,
    "I-GPODE-S": _GP | _STRUCTURED,
    "I-GPODE-L-S": _GP | _STRUCTURED,
    "I-GPSSM": _GP | {"time": "discrete"},
}
"""What each system changes from the defaults of `SystemConfig`, which are I-GPODE's."""

FORMS: dict[str, dict[str, Any]] = {
    "without-globals": {"properties": "none"},
    "with-globals": _INFERRED,
    "globals-observed": {"properties": "observed"},
}
"""Endings such as `I-GPODE/with-globals`: what happens to the static properties."""


def system(name: str, **changes: Any) -> SystemConfig:
    """The parts of a named system, with some of them changed.

    Names are matched without case; `comotion systems --parts` explains every part. `fit` takes
    the result as `system`.

    >>> cm.system("comotion", kernel="matern52").kernel
    'matern52'
    """
    base, _, form = name.partition("/")
    spelled = {known.lower(): known for known in SYSTEMS}
    base = spelled.get(base.lower(), base)
    name = f"{base}/{form}" if form else base
    if base not in SYSTEMS or (form and form not in FORMS):
        close = difflib.get_close_matches(base.lower(), spelled, n=1, cutoff=0.7)
        guess = f" (did you mean {spelled[close[0]]}?)" if close else ""
        raise BadInput(
            f"there is no system '{name}'{guess}: choose one of {', '.join(SYSTEMS)}, "
            f"optionally followed by {', '.join('/' + ending for ending in FORMS)}"
        )
    parts = SYSTEMS[base] | FORMS.get(form, {}) | changes
    return replace(SystemConfig(), name=name, **parts)
