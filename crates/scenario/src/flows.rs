//! Reads the tables under `flow`: sources, destinations and traffic.

use crate::applications;
use crate::arrivals::{self, TransferArrival};
use crate::dscp;
use crate::fields::{FieldValue, Fields};
use crate::key::Key;
use crate::language::{self, MAX_FLOWS};
use crate::links::{Network, check_name};
use crate::problem::Problem;
use crate::profiles;
use crate::reader::{TableHead, TableReader};
use crate::replicas::{self, VariedKey};
use crate::resolved::{Detail, Resolved};
use crate::scenario::{ChosenStack, Flow, Pattern, Traffic, Transfer};
use crate::source::Span;
use crate::suggest::among;
use crate::tree::{TomlEntry, TomlTable};
use lasthop_base::{Choice, Duration, Info, Need, Rate, Spread, Time, Value};
use lasthop_stack::quic::{ControlFrom, Settings};
use lasthop_stack::transport::{self, Transport};
use lasthop_tcp::Config;
use lasthop_tcp::config::UserTimeouts;
use lasthop_tcp::profile::{self, Profile};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

pub(crate) struct PlacedFlow {
    pub(crate) flow: Flow,
    pub(crate) place: Span,
}

/// Reads all flows. Each replica of a flow (key `count`) becomes a separate flow.
pub(crate) fn read(
    reader: &mut TableReader<'_>,
    entries: &[TomlEntry],
    net: &Network,
    duration: Duration,
) -> Result<Vec<PlacedFlow>, Problem> {
    let mut flows: Vec<PlacedFlow> = Vec::new();
    for entry in entries {
        check_name(reader, "flow", entry)?;
        flow(reader, entry, net, duration, &mut flows)?;
    }
    Ok(flows)
}

fn flow(
    reader: &mut TableReader<'_>,
    entry: &TomlEntry,
    net: &Network,
    duration: Duration,
    flows: &mut Vec<PlacedFlow>,
) -> Result<(), Problem> {
    let path = format!("flow.{}", entry.key);
    let head = TableHead { path: &path, place: entry.place };
    let table = reader.table(TableHead { path: "flow", place: entry.place }, entry)?;
    let count = table.find("count").and_then(|count| count.node.scalar()?.parse().ok()).unwrap_or(1);
    let varied = replicas::varied_keys(reader, head, table, count)?;
    if varied.is_empty() {
        equal_flows(reader, entry, table, net, duration, flows)
    } else {
        varied_flows(reader, entry, table, &varied, net, duration, flows)
    }
}

/// Reads the replicas of a flow with values that differ between the replicas (lists, mixes and ranges). Replicas with
/// the same values are read only once.
fn varied_flows(
    reader: &mut TableReader<'_>,
    entry: &TomlEntry,
    table: &TomlTable,
    varied: &[VariedKey],
    net: &Network,
    duration: Duration,
    flows: &mut Vec<PlacedFlow>,
) -> Result<(), Problem> {
    let path = format!("flow.{}", entry.key);
    let head = TableHead { path: &path, place: entry.place };
    let shared = |key: &str| varied.iter().find(|varied| varied.path == [key]);
    if let Some(wrong) = ["count", "stagger", "kind", "arrivals"].into_iter().find_map(shared) {
        return Err(reader
            .problem(
                wrong.place,
                format!(
                    "{}: the value must be the same for all \
            replicas",
                    head.key(&wrong.path.join("."))
                ),
            )
            .help("write one value"));
    }
    let fields = some_keys(reader, head, table, &["count", "stagger"])?;
    let count = fields.count("count").unwrap_or(1);
    if count < 2 || table.find("arrivals").is_some() {
        let key = head.key(&varied[0].path.join("."));
        return Err(reader
            .problem(varied[0].place, format!("{key}: a list or mix needs several replicas"))
            .help("set count = 20, without `arrivals`; or write one value"));
    }
    if flows.len() as u64 + count > MAX_FLOWS {
        return Err(too_many(reader, head, entry, &fields, "count"));
    }
    let stagger = fields.duration("stagger").unwrap_or(Duration::ZERO);
    let assigned: Vec<Vec<usize>> =
        varied.iter().map(|varied| varied.assigned(&entry.key, count as usize)).collect();
    let mut known: BTreeMap<Vec<usize>, PlacedFlow> = BTreeMap::new();
    for replica in 0..count as usize {
        let values: Vec<usize> = assigned.iter().map(|values| values[replica]).collect();
        let PlacedFlow { flow, place } = match known.entry(values) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let is_first = replica == 0;
                let one = read_variant(reader, entry, table, varied, new.key(), is_first, net, duration)?;
                new.insert(one)
            }
        };
        let start = flow.start + stagger * replica as u64;
        if start + flow.start_spread >= Time::ZERO + duration {
            let place = fields.place("stagger").unwrap_or(*place);
            let start = start.since(Time::ZERO);
            return Err(reader
                .problem(place, format!("{path}.stagger: a flow would begin at {start}, after the run's end"))
                .help(format!("the run ends at {duration} (`duration`)")));
        }
        let name = format!("{}.{}", entry.key, replica + 1);
        flows.push(PlacedFlow { flow: Flow { name, start, ..flow.clone() }, place: *place });
    }
    for varied in varied {
        let (mut toml, last) = (String::new(), varied.path.len() - 1);
        varied.written.push_toml(&mut toml);
        let table = varied.path[..last].iter().fold(path.clone(), |path, key| format!("{path}.{key}"));
        reader.resolved.vary(&table, &varied.path[last], &toml);
    }
    reader.resolved.vary(&path, "count", &count.to_string());
    Ok(())
}

