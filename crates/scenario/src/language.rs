//! The tables of the language and their keys, in the order in which a reader would ask. Keys that no catalogue decides are
//! listed once in the life of the program.

use crate::applications;
use crate::catalogue::Catalogue;
use crate::key::{Form, Key};
use crate::mechanisms::USUAL_LIMIT;
use crate::text::plain;
use lasthop_base::{Duration, Question, Unit, Value};
use lasthop_tcp::Config;
use lasthop_tcp::profile;
use std::sync::LazyLock;

/// Longest run.
pub(crate) const LONGEST: Duration = Duration::from_secs(10_000_000);
/// Shortest time that must not be zero.
const SHORTEST: Duration = Duration::from_micros(1);
/// Largest payload of a packet: with the longest headers it still fits IP's 65,535 bytes.
const LARGEST_PAYLOAD: u64 = 65_000;
/// Most replicas of one flow, and most flows in all.
pub(crate) const MOST_FLOWS: u64 = 100_000;
/// The kinds of traffic.
pub(crate) const TRAFFIC: &[&str] = &["tcp", "cbr", "on_off"];

pub(crate) const TIME: Unit = Unit::Duration(Duration::ZERO, LONGEST);
pub(crate) const SPAN: Unit = Unit::Duration(SHORTEST, LONGEST);

/// The document's own keys; `title` is the one it has if it says nothing.
pub(crate) fn document(title: &str) -> Vec<Key> {
    let mut keys = Vec::with_capacity(1 + DOCUMENT.len());
    keys.push(Key::default("title", Form::Text, title.to_owned(), "what this is, one line"));
    keys.extend(DOCUMENT.iter().cloned());
    keys
}

/// The names of the document's own keys.
pub(crate) fn tops() -> impl Iterator<Item = &'static str> {
    std::iter::once("title").chain(DOCUMENT.iter().map(|key| key.name))
}

/// What a document has beside its title.
static DOCUMENT: LazyLock<Vec<Key>> = LazyLock::new(|| {
    vec![
        Key::optional("source", Form::Text, "RFC 2488, section 2", "where its numbers come from"),
        Key::default("duration", Form::Unit(SPAN), "60 s", "length of a run, in virtual time"),
        Key::default(
            "seed",
            Form::Unit(Unit::Count(0, i64::MAX as u64)),
            "1",
            "where random numbers begin; each repetition has streams of its own",
        ),
        Key::default("runs", Form::Unit(Unit::Count(1, 1_000_000)), "10", "number of repetitions"),
        Key::optional(
            "warmup",
            Form::Unit(SPAN),
            "5 s",
            "a part of `duration`, from its beginning: what is measured in it is left out, and transfers that begin in it",
        ),
        Key::default(
            "headers",
            Form::WordOr(&["real", "none"], Unit::Bytes(0, 1000)),
            "real",
            "what links charge per packet beside the payload: \"real\", \"none\" or an amount",
        ),
        Key::default(
            "sample",
            Form::Unit(SPAN),
            "100 ms",
            "time between two samples of a probe; longer by default in runs of over a million s",
        ),
        Key::table("link", "links by name; nodes come into being by being named in them"),
        Key::table("node", "nodes by name: what stands at those that links name"),
        Key::table("flow", "flows by name"),
        Key::table("route", "node.destination = next node: overrides the shortest path (fewest links)"),
    ]
});

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
static DIRECTION: LazyLock<Vec<Key>> = LazyLock::new(|| {
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
    ]
});

/// The keys of a node.
pub(crate) fn node(catalogue: &Catalogue) -> Vec<Key> {
    answers(catalogue, "node")
}

