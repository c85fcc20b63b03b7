//! Measurement of a path from a capture of one TCP connection: rate, round trips, losses and queue.

mod connection;
mod flows;
mod fragments;
mod frames;
mod rate;
mod repairs;
mod segment;

use crate::found::{Found, Said, Service, shown};
use crate::losses::{Model, Record, fitted};
use crate::rates::Opportunities;
use crate::{Ask, Refusal};
use connection::Connection;
use flows::{Flows, Incarnations, Named};
use fragments::Fragments;
use frames::Frame;
use std::io::{Read, Write};

/// Fewest data packets of a transfer.
const FEWEST: u64 = 20;
const SHORTEST_SECONDS: f64 = 1e-4;
/// Limits of a scenario's values: rates, bit/s, round trips, ms, queues, bytes.
const RATES: [f64; 2] = [1e3, 1e12];
const TRIPS: [f64; 2] = [0.01, 1e6];
const LARGEST_QUEUE: f64 = 1e9;
/// Default payload of a segment, bytes.
const USUAL_SEGMENT: u32 = 1448;
/// Smallest payload assumed, bytes: Linux's least MSS (TCP_MIN_SND_MSS, 48) without timestamps.
const SMALLEST_SEGMENT: u32 = 36;
/// Shortest queue that counts as one, packets.
const SHORTEST_QUEUE: f64 = 4.0;

/// Reads a capture twice: first all connections, then one of them.
pub(crate) fn read<R: Read>(
    open: &mut impl FnMut() -> Result<R, Refusal>,
    ask: &Ask,
    down: &mut dyn Write,
) -> Result<Found, Refusal> {
    let (mut flows, mut tcp) = (Flows::default(), 0_u64);
    let mut fragments = Fragments::default();
    let others = frames::each(open()?, |frame: &Frame<'_>| {
        if let Some(segment) = fragments.take(frame) {
            tcp += 1;
            flows.take(frame.interface, &segment);
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
        return Err(Refusal::new(why, "capture a TCP transfer: tcpdump -w FILE tcp"));
    }
    let left_out = flows.left_out;
    let all = flows.by_size();
    let chosen = choose(&all, ask)?;
    let named = &all[chosen];
    let largest = named.flow.largest[named.sender()];
    // With offload a segment exceeds any packet; the MSS option does not include other options.
    let segment = match named.flow.mss.map(u32::from) {
        Some(mss) if largest > mss => mss.saturating_sub(12).max(SMALLEST_SEGMENT),
        None if largest > 9000 => USUAL_SEGMENT,
        _ => largest,
    };
    let mut connection = Connection::new(segment);
    let forward = named.sender();
    let (mut again, mut incarnations) = (Fragments::default(), Incarnations::default());
    frames::each(open()?, |frame: &Frame<'_>| {
        if let Some(segment) = again.take(frame)
            && let Some((key, side)) = incarnations.of(frame.interface, &segment)
            && key == named.key
        {
            connection.take(frame.nanos, &segment, side == forward);
        }
        Ok(())
    })?;
    if connection.data_packets < FEWEST {
        return Err(Refusal::new(
            format!("{named} carries data in only {} packets", connection.data_packets),
            format!(
                "a transfer needs at least {FEWEST} packets, better several seconds; --flow chooses another connection"
            ),
        ));
    }
    if connection.last < SHORTEST_SECONDS {
        return Err(Refusal::new(
            format!("all packets of {named} have nearly the same time"),
            "check the capture's timestamps",
        ));
    }
    let mut found = Found { kind: "a capture".into(), seconds: connection.last, ..Found::default() };
    say_which(&mut found, &all, chosen, left_out);
    if let Some(broken) = &others.broken {
        found.says.push(format!("the capture is damaged: only its first part is read ({broken})"));
    }
    say_fragments(&mut found, &fragments);
    if largest > segment {
        found.says.push(format!("segments of up to {largest} bytes: captured before segmentation (offload); packets of {segment} bytes are assumed"));
    }
    tell(&connection, &mut found, ask, down)?;
    Ok(found)
}

