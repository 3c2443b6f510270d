"""conf.py: how Sphinx makes the site; `make docs` gathers the sources in build/docs/source first."""

import os
import posixpath
import re
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer

import penstock

project = "Penstock"
author = copyright = "The Penstock authors"  # noqa: A001  Sphinx's name
version = release = penstock.__version__
root_doc = "docs/index"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["docs/tutorial/plain", "docs/reproducers", "README.md"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4
autodoc_mock_imports = ["penstock_native", "mpi4py"]
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
html_theme = "furo"
html_title = f"Penstock {release}"
html_show_sourcelink = False
nitpicky = False

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"(\]\()([^)\s]+)(\))")


def lead_out(_app: Any, page: str, source: list[str]) -> None:
    """Links to files that are no pages of the site, such as sources, lead to the repository or name it."""
    folder = posixpath.dirname(page)

    def replaced(match: re.Match[str]) -> str:
        target = match[2].partition("#")[0]
        if not target or "://" in target:
            return match[0]
        path = posixpath.normpath(posixpath.join(folder, target))
        full = ROOT / path
        if path == "README.md":
            return match[1] + posixpath.relpath("docs/index.md", folder or ".") + match[3]
        if full.is_dir() and (full / "README.md").is_file() and path == "docs":
            return match[1] + posixpath.relpath("docs/README.md", folder or ".") + match[3]
        if full.exists() and (full.is_dir() or full.suffix not in (".md", ".svg", ".png")):
            return f"](<{SOURCES}/{path}>)" if SOURCES else f"] (`{path}`)"
        return match[0]

    source[0] = LINK.sub(replaced, source[0])


# Where sources are read by those who read the site; without it they are named.
SOURCES = os.environ.get("PENSTOCK_SOURCES", "")


def setup(app: Any) -> None:
    app.connect("source-read", lead_out)
    app.add_lexer("mermaid", TextLexer)  # which reads well as text
