"""Where position, velocity and the rest stand in an object's state vector."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Layout:
    """The state of one object is [position, velocity, extra], in this order everywhere."""

    spatial: int
    has_velocity: bool = True
    extra: int = 0
    properties: int = 0
    controls: int = 0
    hidden: bool = False
    """whether no entry is observed as it is: what is seen (pixels) is decoded from the state"""

    @property
    def vectors(self) -> int:
        """How many spatial vectors the state holds: position, and velocity if it has one."""
        return 2 if self.has_velocity else 1

    @property
    def state(self) -> int:
        return self.spatial * self.vectors + self.extra

    def learned(self, order: int) -> int:
        """Entries whose rate is learned; at second order that of position is velocity."""
        return self.state if order == 1 else self.state - self.spatial

    @property
    def position(self) -> slice:
        return slice(0, self.spatial)

    @property
    def velocity(self) -> slice:
        return slice(self.spatial, self.spatial * self.vectors)

    @property
    def shown(self) -> tuple[int, ...]:
        """All entries but velocities: a picture shows where things are, not how fast they move."""
        entries = range(self.state)
        return tuple(entries[self.position]) + tuple(entries[self.velocity.stop :])

    @property
    def blocks(self) -> tuple[int, ...]:
        """Sizes of the parts of the state, leaving out the empty ones."""
        sizes = (self.spatial, self.spatial * (self.vectors - 1), self.extra)
        return tuple(size for size in sizes if size > 0)
