"""Results of runs."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from lasthop._error import Error
from lasthop._extra import needs
from lasthop.table import Table

if TYPE_CHECKING:
    import pandas
    import polars

    from lasthop import _lasthop
    from lasthop.scenario import Scenario


class Estimate(NamedTuple):
    """A mean over repetitions with its Student-t 95 % interval."""

    mean: float
    ci95: tuple[float, float] | None
    """Ends of the interval; None for one repetition."""
    runs: int
    """Number of repetitions with a defined value."""

    def __str__(self) -> str:
        half = f" ± {(self.ci95[1] - self.ci95[0]) / 2:.3g}" if self.ci95 else ""
        return f"{self.mean:.6g}{half}"


class _Numbers:
    """Metric values of every repetition, and their means."""

    _made: _lasthop.Runs | _lasthop.Comparison

    @property
    def runs(self) -> int:
        """Number of repetitions."""
        return self._made.runs

    @cached_property
    def flows(self) -> Table:
        """One row for each repetition and flow: flow, run, seed, then every metric."""
        return Table(self._made.flows())

    @cached_property
    def links(self) -> Table:
        """One row for each repetition and link direction, with its traffic."""
        return Table(self._made.links())

    @cached_property
    def classes(self) -> Table:
        """One row for each repetition and class (a flow with all its replicas). The columns are the number of flows,
        total_goodput_kbps, fairness, and the mean of every metric over the flows."""
        return Table(self._made.classes())

    @cached_property
    def completions(self) -> Table:
        """One row for each repetition and finite transfer or request: flow, class, run, seed, transfer, bytes, began_s,
        took_s, complete, slowdown. `slowdown` is `took_s` divided by the time on an idle path. If `complete` is false,
        the run's end cut the transfer off, and `took_s` and `slowdown` are lower bounds."""
        return Table(self._made.completions())

    def to_json(self) -> str:
        """Returns the exact output of the command with `--format json`: one object per line."""
        return self._made.json()

    @cached_property
    def summary(self) -> list[dict[str, Any]]:
        """Means with their intervals: the objects of `to_json` without the notes."""
        objects = (json.loads(line) for line in self.to_json().splitlines())
        return [one for one in objects if "note" not in one]

    def to_pandas(self) -> pandas.DataFrame:
        """`flows` as a pandas data frame."""
        return self.flows.to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """`flows` as a polars data frame."""
        return self.flows.to_polars()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.flows.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self.flows.__arrow_c_schema__()