/// Reads the flow with one combination of the values that differ between replicas. Only the first combination is
/// recorded for `show` (`is_recorded`).
#[expect(clippy::too_many_arguments, reason = "a step of `varied_flows`")]
fn read_variant(
    reader: &mut TableReader<'_>,
    entry: &TomlEntry,
    table: &TomlTable,
    varied: &[VariedKey],
    values: &[usize],
    is_recorded: bool,
    net: &Network,
    duration: Duration,
) -> Result<PlacedFlow, Problem> {
    let mut one = table.clone();
    for (varied, value) in varied.iter().zip(values) {
        varied.substitute(&mut one, *value);
    }
    one.entries.retain(|entry| entry.key != "count" && entry.key != "stagger");
    let recorded =
        (!is_recorded).then(|| std::mem::replace(&mut reader.resolved, Resolved::new(Detail::Nothing)));
    let mut flows = Vec::new();
    let done = equal_flows(reader, entry, &one, net, duration, &mut flows);
    if let Some(recorded) = recorded {
        reader.resolved = recorded;
    }
    done?;
    match flows.pop() {
        Some(flow) => Ok(flow),
        None => Err(reader.problem(entry.place, format!("flow.{}: no flow begins", entry.key))),
    }
}

fn too_many(
    reader: &TableReader<'_>,
    head: TableHead<'_>,
    entry: &TomlEntry,
    fields: &Fields,
    key: &str,
) -> Problem {
    let place = fields.place(key).unwrap_or(entry.place);
    reader
        .problem(place, format!("{}.{key}: more than {MAX_FLOWS} flows in total", head.path))
        .help("make `count` smaller")
}

/// Reads only the keys in `names`, and applies no defaults.
fn some_keys(
    reader: &TableReader<'_>,
    head: TableHead<'_>,
    table: &TomlTable,
    names: &[&str],
) -> Result<Fields, Problem> {
    let is_wanted = |name: &str| names.contains(&name);
    let keys: Vec<Key> =
        language::plain_flow("tcp").iter().filter(|key| is_wanted(key.name)).cloned().collect();
    let entries = table.entries.iter().filter(|entry| is_wanted(&entry.key)).cloned().collect();
    reader.given(head, &TomlTable { entries }, &keys)
}

