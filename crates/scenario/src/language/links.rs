//! The keys of a link and of its directions.

use super::{TIME, answers};
use crate::catalogue::Catalogue;
use crate::key::{Form, Key};
use crate::text::plain;
use lasthop_base::{Duration, Unit, Value};
use std::sync::LazyLock;

/// A link's keys that concern both directions.
pub(crate) fn link_ends() -> &'static [Key] {
    static KEYS: LazyLock<Vec<Key>> = LazyLock::new(listed_link_ends);
    &KEYS
}

fn listed_link_ends() -> Vec<Key> {
    vec![
        Key::required("from", Form::Node, "node at the upper end"),
        Key::required("to", Form::Node, "node at the lower end"),
        Key::optional(
            "cell",
            Form::Text,
            "home",
            "name of the medium that it shares with other links that say the same (with arq = \"wifi\")",
        ),
        Key::table("down", "the direction from -> to, where it differs"),
        Key::table("up", "the direction to -> from, where it differs"),
    ]
}

/// The keys of one direction of a link, which a link's own table may hold for both.
pub(crate) fn direction(catalogue: &Catalogue) -> Vec<Key> {
    let mut keys = DIRECTION.clone();
    keys.extend(answers(catalogue, "link"));
    keys
}

/// What a direction has beside the answers to questions.
pub(super) static DIRECTION: LazyLock<Vec<Key>> = LazyLock::new(|| {
    vec![
        Key::optional("rate", Form::Unit(Unit::Rate), "2 Mbit/s", "constant rate; or else `plan` or `trace`"),
        Key::optional(
            "plan",
            Form::Text,
            "384 kbit/s for 10 s, 64 kbit/s for 10 s",
            "rate that changes at given times instead, from the start again after the last; \"0 bit/s\" is an outage, \
             \"5..20 Mbit/s\" another rate each time",
        ),
        Key::optional(
            "trace",
            Form::File,
            "link.down",
            "recorded rate instead: a packet-delivery trace in Mahimahi's format, beside the scenario's file",
        ),
        Key::optional(
            "light",
            Form::File,
            "down-delay-light-pdo",
            "base delays and packet trains that CellReplay recorded beside its heavy `trace`, for a sender that is not \
             always busy",
        ),
        Key::optional(
            "light_timer",
            Form::Unit(TIME),
            "0 s",
            "with `light`: how long the link must be at rest until a train begins, whole ms",
        ),
        Key::optional(
            "light_sizes",
            Form::File,
            "latency-offset-down",
            "with `light`: by how much packets are later by their size, CellReplay's latency-offset",
        ),
        Key::default(
            "one_way_delay",
            Form::Unit(Unit::Duration(Duration::ZERO, Duration::from_secs(1000))),
            plain(&Value::Duration(Duration::ZERO)),
            "propagation delay",
        ),
        Key::optional(
            "delay_plan",
            Form::Text,
            "0..20 ms for 15 s",
            "what comes to one_way_delay at given times, from the start again after the last; a range: another delay each \
             time, the same up and down",
        ),
        Key::optional(
            "loss_plan",
            Form::Text,
            "0 for 14.95 s, 50 % for 50 ms",
            "share of transmissions that is lost at given times beside what the channel destroys, from the start again \
             after the last",
        ),
        Key::optional(
            "duplicate",
            Form::Unit(Unit::Probability(0.0, 1.0)),
            "0.1 %",
            "share of packets that are there twice: the copy joins at once behind the original, and is not copied again",
        ),
        Key::optional(
            "corrupt",
            Form::Unit(Unit::Probability(0.0, 1.0)),
            "0.1 %",
            "share of packets of which a bit turns over past the link layer: they fail the checksum of the host they reach",
        ),
        Key::optional(
            "residual_loss",
            Form::Unit(Unit::Probability(0.0, 1.0)),
            "1 %",
            "share of packets that is lost behind the link layer, beside what the link itself gives up: no `arq` \
             retransmits them",
        ),
        Key::optional(
            "residual_burst",
            Form::Unit(Unit::Number(1.0, 1e9)),
            "5",
            "with `residual_loss`: mean length of a burst of such losses, packets; without it each packet is lost \
             independently",
        ),
    ]
});
