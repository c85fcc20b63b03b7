"""Sweeps: all combinations of values, stored crash-safe, on one machine or many."""

from __future__ import annotations

import json
import os
import pickle
import queue
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import BrokenExecutor, Future
from typing import Any, ClassVar

from lasthop import _command, _lasthop, _toml, _version
from lasthop._error import Error
from lasthop._extra import needs
from lasthop.running import _metrics, _whole
from lasthop.scenario import Scenario, Source
from lasthop.strategy import Strategies
from lasthop.table import Table

_TASK_S = 1.0
"""Target duration of an executor's task, s. Longer tasks would have less overhead, but a worker that dies would lose
more work."""
_TRIES = 3
"""Maximum number of attempts for a run whose worker dies."""

_Order = tuple[str, str, int]
"""Order of a run: digest and text of its scenario, and its seed."""


class Sweep(Table):
    """Table of a sweep: one row for each run and flow, with the values of the varied keys."""

    __slots__ = ("failed", "number", "store")

    store: str
    """File of the store."""
    number: int
    """Number of the sweep in the store."""
    failed: list[str]
    """Messages of failed runs. The next call of `sweep` with this store repeats these runs."""

    def __init__(self, store: str, number: int, failed: Iterable[str] = ()) -> None:
        super().__init__(_lasthop.read_store(store, number))
        self.store, self.number, self.failed = store, number, list(failed)

    def summary(
        self, *, against: Mapping[str, object] | None = None, metrics: Iterable[str] = ()
    ) -> list[dict[str, Any]]:
        """Means of each point with their intervals: the objects of `lasthop results --format json`.

        With `against={"congestion": "reno"}`, each mean has its `difference` from the point with this value and equal
        values of the other keys, paired by seed. `metrics` are the names of the metrics to return, by default all.
        """
        wanted = [f"--against={path}={_toml.typed(path, value, Strategies(versioned=True))}" for path, value in (against or {}).items()]
        wanted += [f"--metric={name}" for name in _metrics(metrics)]
        printed, _ = _command.output(
            ["results", self.store, f"--sweep={self.number}", "--format=json", *wanted]
        )
        return [json.loads(line) for line in printed.splitlines()]


def read_store(store: str | os.PathLike[str], sweep: int | None = None) -> Table:
    """Returns the table of a sweep in a store, one row for each run and flow. `lasthop sweep` writes such stores, too.

    `sweep` is the number of the sweep; you may omit it if the store has only one sweep. You may call this function
    while another process is writing to the store.
    """
    return Table(_lasthop.read_store(os.fspath(store), sweep))


def merge(
    store: str | os.PathLike[str], shards: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
) -> int:
    """Adds the runs of other stores, such as shards of a sweep, to a store; creates the store if needed.

    Returns the number of new runs. If another store has different results for the same run, none of its runs is added.
    """
    if isinstance(shards, str | os.PathLike):
        shards = [shards]
    others = [os.fspath(shard) for shard in shards]
    if not others:
        raise Error("`shards` is empty", 'merge("results.sqlite", ["part-1.sqlite", "part-2.sqlite"])')
    return sum(new for new, _ in _lasthop.merge_stores(os.fspath(store), others))


