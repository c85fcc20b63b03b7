//! HTML of a document: one self-contained page that works without network access.
//!
//! * [`html`]: the page.
//! * `page.css`: style of the page on screen, in dark mode and on paper.
//! * `first_screen`: the main result.
//! * `matrix`, `forest`: overview of a reproduction.
//! * `ranking`: ranked candidates.
//! * `table`: tables and the explanation of verdicts.
//! * `sequence`: time-sequence graphs, with their segments as data.
//! * `anchor`: names of the anchors to which links refer.
//!
//! `lasthop-charts` draws figures as SVG. These figures need no scripts, can be printed, and use the page's colours.
//! The page's script adds tooltips, a save button, a choice of settings above tables, and interactive time-sequence
//! graphs.
//!
//! Equal documents produce byte-identical pages. The content security policy of the page forbids network access.

mod anchor;
mod first_screen;
mod forest;
mod matrix;
mod ranking;
mod sequence;
mod table;

use crate::document::{Block, Chapter, Document};
use crate::figure::Figure;
use anchor::Anchors;
use lasthop_charts::plot::escape::escaped;
use lasthop_charts::plot::looks::Looks;
use lasthop_charts::plot::{self, markers};
use pulldown_cmark::{Event, Parser};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
const SEQUENCE_SCRIPT: &str = include_str!("sequence.js");
const POLICY: &str =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:";

/// Returns the page of `document`. A chapter's anchor is its id. A figure's anchor is `<chapter>-<figure>`.
pub fn html(document: &Document) -> String {
    let mut anchors = Anchors::reserving(markers::ids().chain(["top".to_string()]));
    let answer = document.first_screen.as_ref();
    let answer_style = answer.map_or("", |_| first_screen::STYLE);
    let answer = answer.map_or(String::new(), |screen| first_screen::html(screen, &mut anchors));
    let chapters: Vec<ChapterHtml> =
        document.chapters.iter().map(|chapter| section(chapter, &mut anchors)).collect();
    let contents = contents(&chapters);
    let verdicts = if table::has_verdicts(document) { table::VERDICTS } else { "" };
    let markers = if has_plots(document) { markers::definitions() } else { String::new() };
    let script = script(document);
    let title = escaped(&document.title);
    let introduction = paragraphs(&document.introduction);
    let body: String = chapters.into_iter().map(|chapter| chapter.html).collect();
    format!(
        "<!DOCTYPE html>\n\
         <html lang=\"en\">\n\
         <head>\n\
         <meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <title>{title}</title>\n\
         <style>\n{STYLE}{}{answer_style}</style>\n\
         </head>\n\
         <body>\n\
         {markers}\
         {contents}\
         <main>\n\
         <header id=\"top\">\n\
         <h1>{title}</h1>\n\
         {answer}\
         {introduction}\
         {verdicts}\
         </header>\n\
         {body}\
         </main>\n\
         {script}\
         </body>\n\
         </html>\n",
        lasthop_charts::STYLE
    )
}

/// Returns the scripts that the document needs. A function wraps the scripts, so that their names are not global.
fn script(document: &Document) -> String {
    let has =
        |wanted: fn(&Block) -> bool| document.chapters.iter().flat_map(|chapter| &chapter.blocks).any(wanted);
    let has_sequence = has(|block| matches!(block, Block::Sequence(_)));
    let is_scripted = !first_figures(document).is_empty()
        || has(|block| matches!(block, Block::Figure(_) | Block::Switched { .. }));
    let mut scripts = String::new();
    if has_sequence {
        scripts.extend(lasthop_charts::SEQUENCE);
        scripts += SEQUENCE_SCRIPT;
    }
    if is_scripted || has_sequence {
        scripts += lasthop_charts::PICTURE;
        scripts += SCRIPT;
        return format!("<script>\n(() => {{\n\"use strict\";\n{scripts}}})();\n</script>\n");
    }
    scripts
}

struct ChapterHtml {
    anchor: String,
    title: String,
    entries: Vec<ContentsEntry>,
    html: String,
}

struct ContentsEntry {
    anchor: String,
    title: String,
}

