"""The documentation's site: it builds without a warning and needs no other server.

Tutorials are run by tests/test_snippets.py; here they are only set.
"""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LINKS = ROOT / "docs" / "_site" / "links.py"


def found_by_links(site: Path) -> tuple[int, str]:
    done = subprocess.run([sys.executable, LINKS, site], capture_output=True, text=True)
    return done.returncode, done.stdout


def test_a_link_to_nowhere_and_a_script_of_another_server_are_found(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html#here">b</a> <a href="#there">there</a>')
    (tmp_path / "b.html").write_text('<h1 id="here">b</h1> <a href="https://example.org">far</a>')
    code, told = found_by_links(tmp_path)
    assert code == 1
    assert told == "a.html links to #there, but that page has no such place\n"
    (tmp_path / "a.html").write_text(
        '<a href="c.html">c</a><script src="https://cdn/x.js"></script>'
    )
    code, told = found_by_links(tmp_path)
    assert code == 1
    assert told.splitlines() == [
        "a.html links to c.html, which is not there",
        "a.html loads https://cdn/x.js",
    ]
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here">b</a> <img src="data:image/png;base64,">'
    )
    assert found_by_links(tmp_path) == (0, "every link leads somewhere\n")


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(importlib.util.find_spec("myst_nb") is None, reason="needs comotion[docs]")
def test_the_site_builds_without_a_warning_and_every_link_leads_somewhere(tmp_path):
    settings = ("nb_execution_mode=off", "suppress_warnings=myst-nb.lexer")
    options = [word for setting in settings for word in ("-D", setting)]
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", *options]
    done = subprocess.run([*command, ROOT / "docs", tmp_path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert found_by_links(tmp_path) == (0, "every link leads somewhere\n")
