"""Configuration of the documentation site: `make docs` builds it in docs/_build."""

from __future__ import annotations

import sys
from pathlib import Path

import nosplit

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "nosplit"
author = "the nosplit authors"
copyright = f"{author}, MIT licence"  # Sphinx reads this name
version = release = nosplit.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "command_line",
]
# The button copies what follows the prompts, and no output.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
exclude_patterns = ["_build"]
source_suffix = {".md": "markdown"}

# Markdown: links to `page.md#heading`, to headings of the third level.
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3
suppress_warnings = ["myst.header"]  # the measured pages are written in sections

# Docstrings say the types in words, so signatures need not.
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"
# A name in backticks becomes a link where there is something to link to.
default_role = "py:obj"
nitpick_ignore_regex = [("py:obj", ".*")]

html_theme = "pydata_sphinx_theme"
html_title = "nosplit"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "navbar_start": ["navbar-logo"],
    "navbar_center": ["navbar-nav"],
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button-field"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "show_toc_level": 2,
    "navigation_with_keys": False,
}
pygments_style = "default"

# Pages that stand alone have no neighbours to list.
html_sidebars = {
    page: [] for page in ("index", "guide/quick_start", "measured/comparison", "changelog")
}


def setup(app):
    """Say how docstrings are read."""
    app.connect("autodoc-process-signature", hide_constructor)
    app.connect("autodoc-process-docstring", keep_sentence, priority=400)
    app.connect("autodoc-process-docstring", restore_sentence, priority=600)


def hide_constructor(app, what, name, thing, options, signature, returns):
    """What a test returns is described by its attributes; nobody calls its constructor."""
    if what == "class" and "Attributes\n" in (text := thing.__doc__ or ""):
        return (signature if "Parameters\n" in text else ""), returns
    return None


sentence = []


def keep_sentence(app, what, name, thing, options, lines):
    """Docstrings of properties are sentences; napoleon would read `a: b` in them as a type."""
    sentence[:] = lines


def restore_sentence(app, what, name, thing, options, lines):
    """Put it back."""
    if what in ("attribute", "data", "property"):
        lines[:] = sentence
