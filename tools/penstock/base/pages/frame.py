"""frame.py: a page in the common frame, and the figures on it."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

from penstock.base.errors import UserError

WIDE = 8.2  # inches


@dataclass(frozen=True)
class Plot:
    """IDENTITY is unique on the page. TEXT stands for the picture; ROWS, under HEADS, are the numbers behind it."""

    identity: str
    title: str
    svg: str
    text: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def render(package: str, name: str, filters: Mapping[str, Callable[..., str]], **content: Any) -> str:
    """The template NAME of PACKAGE, which fills the blocks `lead` and `content` of base.html, with CONTENT."""
    try:
        from jinja2 import DictLoader, Environment
    except ImportError:
        raise UserError("a page needs jinja2, which is not there: pip install jinja2") from None
    texts = {one: _text("penstock.base.pages", one) for one in ("base.html", "drawn.html")} | {
        name: _text(package, name)
    }
    environment = Environment(loader=DictLoader(texts), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"breaks": _breaks, **filters}
    return environment.get_template(name).render(**content)


def _text(package: str, name: str) -> str:
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


def _breaks(text: str) -> str:
    """TEXT that may be broken within a method's name, behind its commas, colons and slashes."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"([,:/])(?=\w)", r"\1<wbr>", str(escape(text))))  # noqa: S704
