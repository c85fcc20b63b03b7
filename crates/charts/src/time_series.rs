//! Figures over time. A figure shows one run, or several runs in one picture.

use crate::figure::{Curve, CurveKind, Figure, Point};
use lasthop_sim::{FlowSample, QueueSample};

/// Largest number of runs in a figure that has a second, dotted curve for each run.
const MAX_PAIRS: usize = 4;
/// Largest plausible ratio of the slow start threshold to the highest congestion window. A larger threshold counts as
/// unset, and is not drawn.
const FAR_ABOVE: u64 = 4;
/// Averaging time of goodput for runs of usual duration, s.
const AVERAGED_S: f64 = 1.0;
/// Smallest and largest averaging time of goodput, as shares of the run's duration.
const SHARES: [f64; 2] = [0.01, 0.05];

/// Samples of a flow in one run.
#[derive(Clone, Debug)]
pub struct FlowSeries {
    /// Name of the run. Pictures of several runs show this name.
    pub name: String,
    /// Samples in time order.
    pub samples: Vec<FlowSample>,
}

impl FlowSeries {
    /// Selects the samples of the flow with this index from the samples of all flows.
    pub fn of(name: &str, samples: &[FlowSample], flow: usize) -> FlowSeries {
        let its = samples.iter().filter(|sample| sample.flow == flow);
        FlowSeries { name: name.to_owned(), samples: its.copied().collect() }
    }

    /// Returns the number of bytes that were delivered up to each sample, as pairs of time (s) and bytes.
    pub fn delivered(&self) -> Vec<(f64, u64)> {
        self.samples.iter().map(|sample| (sample.time.as_secs(), sample.delivered_bytes)).collect()
    }
}

/// Returns the averaging time of goodput, s. `duration_s` is the duration of the run, s.
pub fn averaged_s(duration_s: f64) -> f64 {
    let [least, most] = SHARES.map(|share| share * duration_s);
    AVERAGED_S.clamp(least, most.max(least))
}

/// Returns the figure of goodputs, averaged over the preceding `span_s` seconds. Each element of `amounts` is a named
/// curve of cumulative bytes, as pairs of time (s) and bytes.
pub fn goodput(amounts: &[(String, Vec<(f64, u64)>)], span_s: f64) -> Figure {
    let curve = |(name, amounts): &(String, Vec<(f64, u64)>)| Curve {
        name: name.clone(),
        kind: CurveKind::Line,
        points: rates(amounts, span_s),
    };
    let caption = format!("Payload delivered in order, averaged over the preceding {span_s:.3} s.");
    figure("goodput", "Goodput", &caption, "kbit/s", amounts.iter().map(curve).collect())
}

/// Returns mean rates (kbit/s) over the preceding `span_s` seconds. At the beginning, the mean covers only the time
/// since the first sample. `amounts` holds pairs of time (s) and cumulative bytes.
fn rates(amounts: &[(f64, u64)], span_s: f64) -> Vec<Point> {
    let mut from = 0;
    let mut points = Vec::with_capacity(amounts.len());
    for (at, (now, bytes)) in amounts.iter().enumerate().skip(1) {
        while from + 1 < at && now - amounts[from].0 > span_s + 1e-9 {
            from += 1;
        }
        let (then, before) = amounts[from];
        points.push(Point::exact(*now, bytes.saturating_sub(before) as f64 * 8e-3 / (now - then)));
    }
    points
}

/// Returns the figure of the congestion window and of ssthresh. Values of ssthresh far above the window are not drawn.
pub fn window(flow_series: &[FlowSeries]) -> Figure {
    let cwnd = |sample: &FlowSample| Some(sample.cwnd_bytes as f64 / 1e3);
    let curves = pairs(flow_series, ("cwnd", cwnd), |series| {
        let highest = series.samples.iter().map(|sample| sample.cwnd_bytes).max().unwrap_or(0);
        let ssthresh = move |sample: &FlowSample| {
            (sample.ssthresh_bytes <= FAR_ABOVE * highest).then_some(sample.ssthresh_bytes as f64 / 1e3)
        };
        ("ssthresh", ssthresh)
    });
    let caption = "Congestion window of the sender (cwnd); dotted: slow start threshold (ssthresh), drawn while it is near cwnd.";
    figure("window", "Congestion window", caption, "kB", curves)
}

/// Returns the figure of the smoothed RTT and the retransmission timeout.
pub fn round_trips(flow_series: &[FlowSeries]) -> Figure {
    let curves = pairs(flow_series, ("SRTT", |sample: &FlowSample| sample.srtt_ms), |_| {
        ("RTO", |sample: &FlowSample| sample.srtt_ms.map(|_| sample.rto_ms))
    });
    let caption = "Smoothed round-trip time at the sender (SRTT); dotted: retransmission timeout (RTO).";
    figure("rtt", "Round-trip time", caption, "ms", curves)
}

