//! First chapter of the report of `reproduce`: matrix of papers, chart of headline numbers, and provenance.

use crate::provenance;
use crate::provenance_chapter;
use lasthop_lab::document::{Block, Chapter};
use lasthop_lab::item::Item;
use lasthop_lab::overview::Forest;
use lasthop_lab::papers::ReproductionSettings;
use lasthop_lab::study::counts::{self, Chance};
use lasthop_lab::study::overview::{Overview, matrix};

pub(crate) fn chapter(
    overviews: &[Overview],
    rows: &[Item],
    settings: &ReproductionSettings,
    digests: &[String],
) -> Chapter {
    let is_published = |item: &&Item| {
        overviews.iter().all(|overview| overview.row.title != item.paper || overview.is_published)
    };
    let default = || rows.iter().filter(|item| item.is_of_default());
    let published = || default().filter(is_published);
    let found = counts::of(published());
    let own = counts::of(default().filter(|item| !is_published(item)));
    let chance = Chance::of(published());
    let quick =
        if settings.quick { "Quick run: with few repetitions, many rows are inconclusive. " } else { "" };
    let mut blocks = Vec::new();
    if found.all() > 0 {
        blocks.push(Block::Text(format!(
            "{quick}{} published numbers and claims: {}. {}",
            found.all(),
            counts::words(&found),
            chance.words()
        )));
    }
    if own.all() > 0 {
        blocks.push(Block::Text(format!(
            "Unpublished claims of Lasthop (the same paths with today's senders and related schemes): {} in total, {}.",
            own.all(),
            counts::words(&own)
        )));
    }
    blocks.push(Block::Matrix(matrix(overviews)));
    let headlines: Vec<_> = overviews.iter().flat_map(|overview| overview.headlines.clone()).collect();
    if !headlines.is_empty() {
        let caption =
            "Headline numbers: deviation of our number from the published number, in units of the margin, \
                       with 95 % intervals. Filled: with the paper's text alone; hollow: with the best \
                       answers to its open questions."
                .into();
        blocks.push(Block::Forest(Forest { caption, rows: headlines }));
    }
    let runs = if settings.quick { "quick" } else { "in full" };
    blocks.push(Block::Text(format!(
        "lasthop {}, {runs}, seed {}: {}. Papers by the SHA-256 of their files: {}.",
        provenance::version(),
        settings.seed,
        provenance_chapter::command_line(std::env::args()),
        digests.join(", ")
    )));
    Chapter { id: "overview".into(), title: "At a glance".into(), blocks }
}
