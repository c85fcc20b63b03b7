//! Tests of the HTML structure of a report.

mod report_sample;

use lasthop_lab::document::{Block, Cell, Chapter, Document, FirstScreen, Tile};
use lasthop_lab::report::html;
use report_sample::{FIGURES, document};

fn figure<'a>(page: &'a str, id: &str) -> &'a str {
    let (_, rest) = page.split_once(&format!("<figure id=\"{id}\">")).expect(id);
    rest.split_once("</figure>").expect(id).0
}

fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

#[test]
fn every_figure_has_its_anchor_plot_and_entry_in_the_contents() {
    let page = html(&document());
    for (id, ..) in FIGURES {
        for part in [format!("<figure id=\"{id}\">"), format!("<li><a href=\"#{id}\">")] {
            assert_eq!(count(&page, &part), 1, "{part}");
        }
        assert!(count(figure(&page, id), "<svg class=\"area\" role=\"img\" aria-label=\"") >= 1, "{id}");
    }
    for chapter in ["overview", "first", "second"] {
        assert!(page.contains(&format!("<section id=\"{chapter}\">")), "{chapter}");
        assert!(page.contains(&format!("<li><a href=\"#{chapter}\">")), "{chapter}");
    }
}

#[test]
fn a_plot_has_labels_with_units_numbers_and_a_legend() {
    let page = html(&document());
    for (id, x, y) in FIGURES {
        let figure = figure(&page, id);
        let markup = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        assert!(figure.contains(&format!("<p class=\"x-label\">{}</p>", markup(x))), "{id}");
        assert!(figure.contains(&format!("<p class=\"y-label\">{}</p>", markup(y))), "{id}");
        let (_, x_axis) = figure.split_once("<g class=\"ticks x\"").expect(id);
        let (x_axis, y_axis) = x_axis.split_once("<g class=\"ticks y\"").expect(id);
        let (y_axis, _) = y_axis.split_once("</g>").expect(id);
        assert!(
            (2..=12).contains(&count(x_axis, "<text")) && (2..=12).contains(&count(y_axis, "<text")),
            "{id}"
        );
    }
    assert!(figure(&page, "first-fig7").contains(">10<tspan dy=\"-5\">−5</tspan></text>"));
    let legend: Vec<&str> = figure(&page, "first-fig7").split("<li>").skip(1).collect();
    assert_eq!(legend.len(), 6);
    for (entry, name) in legend.iter().zip([
        "Reno</li>",
        "NewReno, delayed ACKs</li>",
        "split &lt;4&gt; &amp; SACK</li>",
        "Reno (published)</li>",
    ]) {
        assert!(entry.contains(name), "{entry}");
    }
}

#[test]
fn curves_are_drawn_by_their_kind() {
    let page = html(&document());
    let sparse = figure(&page, "first-fig7");
    // The figure has markers for three measured curves of seven points, three published curves of four points, and six
    // legend entries.
    assert_eq!(count(sparse, "<use"), 3 * 7 + 3 * 4 + 6);
    assert_eq!(count(sparse, " bar\""), 3);
    assert_eq!(count(sparse, " band\""), 0);
    let dense = figure(&page, "first-fig8");
    assert_eq!((count(dense, "<use"), count(dense, " band\"")), (0, 1));
    let names = figure(&page, "second-tables");
    assert!(names.contains("<text y=\"12\">2.5 flows</text>"));
    assert!(!names.contains("<path class=\"c1 d0"), "no line must join the categories");
    assert_eq!(count(figure(&page, "second-panels"), "<svg class=\"area\""), 2);
}

/// A published point has the colour of its series. The colour of a series is the same in all pictures of a chapter.
#[test]
fn colours_belong_to_names() {
    let page = html(&document());
    let color = |id: &str, name: &str| -> String {
        let entry =
            figure(&page, id).split("<li>").find(|entry| entry.contains(&format!("</svg>{name}</li>")));
        let (_, class) = entry.expect(name).split_once("class=\"").expect(name);
        class[..2].to_string()
    };
    assert_eq!(color("first-fig7", "Reno"), color("first-fig7", "Reno (published)"));
    assert_ne!(color("first-fig7", "Reno"), color("first-fig7", "NewReno, delayed ACKs"));
    assert_eq!(color("second-tables", "flow 2"), color("second-fig7", "flow 2"));
    assert_eq!(color("second-panels", "flow 2"), color("second-fig7", "flow 2"));
    assert_eq!(color("first-fig7", "upper bound"), "c0");
}