/// The keys that every flow has.
pub(crate) fn any_flow() -> Vec<Key> {
    vec![
        Key::required("from", Form::Node, "node that sends"),
        Key::required("to", Form::Node, "node that receives"),
        Key::default(
            "kind",
            Form::Unit(Unit::Word(TRAFFIC)),
            "tcp",
            "a TCP connection, or datagrams at a constant bit rate, always or with pauses",
        ),
        Key::default("start", Form::Unit(TIME), "0 s", "when it begins"),
        Key::default(
            "count",
            Form::Unit(Unit::Count(1, MOST_FLOWS)),
            "1",
            "how many such flows; two and more are called NAME.1, NAME.2 …",
        ),
        Key::default("stagger", Form::Unit(TIME), "0 s", "time between the starts of two of them"),
        Key::default(
            "start_spread",
            Form::Unit(TIME),
            "0 s",
            "each begins later by a random time up to this, in each run by another",
        ),
    ]
}

/// The keys of a flow of this kind; of datagrams if there is no such kind.
pub(crate) fn flow(kind: &str) -> &'static [Key] {
    static KEYS: LazyLock<Vec<Vec<Key>>> =
        LazyLock::new(|| TRAFFIC.iter().map(|kind| listed_flow(kind)).collect());
    &KEYS[TRAFFIC.iter().position(|known| *known == kind).unwrap_or(1)]
}

fn listed_flow(kind: &str) -> Vec<Key> {
    let mut keys = any_flow();
    if kind == "tcp" {
        keys.extend(tcp());
        keys.extend(applications::keys());
        return keys;
    }
    keys.extend([
        Key::required("rate", Form::Unit(Unit::Rate), "rate while it sends, payload only"),
        Key::required("packet", Form::Unit(Unit::Bytes(1, LARGEST_PAYLOAD)), "payload of a datagram"),
        Key::optional("stop", Form::Unit(SPAN), "30 s", "when it ends; without it, with the run"),
        Key::default(
            "jitter",
            Form::Unit(TIME),
            "0 s",
            "each datagram is late by a random time up to this; they keep their order",
        ),
        Key::default(
            "burst",
            Form::Unit(Unit::Count(1, 10_000)),
            "1",
            "so many datagrams leave back to back, at the same mean rate; 1: evenly spaced",
        ),
    ]);
    if kind == "on_off" {
        keys.extend([
            Key::required("on", Form::Unit(SPAN), "length of a burst, or its mean"),
            Key::required("off", Form::Unit(SPAN), "length of a pause, or its mean"),
            Key::default(
                "period",
                Form::Unit(Unit::Word(&["fixed", "exponential"])),
                "fixed",
                "whether bursts and pauses are always that long, or exponentially distributed",
            ),
        ]);
    }
    keys
}

/// What both ends of a TCP flow share.
fn tcp() -> Vec<Key> {
    let config = Config::default();
    let flag =
        |name, default: bool, doc| Key::default(name, Form::Unit(Unit::Flag), default.to_string(), doc);
    let time = |name, default: Duration, low: Duration, high: Duration, doc| {
        Key::default(name, Form::Unit(Unit::Duration(low, high)), default.to_string(), doc)
    };
    vec![
        Key::default(
            "profile",
            Form::Unit(Unit::Word(profile::NAMES)),
            profile::DEFAULT.name,
            "what sender and receiver are where they say nothing; one-line and most ready paths say linux",
        ),
        Key::default(
            "transfer",
            Form::WordOr(&["bulk"], Unit::Bytes(1, 1_000_000_000_000_000)),
            "bulk",
            "\"bulk\": as much as it can until the run ends; or an amount",
        ),
        Key::optional(
            "arrivals",
            Form::File,
            "web.arrivals",
            "a file of transfers instead of one: seconds and bytes a line, beside the scenario's file; each is a connection, \
             NAME.1, NAME.2 …; those that would begin when the run is over are left out",
        ),
        Key::default(
            "segment",
            Form::Unit(Unit::Bytes(1, LARGEST_PAYLOAD)),
            plain(&Value::Bytes(u64::from(config.segment))),
            "payload of a full segment",
        ),
        flag("sack", config.sack, "offer selective acknowledgements (RFC 2018)"),
        flag("dsack", config.dsack, "with SACK, tell the sender what arrived twice (RFC 2883)"),
        flag("timestamps", config.timestamps, "offer timestamps (RFC 7323)"),
        time(
            "timestamp_tick",
            config.timestamp_tick,
            SHORTEST,
            Duration::from_secs(1),
            "tick of the timestamps' clock (RFC 7323: 1 ms to 1 s; \"1 us\" is as good as exact)",
        ),
        flag("ecn", config.ecn, "offer explicit congestion notification (RFC 3168)"),
        Key::default(
            "ecn_feedback",
            Form::Unit(Unit::Word(&["auto", "classic", "accurate"])),
            "auto",
            "how marks are told: as ecn says (classic), or in detail (AccECN, RFC 9768); auto: where congestion is for it (prague)",
        ),
        flag(
            "nagle",
            config.nagle,
            "a short segment waits while data is outstanding (RFC 9293, section 3.7.4)",
        ),
        Key::default(
            "processing",
            Form::Unit(Unit::Duration(Duration::ZERO, Duration::from_secs(1))),
            "0 s",
            "each packet leaves its host later by a random time up to this, in order (as ns-2's overhead_)",
        ),
        flag(
            "opaque",
            false,
            "its headers are encrypted (IPsec): middleboxes cannot read them, and let it pass",
        ),
        time("time_wait", config.time_wait, Duration::ZERO, LONGEST, "length of TIME-WAIT (2 MSL)"),
        Key::table("sender", "the end that sends"),
        Key::table("receiver", "the end that receives"),
    ]
}

