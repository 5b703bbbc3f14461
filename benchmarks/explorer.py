"""How often a drag is answered in the explorable page, in headless Chromium on this machine.

    python benchmarks/explorer.py            # a minute; prints the rows and keeps them

An object is dragged for some seconds without pause, by a mouse that tells its place 60 times a
second whether or not the page has come to an answer; an answer is a set of futures, of as many
draws as the page follows in time (`draws_of_an_answer`). Laws are draws from a prior with the sizes
of the default system: what they cost does not depend on what they say.
"""

import asyncio
import os
import shutil
import tempfile
import time
from pathlib import Path

import jax
import numpy as np
from playwright.async_api import Page, async_playwright
from rows import append

from comotion.config import Recipe, RunConfig
from comotion.data import Trajectories
from comotion.report.explorer import explore
from comotion.systems import system
from comotion.train.fit import untrained

SECONDS, MOVES_PER_SECOND = 6.0, 60
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


async def measure(page: Page, file: Path) -> dict[str, float]:
    begin = time.perf_counter()
    await page.goto(file.as_uri())
    frame = "new Promise((r) => requestAnimationFrame(() => r(performance.now())))"
    painted = await page.evaluate(frame)
    while not await page.evaluate("document.documentElement.dataset.base"):
        await page.wait_for_timeout(20)
    futures = time.perf_counter() - begin
    await page.click("#play")
    x, y = await page.evaluate("window.comotion.placeOf(0)")
    box = await page.locator("#stage").bounding_box()
    assert box is not None
    x, y = box["x"] + x, box["y"] + y
    await page.mouse.move(x, y)
    await page.mouse.down()
    count = "['alt', 'altDraws'].map((name) => Number(document.documentElement.dataset[name] ?? 0))"
    await page.mouse.move(x + 5, y)
    await page.wait_for_timeout(1500)  # compiled by now
    before, begin = await page.evaluate(count), time.perf_counter()
    await circle(page, x, y)
    after, seconds = await page.evaluate(count), time.perf_counter() - begin
    answers, draws = (now - was for now, was in zip(after, before, strict=True))
    await page.mouse.up()
    return {
        "first_picture_seconds": round(painted / 1000, 2),
        "first_futures_seconds": round(futures, 2),
        "answers_per_second": round(answers / seconds, 1),
        "draws_of_an_answer": round(draws / max(answers, 1), 1),
    }


async def circle(page: Page, x: float, y: float) -> None:
    """A hand does not wait for the page; a few moves may be on their way at once."""
    session = await page.context.new_cdp_session(page)
    pressed = {"type": "mouseMoved", "button": "left", "buttons": 1}
    under_way: set[asyncio.Task] = set()
    begin = time.perf_counter()
    while (passed := time.perf_counter() - begin) < SECONDS:
        place = {"x": x + 40 * np.sin(5 * passed), "y": y + 40 * np.cos(5 * passed)}
        if len(under_way) < 4:
            move = asyncio.create_task(session.send("Input.dispatchMouseEvent", pressed | place))
            under_way.add(move)
            move.add_done_callback(under_way.discard)
        await asyncio.sleep(1 / MOVES_PER_SECOND)
    await asyncio.gather(*under_way)


async def main() -> None:
    async with async_playwright() as driver:
        folder = Path(tempfile.mkdtemp())
        words = {"executable_path": shutil.which("chromium"), "args": ["--no-sandbox"]}
        browser = await driver.chromium.launch(**words)
        for name, sizes in SCENES.items():
            file = folder / "scene.html"
            file.write_text(scene(**sizes), encoding="utf-8")
            others = os.getloadavg()[0]
            page = await browser.new_page(viewport={"width": 1280, "height": 800})
            row = {"scene": name, "draws": DRAWS, "frames": FRAMES, **await measure(page, file)}
            row |= {"megabytes": round(file.stat().st_size / 1e6, 2), "seed": 0}
            append("explorer", row | {"others_running": round(others, 1)})
            await page.close()
        await browser.close()
        shutil.rmtree(folder)


if __name__ == "__main__":
    asyncio.run(main())