class Results(_Numbers):
    """Repetitions of a scenario, made by `lasthop.run`."""

    scenario: Scenario
    """The scenario of the runs."""
    _made: _lasthop.Runs

    def __init__(self, scenario: Scenario, made: _lasthop.Runs) -> None:
        self.scenario = scenario
        self._made = made

    @cached_property
    def samples(self) -> Table:
        """cwnd, RTT, bytes in flight and more state of each flow in the first repetition over time; needs
        `run(…, samples=True)`."""
        return _recorded(self._made.samples(), "samples")

    @cached_property
    def queues(self) -> Table:
        """Backlog of each link direction in the first repetition over time; needs `run(…, samples=True)`."""
        return _recorded(self._made.queues(), "samples")

    @cached_property
    def events(self) -> Table:
        """Every packet, loss and event of the first repetition; needs `run(…, events=True)`. The columns are
        the fields of `lasthop run --trace`."""
        return _recorded(self._made.events(), "events")

    def mean(self, metric: str, flow: str | None = None) -> Estimate | None:
        """Mean of a flow's metric over the repetitions; None if undefined. The default is the first flow.

        If `flow` names a class (the replicas of a flow), the mean is over its flows. A class also has the metrics
        `total_goodput_kbps` and `fairness`.
        """
        objects = {one["flow"]: one for one in self.summary if one.get("flow")}
        classes = {one["class"]: one for one in self.summary if "class" in one}
        known = {**classes, **objects}
        if flow is not None and flow not in known:
            raise Error(f"there is no flow `{flow}`", f"the flows: {', '.join(known)}")
        found = next(iter(objects.values())) if flow is None else known[flow]
        if metric not in found:
            self.flows.doc(metric)  # raises an error with the nearest name
            raise Error(f"`{metric}` is not a metric of flows")
        value = found[metric]
        if value is None or value["mean"] is None:
            return None
        ci95 = value["ci95"]
        return Estimate(value["mean"], (ci95[0], ci95[1]) if ci95 else None, value["runs"])

    def __repr__(self) -> str:
        goodputs = (
            f"{one['flow']} {self.mean('goodput_kbps', one['flow'])} kbit/s"
            for one in self.summary
            if one.get("flow")
        )
        return (
            f"<lasthop.Results of {self.runs} runs of {self.scenario.title!r}: goodput {', '.join(goodputs)}>"
        )

    def _repr_html_(self) -> str:
        """Returns a table of the means of all metrics as HTML, which notebooks show."""
        from html import escape

        flows = [one for one in self.summary if one.get("flow")]
        head = "".join(f"<th>{escape(one['flow'])}</th>" for one in flows)
        rows = []
        for name in flows[0] if flows else ():
            means = [None if name == "flow" else self.mean(name, one["flow"]) for one in flows]
            if any(means):
                cells = "".join(f"<td>{escape(str(mean)) if mean else '–'}</td>" for mean in means)
                about = escape(self.flows.doc(name))
                rows.append(
                    f"<tr><td>{escape(name)}</td>{cells}<td style='text-align:left'>{about}</td></tr>"
                )
        return f"<table><tr><th>metric</th>{head}<th>meaning</th></tr>{''.join(rows)}</table>"


class Comparison(_Numbers):
    """Variants of a scenario, made by `lasthop.compare`. Repetitions with the same number have the same losses in all
    variants."""

    scenario: Scenario
    """The scenario before its keys are varied."""
    paths: list[str]
    """Varied keys. Their values are the first columns of `flows` and `links`."""
    _made: _lasthop.Comparison

    def __init__(self, scenario: Scenario, made: _lasthop.Comparison) -> None:
        self.scenario = scenario
        self._made = made
        self.paths = made.paths

    @property
    def notes(self) -> list[str]:
        """Notes for the author of the scenarios, without duplicates; usually empty."""
        return [*self._made.notes(), *self.scenario._strategies.notes()]

    def __repr__(self) -> str:
        return f"<lasthop.Comparison of {', '.join(self.paths)} over {self.scenario.title!r}, {self.runs} runs each>"


class Reproduction:
    """Published numbers of papers, compared with Lasthop's numbers; made by `lasthop.reproduce`."""

    items: list[dict[str, Any]]
    """One object for each published number or claim, as printed by `lasthop reproduce --format json`.

    `verdict` is `agrees`, `shape` (a claim holds only in the mean), `differs`, `inconclusive` (more repetitions would
    decide) or `undecidable` (no number of repetitions decides). `cause` is the reason for the verdict `differs` or
    `shape`; `experiment` is the command that demonstrates the cause.
    """

    def __init__(self, items: list[dict[str, Any]]) -> None:
        self.items = items

    def to_pandas(self) -> pandas.DataFrame:
        """`items` as a pandas data frame, with one row for each published number or claim."""
        with needs("to_pandas", "pandas"):
            import pandas

        return pandas.DataFrame(self.items)

    def to_polars(self) -> polars.DataFrame:
        """`items` as a polars data frame, with one row for each published number or claim."""
        with needs("to_polars", "polars"):
            import polars

        rows = [{**item, "x": json.dumps(item["x"])} for item in self.items]
        return polars.DataFrame(rows, infer_schema_length=None)

    def __repr__(self) -> str:
        verdicts = [item["verdict"] for item in self.items if item["verdict"]]
        counts = ", ".join(f"{verdicts.count(one)} {one}" for one in dict.fromkeys(verdicts))
        return f"<lasthop.Reproduction of {len(self.items)} items: {counts}>"


