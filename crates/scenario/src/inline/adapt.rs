//! Applies keys to the built-in scenario (ready path) or the file that precedes the keys: `lte,loss=1%`.

use super::{
    IMPAIRMENTS, InlineScenario, Item, apply_other_keys, at_most_one, channel, delay, find, items, jitter,
    problem, up_channel,
};
use crate::catalogue::Catalogue;
use crate::draft::Draft;
use crate::problem::Problem;
use crate::scenario::{Flow, Hop, Scenario, Traffic};
use crate::set;
use crate::source::{SourceText, Span};
use crate::tree::TomlNode;
use lasthop_base::{Duration, quantity};
use std::sync::Arc;

/// Reads the scenario `base` and applies the keys that follow it in `text`.
pub(crate) fn adapted(catalogue: &Arc<Catalogue>, base: &str, text: &str) -> Result<Draft, Problem> {
    let mut draft = Draft::load_with(catalogue, base.trim())?;
    let route = FirstRoute::of(&draft.check()?);
    let source = SourceText::typed(text);
    let items = items(&source, draft.sources.len(), base.len() + 1)?;
    draft.sources.push(source);
    services(&mut draft, &items, &route)?;
    queues(&mut draft, &items, &route)?;
    losses(&mut draft, &items, &route)?;
    losses_up(&mut draft, &items, &route)?;
    delays(&mut draft, &items, &route)?;
    jitters(&mut draft, &items, &route)?;
    impairments(&mut draft, &items, &route)?;
    apply_other_keys(&mut draft, &items)?;
    draft.inline = Some(InlineScenario::after_path(route, items));
    Ok(draft)
}

pub(super) fn services(draft: &mut Draft, items: &[Item], route: &FirstRoute) -> Result<(), Problem> {
    let trace = at_most_one(&draft.sources, items, "trace", "down_trace")?;
    let down = at_most_one(&draft.sources, items, "rate", trace.map_or("trace", |item| &item.key))?;
    let up = at_most_one(&draft.sources, items, "up", "up_trace")?;
    for (item, direction) in [(down, &route.last_down), (up, &route.last_up)] {
        if let Some(item) = item {
            let key = if item.key.ends_with("trace") { "trace" } else { "rate" };
            put(draft, &format!("link.{direction}.{key}"), item, item.node.clone())?;
        }
    }
    Ok(())
}

pub(super) fn queues(draft: &mut Draft, items: &[Item], route: &FirstRoute) -> Result<(), Problem> {
    for (key, direction) in [("queue", &route.last_down), ("up_queue", &route.last_up)] {
        if let Some(item) = find(items, key) {
            put(draft, &format!("link.{direction}.queue"), item, item.node.clone())?;
        }
    }
    Ok(())
}

/// Sets losses and ARQ of the last hop in the direction down. `loss` means losses that TCP sees. If the link
/// retransmits, `loss` therefore sets losses after the ARQ. Otherwise `loss` sets losses on the channel.
pub(super) fn losses(draft: &mut Draft, items: &[Item], route: &FirstRoute) -> Result<(), Problem> {
    let last = &route.last_down;
    let mut retransmits = route.retransmits_down;
    if let Some(item) = find(items, "arq") {
        put(draft, &format!("link.{last}.arq"), item, item.node.clone())?;
        if find(items, "loss").is_some() && !route.is_alone {
            retransmits = FirstRoute::of(&draft.check()?).retransmits_down;
        }
    }
    // `channel` also refuses keys that exclude each other, such as `loss` and `ber`.
    let Some((place, channel)) = channel(&draft.sources, items)? else { return Ok(()) };
    match find(items, "loss") {
        Some(loss) if retransmits => losses_after_arq(draft, last, loss, find(items, "burst")),
        _ => losses_on_channel(draft, last, place, channel),
    }
}

/// Sets losses of the last hop in the direction up, by the same rule as [`losses`].
pub(super) fn losses_up(draft: &mut Draft, items: &[Item], route: &FirstRoute) -> Result<(), Problem> {
    let Some((place, channel)) = up_channel(&draft.sources, items)? else { return Ok(()) };
    match find(items, "up_loss") {
        Some(loss) if route.retransmits_up => {
            losses_after_arq(draft, &route.last_up, loss, find(items, "up_burst"))
        }
        _ => losses_on_channel(draft, &route.last_up, place, channel),
    }
}

fn losses_after_arq(
    draft: &mut Draft,
    direction: &str,
    loss: &Item,
    burst: Option<&Item>,
) -> Result<(), Problem> {
    put(draft, &format!("link.{direction}.residual_loss"), loss, loss.node.clone())?;
    match burst {
        Some(burst) => put(draft, &format!("link.{direction}.residual_burst"), burst, burst.node.clone()),
        None => {
            set::unset_direction_key(draft, direction, "residual_burst", None);
            Ok(())
        }
    }
}

