//! Creates the report of a run: the state of the path, and of the kernel's connections, over time.

use super::summary::Summary;
use lasthop_emu::emulation::{End, PathSnapshot};
use lasthop_emu::kernel::{ConnectionSample, KernelConnection};
use lasthop_lab::document::{Block, Chapter, Document};
use lasthop_lab::figure::{Curve, CurveKind, Figure, Point};
use lasthop_scenario::Scenario;
use lasthop_wire::LossReason;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// Maximum number of connections with figures. Connections that sent the most data are chosen.
const MAX_CONNECTIONS: usize = 4;
/// Limit for slow start thresholds, bytes. A threshold of at least this size means that the kernel has not set
/// ssthresh.
const NO_THRESHOLD: u64 = 1 << 30;
/// Maximum number of intervals in the figure of rates. Rates are averaged over each interval.
const MAX_INTERVALS: usize = 200;

pub(super) fn document(
    scenario: &Scenario,
    command: &[String],
    summary: &Summary,
    samples: &[PathSnapshot],
    connection_samples: &[ConnectionSample],
) -> Document {
    let mut blocks =
        vec![Block::Text(verdict(summary)), Block::Table(summary.counters()), Block::Figure(rates(samples))];
    blocks.extend(summary.set().map(Block::Text));
    let connections = by_connection(connection_samples);
    for (number, (end, observations)) in connections.iter().take(MAX_CONNECTIONS).enumerate() {
        let Some((_, last)) = observations.last() else { continue };
        let at = if *end == End::Server { "server" } else { "client" };
        let name = format!("{at}, {} to {}", last.local, last.remote);
        blocks.push(Block::Figure(windows(number, &name, observations)));
        blocks.push(Block::Figure(round_trips(number, &name, observations)));
        blocks.push(Block::Figure(retransmissions(number, &name, observations)));
    }
    blocks.push(Block::Figure(queues(scenario, samples)));
    blocks.push(Block::Figure(losses(samples)));
    let unseen = connections.len().saturating_sub(MAX_CONNECTIONS);
    if unseen > 0 {
        blocks.push(Block::Text(format!("No figures for {unseen} further connections, which sent less.")));
    }
    Document {
        title: format!("{} under {}", scenario.title, command.first().map_or("a command", String::as_str)),
        introduction:
            "Real packets over simulated links, in real time. Windows, round-trip times and retransmissions are \
                       reported by the kernel (tcp_info)."
                .to_owned(),
        chapters: vec![Chapter { id: "run".to_owned(), title: "Results".to_owned(), blocks }],
        ..Document::default()
    }
}

fn verdict(summary: &Summary) -> String {
    let valid = if summary.complaints.is_empty() {
        "The run is valid.".to_owned()
    } else {
        format!("The run is invalid: {}.", summary.complaints.join("; "))
    };
    format!("{valid} {}", summary.conditions())
}

type Observations = Vec<(f64, KernelConnection)>;

/// Returns the observations of each connection that sent data. Connections are sorted by decreasing number of
/// acknowledged bytes.
fn by_connection(connection_samples: &[ConnectionSample]) -> Vec<(End, Observations)> {
    let mut known: BTreeMap<(usize, SocketAddr, SocketAddr), Observations> = BTreeMap::new();
    for ConnectionSample { time, end, connection } in connection_samples {
        let key = (*end as usize, connection.local, connection.remote);
        known.entry(key).or_default().push((time.as_secs(), *connection));
    }
    let acked = |observations: &Observations| observations.last().map_or(0, |(_, last)| last.acked_bytes);
    let mut connections: Vec<(End, Observations)> =
        known.into_iter().map(|((end, ..), observations)| (End::BOTH[end], observations)).collect();
    // The kernel counts the handshake as one acknowledged byte.
    connections.retain(|(_, observations)| acked(observations) > 1);
    connections.sort_by_key(|(_, observations)| std::cmp::Reverse(acked(observations)));
    connections
}