/// Reads a flow whose replicas are equal.
fn equal_flows(
    reader: &mut TableReader<'_>,
    entry: &TomlEntry,
    table: &TomlTable,
    net: &Network,
    duration: Duration,
    flows: &mut Vec<PlacedFlow>,
) -> Result<(), Problem> {
    let path = format!("flow.{}", entry.key);
    let head = TableHead { path: &path, place: entry.place };
    let kind = kind(reader, head, table)?;
    let fields = reader.read(head, table, &[], &language::flow(reader.catalogue, kind))?;
    let from = end_node(reader, head, &fields, net, "from")?;
    let to = end_node(reader, head, &fields, net, "to")?;
    let place = fields.place("to").unwrap_or(entry.place);
    if from == to {
        return Err(reader
            .problem(place, format!("{path}.to: a flow from `{}` to itself crosses no link", net.nodes[from]))
            .label("the same node as `from`")
            .help("name another node"));
    }
    let count = fields.count("count").unwrap_or(1);
    if flows.len() as u64 + count > MAX_FLOWS {
        return Err(too_many(reader, head, entry, &fields, "count"));
    }
    let (first, last) = starts(reader, head, &fields, count, duration)?;
    let stop = stop(reader, head, &fields, last)?;
    let traffic = match fields.rate("rate") {
        None => tcp(reader, head, table, &fields)?,
        Some(rate) => datagrams(&fields, rate, stop),
    };
    let stack = match &traffic {
        Traffic::Tcp { source, .. } if kind == language::QUIC => {
            Some(Box::new(chosen_stack(reader, head, table, &fields, source)?))
        }
        _ => {
            for seam in reader.catalogue.of_side("flow") {
                reader.resolved.omit(&path, seam.name);
            }
            None
        }
    };
    let span = |key| fields.duration(key).unwrap_or(Duration::ZERO);
    let opaque = fields.flag("opaque").unwrap_or(false);
    let dscp = fields.value("dscp").and_then(dscp::of_value).unwrap_or(0);
    let (stagger, mut start_spread) = (span("stagger"), span("start_spread"));
    let (processing, extra_delay) = (span("processing"), span("extra_delay"));
    let each: Vec<(Time, Traffic)> = match fields.text("arrivals") {
        Some(text) => match arrivals::process_of(text) {
            Some(every) => {
                if start_spread == Duration::ZERO {
                    start_spread = (Time::ZERO + duration).since(first);
                }
                let number = poisson_transfers(reader, head, &fields, every, start_spread, &traffic)?;
                (0..number).map(|_| (first, traffic.clone())).collect()
            }
            None => transfers_from_file(reader, head, &fields, text, (first, duration), &traffic)?,
        },
        None => (0..count).map(|number| (first + stagger * number, traffic.clone())).collect(),
    };
    if flows.len() + each.len() > MAX_FLOWS as usize {
        let place = fields.place("arrivals").unwrap_or(entry.place);
        return Err(reader
            .problem(place, format!("{path}.arrivals: more than {MAX_FLOWS} flows in total"))
            .help("leave some transfers out"));
    }
    let is_one = each.len() == 1;
    for (number, (start, traffic)) in each.into_iter().enumerate() {
        let name = if is_one { entry.key.clone() } else { format!("{}.{}", entry.key, number + 1) };
        let opaque = opaque || stack.is_some();
        let flow = Flow {
            name,
            from,
            to,
            start,
            start_spread,
            processing,
            extra_delay,
            dscp,
            opaque,
            traffic,
            stack: stack.clone(),
        };
        flows.push(PlacedFlow { flow, place });
    }
    Ok(())
}

/// Returns the number of transfers of a Poisson process with the mean interval `every` over `period`. The number is the
/// same in every run. The start times are then independent and uniform over the period, as in a Poisson process with a
/// given number of arrivals.
fn poisson_transfers(
    reader: &TableReader<'_>,
    head: TableHead<'_>,
    fields: &Fields,
    every: &str,
    period: Duration,
    traffic: &Traffic,
) -> Result<u64, Problem> {
    let place = |key| fields.place(key).unwrap_or(head.place);
    let key = head.key("arrivals");
    let other = match () {
        () if fields.count("count").is_some_and(|count| count > 1) => Some("count"),
        () if fields.duration("stagger").is_some_and(|span| span > Duration::ZERO) => Some("stagger"),
        () => None,
    };
    if let Some(other) = other {
        let message =
            format!("{}: `arrivals` already sets the number of transfers and their starts", head.key(other));
        return Err(reader.problem(place(other), message).help(format!("leave `{other}` or `arrivals` out")));
    }
    let is_finite =
        matches!(traffic, Traffic::Tcp { transfer: Transfer::Bytes(_) | Transfer::Drawn { .. }, .. });
    if !is_finite {
        return Err(reader
            .problem(
                place("arrivals"),
                format!("{key}: a Poisson process needs the mean size of its transfers"),
            )
            .help("set transfer = \"100 KB\", and sizes = \"web\" if sizes vary"));
    }
    let every = match arrivals::INTERVAL.parse(every) {
        Ok(Value::Duration(every)) => every,
        _ => {
            return Err(reader
                .problem(
                    place("arrivals"),
                    format!("{key}: `{every}` is not a mean interval from 1 us to 1 day"),
                )
                .help("write arrivals = \"poisson 80 ms\", or the name of a file"));
        }
    };
    let number = (period.as_secs() / every.as_secs() + 0.5) as u64;
    if number == 0 {
        return Err(reader
            .problem(place("arrivals"), format!("{key}: no transfer begins within {period}"))
            .help("write a shorter mean interval, or a longer `start_spread` or `duration`"));
    }
    if number > MAX_FLOWS {
        return Err(reader
            .problem(place("arrivals"), format!("{key}: more than {MAX_FLOWS} flows in total"))
            .help("write a longer mean interval"));
    }
    Ok(number)
}

