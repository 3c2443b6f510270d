"""model_text.py: a scalability model in the terminal."""

from rich import box
from rich.console import Console
from rich.table import Table

from penstock.diagnose.model import AHEAD, TIMES, Model


def print_model(model: Model, console: Console) -> None:
    if model.laws:
        console.print("How operations grow:")
        for name, law in model.laws.items():
            doubt = "" if law.proven else " ?"
            console.print(f"  {name} = {law.text(model.factors)}{doubt}")
        if not all(law.proven for law in model.laws.values()):
            console.print("  ?: as few runs as the law has unknowns")
        console.print(_counts(model))
    if model.unexplained:
        console.print(f"No simple law: {', '.join(model.unexplained)}.")
    console.print(_seconds(model))
    console.print(f"Times ahead: {model.basis}.\n")


def _table(model: Model, what: str) -> Table:
    """Returns a table without rows, with a column for each measured and each predicted number of ranks. It folds
    numbers that are too wide instead of truncating them.
    """
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=f"{what}, by ranks; dim: predicted", title_justify="left")
    made.add_column("", no_wrap=True)
    for scale in model.scales:
        made.add_column(f"{scale.variables['ranks']:,}", justify="right", overflow="fold")
    for factor in AHEAD:
        ahead = factor * model.scales[-1].variables["ranks"]
        made.add_column(f"{ahead:,}", justify="right", overflow="fold", style="dim")
    return made


def _counts(model: Model) -> Table:
    made = _table(model, "Operations")
    for name, law in model.laws.items():
        seen = [f"{scale.counts.get(name, 0):,}" for scale in model.scales]
        made.add_row(name, *seen, *(f"{round(law.at(model.ahead(factor))):,}" for factor in AHEAD))
    return made


def _seconds(model: Model) -> Table:
    made = _table(model, "Seconds of the mean rank")
    ranks = model.scales[-1].variables["ranks"]
    ahead = [model.seconds_at(factor * ranks) for factor in AHEAD]
    for name in TIMES:
        seen = [f"{scale.seconds[name]:.3g}" for scale in model.scales]
        made.add_row(name, *seen, *(f"{one[name]:.3g}" for one in ahead))
    return made
