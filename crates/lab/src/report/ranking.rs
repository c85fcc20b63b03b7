//! HTML of a ranking: one row for each candidate. A row has a dot for the value, a bar for the interval, and a line at
//! zero.

use crate::ranking::{Ranked, Ranking};
use lasthop_charts::plot::escape::escaped;
use lasthop_charts::plot::percent;
use lasthop_charts::plot::scale::{Scale, Tick};

pub fn html(ranking: &Ranking) -> String {
    let scale = scale(ranking);
    let has_words = !ranking.says.is_empty();
    let mut html = format!(
        "<table class=\"forest ranking\">\n<caption><span>{}</span></caption>\n\
         <thead><tr><th scope=\"col\">{}</th><th scope=\"col\"><p>{}</p><svg class=\"scale\" aria-hidden=\"true\"><g class=\"ticks x\">",
        escaped(&ranking.caption),
        escaped(&ranking.heading),
        escaped(&ranking.axis)
    );
    for Tick { at, label } in scale.ticks(6) {
        let power = label.power.map_or_else(String::new, |power| format!("e{power}"));
        let label = format!("{}{power}", label.text).replace('-', "−");
        html += &format!("<text x=\"{}\" y=\"11\">{label}</text>", percent(at));
    }
    html += "</g></svg></th><th scope=\"col\" class=\"number\">95 % interval</th>";
    if has_words {
        html += &format!("<th scope=\"col\" class=\"says\">{}</th>", escaped(&ranking.says));
    }
    html += "</tr></thead>\n<tbody>\n";
    for row in &ranking.rows {
        html += &line(row, &scale, has_words);
    }
    html + "</tbody>\n</table>\n"
}

/// Returns the scale of the value axis. The scale includes zero and all intervals, with space at both ends.
fn scale(ranking: &Ranking) -> Scale {
    let ends = ranking.rows.iter().flat_map(|row| {
        let [low, high] = row.ci95.unwrap_or([f64::NAN; 2]);
        [row.value.unwrap_or(f64::NAN), low, high]
    });
    let ends = || ends.clone().filter(|end| end.is_finite());
    let low = ends().fold(0.0, f64::min);
    let high = ends().fold(0.0, f64::max);
    Scale::new(low, high, false).padded(0.03, true, true)
}

fn line(row: &Ranked, scale: &Scale, has_words: bool) -> String {
    let at = |value: f64| percent(scale.clipped(value));
    let zero = at(0.0);
    let mut lane = format!("<line class=\"zero\" x1=\"{zero}\" x2=\"{zero}\" y1=\"0\" y2=\"100%\"/>");
    if let Some(value) = row.value.filter(|value| value.is_finite()) {
        lane += "<g class=\"c1\">";
        if let Some([low, high]) = row.ci95 {
            let (low, high) = (at(low), at(high));
            lane += &format!("<line x1=\"{low}\" x2=\"{high}\" y1=\"50%\" y2=\"50%\"/>");
        }
        lane += &format!("<use href=\"#f0\" x=\"{}\" y=\"50%\"/></g>", at(value));
    }
    let says =
        if has_words { format!("<td class=\"says\">{}</td>", escaped(&row.says)) } else { String::new() };
    format!(
        "<tr><th scope=\"row\">{}</th><td class=\"lane\"><svg aria-hidden=\"true\">{lane}</svg></td><td class=\"number\">{}</td>{says}</tr>\n",
        escaped(&row.name),
        escaped(&row.text).replace('-', "−")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_on_the_scale_and_what_is_undefined_has_no_dot() {
        let row = |value: Option<f64>| Ranked {
            name: "a <b>".into(),
            value,
            ci95: value.map(|value| [value - 1.0, value + 1.0]),
            ..Ranked::default()
        };
        let ranking = Ranking { rows: vec![row(Some(50.0)), row(None)], ..Ranking::default() };
        let scale = scale(&ranking);
        assert!(scale.low < 0.0 && scale.high > 51.0, "{scale:?}");
        let html = html(&ranking);
        assert_eq!(html.matches("#f0").count(), 1);
        assert_eq!(html.matches("class=\"zero\"").count(), 2);
        assert!(html.contains("a &lt;b&gt;") && !html.contains("says"), "{html}");
    }
}