fn transfers_from_file(
    reader: &TableReader<'_>,
    head: TableHead<'_>,
    fields: &Fields,
    file: &str,
    (first, duration): (Time, Duration),
    traffic: &Traffic,
) -> Result<Vec<(Time, Traffic)>, Problem> {
    let spans = |key| fields.duration(key).is_some_and(|span| span > Duration::ZERO);
    let other = match () {
        () if fields.count("count").is_some_and(|count| count > 1) => Some("count"),
        () if spans("stagger") => Some("stagger"),
        () if spans("start_spread") => Some("start_spread"),
        () if matches!(
            traffic,
            Traffic::Tcp { transfer: Transfer::Bytes(_) | Transfer::Drawn { .. } | Transfer::Fed, .. }
        ) =>
        {
            Some("transfer")
        }
        () => None,
    };
    if let Some(other) = other {
        let key = head.key(other);
        let message = format!("{key}: `arrivals` already sets the start and size of each transfer");
        return Err(reader
            .problem(fields.place(other).unwrap_or(head.place), message)
            .help(format!("leave `{other}` or `arrivals` out")));
    }
    let (key, place) = (head.key("arrivals"), fields.place("arrivals").unwrap_or(head.place));
    let all = arrivals::read(reader, &key, file, place)?;
    let end = Time::ZERO + duration;
    let of = |TransferArrival { after, bytes }: TransferArrival| {
        let mut traffic = traffic.clone();
        if let Traffic::Tcp { transfer, .. } = &mut traffic {
            *transfer = Transfer::Bytes(bytes);
        }
        (first + after, traffic)
    };
    let each: Vec<(Time, Traffic)> = all.into_iter().map(of).take_while(|(start, _)| *start < end).collect();
    if each.is_empty() {
        Err(reader
            .problem(place, format!("{key}: no transfer begins before the run ends"))
            .help(format!("the run ends at {duration} (`duration`)")))
    } else {
        Ok(each)
    }
}

/// Returns the flow's kind of traffic, which determines its valid keys.
fn kind(reader: &TableReader<'_>, head: TableHead<'_>, table: &TomlTable) -> Result<&'static str, Problem> {
    Ok(some_keys(reader, head, table, &["kind"])?.word("kind").unwrap_or("tcp"))
}

fn end_node(
    reader: &TableReader<'_>,
    head: TableHead<'_>,
    fields: &Fields,
    net: &Network,
    key: &str,
) -> Result<usize, Problem> {
    let name = fields.text(key).unwrap_or_default();
    net.node(name).ok_or_else(|| {
        let nodes: Vec<&str> = net.nodes.iter().map(String::as_str).collect();
        let place = fields.place(key).unwrap_or(head.place);
        reader
            .problem(place, format!("{}: no link has a node `{name}`", head.key(key)))
            .label("unknown node")
            .help(among(name, "nodes", &nodes))
    })
}

