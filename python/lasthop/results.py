"""What came out of runs."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from lasthop._error import Error
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
    """The interval's ends; None for one repetition."""
    runs: int
    """In how many repetitions it is defined."""

    def __str__(self) -> str:
        half = f" ± {(self.ci95[1] - self.ci95[0]) / 2:.3g}" if self.ci95 else ""
        return f"{self.mean:.6g}{half}"


class _Numbers:
    """Every number of every repetition, and the means."""

    _made: _lasthop.Runs | _lasthop.Comparison

    @property
    def runs(self) -> int:
        """How many repetitions there are."""
        return self._made.runs

    @cached_property
    def flows(self) -> Table:
        """A row for each repetition and flow: flow, run, seed, then every metric."""
        return Table(self._made.flows())

    @cached_property
    def links(self) -> Table:
        """A row for each repetition and direction of a link, with what it carried."""
        return Table(self._made.links())

    def to_json(self) -> str:
        """What the command prints with `--format json`, byte for byte: an object a line."""
        return self._made.json()

    @cached_property
    def summary(self) -> list[dict[str, Any]]:
        """The means with their intervals: the objects of `to_json` but for its notes."""
        objects = (json.loads(line) for line in self.to_json().splitlines())
        return [one for one in objects if "note" not in one]

    def to_pandas(self) -> pandas.DataFrame:
        """`flows` as a data frame of pandas."""
        return self.flows.to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """`flows` as a data frame of polars."""
        return self.flows.to_polars()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.flows.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self.flows.__arrow_c_schema__()


class Results(_Numbers):
    """Repetitions of a scenario; `lasthop.run` makes one."""

    scenario: Scenario
    """What was run."""
    _made: _lasthop.Runs

    def __init__(self, scenario: Scenario, made: _lasthop.Runs) -> None:
        self.scenario = scenario
        self._made = made

    @cached_property
    def samples(self) -> Table:
        """cwnd, RTT, bytes in flight … of the first repetition over time: `run(…, samples=True)`."""
        return _kept(self._made.samples(), "samples")

    @cached_property
    def queues(self) -> Table:
        """What waits at each direction of each link over time, of the first repetition: `run(…, samples=True)`."""
        return _kept(self._made.queues(), "samples")

    @cached_property
    def events(self) -> Table:
        """Every packet, loss and event of the first repetition: `run(…, events=True)`. Fields as of `lasthop run --trace`."""
        return _kept(self._made.events(), "events")

    def mean(self, metric: str, flow: str | None = None) -> Estimate | None:
        """A metric's mean over the repetitions, of a flow (the first one by default); None where it is undefined."""
        objects = [one for one in self.summary if "flow" in one]
        names = [one["flow"] for one in objects]
        if flow is not None and flow not in names:
            raise Error(f"there is no flow `{flow}`", f"the flows: {', '.join(filter(None, names))}")
        found = next(one for one in objects if flow is None or one["flow"] == flow)
        if metric not in found:
            self.flows.doc(metric)  # says what is meant
            raise Error(f"`{metric}` is no metric of flows")
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
        """Every metric's mean, for notebooks."""
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
    """A scenario with other values, paired by repetition; `lasthop.compare` makes one."""

    scenario: Scenario
    """With the values that are not varied."""
    paths: list[str]
    """The varied keys: the first columns of `flows` and `links`."""
    _made: _lasthop.Comparison

    def __init__(self, scenario: Scenario, made: _lasthop.Comparison) -> None:
        self.scenario = scenario
        self._made = made
        self.paths = made.paths

    @property
    def notes(self) -> list[str]:
        """What their author should know of the scenarios that ran, each once; mostly nothing."""
        return [*self._made.notes(), *self.scenario._strategies.notes()]

    def __repr__(self) -> str:
        return f"<lasthop.Comparison of {', '.join(self.paths)} over {self.scenario.title!r}, {self.runs} runs each>"


class Reproduction:
    """Published numbers beside ours; `lasthop.reproduce` makes one."""

    items: list[dict[str, Any]]
    """One object for each published number or claim, as `lasthop reproduce --format json` prints them.

    `verdict` is `agrees`, `shape`, `differs`, `inconclusive` (more repetitions would tell) or `undecidable` (no number of
    repetitions tells). `cause` says why a row differs or has only the shape, `experiment` is the command that shows it.
    """

    def __init__(self, items: list[dict[str, Any]]) -> None:
        self.items = items

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each item."""
        import pandas

        return pandas.DataFrame(self.items)

    def to_polars(self) -> polars.DataFrame:
        """A row for each item."""
        import polars

        rows = [{**item, "x": json.dumps(item["x"])} for item in self.items]
        return polars.DataFrame(rows, infer_schema_length=None)

    def __repr__(self) -> str:
        verdicts = [item["verdict"] for item in self.items if item["verdict"]]
        counts = ", ".join(f"{verdicts.count(one)} {one}" for one in dict.fromkeys(verdicts))
        return f"<lasthop.Reproduction of {len(self.items)} items: {counts}>"


class Crosscheck:
    """A scenario simulated, and emulated with real TCP; `lasthop.crosscheck` makes one."""

    flows: list[dict[str, Any]]
    """A row for each sender, repetition and flow: sender, seed, flow, then each number simulated and emulated; None where
    the simulator has no such sender."""

    def __init__(self, flows: list[dict[str, Any]], notes: str) -> None:
        self.flows = flows
        self._notes = notes

    @property
    def senders(self) -> list[str]:
        """Whose TCP it was."""
        return list(dict.fromkeys(str(row["sender"]) for row in self.flows))

    @property
    def notes(self) -> str:
        """What the command said of it beside the numbers."""
        return self._notes

    def to_pandas(self) -> pandas.DataFrame:
        """`flows` as a data frame of pandas."""
        import pandas

        return pandas.DataFrame(self.flows)

    def to_polars(self) -> polars.DataFrame:
        """`flows` as a data frame of polars."""
        import polars

        return polars.DataFrame(self.flows, infer_schema_length=None)

    def __repr__(self) -> str:
        runs = len({row["seed"] for row in self.flows})
        return f"<lasthop.Crosscheck of {', '.join(self.senders)}: {runs} runs each>"


class Advice:
    """Cures of a path, the best first; `lasthop.advise` makes one."""

    candidates: list[dict[str, Any]]
    """A dict for each candidate as `lasthop advise --format json` prints it: what it is, where it lives, who deploys it,
    the keys it sets, the commands that try it, and its numbers with 95 % intervals."""

    def __init__(self, candidates: list[dict[str, Any]]) -> None:
        self.candidates = candidates

    @property
    def rows(self) -> list[dict[str, Any]]:
        """`candidates` flat: an estimate is its mean, beside it `_low` and `_high`; percentiles are `_p50`, `_p95`, `_p99`."""
        return [_flat(candidate) for candidate in self.candidates]

    @property
    def is_order_certain(self) -> bool:
        """Whether the order of the first three is certain."""
        return any(candidate["is_order_certain"] for candidate in self.candidates)

    def to_pandas(self) -> pandas.DataFrame:
        """`rows` as a data frame of pandas."""
        import pandas

        return pandas.DataFrame(self.rows)

    def to_polars(self) -> polars.DataFrame:
        """`rows` as a data frame of polars."""
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


def _kept(table: _lasthop.Table | None, asked: str) -> Table:
    if table is None:
        raise Error(f"the run kept no {asked}", f"ask for them: lasthop.run(…, {asked}=True)")
    return Table(table)
