"""campaign.py: `penstock campaign` runs the cases of a TOML file on several numbers of ranks."""

from pathlib import Path
from typing import Annotated

import typer

from penstock.base.errors import UserError, must_be_there
from penstock.cli import options
from penstock.measure.campaign.request import Request, parse_ranks, read_request

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="The campaign: workloads, methods, ranks, sizes and hints, in TOML.")
]
program = typer.Typer(no_args_is_help=True, help="Run a file of benchmarks on several numbers of ranks.")


def register(app: typer.Typer) -> None:
    app.add_typer(program, name="campaign")


@program.command()
def run(
    file: File,
    json: Annotated[
        Path, typer.Option("--json", metavar="OUT", help="Write the record to this file after each repetition.")
    ],
    np: Annotated[str | None, typer.Option("--np", metavar="N,...", help="Run only on these numbers of ranks.")] = None,
    directory: options.Directory = Path(),
    resume: Annotated[bool, typer.Option("--resume", help="Measure only what OUT lacks.")] = False,
    dry_run: options.DryRun = False,
) -> None:
    """Run the campaign of FILE on this machine, or in this allocation."""
    from penstock.cli import campaigns

    request = _on(read_request(file), np)
    if dry_run:
        campaigns.dry_run(request, directory)
        return
    if json.exists() and not resume:
        raise UserError(f"{json} is there already: --resume goes on with it; else name another file, or remove it")
    campaigns.measure(request, directory, json, ["campaign", "run", str(file)], resume)


def _on(request: Request, np: str | None) -> Request:
    if np is None:
        return request
    from dataclasses import replace

    return replace(request, ranks=parse_ranks(np))


@program.command()
def submit(
    file: File,
    folder: Annotated[
        Path, typer.Option("--folder", metavar="DIR", help="Put job scripts, their output and records here.")
    ],
    directory: options.Directory,
    partition: Annotated[str | None, typer.Option("--partition", help="Submit to this partition.")] = None,
    account: Annotated[str | None, typer.Option("--account", help="Charge this account.")] = None,
    time: Annotated[
        str | None, typer.Option("--time", help="Limit the time of each job, as Slurm writes it: 30:00.")
    ] = None,
    nodes: Annotated[
        int | None, typer.Option("--nodes", help="Use so many nodes for each job; else Slurm chooses.")
    ] = None,
    tasks_per_node: Annotated[
        int | None, typer.Option("--tasks-per-node", help="Start so many ranks on a node.")
    ] = None,
    setup: Annotated[
        list[str] | None,
        typer.Option("--setup", help="Put this line before the run: 'module load penstock'. Repeatable."),
    ] = None,
    sbatch: Annotated[
        list[str] | None, typer.Option("--sbatch", help="Give this option to sbatch: '--exclusive'. Repeatable.")
    ] = None,
    together: Annotated[bool, typer.Option("--together", help="Let the jobs run at the same time.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write and show the scripts; submit nothing.")] = False,
) -> None:
    """Write a job script for each number of ranks and submit them to Slurm, one after the other."""
    from penstock.measure.campaign import slurm

    request = read_request(file)
    wishes = slurm.Wishes(
        directory, partition, account, time, nodes, tasks_per_node, tuple(setup or ()), tuple(sbatch or ()), together
    )
    scripts = slurm.write_scripts(request, file, folder, wishes)
    if dry_run:
        for path in scripts.values():
            typer.echo(f"# {path}\n{path.read_text(encoding='utf-8')}")
        return
    for np, job in slurm.submit(request, folder, scripts, wishes).items():
        typer.echo(f"{np} ranks: job {job}")
    for one in slurm.look(request, folder):
        typer.echo(f"{one.np} ranks: {one.details}, {one.repetitions} of {request.repetitions} repetitions")
    typer.echo(f"penstock campaign collect {folder} --json out.json gathers what is there")


@program.command()
def collect(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The --folder of penstock campaign submit.")],
    json: Annotated[Path, typer.Option("--json", metavar="OUT", help="Write one record of all jobs to this file.")],
) -> None:
    """Gather what the jobs have measured so far. Status 1 while some of it is missing."""
    from penstock.cli import campaigns
    from penstock.measure.campaign import record, slurm
    from penstock.measure.report import campaign as tables

    must_be_there(folder)
    request, content, states = slurm.collect(folder)
    if content["jobs"]:
        record.save(json, content)
        campaigns.show(content)
        typer.echo(f"The whole record is in {json}")
    missing = [one for one in states if one.state != "finished"]
    for one in missing:
        more = f": {one.output}" if one.output else ""
        typer.echo(
            f"penstock: {one.np} ranks: {one.details}, {one.repetitions} of {request.repetitions} repetitions{more}",
            err=True,
        )
    for sentence in tables.troubles(content):
        typer.echo(f"penstock: {sentence}", err=True)
    if missing or not record.verified(content):
        raise typer.Exit(1)