/// Returns the start time of the first replica, and the latest possible start time of the last replica.
fn starts(
    reader: &TableReader<'_>,
    head: TableHead<'_>,
    fields: &Fields,
    count: u64,
    duration: Duration,
) -> Result<(Time, Time), Problem> {
    let first = Time::ZERO + fields.duration("start").unwrap_or(Duration::ZERO);
    let last = first + fields.duration("stagger").unwrap_or(Duration::ZERO) * (count - 1);
    let latest = last + fields.duration("start_spread").unwrap_or(Duration::ZERO);
    let end = Time::ZERO + duration;
    for (key, start) in [("start", first), ("stagger", last), ("start_spread", latest)] {
        if start >= end {
            let place = fields.place(key).unwrap_or(head.place);
            let start = start.since(Time::ZERO);
            return Err(reader
                .problem(
                    place,
                    format!("{}: a flow would begin at {start}, after the run's end", head.key(key)),
                )
                .help(format!("the run ends at {duration} (`duration`)")));
        }
    }
    Ok((first, latest))
}

/// Returns the time at which the flow stops. Fails if the flow may begin after that time.
fn stop(
    reader: &TableReader<'_>,
    head: TableHead<'_>,
    fields: &Fields,
    last_start: Time,
) -> Result<Option<Time>, Problem> {
    let stop = fields.duration("stop").map(|stop| Time::ZERO + stop);
    if stop.is_some_and(|stop| stop <= last_start) {
        let place = fields.place("stop").unwrap_or(head.place);
        let start = last_start.since(Time::ZERO);
        return Err(reader
            .problem(place, format!("{}: the flow ends before its start at {start}", head.key("stop")))
            .help("`stop` is a time in the run, not a length; leave it out to send until the run ends"));
    }
    Ok(stop)
}

fn datagrams(fields: &Fields, rate: Rate, stop: Option<Time>) -> Traffic {
    let pattern = match (fields.duration("on"), fields.duration("off")) {
        (Some(on), Some(off)) => {
            Pattern::OnOff { on, off, exponential: fields.word("period") == Some("exponential") }
        }
        _ => Pattern::Constant,
    };
    let packet = fields.bytes("packet").unwrap_or(1) as u32;
    let jitter = fields.duration("jitter").unwrap_or(Duration::ZERO);
    let burst = fields.count("burst").unwrap_or(1) as u32;
    Traffic::Datagrams { rate, packet, stop, pattern, jitter, burst }
}

fn tcp(
    reader: &mut TableReader<'_>,
    head: TableHead<'_>,
    table: &TomlTable,
    fields: &Fields,
) -> Result<Traffic, Problem> {
    let transfer = match (applications::read(reader, head, fields)?, fields.find("transfer")) {
        (Some(transfer), _) => transfer,
        (None, Some(FieldValue::Value(Value::Bytes(bytes)))) => {
            match fields.word("sizes").and_then(Spread::named).unwrap_or_default() {
                Spread::Fixed => Transfer::Bytes(*bytes),
                sizes => Transfer::Drawn { mean: *bytes, sizes },
            }
        }
        _ => Transfer::Bulk,
    };
    let mut both = Config::default();
    both.segment = fields.bytes("segment").map_or(both.segment, |bytes| bytes as u32);
    both.sack = fields.flag("sack").unwrap_or(both.sack);
    both.dsack = fields.flag("dsack").unwrap_or(both.dsack);
    both.timestamps = fields.flag("timestamps").unwrap_or(both.timestamps);
    both.timestamp_tick = fields.duration("timestamp_tick").unwrap_or(both.timestamp_tick);
    both.ecn = fields.flag("ecn").unwrap_or(both.ecn);
    both.nagle = fields.flag("nagle").unwrap_or(both.nagle);
    both.time_wait = fields.duration("time_wait").unwrap_or(both.time_wait);
    // A simulated application waits until the run ends, so it has no user timeout.
    both.user_timeouts = UserTimeouts { data: None, syn: None, ..both.user_timeouts };
    let (mut source, mut destination) = (both.clone(), both);
    let profile = fields.word("profile").and_then(profile::find).unwrap_or(profile::DEFAULT);
    let sender = read_endpoint(reader, head, table, profile, "sender", &mut source)?;
    timers(reader, &head.key("sender"), &sender, &mut source)?;
    read_endpoint(reader, head, table, profile, "receiver", &mut destination)?;
    if let Transfer::Exchanges(_) | Transfer::OnDemand { .. } = transfer {
        configure_reverse_halves(reader, head, profile, (&mut source, &mut destination))?;
    }
    let is_accurate = match fields.word("ecn_feedback") {
        Some("classic") => false,
        Some("accurate") => true,
        _ => source.congestion.info.scalable,
    };
    (source.accecn, destination.accecn) = (is_accurate, is_accurate);
    Ok(Traffic::Tcp { transfer, source: source.into(), destination: destination.into() })
}

