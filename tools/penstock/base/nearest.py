"""nearest.py: the name that somebody may have meant, and calls whose arguments have no such name."""

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def nearest(name: str, names: Iterable[str]) -> str:
    """That of NAMES which is most like NAME, whatever the case, or has its last part; "" where none is."""
    listed = list(names)
    last = name.rsplit("/", 1)[-1].lower()
    same_end = [each for each in listed if last and each.rsplit("/", 1)[-1].lower() == last]
    lower = {each.lower(): each for each in reversed(listed)}
    alike = difflib.get_close_matches(name.lower(), lower, n=1)
    return lower[alike[0]] if alike else (same_end or [""])[0]


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """'; did you mean 'rho'?', or ''."""
    found = nearest(name, names)
    return f"; did you mean '{found}'?" if found else ""


def listed(names: Iterable[str]) -> str:
    """The first ten of NAMES."""
    all_names = list(names)
    text = ", ".join(f"'{each}'" for each in all_names[:10]) or "none"
    return text + (f" and {len(all_names) - 10} more" if len(all_names) > 10 else "")


def instead(name: str, names: Iterable[str]) -> str:
    """What follows "there is no NAME": the nearest of NAMES, and which there are."""
    all_names = list(names)
    near = did_you_mean(name, all_names)
    return f"{near} There are: {listed(all_names)}" if near else f"; there are: {listed(all_names)}"


def named_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """FUNCTION, which says of an argument that it has not what its arguments are called."""
    signature = inspect.signature(function)
    known = [name for name, each in signature.parameters.items() if each.kind is not each.VAR_KEYWORD]

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name not in known:
                raise TypeError(
                    f"penstock.{function.__name__}() got an unexpected keyword argument '{name}'"
                    f"{f'{near} There' if (near := did_you_mean(name, known)) else ': there'} are {', '.join(known)}"
                )
        return function(*args, **kwargs)

    return call
