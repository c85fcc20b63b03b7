//! Keys of a link and of its directions.

use super::{TIME, seam_keys};
use crate::catalogue::Catalogue;
use crate::key::{Key, ValueType};
use crate::problem::Problem;
use crate::reader::CheckedTable;
use crate::text::plain;
use lasthop_base::{Duration, Unit, Value};
use lasthop_net::Config;
use lasthop_net::steps::{PlanValue, Steps};
use std::sync::LazyLock;

pub(crate) fn link_ends() -> &'static [Key] {
    static KEYS: LazyLock<Vec<Key>> = LazyLock::new(listed_link_ends);
    &KEYS
}

fn listed_link_ends() -> Vec<Key> {
    vec![
        Key::required("from", ValueType::Node, "upstream node; `down` is the direction from -> to"),
        Key::required("to", ValueType::Node, "downstream node"),
        Key::optional(
            "cell",
            ValueType::Text,
            "home",
            "name of the shared medium; all links with this name share it (with arq = \"wifi\")",
        ),
        Key::table("down", "keys that differ in the direction from -> to"),
        Key::table("up", "keys that differ in the direction to -> from"),
    ]
}

type SetConfig = fn(&CheckedTable<'_>, &mut Config) -> Result<(), Problem>;

/// Returns the keys of one direction of a link. A link's own table may also contain these keys, to set both directions.
pub(crate) fn direction(catalogue: &Catalogue) -> Vec<Key> {
    DIRECTION.iter().map(|(key, _)| key.clone()).chain(seam_keys(catalogue, "link")).collect()
}

/// Names of a direction's keys whose values are not mechanisms.
pub(super) fn direction_names() -> impl Iterator<Item = &'static str> {
    DIRECTION.iter().map(|(key, _)| key.name)
}

pub(crate) fn put_direction(given: &CheckedTable<'_>, config: &mut Config) -> Result<(), Problem> {
    DIRECTION.iter().try_for_each(|(_, put)| put(given, config))
}

/// Keys of a direction whose values are not mechanisms, each with the function that stores the value.
static DIRECTION: LazyLock<Vec<(Key, SetConfig)>> = LazyLock::new(|| {
    vec![
        (
            Key::optional(
                "rate",
                ValueType::Unit(Unit::Rate),
                "2 Mbit/s",
                "constant rate; alternatives: `plan`, `trace`",
            ),
            with_others,
        ),
        (
            Key::optional(
                "plan",
                ValueType::Text,
                "384 kbit/s for 10 s, 64 kbit/s for 10 s",
                "rate that changes at given times, in a repeating cycle; \"0 bit/s\" is an outage; \"5..20 Mbit/s\" \
                 is a rate drawn anew from this range each time",
            ),
            with_others,
        ),
        (
            Key::optional(
                "trace",
                ValueType::File,
                "link.down",
                "recorded rate: a packet-delivery trace in Mahimahi's format, next to the scenario's file",
            ),
            with_others,
        ),
        (
            Key::optional(
                "light",
                ValueType::File,
                "down-delay-light-pdo",
                "base delays and packet trains that CellReplay recorded with its heavy `trace`, for a sender that is \
                 not always busy",
            ),
            with_others,
        ),
        (
            Key::optional(
                "light_timer",
                ValueType::Unit(TIME),
                "0 s",
                "with `light`: idle time of the link before a train begins, whole ms",
            ),
            with_others,
        ),
        (
            Key::optional(
                "light_sizes",
                ValueType::File,
                "latency-offset-down",
                "with `light`: file of extra delays by packet size (CellReplay's latency-offset)",
            ),
            with_others,
        ),
        (
            Key::default(
                "one_way_delay",
                ValueType::Unit(Unit::Duration(Duration::ZERO, Duration::from_secs(1000))),
                plain(&Value::Duration(Duration::ZERO)),
                "propagation delay",
            ),
            |given, config| {
                config.delay = given.fields.duration("one_way_delay").unwrap_or(Duration::ZERO);
                Ok(())
            },
        ),
        (
            Key::optional(
                "delay_plan",
                ValueType::Text,
                "0..20 ms for 15 s",
                "delay added to one_way_delay at given times, in a repeating cycle; a value from a range is drawn \
                 anew each time and is the same up and down",
            ),
            |given, config| {
                config.delay_plan = steps(given, "delay_plan", "5 ms for 10 s, 20..60 ms for 15 s")?;
                Ok(())
            },
        ),
        (
            Key::optional(
                "loss_plan",
                ValueType::Text,
                "0 for 14.95 s, 50 % for 50 ms",
                "share of transmissions lost at given times, in a repeating cycle, in addition to the channel's losses",
            ),
            |given, config| {
                config.loss_plan = steps(given, "loss_plan", "0 for 14.95 s, 50 % for 50 ms")?;
                Ok(())
            },
        ),
        (
            Key::optional(
                "duplicate",
                ValueType::Unit(Unit::Probability(0.0, 1.0)),
                "0.1 %",
                "share of packets duplicated; the copy is enqueued directly behind the original and is not duplicated \
                 again",
            ),
            |given, config| {
                config.duplicate = given.fields.number("duplicate").unwrap_or(0.0);
                Ok(())
            },
        ),
        (
            Key::optional(
                "corrupt",
                ValueType::Unit(Unit::Probability(0.0, 1.0)),
                "0.1 %",
                "share of packets with a bit error that the link layer misses; they fail the checksum of the \
                 receiving host",
            ),
            |given, config| {
                config.corrupt = given.fields.number("corrupt").unwrap_or(0.0);
                Ok(())
            },
        ),
        (
            Key::optional(
                "residual_loss",
                ValueType::Unit(Unit::Probability(0.0, 1.0)),
                "1 %",
                "share of packets lost after the link layer, in addition to packets that the link gives up on; no `arq` \
                 retransmits these losses",
            ),
            |given, config| {
                config.residual_loss = given.fields.number("residual_loss").unwrap_or(0.0);
                Ok(())
            },
        ),
        (
            Key::optional(
                "residual_burst",
                ValueType::Unit(Unit::Number(1.0, 1e9)),
                "5",
                "with `residual_loss`: mean length of a loss burst, packets; default: independent losses",
            ),
            |given, config| {
                config.residual_burst = residual_burst(given)?;
                Ok(())
            },
        ),
    ]
});

