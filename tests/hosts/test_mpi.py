"""An MPI job on three hosts, one rank on each, and what befalls it."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.conftest import Solving, check_result, solve
from tests.hosts.network import BIN, Host

pytest.importorskip("mpi4py")

CHECKPOINT = ["--checkpoint", "run.ckpt"]


def launcher(hosts: list[Host], folder: Path) -> tuple[str, ...]:
    """Return the mpiexec that starts a rank on each of the hosts, with a stand-in for ssh."""
    names = "".join(f"{host.address}) namespace={host.namespace} name={host.name} ;;\n" for host in hosts)
    ssh = folder / "ssh"
    ssh.write_text(
        "#!/bin/sh\n"
        'while [ "${1#-}" != "$1" ]; do shift; done\n'
        f'case "$1" in\n{names}esac\n'
        "shift\n"
        'exec ip netns exec $namespace unshare --uts --ipc -- sh -c "hostname $name; exec $*"\n'
    )
    ssh.chmod(0o755)
    (folder / "hosts").write_text("".join(f"{host.address}:1\n" for host in hosts))
    start = ["-launcher", "ssh", "-launcher-exec", str(ssh), "-f", str(folder / "hosts")]
    return str(BIN / "mpiexec"), *start, "-iface", "eth0", "-localhost", hosts[0].address, "-n", str(len(hosts))


def solve_on(hosts: list[Host], folder: Path, *options: str) -> Solving:
    return solve(hosts[0], folder, *options, launcher=launcher(hosts, folder))


def end(solving: Solving, seconds: float) -> tuple[int, str]:
    began = time.monotonic()
    status, said, whole = solving.end(seconds)
    print(f"status {status}, {whole:.1f} s in all, {time.monotonic() - began:.1f} s after what befell it")
    print(said[-2000:])
    return status, said


def test_three_hosts_find_what_one_machine_finds(
    hosts: list[Host], tmp_path: Path, playouts: int, on_one_machine: dict[str, Any]
) -> None:
    solving = solve_on(hosts, tmp_path, "--playouts", str(playouts), *CHECKPOINT)
    status, _ = end(solving, 180)
    assert status == 0
    result = check_result(solving.output, on_one_machine)
    nodes = {node.partition(":")[0] for island in result["islands"] for node in island["nodes"]}
    assert nodes == {host.name for host in hosts}
    assert (tmp_path / "run.ckpt.DONE").exists()


def check_resumed(hosts: list[Host], folder: Path, playouts: int, expected: dict[str, Any]) -> None:
    """Check that the search goes on from its checkpoint, on these hosts, to the same end."""
    assert (folder / "run.ckpt").exists()
    assert not (folder / "run.ckpt.DONE").exists()
    solving = solve_on(hosts, folder, "--playouts", str(playouts), *CHECKPOINT, "--resume")
    before = solving.lines()
    status, _ = end(solving, 180)
    assert status == 0
    check_result(solving.output, expected)
    first = solving.lines()[len(before)][1]
    assert sum(seen.playouts for seen in first) > 0, "it began anew"


def test_a_killed_rank_ends_the_job_and_another_number_of_ranks_resumes_it(
    hosts: list[Host], tmp_path: Path, playouts: int, on_one_machine: dict[str, Any]
) -> None:
    solving = solve_on(hosts, tmp_path, "--playouts", str(playouts), *CHECKPOINT)
    nodes = [seen.node for seen in solving.wait_for_nodes(3)]
    rank = next(node for node in nodes if node.startswith("host2:"))
    os.kill(int(rank.partition(":")[2]), signal.SIGKILL)
    status, _ = end(solving, 20)
    assert status != 0
    check_result(solving.output)
    check_resumed(hosts[:2], tmp_path, playouts, on_one_machine)


def test_a_link_cut_for_good_does_not_hang_the_job(
    hosts: list[Host], tmp_path: Path, playouts: int, on_one_machine: dict[str, Any]
) -> None:
    """The others do what the lost rank was to do, until MPI itself notices, half a minute or more later.

    A search that is through before that ends with the status of a failed cluster, and its whole result.
    """
    solving = solve_on(hosts, tmp_path, "--playouts", str(playouts), *CHECKPOINT)
    solving.wait_for_nodes(3)
    hosts[2].cut()
    status, said = end(solving, 120)
    assert status != 0
    assert solving.stall() < 8
    if (tmp_path / "run.ckpt.DONE").exists():
        assert status == 3
        assert "a rank has fallen silent; the job ends without it" in said
        check_result(solving.output, on_one_machine)
    else:
        check_result(solving.output)
        check_resumed(hosts[:2], tmp_path, playouts, on_one_machine)


def test_a_signal_ends_it_in_time_though_a_link_is_cut(hosts: list[Host], tmp_path: Path) -> None:
    solving = solve_on(hosts, tmp_path, "--seconds", "60", *CHECKPOINT)
    solving.wait_for_nodes(3)
    hosts[2].cut()
    time.sleep(1)
    told = time.monotonic()
    solving.process.send_signal(signal.SIGUSR1)
    status, _ = end(solving, 60)
    assert status != 0
    assert time.monotonic() - told < 12  # all is saved after 6
    check_result(solving.output)
    assert (tmp_path / "run.ckpt").exists()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1])
def test_a_signal_to_mpiexec_ends_it_in_time(
    hosts: list[Host], tmp_path: Path, playouts: int, on_one_machine: dict[str, Any], number: signal.Signals
) -> None:
    solving = solve_on(hosts, tmp_path, "--playouts", str(playouts), *CHECKPOINT)
    solving.wait_for_nodes(3)
    solving.process.send_signal(number)
    status, _ = end(solving, 10)
    assert status == 128 + number
    check_result(solving.output)
    check_resumed(hosts, tmp_path, playouts, on_one_machine)
