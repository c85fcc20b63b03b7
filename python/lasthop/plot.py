"""Figures of results with matplotlib: colour-blind safe, legible in print, with units on every axis.

Each function draws into the axes `ax` if you give this argument, otherwise into a new figure. Each function returns the
axes (`time_series` returns a list of axes). To save a figure: `plot.series(…).figure.savefig("figure.pdf")`, or
`"figure.svg"`. The colours are Okabe and Ito's; lines also differ in dashes and markers.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import cycle
from math import inf
from random import Random
from re import sub
from typing import TYPE_CHECKING, Any

from lasthop._error import Error
from lasthop._extra import needs
from lasthop.results import Comparison, Reproduction, Results
from lasthop.table import Table

with needs("lasthop.plot", "matplotlib"):
    import matplotlib as mpl
    import matplotlib.pyplot as plt
    import numpy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "cdf",
    "completion_times",
    "paper",
    "queue",
    "series",
    "slowdown_by_size",
    "time_sequence",
    "time_series",
]

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's colours; the most distinct colours first."""
_DASHES = ("-", "--", "-.", ":")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_STYLE: Any = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.axisbelow": True,
    "figure.constrained_layout.use": True,
    "figure.figsize": (6.4, 3.6),
    "font.size": 10,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "pdf.fonttype": 42,
    "svg.fonttype": "none",
}
_UNITS = {
    "kbps": "kbit/s",
    "bps": "bit/s",
    "bytes": "bytes",
    "s": "s",
    "ms": "ms",
    "pct": "%",
    "packets": "packets",
    "segments": "segments",
}