fn section(chapter: &Chapter, anchors: &mut Anchors) -> ChapterHtml {
    let anchor = anchors.unique(&chapter.id);
    let title = escaped(&chapter.title);
    let looks = Looks::of(figures(chapter));
    let mut entries = Vec::new();
    let mut html = format!(
        "<section id=\"{anchor}\">\n<h2>{title} <a class=\"anchor\" href=\"#{anchor}\" aria-label=\"link\">#</a></h2>\n"
    );
    for block in &chapter.blocks {
        match block {
            Block::Heading(text) => {
                let entry = ContentsEntry::new(&anchor, text, text, anchors);
                let ContentsEntry { anchor, title } = &entry;
                html += &format!(
                    "<h3 id=\"{anchor}\">{title} <a class=\"anchor\" href=\"#{anchor}\" aria-label=\"link\">#</a></h3>\n"
                );
                entries.push(entry);
            }
            Block::Text(text) => html += &prose(text),
            Block::Figure(figure) => {
                let entry = ContentsEntry::new(&anchor, &figure.id, &figure.title, anchors);
                html += &drawing(figure, &looks, &entry);
                entries.push(entry);
            }
            Block::Sequence(sequence) => {
                let entry = ContentsEntry::new(&anchor, &sequence.id, &sequence.title, anchors);
                html += &sequence::html(sequence, &entry.anchor);
                entries.push(entry);
            }
            Block::Matrix(matrix) => html += &matrix::html(matrix),
            Block::Forest(forest) => html += &forest::html(forest),
            Block::Ranking(ranking) => html += &ranking::html(ranking),
            Block::Table(table) => html += &table::html(table),
            Block::Switched { table, settings } => html += &table::switched(table, settings),
            Block::Folded { title, text } => html += &folded(title, text),
        }
    }
    html += "</section>\n";
    ChapterHtml { anchor, title, entries, html }
}

/// Returns the HTML of a collapsed text. Browsers drop a newline directly after `<pre>`. The extra newline after
/// `<pre>` preserves a newline at the beginning of the text.
fn folded(title: &str, text: &str) -> String {
    let (title, text) = (escaped(title), escaped(text));
    format!("<details>\n<summary>{title}</summary>\n<pre>\n{text}</pre>\n</details>\n")
}

impl ContentsEntry {
    fn new(chapter: &str, id: &str, title: &str, anchors: &mut Anchors) -> ContentsEntry {
        ContentsEntry { anchor: anchors.unique(&format!("{chapter}-{id}")), title: escaped(title) }
    }
}

fn drawing(figure: &Figure, looks: &Looks, entry: &ContentsEntry) -> String {
    let ContentsEntry { anchor, title } = entry;
    let (plot, data) = plot::html(figure, looks);
    let caption = escaped(&figure.caption);
    let mut notes: String =
        plot::notes(figure).iter().map(|note| format!(" <small>{}</small>", escaped(note))).collect();
    if !figure.source.is_empty() {
        notes += &format!(" <small>From: <code>{}</code></small>", escaped(&figure.source));
    }
    format!(
        "<figure id=\"{anchor}\">\n\
         <div class=\"title\">{title} <a class=\"anchor\" href=\"#{anchor}\" aria-label=\"link\">#</a></div>\n\
         {plot}\
         <figcaption>{caption}{notes}</figcaption>\n\
         {data}\
         </figure>\n"
    )
}

fn contents(chapters: &[ChapterHtml]) -> String {
    let mut list = String::new();
    for chapter in chapters {
        list += &format!("<li><a href=\"#{}\">{}</a>", chapter.anchor, chapter.title);
        if !chapter.entries.is_empty() {
            list += "\n<ol>\n";
            for ContentsEntry { anchor, title } in &chapter.entries {
                list += &format!("<li><a href=\"#{anchor}\">{title}</a></li>\n");
            }
            list += "</ol>\n";
        }
        list += "</li>\n";
    }
    format!(
        "<nav aria-label=\"Contents\">\n<a class=\"up\" href=\"#top\">Contents</a>\n<ol>\n{list}</ol>\n</nav>\n"
    )
}

/// Returns the HTML of a text in Markdown. HTML elements in the text are shown as plain text.
fn prose(text: &str) -> String {
    let shown = Parser::new(text).map(|event| match event {
        Event::Html(html) | Event::InlineHtml(html) => Event::Text(html),
        other => other,
    });
    let mut html = String::new();
    pulldown_cmark::html::push_html(&mut html, shown);
    html
}

/// Returns the HTML paragraphs of a plain text. Empty lines separate the paragraphs.
fn paragraphs(text: &str) -> String {
    text.split("\n\n")
        .filter(|paragraph| !paragraph.trim().is_empty())
        .map(|paragraph| format!("<p>{}</p>\n", escaped(paragraph.trim())))
        .collect()
}

fn has_plots(document: &Document) -> bool {
    let mut blocks = document.chapters.iter().flat_map(|chapter| &chapter.blocks);
    !first_figures(document).is_empty()
        || blocks.any(|block| matches!(block, Block::Figure(_) | Block::Forest(_) | Block::Ranking(_)))
}

fn first_figures(document: &Document) -> &[Figure] {
    document.first_screen.as_ref().map_or(&[], |screen| &screen.figures)
}

fn figures(chapter: &Chapter) -> impl Iterator<Item = &Figure> + Clone {
    chapter
        .blocks
        .iter()
        .filter_map(|block| if let Block::Figure(figure) = block { Some(figure) } else { None })
}
