"""Runs, comparisons and commands over scenarios."""

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

    `source` and `set` are as in `Scenario`. The `runs` repetitions have the seeds `seed`, `seed + 1` …; by default the
    scenario sets `runs` and `seed`, and a scenario without random numbers runs once. The repetitions run on `jobs`
    threads, by default one per core; the results do not depend on `jobs`. For the first repetition, `samples` records
    cwnd, RTT and queues over time, and `events` records every packet.
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
    against: Mapping[str, object] | None = None,
) -> Comparison:
    """Compares values of keys in paired runs: all variants have the same losses.

    `vary` gives the values of each key: `{"recovery": ["sack", "new_reno", "reno"]}`. With several keys every
    combination runs. If you give `metrics`, `summary` and `to_json` contain only these metrics.

    `against` is the baseline of the differences in `summary`: `{"congestion": "reno"}` compares each variant with Reno
    at the same values of the other keys. The default baseline is the first value of the key. If several keys
    vary, the baseline of a variant has the variant's value of the key on the x axis of a figure, and the first value of
    every other key.
    """
    if not isinstance(vary, Mapping) or not vary:
        raise Error(
            f"`vary` is {vary!r}: expected a dict with at least one key", 'vary={"recovery": ["sack", "reno"]}'
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
            raise Error(f"`vary` has no value for {path!r}", "give at least one value")
        if path in ("seed", "runs"):
            raise Error(
                f"`{path}` cannot be varied: all values have the same seeds and the same number of runs",
                f"pass {path} as an argument: {path}=…",
            )
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
        [(str(path), _toml.typed(str(path), value, strategies)) for path, value in (against or {}).items()],
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
    """Reproduces papers (all by default) with the command `lasthop reproduce`: compares published numbers with ours.

    A paper is a name (`"hasegawa"`) or a folder with a study.toml. `report` is the path at which the report with the
    figures is written. Progress goes to standard error. Stored results of earlier calls are reused, unless `fresh` is
    true.
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
    place: str | Iterable[str] = (),
    flow: str | Iterable[str] = (),
    seed: int | None = None,
    jobs: int | None = None,
) -> Advice:
    """Ranks remedies for a path with the command `lasthop advise`; reports the gain and the owner of each remedy.

    `sender` is the sender of the path's flows (`"linux-cubic"`, `"bbr3"`, …), by default the sender that the scenario
    sets. `by` is the criterion of the ranking: `"all"`, `"goodput"` or `"short"`. `place` limits the remedies to places:
    `"sender"` (then all congestion controls are tried), `"receiver"`, `"router"`, `"base-station"`, `"link"`. `flow`
    limits the changes to flows or classes.
    """
    scenario = Scenario(source, set=set)
    if scenario._has_strategies:
        raise Error("advise does not support strategies in Python", "advise accepts the engine's own mechanisms only")
    further = [f"--by={by}", *([] if sender is None else [f"--sender={sender}"]), *_jobs(jobs)]
    for option, given in (("place", place), ("flow", flow)):
        further += [f"--{option}={one}" for one in ([given] if isinstance(given, str) else given)]
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
    """Runs a scenario both in the simulator and in an emulation with real TCP in real time, with the command `lasthop
    crosscheck` (Linux, as root).

    `senders` may contain `"lasthop"`, `"lasthop-to-kernel"` and congestion controls of the kernel. The default is
    `"lasthop"`, `"lasthop-to-kernel"`, `"reno"` and `"cubic"`. `runs` is the number of repetitions for each sender
    (default 5); a repetition has the same losses in the simulation and in the emulation. `arguments` are additional
    arguments of the command. If permissions are missing, the `Error` lists them.
    """
    scenario = Scenario(source, set=set)
    if scenario._has_strategies:
        raise Error(
            "a strategy in Python is too slow for real packets",
            "crosscheck accepts the engine's own mechanisms only",
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
    """Returns the arguments that name a scenario to the command; a scenario without a name is written to `folder`."""
    if isinstance(source, str | PathLike):
        typed = {path: _toml.typed(path, value, Strategies()) for path, value in (set or {}).items()}
        return [str(fspath(source)), *(f"--set={key}={value}" for key, value in typed.items())]
    file = Path(folder) / "scenario.toml"
    file.write_text(scenario.to_toml(), encoding="utf-8")
    return [str(file)]


def _read(column: str, text: str) -> object:
    """Returns the value of a CSV field: text, a seed, or a number; None if the field is empty."""
    if column in ("sender", "flow"):
        return text
    return int(text) if column == "seed" else float(text) if text else None


def _jobs(jobs: int | None) -> list[str]:
    jobs = _whole("jobs", jobs, 1, 1024)
    return [] if jobs is None else ["--jobs", str(jobs)]


def _whole(name: str, value: object, least: int, most: int) -> int | None:
    """Checks that a value is an integer within the range; also accepts integers of numpy."""
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
    """Returns metric names as a list; also accepts a single name."""
    if isinstance(metrics, str):
        return [metrics]
    listed = list(metrics) if isinstance(metrics, Iterable) else [None]
    if not all(isinstance(name, str) for name in listed):
        raise Error(f"`metrics` is {metrics!r}: expected a list of names", 'metrics=["goodput_kbps", "timeouts"]')
    return [str(name) for name in listed]


def _note(noted: Scenario | Comparison) -> None:
    for note in noted.notes:
        warnings.warn(note, stacklevel=3)
