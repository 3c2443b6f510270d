"""test_packages.py: the package, completion in real shells, recipes of Spack, conda and containers, the citation."""

import re
import shutil
import subprocess
import sys
import tomllib
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import penstock
from conftest import ROOT
from penstock.cli import completion, whole

BASH = """
source "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
_penstock_completion
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def root(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The tree of subcommands; the programs are those of the build."""
    monkeypatch.setenv("PENSTOCK_BIN", str(ROOT / "build" / "bin"))
    return whole()


def scripted(shell: completion.Shell, root: Any, folder: Path) -> Path:
    path = folder / f"penstock.{shell}"
    path.write_text(completion.script(shell, root))
    return path


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("penstock verif", ["verify"]),
        ("penstock import ", ["ramses", "records"]),
        ("penstock verify --js", ["--json"]),
        ("penstock verify a.h5 --mpi s", ["serial"]),
        ("penstock bench block2d --row", ["--row-bytes"]),  # an option of penstock-bench
        ("penstock bench block2d --methods hdf5/two", ["hdf5/two_phase"]),
        ("penstock bench block2d --methods hdf5/two_phase,raw/per", ["hdf5/two_phase,raw/per_process"]),
    ],
)
def test_bash_completes(build: Path, tmp_path: Path, root: Any, line: str, expected: list[str]) -> None:
    words = line.split(" ")
    script = scripted(completion.Shell.bash, root, tmp_path)
    done = subprocess.run(
        ["bash", "-c", BASH, "bash", str(script), *words],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
        cwd=build,
    )
    assert done.stdout.split() == expected


def test_fish_completes(build: Path, tmp_path: Path, root: Any) -> None:
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed: Debian's package fish")
    script = scripted(completion.Shell.fish, root, tmp_path)
    for line, expected in (("penstock verif", "verify"), ("penstock verify --js", "--json")):
        done = subprocess.run(
            ["fish", "-c", f"source {script}; complete -C '{line}'"],  # noqa: S607
            capture_output=True,
            text=True,
            check=True,
            cwd=build,
            env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        )
        assert done.stdout.split() == [expected]


