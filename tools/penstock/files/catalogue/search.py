"""search.py: what is asked for, as SQL whose values are bound, never written into it."""

import re
from dataclasses import dataclass

from penstock.base.errors import UserError

CONDITION = re.compile(r"\s*(?P<name>[^=<>!]+?)\s*(?P<operator><=|>=|!=|=|<|>)\s*(?P<value>.*?)\s*")
OPERATORS = frozenset({"<=", ">=", "!=", "=", "<", ">"})


@dataclass(frozen=True)
class Condition:
    """NAME is an attribute's, alone or behind its object: units, rho/units, provenance/user."""

    name: str
    operator: str
    value: str


def parse(text: str) -> Condition:
    found = CONDITION.fullmatch(text)
    if found is None or found["operator"] not in OPERATORS:
        raise UserError(f"--where {text}: an attribute, one of = != < <= > >= and a value, as units=K or time>0.5")
    condition = Condition(found["name"], found["operator"], found["value"])
    if condition.operator not in ("=", "!=") and _number(condition.value) is None:
        raise UserError(f"--where {text}: {condition.operator} compares numbers, '{condition.value}' is none")
    return condition


Sql = tuple[str, list[str | float]]


def matching(condition: Condition) -> Sql:
    """Attributes that fulfil CONDITION, as a condition on rows of `attributes`."""
    named = "(attributes.name = ? OR attributes.object || '/' || attributes.name = ?)"
    bound: list[str | float] = [condition.name, condition.name]
    number = _number(condition.value)
    operator = condition.operator  # one of OPERATORS
    if operator not in OPERATORS:
        raise ValueError(operator)
    if operator in ("=", "!=") and number is None:
        test, bound = f"attributes.text {operator} ?", [*bound, condition.value]
    elif operator == "=":
        test, bound = "(attributes.number = ? OR attributes.text = ?)", [*bound, number or 0.0, condition.value]
    elif operator == "!=":
        test, bound = "attributes.text != ? AND attributes.number IS NOT ?", [*bound, condition.value, number or 0.0]
    else:
        test, bound = f"attributes.number {operator} ?", [*bound, number or 0.0]
    return f"{named} AND {test}", bound


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