#[test]
fn the_matrix_counts_and_links() {
    let page = html(&document());
    let (_, matrix) = page.split_once("<table class=\"matrix\"").expect("a matrix");
    let (matrix, key) = matrix.split_once("</table>").expect("its end");
    let shares = |stops: &str| format!("<td style=\"background:linear-gradient(to right,{stops})\">");
    let row = [
        "<th scope=\"row\"><a href=\"#first\">First &lt;paper&gt;</a><p>Splitting helps as much as printed; who gains most is \
         another one.</p></th>",
        &shares("var(--agrees) 0% 100%"),
        "<a href=\"#first-fig7\">12\u{a0}✓</a></td>",
        &shares("var(--agrees) 0% 50%,var(--shape) 50% 66.67%,var(--differs) 66.67% 100%"),
        "<a href=\"#first-Numbers\">3\u{a0}✓ 1\u{a0}~ 2\u{a0}✗</a></td><td class=\"none\">–</td>",
        &shares("var(--agrees) 0% 44.44%,var(--inconclusive) 44.44% 100%"),
        "4\u{a0}✓ 5\u{a0}?</td>",
    ];
    assert!(matrix.contains(&row.concat()), "{matrix}");
    assert_eq!(count(matrix, "<td class=\"none\">–</td>"), 1 + 4);
    for link in matrix.split("href=\"#").skip(1) {
        let (name, _) = link.split_once('"').expect("a name");
        assert_eq!(count(&page, &format!(" id=\"{name}\"")), 1, "{name}");
    }
    let (key, _) = key.split_once("</p>").expect("a key");
    assert!(key.contains("? inconclusive") && key.contains("✗ differs"), "{key}");
}

#[test]
fn the_forest_has_a_row_for_each_number() {
    let page = html(&document());
    let (_, forest) = page.split_once("<table class=\"forest\">").expect("a forest");
    let (forest, after) = forest.split_once("</table>").expect("its end");
    let rows: Vec<&str> = forest.split("<tr><th").skip(1).collect();
    assert_eq!(rows.len(), 40);
    assert!(
        after.starts_with("\n<p>The chapters&#39; tables list 3 further numbers.</p>")
            || after.starts_with("\n<p>The chapters' tables list 3 further numbers.</p>")
    );
    assert!(rows[0].contains("<use href=\"#f0\" x=\"55%\" y=\"45%\"/>"), "{}", rows[0]);
    assert!(
        rows[0].contains("first: largest gain of &lt;split&gt;</a>") && rows[0].contains("0.4 (−0.1 to 1.0)")
    );
    assert!(
        rows[2].contains("#f0") && rows[2].contains("#h0"),
        "the default reading (f0) and the best reading (h0) must be drawn: {}",
        rows[2]
    );
    assert!(
        rows[3].contains("#to-right") && rows[5].contains("#to-left"),
        "arrows must mark numbers outside the plot"
    );
    assert!(rows[3].contains("#on-right"), "an arrow must mark an interval that continues outside the plot");
    assert!(!rows[4].contains("<use"), "an undefined number must have no marker");
}

/// Only the style sheet sets colours, because they depend on whether the page is dark.
#[test]
fn no_element_has_a_colour_of_its_own() {
    let page = html(&document());
    let (_, body) = page.split_once("<body>").expect("a body");
    let (body, _) = body.split_once("<script>").expect("a script");
    for attribute in ["fill=", "stroke=", "rgb(", "color:"] {
        assert!(!body.contains(attribute), "{attribute}");
    }
}

#[test]
fn the_data_and_the_command_are_beside_each_figure() {
    let page = html(&document());
    let sparse = figure(&page, "first-fig7");
    assert!(sparse.contains("From: <code>lasthop reproduce first --quick</code>"));
    let (_, data) = sparse.split_once("series,x,y,ci95_low,ci95_high\n").expect("a header");
    let (data, _) = data.split_once("</pre>").expect("an end");
    assert_eq!(data.lines().count(), 3 * 7 + 3 * 4);
    // The first value is 1900 / (1 + 0.1). Its interval is from 6 % below to 5 % above the value.
    assert!(data.starts_with("Reno,1e-6,1727.3,1623.6,1813.6\n"), "{data}");
    assert!(figure(&page, "first-long").contains("one in 334 of 200000 points"));
}

