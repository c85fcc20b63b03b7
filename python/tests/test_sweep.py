"""Tests that sweeps with threads and with executors give the same rows as the command."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyarrow.parquet  # type: ignore[import-untyped]
import pytest

import lasthop
from lasthop import _version

PATH = "rate=2Mbit/s,rtt=40ms,queue=20packets,loss=1%,duration=5s"
KEYS: dict[str, object] = {"recovery": ["sack", "reno"], "channel.loss": ["0.5%", "1%", "3%"]}

Command = Callable[..., subprocess.CompletedProcess[str]]


def rows(table: lasthop.Table) -> dict[str, list[Any]]:
    return table.to_dict()


def test_rows_are_those_of_the_command(tmp_path: Path, command: Command) -> None:
    ours = lasthop.sweep(PATH, set=KEYS, runs=4, store=tmp_path / "ours")
    assert len(ours) == 24 and ours.failed == [] and ours.number == 1
    assert ours.column_names[:6] == ["recovery", "channel.loss", "channel.loss_share", "flow", "run", "seed"]
    assert sorted(set(ours["channel.loss_share"])) == [0.005, 0.01, 0.03]
    assert list(zip(ours["run"], ours["seed"], strict=True)) == [(run, run) for run in (1, 2, 3, 4)] * 6
    settings = ["--set", "recovery=sack,reno", "--set", "channel.loss=0.5%,1%,3%"]
    theirs = str(tmp_path / "theirs")
    assert command("sweep", PATH, *settings, "--runs", "4", "--store", theirs).returncode == 0
    assert rows(lasthop.read_store(theirs)) == rows(ours)
    # The command continues the sweep in the store of the package, and finds that all runs are done.
    finished = command("sweep", PATH, *settings, "--runs", "4", "--store", str(tmp_path / "ours"))
    assert "24 runs are in the store, 0 remain" in finished.stderr


def test_differences_are_those_of_a_comparison(tmp_path: Path) -> None:
    swept = lasthop.sweep(PATH, set=KEYS, runs=3, store=tmp_path / "s")
    vary: dict[str, Any] = {key: values for key, values in KEYS.items()}
    reno = {"recovery": "reno"}
    compared = lasthop.compare(PATH, vary=vary, runs=3, against=reno, metrics=["goodput_kbps"])
    stored = swept.summary(against=reno, metrics=["goodput_kbps"])
    assert [{**one, "sweep": 1} for one in compared.summary] == stored
    first = stored[0]
    assert first["x"] == {"recovery": "sack", "channel.loss": "0.5%"}
    assert first["against"] == {"recovery": "reno", "channel.loss": "0.5%"}
    difference = first["goodput_kbps"]["mean"] - stored[3]["goodput_kbps"]["mean"]
    assert first["goodput_kbps"]["difference"]["mean"] == pytest.approx(difference)
    with pytest.raises(lasthop.Error, match="`against`: `recovery` has no value sakc"):
        lasthop.compare(PATH, vary=vary, runs=3, against={"recovery": "sakc"})


def test_numbers_are_those_of_run(tmp_path: Path) -> None:
    swept = lasthop.sweep(PATH, set={"recovery": ["reno"]}, runs=3, store=tmp_path / "s")
    run = lasthop.run(PATH, set={"recovery": "reno"}, runs=3)
    assert "recovery" not in swept.column_names, "the key does not vary"
    assert swept["goodput_kbps"] == run.flows["goodput_kbps"]



def test_what_is_there_is_not_run_again(tmp_path: Path) -> None:
    store = tmp_path / "s"
    lasthop.sweep(PATH, set=KEYS, runs=2, store=store)
    began = time.monotonic()
    again = lasthop.sweep(PATH, set=KEYS, runs=2, store=store)
    assert len(again) == 12 and time.monotonic() - began < 5
    assert len(lasthop.sweep(PATH, set=KEYS, runs=3, store=store)) == 18


def test_until_it_is_exact(tmp_path: Path) -> None:
    swept = lasthop.sweep(PATH, set={"recovery": ["sack", "reno"]}, until=0.1, store=tmp_path / "s")
    assert len(swept) >= 20
    few = lasthop.sweep(PATH, set={"recovery": ["sack", "reno"]}, until=0.001, runs=12, store=tmp_path / "t")
    assert len(few) == 24


@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_an_executor_gives_the_same_rows(tmp_path: Path, kind: str) -> None:
    here = rows(lasthop.sweep(PATH, set=KEYS, runs=5, store=tmp_path / "here"))
    made = ThreadPoolExecutor(2) if kind == "threads" else ProcessPoolExecutor(2, mp_context=get_context("spawn"))
    with made as executor:
        there = lasthop.sweep(PATH, set=KEYS, runs=5, store=tmp_path / "there", executor=executor)
        until = lasthop.sweep(PATH, set=KEYS, until=0.1, store=tmp_path / "until", executor=executor)
    assert rows(there) == here
    assert rows(until) == rows(lasthop.sweep(PATH, set=KEYS, until=0.1, store=tmp_path / "until-here"))


def test_a_broken_executor_is_told_and_the_rest_is_kept(tmp_path: Path) -> None:
    store = tmp_path / "s"
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        executor.submit(os.getpid).result()
        os.kill(executor.submit(os.getpid).result(), signal.SIGKILL)
        with pytest.raises(lasthop.Error, match="the executor broke"):
            lasthop.sweep(PATH, set=KEYS, runs=2, store=store, executor=executor)
    assert len(lasthop.sweep(PATH, set=KEYS, runs=2, store=store)) == 12


def test_dask_with_a_worker_killed_gives_the_same_rows(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    path = "rate=20Mbit/s,rtt=40ms,queue=1bdp,loss=0.5%,duration=60s"
    keys: dict[str, object] = {"recovery": ["sack", "reno"]}
    here = rows(lasthop.sweep(path, set=keys, runs=40, store=tmp_path / "here"))
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        victim = next(iter(client.run(os.getpid).values()))
        executor = _Killing(client, victim)
        there = lasthop.sweep(path, set=keys, runs=40, store=tmp_path / "there", executor=executor)
        assert executor.killed
    assert there.failed == [] and rows(there) == here


class _Killing:
    """Client of an executor, which kills a worker while tasks are in progress."""

    def __init__(self, client: Any, victim: int) -> None:
        self._client, self._victim, self._tasks, self.killed = client, victim, 0, False

    def submit(self, work: Any, *arguments: Any) -> Any:
        future = self._client.submit(work, *arguments, pure=False)
        self._tasks += 1
        if self._tasks == 5:
            os.kill(self._victim, signal.SIGKILL)
            self.killed = True
        return future


GAIN = 1.0


def half(window: float) -> float:
    return window / 2


class Additive(lasthop.CongestionControl):
    """Adds `gain` segments to the window per window of ACKs, and halves the window at a loss."""

    draws = False

    def __init__(self, gain: float = 1.0) -> None:
        self.gain = gain

    def on_ack(self, ack: lasthop.Ack) -> None:
        self.cwnd += GAIN * self.gain * self.mss * ack.acked_bytes / self.cwnd

    def on_loss(self, loss: lasthop.Loss) -> None:
        self.cwnd = max(half(self.cwnd), 2 * self.mss)
        self.ssthresh = self.cwnd


def test_strategies_are_swept_in_any_process(tmp_path: Path) -> None:
    set: dict[str, list[object]] = {"congestion": ["reno", Additive(), Additive(4.0)], "loss": [0.001, 0.01]}
    here = lasthop.sweep(PATH, set=set, runs=2, store=tmp_path / "here", jobs=1)
    assert len(here) == 12 and not here.failed
    names = list(dict.fromkeys(here["congestion"]))
    assert names[0] == "reno" and names[1].startswith("Additive@") and len(names_of(names)) == 3
    table = lasthop.compare(PATH, vary=set, runs=2).flows
    assert here["goodput_kbps"] == sorted_like(here, table, names)
    processes = lasthop.sweep(PATH, set=set, runs=2, store=tmp_path / "processes", jobs=2)
    assert rows(processes) == rows(here)
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        dask = lasthop.sweep(PATH, set=set, runs=2, store=tmp_path / "dask", executor=client)
    assert rows(dask) == rows(here)
    # A second sweep finds the stored runs. The summary accepts the strategy as a baseline.
    again = lasthop.sweep(PATH, set=set, runs=2, store=tmp_path / "here", jobs=1)
    assert rows(again) == rows(here)
    differences = again.summary(against={"congestion": Additive()}, metrics=["goodput_kbps"])
    assert any(one["goodput_kbps"]["difference"] for one in differences)


def test_a_changed_strategy_is_another_point(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(made: object) -> str:
        return _version.of_strategy(made)

    first = version(Additive())
    assert version(Additive()) == first != version(Additive(2.0))
    with monkeypatch.context() as patch:
        patch.setitem(globals(), "GAIN", 2.0)
        assert version(Additive()) != first, "a constant that a method uses"
    with monkeypatch.context() as patch:
        patch.setitem(globals(), "half", lambda window: window / 3)
        assert version(Additive()) != first, "a function that a method uses"
    with monkeypatch.context() as patch:
        patch.setattr(Additive, "on_loss", lambda self, loss: None)
        assert version(Additive()) != first, "a method"
    with monkeypatch.context() as patch:
        patch.setattr(Additive, "version", "mine 2", raising=False)
        assert version(Additive()).startswith("mine 2-") and version(Additive()) != version(Additive(2.0))

    def closed_over(factor: float) -> str:
        class Inner(lasthop.CongestionControl):
            def on_ack(self, ack: lasthop.Ack) -> None:
                self.cwnd += factor

            def on_loss(self, loss: lasthop.Loss) -> None:
                self.cwnd /= 2

        return version(Inner())

    assert closed_over(1.0) == closed_over(1.0) != closed_over(2.0)


def test_an_exception_of_a_hook_fails_its_run_alone(tmp_path: Path) -> None:
    class Broken(Additive):
        def on_loss(self, loss: lasthop.Loss) -> None:
            raise ZeroDivisionError("my mistake")

    done = lasthop.sweep(PATH, set={"congestion": ["reno", Broken()]}, runs=2, store=tmp_path / "s", jobs=1)
    assert len(done) == 2 and len(done.failed) == 2
    assert "ZeroDivisionError: my mistake" in done.failed[0]


def names_of(names: list[str]) -> set[str]:
    return {name for name in names if name == "reno" or "-" in name}


def sorted_like(sweep: lasthop.Sweep, table: lasthop.Table, names: list[str]) -> list[float]:
    """Returns the goodputs of a comparison, in the order of the sweep's rows."""
    order = list(dict.fromkeys(table["congestion"]))
    found = {
        (names[order.index(name)], loss, seed): goodput
        for name, loss, seed, goodput in zip(
            table["congestion"], table["loss"], table["seed"], table["goodput_kbps"], strict=True
        )
    }
    keys = zip(sweep["congestion"], sweep["loss"], sweep["seed"], strict=True)
    return [found[key] for key in keys]


