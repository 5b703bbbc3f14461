"""The page in Firefox, opened from a file, by its own remote protocol: JSON after its length."""

import json
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from comotion.report.explorer import explore, export
from tests.report.explorer.conftest import tiny_model, walks

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
pytestmark = pytest.mark.skipif(FIREFOX is None, reason="firefox is not installed")

PATIENCE = 60.0
ERRORS = """return Services.console.getMessageArray()
    .filter((one) => one instanceof Ci.nsIScriptError && one.sourceName.startsWith("file:"))
    .map((one) => one.message)"""


class Firefox:
    def __init__(self, profile: Path):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        (profile / "user.js").write_text(f'user_pref("marionette.port", {port});\n')
        words = ["--headless", "--no-remote", "--marionette", "--remote-allow-system-access"]
        self.process = subprocess.Popen(
            [str(FIREFOX), *words, "--profile", str(profile)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.socket = self._connected(port)
        self._read()
        self.asked = 0
        self.ask("NewSession")

    def _connected(self, port: int) -> socket.socket:
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
            except OSError:
                if time.monotonic() > end:
                    self.process.kill()
                    raise
                time.sleep(0.1)

    def _read(self) -> Any:
        head = b""
        while not head.endswith(b":"):
            head += self.socket.recv(1)
        body = b""
        while len(body) < int(head[:-1]):
            body += self.socket.recv(int(head[:-1]) - len(body))
        return json.loads(body)

    def ask(self, command: str, room: str = "WebDriver", **words: Any) -> Any:
        self.asked += 1
        text = json.dumps([0, self.asked, f"{room}:{command}", words]).encode()
        self.socket.sendall(f"{len(text)}:".encode() + text)
        _, _, error, answer = self._read()
        assert error is None, error
        return answer

    def evaluate(self, script: str) -> Any:
        return self.ask("ExecuteScript", script=script, args=[], sandbox=None)["value"]

    def wait_until(self, expression: str) -> None:
        end = time.monotonic() + PATIENCE
        while not self.evaluate(f"return Boolean({expression})"):
            assert time.monotonic() < end, f"never came true: {expression}"
            time.sleep(0.1)

    def drag(self, begin: list[float], way: tuple[int, int]) -> None:
        x, y = (round(number) for number in begin)
        move = {"type": "pointerMove", "duration": 100}
        actions = [
            move | {"x": x, "y": y},
            {"type": "pointerDown", "button": 0},
            move | {"x": x + way[0] // 2, "y": y + way[1] // 2},
            move | {"x": x + way[0], "y": y + way[1]},
            {"type": "pointerUp", "button": 0},
        ]
        mouse = {"type": "pointer", "id": "mouse", "actions": actions}
        self.ask("PerformActions", actions=[mouse | {"parameters": {"pointerType": "mouse"}}])

    def errors(self) -> list[str]:
        """Of pages opened from files; only the browser itself can read them."""
        self.ask("SetContext", "Marionette", value="chrome")
        try:
            return self.evaluate(ERRORS)
        finally:
            self.ask("SetContext", "Marionette", value="content")

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.socket.close()


@pytest.fixture
def firefox(tmp_path) -> Iterator[Firefox]:
    (tmp_path / "profile").mkdir()
    started = Firefox(tmp_path / "profile")
    yield started
    started.close()


def test_it_opens_from_a_file_answers_a_drag_and_complains_of_nothing(
    firefox, tmp_path, monkeypatch
):
    monkeypatch.setattr(export, "CANDIDATES", 1)  # choosing among starts takes long to compile
    data = walks()
    page = explore(tiny_model(data), data, title="Walks", draws=3, frames=50, origins=3)
    firefox.ask("Navigate", url=page.save(tmp_path / "scene.html").as_uri())
    firefox.wait_until("document.documentElement.dataset.base")
    assert firefox.evaluate("return document.title") == "Walks"
    firefox.evaluate("document.getElementById('play').click()")
    box = "document.getElementById('stage').getBoundingClientRect()"
    place = f"window.comotion.placeOf(2).map((x, k) => x + [{box}.x, {box}.y][k])"
    firefox.drag(firefox.evaluate(f"return Array.from({place})"), (60, -40))
    firefox.wait_until("document.documentElement.dataset.alt")
    assert "put elsewhere" in firefox.evaluate("return document.getElementById('edits').innerText")
    assert firefox.errors() == []
