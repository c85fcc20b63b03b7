//! Measures a path from the capture of one TCP connection: rate, round-trip time, losses and queue.

mod connection;
mod flows;
mod fragments;
mod frames;
mod loss_inference;
mod rate;
mod segment;

use crate::import_result::{ImportResult, Service, Sourced, shown};
use crate::losses::{LossModel, LossRecord, fitted};
use crate::rates::Opportunities;
use crate::{ImportError, ImportOptions};
use connection::ConnectionMeasurement;
use flows::{CapturedFlow, FlowTable, PortPairs};
use fragments::Fragments;
use frames::CapturedFrame;
use std::io::{Read, Write};

/// Smallest number of data packets in a transfer that can be measured.
const MIN_PACKETS: u64 = 20;
/// Shortest duration of a transfer that can be measured, s.
const SHORTEST_SECONDS: f64 = 1e-4;
/// Smallest and largest rate in the written scenario, bit/s.
const RATES: [f64; 2] = [1e3, 1e12];
/// Smallest and largest round-trip time in the written scenario, ms.
const TRIPS: [f64; 2] = [0.01, 1e6];
/// Largest queue limit in the written scenario, bytes.
const LARGEST_QUEUE: f64 = 1e9;
/// Assumed payload of a segment if the capture does not show the payload, bytes.
const DEFAULT_SEGMENT: u32 = 1448;
/// Lower limit of the assumed payload, bytes: the smallest MSS of Linux (TCP_MIN_SND_MSS, 48) less the 12 bytes of the
/// timestamps option.
const SMALLEST_SEGMENT: u32 = 36;
/// Smallest queueing delay that shows a queue, in transmission times of one packet. Shorter delays are noise.
const SHORTEST_QUEUE: f64 = 4.0;

/// Reads a capture twice: first to find all connections, then to measure one of them.
pub(crate) fn read<R: Read>(
    open: &mut impl FnMut() -> Result<R, ImportError>,
    options: &ImportOptions,
    down: &mut dyn Write,
) -> Result<ImportResult, ImportError> {
    let (mut flows, mut tcp) = (FlowTable::default(), 0_u64);
    let mut fragments = Fragments::default();
    let others = frames::each(open()?, |frame: &CapturedFrame<'_>| {
        if let Some(segment) = fragments.reassemble(frame) {
            tcp += 1;
            flows.add_segment(frame.interface, &segment);
        }
        Ok(())
    })?;
    if tcp == 0 {
        let why = match (others.unknown_link, others.frames) {
            (_, frames) if fragments.seen > 0 => format!(
                "none of the {frames} packets is a complete TCP packet: {} are fragments of incomplete packets",
                fragments.seen
            ),
            (_, 0) => "the capture has no packets".to_owned(),
            (Some(link), frames) => format!(
                "none of the {frames} packets is readable TCP: the capture's link type {link} is not supported"
            ),
            (None, frames) => format!("none of the {frames} packets is TCP"),
        };
        return Err(ImportError::new(why, "capture a TCP transfer: tcpdump -w FILE tcp"));
    }
    let left_out = flows.left_out;
    let all = flows.by_size();
    let chosen = choose(&all, options)?;
    let transfer = &all[chosen];
    let largest = transfer.flow.largest[transfer.sender()];
    // With segmentation offload, captured segments are longer than packets. The MSS includes the bytes of TCP options,
    // so subtract the 12 bytes of the timestamps option.
    let segment = match transfer.flow.mss.map(u32::from) {
        Some(mss) if largest > mss => mss.saturating_sub(12).max(SMALLEST_SEGMENT),
        None if largest > 9000 => DEFAULT_SEGMENT,
        _ => largest,
    };
    let mut connection = ConnectionMeasurement::new(segment);
    let forward = transfer.sender();
    let (mut second_fragments, mut port_pairs) = (Fragments::default(), PortPairs::default());
    frames::each(open()?, |frame: &CapturedFrame<'_>| {
        if let Some(segment) = second_fragments.reassemble(frame)
            && let Some((key, side)) = port_pairs.of(frame.interface, &segment)
            && key == transfer.key
        {
            connection.handle_segment(frame.nanos, &segment, side == forward);
        }
        Ok(())
    })?;
    if connection.data_packets < MIN_PACKETS {
        return Err(ImportError::new(
            format!("{transfer} carries data in only {} packets", connection.data_packets),
            format!(
                "a transfer needs at least {MIN_PACKETS} packets, or better several seconds of data; --flow chooses \
                 another connection"
            ),
        ));
    }
    if connection.last < SHORTEST_SECONDS {
        return Err(ImportError::new(
            format!("all packets of {transfer} have nearly the same timestamp"),
            "check the capture's timestamps",
        ));
    }
    let mut found =
        ImportResult { kind: "a capture".into(), seconds: connection.last, ..ImportResult::default() };
    report_choice(&mut found, &all, chosen, left_out);
    if let Some(broken) = &others.broken {
        found.findings.push(format!("the capture is damaged: only its first part is read ({broken})"));
    }
    report_fragments(&mut found, &fragments);
    if largest > segment {
        found.findings.push(format!(
            "segments of up to {largest} bytes were captured before segmentation offload; \
            packets of {segment} bytes are assumed"
        ));
    }
    measure(&connection, &mut found, options, down)?;
    Ok(found)
}

