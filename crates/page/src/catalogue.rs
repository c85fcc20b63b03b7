//! Choices for the user of a page: mechanisms, ready paths and metrics, with descriptions.

use lasthop_base::{Info, SeamInfo};
use lasthop_charts::segments::REASONS;
use lasthop_scenario::{Catalogue, inline};
use lasthop_sim::FLOW_METRICS;
use lasthop_tcp::event::Reason;
use lasthop_wire::LossReason;
use serde_json::{Value, json};

pub(crate) fn to_json(catalogue: &Catalogue) -> Value {
    let seams: Vec<Value> = catalogue.seams().into_iter().map(seam).collect();
    let entries: Vec<Value> = catalogue
        .list()
        .iter()
        .filter(|entry| entry.kind == "path" || entry.kind == "profile")
        .map(|entry| json!({ "kind": entry.kind, "name": entry.name, "summary": entry.summary, "source": entry.source }))
        .collect();
    let keys: Vec<Value> = inline::KEYS
        .iter()
        .map(|(name, example, doc)| json!({ "name": name, "example": example, "doc": doc }))
        .collect();
    let metrics: Vec<Value> =
        FLOW_METRICS.iter().map(|metric| json!({ "name": metric.name, "doc": metric.doc })).collect();
    json!({
        "questions": seams, "entries": entries, "keys": keys, "metrics": metrics,
        "losses": LossReason::ALL.map(LossReason::name), "again": REASONS.map(Reason::name),
    })
}

fn seam(seam: &SeamInfo) -> Value {
    let mechanisms: Vec<Value> = seam.mechanisms.iter().copied().map(mechanism).collect();
    json!({
        "name": seam.name, "question": seam.label, "side": seam.side,
        "default": seam.default.name, "mechanisms": mechanisms,
    })
}

fn mechanism(info: &Info) -> Value {
    let parameters: Vec<Value> = info
        .parameters
        .iter()
        .map(|one| json!({ "name": one.name, "default": one.default, "doc": one.doc }))
        .collect();
    json!({ "name": info.name, "summary": info.summary, "source": info.source, "parameters": parameters })
}
