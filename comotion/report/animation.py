"""A forecast in motion."""

from pathlib import Path

import numpy as np
import xarray as xr
from jaxtyping import Float, UInt8
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.patches import Circle
from PIL import Image

from comotion.backend.disk import replacing
from comotion.contacts import Outline
from comotion.data import Trajectories
from comotion.data.units import labelled
from comotion.predict.forecast import Forecast, dataset_of
from comotion.report import style
from comotion.report.contacts import draw_walls
from comotion.report.figures import check_positions, objects_in_scene

INCHES, DPI = 4.0, 110
MOST_DRAWS = 40
TRAIL = 8
TINTS = 10


def animate(
    forecast: Forecast | xr.Dataset,
    data: Trajectories,
    sequence: int = 0,
    path: str | Path = "forecast.gif",
    *,
    frames_per_second: float = 12.0,
    outline: Outline | None = None,
) -> Path:
    """Write a GIF: discs with a trail are the truth, faint dots of their colour are draws.

    Three dimensions are seen from above; in one, each object has its own line. `outline` has the
    learned walls and sizes of a model with hard contacts (`model.outline`).
    """
    forecast = dataset_of(forecast)
    check_positions(data)
    path = Path(path)
    objects = objects_in_scene(data, sequence, most=data.values.shape[2])
    truth = in_plane(data.values[sequence][:, objects], data.spatial)
    draws = in_plane(_draws(forecast, sequence)[:, :, objects], data.spatial)
    seen = int(forecast.attrs["frames_seen"])
    frames = render(truth, draws, data, sequence, seen, outline)
    write_gif(frames, path, frames_per_second)
    return path


def _draws(forecast: xr.Dataset, sequence: int) -> Float[np.ndarray, "L N A O"]:
    chosen = forecast["trajectory"].isel(sequence=sequence, draw=slice(MOST_DRAWS))
    return chosen.transpose("draw", "time", "object", "feature").values


def in_plane(values: Float[np.ndarray, "*B A O"], spatial: int) -> Float[np.ndarray, "*B A 2"]:
    """First two position coordinates; with only one, the object's number is the second."""
    if spatial > 1:
        return values[..., :2]
    lines = np.broadcast_to(np.arange(values.shape[-2], dtype=values.dtype), values.shape[:-1])
    return np.stack([values[..., 0], lines], axis=-1)


def render(
    truth: Float[np.ndarray, "N A 2"],
    draws: Float[np.ndarray, "L N A 2"],
    data: Trajectories,
    sequence: int,
    seen: int,
    outline: Outline | None = None,
) -> list[Image.Image]:
    """Draw the frame of the picture once and only the moving parts for every frame."""
    figure, panels = style.new_figure(1, 1, width=INCHES, height=INCHES)
    figure.set_dpi(DPI)
    axes = panels[0, 0]
    # Where nobody knows the truth, there must still be room for the draws.
    _set_scene(axes, np.where(np.isfinite(truth), truth, np.mean(draws, axis=0)), data)
    radius = None
    if outline is not None and data.spatial > 1:
        radius = outline.radius
        _set_walls(axes, outline)
    moving = _Moving(axes, truth, draws, data.times[sequence], seen, radius)
    canvas = figure.canvas
    assert isinstance(canvas, FigureCanvasAgg)
    for artist in moving.artists:
        artist.set_animated(True)
    canvas.draw()
    background = canvas.copy_from_bbox(figure.bbox)
    frames = []
    for n in range(int(data.lengths[sequence])):
        canvas.restore_region(background)
        moving.show(n)
        for artist in moving.artists:
            figure.draw_artist(artist)
        frames.append(Image.fromarray(_pixels(canvas)))
    return frames


