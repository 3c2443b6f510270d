"""table.py: the commands of `penstock`: the module of each, its heading, and what it does in one line."""

from typing import NamedTuple


class Row(NamedTuple):
    """MODULE is of penstock.cli, and is imported when its command is called; HELP begins the command's own help."""

    module: str
    heading: str
    help: str


COMMANDS = {
    "info": Row("info", "Files", "Show what files are and what is in them; list a folder"),
    "view": Row("view", "Files", "Draw a line, an image, a slice or a projection"),
    "diff": Row("diff", "Files", "Compare two files by value"),
    "verify": Row("verify", "Files", "Compare files with their checksums; repair or seal them"),
    "convert": Row("convert", "Files", "Convert to another format or chunks; join or split sets"),
    "import": Row("import_", "Files", "Make one file of what each process wrote for itself"),
    "streams": Row("streams", "Files", "List, check or copy out the byte streams of each rank"),
    "bench": Row("bench", "Measure", "Compare ways to write a workload here; say which to use"),
    "tune": Row("tune", "Measure", "Find the fastest plan for a workload here, and keep it"),
    "plan": Row("plan", "Measure", "Say which plan a workload gets, and why"),
    "campaign": Row("campaign", "Measure", "Run a file of benchmarks on several numbers of ranks"),
    "simulate": Row("simulate", "Measure", "Say what a workload would take on another machine"),
    "report": Row("report", "Measure", "Make a page, a table or a drawing of what was measured"),
    "methods": Row("methods", "Measure", "List the ways to write that this build has"),
    "hints": Row("hints", "Measure", "Find out which MPI-IO hints have an effect here"),
    "run": Row("run", "At once", "Run an unchanged MPI program with penstock's MPI-IO"),
    "doctor": Row("doctor", "Explain", "Say why the I/O of a run is slow and what will help"),
    "profile": Row("profile", "Explain", "Run any program and record what it does to files"),
    "trace": Row("trace", "Explain", "Show what a traced program did to files"),
    "monitor": Row("monitor", "Explain", "Watch the file systems and the jobs of this node"),
    "feed": Row("feed", "Explain", "Send findings to Splunk and metrics to Prometheus"),
    "clean": Row("clean", "Look after", "Remove what killed programs left behind"),
    "catalogue": Row("catalogue", "Look after", "Search a tree of files by attribute and dataset"),
}

# Names of before, each in the module of the command that does the same now; completion, which packages call; and soak,
# which tests the library for hours: they work, and no overview shows them.
ALIASES = {
    "completion": "completion",
    "ls": "info",
    "picture": "view",
    "repair": "verify",
    "seal": "verify",
    "join": "convert",
    "split": "convert",
    "soak": "soak",
}


def overview() -> str:
    """All commands on one screen of 24 lines of 80 columns."""
    lines = ["Usage: penstock COMMAND ..., penstock COMMAND --help, penstock --version"]
    heading = ""
    for name, row in COMMANDS.items():
        lines.append(f"{row.heading if row.heading != heading else '':11} {name:11} {row.help}")
        heading = row.heading
    return "\n".join(lines)