def test_bad_input_is_one_clear_error(tmp_path: Path) -> None:
    class Locked(lasthop.CongestionControl):
        def __init__(self) -> None:
            self.lock = threading.Lock()

        def on_ack(self, ack: lasthop.Ack) -> None:
            pass

        def on_loss(self, loss: lasthop.Loss) -> None:
            pass

    store = tmp_path / "s"
    (tmp_path / "notes.txt").write_text("not a store\n")
    cases: list[tuple[dict[str, Any], str]] = [
        ({"set": {"recovery": []}}, "no value"),
        ({"set": {"recovery": ["sack", "sack"]}}, "twice"),
        ({"set": {"recovry": ["sack"]}}, "recovry"),
        ({"set": {"seed": [1, 2]}}, "cannot be varied"),
        ({"set": {"congestion": [Locked()]}}, "cannot be sent to another process"),
        ({"set": KEYS, "until": 2}, "until = 2"),
        ({"set": KEYS, "until": float("nan")}, "until = NaN"),
        ({"set": KEYS, "runs": 0}, "runs"),
        ({"set": KEYS, "shard": (3, 2)}, "shard"),
        ({"set": KEYS, "metrics": "goodputt"}, "no metric `goodputt`"),
        ({"set": KEYS, "store": tmp_path / "notes.txt"}, "is not a store"),
        ({"set": KEYS, "executor": 4}, "`executor` is 4: expected a Dask Client"),
    ]
    for arguments, message in cases:
        with pytest.raises(lasthop.Error, match=message):
            lasthop.sweep(PATH, **{"store": store, **arguments})
        assert not store.exists(), message
    with pytest.raises(lasthop.Error, match="the store .* does not exist"):
        lasthop.read_store(store)


