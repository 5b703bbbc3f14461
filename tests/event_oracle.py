"""An event simulation that shares nothing with the library: one scene, one event at a time."""

import numpy as np


class Scene:
    """Discs among flat walls (normal, offset) and round ones (centre, radius, inside)."""

    def __init__(self, radii, planes=(), circles=(), masses=None, restitution=1.0, loss=0.0):
        self.radii = np.asarray(radii, float)
        self.planes = [(np.asarray(n, float), float(b)) for n, b in planes]
        self.circles = [(np.asarray(c, float), float(r), inside) for c, r, inside in circles]
        self.masses = np.ones(len(radii)) if masses is None else np.asarray(masses, float)
        self.restitution, self.loss = restitution, loss

    def run(self, x, v, time):
        """Positions, velocities and the number of events after `time`."""
        x, v, events = np.array(x, float), np.array(v, float), 0
        while True:
            wait, event = min(self._events(x, v), default=(np.inf, None), key=lambda e: e[0])
            if wait >= time:
                return x + time * v, v, events
            x, time, events = x + wait * v, time - wait, events + 1
            self._collide(x, v, event)

    def _events(self, x, v):
        for a in range(len(x)):
            for n, b in self.planes:
                if n @ v[a] > 1e-12:
                    yield max((b - n @ x[a]) / (n @ v[a]), 0.0), (a, n)
            for centre, radius, inside in self.circles:
                wait = _crossing(x[a] - centre, v[a], radius, leaving=inside)
                if wait is not None:
                    outward = x[a] + wait * v[a] - centre
                    yield wait, (a, outward / radius * (1 if inside else -1))
            for c in range(a):
                wait = _crossing(x[a] - x[c], v[a] - v[c], self.radii[a] + self.radii[c], False)
                if wait is not None:
                    yield wait, (a, c)

    def _collide(self, x, v, event):
        a, other = event
        if isinstance(other, np.ndarray):
            normal = (other @ v[a]) * other
            sliding = v[a] - normal
            v[a] = (1 - self.loss) * sliding - self.restitution * normal
            return
        n = (x[a] - x[other]) / np.linalg.norm(x[a] - x[other])
        relative = v[a] - v[other]
        after = -self.restitution * (n @ relative) * n
        after += (1 - self.loss) * (relative - (n @ relative) * n)
        total = self.masses[a] + self.masses[other]
        centre = (self.masses[a] * v[a] + self.masses[other] * v[other]) / total
        v[a] = centre + self.masses[other] / total * after
        v[other] = centre - self.masses[a] / total * after


def _crossing(gap, drift, radius, leaving):
    """When the distance becomes `radius` from inside (leaving) or from outside."""
    roots = np.roots([drift @ drift, 2 * gap @ drift, gap @ gap - radius**2])
    roots = roots[np.isreal(roots)].real
    for root in sorted(roots):
        parting = (gap + root * drift) @ drift
        if root > -1e-9 and (parting > 1e-12 if leaving else parting < -1e-12):
            return max(root, 0.0)
    return None
