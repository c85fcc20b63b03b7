//! The page's structure, read as text.

mod report_sample;

use lasthop_lab::document::{Block, Cell, Chapter, Document};
use lasthop_lab::report::html;
use report_sample::{FIGURES, document};

/// The page without the plotting library.
fn own(page: &str) -> String {
    let (before, library) = page.split_once("<script type=\"text/javascript\">").expect("the library");
    let (_, after) = library.split_once("</script>").expect("its end");
    format!("{before}{after}")
}

#[test]
fn every_figure_has_its_anchor_plot_and_entry_in_the_contents() {
    let page = html(&document());
    for (id, ..) in FIGURES {
        for part in [
            format!("<figure id=\"{id}\">"),
            format!("<div class=\"plot\" id=\"{id}-plot\""),
            format!("<li><a href=\"#{id}\">"),
        ] {
            assert_eq!(page.matches(&part).count(), 1, "{part}");
        }
    }
    assert_eq!(page.matches("<script type=\"application/json\">").count(), FIGURES.len());
    for chapter in ["first", "second"] {
        assert!(page.contains(&format!("<section id=\"{chapter}\">")), "{chapter}");
        assert!(page.contains(&format!("<li><a href=\"#{chapter}\">")), "{chapter}");
    }
}

#[test]
fn the_data_of_a_plot_is_json_with_titles_and_units() {
    let page = html(&document());
    let plots = page.split("<script type=\"application/json\">").skip(1);
    for (plot, (id, x, y)) in plots.zip(FIGURES) {
        let (json, _) = plot.split_once("</script>").expect("its end");
        let plot: serde_json::Value = serde_json::from_str(json).expect(id);
        let title =
            |axis: &str| plot["layout"][axis]["title"]["text"].as_str().unwrap_or_default().to_string();
        assert_eq!(title("xaxis"), x);
        assert_eq!(title("yaxis"), y.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"));
        assert_eq!(plot["layout"]["xaxis"]["type"], if id == "first-fig7" { "log" } else { "linear" });
        let longest = plot["data"].as_array().into_iter().flatten().filter_map(|trace| trace["x"].as_array());
        assert!(longest.map(Vec::len).max() <= Some(4_004), "{id}");
    }
}

#[test]
fn nothing_of_the_data_is_markup() {
    let page = html(&document());
    assert!(page.contains("<title>Samples: a &lt; b &amp; &quot;c&quot;</title>"));
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(page.contains("First paper: ACKs split &amp; copied over links with p &lt; 1"));
    for raw in ["<script>alert", "<raw>", "<4>", "& copied", "p < 1 "] {
        assert!(!own(&page).contains(raw), "{raw}");
    }
}

/// What was given is there as it is, folded, and no markup.
#[test]
fn folded_text_stays_as_it_is() {
    let text = "\n[link.path]\nrate = \"2 Mbit/s\"  # </pre><script>alert(1)</script>\n";
    let folded = Block::Folded { title: "The scenario & more".to_string(), text: text.to_string() };
    let chapter = Chapter { id: "made".to_string(), title: "Made".to_string(), blocks: vec![folded] };
    let page = html(&Document { chapters: vec![chapter], ..Document::default() });
    let shown = "<pre>\n\n[link.path]\nrate = &quot;2 Mbit/s&quot;  # &lt;/pre&gt;&lt;script&gt;alert(1)&lt;/script&gt;\n</pre>";
    assert!(page.contains("<details>\n<summary>The scenario &amp; more</summary>\n"), "{page}");
    assert!(page.contains(shown), "{page}");
}

#[test]
fn the_library_is_there_once_and_only_for_plots() {
    let page = html(&document());
    assert_eq!(page.matches("* plotly.js v").count(), 1);
    assert!(page.len() < 6_000_000, "{} bytes", page.len());

    let bare = html(&Document { title: "Bare".to_string(), ..Document::default() });
    assert!(!bare.contains("plotly.js v") && bare.len() < 20_000, "{} bytes", bare.len());
}

#[test]
fn nothing_comes_from_the_network() {
    let own = own(&html(&document()));
    for reference in ["http:", "https:", "src=", "href=\"//", "url(", "@import", "<link"] {
        assert!(!own.contains(reference), "{reference}");
    }
    assert!(own.contains("content=\"default-src 'none';"), "the browser enforces it too");
}

#[test]
fn the_same_document_gives_the_same_bytes() {
    assert!(html(&document()) == html(&document()));
}

#[test]
fn verdicts_are_worded_and_explained_where_there_are_any() {
    let page = html(&document());
    for verdict in ["agrees", "shape", "differs"] {
        assert!(page.contains(&format!("<td class=\"{verdict}\">{verdict}</td>")));
        assert!(page.contains(&format!("<dt class=\"{verdict}\">{verdict}</dt>")));
    }
    assert!(page.contains("<th scope=\"col\" class=\"number\">published (kbit/s)</th>"));
    assert!(page.contains("<td class=\"number none\">–</td>"));

    let mut document = document();
    for chapter in &mut document.chapters {
        strip_verdicts(chapter);
    }
    assert!(!html(&document).contains("<dl class=\"verdicts\""));
}

fn strip_verdicts(chapter: &mut Chapter) {
    for block in &mut chapter.blocks {
        if let Block::Table(table) = block {
            for cell in table.rows.iter_mut().flatten() {
                if matches!(cell, Cell::Verdict(_)) {
                    *cell = Cell::Verdict(None);
                }
            }
        }
    }
}
