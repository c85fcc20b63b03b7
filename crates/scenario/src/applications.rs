//! Keys of a TCP flow's application: requests and responses, pauses, a write rate.

use crate::fields::{FieldValue, Fields};
use crate::key::{Key, ValueType};
use crate::language::{LONGEST, SPAN, TIME};
use crate::problem::Problem;
use crate::reader::{TableHead, TableReader};
use crate::scenario::{Exchanges, Pauses, Transfer};
use lasthop_base::{Duration, Spread, Time, Unit, Value};

const MAX_BYTES: u64 = 1_000_000_000_000;
/// Word in place of the size of a response or transfer, if the driver of the run decides the size.
pub(crate) const EXTERNAL: &str = "external";

/// Returns the keys of an application. None of these keys has a default. A flow that sets none of these keys is a plain
/// transfer.
pub(crate) fn keys() -> Vec<Key> {
    let amount = Unit::Bytes(1, MAX_BYTES);
    vec![
        Key::optional(
            "request",
            ValueType::Unit(amount),
            "300 bytes",
            "size of each request; the client (at `to`) opens the connection and sends requests in sequence; needs \
             `response`",
        ),
        Key::optional(
            "response",
            ValueType::WordOr(&[EXTERNAL], amount),
            "50 KB",
            "size of the response to each request; completion times are per request; the first completion time \
             includes the handshake; \"external\": the program that steps the run decides time and size of each \
             response",
        ),
        Key::optional(
            "sizes",
            ValueType::Unit(Unit::Word(Spread::NAMES)),
            "web",
            "distribution of response sizes, or of the sizes of transfers with the mean `transfer`, drawn anew in each \
             run; as in `lasthop arrivals`; pareto: shape 1.5; default: all equal",
        ),
        Key::optional(
            "think",
            ValueType::Unit(TIME),
            "2 s",
            "time from a response's last byte to the next request; default: 0 s",
        ),
        Key::optional(
            "every",
            ValueType::Unit(SPAN),
            "4 s",
            "interval between requests, instead of `think`, as for video segments; a request waits for the preceding \
             response",
        ),
        Key::optional(
            "exchanges",
            ValueType::Unit(Unit::Count(1, 1_000_000_000)),
            "20",
            "number of requests after which the client closes the connection; default: no limit until the run ends",
        ),
        Key::optional(
            "on",
            ValueType::Unit(SPAN),
            "2 s",
            "time for which the sender has data before it pauses for `off`",
        ),
        Key::optional(
            "off",
            ValueType::Unit(SPAN),
            "1 s",
            "length of the pause; a flow begins with data, not with a pause",
        ),
        Key::optional(
            "period",
            ValueType::Unit(Unit::Word(Spread::NAMES.split_at(3).0)),
            "exponential",
            "distribution of `on` and `off`, or of `think`; pareto: shape 1.5; default: constant",
        ),
        Key::optional(
            "write_rate",
            ValueType::Unit(Unit::Rate),
            "3 Mbit/s",
            "rate at which the sender's application writes (outside pauses); default: as fast as TCP accepts",
        ),
        Key::optional(
            "stop",
            ValueType::Unit(SPAN),
            "30 s",
            "time in the run at which the sender's application closes the connection and the flow ends; default: never",
        ),
    ]
}

pub(crate) fn read(
    reader: &TableReader<'_>,
    head: TableHead<'_>,
    fields: &Fields,
) -> Result<Option<Transfer>, Problem> {
    let has = |key: &str| fields.find(key).is_some();
    let refuse = |key: &str, why: String, help: String| {
        let place = fields.place(key).unwrap_or(head.place);
        Err(reader.problem(place, format!("{}: {why}", head.key(key))).help(help))
    };
    // Each key has an effect only if at least one of the keys in its list is also set.
    let beside: [(&str, &[&str]); 9] = [
        ("request", &["response"]),
        ("response", &["request"]),
        ("sizes", &["response", "transfer"]),
        ("think", &["response"]),
        ("every", &["response"]),
        ("exchanges", &["response"]),
        ("on", &["off"]),
        ("off", &["on"]),
        ("period", &["on", "think"]),
    ];
    let is_fed = fields.word("transfer") == Some(EXTERNAL);
    let is_bulk = !is_fed && !matches!(fields.find("transfer"), Some(FieldValue::Value(Value::Bytes(_))));
    let is_set = |key: &str| if key == "transfer" { !is_bulk } else { has(key) };
    for (key, others) in beside {
        if has(key) && !others.iter().any(|other| is_set(other)) {
            let names = others.join("` or `");
            let why = format!("has no effect without `{names}`");
            return refuse(key, why, format!("set `{names}`, too, or leave `{key}` out"));
        }
    }
    let mode = ["response", "on", "write_rate", "stop"].into_iter().find(|key| has(key));
    let Some(mode) = mode else {
        if is_fed && has("sizes") {
            let why = format!("has no effect with `transfer = \"{EXTERNAL}\"`");
            let help = "leave `sizes` out: the program that steps the run decides the amount of data; or set \
                        `transfer` to a mean size, such as \"50 KB\"";
            return refuse("sizes", why, help.to_owned());
        }
        return Ok(is_fed.then_some(Transfer::Fed));
    };
    let clash = match () {
        () if mode == "response" && has("on") => Some(("on", "response")),
        () if mode == "response" && has("write_rate") => Some(("write_rate", "response")),
        () if mode == "response" && has("stop") => Some(("stop", "response")),
        () if has("think") && has("every") => Some(("every", "think")),
        () if has("arrivals") => Some(("arrivals", mode)),
        () if !is_bulk => Some(("transfer", mode)),
        () => None,
    };
    if let Some((key, other)) = clash {
        let why = format!("`{other}` already sets the amount of data and the sending times");
        return refuse(key, why, format!("leave `{key}` or `{other}` out"));
    }
    let is_external = fields.word("response") == Some(EXTERNAL);
    let decided = ["sizes", "think", "every", "exchanges", "period"].into_iter().find(|key| has(key));
    if let Some(key) = decided.filter(|_| is_external) {
        let why = format!("has no effect with `response = \"{EXTERNAL}\"`");
        let help = format!(
            "leave `{key}` out: the program that steps the run decides times and sizes; or set `response` to a size, \
             such as \"50 KB\""
        );
        return refuse(key, why, help);
    }
    let spread = |key: &str| fields.word(key).and_then(Spread::named).unwrap_or_default();
    Ok(Some(match (fields.bytes("request"), fields.bytes("response")) {
        (Some(request), None) if is_external => Transfer::OnDemand { request },
        (Some(request), Some(response)) => Transfer::Exchanges(Exchanges {
            request,
            response,
            sizes: spread("sizes"),
            think: fields.duration("think").unwrap_or(Duration::ZERO),
            period: spread("period"),
            every: fields.duration("every"),
            most: fields.count("exchanges"),
        }),
        _ => Transfer::Pauses(Pauses {
            // A source that never pauses gets a time `on` that is longer than any run.
            on: fields.duration("on").unwrap_or(LONGEST * 2),
            off: fields.duration("off").unwrap_or(LONGEST),
            period: spread("period"),
            rate: fields.rate("write_rate"),
            stop: fields.duration("stop").map(|stop| Time::ZERO + stop),
        }),
    }))
}