#[test]
fn nothing_of_the_data_is_markup() {
    let page = html(&document());
    assert!(page.contains("<title>Samples: a &lt; b &amp; &quot;c&quot;</title>"));
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    assert!(page.contains("First paper: ACKs split &amp; copied over links with p &lt; 1"));
    for raw in ["<script>alert", "<raw>", "<4>", "& copied", "p < 1 "] {
        assert!(!page.contains(raw), "{raw}");
    }
}

/// Preformatted text is collapsed and escaped, but otherwise unchanged.
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

/// A figure with a noisy curve of 100,000 points takes about 15 kB. A usual figure is smaller.
#[test]
fn a_page_is_small() {
    let page = html(&document());
    for (id, ..) in FIGURES {
        let (plot, _) = figure(&page, id).split_once("<details").expect(id);
        let most = if id == "first-long" { 2 * 15_000 } else { 9_000 };
        assert!(plot.len() < most, "{id}: {} bytes", plot.len());
    }
    let bare = html(&Document { title: "Bare".to_string(), ..Document::default() });
    assert!(
        !bare.contains("<svg") && !bare.contains("<script") && bare.len() < 15_000,
        "{} bytes",
        bare.len()
    );
}

#[test]
fn nothing_comes_from_the_network() {
    // Two texts that look like references are removed first. The namespace of SVG looks like a URL but is not loaded.
    // Parts of a picture refer to each other with `url(#…)`.
    let page = html(&document()).replace("http://www.w3.org/2000/svg", "").replace("url(#", "");
    for reference in ["http:", "https:", "src=", "href=\"//", "url(", "@import", "<link"] {
        assert!(!page.contains(reference), "{reference}");
    }
    assert!(
        page.contains("content=\"default-src 'none';"),
        "the content security policy must forbid network access"
    );
}

#[test]
fn the_same_document_gives_the_same_bytes() {
    assert!(html(&document()) == html(&document()));
}

#[test]
fn verdicts_are_worded_and_explained_where_there_are_any() {
    let page = html(&document());
    for verdict in ["agrees", "shape", "differs", "inconclusive"] {
        assert!(page.contains(&format!("<td class=\"{verdict}\">{verdict}<")));
        assert!(page.contains(&format!("<dt class=\"{verdict}\">{verdict}</dt>")));
    }
    assert!(page.contains("<th scope=\"col\">published (kbit/s)</th>"));
    assert!(page.contains("<td class=\"none\">–<"));

    let mut document = document();
    for chapter in &mut document.chapters {
        strip_verdicts(chapter);
        chapter.blocks.retain(|block| !matches!(block, Block::Matrix(_)));
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

/// The first screen is above the introduction and above all chapters.
#[test]
fn the_first_screen_comes_first() {
    let sample = document();
    let Block::Figure(figure) =
        sample.chapters[1].blocks.iter().find(|it| matches!(it, Block::Figure(_))).unwrap()
    else {
        panic!("a figure")
    };
    let tile = Tile { label: "goodput <x>".into(), value: "1915 ± 12".into(), unit: "kbit/s".into() };
    let screen = FirstScreen {
        sentence: "A delivers more.".into(),
        tiles: vec![tile],
        figures: vec![figure.clone(), figure.clone()],
    };
    let page = html(&Document { first_screen: Some(screen), ..sample });
    let at = |part: &str| page.find(part).unwrap_or_else(|| panic!("{part}"));
    let order = [
        "<h1>",
        "<p>A delivers more.</p>",
        "<dt>goodput &lt;x&gt;</dt><dd>1915 ± 12 <small>kbit/s</small></dd>",
        "<figure id=\"answer-fig7\">",
        "<figure id=\"answer-fig7-2\">",
        "What was published",
        "<section id=\"overview\">",
    ];
    assert!(order.windows(2).all(|pair| at(pair[0]) < at(pair[1])));
    assert!(page.contains("id=\"f0\""), "the page must define the markers of the figures");
}
