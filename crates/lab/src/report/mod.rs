//! The HTML that shows a document: one page that needs nothing but itself, so it also works offline.
//!
//! * [`html`] puts the page together; `page.css` says how it looks, on screen, in the dark and on paper.
//! * `plot`: a figure as Plotly's JSON, with `palette` for its looks and `thin` for long series; `page.js`
//!   draws it in the browser.
//! * `table`: tables, and what the words in their verdicts mean.
//! * `anchor`: names for links; `escape`: data within markup.
//!
//! The same document gives the same bytes. The page forbids itself the network by its content security policy,
//! whatever the plotting library might ask for.

mod anchor;
mod escape;
mod palette;
mod plot;
mod table;
mod thin;

use crate::document::{Block, Chapter, Document};
use crate::figure::Figure;
use anchor::Anchors;
use escape::{escaped, in_script};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
const POLICY: &str =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:";

/// The page that shows `document`.
///
/// Anchors: a chapter's is its id, a figure's is `<chapter>-<figure>`.
pub fn html(document: &Document) -> String {
    let mut anchors = Anchors::default();
    let chapters: Vec<Section> =
        document.chapters.iter().map(|chapter| section(chapter, &mut anchors)).collect();
    let contents = contents(&chapters);
    let verdicts = if table::has_verdicts(document) { table::VERDICTS } else { "" };
    let plotly = if has_figures(document) { plot::library() } else { String::new() };
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
         <style>\n{STYLE}</style>\n\
         </head>\n\
         <body>\n\
         {contents}\
         <main>\n\
         <header id=\"top\">\n\
         <h1>{title}</h1>\n\
         {introduction}\
         {verdicts}\
         <noscript><p class=\"notice\">The plots need JavaScript; text and tables do not.</p></noscript>\n\
         </header>\n\
         {body}\
         </main>\n\
         {plotly}\
         <script>\n{SCRIPT}</script>\n\
         </body>\n\
         </html>\n"
    )
}

/// A chapter's HTML, and what the contents list of it.
struct Section {
    anchor: String,
    title: String,
    entries: Vec<Entry>,
    html: String,
}

/// A line of the contents below a chapter.
struct Entry {
    anchor: String,
    title: String,
}

fn section(chapter: &Chapter, anchors: &mut Anchors) -> Section {
    let anchor = anchors.unique(&chapter.id);
    let title = escaped(&chapter.title);
    let mut entries = Vec::new();
    let mut html = format!(
        "<section id=\"{anchor}\">\n<h2>{title} <a class=\"anchor\" href=\"#{anchor}\" aria-label=\"link\">#</a></h2>\n"
    );
    for block in &chapter.blocks {
        match block {
            Block::Heading(text) => {
                let entry = Entry::new(&anchor, text, text, anchors);
                let Entry { anchor, title } = &entry;
                html += &format!(
                    "<h3 id=\"{anchor}\">{title} <a class=\"anchor\" href=\"#{anchor}\" aria-label=\"link\">#</a></h3>\n"
                );
                entries.push(entry);
            }
            Block::Text(text) => html += &paragraphs(text),
            Block::Figure(figure) => {
                let entry = Entry::new(&anchor, &figure.id, &figure.title, anchors);
                html += &drawing(figure, &entry);
                entries.push(entry);
            }
            Block::Table(table) => html += &table::html(table),
            Block::Folded { title, text } => html += &folded(title, text),
        }
    }
    html += "</section>\n";
    Section { anchor, title, entries, html }
}

/// The browser drops a line's end right after the opening tag: this one, not the text's own.
fn folded(title: &str, text: &str) -> String {
    let (title, text) = (escaped(title), escaped(text));
    format!("<details>\n<summary>{title}</summary>\n<pre>\n{text}</pre>\n</details>\n")
}

impl Entry {
    fn new(chapter: &str, id: &str, title: &str, anchors: &mut Anchors) -> Entry {
        Entry { anchor: anchors.unique(&format!("{chapter}-{id}")), title: escaped(title) }
    }
}

fn drawing(figure: &Figure, entry: &Entry) -> String {
    let Entry { anchor, title } = entry;
    let plot = in_script(&plot::json(figure));
    let caption = escaped(&figure.caption);
    let notes: String =
        plot::notes(figure).iter().map(|note| format!(" <small>{}</small>", escaped(note))).collect();
    format!(
        "<figure id=\"{anchor}\">\n\
         <div class=\"title\">{title} <a class=\"anchor\" href=\"#{anchor}\" aria-label=\"link\">#</a></div>\n\
         <div class=\"plot\" id=\"{anchor}-plot\" role=\"group\" aria-label=\"{title}\"></div>\n\
         <script type=\"application/json\">{plot}</script>\n\
         <figcaption>{caption}{notes}</figcaption>\n\
         </figure>\n"
    )
}

fn contents(chapters: &[Section]) -> String {
    let mut list = String::new();
    for chapter in chapters {
        list += &format!("<li><a href=\"#{}\">{}</a>", chapter.anchor, chapter.title);
        if !chapter.entries.is_empty() {
            list += "\n<ol>\n";
            for Entry { anchor, title } in &chapter.entries {
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

/// Plain text; empty lines part its paragraphs.
fn paragraphs(text: &str) -> String {
    text.split("\n\n")
        .filter(|paragraph| !paragraph.trim().is_empty())
        .map(|paragraph| format!("<p>{}</p>\n", escaped(paragraph.trim())))
        .collect()
}

fn has_figures(document: &Document) -> bool {
    document
        .chapters
        .iter()
        .flat_map(|chapter| &chapter.blocks)
        .any(|block| matches!(block, Block::Figure(_)))
}