fn choose(all: &[CapturedFlow], options: &ImportOptions) -> Result<usize, ImportError> {
    let Some(asked) = &options.flow else { return Ok(0) };
    let listed = || {
        let lines: Vec<String> = all
            .iter()
            .take(10)
            .enumerate()
            .map(|(at, one)| format!("{}: {one}, {} bytes", at + 1, one.bytes()))
            .collect();
        lines.join("; ")
    };
    if let Ok(number) = asked.parse::<usize>() {
        return if (1..=all.len()).contains(&number) {
            Ok(number - 1)
        } else {
            Err(ImportError::new(format!("--flow: there is no connection {number}"), listed()))
        };
    }
    // A full name selects exactly that connection, even if later connections use the same ports.
    if let Some(one) = all.iter().position(|one| one.to_string() == asked.trim()) {
        return Ok(one);
    }
    let fits: Vec<usize> = (0..all.len()).filter(|at| all[*at].to_string().contains(asked.trim())).collect();
    match fits[..] {
        [one] => Ok(one),
        [] => Err(ImportError::new(
            format!("--flow: no connection matches `{}`", crate::import_result::plain(asked)),
            listed(),
        )),
        _ => Err(ImportError::new(
            format!("--flow: {} connections match `{}`", fits.len(), crate::import_result::plain(asked)),
            listed(),
        )),
    }
}

fn report_fragments(found: &mut ImportResult, fragments: &Fragments) {
    if fragments.seen > 0 {
        let left_out = match fragments.incomplete() {
            0 => String::new(),
            some => format!("; left out: {some} incomplete packets"),
        };
        found.findings.push(format!(
            "{} packets were reassembled from {} fragments{left_out}",
            fragments.whole, fragments.seen
        ));
    }
}

fn report_choice(found: &mut ImportResult, all: &[CapturedFlow], chosen: usize, left_out: u64) {
    let transfer = &all[chosen];
    let of = if chosen == 0 { ", the largest" } else { "" };
    found.findings.push(format!(
        "connection {} of {}{of}: {transfer}, {} bytes of payload in {} packets",
        chosen + 1,
        all.len(),
        transfer.bytes(),
        transfer.flow.packets
    ));
    if left_out > 0 {
        found.findings.push(format!("left out: {left_out} packets of connections beyond the first 200000"));
    }
}

fn measure(
    connection: &ConnectionMeasurement,
    found: &mut ImportResult,
    options: &ImportOptions,
    down: &mut dyn Write,
) -> Result<(), ImportError> {
    let goodput = connection.payload as f64 * 8.0 / connection.last.max(1e-9);
    let mut rate = rate(connection, found);
    rate.value = rate.value.clamp(RATES[0], RATES[1]);
    found.findings.push(format!("payload {} Mbit/s over {} s", shown(goodput / 1e6), shown(connection.last)));
    let segment = connection.segment();
    found.segment = Some(Sourced::new(segment, "measured: the largest payload of a packet"));
    let headers = header_bytes(connection);
    let packet_ms = (f64::from(segment) + headers) * 8.0 / rate.value * 1000.0;
    let rtt = round_trip(connection, found, packet_ms);
    let queue_losses = queue(connection, found, rate.value, rtt, packet_ms);
    losses(connection, found, queue_losses, options)?;
    if options.varying {
        let mut out = Opportunities::new(down);
        let passed = if connection.is_at_sender() { &connection.acknowledged } else { &connection.arrived };
        let factor = if connection.is_at_sender() { 1.0 + headers / f64::from(segment) } else { 1.0 };
        for bytes in passed.tenths() {
            out.span(0.1, f64::from(*bytes) * factor)?;
        }
        let provenance =
            "measured: bytes delivered in each tenth of a second, a lower bound of the link's rate";
        found.down = Some(Sourced::new(out.finish()?, provenance));
    } else {
        found.down = Some(Sourced::new(Service::Rate(rate.value), rate.provenance))
    }
    Ok(())
}