def test_shards_are_merged(tmp_path: Path, command: Command) -> None:
    whole = lasthop.sweep(PATH, set=KEYS, runs=3, store=tmp_path / "whole")
    parts = [tmp_path / f"part-{number}" for number in (1, 2)]
    for number, part in enumerate(parts, 1):
        lasthop.sweep(PATH, set=KEYS, runs=3, store=part, shard=(number, 2))
    merged, ours = tmp_path / "merged", tmp_path / "ours"
    assert command("results", str(merged), "--merge", *map(str, parts)).returncode == 0
    assert rows(lasthop.read_store(merged)) == rows(whole)
    assert lasthop.merge(ours, parts) == 18
    assert rows(lasthop.read_store(ours)) == rows(whole)
    assert lasthop.merge(ours, parts[0]) == 0, "the runs are already in the store"
    for others, words in (([], "`shards` is empty"), ([tmp_path / "none"], "does not exist")):
        with pytest.raises(lasthop.Error, match=words):
            lasthop.merge(tmp_path / "new", others)
        assert not (tmp_path / "new").exists()


def test_loss_of_a_line_can_be_swept(tmp_path: Path) -> None:
    line = "rate=2Mbit/s,rtt=40ms,queue=20packets,duration=5s"
    swept = lasthop.sweep(line, set={"loss": ["0.5%", "1%", 0.03]}, runs=2, store=tmp_path / "s")
    assert swept.column_names[0] == "loss" and len(swept) == 6
    assert set(swept["loss"]) == {"0.5%", "1%", "0.03"}
    numbers = lasthop.sweep(line, set={"loss": [0.01, 0.003]}, runs=1, store=tmp_path / "numbers")
    assert sorted(numbers.to_pandas().loss) == sorted(lasthop.read_store(numbers.store)["loss"]) == [0.003, 0.01]
    assert swept["goodput_kbps"][:2] == lasthop.run(f"{line},loss=0.5%", runs=2).flows["goodput_kbps"]


def test_parquet_by_the_command_that_the_error_names(tmp_path: Path, command: Command) -> None:
    store = tmp_path / "a store of 'mine'"
    swept = lasthop.sweep(PATH, set=KEYS, runs=2, store=store)
    finished = command("results", str(store), "--format", "parquet")
    assert finished.returncode == 2 and not finished.stdout
    line = next(line for line in finished.stderr.splitlines() if "python3 -c" in line)
    program = line[line.index("python3") :].replace("python3", sys.executable, 1)
    subprocess.run(program, shell=True, cwd=tmp_path, check=True)
    read = pyarrow.parquet.read_table(tmp_path / "runs.parquet")
    assert read.to_pydict() == rows(swept)
    # The Parquet file keeps the units and meanings of the columns.
    assert read.schema.field("goodput_kbps").metadata
    with pytest.raises(lasthop.Error, match="cannot write"):
        swept.to_parquet(tmp_path / "none" / "runs.parquet")
    assert not list(tmp_path.glob("*.part"))