def series(
    comparison: Comparison,
    metric: str = "goodput_kbps",
    *,
    x: str | None = None,
    flow: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draws means of a metric with 95 % intervals over a varied key `x` (by default the first varied key). Each
    combination of values of the other varied keys is one line. `flow` is a flow or a class, by default the first flow."""
    _expect(comparison, "series", Comparison, "lasthop.compare(…)")
    x = x or comparison.paths[0]
    if x not in comparison.paths:
        raise Error(f"`{x}` was not varied", f"the varied keys: {', '.join(comparison.paths)}")
    objects = [one for one in comparison.summary if flow is None or flow in (one.get("flow"), one.get("class"))]
    if not objects:
        raise Error(f"there is no flow `{flow}`", f"the flows: {', '.join(comparison.scenario.flows)}")
    first = objects[0].get("flow", objects[0].get("class"))
    objects = [one for one in objects if first in (one.get("flow"), one.get("class"))]
    if metric not in objects[0]:
        comparison.flows.doc(metric)
    lines: dict[str, list[tuple[str, Any]]] = {}
    for one in objects:
        others = ", ".join(str(value) for key, value in one["x"].items() if key != x)
        lines.setdefault(others, []).append((str(one["x"][x]), one[metric]))
    places = {value: _number(value) for line in lines.values() for value, _ in line}
    numeric = all(place is not None for place in places.values())
    with _axes(ax) as ax:
        for (name, line), (colour, dash, marker) in zip(lines.items(), _looks(), strict=False):
            defined = [(value, mean) for value, mean in line if mean is not None and mean["mean"] is not None]
            at = [_place(value, places, numeric) for value, _ in defined]
            means = [mean["mean"] for _, mean in defined]
            ends = [mean["ci95"] or (mean["mean"], mean["mean"]) for _, mean in defined]
            below = [mean - low for mean, (low, _) in zip(means, ends, strict=True)]
            above = [high - mean for mean, (_, high) in zip(means, ends, strict=True)]
            ax.errorbar(
                at,
                means,
                yerr=[below, above],
                label=name or None,
                color=colour,
                linestyle=dash if numeric else "none",
                marker=marker,
                markersize=4.5,
                capsize=3,
            )
        if numeric:
            _scale_x(ax, [place for place in places.values() if place is not None])
        else:
            ax.set_xticks(range(len(places)), list(places))
            ax.margins(x=0.15)
        ax.set_xlabel(_key_label(x, places))
        ax.set_ylabel(_label(metric))
        ax.set_ylim(bottom=0)
        _legend(ax, len(lines))
    return ax


def time_series(
    results: Results,
    columns: Sequence[str] = ("cwnd_bytes", "srtt_ms"),
    *,
    flows: Iterable[str] | None = None,
) -> list[Axes]:
    """Draws samples of the first repetition over time, each column in its own axes; needs `run(…, samples=True)`."""
    _expect(results, "time_series", Results, "lasthop.run(…, samples=True)")
    table = results.samples
    names = list(flows) if flows is not None else results.scenario.flows
    times, whose = table["time_s"], table["flow"]
    with _style():
        figure, grid = plt.subplots(
            len(columns), 1, sharex=True, squeeze=False, figsize=(6.4, 1.4 + 1.7 * len(columns))
        )
        axes: list[Axes] = list(grid[:, 0])
        for ax, column in zip(axes, columns, strict=True):
            values = table[column]
            for name, (colour, dash, _) in zip(names, _looks(), strict=False):
                mine = [at for at, one in enumerate(whose) if one == name]
                ax.plot(
                    [times[at] for at in mine],
                    [_float(values[at]) for at in mine],
                    color=colour,
                    linestyle=dash,
                    label=name,
                )
            ax.set_ylabel(_label(column))
            ax.set_ylim(bottom=0)
        axes[-1].set_xlabel("time (s)")
        _legend(axes[0], len(names))
    return axes


def queue(results: Results, links: Iterable[str] | None = None, *, ax: Axes | None = None) -> Axes:
    """Draws the backlog of link directions over time; needs `run(…, samples=True)`.

    Without `links` the figure has the directions that ever have a backlog.
    """
    _expect(results, "queue", Results, "lasthop.run(…, samples=True)")
    table = results.queues
    times, whose, packets = table["time_s"], table["link"], table["queue_packets"]
    used = list(dict.fromkeys(name for name, waiting in zip(whose, packets, strict=True) if waiting))
    every = list(dict.fromkeys(whose))
    names = list(links) if links is not None else used[: len(COLOURS)] or every[:1]
    for name in names:
        if name not in every:
            raise Error(f"there is no direction `{name}`", f"the directions: {', '.join(every)}")
    with _axes(ax) as ax:
        for name, (colour, dash, _) in zip(names, _looks(), strict=False):
            mine = [at for at, one in enumerate(whose) if one == name]
            ax.plot(
                [times[at] for at in mine],
                [packets[at] for at in mine],
                color=colour,
                linestyle=dash,
                label=name,
                drawstyle="steps-post",
            )
        ax.set_xlabel("time (s)")
        ax.set_ylabel("queue (packets)")
        ax.set_ylim(bottom=0)
        _legend(ax, 2)
    return ax


def time_sequence(
    results: Results,
    flow: str | None = None,
    *,
    start_s: float = 0.0,
    end_s: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draws each segment of a flow in the style of tcptrace; needs `run(…, events=True)`.

    A vertical line is a sent segment from its first to its last byte; retransmissions are orange. A cross is a loss.
    The steps are the cumulative ACKs, and the pale lines are the SACK blocks.
    """
    _expect(results, "time_sequence", Results, "lasthop.run(…, events=True)")
    name = flow or results.scenario.flows[0]
    if name not in results.scenario.flows:
        raise Error(f"there is no flow `{name}`", f"the flows: {', '.join(results.scenario.flows)}")
    table = results.events
    end_s = results.scenario.duration_s if end_s is None else end_s
    columns = ("time_s", "kind", "flow", "from", "flags", "seq", "ack", "len_bytes", "retransmission", "sack")
    packets = zip(*(table[column] for column in columns), strict=True)
    origin: int | None = None
    sent: list[tuple[float, float, float]] = []
    retransmitted: list[tuple[float, float, float]] = []
    lost: list[tuple[float, float]] = []
    acks: list[tuple[float, float]] = []
    blocks: list[tuple[float, float, float]] = []
    for time, kind, whose, end, flags, seq, ack, size, retransmission, sack in packets:
        if whose != name or flags is None or kind not in ("sent", "lost"):
            continue
        if origin is None:
            origin = seq
        if not start_s <= time <= end_s:
            continue
        if end == "source" and size:
            first = _offset(seq, origin) / 1000
            last = first + size / 1000
            if kind == "lost":
                lost.append((time, (first + last) / 2))
            else:
                (retransmitted if retransmission else sent).append((time, first, last))
        elif end == "destination" and kind == "sent":
            acks.append((time, _offset(ack, origin) / 1000))
            for left, right in zip((sack or [])[::2], (sack or [])[1::2], strict=True):
                blocks.append((time, _offset(left, origin) / 1000, _offset(right, origin) / 1000))
    with _axes(ax) as ax:
        bars: list[tuple[list[tuple[float, float, float]], Any]] = [
            (blocks, {"color": COLOURS[3], "linewidth": 0.8, "alpha": 0.5, "label": "SACK"}),
            (sent, {"color": COLOURS[0], "linewidth": 1.6, "label": "sent"}),
            (retransmitted, {"color": COLOURS[1], "linewidth": 2.2, "label": "retransmitted"}),
        ]
        for rows, looks in bars:
            at, low, high = _columns(rows)
            ax.vlines(at, low, high, **looks)
        ax.plot(
            *_columns(acks, 2), color=COLOURS[2], linewidth=1.0, drawstyle="steps-post", label="acknowledged"
        )
        ax.plot(*_columns(lost, 2), "x", color=COLOURS[6], markersize=5, label="lost")
        ax.set_xlabel("time (s)")
        ax.set_ylabel("sequence (kB)")
        shown = {"SACK": blocks, "sent": sent, "retransmitted": retransmitted, "acknowledged": acks, "lost": lost}
        handles, labels = ax.get_legend_handles_labels()
        some = [(handle, label) for handle, label in zip(handles, labels, strict=True) if shown[label]]
        if some:
            ax.legend(*zip(*some, strict=True), loc="best")
    return ax


def cdf(
    results: Results | Comparison,
    metric: str = "goodput_kbps",
    *,
    by: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draws the cumulative distribution of a metric over runs and flows. The figure has one line for each
    value of the column `by`.

    `by="class"` draws a line for each class of flows. For `took_s`, `slowdown` and `bytes`, which are columns of
    `completions`, the distribution is over transfers.
    """
    _expect(results, "cdf", (Results, Comparison), "lasthop.run(…) or lasthop.compare(…)")
    is_of_transfers = metric in ("took_s", "slowdown", "bytes")
    table = _transfers(results) if is_of_transfers else results.flows
    values: dict[str, list[float]] = {}
    for group, value in zip(_groups(results, table, by), table[metric], strict=True):
        if value is not None:
            values.setdefault(group, []).append(value)
    with _axes(ax) as ax:
        for (name, line), (colour, dash, _) in zip(values.items(), _looks(), strict=False):
            ax.ecdf(line, label=name or None, color=colour, linestyle=dash)
        ax.set_xlabel(_label(metric))
        ax.set_ylabel(f"cumulative share of {'transfers' if is_of_transfers else 'runs'}")
        ax.set_ylim(0, 1.02)
        _legend(ax, len(values))
    return ax


def completion_times(results: Results | Comparison, *, by: str | None = None, ax: Axes | None = None) -> Axes:
    """Draws the share of finite transfers and requests that are complete, over time. The figure has one line for each
    value of the column `by` of `completions`, for example `by="class"`.

    Unfinished transfers are treated as censored (product-limit estimate; Kaplan and Meier 1958) and drawn as ticks.
    """
    _expect(results, "completion_times", (Results, Comparison), "lasthop.run(…) or lasthop.compare(…)")
    table = _transfers(results)
    observed: dict[str, list[tuple[float, bool]]] = {}
    rows = zip(_groups(results, table, by), table["took_s"], table["complete"], strict=True)
    for group, seconds, complete in rows:
        observed.setdefault(group, []).append((seconds, complete))
    with _axes(ax) as ax:
        for (name, times), (colour, dash, _) in zip(observed.items(), _looks(), strict=False):
            steps, cut = product_limit(times)
            ax.step(*_columns(steps, 2), where="post", label=name or None, color=colour, linestyle=dash)
            ax.plot(*_columns(cut, 2), "|", color=colour, markersize=8)
        ax.set_xlabel("time from the start (s)")
        ax.set_ylabel("share of transfers complete")
        ax.set_ylim(0, 1.02)
        ax.set_xlim(left=0)
        _legend(ax, len(observed))
    return ax


def slowdown_by_size(
    results: Results | Comparison,
    *,
    quantile: float = 0.95,
    by: str | None = None,
    bounds: Sequence[float] = (1e4, 1e5, 1e6, 1e7),
    ax: Axes | None = None,
) -> Axes:
    """Draws a quantile of the slowdown (time relative to an idle path) of transfers, for ranges of sizes with these
    bounds in bytes. The figure has one line for each value of the column `by` of `completions`.

    The 95 % intervals are percentiles of a bootstrap over repetitions (200 resamples, fixed seed). Unfinished transfers
    count as slower than all finished transfers. A range of sizes has no point if its quantile is an unfinished
    transfer.
    """
    _expect(results, "slowdown_by_size", (Results, Comparison), "lasthop.run(…) or lasthop.compare(…)")
    if not 0 < quantile < 1:
        raise Error(f"quantile is {quantile}", "give a share between 0 and 1: 0.5 is the median")
    table = _transfers(results)
    slow: dict[str, dict[int, dict[int, list[float]]]] = {}
    columns = (table[name] for name in ("bytes", "run", "slowdown", "complete"))
    for group, size, run, value, complete in zip(_groups(results, table, by), *columns, strict=True):
        ranges = slow.setdefault(group, {})
        runs = ranges.setdefault(bisect_right(bounds, size), {})
        runs.setdefault(run, []).append(value if complete else inf)
    with _axes(ax) as ax:
        for number, ((name, ranges), (colour, dash, marker)) in enumerate(zip(slow.items(), _looks(), strict=False)):
            points = [(place, *_quantile(list(ranges[place].values()), quantile)) for place in sorted(ranges)]
            shift = 0.06 * (number - (len(slow) - 1) / 2)
            drawn = [(place + shift, middle, *ends) for place, middle, ends in points if middle < inf]
            places, middles, lows, highs = _columns(drawn, 4)
            below = [middle - low for middle, low in zip(middles, lows, strict=True)]
            above = [min(high, 1e9) - middle for middle, high in zip(middles, highs, strict=True)]
            ax.errorbar(
                places,
                middles,
                yerr=[below, above],
                label=name or None,
                color=colour,
                linestyle=dash,
                marker=marker,
                markersize=4.5,
                capsize=3,
            )
        names = [_bytes(bound) for bound in bounds]
        between = [f"{low} to\n{high}" for low, high in zip(names, names[1:], strict=False)]
        ax.set_xticks(range(len(bounds) + 1), [f"below\n{names[0]}", *between, f"from\n{names[-1]}"])
        ax.set_xlabel("size of the transfer")
        ax.set_ylabel(f"slowdown, {100 * quantile:g}th percentile")
        ax.set_ylim(bottom=0)
        _legend(ax, len(slow))
    return ax


def paper(reproduction: Reproduction, item: str, *, x: str | None = None, ax: Axes | None = None) -> Axes:
    """Draws a figure of a paper, one line per series: our means with 95 % intervals. Open markers: published values."""
    _expect(reproduction, "paper", Reproduction, "lasthop.reproduce(…)")
    items = [one for one in reproduction.items if one["item"] == item and one["reading"] == "default"]
    if not items:
        names = dict.fromkeys(one["item"] for one in reproduction.items)
        raise Error(f"there is no item `{item}`", f"the items: {', '.join(names)}")
    keys = list(items[0]["x"])
    numeric = [key for key in keys if all(isinstance(one["x"].get(key), int | float) for one in items)]
    if x is None:
        varied = [key for key in numeric if len({one["x"][key] for one in items}) > 1]
        if not (varied or numeric):
            raise Error(
                f"`{item}` has no numbers to draw over", f"its coordinates: {', '.join(keys) or 'none'}"
            )
        x = (varied or numeric)[0]
    lines: dict[str, list[dict[str, Any]]] = {}
    for one in items:
        others = [f"{key} {value}" for key, value in one["x"].items() if key != x]
        lines.setdefault(", ".join(filter(None, [one["series"], *others])), []).append(one)
    with _axes(ax) as ax:
        for (name, line), (colour, dash, marker) in zip(lines.items(), _looks(), strict=False):
            line.sort(key=lambda one: one["x"][x])
            ours = [one for one in line if one["measured"] is not None]
            at = [one["x"][x] for one in ours]
            means = [one["measured"] for one in ours]
            ends = [one["ci95"] or (one["measured"], one["measured"]) for one in ours]
            below = [max(0.0, mean - low) for mean, (low, _) in zip(means, ends, strict=True)]
            above = [max(0.0, high - mean) for mean, (_, high) in zip(means, ends, strict=True)]
            ax.errorbar(
                at,
                means,
                yerr=[below, above],
                label=name,
                color=colour,
                linestyle=dash,
                marker=marker,
                markersize=3.5,
                capsize=2,
            )
            published = [one for one in line if one["published"] is not None]
            ax.plot(
                [one["x"][x] for one in published],
                [one["published"] for one in published],
                linestyle="none",
                marker=marker,
                markersize=8,
                markerfacecolor="none",
                markeredgecolor=colour,
            )
        _scale_x(ax, [one["x"][x] for one in items])
        unit = items[0]["unit"]
        ax.set_xlabel(x)
        ax.set_ylabel(f"{items[0]['metric']} ({unit})" if unit else items[0]["metric"])
        ax.set_title(f"{items[0]['paper']}: {item}")
        _legend(ax, 2)
    return ax


def product_limit(
    times: list[tuple[float, bool]],
) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Returns the steps of the share of complete transfers, and the censored transfers, as pairs (time, share).

    Each pair of `times` is the time of a transfer, and whether the transfer is complete.
    """
    left, share = len(times), 0.0
    steps, cut = [(0.0, 0.0)], []
    # At equal times, completed transfers are counted before censored transfers.
    for seconds, complete in sorted(times, key=lambda one: (one[0], not one[1])):
        if complete:
            share = 1 - (1 - share) * (left - 1) / left
            steps.append((seconds, share))
        else:
            cut.append((seconds, share))
        left -= 1
    if cut:
        steps.append((max(seconds for seconds, _ in cut), share))
    return steps, cut


def _transfers(results: Results | Comparison) -> Table:
    table = results.completions
    if not len(table):
        raise Error("there are no finite transfers", 'give the flows a size: set={"transfer": "1 MB"}')
    return table


def _groups(results: Results | Comparison, table: Table, by: str | None) -> list[str]:
    """Returns for each row the name of its line in the figure: the value of the column `by`. For a comparison, the
    default of `by` is the first varied key."""
    if by is None and isinstance(results, Comparison):
        by = results.paths[0]
    if by is None:
        return [""] * len(table)
    if by == "class" and "class" not in table.column_names:
        return [sub(r"\.[0-9]+$", "", flow) for flow in table["flow"]]
    return [str(value) for value in table[by]]


def _quantile(runs: list[list[float]], share: float) -> tuple[float, tuple[float, float]]:
    """Returns a quantile of the values of all runs, and its 95 % interval from a bootstrap over the runs."""
    arrays = [numpy.asarray(run) for run in runs]

    def of(chosen: list[Any]) -> float:
        return float(numpy.quantile(numpy.concatenate(chosen), share, method="inverted_cdf"))

    random = Random(1)
    drawn = sorted(of(random.choices(arrays, k=len(arrays))) for _ in range(200))
    return of(arrays), (min(drawn[4], of(arrays)), max(drawn[194], of(arrays)))


def _bytes(count: float) -> str:
    """Returns a number of bytes with its unit: `10 KB`."""
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if count >= size:
            return f"{count / size:g} {unit}"
    return f"{count:g} B"


@contextmanager
def _axes(ax: Axes | None) -> Iterator[Axes]:
    """Provides the axes to draw into; a new figure has the module's style."""
    if ax is not None:
        yield ax
        return
    with _style():
        yield plt.subplots()[1]


@contextmanager
def _style() -> Iterator[None]:
    """Applies the module's style to figures made in the `with` block."""
    _choose_backend()
    with mpl.rc_context(_STYLE):
        yield


@cache
def _choose_backend() -> None:
    """Loads matplotlib's backend before `rc_context` begins. pyplot loads the backend with the first figure, and a
    notebook's backend then sets `interactive`. `rc_context` would restore this setting at its end, and later cells would
    show no figure."""
    plt.switch_backend(mpl.get_backend())


def _expect(given: object, function: str, kind: type | tuple[type, ...], how: str) -> None:
    if not isinstance(given, kind):
        raise Error(
            f"plot.{function} cannot draw an object of type {type(given).__name__}", f"pass the result of {how}"
        )


def _looks() -> Iterator[tuple[str, str, str]]:
    return zip(cycle(COLOURS), cycle(_DASHES), cycle(_MARKERS), strict=False)


def _legend(ax: Axes, lines: int) -> None:
    if lines > 1 and ax.get_legend_handles_labels()[1]:
        ax.legend(loc="best", fontsize="small")


def _scale_x(ax: Axes, places: Sequence[float]) -> None:
    """Makes the x axis logarithmic if the values differ by a factor of 50 or more."""
    if min(places) > 0 and max(places) / min(places) >= 50:
        ax.set_xscale("log")


def _label(name: str) -> str:
    """Returns the label of a column, for example `goodput (kbit/s)` for `goodput_kbps`."""
    words, _, unit = name.rpartition("_")
    if words and unit in _UNITS:
        return f"{words.replace('_', ' ')} ({_UNITS[unit]})"
    return name.replace("_", " ")


def _key_label(key: str, values: Iterable[str]) -> str:
    """Returns the label of a varied key, with the unit of its values."""
    units = {value.strip().lstrip("+-0123456789.eE ").strip() for value in values}
    unit = units.pop() if len(units) == 1 else ""
    return f"{key} ({unit})" if unit and all(_number(value) is not None for value in values) else key


def _number(value: str) -> float | None:
    """Returns the number in a value that is a number with or without a unit; None for other text."""
    import re

    found = re.match(r"^\s*([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)\s*([A-Za-zµ/%]*)\s*$", value)
    try:
        return float(found.group(1)) if found else None
    except ValueError:
        return None


def _place(value: str, places: dict[str, float | None], numeric: bool) -> float:
    place = places[value]
    return place if numeric and place is not None else list(places).index(value)


def _float(value: float | None) -> float:
    return float("nan") if value is None else value


def _offset(number: int, origin: int) -> int:
    """Returns the offset in the stream of a 32-bit sequence number, which may have wrapped once."""
    return (number - origin) % (1 << 32)


def _columns(rows: Sequence[tuple[float, ...]], width: int = 3) -> list[list[float]]:
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(width)]
