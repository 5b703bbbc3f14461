"""The page in a real browser: headless Chromium, opened from a file."""

import dataclasses
import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from comotion.data import Trajectories
from comotion.data.units import Units
from comotion.predict.stretch import Stretch
from comotion.report.explorer import Explorer, explore, export
from tests.report.explorer.conftest import tiny_model, walks

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")

DRAWS = 3
HOSTILE = (
    "<script>window.hacked=1</script>",
    '"><img src=x onerror="window.hacked=1">',
    "\u202eright to left\u2067 $\\frac{1}{0}$ `${window.hacked=1}`" + "long " * 2000,
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def explorer() -> Iterator[Explorer]:
    data = dataclasses.replace(walks(), units=Units("cm", "s"))
    with pytest.MonkeyPatch.context() as patch:  # choosing among starts takes long to compile
        patch.setattr(export, "CANDIDATES", 1)
        yield explore(tiny_model(data), data, title="Walks", draws=DRAWS, frames=50, origins=3)


@dataclass
class Visit:
    """An open page, and everything that went wrong or out in it."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def wait_until(self, expression: str) -> None:
        """Playwright's own waiting evaluates text inside the page, which the policy forbids."""
        for _ in range(600):
            if self.page.evaluate(expression):
                return
            self.page.wait_for_timeout(100)
        raise AssertionError(f"never came true: {expression}")

    def wait_until_it_is(self, where: Callable[[int], tuple], object_: int, wanted: object) -> None:
        """The page draws what was done with its next picture."""
        for _ in range(50):
            if where(object_) == wanted:
                return
            self.page.wait_for_timeout(100)
        assert where(object_) == wanted

    def wait_for_futures(self, slot: str, more_than: int = 0) -> int:
        count = f"Number(document.documentElement.dataset.{slot} ?? 0)"
        self.wait_until(f"{count} > {more_than}")
        return int(self.page.evaluate(count))

    def text(self, selector: str) -> str:
        return self.page.locator(selector).inner_text()

    def wait_for_text(self, selector: str, part: str) -> None:
        """The page writes what was done when it has the time."""
        self.page.locator(selector, has_text=part).wait_for()

    def place(self, object_: int) -> tuple[float, float]:
        """The pixel of an object."""
        x, y = self.page.evaluate(f"window.comotion.placeOf({object_})")
        return self._in_window(x, y)

    def tip(self, object_: int) -> tuple[float, float]:
        """The pixel of the tip of its arrow."""
        x, y = self.page.evaluate(f"window.comotion.tipOf({object_})")
        return self._in_window(x, y)

    def _in_window(self, x: float, y: float) -> tuple[float, float]:
        box = self.page.locator("#stage").bounding_box()
        assert box is not None
        return box["x"] + x, box["y"] + y

    def state(self) -> dict:
        return self.page.evaluate("window.comotion.state()")


def visit(browser: Browser, file: Path, hash_: str = "", **context) -> Visit:
    page = browser.new_context(viewport={"width": 1280, "height": 800}, **context).new_page()
    made = Visit(page)
    page.on("console", lambda message: made.complaints.append(message.text))
    page.on("pageerror", lambda error: made.complaints.append(str(error)))
    page.on("request", lambda request: made.requests.append(request.url))
    page.goto(file.as_uri() + hash_)
    made.wait_for_futures("base")
    return made


@pytest.fixture
def opened(browser, explorer, tmp_path) -> Iterator[Visit]:
    made = visit(browser, explorer.save(tmp_path / "scene.html"))
    yield made
    assert made.complaints == []
    assert all(url.startswith(("file:", "blob:")) for url in made.requests), made.requests
    assert sum(url.startswith("file:") for url in made.requests) == 1
    made.page.context.close()


def test_it_opens_playing_and_says_what_it_shows(opened):
    before = opened.state()["head"]
    opened.page.wait_for_timeout(400)
    assert opened.state()["playing"]
    assert opened.state()["head"] > before
    assert opened.text("#title") == "Walks"
    assert "futures it holds possible" in opened.text("#subtitle")
    assert opened.text("#legend-futures") == f"{DRAWS} possible futures"
    assert re.search(r"is now at x \S+ to \S+ cm, y \S+ to \S+ cm", opened.text("#statements"))
    assert re.fullmatch(r"t = \S+ s", opened.text("#clock"))
    assert opened.page.locator("#law-note").inner_text().startswith("How hard 0 is pushed away")


def test_chromiums_numbers_are_pythons(opened, explorer):
    data = walks()
    forecast = tiny_model(data).predict(data, draws=DRAWS, seed=0, candidates=1)
    forecast = forecast.trajectory.to_numpy()
    request = json.dumps({"sequence": 1, "origin": 0, "frames": 50, "edits": []})
    for draw in range(DRAWS):
        got = opened.page.evaluate(
            f"Array.from(engine_forecast.future(window.comotion.model, {draw}, {request}))"
        )
        wanted = forecast[draw, 1]
        error = np.abs(np.array(got).reshape(wanted.shape) - wanted).max()
        assert error < 1e-4 * np.abs(wanted).max()


def test_the_way_to_the_nearest_wall_is_known(opened):
    outline = {"circles": [[1, 2, 3]], "segments": [{"data": [0, 0, 4, 0]}]}
    for x, y in ((1, 1), (1, 4.5), (7, 4), (5, 0)):
        nearest = min(abs(np.hypot(x - 1, y - 2) - 3), np.hypot(x - np.clip(x, 0, 4), y))
        got = opened.page.evaluate(
            f"page_recording.distanceToWall({json.dumps(outline)}, {x}, {y})"
        )
        assert got == pytest.approx(nearest)


def test_draws_are_stretched_as_in_python(opened):
    stretch = Stretch((1.0, 2.0, 4.0), (1.5, 0.5, 2.0))
    draws, leads = np.random.default_rng(0).normal(size=(3, 1, 6, 2, 2)), np.arange(6.0)
    rows = json.dumps([draw.ravel().tolist() for draw in draws])
    got = opened.page.evaluate(
        f"page_futures.stretched({rows}.map((row) => Float32Array.from(row)), "
        f"{json.dumps(dataclasses.asdict(stretch))}, {leads.tolist()}).map((row) => [...row])"
    )
    assert np.reshape(got, draws.shape) == pytest.approx(
        stretch.apply(draws, leads[None]), rel=1e-5
    )


def test_a_drag_moves_an_object_and_its_futures(opened):
    opened.page.click("#play")
    x, y = opened.place(2)
    mouse = opened.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + 60, y - 40, steps=5)
    opened.wait_for_futures("alt")
    mouse.up()
    (edit,) = opened.state()["edits"]
    assert edit["do"] == "move"
    assert edit["object"] == 2
    opened.wait_until_it_is(opened.place, 2, pytest.approx((x + 60, y - 40), abs=2))
    opened.wait_for_text("#edits", "put elsewhere")
    opened.page.wait_for_selector("#effects:not([hidden])")
    assert opened.page.locator("#effects tbody tr").count() == 3
    opened.page.click("#edits button")
    assert opened.state()["edits"] == []