/// Sets the losses on the channel of one direction of a link, and removes the losses after its ARQ.
fn losses_on_channel(
    draft: &mut Draft,
    direction: &str,
    place: Span,
    channel: TomlNode,
) -> Result<(), Problem> {
    set::unset_direction_key(draft, direction, "residual_burst", None);
    set::unset_direction_key(draft, direction, "residual_loss", Some("0 %"));
    set::apply(draft, &format!("link.{direction}.channel"), place, channel)
}

pub(super) fn jitters(draft: &mut Draft, items: &[Item], route: &FirstRoute) -> Result<(), Problem> {
    match find(items, "jitter") {
        Some(item) => put(draft, &format!("link.{}.jitter", route.last_down), item, jitter(item)),
        None => Ok(()),
    }
}

/// Sets the keys of [`IMPAIRMENTS`] in both directions of the last hop.
pub(super) fn impairments(draft: &mut Draft, items: &[Item], route: &FirstRoute) -> Result<(), Problem> {
    for [down, up, key] in IMPAIRMENTS {
        for (name, direction) in [(down, &route.last_down), (up, &route.last_up)] {
            if let Some(item) = find(items, name) {
                put(draft, &format!("link.{direction}.{key}"), item, item.node.clone())?;
            }
        }
    }
    Ok(())
}

/// Sets the delay of the whole route by changing the delay of its first link.
pub(super) fn delays(draft: &mut Draft, items: &[Item], route: &FirstRoute) -> Result<(), Problem> {
    let Some((item, wanted)) = delay(&draft.sources, items)? else { return Ok(()) };
    let refuse = |draft: &Draft, message: String, help: String| {
        Err(problem(&draft.sources, item.node.place, message).help(help))
    };
    let wanted = match quantity::duration(&wanted) {
        Ok(wanted) => wanted,
        Err(why) => {
            let message = format!("{}: {why}", item.key);
            return refuse(draft, message, "expected: a time, such as 20ms".to_owned());
        }
    };
    for (direction, others) in [(&route.first_down, route.others_down), (&route.first_up, route.others_up)] {
        if wanted < others {
            return refuse(
                draft,
                format!("{}: the links after the first already delay by {others} each way", item.key),
                format!("give a round trip of at least {}, or change their one_way_delay", others * 2),
            );
        }
        let first = Duration::from_nanos(wanted.as_nanos() - others.as_nanos());
        let node = TomlNode::text(item.node.place, &first.to_string());
        put(draft, &format!("link.{direction}.one_way_delay"), item, node)?;
    }
    Ok(())
}

fn put(draft: &mut Draft, path: &str, item: &Item, value: TomlNode) -> Result<(), Problem> {
    set::apply(draft, path, item.place, value)
}

/// The route of the first TCP flow, or of the first flow if none uses TCP. Directions of links have the form
/// `wireless.down`.
#[derive(Clone, Debug)]
pub(super) struct FirstRoute {
    first_down: String,
    first_up: String,
    last_down: String,
    last_up: String,
    /// Sum of the propagation delays in the direction down, of all links of the route except the first.
    others_down: Duration,
    /// Sum of the propagation delays in the direction up, of all links of the route except the first.
    others_up: Duration,
    /// Whether the last hop retransmits packets that its downlink channel loses.
    retransmits_down: bool,
    /// Whether the last hop retransmits packets that its uplink channel loses.
    retransmits_up: bool,
    /// Whether the line has only keys, without a built-in scenario or a file. If true, `loss` sets losses on the
    /// channel.
    is_alone: bool,
}

impl FirstRoute {
    pub(super) fn standalone() -> FirstRoute {
        let [down, up] = ["path.down", "path.up"].map(str::to_owned);
        FirstRoute {
            first_down: down.clone(),
            first_up: up.clone(),
            last_down: down,
            last_up: up,
            others_down: Duration::ZERO,
            others_up: Duration::ZERO,
            retransmits_down: false,
            retransmits_up: false,
            is_alone: true,
        }
    }

    pub(super) fn last_up(&self) -> &str {
        &self.last_up
    }

    pub(super) fn of(scenario: &Scenario) -> FirstRoute {
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
        let retransmits = |hop: &Hop| {
            let link = &scenario.links[hop.link];
            if hop.is_down { link.down.retransmits() } else { link.up.retransmits() }
        };
        let (there, back) = (&route.there[..], &route.back[..]);
        FirstRoute {
            first_down: name(&there[0]),
            first_up: name(&back[back.len() - 1]),
            last_down: name(&there[there.len() - 1]),
            last_up: name(&back[0]),
            others_down: sum(&there[1..]),
            others_up: sum(&back[..back.len() - 1]),
            retransmits_down: retransmits(&there[there.len() - 1]),
            retransmits_up: retransmits(&back[0]),
            is_alone: false,
        }
    }
}
