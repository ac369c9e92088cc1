"""How the pages and the docstrings become a site: ``make docs``."""

from rising_bandits import __version__

project = "rising-bandits"
author = "The rising-bandits developers"
project_copyright = "2026, The rising-bandits developers"
release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinx.ext.viewcode"]
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3
# Files in data are parts of pages, made by docs/antmaze.py.
exclude_patterns = ["_build", "data"]
html_theme = "furo"
html_title = f"rising-bandits {release}"
html_static_path: list[str] = []
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "show-inheritance": True}
# Long types of arrays say little in a signature.
autodoc_type_aliases = {"Floats": "Floats", "Ints": "Ints", "Bools": "Bools"}