/// Smallest UDP payload of a full datagram (RFC 9000 §14), bytes.
const SMALLEST_DATAGRAM: u64 = 1200;
/// Difference in bytes between the IPv4 and TCP headers with timestamps (52) and the IPv4 and UDP headers (28).
const LONGER_HEADERS: u64 = 24;

/// Returns the transport that replaces TCP in a flow, configured by keys that TCP flows also have.
fn chosen_stack(
    reader: &TableReader<'_>,
    head: TableHead<'_>,
    table: &TomlTable,
    fields: &Fields,
    source: &Config,
) -> Result<ChosenStack, Problem> {
    let mut transport = Choice::of(&transport::DEFAULT);
    for seam in reader.catalogue.of_side("flow") {
        if let Some(selection) = fields.selection(seam.name) {
            reader.catalogue.transport.select(&mut transport, seam, selection);
        }
    }
    let datagram = u64::from(source.segment) + LONGER_HEADERS;
    let control = match (transport.build)(&transport.values) {
        Transport::Own(_) => None,
        Transport::Quic(settings) => {
            if datagram < SMALLEST_DATAGRAM {
                let least = SMALLEST_DATAGRAM - LONGER_HEADERS;
                let message = format!(
                    "{}: a full QUIC datagram has at least {SMALLEST_DATAGRAM} bytes",
                    head.key("segment")
                );
                return Err(reader
                    .problem(fields.place("segment").unwrap_or(head.place), message)
                    .help(format!("set segment = \"{least} bytes\" or more")));
            }
            let place = table.find("sender").map_or(head.place, |entry| entry.place);
            control_of(reader, head, place, source, (transport.info.name, &settings))?
        }
    };
    Ok(ChosenStack {
        transport,
        control,
        datagram: u16::try_from(datagram).unwrap_or(u16::MAX),
        initial_window: source.initial_window,
        ecn: source.ecn,
    })
}

/// Returns the congestion control of the QUIC library that the flow uses. Returns `None` if the flow uses Lasthop's
/// congestion control, which the source's TCP configuration selects.
fn control_of(
    reader: &TableReader<'_>,
    head: TableHead<'_>,
    place: Span,
    source: &Config,
    (stack, settings): (&str, &Settings),
) -> Result<Option<&'static str>, Problem> {
    let (info, key) = (source.congestion.info, head.key("sender.congestion"));
    match (settings.control_from, info.quic_name) {
        (ControlFrom::Library | ControlFrom::Either, Some(own)) => Ok(Some(own)),
        (ControlFrom::Library, None) => {
            let known = reader.catalogue.tcp.congestion.info().mechanisms.iter();
            let known: Vec<&str> =
                known.filter(|info| info.quic_name.is_some()).map(|info| info.name).collect();
            let message = format!("{key}: {stack} has no congestion control `{}` of its own", info.name);
            let help = format!(
                "set one of: {}; or stack = {{ kind = \"noq\", control = \"auto\" }}, which runs every control",
                known.join(", ")
            );
            Err(reader.problem(place, message).help(help))
        }
        _ if info.scalable => {
            let message = format!(
                "{key}: `{}` needs the number of marked bytes, which a QUIC library does not report",
                info.name
            );
            Err(reader.problem(place, message).help("choose another congestion control, or kind = \"tcp\""))
        }
        _ => Ok(None),
    }
}

/// Configures the reverse direction of a flow with requests and responses: the sender and the receiver of the requests.
/// The scenario has no tables for this direction, so the profile determines all values of the direction.
fn configure_reverse_halves(
    reader: &mut TableReader<'_>,
    head: TableHead<'_>,
    profile: &Profile,
    (source, destination): (&mut Config, &mut Config),
) -> Result<(), Problem> {
    // Discards the record of these values, because `show` does not print the reverse direction.
    let resolved = std::mem::replace(&mut reader.resolved, Resolved::new(Detail::Nothing));
    let nothing = TomlTable::default();
    let sender = read_endpoint(reader, head, &nothing, profile, "sender", destination);
    let done = sender.and_then(|fields| timers(reader, &head.key("sender"), &fields, destination));
    let done = done.and_then(|()| read_endpoint(reader, head, &nothing, profile, "receiver", source));
    reader.resolved = resolved;
    done.map(|_| ())
}