class Crosscheck:
    """Results of a scenario in the simulator and in an emulation with real TCP, made by `lasthop.crosscheck`."""

    flows: list[dict[str, Any]]
    """One row for each sender, repetition and flow: sender, seed and flow, then each metric as simulated and as
    emulated. A simulated value is None if the simulator does not have the sender."""

    def __init__(self, flows: list[dict[str, Any]], notes: str) -> None:
        self.flows = flows
        self._notes = notes

    @property
    def senders(self) -> list[str]:
        """Senders in `flows`: names of TCP implementations."""
        return list(dict.fromkeys(str(row["sender"]) for row in self.flows))

    @property
    def notes(self) -> str:
        """Notes that the command printed in addition to the numbers."""
        return self._notes

    def to_pandas(self) -> pandas.DataFrame:
        """`flows` as a pandas data frame."""
        with needs("to_pandas", "pandas"):
            import pandas

        return pandas.DataFrame(self.flows)

    def to_polars(self) -> polars.DataFrame:
        """`flows` as a polars data frame."""
        with needs("to_polars", "polars"):
            import polars

        return polars.DataFrame(self.flows, infer_schema_length=None)

    def __repr__(self) -> str:
        runs = len({row["seed"] for row in self.flows})
        return f"<lasthop.Crosscheck of {', '.join(self.senders)}: {runs} runs each>"


class Advice:
    """Remedies for a path, best first; made by `lasthop.advise`."""

    candidates: list[dict[str, Any]]
    """One dict for each candidate remedy, as printed by `lasthop advise --format json`: summary, place, owner, keys,
    commands that try the remedy, and numbers with 95 % intervals."""

    def __init__(self, candidates: list[dict[str, Any]]) -> None:
        self.candidates = candidates

    @property
    def rows(self) -> list[dict[str, Any]]:
        """`candidates` as flat dicts. An estimate becomes three values: its mean, and the ends of its interval with the
        suffixes `_low` and `_high`. Percentiles have the suffixes `_p50`, `_p95` and `_p99`."""
        return [_flat(candidate) for candidate in self.candidates]

    @property
    def is_order_certain(self) -> bool:
        """Whether the order of the three best candidates is certain."""
        return any(candidate["is_order_certain"] for candidate in self.candidates)

    def to_pandas(self) -> pandas.DataFrame:
        """`rows` as a pandas data frame."""
        with needs("to_pandas", "pandas"):
            import pandas

        return pandas.DataFrame(self.rows)

    def to_polars(self) -> polars.DataFrame:
        """`rows` as a polars data frame."""
        with needs("to_polars", "polars"):
            import polars

        return polars.DataFrame(self.rows, infer_schema_length=None)

    def __repr__(self) -> str:
        first = self.candidates[0]["candidate"] if self.candidates else "nothing helps"
        return f"<lasthop.Advice of {len(self.candidates)} candidates: {first}>"


def _flat(candidate: dict[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, value in candidate.items():
        parts = value if isinstance(value, dict) and "p95" in value else {"": value}
        for part, estimate in parts.items():
            key = f"{name}_{part}" if part else name
            if name in _ESTIMATES:
                low, high = (estimate and estimate["ci95"]) or (None, None)
                row |= {key: estimate and estimate["mean"], f"{key}_low": low, f"{key}_high": high}
            else:
                row[key] = ", ".join(estimate) if isinstance(estimate, list) else estimate
    return row


_ESTIMATES = {
    "score_percent",
    "goodput_kbps",
    "goodput_change_percent",
    "rtt_ms",
    "short_s",
    "short_p95_change_percent",
    "neighbour_change_percent",
}


def _recorded(table: _lasthop.Table | None, name: str) -> Table:
    if table is None:
        raise Error(f"the run recorded no {name}", f"request them: lasthop.run(…, {name}=True)")
    return Table(table)
