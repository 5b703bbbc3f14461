"""The moving picture of the README: a page being played with, in headless Chromium.

    python benchmarks/explorer_film.py [docs/explorables/hexbugs.html]

Opens the page, drags an object, throws it, and keeps what is seen as a small GIF.
"""

import io
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Page, ViewportSize, sync_playwright

DOCS = Path(__file__).parent.parent / "docs"
OUT = DOCS / "images" / "explorer.gif"
WINDOW: ViewportSize = {"width": 1200, "height": 680}
BEGIN = "#t=4&v=0.5"
WIDTH, COLOURS = 700, 128
FRAME_MILLISECONDS = 120
POINTER = """() => {
  const dot = document.createElement("div");
  dot.style.cssText = "position:fixed;z-index:9;width:16px;height:16px;margin:-8px;left:-50px;" +
    "border-radius:50%;background:#0008;border:2px solid #fff;pointer-events:none";
  document.body.append(dot);
  addEventListener("pointermove", (e) => {
    dot.style.left = e.clientX + "px";
    dot.style.top = e.clientY + "px";
  }, true);
}"""


def shot(page: Page) -> Image.Image:
    picture = Image.open(io.BytesIO(page.screenshot()))
    size = WIDTH, round(WIDTH * picture.height / picture.width)
    return picture.resize(size, Image.Resampling.LANCZOS)


def place(page: Page, what: str, object_: int) -> np.ndarray:
    box = page.locator("#stage").bounding_box()
    assert box is not None
    x, y = page.evaluate(f"window.comotion.{what}({object_})")
    return np.array([box["x"] + x, box["y"] + y])


def glide(page: Page, begin: np.ndarray, end: np.ndarray, steps: int) -> Iterator[Image.Image]:
    for share in np.linspace(0.0, 1.0, steps):
        smooth = share * share * (3 - 2 * share)
        page.mouse.move(*(begin + smooth * (end - begin)))
        page.wait_for_timeout(60)
        yield shot(page)


def drag(page: Page, what: str, object_: int, way: tuple[int, int]) -> Iterator[Image.Image]:
    begin = place(page, what, object_)
    yield from glide(page, begin + 60, begin, 5)
    page.mouse.down()
    yield from glide(page, begin, begin + way, 12)
    page.mouse.up()


def watched(page: Page, frames: int) -> Iterator[Image.Image]:
    for _ in range(frames):
        page.wait_for_timeout(FRAME_MILLISECONDS)
        yield shot(page)


def scenes(page: Page) -> Iterator[Image.Image]:
    """Watch; put an object elsewhere; throw it; see what comes of it."""
    yield from watched(page, 8)
    page.click("#play")
    yield from drag(page, "placeOf", 0, (50, -60))
    yield from watched(page, 3)
    yield from drag(page, "tipOf", 0, (45, 40))
    yield from watched(page, 3)
    page.click("#play")
    yield from watched(page, 20)


def in_one_palette(pictures: list[Image.Image]) -> list[Image.Image]:
    """Rare strong colours are those of the objects, so they count as much as common pale ones."""
    width, height = pictures[0].size
    some = pictures[:: max(1, len(pictures) // 4)]
    sample = Image.new("RGB", (width, height * len(some)))
    for k, picture in enumerate(some):
        sample.paste(picture, (0, k * height))
    palette = sample.quantize(COLOURS, method=Image.Quantize.MAXCOVERAGE)
    return [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]


def main(file: Path) -> None:
    with sync_playwright() as driver:
        words = {"executable_path": shutil.which("chromium"), "args": ["--no-sandbox"]}
        browser = driver.chromium.launch(**words)
        page = browser.new_page(viewport=WINDOW)
        page.goto(file.resolve().as_uri() + BEGIN)
        while not page.evaluate("document.documentElement.dataset.base"):
            page.wait_for_timeout(20)
        page.evaluate(POINTER)
        pictures = list(scenes(page))
        browser.close()
    frames = in_one_palette([picture.convert("RGB") for picture in pictures])
    words = {"save_all": True, "append_images": frames[1:], "loop": 0, "optimize": True}
    frames[0].save(OUT, duration=FRAME_MILLISECONDS, **words)
    print(f"{OUT.name}: {len(frames)} frames, {OUT.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "explorables" / "balls.html")
