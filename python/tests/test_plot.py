"""Tests that figures have the right data, and units on the axes, and can be saved as PDF and SVG."""

import json
from collections.abc import Callable
from pathlib import Path

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy
import pytest
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

import lasthop
from lasthop import plot


@pytest.fixture(autouse=True)
def no_figure_stays() -> object:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def comparison() -> lasthop.Comparison:
    return lasthop.compare(
        "rate=5Mbit/s,rtt=60ms,queue=50packets,loss=1%,duration=5s",
        vary={"path.down.channel.loss": ["0.1 %", "1 %"], "congestion": ["reno", "westwood"]},
        runs=4,
    )


@pytest.fixture(scope="module")
def watched() -> lasthop.Results:
    return lasthop.run("umts", runs=1, samples=True, events=True, set={"duration": "10 s"})


def ys(line: Line2D) -> list[float]:
    """Returns the y values of a line in a figure."""
    return list(numpy.asarray(line.get_ydata(), dtype=float))


def saved(ax: Axes, folder: Path) -> None:
    """Saves a figure as PDF and SVG, and checks that text in the files remains text."""
    for name in ("figure.pdf", "figure.svg"):
        figure = ax.get_figure(root=True)
        assert figure is not None
        figure.savefig(folder / name)
        assert (folder / name).stat().st_size > 2000
    assert "</svg>" in (folder / "figure.svg").read_text()


def test_series_have_means_and_intervals(comparison: lasthop.Comparison, tmp_path: Path) -> None:
    ax = plot.series(comparison, "goodput_kbps")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("path.down.channel.loss (%)", "goodput (kbit/s)")
    lines = [container.lines[0] for container in ax.containers]  # type: ignore[attr-defined]
    expected = [one["goodput_kbps"]["mean"] for one in comparison.summary if one["x"]["congestion"] == "reno"]
    assert list(lines[0].get_ydata()) == expected
    assert list(lines[0].get_xdata()) == [0.1, 1.0]
    assert len({line.get_color() for line in lines}) == len({line.get_linestyle() for line in lines}) == 2
    saved(ax, tmp_path)


def test_words_are_places(comparison: lasthop.Comparison) -> None:
    ax = plot.series(comparison, "timeouts", x="congestion")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["reno", "westwood"]


def test_time_series_are_the_samples(watched: lasthop.Results, tmp_path: Path) -> None:
    axes = plot.time_series(watched, ["cwnd_bytes", "srtt_ms", "rto_ms"])
    assert [ax.get_ylabel() for ax in axes] == ["cwnd (bytes)", "srtt (ms)", "rto (ms)"]
    assert axes[-1].get_xlabel() == "time (s)"
    assert ys(axes[0].lines[0]) == watched.samples["cwnd_bytes"]
    saved(axes[0], tmp_path)


def test_queues_are_the_samples(watched: lasthop.Results, tmp_path: Path) -> None:
    ax = plot.queue(watched, ["wireless.down"])
    queues = watched.queues
    waiting = [
        n for n, link in zip(queues["queue_packets"], queues["link"], strict=True) if link == "wireless.down"
    ]
    assert ys(ax.lines[0]) == waiting
    with pytest.raises(lasthop.Error, match="there is no direction `air`"):
        plot.queue(watched, ["air"])
    saved(ax, tmp_path)


def test_a_time_sequence_graph_has_every_segment(tmp_path: Path) -> None:
    results = lasthop.run("rate=5Mbit/s,rtt=60ms,queue=20packets,loss=2%,duration=5s", runs=1, events=True)
    ax = plot.time_sequence(results)
    frame = results.events.to_pandas()
    data = frame[(frame["from"] == "source") & (frame.kind == "sent") & (frame.len_bytes > 0)]
    drawn = {collection.get_label(): len(collection.get_segments()) for collection in ax.collections}  # type: ignore[attr-defined]
    assert drawn["sent"] == (~data.retransmission.astype(bool)).sum()
    assert drawn["retransmitted"] == data.retransmission.astype(bool).sum() > 0
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("time (s)", "sequence (kB)")
    # The acknowledged offset in the stream never decreases. The 32-bit sequence numbers wrap, but the offset does not.
    acknowledged = next(line for line in ax.lines if line.get_label() == "acknowledged")
    assert (numpy.diff(numpy.asarray(acknowledged.get_ydata(), dtype=float)) >= 0).all()
    saved(ax, tmp_path)


def test_distributions(comparison: lasthop.Comparison, tmp_path: Path) -> None:
    ax = plot.cdf(comparison, "goodput_kbps", by="congestion")
    assert ax.get_xlabel() == "goodput (kbit/s)"
    assert len(ax.lines) == 2
    saved(ax, tmp_path)