def test_an_arrow_throws_an_object(opened):
    opened.page.click("#play")
    opened.page.locator("#objects .chip").nth(2).click()
    x, y = opened.tip(2)
    opened.page.mouse.move(x, y)
    opened.page.mouse.down()
    opened.page.mouse.move(x + 50, y + 30, steps=3)
    opened.page.mouse.up()
    assert [edit["do"] for edit in opened.state()["edits"]] == ["move", "push"]
    opened.wait_for_futures("alt")
    opened.wait_until_it_is(opened.tip, 2, pytest.approx((x + 50, y + 30), abs=3))


def test_removing_freezing_doubling_cutting_and_setting_each_make_another_future(opened):
    opened.page.click("#play")
    answers = 0
    for button, doing in (("freeze", "freeze"), ("remove", "remove"), ("duplicate", "duplicate")):
        opened.page.locator("#objects .chip").nth(0).click()
        opened.page.click(f"[data-do={button}]")
        answers = opened.wait_for_futures("alt", answers)
        assert [edit["do"] for edit in opened.state()["edits"]] == [doing]
        opened.page.click("#reset")
    opened.page.select_option("[data-do=cut]", "all")
    answers = opened.wait_for_futures("alt", answers)
    opened.page.click("#reset")
    opened.page.locator("[data-property='0']").fill("0.5")
    opened.wait_for_futures("alt", answers)
    (edit,) = opened.state()["edits"]
    assert (edit["do"], edit["value"]) == ("set", pytest.approx(0.5, abs=0.05))
    opened.wait_for_text("#edits", "charge set to 0.5")
    opened.page.click("[data-flip='0']")
    opened.page.click("[data-flip='0']")
    opened.page.click("[data-flip='0']")
    (edit,) = opened.state()["edits"]
    assert edit["value"] == pytest.approx(-0.5, abs=0.05)


def test_what_if_stands_side_by_side_and_says_the_difference(opened):
    opened.page.click("#play")
    opened.page.locator("#objects .chip").nth(0).click()
    opened.page.click("[data-do=remove]")
    opened.wait_for_futures("alt")
    opened.page.check("#split")
    assert opened.state()["split"]
    assert len(opened.page.evaluate("window.comotion.panels()")) == 2
    rows = opened.page.locator("#effects tbody tr")
    opened.page.wait_for_selector("#effects:not([hidden])")
    assert rows.count() == 2  # of the two that are left
    assert re.search(r"[\d.]+ \([\d.]+ to [\d.]+\)", rows.first.inner_text())


