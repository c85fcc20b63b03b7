"""Runs of scenarios."""

from __future__ import annotations

import csv
import io
import json
import tempfile
import warnings
from collections.abc import Iterable, Mapping
from os import PathLike, fspath
from pathlib import Path

from lasthop import _command, _lasthop, _toml
from lasthop._error import Error
from lasthop.results import Advice, Comparison, Crosscheck, Reproduction, Results
from lasthop.scenario import Scenario, Source
from lasthop.strategy import Strategies


def run(
    source: Source,
    *,
    set: Mapping[str, object] | None = None,
    runs: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    samples: bool = False,
    events: bool = False,
) -> Results:
    """Runs a scenario several times.

    `source` and `set` are as of `Scenario`. `runs` repetitions have the seeds `seed`, `seed + 1` …, by default the
    scenario's own; one if nothing is random. `jobs` threads work on them, by default one per core: the results are the
    same for any. Of the first repetition `samples` keeps cwnd, RTT and queues over time, `events` every packet.
    """
    scenario = source if isinstance(source, Scenario) and not set else Scenario(source, set=set)
    _note(scenario)
    made = _lasthop.run(
        scenario._made,
        _whole("runs", runs, 1, 1_000_000),
        _whole("seed", seed, 0, 2**63 - 1),
        _whole("jobs", jobs, 1, 1024),
        bool(samples),
        bool(events),
    )
    return Results(scenario, made)


def compare(
    source: Source,
    *,
    vary: Mapping[str, Iterable[object]],
    set: Mapping[str, object] | None = None,
    runs: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    metrics: Iterable[str] = (),
) -> Comparison:
    """Compares values of keys, paired: each meets the same losses. The first value is what the others are compared with.

    `vary` is `{"recovery": ["sack", "new_reno", "reno"]}`; of several keys every combination runs. `metrics` restricts
    `summary` and `to_json` to these.
    """
    if not isinstance(vary, Mapping) or not vary:
        raise Error(
            f"`vary` is {vary!r}: expected a dict with a key or more", 'vary={"recovery": ["sack", "reno"]}'
        )
    strategies = Strategies()
    varied = []
    for path, values in vary.items():
        if isinstance(values, str | Mapping) or not isinstance(values, Iterable):
            raise Error(
                f"`vary` has {values!r} for {path!r}: expected a list of values",
                'vary={"recovery": ["sack", "reno"]}',
            )
        listed = [_toml.typed(str(path), value, strategies) for value in values]
        if not listed:
            raise Error(f"`vary` has no value for {path!r}", "give at least one")
        if path in ("seed", "runs"):
            raise Error(f"`{path}` cannot be varied: every value runs with the same seeds", f"use {path}=")
        varied.append((str(path), listed))
    scenario = Scenario.__new__(Scenario)
    scenario._make(source, set, strategies)
    made = _lasthop.compare(
        scenario._made,
        varied,
        _whole("runs", runs, 1, 1_000_000),
        _whole("seed", seed, 0, 2**63 - 1),
        _whole("jobs", jobs, 1, 1024),
        _metrics(metrics),
    )
    comparison = Comparison(scenario, made)
    _note(comparison)
    return comparison


def reproduce(
    *papers: str,
    quick: bool = False,
    seed: int = 1,
    jobs: int | None = None,
    fresh: bool = False,
    report: str | None = None,
) -> Reproduction:
    """Reproduces papers (all by default): their numbers beside ours. Runs the command `lasthop reproduce`.

    A paper is a name (`"hasegawa"`) or a folder with a study.toml. `report` keeps the report with the figures there.
    Progress goes to standard error. What an earlier start has finished is not run again, unless `fresh`.
    """
    arguments = ["reproduce", *papers, "--seed", str(_whole("seed", seed, 0, 2**63 - 1))]
    arguments += ["--quick"] * quick + ["--fresh"] * fresh + _jobs(jobs)
    return Reproduction(_command.objects(arguments, report))


