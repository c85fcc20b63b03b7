//! Keys of a TCP flow whose applications do more than to send all they have: requests and responses, pauses, a rate.

use crate::fields::{Fields, Setting};
use crate::key::{Form, Key};
use crate::language::{LONGEST, SPAN, TIME};
use crate::problem::Problem;
use crate::reader::{Head, Reader};
use crate::scenario::{Exchanges, Pauses, Transfer};
use lasthop_base::{Duration, Spread, Unit, Value};

/// The largest request or response, bytes.
const MOST_BYTES: u64 = 1_000_000_000_000;

/// The keys. None has a default, so that a flow without them is what it is.
pub(crate) fn keys() -> Vec<Key> {
    let amount = || Form::Unit(Unit::Bytes(1, MOST_BYTES));
    vec![
        Key::optional(
            "request",
            amount(),
            "300 bytes",
            "the end at `to`, a client, opens the connection and asks with so much, again and again; with `response`",
        ),
        Key::optional(
            "response",
            amount(),
            "50 KB",
            "what the sender answers each request with; completion times are those of each request, the handshake in the \
             first",
        ),
        Key::optional(
            "sizes",
            Form::Unit(Unit::Word(Spread::NAMES)),
            "web",
            "how responses spread about `response`, as in `lasthop arrivals`; pareto: shape 1.5; all alike without it",
        ),
        Key::optional(
            "think",
            Form::Unit(TIME),
            "2 s",
            "time from a response's last byte to the next request; at once without it",
        ),
        Key::optional(
            "every",
            Form::Unit(SPAN),
            "4 s",
            "instead of `think`: requests are due so far apart, as a video's segments are; one waits for the response \
             before it",
        ),
        Key::optional(
            "exchanges",
            Form::Unit(Unit::Count(1, 1_000_000_000)),
            "20",
            "after so many requests the client closes; without it they go on until the run ends",
        ),
        Key::optional(
            "on",
            Form::Unit(SPAN),
            "2 s",
            "how long the sender has data, before it pauses for `off`",
        ),
        Key::optional(
            "off",
            Form::Unit(SPAN),
            "1 s",
            "how long it has none then; at its beginning it has some",
        ),
        Key::optional(
            "period",
            Form::Unit(Unit::Word(Spread::NAMES.split_at(3).0)),
            "exponential",
            "how `on` and `off`, or `think`, spread about what is said; pareto: shape 1.5; always that long without it",
        ),
        Key::optional(
            "write_rate",
            Form::Unit(Unit::Rate),
            "3 Mbit/s",
            "the sender's application writes at this rate, while on if it pauses; without it as much as TCP takes",
        ),
    ]
}

/// What a flow's applications do; `None` if nothing of the kind is said.
pub(crate) fn read(
    reader: &Reader<'_>,
    head: Head<'_>,
    fields: &Fields,
) -> Result<Option<Transfer>, Problem> {
    let has = |key: &str| fields.find(key).is_some();
    let refuse = |key: &str, why: String, help: String| {
        let place = fields.place(key).unwrap_or(head.place);
        Err(reader.problem(place, format!("{}: {why}", head.key(key))).help(help))
    };
    // Each needs one of these beside it.
    let beside: [(&str, &[&str]); 9] = [
        ("request", &["response"]),
        ("response", &["request"]),
        ("sizes", &["response"]),
        ("think", &["response"]),
        ("every", &["response"]),
        ("exchanges", &["response"]),
        ("on", &["off"]),
        ("off", &["on"]),
        ("period", &["on", "think"]),
    ];
    for (key, others) in beside {
        if has(key) && !others.iter().any(|other| has(other)) {
            let names = others.join("` or `");
            let why = format!("it says nothing without `{names}`");
            return refuse(key, why, format!("set `{names}`, too, or leave `{key}` out"));
        }
    }
    let mode = ["response", "on", "write_rate"].into_iter().find(|key| has(key));
    let Some(mode) = mode else { return Ok(None) };
    let is_bulk = !matches!(fields.find("transfer"), Some(Setting::Value(Value::Bytes(_))));
    let clash = match () {
        () if mode == "response" && has("on") => Some(("on", "response")),
        () if mode == "response" && has("write_rate") => Some(("write_rate", "response")),
        () if has("think") && has("every") => Some(("every", "think")),
        () if has("arrivals") => Some(("arrivals", mode)),
        () if !is_bulk => Some(("transfer", mode)),
        () => None,
    };
    if let Some((key, other)) = clash {
        let why = format!("`{other}` says already when there is data and how much");
        return refuse(key, why, format!("leave `{key}` or `{other}` out"));
    }
    let spread = |key: &str| fields.word(key).and_then(Spread::named).unwrap_or_default();
    Ok(Some(match (fields.bytes("request"), fields.bytes("response")) {
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
            // Without pauses it is on for longer than any run.
            on: fields.duration("on").unwrap_or(LONGEST * 2),
            off: fields.duration("off").unwrap_or(LONGEST),
            period: spread("period"),
            rate: fields.rate("write_rate"),
        }),
    }))
}
