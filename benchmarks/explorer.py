"""How often a drag is answered in the explorable page, in headless Chromium on this machine.

    python benchmarks/explorer.py            # a minute; prints the rows and keeps them

An object is dragged for some seconds without pause; an answer is a set of futures, of as many draws
as the page follows in time (`draws_of_an_answer`). Laws are
draws from a prior with the sizes of the default system: what they cost does not depend on what
they say.
"""

import os
import shutil
import tempfile
import time
from pathlib import Path

import jax
import numpy as np
from playwright.sync_api import Page, sync_playwright
from rows import append

from comotion.config import Recipe, RunConfig
from comotion.data import Trajectories
from comotion.report.explorer import explore
from comotion.systems import system
from comotion.train.fit import untrained

SECONDS = 6.0
DRAWS, FRAMES = 30, 100
SCENES = {
    "5 objects": {"objects": 5},
    "50 objects, nearest 8": {"objects": 50, "nearest": 8},
}


def scene(objects: int, nearest: int = 0) -> str:
    """The page of a law of motion with the default sizes, on objects at random places."""
    rng = np.random.default_rng(0)
    start = rng.normal(size=(1, 1, objects, 4))
    values = start + np.cumsum(0.02 * rng.normal(size=(1, 30, objects, 4)), axis=1)
    data = Trajectories.from_arrays(values, 0.1 * np.arange(30))
    config = RunConfig(system("comotion", nearest=nearest), Recipe())
    fitted, _ = untrained(data, config, key=jax.random.key(0))
    return explore(fitted, data, draws=DRAWS, frames=FRAMES, origins=1).html


def measure(page: Page, file: Path) -> dict[str, float]:
    begin = time.perf_counter()
    page.goto(file.as_uri())
    painted = page.evaluate("new Promise((r) => requestAnimationFrame(() => r(performance.now())))")
    while not page.evaluate("document.documentElement.dataset.base"):
        page.wait_for_timeout(20)
    futures = time.perf_counter() - begin
    page.click("#play")
    x, y = page.evaluate("window.comotion.placeOf(0)")
    box = page.locator("#stage").bounding_box()
    assert box is not None
    x, y = box["x"] + x, box["y"] + y
    page.mouse.move(x, y)
    page.mouse.down()
    count = "['alt', 'altDraws'].map((name) => Number(document.documentElement.dataset[name] ?? 0))"
    page.mouse.move(x + 5, y)
    page.wait_for_timeout(1500)  # compiled by now
    before, begin, step = page.evaluate(count), time.perf_counter(), 0
    while time.perf_counter() - begin < SECONDS:
        step += 1
        page.mouse.move(x + 40 * np.sin(step / 9), y + 40 * np.cos(step / 9))
    seconds = time.perf_counter() - begin
    answers, draws = (after - was for after, was in zip(page.evaluate(count), before, strict=True))
    page.mouse.up()
    return {
        "first_picture_seconds": round(painted / 1000, 2),
        "first_futures_seconds": round(futures, 2),
        "answers_per_second": round(answers / seconds, 1),
        "draws_of_an_answer": round(draws / max(answers, 1), 1),
    }


def main() -> None:
    with sync_playwright() as driver, tempfile.TemporaryDirectory() as folder:
        words = {"executable_path": shutil.which("chromium"), "args": ["--no-sandbox"]}
        browser = driver.chromium.launch(**words)
        for name, sizes in SCENES.items():
            file = Path(folder) / "scene.html"
            file.write_text(scene(**sizes), encoding="utf-8")
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            row = {"scene": name, "draws": DRAWS, "frames": FRAMES, **measure(page, file)}
            row |= {"megabytes": round(file.stat().st_size / 1e6, 2), "seed": 0}
            append("explorer", row | {"others_running": round(os.getloadavg()[0], 1)})
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