def advise(
    source: Source,
    *,
    set: Mapping[str, object] | None = None,
    sender: str | None = None,
    by: str = "all",
    seed: int | None = None,
    jobs: int | None = None,
) -> Advice:
    """What would help a path, by how much, and who would have to deploy it: `lasthop advise`.

    `sender` is whose sender the path's flows have (`"linux-cubic"`, `"bbr3"`, …), by default the scenario's; `by` is what
    the ranking is by: `"all"`, `"goodput"` or `"short"`.
    """
    scenario = Scenario(source, set=set)
    if scenario._has_strategies:
        raise Error("a strategy in Python cannot be advised on", "advise takes the engine's own mechanisms")
    further = [f"--by={by}", *([] if sender is None else [f"--sender={sender}"]), *_jobs(jobs)]
    if (number := _whole("seed", seed, 0, 2**63 - 1)) is not None:
        further.append(f"--seed={number}")
    with tempfile.TemporaryDirectory() as folder:
        path = _written(source, set, scenario, folder)
        printed, _ = _command.output(["advise", *path, "--format=json", *further])
    return Advice([json.loads(line) for line in printed.splitlines()])


def crosscheck(
    source: Source,
    *,
    set: Mapping[str, object] | None = None,
    senders: Iterable[str] = (),
    runs: int | None = None,
    seed: int | None = None,
    arguments: Iterable[str] = (),
) -> Crosscheck:
    """Runs a scenario simulated, and emulated with real TCP, in real time: `lasthop crosscheck` (Linux, as root).

    `senders` are `"lasthop"`, `"lasthop-to-kernel"` and congestion controls of the kernel's (`"cubic"`), by default these
    two, reno and cubic; `runs` repetitions of each (5). Each repetition meets the same losses in both. `arguments` are
    further ones of the command. Where it is not permitted, the `Error` says what is missing.
    """
    scenario = Scenario(source, set=set)
    if scenario._has_strategies:
        raise Error(
            "a strategy in Python cannot carry real packets in time",
            "crosscheck takes the engine's own mechanisms",
        )
    chosen = [senders] if isinstance(senders, str) else list(senders)
    further = [f"--senders={','.join(chosen)}"] * bool(chosen)
    for name, value, most in (("runs", runs, 1_000_000), ("seed", seed, 2**63 - 1)):
        if (number := _whole(name, value, int(name == "runs"), most)) is not None:
            further.append(f"--{name}={number}")
    with tempfile.TemporaryDirectory() as folder:
        path = _written(source, set, scenario, folder)
        printed, notes = _command.output(["crosscheck", *path, "--format=csv", *further, *arguments])
    rows = csv.DictReader(io.StringIO(printed))
    return Crosscheck([{name: _read(name, text) for name, text in row.items()} for row in rows], notes)


def _written(source: Source, set: Mapping[str, object] | None, scenario: Scenario, folder: str) -> list[str]:
    """A scenario as the command takes it: as it was named, or as a file in `folder`."""
    if isinstance(source, str | PathLike):
        typed = {path: _toml.typed(path, value, Strategies()) for path, value in (set or {}).items()}
        return [str(fspath(source)), *(f"--set={key}={value}" for key, value in typed.items())]
    file = Path(folder) / "scenario.toml"
    file.write_text(scenario.to_toml(), encoding="utf-8")
    return [str(file)]


def _read(column: str, text: str) -> object:
    """A field of CSV: a word, a seed, or a number, None where there is none."""
    if column in ("sender", "flow"):
        return text
    return int(text) if column == "seed" else float(text) if text else None


def _jobs(jobs: int | None) -> list[str]:
    jobs = _whole("jobs", jobs, 1, 1024)
    return [] if jobs is None else ["--jobs", str(jobs)]


def _whole(name: str, value: object, least: int, most: int) -> int | None:
    """A whole number in its range, also one of numpy's."""
    if value is None:
        return None
    try:
        if isinstance(value, bool):
            raise TypeError
        number = value.__index__()  # type: ignore[attr-defined]
    except (AttributeError, TypeError):
        number = None
    if number is None or not least <= number <= most:
        raise Error(f"`{name}` is {value!r}: expected a whole number from {least} to {most}")
    return int(number)


def _metrics(metrics: object) -> list[str]:
    """Names of metrics, or one."""
    if isinstance(metrics, str):
        return [metrics]
    listed = list(metrics) if isinstance(metrics, Iterable) else [None]
    if not all(isinstance(name, str) for name in listed):
        raise Error(f"`metrics` is {metrics!r}: expected a list of names", 'metrics=["goodput_kbps", "timeouts"]')
    return [str(name) for name in listed]


def _note(noted: Scenario | Comparison) -> None:
    for note in noted.notes:
        warnings.warn(note, stacklevel=3)
