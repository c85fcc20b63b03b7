//! A ready path or a file with keys behind it: `lte,loss=1%`.

use super::{Item, channel, delay, either, find, items, others};
use crate::catalogue::Catalogue;
use crate::draft::Draft;
use crate::problem::Problem;
use crate::scenario::{Flow, Hop, Scenario, Traffic};
use crate::set;
use crate::source::Source;
use crate::tree::Node;
use lasthop_base::{Duration, quantity};
use std::sync::Arc;

/// Reads `base` and changes it by the keys that stand behind it in `text`.
pub(crate) fn adapted(catalogue: &Arc<Catalogue>, base: &str, text: &str) -> Result<Draft, Problem> {
    let mut draft = Draft::load_with(catalogue, base.trim())?;
    let way = Way::of(&draft.check()?);
    let source = Source::typed(text);
    let items = items(&source, draft.sources.len(), base.len() + 1)?;
    draft.sources.push(source.clone());
    services(&mut draft, &source, &items, &way)?;
    let last = |key: &str, up: bool| format!("link.{}.{key}", if up { &way.last_up } else { &way.last_down });
    for (key, name, up) in [("queue", "queue", false), ("up_queue", "queue", true)] {
        if let Some(item) = find(&items, key) {
            put(&mut draft, &last(name, up), item, item.node.clone())?;
        }
    }
    if let Some((place, channel)) = channel(&source, &items)? {
        set::apply(&mut draft, &last("channel", false), place, channel)?;
        if find(&items, "channel").is_none() {
            // The share is what is lost in the end, so that nothing may be repeated.
            set::apply(&mut draft, &last("arq", false), place, Node::text(place, "none"))?;
        }
    }
    if let Some(item) = find(&items, "arq") {
        put(&mut draft, &last("arq", false), item, item.node.clone())?;
    }
    if let Some((item, delay)) = delay(&source, &items)? {
        delays(&mut draft, &source, item, &delay, &way)?;
    }
    others(&mut draft, &items)?;
    Ok(draft)
}

/// Rates and traces of the last hop.
fn services(draft: &mut Draft, source: &Source, items: &[Item<'_>], way: &Way) -> Result<(), Problem> {
    let trace = either(source, items, "trace", "down_trace")?;
    let down = either(source, items, "rate", trace.map_or("trace", |item| item.key))?;
    let up = either(source, items, "up", "up_trace")?;
    for (item, direction) in [(down, &way.last_down), (up, &way.last_up)] {
        if let Some(item) = item {
            let key = if item.key.ends_with("trace") { "trace" } else { "rate" };
            put(draft, &format!("link.{direction}.{key}"), item, item.node.clone())?;
        }
    }
    Ok(())
}

/// Makes the whole way as long as it is to be, by its first link.
fn delays(
    draft: &mut Draft,
    source: &Source,
    item: &Item<'_>,
    wanted: &str,
    way: &Way,
) -> Result<(), Problem> {
    let refuse = |message: String, help: String| {
        Err(Problem::new(source, item.node.place.start..item.node.place.end, message).help(help))
    };
    let wanted = match quantity::duration(wanted) {
        Ok(wanted) => wanted,
        Err(why) => {
            return refuse(format!("{}: {why}", item.key), "expected: a time, such as 20ms".to_owned());
        }
    };
    for (direction, others) in [(&way.first_down, way.others_down), (&way.first_up, way.others_up)] {
        if wanted < others {
            return refuse(
                format!("{}: the links behind the first one take {others} each way already", item.key),
                format!("give a round trip of {} at least, or change their one_way_delay", others * 2),
            );
        }
        let first = Duration::from_nanos(wanted.as_nanos() - others.as_nanos());
        let node = Node::text(item.node.place, &first.to_string());
        put(draft, &format!("link.{direction}.one_way_delay"), item, node)?;
    }
    Ok(())
}

fn put(draft: &mut Draft, path: &str, item: &Item<'_>, value: Node) -> Result<(), Problem> {
    set::apply(draft, path, item.place, value)
}

/// The way of the first flow of TCP, or of the first flow: directions of links as in paths, `wireless.down`.
struct Way {
    first_down: String,
    first_up: String,
    last_down: String,
    last_up: String,
    /// Propagation delay there without the first link's, and back without the same.
    others_down: Duration,
    others_up: Duration,
}

impl Way {
    fn of(scenario: &Scenario) -> Way {
        let is_tcp = |flow: &Flow| matches!(flow.traffic, Traffic::Tcp { .. });
        let flow = scenario.flows.iter().position(is_tcp).unwrap_or(0);
        let route = &scenario.routes[flow];
        let name = |hop: &Hop| {
            format!("{}.{}", scenario.links[hop.link].name, if hop.is_down { "down" } else { "up" })
        };
        let sum = |hops: &[Hop]| {
            let delay = |hop: &Hop| {
                let link = &scenario.links[hop.link];
                if hop.is_down { link.down.delay } else { link.up.delay }
            };
            hops.iter().map(delay).fold(Duration::ZERO, |sum, delay| sum + delay)
        };
        let (there, back) = (&route.there[..], &route.back[..]);
        Way {
            first_down: name(&there[0]),
            first_up: name(&back[back.len() - 1]),
            last_down: name(&there[there.len() - 1]),
            last_up: name(&back[0]),
            others_down: sum(&there[1..]),
            others_up: sum(&back[..back.len() - 1]),
        }
    }
}
