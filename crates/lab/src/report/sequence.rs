//! The time-sequence graph: its first view as a plot that needs no script, and the segments for the script that draws it
//! anew as often as somebody zooms.

use crate::document::{Sequence, Sequenced};
use lasthop_charts::packed::packed;
use lasthop_charts::plot;
use lasthop_charts::plot::escape::escaped;
use lasthop_charts::plot::looks::Looks;
use lasthop_charts::segments::REASONS;
use lasthop_tcp::event::Reason;
use lasthop_wire::LossReason;
use serde_json::{Value, json};

/// The figure with this anchor.
pub fn html(sequence: &Sequence, anchor: &str) -> String {
    let (title, caption) = (escaped(&sequence.title), escaped(&sequence.caption));
    let first = sequence.runs.first().map(|run| run.segments.figure(&sequence.title)).unwrap_or_default();
    let (still, _) = plot::html(&first, &Looks::of([&first].into_iter()));
    let about = json!({
        "title": sequence.title, "losses": LossReason::ALL.map(LossReason::name), "again": REASONS.map(Reason::name),
        "runs": sequence.runs.iter().map(run).collect::<Vec<Value>>(),
    });
    // Nothing in it may end the element that holds it.
    let about = about.to_string().replace('<', "\\u003c");
    format!(
        "<figure id=\"{anchor}\" class=\"time-sequence\">\n\
         <div class=\"title\">{title} <a class=\"anchor\" href=\"#{anchor}\" aria-label=\"link\">#</a></div>\n\
         <div class=\"still\">{still}</div>\n\
         <figcaption>{caption}</figcaption>\n\
         <script type=\"application/json\">{about}</script>\n\
         </figure>\n"
    )
}

fn run(run: &Sequenced) -> Value {
    json!({ "name": run.name, "duration": run.duration_s, "links": run.links, "to": run.segments.to_s,
            "letters": packed(&run.segments) })
}
