"""Sphinx's settings. `make site` builds from the prepared copy in target/docs/source."""

import os
import re
import sys
from pathlib import Path

from docutils import nodes
from pygments.lexers.special import TextLexer

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "target/docs/package"))

project = "Lasthop"
author = copyright = "The Lasthop developers"
release = re.search(r'(?m)^version = "([^"]+)"', (ROOT / "Cargo.toml").read_text())[1]

extensions = [
    "myst_nb",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
]
exclude_patterns = ["_templates"]
templates_path = ["_templates"]
default_role = "code"
smartquotes = False

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
# Notebooks are executed where the package is installed (NOTEBOOKS=force); otherwise they have no outputs.
nb_execution_mode = os.environ.get("NOTEBOOKS", "off")
nb_execution_timeout = 120
nb_execution_raise_on_error = True

autosummary_generate = True
autodoc_mock_imports = ["matplotlib", "pandas", "polars", "pyarrow", "distributed", "_typeshed"]
autodoc_typehints = "signature"
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"

html_theme = "pydata_sphinx_theme"
html_title = "Lasthop"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
# Search results have no summaries, because a page opened as a file cannot load other pages.
html_show_search_summary = False
html_context = {"default_mode": "auto"}
html_theme_options = {
    "navbar_align": "left",
    "navbar_persistent": [],
    "navbar_end": ["search-button", "theme-switcher"],
    "header_links_before_dropdown": 6,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
    "show_toc_level": 2,
    "navigation_depth": 3,
    "collapse_navigation": True,
}
html_sidebars = {
    "index": [],
    "lab": [],
    "gallery": [],
    "glossary": [],
    "changelog": [],
    "faq": [],
    "install": [],
    "cite": [],
}

copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
copybutton_copy_empty_lines = False
# Shows formulas as text, so that pages need not load MathJax.
html_math_renderer = "text"


def _formula(translator, node):
    translator.body.append(
        translator.starttag(node, "code", "") + translator.encode(node.astext()) + "</code>"
    )
    raise nodes.SkipNode


def setup(app):
    app.add_lexer("csv", TextLexer)
    app.add_html_math_renderer("text", (_formula, None), (_formula, None))