/// Stores nothing, because `service` in the module `links` reads `rate`, `plan`, `trace` and their parameters together.
fn with_others(_: &CheckedTable<'_>, _: &mut Config) -> Result<(), Problem> {
    Ok(())
}

/// Returns the mean length of a burst of residual losses (losses after the ARQ), packets. Fails if bursts of this
/// length are impossible.
fn residual_burst(given: &CheckedTable<'_>) -> Result<Option<f64>, Problem> {
    /// Largest share of residual losses that can come in bursts. A larger share would leave almost no gap between two
    /// bursts.
    const MAX_LOSS: f64 = 0.999;
    let CheckedTable { reader, head, fields } = given;
    let (Some(burst), Some(place)) = (fields.number("residual_burst"), fields.place("residual_burst")) else {
        return Ok(None);
    };
    let key = head.key("residual_burst");
    match fields.number("residual_loss") {
        None => Err(reader
            .problem(place, format!("{key} needs `residual_loss`, the share of packets lost"))
            .help("write both: residual_loss = \"1 %\" and residual_burst = 5")),
        Some(loss) if loss > MAX_LOSS => Err(reader
            .problem(place, format!("{key}: losses of {} % leave no gap between bursts", loss * 100.0))
            .help(format!(
                "give a residual_loss of at most {} %, or leave residual_burst out",
                MAX_LOSS * 100.0
            ))),
        Some(_) => Ok(Some(burst)),
    }
}

fn steps<V: PlanValue>(
    CheckedTable { reader, head, fields }: &CheckedTable<'_>,
    key: &str,
    example: &str,
) -> Result<Option<Steps<V>>, Problem> {
    let (Some(text), Some(place)) = (fields.text(key), fields.place(key)) else { return Ok(None) };
    let steps = Steps::parse(text).map_err(|why| {
        reader
            .problem(place, format!("{}: {why}", head.key(key)))
            .help(format!("write it like \"{example}\""))
    })?;
    Ok(Some(steps))
}