def test_distributions_of_transfers_and_classes(tmp_path: Path) -> None:
    results = lasthop.run(
        "rate=10Mbit/s,rtt=40ms,duration=20s,request=300bytes,response=50KB,sizes=web", runs=4, set={"count": 3}
    )
    table = results.completions
    assert set(table["class"]) == {"bulk"} and set(table["flow"]) == {"bulk.1", "bulk.2", "bulk.3"}
    complete = [value for value, done in zip(table["slowdown"], table["complete"], strict=True) if done]
    assert min(complete) >= 1.0
    ax = plot.cdf(results, "slowdown", by="class")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("slowdown", "cumulative share of transfers")
    saved(ax, tmp_path)
    assert len(plot.cdf(results, "goodput_kbps", by="class").lines) == 1
    ax = plot.slowdown_by_size(results, quantile=0.5)
    small = [
        value if done else numpy.inf
        for value, size, done in zip(table["slowdown"], table["bytes"], table["complete"], strict=True)
        if size < 1e4
    ]
    drawn = float(numpy.asarray(ax.lines[0].get_ydata(), dtype=float)[0])
    assert drawn == numpy.quantile(small, 0.5, method="inverted_cdf")
    saved(ax, tmp_path)
    with pytest.raises(lasthop.Error, match="quantile is 95"):
        plot.slowdown_by_size(results, quantile=95)


def test_completion_times_count_those_that_were_cut_off(tmp_path: Path) -> None:
    # Weeks of remission under 6-MP (Freireich et al. 1963). A plus sign marks a censored value. The test compares with
    # the published survival shares S(t) at 13, 16, 22 and 23 weeks.
    weeks = "6 6 6 6+ 7 9+ 10 10+ 11+ 13 16 17+ 19+ 20+ 22 23 25+ 32+ 32+ 34+ 35+"
    steps, cut = plot.product_limit([(float(one.rstrip("+")), "+" not in one) for one in weeks.split()])
    shares = dict(steps)
    assert [round(1 - shares[at], 3) for at in (13, 16, 22, 23)] == [0.690, 0.627, 0.538, 0.448]
    assert len(cut) == 12
    results = lasthop.run("rate=2Mbit/s,rtt=40ms,loss=1%,transfer=1MB,duration=5s", runs=10)
    saved(plot.completion_times(results), tmp_path)
    with pytest.raises(lasthop.Error, match="no finite transfers"):
        plot.completion_times(lasthop.run("umts", runs=1))


def test_a_papers_figure_has_its_points(tmp_path: Path) -> None:
    item = {"item": "fig1", "reading": "default", "paper": "mine", "metric": "goodput", "unit": "kbit/s"}
    points = [(1e-6, 10.0, 11.0), (1e-5, 9.0, None), (1e-4, 5.0, 4.0)]
    items = [
        {
            **item,
            "series": "sack",
            "x": {"ber": x},
            "measured": ours,
            "ci95": [ours - 1, ours + 1],
            "published": theirs,
        }
        for x, ours, theirs in points
    ]
    ax = plot.paper(lasthop.Reproduction(json.loads(json.dumps(items))), "fig1")
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_xscale()) == ("ber", "goodput (kbit/s)", "log")
    assert ys(ax.lines[-1]) == [11.0, 4.0]
    saved(ax, tmp_path)


def test_it_draws_into_axes_of_ones_own(comparison: lasthop.Comparison) -> None:
    figure, mine = plt.subplots()
    assert plot.series(comparison, ax=mine) is mine


def test_results_of_another_kind_are_an_error(comparison: lasthop.Comparison, watched: lasthop.Results) -> None:
    wrong: list[tuple[Callable[..., object], object, str]] = [
        (plot.series, watched, "plot.series cannot draw an object of type Results"),
        (plot.time_series, comparison, "plot.time_series cannot draw an object of type Comparison"),
        (plot.queue, comparison, "plot.queue cannot draw an object of type Comparison"),
        (plot.time_sequence, "umts", "plot.time_sequence cannot draw an object of type str"),
        (plot.cdf, 1, "plot.cdf cannot draw an object of type int"),
        (plot.completion_times, None, "plot.completion_times cannot draw an object of type NoneType"),
    ]
    for draw, given, message in wrong:
        with pytest.raises(lasthop.Error, match=message):
            draw(given)
    with pytest.raises(lasthop.Error, match="plot.paper cannot draw an object of type Comparison"):
        plot.paper(comparison, "fig1")  # type: ignore[arg-type]


def contrast(one: str, other: str) -> float:
    """Returns the distance of two colours in CIELAB."""

    def lab(colour: str) -> numpy.ndarray[tuple[int], numpy.dtype[numpy.float64]]:
        linear = numpy.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
        linear = numpy.where(linear <= 0.04045, linear / 12.92, ((linear + 0.055) / 1.055) ** 2.4)
        # Colours as a deuteranope sees them (Machado, Oliveira and Fernandes 2009).
        seen = (
            numpy.array(
                [
                    [0.367322, 0.860646, -0.227968],
                    [0.280085, 0.672501, 0.047413],
                    [-0.01182, 0.04294, 0.968881],
                ]
            )
            @ linear
        )
        xyz = numpy.array(
            [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
        ) @ seen.clip(0, 1)
        f = numpy.cbrt(xyz / [0.9505, 1.0, 1.089])
        return numpy.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])

    return float(numpy.linalg.norm(lab(one) - lab(other)))


def test_the_first_colours_differ_for_the_colour_blind() -> None:
    first = plot.COLOURS[:4]
    assert min(contrast(one, other) for at, one in enumerate(first) for other in first[:at]) > 15