fn header_bytes(connection: &ConnectionMeasurement) -> f64 {
    let packets = connection.data_packets.max(1) as f64;
    let beside = (connection.ip_bytes - connection.payload) as f64 / packets;
    beside.clamp(40.0, 120.0)
}

/// Rate of the bottleneck, bit/s: the lower of the rates at which data was captured and acknowledged.
fn rate(connection: &ConnectionMeasurement, found: &mut ImportResult) -> Sourced<f64> {
    let factor = 1.0 + header_bytes(connection) / f64::from(connection.segment());
    let arrived = connection.arrived.rate().filter(|_| !connection.is_at_sender());
    let acknowledged = connection.acknowledged.rate().map(|(rate, share)| (rate * factor, share));
    let rates = [arrived, acknowledged].into_iter().flatten();
    let Some((rate, share)) = rates.min_by(|a, b| a.0.total_cmp(&b.0)) else {
        let mean = connection.ip_bytes as f64 * 8.0 / connection.last.max(1e-9);
        return Sourced::new(
            mean,
            "measured: the mean, because the capture has too few back-to-back packets",
        );
    };
    let percent = shown((100.0 * share).round());
    if share < 0.5 {
        found.findings.push(format!(
            "only {percent} % of the bytes arrived at the link's rate: the connection \
             rarely filled the link, so rate and queue are less certain"
        ));
    } else {
        found.findings.push(format!(
            "{percent} % of the bytes arrived at the link's rate: the connection filled the link"
        ));
    }
    Sourced::new(rate, "measured: the highest rate of trains of packets, IP headers included")
}

/// Returns the round-trip time without queueing, ms.
fn round_trip(connection: &ConnectionMeasurement, found: &mut ImportResult, packet_ms: f64) -> Option<f64> {
    let place = match (connection.half_trip(true), connection.half_trip(false)) {
        (Some(to_sender), Some(to_receiver)) => match () {
            () if to_sender < 0.1 * to_receiver => "at the sender",
            () if to_receiver < 0.1 * to_sender => "at the receiver",
            () => "between sender and receiver",
        },
        _ => "at an unknown place",
    };
    found.findings.push(format!("captured {place}"));
    if !connection.has_handshake() {
        found.findings.push(match connection.half_trip(true) {
            Some(_) => "the capture lacks the handshake: round trips are measured from \
                acknowledgements and timestamps".into(),
            None => "the capture lacks the handshake and timestamps: the delay between capture and sender is unknown".into(),
        });
    }
    if connection.acks == 0 {
        found.findings.push("the capture has no acknowledgements: the delay to the receiver and losses after the capture are unknown".into());
    }
    // The round-trip time must not include the transmission time of a large packet. Packets of the handshake are small,
    // so their times need no correction.
    let behind = connection.is_behind_bottleneck();
    let half_trip = |to_sender: bool| {
        let less =
            |half_trip: f64| if to_sender == behind { (half_trip - packet_ms).max(0.0) } else { half_trip };
        let first = connection.first_half_trip(to_sender);
        let is_full = connection.begins_with_data() && to_sender;
        let first = if is_full { first.map(less) } else { first };
        match (first, connection.later_half_trip(to_sender).map(less)) {
            (Some(first), Some(later)) => Some(first.min(later.max(0.9 * first))),
            (first, later) => first.or(later),
        }
    };
    let (to_sender, to_receiver) = (half_trip(true), half_trip(false));
    let rtt = match (to_sender, to_receiver) {
        (None, None) => return None,
        (to_sender, to_receiver) => to_sender.unwrap_or(0.0) + to_receiver.unwrap_or(0.0),
    };
    let provenance = match (to_sender, to_receiver) {
        (Some(_), Some(_)) => {
            "measured: the smallest round trip, less a packet's transmission time at the bottleneck"
        }
        _ => {
            "measured: a lower bound, the smallest time to one end and back; the delay to the other end is unknown"
        }
    };
    found.rtt_ms = Some(Sourced::new(rtt.clamp(TRIPS[0], TRIPS[1]), provenance));
    let trips = &connection.round_trips;
    if trips.count > 0 {
        found.findings.push(format!(
            "round trips under load, {} of them: smallest {} ms, median {} ms, 95th percentile {} ms, largest {} ms",
            trips.count,
            shown(trips.smallest),
            shown(trips.quantile(0.5)),
            shown(trips.quantile(0.95)),
            shown(trips.largest)
        ));
    }
    Some(rtt)
}