fn windows(number: usize, name: &str, observations: &Observations) -> Figure {
    let kilobytes = |bytes: u64| bytes as f64 / 1e3;
    figure(
        &format!("window-{number}"),
        &format!("{name}: congestion window"),
        "Congestion window (cwnd) of the kernel's sender, and slow start threshold (ssthresh) once set.",
        "kB",
        vec![
            curve("cwnd", observations, |connection| Some(kilobytes(connection.cwnd_bytes))),
            curve("ssthresh", observations, |connection| {
                (connection.ssthresh_bytes < NO_THRESHOLD).then(|| kilobytes(connection.ssthresh_bytes))
            }),
        ],
    )
}

fn round_trips(number: usize, name: &str, observations: &Observations) -> Figure {
    let curves = vec![curve("SRTT", observations, |connection| Some(connection.srtt.as_millis()))];
    let caption = "Smoothed round-trip time of the kernel's sender.";
    figure(&format!("rtt-{number}"), &format!("{name}: round-trip time"), caption, "ms", curves)
}

fn retransmissions(number: usize, name: &str, observations: &Observations) -> Figure {
    let curves =
        vec![curve("retransmitted", observations, |connection| Some(f64::from(connection.retransmissions)))];
    let caption = "Segments retransmitted by the kernel's sender so far.";
    figure(&format!("again-{number}"), &format!("{name}: retransmissions"), caption, "segments", curves)
}

fn rates(samples: &[PathSnapshot]) -> Figure {
    let every = samples.len().div_ceil(MAX_INTERVALS).max(1);
    let corners: Vec<&PathSnapshot> = samples.iter().step_by(every).collect();
    let curve = |name: &str, end: End| {
        let points = corners.windows(2).map(|pair| {
            let (from, to) = (pair[0].time.as_secs(), pair[1].time.as_secs());
            let bytes = pair[1].delivered_bytes[end as usize] - pair[0].delivered_bytes[end as usize];
            Point::exact(to, bytes as f64 * 8.0 / 1e3 / (to - from))
        });
        Curve { name: name.to_owned(), kind: CurveKind::Line, points: points.collect() }
    };
    let caption = "Rate of delivery at each end, headers included.";
    let curves = vec![curve("down", End::Client), curve("up", End::Server)];
    figure("rates", "Rates", caption, "kbit/s", curves)
}

fn queues(scenario: &Scenario, samples: &[PathSnapshot]) -> Figure {
    let mut curves = Vec::new();
    for (index, link) in scenario.links.iter().enumerate() {
        for (side, direction) in ["down", "up"].iter().enumerate() {
            let waiting = |sample: &PathSnapshot| f64::from(sample.backlogs[2 * index + side].waiting);
            if samples.iter().any(|sample| waiting(sample) > 0.0) {
                curves.push(Curve {
                    name: format!("{} {direction}", link.name),
                    kind: CurveKind::Steps,
                    points: samples.iter().map(|s| Point::exact(s.time.as_secs(), waiting(s))).collect(),
                });
            }
        }
    }
    let caption = if curves.is_empty() {
        "No sample found a packet in a queue."
    } else {
        "Packets in the queue; directions whose queue was always empty are omitted."
    };
    figure("queues", "Queue lengths", caption, "packets", curves)
}

fn losses(samples: &[PathSnapshot]) -> Figure {
    let curves = LossReason::ALL.into_iter().filter_map(|reason| {
        let points = samples.iter().map(|s| Point::exact(s.time.as_secs(), s.lost[reason] as f64));
        let curve =
            Curve { name: reason.name().to_owned(), kind: CurveKind::Steps, points: points.collect() };
        samples.last().is_some_and(|last| last.lost[reason] > 0).then_some(curve)
    });
    let caption = "Packets of the real traffic lost so far in both directions, by true cause.";
    figure("losses", "Losses by cause", caption, "packets", curves.collect())
}

fn curve(name: &str, observations: &Observations, of: impl Fn(&KernelConnection) -> Option<f64>) -> Curve {
    let points =
        observations.iter().filter_map(|(time, connection)| Some(Point::exact(*time, of(connection)?)));
    Curve { name: name.to_owned(), kind: CurveKind::Line, points: points.collect() }
}

fn figure(id: &str, title: &str, caption: &str, y_label: &str, curves: Vec<Curve>) -> Figure {
    Figure {
        id: id.to_owned(),
        title: title.to_owned(),
        caption: caption.to_owned(),
        x_label: "time, s".to_owned(),
        y_label: y_label.to_owned(),
        x_log: false,
        curves,
        ..Figure::default()
    }
}
