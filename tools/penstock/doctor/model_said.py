"""model_said.py: a scalability model in the terminal."""

from rich import box
from rich.console import Console
from rich.table import Table

from penstock.doctor.model import AHEAD, TIMES, Model


def say(model: Model, console: Console) -> None:
    if model.laws:
        console.print(_counts(model))
    if model.unexplained:
        console.print(f"No simple law: {', '.join(model.unexplained)}.", highlight=False)
    console.print(_seconds(model))
    console.print(f"Times ahead: {model.basis}.\n", highlight=False)


def _counts(model: Model) -> Table:
    ranks = model.scales[-1].variables["ranks"]
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="Operations, and how they grow", title_justify="left")
    made.add_column("operation")
    made.add_column("law")
    for scale in model.scales:
        made.add_column(f"{scale.variables['ranks']} ranks", justify="right")
    for factor in AHEAD:
        made.add_column(f"{factor * ranks} ranks", justify="right", style="dim")
    for name, law in model.laws.items():
        seen = [f"{scale.counts.get(name, 0):,}" for scale in model.scales]
        ahead = [f"{round(law.at(model.ahead(factor))):,}" for factor in AHEAD]
        made.add_row(name, f"{law.text(model.factors)}{'' if law.proven else ' ?'}", *seen, *ahead)
    made.caption = "dim: predicted; ?: as few runs as the law has unknowns" if model.laws else ""
    made.caption_justify = "left"
    return made


def _seconds(model: Model) -> Table:
    ranks = model.scales[-1].variables["ranks"]
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="Seconds of the mean rank", title_justify="left")
    made.add_column("")
    for scale in model.scales:
        made.add_column(f"{scale.variables['ranks']} ranks", justify="right")
    for factor in AHEAD:
        made.add_column(f"{factor * ranks} ranks", justify="right", style="dim")
    ahead = [model.seconds_at(factor * ranks) for factor in AHEAD]
    for name in TIMES:
        seen = [f"{scale.seconds[name]:.3g}" for scale in model.scales]
        made.add_row(name, *seen, *(f"{one[name]:.3g}" for one in ahead))
    return made