def test_scrubbing_and_keys_move_the_moment(opened):
    opened.page.locator("#head").fill("30")
    assert opened.state()["head"] == 30
    assert not opened.state()["playing"]
    opened.page.focus("#stage")
    opened.page.keyboard.press("ArrowRight")
    assert opened.state()["head"] == 31
    opened.page.keyboard.press("Delete")
    assert opened.state()["edits"][0]["do"] == "remove"
    opened.page.keyboard.press("z")
    assert opened.state()["edits"] == []
    opened.page.keyboard.press(" ")
    assert opened.state()["playing"]


def test_a_link_brings_back_the_moment(opened, browser, tmp_path):
    opened.page.click("#play")
    opened.page.select_option("#sequence", "1")
    opened.page.select_option("#colour", "surprise")
    opened.page.locator("#head").fill("20")
    opened.page.locator("#objects .chip").nth(1).click()
    opened.page.click("[data-do=freeze]")
    opened.wait_until("location.hash.includes('freeze')")
    before, hash_ = opened.state(), opened.page.evaluate("location.hash")
    again = visit(browser, tmp_path / "scene.html", hash_)
    assert again.state() == before
    assert again.complaints == []
    again.page.context.close()


def test_a_link_that_makes_no_sense_is_as_good_as_none(browser, explorer, tmp_path):
    file = explorer.save(tmp_path / "scene.html")
    nonsense = '#s=99&o=-3&t=NaN&v=x&if=[{"do":"move","at":1,"object":7,"to":[1e999]},null,3]'
    made = visit(browser, file, nonsense)
    assert made.state()["edits"] == []
    assert made.state()["sequence"] == 1
    assert made.complaints == []
    made.page.context.close()


def test_hostile_names_are_text(browser, explorer, tmp_path):
    data = walks()
    hostile = Trajectories.from_arrays(
        data.values,
        data.times,
        features=data.features,
        static=data.static,
        static_names=["</script><script>window.hacked=1</script>"],
        sequence_names=["</textarea><svg onload=window.hacked=1>", "b" * 10_000],
        object_names=[HOSTILE, HOSTILE],
    )
    sizes = {"draws": DRAWS, "frames": 50, "origins": 3}
    page = explore(tiny_model(hostile), hostile, title=HOSTILE[1], **sizes)
    assert "hacked" not in page.html
    made = visit(browser, page.save(tmp_path / "hostile.html"))
    made.page.wait_for_timeout(500)
    assert made.page.evaluate("window.hacked") is None
    assert made.text("#title") == HOSTILE[1]
    assert made.page.locator("#objects img, #objects script").count() == 0
    made.page.click("[data-do=freeze]")
    made.wait_for_futures("alt")
    assert made.page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert made.complaints == []
    made.page.context.close()


def test_the_policy_forbids_network_and_evaluation(opened):
    blocked = opened.page.evaluate(
        """async () => {
            const found = [];
            document.addEventListener("securitypolicyviolation", (event) =>
              found.push(event.effectiveDirective));
            const script = document.createElement("script");
            script.textContent = "window.hacked = eval('1')";
            document.body.append(script);
            await fetch("https://example.org").catch(() => {});
            new Image().src = "https://example.org/a.png";
            await new Promise((resolve) => setTimeout(resolve, 100));
            return found;
        }"""
    )
    assert {"script-src-elem", "connect-src", "img-src"} <= set(blocked)
    assert opened.page.evaluate("window.hacked") is None
    policy = opened.page.locator("meta[http-equiv]").get_attribute("content") or ""
    assert "'unsafe-inline'" not in policy
    opened.complaints.clear()  # the browser has told about what it blocked
    opened.requests[:] = [url for url in opened.requests if "example.org" not in url]


def test_pictures_and_films_are_saved(opened):
    with opened.page.expect_download() as picture:
        opened.page.click("#png")
    assert picture.value.suggested_filename == "comotion.png"
    assert Path(picture.value.path()).read_bytes().startswith(b"\x89PNG")
    opened.page.click("#webm")
    opened.page.wait_for_timeout(700)
    with opened.page.expect_download() as film:
        opened.page.click("#webm")
    assert Path(film.value.path()).read_bytes().startswith(b"\x1a\x45\xdf\xa3")


def test_it_runs_inside_a_notebook_and_a_report(browser, explorer, tmp_path):
    (tmp_path / "cell.html").write_text(
        f"<!doctype html><meta charset=utf-8><body>{explorer._repr_html_()}", encoding="utf-8"
    )
    page = browser.new_page()
    page.goto((tmp_path / "cell.html").as_uri())
    inner = page.frame_locator("iframe")
    inner.locator("html[data-base]").wait_for(timeout=60_000, state="attached")
    assert inner.locator("#title").inner_text() == "Walks"
    page.close()


def test_it_can_be_read_and_fits_a_phone(browser, explorer, tmp_path):
    file = explorer.save(tmp_path / "scene.html")
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = context.new_page()
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-base]", state="attached")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Pause").tap()
    page.get_by_role("button", name="Play").wait_for()
    assert page.get_by_role("slider", name="Moment").is_visible()
    assert page.get_by_role("radio").count() == 3
    assert all(page.locator("h2").nth(k).inner_text() for k in range(4))
    context.close()