/// Measures the queue. Returns the share of all losses that queue overflow caused.
fn queue(
    connection: &ConnectionMeasurement,
    found: &mut ImportResult,
    rate: f64,
    rtt: Option<f64>,
    packet_ms: f64,
) -> f64 {
    let trips =
        if connection.is_behind_bottleneck() { &connection.to_sender } else { &connection.round_trips };
    if trips.count < MIN_PACKETS || rtt.is_none() {
        found.findings.push("the queue's length is unknown: the capture has too few round trips".into());
        return 0.0;
    }
    let (low, high) = (trips.smallest, trips.quantile(0.995));
    let bytes = (high - low).max(0.0) / 1000.0 * rate / 8.0;
    if high - low < SHORTEST_QUEUE * packet_ms {
        found.findings.push("no queue built up: its limit is unknown".into());
        return 0.0;
    }
    // Losses by overflow occur near the largest round-trip time. Losses for other reasons occur at any round-trip time.
    let full = low + 0.85 * (high - low);
    let all = connection.losses.rtts_at_losses.len() as f64;
    let at_full =
        connection.losses.rtts_at_losses.iter().filter(|rtt| f64::from(**rtt) * 1000.0 >= full).count()
            as f64;
    let usual = trips.share_above(full);
    let by_chance = if usual < 0.9 { ((all - at_full) / (1.0 - usual)).min(all) } else { 0.0 };
    let by_queue = if all > 0.0 { 1.0 - by_chance / all } else { 0.0 };
    let overflowed = all > 0.0 && by_queue * all >= 1.0 && by_queue > 0.05;
    let text = format!("{} ms", shown(high - low));
    let bytes = libm::round(bytes.clamp(3000.0, LARGEST_QUEUE)) as u64;
    if overflowed {
        found.findings.push(format!(
            "the queue grew to {text}; {} % of the losses occurred near a full queue and count as overflows",
            shown((100.0 * by_queue).round())
        ));
        found.queue = Some(Sourced::new(
            format!("{bytes} bytes"),
            "derived: the rate times the largest queueing delay, which occurred when the queue overflowed",
        ));
        by_queue
    } else {
        found.findings.push(format!("the queue grew to {text} and did not overflow: its limit is unknown"));
        found.queue = Some(Sourced::new(
            format!("{} bytes", 2 * bytes),
            "assumed: twice the longest queue observed, which did not overflow",
        ));
        0.0
    }
}

fn losses(
    connection: &ConnectionMeasurement,
    found: &mut ImportResult,
    by_queue: f64,
    options: &ImportOptions,
) -> Result<(), ImportError> {
    let losses = &connection.losses;
    let record: LossRecord = losses.record();
    let (lost, sent) = (record.lost(), record.packets());
    let percent = |share: f64| shown(100.0 * share);
    let share = lost as f64 / sent.max(1) as f64;
    found.findings.push(format!(
        "{lost} of {sent} transmissions were lost ({} %): {} before the capture, {} after it",
        percent(share),
        losses.lost_before,
        losses.lost_after
    ));
    for (count, what) in [
        (losses.spurious, "retransmissions were unnecessary"),
        (losses.reordered, "packets were reordered, not lost"),
        (losses.uncaptured, "acknowledged packets are missing from the capture"),
        (
            losses.jumps,
            "times the sequence numbers jumped by more than a window: gaps of this size do not count as losses",
        ),
        (losses.untracked, "packets have no acknowledgement in the capture and do not count for round trips"),
    ] {
        if count > 0 {
            found.findings.push(format!("{count} {what}"));
        }
    }
    let on_air = (1.0 - by_queue).max(0.0) * lost as f64;
    if on_air < 1.0 || sent == 0 {
        return Ok(());
    }
    if by_queue <= 0.0 && options.model.is_none_or(|model| model != LossModel::Iid) {
        // The channel caused all losses, so the order of lost packets shows the bursts.
        let fit = fitted(&record, options.model)?;
        found.channel = Some(fit.channel());
        found.findings.extend(fit.findings());
        found.fit = fit.table();
        return Ok(());
    }
    let loss = (on_air / sent as f64).clamp(1e-9, 0.999);
    found.channel = Some(Sourced::new(
        format!("{{ kind = \"iid\", loss = {} }}", shown(loss)),
        "derived: the losses that the queue did not cause; their bursts are unknown, because channel losses and \
         overflows are mixed",
    ));
    found.findings.push(
        "the numbers of channel losses and queue overflows are estimates; the cause of a single loss is unknown"
            .into(),
    );
    Ok(())
}