/// The keys of a TCP flow's sender.
pub(crate) fn sender(catalogue: &Catalogue) -> Vec<Key> {
    let mut keys = answers(catalogue, "sender");
    keys.extend(SENDER.iter().cloned());
    keys
}

/// What a sender has beside the answers to questions.
static SENDER: LazyLock<Vec<Key>> = LazyLock::new(|| {
    let config = Config::default();
    let limits = config.rto;
    let longest = Duration::from_secs(3600);
    let time = |name, default: Duration, low: Duration, doc| {
        Key::default(name, Form::Unit(Unit::Duration(low, longest)), default.to_string(), doc)
    };
    let flag =
        |name, default: bool, doc| Key::default(name, Form::Unit(Unit::Flag), default.to_string(), doc);
    vec![
        Key::default(
            "initial_window",
            Form::Unit(Unit::Count(1, 10_000)),
            config.initial_window.to_string(),
            "segments (RFC 6928: 10; the papers of the 2000s: 1 or 2)",
        ),
        Key::default(
            "initial_ssthresh",
            Form::WordOr(&["unlimited"], Unit::Bytes(1, 1 << 40)),
            match config.initial_ssthresh {
                None => "unlimited".to_owned(),
                Some(bytes) => plain(&Value::Bytes(bytes)),
            },
            "initial slow start threshold: \"unlimited\" or an amount",
        ),
        flag(
            "validate_window",
            config.validates_window,
            "cwnd grows only while at least half of it is used (RFC 7661)",
        ),
        flag(
            "ecn_waits",
            config.ecn_waits,
            "an echo at a window of one segment makes the next wait for the timer (RFC 3168)",
        ),
        flag(
            "freeze",
            config.freezes,
            "a window of zero stops the retransmission timer and leaves cwnd as it is (BSD's persist; Linux goes on and reduces)",
        ),
        flag(
            "f_rto",
            config.f_rto,
            "spurious timeouts are found and undone (F-RTO, RFC 5682; with SACK its section 3)",
        ),
        flag(
            "dsack_undo",
            config.dsack_undo,
            "a recovery is undone if all that it sent again had arrived already (D-SACK, RFC 3708)",
        ),
        flag(
            "eifel",
            config.eifel,
            "timeouts and recoveries are undone if a timestamp tells that an original arrived (Eifel, RFC 3522)",
        ),
        Key::default(
            "undo",
            Form::Unit(Unit::Word(&["rfc4015", "linux"])),
            if config.undo_whole { "linux" } else { "rfc4015" },
            "what is given back then: what is in flight and a small burst, and a longer timeout (RFC 4015), or all (Linux)",
        ),
        Key::default(
            "loss_window",
            Form::Unit(Unit::Word(&["one", "in_flight"])),
            if config.loss_window_spares { "in_flight" } else { "one" },
            "cwnd after a timeout: one segment (RFC 5681), or one beside what is not given up (Linux, and BBR always)",
        ),
        flag(
            "sack_rtt",
            config.sack_rtt,
            "round trips are measured by what SACK reports, too (Linux; with recovery = \"rack\")",
        ),
        Key::default(
            "rto",
            Form::Unit(Unit::Word(&["rfc6298", "linux"])),
            "rfc6298",
            "the timeout: min_rto at least in all (RFC 6298), or SRTT + max(min_rto, 4 RTTVAR) (Linux)",
        ),
        time("min_rto", limits.smallest, Duration::ZERO, "smallest retransmission timeout (RFC 6298: 1 s)"),
        time("max_rto", limits.largest, SHORTEST, "largest, back-off included (RFC 6298: at least 60 s)"),
        time(
            "initial_rto",
            limits.initial,
            SHORTEST,
            "before the first round trip is measured (RFC 6298: 1 s)",
        ),
        time("tick", limits.tick, Duration::ZERO, "granularity of the timeout's clock; \"0 s\": exact"),
    ]
});