/// Returns the figure of the bytes in flight, as counted by the sender.
pub fn in_flight(flow_series: &[FlowSeries]) -> Figure {
    let of = |sample: &FlowSample| Some(sample.in_flight_bytes as f64 / 1e3);
    let curve = |series: &FlowSeries| {
        let name = if flow_series.len() == 1 { "in flight" } else { &series.name };
        curve(name, CurveKind::Line, &series.samples, of)
    };
    let caption = "Bytes in flight as the sender counts them.";
    figure("flight", "In flight", caption, "kB", flow_series.iter().map(curve).collect())
}

/// Returns the number of packets in the queue of one link direction, as points over time.
pub fn waiting(samples: &[QueueSample], link: usize, is_down: bool) -> Vec<Point> {
    let of_this = samples.iter().filter(|sample| sample.link == link && sample.down == is_down);
    of_this.map(|sample| Point::exact(sample.time.as_secs(), f64::from(sample.packets))).collect()
}

/// Returns the figure of queue lengths. `flow_series` holds named curves.
pub fn queue(flow_series: Vec<(String, Vec<Point>)>) -> Figure {
    let curves = flow_series.into_iter().map(|(name, points)| Curve { name, kind: CurveKind::Steps, points });
    figure("queue", "Queue at the last hop", "Packets waiting.", "packets", curves.collect())
}

/// Restricts a figure to times from `from` to `to`, s.
pub fn cut(mut figure: Figure, [from, to]: [f64; 2]) -> Figure {
    figure.curves.iter_mut().for_each(|curve| curve.points.retain(|point| (from..=to).contains(&point.x)));
    figure.x_range = Some([from, to]);
    figure
}

/// Returns a figure whose x axis is the time.
pub fn figure(id: &str, title: &str, caption: &str, y_label: &str, curves: Vec<Curve>) -> Figure {
    Figure {
        id: id.to_owned(),
        title: title.to_owned(),
        caption: caption.to_owned(),
        x_label: "time, s".into(),
        y_label: y_label.to_owned(),
        curves,
        ..Figure::default()
    }
}

/// Returns the curve of the values that `of` takes from a flow's samples. Samples without a value are omitted.
pub fn curve(
    name: &str,
    kind: CurveKind,
    samples: &[FlowSample],
    of: impl Fn(&FlowSample) -> Option<f64>,
) -> Curve {
    let points = samples.iter().filter_map(|sample| Some(Point::exact(sample.time.as_secs(), of(sample)?)));
    Curve { name: name.to_owned(), kind, points: points.collect() }
}

/// Returns two curves for each series. The second curve is dotted; if the figure has too many series, it is omitted. If
/// several series are given, the names of the curves contain the names of the series.
fn pairs<B: Fn(&FlowSample) -> Option<f64>>(
    flow_series: &[FlowSeries],
    (first, of): (&str, impl Fn(&FlowSample) -> Option<f64>),
    second: impl Fn(&FlowSeries) -> (&'static str, B),
) -> Vec<Curve> {
    let mut curves = Vec::with_capacity(2 * flow_series.len());
    for series in flow_series {
        let (bound, bound_of) = second(series);
        let names = match flow_series.len() {
            1 => [first.to_owned(), bound.to_owned()],
            _ => [series.name.clone(), format!("{}, {bound}", series.name)],
        };
        curves.push(curve(&names[0], CurveKind::Line, &series.samples, &of));
        if flow_series.len() <= MAX_PAIRS {
            curves.push(curve(&names[1], CurveKind::Bound, &series.samples, bound_of));
        }
    }
    curves.retain(|curve| !curve.points.is_empty());
    curves
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_come_from_amounts() {
        let amounts = [(0.0, 0), (0.1, 1000), (0.2, 3000), (0.3, 3000), (0.4, 4000)];
        let found: Vec<(f64, f64)> = rates(&amounts, 0.2).iter().map(|point| (point.x, point.y)).collect();
        let expected = [(0.1, 80.0), (0.2, 120.0), (0.3, 80.0), (0.4, 40.0)];
        for ((x, y), (at, rate)) in found.iter().zip(expected) {
            assert!(*x == at && (y - rate).abs() < 1e-9, "{found:?}");
        }
        assert_eq!(found.len(), 4);
    }

    #[test]
    fn goodput_is_averaged_over_a_second_or_a_share_of_the_run() {
        for (duration, span) in [(1.0, 0.05), (20.0, 1.0), (60.0, 1.0), (300.0, 3.0)] {
            assert!((averaged_s(duration) - span).abs() < 1e-12);
        }
    }

    #[test]
    fn a_cut_has_its_ends_and_nothing_beyond() {
        let points = (0..10u8).map(|at| Point::exact(f64::from(at), 1.0)).collect();
        let whole = queue(vec![("A".into(), points)]);
        let part = cut(whole, [2.5, 6.0]);
        let times: Vec<f64> = part.curves[0].points.iter().map(|point| point.x).collect();
        assert_eq!((times, part.x_range), (vec![3.0, 4.0, 5.0, 6.0], Some([2.5, 6.0])));
    }
}
