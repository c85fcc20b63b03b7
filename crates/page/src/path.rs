//! Parts of a scenario that a page draws: nodes, links, flows, and the routes of the observed flow.

use lasthop_base::Time;
use lasthop_charts::segments::observed_flow;
use lasthop_net::link::Config;
use lasthop_net::service::Service;
use lasthop_scenario::{Hop, Scenario};
use serde_json::{Value, json};

pub(crate) fn to_json(scenario: &Scenario) -> Value {
    let links: Vec<Value> = scenario
        .links
        .iter()
        .map(|link| {
            json!({
                "name": link.name, "from": link.from, "to": link.to,
                "down": direction(&link.down), "up": direction(&link.up),
            })
        })
        .collect();
    let boxes: Vec<Value> =
        scenario.middlebox_nodes().map(|(node, choice)| json!([node, choice.info.name])).collect();
    let shown = observed_flow(scenario);
    let hops = |hops: &[Hop]| hops.iter().map(|hop| json!([hop.link, hop.is_down])).collect::<Vec<Value>>();
    let (there, back) = match scenario.routes.get(shown) {
        Some(route) => (hops(&route.there), hops(&route.back)),
        None => Default::default(),
    };
    json!({
        "title": scenario.title, "source": scenario.source, "duration_s": scenario.duration.as_secs(),
        "seed": scenario.seed.to_string(), "runs": scenario.runs, "nodes": scenario.nodes, "boxes": boxes,
        "links": links, "flows": scenario.flows.iter().map(|flow| flow.name.as_str()).collect::<Vec<&str>>(),
        "shown": shown, "there": there, "back": back,
        "is_deterministic": lasthop_sim::is_deterministic(scenario),
    })
}

fn direction(config: &Config) -> Value {
    let rate = config.service.rate_at(Time::ZERO).to_string();
    let kind = match &config.service {
        Service::Rate(_) => "rate",
        Service::Plan(_) => "plan",
        Service::Trace(_) => "trace",
    };
    let room = config.queue.info.limit.map(|limit| {
        let values = &config.queue.values;
        json!({ "packets": values.count(limit.packets), "bytes": values.bytes(limit.bytes) })
    });
    json!({
        "rate": rate, "service": kind, "delay_ms": config.delay.as_millis(), "queue": config.queue.info.name,
        "room": room, "channel": config.channel.info.name, "arq": config.arq.info.name,
    })
}