fn choose(all: &[Named], ask: &Ask) -> Result<usize, Refusal> {
    let Some(asked) = &ask.flow else { return Ok(0) };
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
            Err(Refusal::new(format!("--flow: there is no connection {number}"), listed()))
        };
    }
    // A full name selects its connection even if later connections use the same ports.
    if let Some(one) = all.iter().position(|one| one.to_string() == asked.trim()) {
        return Ok(one);
    }
    let fits: Vec<usize> = (0..all.len()).filter(|at| all[*at].to_string().contains(asked.trim())).collect();
    match fits[..] {
        [one] => Ok(one),
        [] => {
            Err(Refusal::new(format!("--flow: no connection has `{}`", crate::found::plain(asked)), listed()))
        }
        _ => Err(Refusal::new(
            format!("--flow: {} connections have `{}`", fits.len(), crate::found::plain(asked)),
            listed(),
        )),
    }
}

fn say_fragments(found: &mut Found, fragments: &Fragments) {
    if fragments.seen > 0 {
        let left_out = match fragments.incomplete() {
            0 => String::new(),
            some => format!("; left out: {some} incomplete packets"),
        };
        found.says.push(format!(
            "{} packets were reassembled from {} fragments{left_out}",
            fragments.whole, fragments.seen
        ));
    }
}

fn say_which(found: &mut Found, all: &[Named], chosen: usize, left_out: u64) {
    let named = &all[chosen];
    let of = if chosen == 0 { ", the largest" } else { "" };
    found.says.push(format!(
        "connection {} of {}{of}: {named}, {} bytes of payload in {} packets",
        chosen + 1,
        all.len(),
        named.bytes(),
        named.flow.packets
    ));
    if left_out > 0 {
        found.says.push(format!("left out: {left_out} packets of connections beyond the first 200000"));
    }
}

fn tell(connection: &Connection, found: &mut Found, ask: &Ask, down: &mut dyn Write) -> Result<(), Refusal> {
    let goodput = connection.payload as f64 * 8.0 / connection.last.max(1e-9);
    let mut rate = rate(connection, found);
    rate.value = rate.value.clamp(RATES[0], RATES[1]);
    found.says.push(format!("payload {} Mbit/s over {} s", shown(goodput / 1e6), shown(connection.last)));
    let segment = connection.segment();
    found.segment = Some(Said::new(segment, "measured: the largest payload of a packet"));
    let headers = header_bytes(connection);
    let packet_ms = (f64::from(segment) + headers) * 8.0 / rate.value * 1000.0;
    let rtt = round_trip(connection, found, packet_ms);
    let queue_losses = queue(connection, found, rate.value, rtt, packet_ms);
    losses(connection, found, queue_losses, ask)?;
    if ask.varying {
        let mut out = Opportunities::new(down);
        let passed = if connection.is_at_sender() { &connection.told } else { &connection.seen };
        let factor = if connection.is_at_sender() { 1.0 + headers / f64::from(segment) } else { 1.0 };
        for bytes in passed.tenths() {
            out.span(0.1, f64::from(*bytes) * factor)?;
        }
        let how = "measured: bytes delivered in each tenth of a second, a lower bound of the link's rate";
        found.down = Some(Said::new(out.finish()?, how));
    } else {
        found.down = Some(Said::new(Service::Rate(rate.value), rate.how))
    }
    Ok(())
}

fn header_bytes(connection: &Connection) -> f64 {
    let packets = connection.data_packets.max(1) as f64;
    let beside = (connection.ip_bytes - connection.payload) as f64 / packets;
    beside.clamp(40.0, 120.0)
}