class _Moving:
    """The parts of the picture that change from frame to frame."""

    def __init__(self, axes: Axes, truth, draws, times, seen: int, radius: float | None):
        self.truth, self.draws, self.times, self.seen = truth, draws, times, seen
        self.clock = axes.text(
            0.02, 1.02, "", transform=axes.transAxes, fontsize=9, color=style.INK
        )
        self.clouds, self.trails, self.discs, self.rims = [], [], [], []
        for a in range(truth.shape[1]):
            colour = style.OBJECTS[a % len(style.OBJECTS)]
            self.clouds += axes.plot([], [], "o", color=colour, alpha=0.28, ms=3.4, mew=0)
            self.trails += axes.plot([], [], color=colour, alpha=0.75, lw=1.6)
            self.discs += axes.plot([], [], "o", color=colour, ms=11, mec="white", mew=1.2)
            if radius is not None:
                rim = Circle((0.0, 0.0), radius, facecolor="none", edgecolor=colour, linewidth=1.2)
                self.rims.append(axes.add_patch(rim))

    @property
    def artists(self) -> list[Artist]:
        return [*self.clouds, *self.trails, *self.rims, *self.discs, self.clock]

    def show(self, n: int) -> None:
        recent = slice(max(0, n - TRAIL), n + 1)
        for a, (cloud, trail, disc) in enumerate(
            zip(self.clouds, self.trails, self.discs, strict=True)
        ):
            cloud.set_data(*self.draws[:, n, a].T)
            trail.set_data(*self.truth[recent, a].T)
            disc.set_data(*self.truth[n : n + 1, a].T)
        for rim, place in zip(self.rims, self.truth[n], strict=False):
            rim.set_center(tuple(place))
        state = "seen by the forecast" if n < self.seen else "forecast"
        self.clock.set_text(f"t = {self.times[n]:.2f}   {state}")


def _set_scene(axes: Axes, truth: Float[np.ndarray, "N A 2"], data: Trajectories) -> None:
    low, high = np.nanmin(truth, axis=(0, 1)), np.nanmax(truth, axis=(0, 1))
    room = 0.12 * float((high - low).max() or 1.0)
    axes.set(xlim=(low[0] - room, high[0] + room), ylim=(low[1] - room, high[1] + room))
    axes.grid(visible=False)
    axes.set_title(" ", fontsize=9)  # keeps room for the clock
    if data.spatial > 1:
        axes.set_aspect("equal")
        unit = data.units.length
        style.label(axes, x=labelled("x", unit), y=labelled("y", unit))
    else:
        axes.set(yticks=range(truth.shape[1]), ylim=(-0.6, truth.shape[1] - 0.4))
        style.label(axes, x=labelled("x", data.units.length), y="object")


def _set_walls(axes: Axes, outline: Outline) -> None:
    """Beside the paths there must be room for the walls; the far ends of open ones may be cut."""
    low, high = (np.array([side[k] for side in (axes.get_xlim(), axes.get_ylim())]) for k in (0, 1))
    reach = 0.6 * (high - low)
    draw_walls(axes, np.reshape(outline.segments, (-1, 2, 2)), np.reshape(outline.circles, (-1, 3)))
    corners = [*(end for ends in outline.segments for end in ends)]
    corners += [np.array([x, y]) + s * r for x, y, r in outline.circles for s in (-1.0, 1.0)]
    if corners:
        near = np.clip(corners, low - reach, high + reach)
        low, high = np.minimum(low, near.min(axis=0)), np.maximum(high, near.max(axis=0))
    edge = 0.02 * (high - low)
    axes.set(xlim=(low[0] - edge[0], high[0] + edge[0]), ylim=(low[1] - edge[1], high[1] + edge[1]))


def _pixels(canvas: FigureCanvasAgg) -> UInt8[np.ndarray, "height width 3"]:
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()


def _palette() -> Image.Image:
    """White, greys and tints of the objects' colours: small files, and colours that hold still."""
    tints = np.linspace(0, 1, TINTS)[:, None]
    white = np.ones(3)
    colours = [
        white + tints * (np.array(to_rgb(colour)) - white)
        for colour in (*style.OBJECTS, style.INK, style.MUTED)
    ]
    image = Image.new("P", (1, 1))
    image.putpalette((255 * np.concatenate(colours)).round().astype(np.uint8).tobytes())
    return image


def write_gif(frames: list[Image.Image], path: Path, frames_per_second: float) -> None:
    palette = _palette()
    indexed = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as whole:
        indexed[0].save(
            whole,
            format="GIF",
            save_all=True,
            append_images=indexed[1:],
            duration=round(1000 / frames_per_second),
            loop=0,
            optimize=False,
        )