def sweep(
    source: Source,
    *,
    set: Mapping[str, object],
    store: str | os.PathLike[str],
    runs: int | None = None,
    until: float | None = None,
    metrics: Iterable[str] = (),
    seed: int | None = None,
    jobs: int | None = None,
    shard: tuple[int, int] = (1, 1),
    executor: Any = None,
    progress: bool | None = None,
) -> Sweep:
    """Runs every combination of values with the same seeds and stores every run in a file.

    `set` is for example `{"recovery": ["sack", "reno"], "duration": "30 s"}`: a key with a list is varied, other values
    apply to all runs. To continue a stopped or killed sweep, repeat the call: stored runs are not repeated.

    `runs` is the number of runs for each combination, by default the number in the scenario. With `until=0.02` instead,
    runs continue until the means of `metrics` (default goodput_kbps) are known to within 2 %
    (docs/how-to/sweep.md). The runs use `jobs` threads of this machine, or an `executor`: a Dask `Client`, or any
    executor of `concurrent.futures`. The rows are the same in all cases. `shard=(2, 4)` runs the second of four parts
    of the sweep; each part has its own store, and `merge` joins the stores.

    A value may be a strategy: `set={"congestion": ["cubic", Mine(beta=0.8)]}`. Such sweeps use processes instead of
    threads (`jobs=1`: this process). The table has the strategy's name with its version: `Mine@3fa9c1d2e0-51c8e07f2a`,
    where the two parts of the version are digests of the class's source and of the object's attributes. If the class
    has the attribute `version`, this attribute replaces the first digest.
    """
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise Error(
            f"`executor` is {executor!r}: expected a Dask Client or an executor of concurrent.futures",
            "for threads of this machine use jobs=4; for Dask: pip install distributed, then "
            "executor=distributed.Client(ADDRESS)",
        )
    strategies = Strategies(versioned=True)
    keys = [(str(path), _values(str(path), values, strategies)) for path, values in set.items()]
    scenario = Scenario.__new__(Scenario)
    scenario._make(source, None, strategies)
    sent = _sent(strategies)
    path = os.fspath(store)
    made = _lasthop.Sweep(
        scenario._made,
        keys,
        path,
        _whole("runs", runs, 1, 1_000_000),
        None if until is None else float(until),
        _metrics(metrics),
        _whole("seed", seed, 0, 2**63 - 1),
        _shard(shard),
    )
    for note in made.notes():
        warnings.warn(note, stacklevel=2)
    progress_line = _Progress(made, progress)
    try:
        if executor is None and sent is None:
            made.work(_whole("jobs", jobs, 1, 1024), progress_line.update)
        else:
            executor = executor or _processes(_whole("jobs", jobs, 1, 1024))
            _elsewhere(made, executor, sent, progress_line.update)
    finally:
        progress_line.end()
        failed = made.failed()
        made.close()
        if sent is not None:
            sent.close()
    return Sweep(path, made.number, failed)


def _values(path: str, values: object, strategies: Strategies) -> list[str]:
    """Returns the values of a key: the elements of a list or a tuple, or a single value."""
    listed = list(values) if isinstance(values, list | tuple) else [values]
    if not listed:
        raise Error(f"`set` has no value for {path!r}", "give at least one value")
    if path in ("seed", "runs"):
        raise Error(f"`{path}` cannot be varied: every value runs with the same seeds", f"use {path}=")
    typed = [_toml.typed(path, value, strategies) for value in listed]
    for at, value in enumerate(typed):
        if value in typed[:at]:
            raise Error(f"{value} is given twice for {path!r}", "write each value once")
    return typed


def _shard(shard: tuple[int, int]) -> tuple[int, int]:
    match shard:
        case (int(number), int(of)) if 1 <= number <= of <= 100_000:
            return number, of
    raise Error(
        f"`shard` is {shard!r}: expected (number of the shard, total number of shards)",
        "for instance shard=(1, 4)",
    )


class _Sent:
    """Strategies for workers. A worker in this process uses the strategies without pickling: unpickling a class in the
    process that pickled the class would replace the methods of the user's class."""

    _here: ClassVar[dict[int, Any]] = {}

    def __init__(self, strategies: Strategies, pickled: bytes) -> None:
        self.process, self.number, self.pickled = os.getpid(), id(self), pickled
        self._here[self.number] = strategies.for_engine()

    def received(self) -> Any:
        if os.getpid() == self.process and self.number in self._here:
            return self._here[self.number]
        return pickle.loads(self.pickled)

    def close(self) -> None:
        self._here.pop(self.number, None)


def _sent(strategies: Strategies) -> _Sent | None:
    """Returns the strategies for workers; None if the sweep has no strategies."""
    if not strategies.for_engine():
        return None
    with needs("lasthop.sweep of a strategy", "loky"):
        import cloudpickle  # type: ignore[import-untyped]
    # A worker may not be able to import the user's own modules, so their contents are sent.
    modules = {sys.modules[name] for _, _, made in strategies.for_engine() for name in _version.modules_of(made)}
    modules -= {sys.modules[name] for name in cloudpickle.list_registry_pickle_by_value()}
    for module in modules:
        cloudpickle.register_pickle_by_value(module)
    try:
        pickled: bytes = cloudpickle.dumps(strategies.for_engine())
    except Exception as why:
        raise Error(
            f"a strategy cannot be sent to another process: {why}",
            "its attributes must be picklable: no open files, locks or threads",
        ) from why
    finally:
        for module in modules:
            cloudpickle.unregister_pickle_by_value(module)
    return _Sent(strategies, pickled)