/// The bottleneck's rate, bit/s: the smaller of the observed and the acknowledged rate.
fn rate(connection: &Connection, found: &mut Found) -> Said<f64> {
    let factor = 1.0 + header_bytes(connection) / f64::from(connection.segment());
    let seen = connection.seen.rate().filter(|_| !connection.is_at_sender());
    let told = connection.told.rate().map(|(rate, share)| (rate * factor, share));
    let rates = [seen, told].into_iter().flatten();
    let Some((rate, share)) = rates.min_by(|a, b| a.0.total_cmp(&b.0)) else {
        let mean = connection.ip_bytes as f64 * 8.0 / connection.last.max(1e-9);
        return Said::new(mean, "measured: the mean, because the capture has too few back-to-back packets");
    };
    let percent = shown((100.0 * share).round());
    if share < 0.5 {
        found.says.push(format!("only {percent} % of the bytes came at the link's rate: the connection rarely filled it, so rate and queue are less certain"));
    } else {
        found
            .says
            .push(format!("{percent} % of the bytes came at the link's rate: the connection filled it"));
    }
    Said::new(rate, "measured: the highest rate of trains of packets, IP headers included")
}

/// The round trip without queueing, ms.
fn round_trip(connection: &Connection, found: &mut Found, packet_ms: f64) -> Option<f64> {
    let place = match (connection.half(true), connection.half(false)) {
        (Some(to_sender), Some(to_receiver)) => match () {
            () if to_sender < 0.1 * to_receiver => "at the sender",
            () if to_receiver < 0.1 * to_sender => "at the receiver",
            () => "between sender and receiver",
        },
        _ => "at an unknown place",
    };
    found.says.push(format!("captured {place}"));
    if !connection.has_handshake() {
        found.says.push(match connection.half(true) {
            Some(_) => "the capture lacks the handshake: round trips come from acknowledgements and timestamps".into(),
            None => "the capture lacks the handshake and timestamps: the delay between capture and sender is unknown".into(),
        });
    }
    if connection.acks == 0 {
        found.says.push("the capture has no acknowledgements: the delay to the receiver and losses after the capture are unknown".into());
    }
    // A large packet's transmission time is not part of the round trip; the handshake's packets are small.
    let behind = connection.is_behind_bottleneck();
    let half = |to_sender: bool| {
        let less = |half: f64| if to_sender == behind { (half - packet_ms).max(0.0) } else { half };
        let first = connection.first_half(to_sender);
        let is_full = connection.begins_with_data() && to_sender;
        let first = if is_full { first.map(less) } else { first };
        match (first, connection.later_half(to_sender).map(less)) {
            (Some(first), Some(later)) => Some(first.min(later.max(0.9 * first))),
            (first, later) => first.or(later),
        }
    };
    let (to_sender, to_receiver) = (half(true), half(false));
    let rtt = match (to_sender, to_receiver) {
        (None, None) => return None,
        (to_sender, to_receiver) => to_sender.unwrap_or(0.0) + to_receiver.unwrap_or(0.0),
    };
    let how = match (to_sender, to_receiver) {
        (Some(_), Some(_)) => {
            "measured: the smallest round trip, without a packet's own time at the bottleneck"
        }
        _ => {
            "measured: the smallest time to one end and back; the delay to the other end is unknown: a lower bound"
        }
    };
    found.rtt_ms = Some(Said::new(rtt.clamp(TRIPS[0], TRIPS[1]), how));
    let trips = &connection.both;
    if trips.count > 0 {
        found.says.push(format!(
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

/// Measures the queue; returns the share of losses that it caused.
fn queue(connection: &Connection, found: &mut Found, rate: f64, rtt: Option<f64>, packet_ms: f64) -> f64 {
    let trips = if connection.is_behind_bottleneck() { &connection.to_sender } else { &connection.both };
    if trips.count < FEWEST || rtt.is_none() {
        found.says.push("the queue's length is unknown: the capture has too few round trips".into());
        return 0.0;
    }
    let (low, high) = (trips.smallest, trips.quantile(0.995));
    let bytes = (high - low).max(0.0) / 1000.0 * rate / 8.0;
    if high - low < SHORTEST_QUEUE * packet_ms {
        found.says.push("no queue built up: its limit is unknown".into());
        return 0.0;
    }
    // Overflow losses occur near the largest round trip, other losses at any time.
    let full = low + 0.85 * (high - low);
    let all = connection.repairs.rtts_at_losses.len() as f64;
    let at_full =
        connection.repairs.rtts_at_losses.iter().filter(|rtt| f64::from(**rtt) * 1000.0 >= full).count()
            as f64;
    let usual = trips.share_above(full);
    let by_chance = if usual < 0.9 { ((all - at_full) / (1.0 - usual)).min(all) } else { 0.0 };
    let by_queue = if all > 0.0 { 1.0 - by_chance / all } else { 0.0 };
    let overflowed = all > 0.0 && by_queue * all >= 1.0 && by_queue > 0.05;
    let text = format!("{} ms", shown(high - low));
    let bytes = libm::round(bytes.clamp(3000.0, LARGEST_QUEUE)) as u64;
    if overflowed {
        found.says.push(format!(
            "the queue grew to {text}; {} % of the losses occurred near a full queue and count as overflows",
            shown((100.0 * by_queue).round())
        ));
        found.queue = Some(Said::new(
            format!("{bytes} bytes"),
            "derived: the largest delay in the queue, when it overflowed, times the rate",
        ));
        by_queue
    } else {
        found.says.push(format!("the queue grew to {text} and did not overflow: its limit is unknown"));
        found.queue = Some(Said::new(
            format!("{} bytes", 2 * bytes),
            "assumed: twice the longest queue observed, which did not overflow",
        ));
        0.0
    }
}

fn losses(connection: &Connection, found: &mut Found, by_queue: f64, ask: &Ask) -> Result<(), Refusal> {
    let repairs = &connection.repairs;
    let record: Record = repairs.record();
    let (lost, sent) = (record.lost(), record.packets());
    let percent = |share: f64| shown(100.0 * share);
    let share = lost as f64 / sent.max(1) as f64;
    found.says.push(format!(
        "{lost} of {sent} transmissions were lost ({} %): {} before the capture, {} after it",
        percent(share),
        repairs.before,
        repairs.behind
    ));
    for (count, what) in [
        (repairs.needless, "retransmissions were unnecessary"),
        (repairs.reordered, "packets were reordered, not lost"),
        (repairs.unseen, "acknowledged packets are missing from the capture"),
        (
            repairs.jumps,
            "times the sequence numbers jumped by more than a window: gaps of this size do not count as losses",
        ),
        (
            repairs.forgotten,
            "packets have no acknowledgement in the capture and do not count for round trips",
        ),
    ] {
        if count > 0 {
            found.says.push(format!("{count} {what}"));
        }
    }
    let on_air = (1.0 - by_queue).max(0.0) * lost as f64;
    if on_air < 1.0 || sent == 0 {
        return Ok(());
    }
    if by_queue <= 0.0 && ask.model.is_none_or(|model| model != Model::Iid) {
        // All losses are the channel's; the order of the packets shows the bursts.
        let fit = fitted(&record, ask.model)?;
        found.channel = Some(fit.channel());
        found.says.extend(fit.says());
        found.fit = fit.table();
        return Ok(());
    }
    let loss = (on_air / sent as f64).clamp(1e-9, 0.999);
    found.channel = Some(Said::new(
        format!("{{ kind = \"iid\", loss = {} }}", shown(loss)),
        "derived: the losses that the queue did not cause; their bursts are unknown, because both kinds are mixed",
    ));
    found.says.push(
        "the numbers of channel losses and queue overflows are estimates; single losses are not attributed"
            .into(),
    );
    Ok(())
}