/// The keys of a TCP flow's receiver.
pub(crate) fn receiver(catalogue: &Catalogue) -> Vec<Key> {
    answers(catalogue, "receiver")
}

/// A key for each question of a side. Where a bare amount is an answer, one is what holds if nobody says.
fn answers(catalogue: &Catalogue, side: &str) -> Vec<Key> {
    let key = |question: &Question| {
        let default = if question.limited().is_some() { USUAL_LIMIT } else { question.default.name };
        Key::default(question.name, Form::Mechanism(question.clone()), default, question.question)
    };
    catalogue.of_side(side).into_iter().map(key).collect()
}

/// The names of the keys of a node, of a sender or receiver, or of a link's direction (`link`).
pub(crate) fn names(catalogue: &Catalogue, side: &str) -> Vec<&'static str> {
    let (before, behind): (&'static [Key], &'static [Key]) = match side {
        "sender" => (&[], &SENDER),
        "link" => (&DIRECTION, &[]),
        _ => (&[], &[]),
    };
    let answers = catalogue.of_side(side).into_iter().map(|question| question.name);
    let own = |keys: &'static [Key]| keys.iter().map(|key| key.name);
    own(before).chain(answers).chain(own(behind)).collect()
}

/// Whether a link's, a node's or a flow's table (`link`, `node`, `flow`) has a key of this name, whatever the kind.
pub(crate) fn is_key_of(catalogue: &Catalogue, top: &str, name: &str) -> bool {
    let has = |keys: &[Key]| keys.iter().any(|key| key.name == name);
    match top {
        "link" => has(link_ends()) || has(&direction(catalogue)),
        "node" => has(&node(catalogue)),
        "flow" => TRAFFIC.iter().any(|kind| has(flow(kind))),
        _ => true,
    }
}

/// The tables that have a key of this name.
pub(crate) fn homes(catalogue: &Catalogue, name: &str) -> Vec<String> {
    let mut tables = vec![
        ("the document, above all tables".to_owned(), document("")),
        ("[link.NAME]".to_owned(), [link_ends(), &direction(catalogue)].concat()),
        ("[node.NAME]".to_owned(), node(catalogue)),
        ("[flow.NAME.sender]".to_owned(), sender(catalogue)),
        ("[flow.NAME.receiver]".to_owned(), receiver(catalogue)),
    ];
    let is_here = |keys: &[Key]| keys.iter().any(|key| key.name == name);
    match is_here(&any_flow()) {
        true => tables.push(("[flow.NAME]".to_owned(), any_flow())),
        false => {
            tables.extend(
                TRAFFIC
                    .iter()
                    .map(|kind| (format!("[flow.NAME] with kind = \"{kind}\""), flow(kind).to_vec())),
            );
        }
    }
    tables.into_iter().filter(|(_, keys)| is_here(keys)).map(|(table, _)| table).collect()
}
