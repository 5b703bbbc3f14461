"""The page around the engine: one HTML file that needs nothing else."""

import base64
import hashlib
from html import escape
from importlib.resources import files

from comotion.report.explorer.modules import ROOT, joined

POLICY = (
    "default-src 'none'; script-src {script} 'wasm-unsafe-eval'; style-src {style}; "
    "worker-src blob:; img-src data: blob:; media-src blob:; base-uri 'none'; form-action 'none'"
)
"""Nothing is loaded from anywhere, and only the script and the style written here are run. Text is
never evaluated; what is allowed is WebAssembly, which the worker assembles for its inner loops."""

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>comotion</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
{body}
<script type="text/plain" id="content">{content}</script>
<script type="text/plain" id="worker">{worker}</script>
<script>{script}</script>
</body>
</html>
"""
START = """
const textOf = (id) => document.getElementById(id).textContent;
start(textOf("content"), textOf("worker")).catch((error) => {
  const failure = document.getElementById("failure");
  failure.textContent = `This page cannot run here: ${error.message}`;
  failure.hidden = false;
  throw error;
});
"""


def page_html(packed: str) -> str:
    """Everything that comes from data is inside `packed`, which is base64."""
    folder = files(ROOT).joinpath("page")
    style = folder.joinpath("page.css").read_text(encoding="utf-8")
    script, worker = joined("page/app.js", START), joined("engine/worker.js", "serve(self);")
    assert "</script" not in script + worker
    return PAGE.format(
        policy=escape(POLICY.format(script=_allowed(script), style=_allowed(style))),
        style=style,
        body=folder.joinpath("page.html").read_text(encoding="utf-8"),
        content=packed,
        worker=worker,
        script=script,
    )


def _allowed(source: str) -> str:
    digest = hashlib.sha256(source.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