def test_zsh_takes_its_script(tmp_path: Path, root: Any) -> None:
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not installed: Debian's package zsh")
    script = scripted(completion.Shell.zsh, root, tmp_path)
    said = "autoload -U compinit && compinit -u -D; source $1; print $_comps[penstock]"
    done = subprocess.run(
        ["zsh", "-f", "-c", said, "zsh", str(script)],  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert "_penstock_completion" in done.stdout, done.stderr


def options_of_cmake() -> set[str]:
    names = ("CMakeLists.txt", "cmake/Dependencies.cmake", "bindings/python/CMakeLists.txt")
    text = "\n".join((ROOT / name).read_text() for name in names)
    return set(re.findall(r"option\((PENSTOCK_\w+)", text)) | set(re.findall(r"set\((PENSTOCK_\w+) [^)]*CACHE", text))


class Package:
    """What Spack's CMakePackage gives a recipe, for one choice of variants."""

    chosen: frozenset[str] = frozenset()
    run_tests = False

    def define(self, name: str, value: object) -> tuple[str, object]:
        return name, value

    def define_from_variant(self, name: str, variant: str) -> tuple[str, object]:
        return name, variant in self.chosen

    @property
    def spec(self) -> Any:
        class Spec(dict[str, Any]):
            def satisfies(_, words: str) -> bool:  # noqa: N805
                return words.removeprefix("+") in self.chosen

            def __missing__(_, name: str) -> Any:  # noqa: N805
                return SimpleNamespace(prefix=f"/prefix/{name}")

        return Spec()


SPACK = [set(), {"mpi", "fortran", "python"}, {"mpi", "pnetcdf", "netcdf", "adios2", "bench"}]


@pytest.mark.parametrize("chosen", SPACK)
def test_the_spack_package_names_options_that_cmake_has(monkeypatch: pytest.MonkeyPatch, chosen: set[str]) -> None:
    variants: set[str] = set()
    module = ModuleType("spack.package")
    quiet = {name: lambda *_, **__: None for name in ("version", "depends_on", "extends", "license")}
    vars(module).update(quiet)
    vars(module).update(
        CMakePackage=Package, when=lambda _: nullcontext(), variant=lambda name, **_: variants.add(name)
    )
    monkeypatch.setitem(sys.modules, "spack", ModuleType("spack"))
    monkeypatch.setitem(sys.modules, "spack.package", module)
    names: dict[str, Any] = {"python_platlib": "/prefix/site-packages"}
    exec((ROOT / "packaging" / "spack" / "package.py").read_text(), names)  # noqa: S102
    recipe = names["Penstock"]
    recipe.chosen = frozenset(chosen)
    given = dict(recipe().cmake_args())
    assert set(given) <= options_of_cmake()
    assert chosen <= variants
    assert given["PENSTOCK_MPI"] == ("mpi" in chosen)
    assert ("PENSTOCK_PYTHON_DIR" in given) == ("python" in chosen)
    assert given.get("PENSTOCK_PNETCDF_ROOT") == ("/prefix/parallel-netcdf" if "pnetcdf" in chosen else None)


@pytest.mark.parametrize("mpi", ["nompi", "openmpi", "mpich"])
def test_the_conda_recipe_names_what_the_build_and_the_package_need(mpi: str) -> None:
    import jinja2
    import yaml

    folder = ROOT / "packaging" / "conda"
    assert mpi in yaml.safe_load((folder / "conda_build_config.yaml").read_text())["mpi"]
    lines = []
    for line in (folder / "meta.yaml").read_text().splitlines():
        selector = re.search(r"# \[(.*)\]$", line)
        if selector is None or eval(selector[1], {"mpi": mpi, "linux": True}):  # noqa: S307
            lines.append(line)
    text = jinja2.Template("\n".join(lines)).render(
        mpi=mpi, compiler=lambda name: f"{name}-compiler", stdlib=lambda name: f"{name}-stdlib"
    )
    recipe = yaml.safe_load(text)
    assert recipe["package"]["version"] == penstock.__version__
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    run = {words.split()[0].removesuffix("-base") for words in recipe["requirements"]["run"]}
    assert set(needed) <= run
    assert ("mpi4py" in run) == (mpi != "nompi")
    assert any(
        words.startswith("hdf5 * " + ("nompi" if mpi == "nompi" else f"mpi_{mpi}"))
        for words in recipe["requirements"]["host"]
    )
    given = set(re.findall(r"-D(PENSTOCK_\w+)", (folder / "build.sh").read_text()))
    assert given <= options_of_cmake()
    assert {"PENSTOCK_MPI", "PENSTOCK_HDF5_ROOT", "PENSTOCK_PYTHON_DIR"} <= given


def test_what_pip_gives_to_cmake_are_its_options() -> None:
    given = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["scikit-build"]["cmake"]["define"]
    said = "\n".join((ROOT / name).read_text() for name in ("docs/install.md", "scripts/wheel", "scripts/test-wheel"))
    named = {name for name in given if name.startswith("PENSTOCK")} | set(re.findall(r"define\.(PENSTOCK_\w+)", said))
    assert len(named) > len(given) - 2
    assert named <= options_of_cmake()
    for part in ("PROGRAMS", "BENCH", "TESTS", "EXAMPLES", "FORTRAN"):  # or pip takes many minutes
        assert given[f"PENSTOCK_{part}"] == "OFF"


def chosen_by(site: Path, program: str = "penstock-info", mpi: str = "") -> subprocess.CompletedProcess[str]:
    """The MPI, and the PROGRAM for it, that are used where the package in SITE is, and nothing of this build."""
    tell = (
        "import sys\n"
        "from penstock.base import launch\n"
        "mpi = launch.Mpi(sys.argv[2]) if sys.argv[2] else launch.HERE\n"
        "print(mpi.value, launch.program(sys.argv[1], mpi))\n"
    )
    return subprocess.run(
        [sys.executable, "-S", "-P", "-c", tell, program, mpi],
        env={"PYTHONPATH": f"{ROOT / 'tools'}:{site}", "PATH": "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("mpi", ["serial", "mpich"])
@pytest.mark.parametrize("named", [False, True])
def test_an_installed_package_has_its_own_programs_and_mpi(tmp_path: Path, mpi: str, named: bool) -> None:
    site = tmp_path / "lib" / "site"
    folder = site / "penstock_native" / mpi
    folder.mkdir(parents=True)
    prefix = tmp_path if named else folder
    (prefix / "bin").mkdir()
    (prefix / "bin" / "penstock-info").touch(0o755)
    if named:
        (folder / "prefix").write_text("../../../..\n")
    assert chosen_by(site).stdout == f"{mpi} {prefix / 'bin' / 'penstock-info'}\n"
    other = chosen_by(site, "penstock-info", "openmpi")
    assert f"penstock-info for openmpi is not in this installation, which is for --mpi {mpi}" in other.stderr
    missing = chosen_by(site, "penstock-bench", mpi)
    assert "'make install'" in missing.stderr


def test_container_recipes_take_the_steps_from_one_script() -> None:
    for recipe in ("docker/Dockerfile", "apptainer/penstock.def"):
        text = (ROOT / "packaging" / recipe).read_text()
        steps = set(re.findall(r"/opt/source/packaging/container (\w+)", text))
        assert steps == {"build", "check"}, recipe
        assert "debian:stable" in text
    known = set(re.findall(r"^  (\w+)\)$", (ROOT / "packaging" / "container").read_text(), re.MULTILINE))
    assert known == {"build", "check"}


def test_the_citation_has_what_the_schema_requires() -> None:
    import yaml

    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= set(cited)
    assert cited["cff-version"] == "1.2.0"
    version = re.search(r"project\(penstock VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())
    assert version is not None
    assert str(cited["version"]) == version[1]


def test_the_wheel_has_every_program_that_the_command_starts() -> None:
    started = {
        name
        for path in (ROOT / "tools" / "penstock").rglob("*.py")
        for name in re.findall(r'(?:PROGRAM = |program\()"penstock-([a-z]+)"', path.read_text())
    }
    wheel = set()
    for folder in ("programs", "bench"):
        text = (ROOT / folder / "CMakeLists.txt").read_text()
        names = re.search(r"foreach\(program ((?:[a-z]+ ?)+)\)", text)
        for name in re.findall(r"^ *penstock_command\(penstock-([a-z]+|\$\{program\})\)", text, re.M):
            wheel |= set(names[1].split()) if "$" in name and names else {name}
    assert started - wheel == {"simulate"}  # which needs SimGrid: bench/simulate/CMakeLists.txt
    assert wheel <= started
