"""One offline HTML file in which the fitted model itself runs."""

from html import escape
from pathlib import Path

from comotion.backend.disk import replacing
from comotion.data import Trajectories
from comotion.predict import FittedModel
from comotion.report.explorer.export import Extent, explorable
from comotion.report.explorer.pack import pack
from comotion.report.explorer.page import page_html

__all__ = ["Explorer", "Extent", "explore"]


class Explorer:
    """A page to play with: in a notebook it shows itself, `save` writes the file."""

    def __init__(self, html: str):
        self.html = html

    def save(self, path: str | Path) -> Path:
        """Readers see the whole page or the one before."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as whole:
            whole.write_text(self.html, encoding="utf-8")
        return path

    def frame(self, height: int) -> str:
        """The page inside another one."""
        return (
            f'<iframe title="The fitted model, to play with" srcdoc="{escape(self.html)}" '
            'sandbox="allow-scripts allow-downloads" loading="lazy" '
            f'style="width:100%;height:{height}px;border:0;border-radius:12px"></iframe>'
        )

    def _repr_html_(self) -> str:
        return self.frame(height=760)

    def __repr__(self) -> str:
        return f"Explorer({len(self.html) / 1e6:.2f} MB of HTML; save it with .save(path))"


def explore(
    fitted: FittedModel, data: Trajectories, *, title: str | None = None, **extent: int
) -> Explorer:
    """A page in which the model runs on the objects of `data`.

    `draws`, `sequences`, `frames` (to forecast), `origins` (moments to forecast from) and `seed`
    say how much of both it carries.
    """
    name = title or f"{fitted.system}, {len(data.features)} features"
    return Explorer(page_html(pack(explorable(fitted, data, Extent(**extent), name))))