def _processes(jobs: int | None) -> Any:
    """Returns an executor with `jobs` processes of this machine; for one job, an executor that uses this process."""
    if jobs == 1:
        return _Here()
    with needs("lasthop.sweep of a strategy", "loky"):
        import loky  # type: ignore[import-untyped]
    return loky.get_reusable_executor(max_workers=jobs or os.cpu_count())


class _Here:
    """Executor that runs each task in this process, at once."""

    _max_workers = 1

    def submit(self, function: Callable[..., Any], *given: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(function(*given))
        return future


def _work(scenarios: dict[str, str], runs: list[tuple[str, int]], strategies: _Sent | None = None) -> bytes:
    """Performs one task on a worker: simulates `runs` (digest of the scenario, seed), and returns the results as bytes.
    Opens no file."""
    orders = [(digest, scenarios[digest], seed) for digest, seed in runs]
    return _lasthop.run_orders(orders, strategies.received() if strategies else [])


def _elsewhere(
    made: _lasthop.Sweep, executor: Any, strategies: _Sent | None, on_progress: Callable[[], None]
) -> None:
    """Submits the runs to an executor in tasks of about 1 s, and stores the results."""
    is_dask = type(executor).__module__.partition(".")[0] == "distributed"
    options = {"pure": False} if is_dask else {}
    workers = sum(executor.nthreads().values()) if is_dask else getattr(executor, "_max_workers", None)
    # Each worker has one task in progress and two in its queue.
    most = 3 * (workers or os.cpu_count() or 1)
    returned: queue.SimpleQueue[int] = queue.SimpleQueue()
    out: dict[int, tuple[Any, list[_Order]]] = {}
    retries: list[_Order] = []
    tries: dict[tuple[str, int], int] = {}
    seconds, finished, ticket = 0.0, 0, 0
    try:
        while True:
            # Before the first result, the duration of a run is unknown, so a task has one run. Near the end of the
            # sweep, tasks become smaller, so that all workers finish at about the same time.
            size = max(1, min(10_000, round(_TASK_S * finished / seconds))) if seconds else 1
            size = min(size, max(1, made.progress()[1] // (2 * most)))
            while len(out) < most and (orders := [retries.pop()] if retries else made.orders(size)):
                runs = [(digest, seed) for digest, _, seed in orders]
                future = executor.submit(
                    _work, {digest: text for digest, text, _ in orders}, runs, strategies, **options
                )
                ticket += 1
                out[ticket] = (future, orders)
                future.add_done_callback(lambda _, ticket=ticket: returned.put(ticket))
            if not out:
                return
            try:
                future, orders = out.pop(returned.get(timeout=0.2))
            except queue.Empty:
                continue
            try:
                seconds += made.store_results(future.result())
                finished += len(orders)
            except (Error, BrokenExecutor):
                raise
            except Exception as why:
                # A worker died, and one run of its task may be the cause. Each run of the task is now tried alone.
                for order in orders:
                    digest, _, seed = order
                    tries[digest, seed] = tries.get((digest, seed), 0) + (len(orders) == 1)
                    if tries[digest, seed] < _TRIES:
                        retries.append(order)
                    else:
                        made.abandon(digest, seed, f"{type(why).__name__}: {why}")
            on_progress()
    except BrokenExecutor as broken:
        raise Error(f"the executor broke: {broken}", "finished runs are kept: repeat the call to continue") from broken
    finally:
        for future, _ in out.values():
            future.cancel()


class _Progress:
    """Shows the finished runs and the remaining time in a line on standard error; by default only in a terminal or a
    notebook."""

    def __init__(self, made: _lasthop.Sweep, wanted: bool | None) -> None:
        self._made = made
        self._is_shown = (sys.stderr.isatty() or "ipykernel" in sys.modules) if wanted is None else wanted
        self._begun = self._updated = time.monotonic()

    def update(self) -> None:
        now = time.monotonic()
        if not self._is_shown or now - self._updated < 0.2:
            return
        self._updated = now
        done, left, found = self._made.progress()
        if done:
            remaining = (now - self._begun) * left / done
            there = f", {found} from the store" if found else ""
            line = f"sweep: {done} of {done + left} runs{there}, {remaining:.0f} s left"
            print(f"\r{line:<70}", end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._is_shown and self._updated > self._begun:
            print(f"\r{'':<70}\r", end="", file=sys.stderr, flush=True)
