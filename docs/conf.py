"""The documentation's site: `make docs` builds it without a network and without a warning."""

import sys
from pathlib import Path

import comotion

HERE = Path(__file__).parent
sys.path.append(str(HERE / "_site"))

project = "comotion"
author = copyright = "The comotion developers"
release = version = comotion.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "command_pages",
    "mathml",
]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_site", "explorables"]
html_extra_path = ["explorables"]

# Tutorials are executed; one that has not changed is not executed again. No widgets, so no page
# asks anything of another server.
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE.parent / "build" / "docs-cache")
nb_execution_in_temp = True
nb_execution_timeout = 600
nb_execution_raise_on_error = True
nb_merge_streams = True
nb_ipywidgets_js = {}

default_role = "code"  # docstrings write names as `name`
autodoc_typehints = "none"
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
add_module_names = False

html_theme = "pydata_sphinx_theme"
html_title = "comotion"
html_show_sourcelink = False
html_math_renderer = "mathml"
html_theme_options = {
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 5,
}
