//! HTML of a time-sequence graph: a static plot of the first view, which works without scripts, and the segments for
//! the interactive graph.

use crate::document::{FlowSequence, Sequence};
use crate::figure::Figure;
use lasthop_charts::packed::packed;
use lasthop_charts::plot;
use lasthop_charts::plot::escape::escaped;
use lasthop_charts::plot::looks::Looks;
use lasthop_charts::segments::REASONS;
use lasthop_tcp::event::Reason;
use lasthop_wire::LossReason;
use serde_json::{Value, json};

pub fn html(sequence: &Sequence, anchor: &str) -> String {
    let (title, caption) = (escaped(&sequence.title), escaped(&sequence.caption));
    let first = static_plot(sequence);
    let (static_plot, _) = plot::html(&first, &Looks::of([&first].into_iter()));
    let about = json!({
        "title": sequence.title, "together": sequence.is_comparison && sequence.runs.len() > 1,
        "losses": LossReason::ALL.map(LossReason::name), "again": REASONS.map(Reason::name),
        "runs": sequence.runs.iter().map(run).collect::<Vec<Value>>(),
    });
    // The escaped `<` prevents the text from closing the script element that contains the text.
    let about = about.to_string().replace('<', "\\u003c");
    format!(
        "<figure id=\"{anchor}\" class=\"time-sequence\">\n\
         <div class=\"title\">{title} <a class=\"anchor\" href=\"#{anchor}\" aria-label=\"link\">#</a></div>\n\
         <div class=\"still\">{static_plot}</div>\n\
         <figcaption>{caption}</figcaption>\n\
         <script type=\"application/json\">{about}</script>\n\
         </figure>\n"
    )
}

/// Returns the plot of the first run's first view. In a comparison, the plot also shows the sent segments of the second
/// run.
fn static_plot(sequence: &Sequence) -> Figure {
    let Some((first, others)) = sequence.runs.split_first() else { return Figure::default() };
    let mut figure = first.segments.figure(&sequence.title);
    if let (true, Some(second)) = (sequence.is_comparison, others.first()) {
        figure.curves.iter_mut().for_each(|curve| curve.name = format!("{}: {}", first.name, curve.name));
        figure
            .curves
            .push(second.segments.sent(first.segments.first_view(), format!("{}: sent", second.name)));
        figure.curves.retain(|curve| !curve.points.is_empty());
    }
    figure
}

fn run(run: &FlowSequence) -> Value {
    json!({ "name": run.name, "duration": run.duration_s, "links": run.links, "to": run.segments.to_s,
            "letters": packed(&run.segments) })
}
