import base64
import io
import re
from html.parser import HTMLParser

import pytest
from PIL import Image

from comotion.data import BadInput
from comotion.report import Column, Table, animate, forecast_figure, write_page


class _Page(HTMLParser):
    """What a browser would see: images, references to elsewhere and whether tags are balanced."""

    def __init__(self, text: str):
        super().__init__()
        self.images: list[dict] = []
        self.references: list[str | None] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.references += [found[name] for name in ("href", "src") if name in found]
        if tag == "img":
            self.images.append(found)
        if tag not in ("img", "meta", "link", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture
def page(planar, tmp_path):
    film = animate(*planar, path=tmp_path / "motion.gif")
    return write_page(
        tmp_path / "out" / "report.html",
        title="Orbits <3 & more",
        tables=[Table("Skill", (Column("system"), Column("CRPS", 3)), (("ours <", 0.25),))],
        figures={'Bands over "time"': forecast_figure(*planar), "The forecast in motion": film},
        details={"seed": 0, "system": "I-GPODE"},
    )


def test_the_page_stands_alone(page):
    text = page.read_text(encoding="utf-8")
    seen = _Page(text)
    assert seen.open == []
    assert all(str(reference).startswith("data:") for reference in seen.references)
    assert not re.search(r"https?://|@import|<script", text)
    assert [file.name for file in page.parent.iterdir()] == ["report.html"]


def test_the_page_shows_its_pictures_with_alt_texts_and_sizes(page):
    png, gif = _Page(page.read_text(encoding="utf-8")).images
    assert png["alt"] == 'Bands over "time"'
    for image, kind in ((png, "PNG"), (gif, "GIF")):
        with Image.open(io.BytesIO(base64.b64decode(image["src"].split(",")[1]))) as picture:
            assert picture.format == kind
            assert picture.size == (int(image["width"]), int(image["height"]))


def test_the_page_holds_every_score_and_detail(page):
    text = page.read_text(encoding="utf-8")
    assert "<h2>Skill</h2>" in text
    assert '<th scope="row">ours &lt;</th><td class="number">0.250</td>' in text
    assert "<h1>Orbits &lt;3 &amp; more</h1>" in text
    assert "<dt>seed</dt><dd>0</dd>" in text


def test_a_page_without_tables_has_only_pictures(planar, tmp_path):
    picture = forecast_figure(*planar)
    path = write_page(tmp_path / "p.html", title="t", figures={"c": picture}, details={})
    text = path.read_text(encoding="utf-8")
    assert "<table" not in text
    assert len(_Page(text).images) == 1


def test_what_is_no_picture_is_refused_and_the_old_page_stays(page):
    before = page.read_bytes()
    with pytest.raises(BadInput, match=r"missing\.png is no picture for the page"):
        write_page(page, title="t", figures={"c": "missing.png"}, details={})
    assert page.read_bytes() == before
