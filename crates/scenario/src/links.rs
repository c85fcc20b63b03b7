//! Reads the tables under `link`: nodes, links and the mechanisms of each direction.

use crate::cells;
use crate::fields::Fields;
use crate::key::{Key, ValueType};
use crate::language;
use crate::problem::Problem;
use crate::quantities::{NAMES, is_name};
use crate::reader::{CheckedTable, TableHead, TableReader};
use crate::scenario::Link;
use crate::source::Span;
use crate::traces;
use crate::tree::{TomlEntry, TomlTable};
use lasthop_base::{Duration, Rate};
use lasthop_net::link::Config;
use lasthop_net::service::{RatePlan, Service};
use std::sync::Arc;

#[derive(Debug, Default)]
pub(crate) struct Network {
    pub(crate) nodes: Vec<String>,
    pub(crate) links: Vec<Link>,
}

impl Network {
    pub(crate) fn node(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node == name)
    }

    fn add(&mut self, name: &str) -> usize {
        self.node(name).unwrap_or_else(|| {
            self.nodes.push(name.to_owned());
            self.nodes.len() - 1
        })
    }
}

pub(crate) fn read(reader: &mut TableReader<'_>, entries: &[TomlEntry]) -> Result<Network, Problem> {
    let mut net = Network::default();
    let mut keys = language::link_ends().to_vec();
    let ends = keys.len();
    keys.extend(language::direction(reader.catalogue));
    for entry in entries {
        let link = link(reader, entry, &keys, ends, &mut net)?;
        net.links.push(link);
    }
    cells::check(reader, entries, &net.links)?;
    Ok(net)
}

/// Reads one link. The first `ends` entries of `keys` belong to the link itself, and the rest to a direction.
fn link(
    reader: &mut TableReader<'_>,
    entry: &TomlEntry,
    keys: &[Key],
    ends: usize,
    net: &mut Network,
) -> Result<Link, Problem> {
    check_name(reader, "link", entry)?;
    let path = ["link.", &entry.key].concat();
    let head = TableHead { path: &path, place: entry.place };
    let table = reader.table(TableHead { path: "link", place: entry.place }, entry)?;
    // Checks all keys of the link's table, even keys that both directions override. The values are recorded later, for
    // each direction.
    reader.given(head, table, keys)?;
    refuse_rate_and_trace(reader, head, table)?;
    let (keys, of_direction) = keys.split_at(ends);
    let is_here = |entry: &TomlEntry| {
        keys.iter().any(|key| key.name == entry.key && !matches!(key.value_type, ValueType::Table))
    };
    let own = TomlTable { entries: table.entries.iter().filter(|entry| is_here(entry)).cloned().collect() };
    let fields = reader.read(head, &own, &[], keys)?;
    let (from, to) = (fields.text("from").unwrap_or_default(), fields.text("to").unwrap_or_default());
    if from == to {
        let place = fields.place("to").unwrap_or(entry.place);
        return Err(reader
            .problem(place, format!("{path}.to: a link from `{from}` to itself leads nowhere"))
            .label("the same node as `from`")
            .help("name another node: naming a node creates it"));
    }
    let (from, to) = (net.add(from), net.add(to));
    let down = direction(reader, entry, table, "down", of_direction)?;
    let up = direction(reader, entry, table, "up", of_direction)?;
    for (name, one, other) in [("down", &down, &up), ("up", &up, &down)] {
        refuse_status_without_way(reader, entry, name, [one, other])?;
    }
    let cell = fields.text("cell").map(str::to_owned);
    Ok(Link { name: entry.key.clone(), from, to, cell, down, up })
}

/// Refuses a name that cannot be part of a key path.
pub(crate) fn check_name(reader: &TableReader<'_>, what: &str, entry: &TomlEntry) -> Result<(), Problem> {
    if is_name(&entry.key) {
        Ok(())
    } else {
        Err(reader
            .problem(entry.place, format!("`{}` cannot be the name of a {what}", entry.key))
            .help(NAMES))
    }
}