/// Reads the table `sender` or `receiver` and configures the mechanisms of that endpoint.
fn read_endpoint(
    reader: &mut TableReader<'_>,
    flow: TableHead<'_>,
    table: &TomlTable,
    profile: &Profile,
    side: &str,
    config: &mut Config,
) -> Result<Fields, Problem> {
    let empty = TomlTable::default();
    let (own, place) = match table.find(side) {
        Some(entry) => (reader.table(flow, entry)?, entry.place),
        None => (&empty, flow.place),
    };
    let path = flow.key(side);
    let head = TableHead { path: &path, place };
    let keys = match side {
        "sender" => language::sender(reader.catalogue),
        _ => language::receiver(reader.catalogue),
    };
    let keys = profiles::applied(keys, profile, side, own);
    let fields = reader.read(head, own, &[], &keys)?;
    for seam in reader.catalogue.of_side(side) {
        let Some(selection) = fields.selection(seam.name) else { continue };
        if let Some(missing) = missing_option(selection.info, config) {
            let place = fields.place(seam.name).unwrap_or(place);
            let message =
                format!("{}: `{}` needs {missing} = true", head.key(seam.name), selection.info.name);
            return Err(reader
                .problem(place, message)
                .help(format!("set {missing} = true in [{}], or choose another mechanism", flow.path)));
        }
        reader.catalogue.tcp.select(config, seam, selection);
    }
    Ok(fields)
}

/// Returns a TCP option that the mechanism needs but the flow does not offer.
fn missing_option(mechanism: &Info, config: &Config) -> Option<&'static str> {
    let is_offered = |need: &Need| match need {
        Need::Sack => config.sack,
        Need::Timestamps => config.timestamps,
    };
    mechanism.needs.iter().find(|need| !is_offered(need)).map(|need| need.key())
}

fn timers(reader: &TableReader<'_>, path: &str, fields: &Fields, config: &mut Config) -> Result<(), Problem> {
    config.initial_window = fields.count("initial_window").map_or(config.initial_window, |n| n as u32);
    config.initial_ssthresh = match fields.find("initial_ssthresh") {
        Some(FieldValue::Value(Value::Bytes(bytes))) => Some(*bytes),
        _ => None,
    };
    config.validates_window = fields.flag("validate_window").unwrap_or(config.validates_window);
    config.validates_as_linux = fields.word("validate_by") == Some("linux");
    config.ecn_waits = fields.flag("ecn_waits").unwrap_or(config.ecn_waits);
    config.has_persist_state = fields.flag("freeze").unwrap_or(config.has_persist_state);
    config.f_rto = fields.flag("f_rto").unwrap_or(config.f_rto);
    config.dsack_undo = fields.flag("dsack_undo").unwrap_or(config.dsack_undo);
    config.eifel = fields.flag("eifel").unwrap_or(config.eifel);
    config.undo_whole = fields.word("undo") == Some("linux");
    config.loss_window_in_flight = fields.word("loss_window") == Some("in_flight");
    config.sack_rtt = fields.flag("sack_rtt").unwrap_or(config.sack_rtt);
    let limits = &mut config.rto;
    limits.smallest = fields.duration("min_rto").unwrap_or(limits.smallest);
    limits.largest = fields.duration("max_rto").unwrap_or(limits.largest);
    limits.initial = fields.duration("initial_rto").unwrap_or(limits.initial);
    limits.tick = fields.duration("tick").unwrap_or(limits.tick);
    limits.above_srtt = fields.word("rto") == Some("linux");
    let ordered = [("min_rto", limits.smallest), ("initial_rto", limits.initial)];
    match ordered.into_iter().find(|(_, span)| *span > limits.largest) {
        None => Ok(()),
        Some((key, span)) => {
            let Some(place) = fields.place(key) else { return Ok(()) };
            Err(reader
                .problem(place, format!("{path}.{key}: {span} is longer than max_rto, {}", limits.largest))
                .help("make the time shorter, or make max_rto longer"))
        }
    }
}
