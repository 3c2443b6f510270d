"""slurm_cluster.py: a cluster of Slurm on this machine: munged, slurmctld and a slurmd for each node, in one folder."""

import contextlib
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

NEEDED = ("unshare", "munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo", "srun")
CONFIGURATION = """ClusterName=penstock
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmctldPort={control}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
TmpFS={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=pmix
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=5
MinJobAge=300
SchedulerParameters=sched_interval=1,bf_interval=1
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
{nodes}
PartitionName=all Nodes={names} Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> str | None:
    """What this machine lacks for it; None where it has all."""
    lost = [name for name in NEEDED if shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") is None]
    if lost:
        return f"no {', '.join(lost)}: apt-get install munge slurmctld slurmd slurm-client"
    return None if os.geteuid() == 0 else "slurmd needs root"


@contextlib.contextmanager
def cluster(folder: Path, nodes: int = 2, cpus: int = 4, more: str = "") -> Iterator[dict[str, str]]:
    """The environment in which Slurm's commands talk to it; nothing of it is left. MORE: lines of slurm.conf."""
    ports = _free_ports(nodes + 1)
    names = [f"n{index}" for index in range(nodes)]
    host = socket.gethostname().split(".")[0]
    lines = [
        f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={cpus} State=UNKNOWN"
        for name, port in zip(names, ports[1:], strict=True)
    ]
    for name in ("state", *names):
        (folder / name).mkdir(mode=0o755)
    configuration = folder / "slurm.conf"
    configuration.write_text(
        CONFIGURATION.format(host=host, control=ports[0], folder=folder, nodes="\n".join(lines), names=",".join(names))
        + more
    )
    environment = os.environ | {"SLURM_CONF": str(configuration), "PATH": f"{os.environ['PATH']}:/usr/sbin"}
    with contextlib.ExitStack() as stack:
        _start(stack, _munged(folder), environment)
        _wait("munged", (folder / "munge.socket").exists)
        _start(stack, ["slurmctld", "-D", "-i", "-f", str(configuration)], environment)
        for name in names:
            # A host name of its own: MPI libraries take two nodes of one name for one.
            slurmd = f"hostname {name} && exec slurmd -D -N {name} -f {configuration}"
            _start(stack, ["unshare", "--uts", "bash", "-c", slurmd], environment)

        def idle() -> bool:
            said = ["sinfo", "--noheader", "--format=%T %D"]
            done = subprocess.run(said, env=environment, capture_output=True, text=True, check=False, timeout=30)
            return done.stdout.split() == ["idle", str(nodes)]

        _wait("idle nodes", idle)
        stack.callback(_cancel_all, environment)
        yield environment


def _munged(folder: Path) -> list[str]:
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    files = {"key-file": key, "socket": folder / "munge.socket", "pid-file": folder / "munged.pid"}
    files |= {"log-file": folder / "munged.log", "seed-file": folder / "munged.seed"}
    return ["munged", "--foreground", "--force", *(f"--{name}={path}" for name, path in files.items())]


def _start(stack: contextlib.ExitStack, words: list[str], environment: dict[str, str]) -> None:
    process = subprocess.Popen(
        words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )

    def stop() -> None:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    stack.callback(stop)


def _cancel_all(environment: dict[str, str]) -> None:
    cancel = ["scancel", "--user=root"]
    subprocess.run(cancel, env=environment, check=False, timeout=30, capture_output=True)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        queue = ["squeue", "-h"]
        done = subprocess.run(queue, env=environment, check=False, timeout=30, capture_output=True)
        if not done.stdout.strip():
            return
        time.sleep(0.3)


def _wait(what: str, ready: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > deadline:
            raise TimeoutError(f"no {what} after {seconds:.0f} s")
        time.sleep(0.2)


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]
