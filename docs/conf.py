"""How the pages and the docstrings become a site: ``make docs``."""

import logging
import sys
from pathlib import Path

from rising_bandits import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
# Cells of pages work with studies, whose log would stand between the warnings of the build.
logging.getLogger("rising_bandits").setLevel(logging.WARNING)

project = "rising-bandits"
author = "The rising-bandits developers"
project_copyright = "2026, The rising-bandits developers"
release = __version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "cells",
    "chart",
    "mathml",
    "pages",
    "results",
]
html_math_renderer = "mathml"
myst_enable_extensions = ["dollarmath", "amsmath", "attrs_inline", "attrs_block", "colon_fence"]
myst_heading_anchors = 3
# Files in data are parts of pages, made by docs/antmaze.py.
exclude_patterns = ["_build", "_ext", "data"]
html_theme = "furo"
html_title = f"rising-bandits {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
# A method that only implements a documented one is not listed again in every class.
autodoc_inherit_docstrings = False
autodoc_default_options = {"members": True, "show-inheritance": True}
napoleon_google_docstring = False
napoleon_use_rtype = False
# Long types of arrays say little in a signature.
autodoc_type_aliases = {"Floats": "Floats", "Ints": "Ints", "Bools": "Bools"}