/// Reads one direction. A value comes from the direction's own table, or else from the link's table, or else from the
/// default.
fn direction(
    reader: &mut TableReader<'_>,
    link: &TomlEntry,
    both: &TomlTable,
    name: &str,
    keys: &[Key],
) -> Result<Config, Problem> {
    let path = ["link.", &link.key, ".", name].concat();
    let empty = TomlTable::default();
    let (table, place) = match both.find(name) {
        Some(entry) => {
            let parent = format!("link.{}", link.key);
            (reader.table(TableHead { path: &parent, place: link.place }, entry)?, entry.place)
        }
        None => (&empty, link.place),
    };
    let head = TableHead { path: &path, place };
    refuse_rate_and_trace(reader, head, table)?;
    let has_own_service = SERVICES.iter().any(|key| table.find(key).is_some());
    let inherited: Vec<&TomlEntry> =
        both.entries.iter().filter(|entry| !(has_own_service && is_of_service(&entry.key))).collect();
    let fields = reader.read(head, table, &inherited, keys)?;
    let service = service(reader, head, &fields)?;
    let mut config = Config::wire(service, Duration::ZERO);
    config.light = traces::light(reader, head, &fields)?;
    if let (Some(_), Service::Trace(trace)) = (&config.light, &mut config.service) {
        *trace = Arc::new(trace.as_ref().clone().of_cells());
    }
    language::put_direction(&CheckedTable { reader, head, fields: &fields }, &mut config)?;
    for seam in reader.catalogue.of_side("link") {
        if let Some(selection) = fields.selection(seam.name) {
            reader.catalogue.link.select(&mut config, seam, selection);
        }
    }
    if let (Some(place), true) = (fields.place("light"), config.schedules_itself()) {
        let arq = config.arq.info.name;
        return Err(reader
            .problem(place, format!("{}: arq = \"{arq}\" schedules its own transmissions", head.key("light")))
            .help("the recording already includes the link layer: leave `light` or `arq` out"));
    }
    Ok(config)
}

/// Keys that set the rate of a direction. Each direction needs exactly one of them.
pub(crate) const SERVICES: [&str; 3] = ["rate", "plan", "trace"];

fn is_of_service(key: &str) -> bool {
    SERVICES.contains(&key) || traces::LIGHT_TRACE_KEYS.contains(&key)
}

fn refuse_rate_and_trace(
    reader: &TableReader<'_>,
    head: TableHead<'_>,
    table: &TomlTable,
) -> Result<(), Problem> {
    let mut given = SERVICES.iter().filter_map(|key| table.find(key));
    match (given.next(), given.next()) {
        (Some(one), Some(other)) => Err(reader
            .problem(other.place, format!("{} has both `{}` and `{}`", head.bracketed(), one.key, other.key))
            .label("a second setting of the rate")
            .help(
                "a link's rate is constant (`rate`), planned (`plan`) or recorded (`trace`): leave one out",
            )),
        _ => Ok(()),
    }
}

/// Refuses a link layer if the link's opposite direction cannot transmit its status PDUs.
fn refuse_status_without_way(
    reader: &TableReader<'_>,
    link: &TomlEntry,
    name: &str,
    [one, other]: [&Config; 2],
) -> Result<(), Problem> {
    let is_same = one.arq.info.name == other.arq.info.name;
    let Some(partner) = one.partner().filter(|_| !is_same) else { return Ok(()) };
    let arq = one.arq.info.name;
    let path = format!("link.{}", link.key);
    let opposite = if name == "down" { "up" } else { "down" };
    Err(reader
        .problem(link.place, format!("{path}.{name}.arq: {}", partner.why))
        .label(format!("`{opposite}` has arq = \"{}\"", other.arq.info.name))
        .help(format!("set {path}.{opposite}.arq = \"{arq}\", or {}", partner.remedy)))
}

fn service(reader: &TableReader<'_>, head: TableHead<'_>, fields: &Fields) -> Result<Service, Problem> {
    if let (Some(file), Some(place)) = (fields.text("trace"), fields.place("trace")) {
        return traces::read(reader, &head.key("trace"), file, place).map(Service::Trace);
    }
    if let (Some(text), Some(place)) = (fields.text("plan"), fields.place("plan")) {
        let plan = RatePlan::parse(text).map_err(|why| {
            reader
                .problem(place, format!("{}: {why}", head.key("plan")))
                .help("write it like \"384 kbit/s for 10 s, 64 kbit/s for 10 s\"")
        })?;
        return Ok(Service::Plan(Arc::new(plan)));
    }
    match fields.rate("rate") {
        Some(rate) => Ok(Service::Rate(rate)),
        None => Err(no_service(reader, head.place, head)),
    }
}

fn no_service(reader: &TableReader<'_>, place: Span, head: TableHead<'_>) -> Problem {
    reader
        .problem(place, format!("{} needs the key `rate`, `plan` or `trace`", head.bracketed()))
        .label("`rate` is missing")
        .help(format!(
            "write rate = \"{}\", here or in the link's own table for both directions",
            Rate::from_bps(2_000_000)
        ))
}
