//! Tests of papers as data. Every built-in paper can be read and run. A folder defines a new paper. Mistakes in the
//! files are reported with their position.

use lasthop_lab::document::Block;
use lasthop_lab::figure::{CurveKind, Figure};
use lasthop_lab::item::{Item, Verdict};
use lasthop_lab::papers::{NAMES, Paper, Reproduction, ReproductionSettings};
use lasthop_lab::progress::Silent;
use lasthop_lab::study::reproduce;
use lasthop_lab::study::run_store::RunStore;
use lasthop_lab::study::source::PaperSource;
use lasthop_lab::study::study::Study;
use lasthop_scenario::Problem;
use std::fs;
use std::path::Path;

const QUICK: ReproductionSettings = ReproductionSettings { quick: true, seed: 1 };

const PATH: &str = r#"
title = "a wire and a lossy last hop"
duration = "8 s"
headers = "40 bytes"
[link.wire]
from = "server"
to = "bs"
rate = "10 Mbit/s"
one_way_delay = "40 ms"
[link.air]
from = "bs"
to = "client"
rate = "2 Mbit/s"
one_way_delay = "1 ms"
down.queue = "50 packets"
down.channel = { kind = "iid", loss = 0.001 }
[flow.bulk]
from = "server"
to = "client"
segment = "1000 bytes"
sender.recovery = "new_reno"
"#;

fn shown() -> String {
    let page =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/how-to/write-a-paper.md"))
            .unwrap();
    let (_, from) = page.split_once("```toml\n").unwrap();
    from.split_once("```").unwrap().0.to_owned()
}

fn folder(study: &str, published: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("study.toml"), study).unwrap();
    fs::write(folder.path().join("path.toml"), PATH).unwrap();
    if !published.is_empty() {
        fs::write(folder.path().join("published.csv"), published).unwrap();
    }
    folder
}

fn reproduction(folder: &Path) -> Result<Reproduction, Problem> {
    Paper::in_folder(folder).unwrap().reproduce(&QUICK, &RunStore::none(), &Silent)
}

fn reproduced(folder: &Path, store: &RunStore) -> Vec<Item> {
    Paper::in_folder(folder).unwrap().reproduce(&QUICK, store, &Silent).unwrap().items
}

fn figures(done: &Reproduction) -> impl Iterator<Item = &Figure> {
    done.chapter.blocks.iter().filter_map(|block| match block {
        Block::Figure(figure) => Some(figure),
        _ => None,
    })
}

fn mistake(folder: &Path) -> Problem {
    Study::read(PaperSource::Folder(folder.to_owned()))
        .and_then(|study| reproduce::check(&study, &QUICK).map(|_| ()))
        .expect_err("a mistake")
}

#[test]
fn the_papers_are_valid_in_every_cell() {
    for name in NAMES {
        let paper = Paper::named(name).expect(name).unwrap_or_else(|problem| panic!("{name}: {problem}"));
        let study = paper.study;
        for quick in [true, false] {
            let cells = reproduce::check(&study, &ReproductionSettings { quick, seed: 1 });
            let cells = cells.unwrap_or_else(|problem| {
                panic!("{}:{}: {problem} `{}`", problem.file(), problem.line(), problem.underlined())
            });
            assert!(cells > 0, "{name}");
        }
        // Every published number must have a binding (an entry `[[published]]` with the quantity to measure). A
        // published 0 needs no binding, because a claim may cover the 0 ("none up to a window of 10").
        for row in study.published.iter().filter(|row| row.value() != 0.0) {
            let binding = lasthop_lab::study::rows::binding(&study, row);
            assert!(
                binding.is_some(),
                "{name}: no binding measures {} {} {}",
                row.item,
                row.series,
                row.metric
            );
        }
    }
}

#[test]
fn the_first_study_of_the_page_runs() {
    let folder = folder(&shown(), "");
    let items = reproduced(folder.path(), &RunStore::none());
    let claim = items.iter().find(|item| item.item == "claim-above").unwrap();
    assert_eq!(
        (claim.runs, claim.reading.as_str()),
        (2, "default"),
        "the claim must have two points, because a quick run has two loss rates"
    );
    let points: Vec<&Item> = items.iter().filter(|item| item.item == "goodput").collect();
    assert_eq!(points.len(), 4);
    assert!(points.iter().all(|item| item.runs == 6 && item.verdict.is_none()));
    let under: Vec<&Item> = items.iter().filter(|item| item.item == "sensitivity-claim-above").collect();
    assert_eq!(under.iter().map(|item| item.reading.as_str()).collect::<Vec<_>>(), ["delayed ACKs: off"]);
}

#[test]
fn a_published_number_is_judged_by_its_class() {
    let first = folder(&shown(), "");
    let items = reproduced(first.path(), &RunStore::none());
    let ours =
        items.iter().find(|item| item.series == "reno" && item.x["loss"] == 0.001).unwrap().measured.unwrap();
    let csv = format!(
        "item,series,x,metric,unit,value,source\ntable,reno,loss=0.001,goodput,kbit/s,{ours:.1},here\n\
         table,reno,loss=0.001,goodput,kbit/s,{:.1},there\n",
        2.0 * ours
    );
    let second = folder(&(shown() + BINDING), &csv);
    let items = reproduced(second.path(), &RunStore::none());
    let rows: Vec<&Item> = items.iter().filter(|item| item.item == "table").collect();
    assert_ne!(rows[0].verdict, Some(Verdict::Differs), "{:?}", rows[0]);
    assert_eq!(rows[1].verdict, Some(Verdict::Differs));
    assert!((rows[1].deviation_pct.unwrap() + 50.0).abs() < 0.1);
    assert!((rows[1].margin.unwrap() - 0.1 * ours).abs() < 0.01);
}

const BINDING: &str =
    "\n[[published]]\nrows = \"table\"\nmetric = \"goodput\"\nseries_is = \"sender\"\nclass = \"quantity\"\n";
const TABLE: &str = "item,series,x,metric,unit,value,source\ntable,reno,loss=0.01,goodput,kbit/s,500,here\ntable,westwood+,loss=0.01,goodput,kbit/s,500,here\n";
const NS2: &str = "item,series,x,metric,reading,value,half_width,source\n";

/// The caption of a figure shows the verdict on a claim.
#[test]
fn a_caption_has_the_verdict_of_its_claim() {
    let reproduced = |chapter: &str, claim: (&str, &str)| {
        let folder = folder(&shown().replace(claim.0, claim.1), "");
        fs::write(folder.path().join("chapter.md"), chapter).unwrap();
        reproduction(folder.path())
    };
    // The gain is above -1000 % at every point. The gain is not above 1000 % at any point.
    let chapter = "{figure:goodput}\nWhat the paper says {verdict:claim-above}.\n";
    for (bound, said, verdict) in
        [("-1000", "agrees with ours", Verdict::Agrees), ("1000", "differs from ours", Verdict::Differs)]
    {
        let done = reproduced(chapter, ("than = 0", &format!("than = {bound}"))).unwrap();
        let item = done.items.iter().find(|item| item.item == "claim-above").unwrap();
        assert_eq!(item.verdict, Some(verdict));
        let captions: Vec<&str> = figures(&done).map(|figure| figure.caption.as_str()).collect();
        assert_eq!(captions, [format!("What the paper says {said}.")]);
    }
    for wanted in ["goodput", "claim-abvoe"] {
        let problem = reproduced(&format!("Here {{verdict:{wanted}}}.\n"), ("", "")).unwrap_err();
        assert!(problem.message().contains("has a verdict"), "{problem}");
    }
}

/// The caption contains the verdict instead of a fixed statement. The reason is that quick runs do not confirm the
/// claim about CUBIC's Reno-friendly region.
#[test]
fn the_caption_of_a_contested_claim_is_its_verdict() {
    let study = Paper::named("rfc9438").unwrap().unwrap().study;
    let prose = study.prose.as_deref().unwrap();
    let caption = prose.split("{figure:table2}").nth(1).unwrap().split("\n\n").next().unwrap();
    assert!(caption.contains("{verdict:claim-reno-friendly}"), "{caption}");
}

#[test]
fn ns2_stands_beside_its_row_and_in_the_tables_and_pictures() {
    let study = (shown() + BINDING).replace("y_label = \"goodput", "ns2 = \"table\"\ny_label = \"goodput");
    let folder = folder(&study, TABLE);
    let ns2 = "table,reno,loss=0.01,goodput,,512.5,7.5,there\ngoodput,reno,loss=0.01,goodput,delayed ACKs: off,400,,there\n";
    fs::write(folder.path().join("ns2.csv"), NS2.to_owned() + ns2).unwrap();
    let done = reproduction(folder.path()).unwrap();
    let beside: Vec<(&str, Option<[f64; 2]>)> = done
        .items
        .iter()
        .filter(|item| item.ns2.is_some())
        .map(|item| (item.series.as_str(), item.ns2_ci95))
        .collect();
    // The second number of ns-2 belongs to an answer that is tried only for claims. No row therefore shows this number.
    assert_eq!(beside, [("reno", Some([505.0, 520.0]))]);
    let tables = done.chapter.blocks.iter().filter_map(|block| match block {
        Block::Table(table) if table.columns.contains(&"ns-2".to_owned()) => Some(table),
        _ => None,
    });
    let cells: Vec<Vec<&str>> =
        tables.flat_map(|table| &table.rows).map(|row| vec![row[0].text(), row[3].text()]).collect();
    assert_eq!(
        cells[..2],
        [
            ["table, reno, loss 0.01: goodput", "512.5 ± 7.5 kbit/s"],
            ["table, westwood+, loss 0.01: goodput", "–"]
        ]
    );
    let curves =
        figures(&done).flat_map(|figure| &figure.curves).filter(|curve| curve.kind == CurveKind::Other);
    let points: Vec<(&str, usize)> = curves.map(|curve| (curve.name.as_str(), curve.points.len())).collect();
    assert_eq!(points, [("reno, ns-2", 1)]);
}

#[test]
fn a_number_of_ns2_beside_no_row_or_answer_is_refused() {
    let refused = |row: &str| {
        let folder = folder(&(shown() + BINDING), TABLE);
        fs::write(folder.path().join("ns2.csv"), format!("{NS2}{row}\n")).unwrap();
        let problem = mistake(folder.path());
        assert!(problem.file().ends_with("ns2.csv"), "{problem}");
        problem.message().to_owned()
    };
    assert_eq!(refused("tables,reno,loss=0.01,goodput,,1,,there"), "this paper has no item `tables`");
    let answer = "this paper has no answer `delayed ACKs: on`";
    assert_eq!(refused("table,reno,loss=0.01,goodput,delayed ACKs: on,1,,there"), answer);
}

/// Returns the items of a paper with these causes. The published number, 500 kbit/s, differs widely from the goodput of
/// both senders.
fn with_causes(causes: &str) -> Vec<Item> {
    let tried = (shown() + BINDING).replace("claims = \"claim-*\"", "claims = \"claim-*\"\nrows = \"table\"");
    let folder = folder(&tried, TABLE);
    fs::write(folder.path().join("causes.toml"), causes).unwrap();
    reproduced(folder.path(), &RunStore::none())
}

#[test]
fn each_row_that_differs_has_a_cause_and_a_written_one_wins() {
    let causes = r#"
[[cause]]
rows       = { item = "table", series = ["reno", "cubic"], x = { loss = [0.01, 0.03] } }
reading    = "default"
kind       = "ns-2"
cause      = "An undocumented default."
experiment = "lasthop reproduce ./mine"
"#;
    let items = with_causes(causes);
    let of = |reading: &str, item: &str| -> Vec<(&str, Option<&str>, Option<&str>)> {
        let items = items.iter().filter(|row| row.item == item && row.reading == reading);
        items.map(|row| (&*row.series, row.cause.as_deref(), row.experiment.as_deref())).collect()
    };
    let written = Some("ns-2: An undocumented default");
    let open = Some("open: no answer makes the row agree (1 tried)");
    let command = Some("lasthop reproduce ./mine");
    assert_eq!(of("default", "table"), [("reno", written, command), ("westwood+", open, None)]);
    assert_eq!(
        of("delayed ACKs: off", "sensitivity-table"),
        [("reno", written, command), ("westwood+", open, None)]
    );
    let has = |item: &&Item| matches!(item.verdict, Some(Verdict::Differs | Verdict::Shape));
    assert!(items.iter().all(|item| item.cause.is_some() == has(&item)), "{items:#?}");
}

#[test]
fn an_answer_under_which_the_row_agrees_is_its_cause() {
    // A link of 140 kbit/s that loses one packet in 10,000 carries 135 kbit/s of payload after the first RTT.
    let slow = "[question.rate]\n\"140 kbit/s\" = { axis.loss = { \"link.air.down.channel.loss\" = \"0.0001\" }, \"link.air.rate\" = \"140 kbit/s\", \"link.air.down.queue\" = \"500 packets\" }\n\n[[try]]";
    let study = (shown() + BINDING + "within = 20\n")
        .replacen("[[try]]", slow, 1)
        .replace("claims = \"claim-*\"", "rows = \"table\"");
    let items = reproduced(folder(&study, &TABLE.replace("500", "125")).path(), &RunStore::none());
    let of = |reading: &str, series: &str| {
        items
            .iter()
            .find(|row| row.reading == reading && row.series == series && row.margin.is_some())
            .unwrap()
    };
    let slow = of("rate: 140 kbit/s", "reno");
    assert_eq!((slow.verdict, slow.cause.as_deref()), (Some(Verdict::Agrees), None), "{slow:?}");
    assert_eq!(of("default", "reno").cause.as_deref(), Some("answer: rate: 140 kbit/s"));
    assert!(of("default", "reno").experiment.as_ref().unwrap().starts_with("lasthop reproduce "));
    let slow = of("rate: 140 kbit/s", "reno");
    assert_eq!((slow.verdict, slow.cause.as_deref()), (Some(Verdict::Agrees), None), "{slow:?}");
}

#[test]
fn a_cause_of_no_row_or_no_reading_is_refused() {
    let refused = |cause: &str| {
        let folder = folder(&(shown() + BINDING), TABLE);
        fs::write(folder.path().join("causes.toml"), format!("[[cause]]\n{cause}\n")).unwrap();
        let problem = Study::read(PaperSource::Folder(folder.path().to_owned())).unwrap_err();
        assert!(problem.file().ends_with("causes.toml"), "{problem}");
        let advice = problem.advice().unwrap_or_default();
        format!("line {}: `{}`: {}; {advice}", problem.line(), problem.underlined(), problem.message())
    };
    let rest = "kind = \"answer\"\ncause = \"c\"";
    let all = [
        refused(&format!("rows = {{ item = \"tabel\" }}\n{rest}")),
        refused(&format!("rows = {{ item = \"table\", x = {{ loss = 0.02 }} }}\n{rest}")),
        refused(&format!("rows = {{ item = \"claim-above\", metric = \"goodput\" }}\n{rest}")),
        refused(&format!("rows = {{ items = \"table\" }}\n{rest}")),
        refused(&format!("rows = {{}}\nreading = \"best\"\n{rest}")),
        refused("rows = {}\nkind = \"answers\"\ncause = \"c\""),
        refused("rows = {}\nkind = \"open\"\ncause = \" \""),
        refused(&format!("rows = {{}}\nwhy = \"c\"\n{rest}")),
    ];
    insta::assert_snapshot!(all.join("\n\n"));
}

#[test]
fn a_picture_of_a_measure_keeps_to_the_measures_place() {
    let measure =
        "\n[figure.gain]\ntitle = \"gain\"\nmeasure = \"gain\"\nx = \"loss\"\ny_label = \"gain, %\"\n";
    let folder = folder(&(shown() + measure), "");
    let done = reproduction(folder.path()).unwrap();
    let gains = figures(&done).filter(|figure| figure.id == "gain");
    let curves: Vec<usize> = gains.map(|figure| figure.curves.len()).collect();
    assert_eq!(curves, [1]);
}

/// Only the width of the interval decides whether more repetitions are run. If the margin of a published number is far
/// below our spread, the number of repetitions grows to the grid's `most`. If the margin is far above our spread, the
/// first block of repetitions suffices.
#[test]
fn cells_of_a_wide_interval_are_run_more_often() {
    let binding = "\n[[published]]\nrows = \"*\"\nmetric = \"goodput\"\nseries_is = \"sender\"\nclass = \"quantity\"\nwithin = { narrow = 1e-6, wide = 1e6 }\n";
    let study = (shown() + binding).replace("full = 20", "full = 3, most = 7");
    let study = study.replace("series_is = \"sender\"", "at = { sender = \"reno\" }");
    let csv = "item,series,x,metric,unit,value,source\none,narrow,loss=0.001,goodput,kbit/s,900,here\n\
               one,wide,loss=0.01,goodput,kbit/s,900,here\n";
    let folder = folder(&study, csv);
    let full = ReproductionSettings { quick: false, seed: 1 };
    let items =
        Paper::in_folder(folder.path()).unwrap().reproduce(&full, &RunStore::none(), &Silent).unwrap().items;
    let runs =
        |series: &str| items.iter().find(|item| item.item == "one" && item.series == series).unwrap().runs;
    assert_eq!((runs("narrow"), runs("wide")), (7, 3));
    let items = reproduced(folder.path(), &RunStore::none());
    assert!(items.iter().filter(|item| item.item == "one").all(|item| item.runs == 6));
}

#[test]
fn a_measure_against_another_place_says_how_they_are_compared() {
    let folder = folder(&shown().replace("as      = \"change of means, %\"\n", ""), "");
    assert_eq!(mistake(folder.path()).message(), "`against` and `as` are only valid together");
}

#[test]
fn a_claim_along_an_axis_that_its_grid_has_not_is_refused() {
    let refused = |from: &str, to: &str| {
        let folder = folder(&shown().replace(from, to), "");
        mistake(folder.path()).message().to_owned()
    };
    let at_each = "at_each = \"loss\", is = \"above\"";
    assert_eq!(
        refused(at_each, "at_each = \"lost > 0 and lost < 1\", is = \"above\""),
        "this paper has no axis `lost`"
    );
    // A bound that is not a number is an error. If the bound were ignored, every value would be selected.
    assert_eq!(
        refused(at_each, "along = \"loss > few\", is = \"falls\""),
        "`loss > few`: `few` is not a number"
    );
    // A value that the axis lacks is an error. Without this check, the claim would silently have no point.
    assert_eq!(
        refused(at_each, "at = { sender = \"veno\" }, at_each = \"loss\", is = \"above\""),
        "this paper has no value of `sender` `veno`"
    );
}

#[test]
fn a_second_start_goes_on_and_gives_the_same() {
    let (study, kept) = (folder(&shown(), ""), tempfile::tempdir().unwrap());
    let first = reproduced(study.path(), &RunStore::open(kept.path()));
    let store = RunStore::open(kept.path());
    // The default reading has 24 runs: 2 senders x 2 loss rates x 6 repetitions. The answer has 16 runs: 4 cells x 4
    // repetitions.
    assert_eq!(store.len(), 24 + 16);
    assert_eq!(reproduced(study.path(), &store), first);
    assert_eq!(RunStore::open(kept.path()).len(), store.len(), "the second start must run nothing");
    assert_eq!(reproduced(study.path(), &RunStore::none()), first);
}

fn said(from: &str, to: &str) -> String {
    let study = shown();
    assert!(study.contains(from), "{from}");
    let folder = folder(&study.replacen(from, to, 1), "");
    let problem = mistake(folder.path());
    format!(
        "line {}: {}\n  `{}`\n  help: {}",
        problem.line(),
        problem.message().replace(&folder.path().display().to_string(), "FOLDER"),
        problem.underlined(),
        problem.advice().unwrap_or("–")
    )
}

#[test]
fn a_course_of_a_column_that_is_not_sampled_is_refused() {
    let course = "\n[figure.cwnd]\ntitle = \"cwnd\"\ny_label = \"cwnd, bytes\"\ncourse = { duration = \"5 s\" }\n\
                  curve = [{ name = \"reno\", column = \"cwnd_r\" }]\n";
    let folder = folder(&(shown() + course), "");
    let problem = mistake(folder.path());
    assert_eq!((problem.underlined(), problem.advice()), ("cwnd_r", Some("did you mean `cwnd_r_segments`?")));
}

#[test]
fn mistakes_are_told_with_their_place() {
    let all = [
        said("metric = \"goodput\"", "metric = \"goodputs\""),
        said("of   = \"goodput_kbps\"", "of   = \"goodput_mbps\""),
        said("of   = \"goodput_kbps\"", "of   = \"sum(goodput_kbps\""),
        said("axes = [\"sender\", \"loss\"]", "axes = [\"sender\", \"los\"]"),
        said("measure = \"gain\", at_each", "measure = \"gains\", at_each"),
        said("is = \"above\"", "is = \"larger\""),
        said("\"link.air.down.channel.loss\" = \"{loss}\"", "\"link.air.down.channel.lose\" = \"{loss}\""),
        said("\"flow.bulk.receiver.ack_policy\"", "\"@bulk.receiver.ack_policy\""),
        said("path = \"path.toml\"", "path = \"paths.toml\""),
        said("citation =", "cites ="),
    ];
    insta::assert_snapshot!(all.join("\n\n"));
}

/// Study with a grid that is run only under answers, a grid without runs, and a computed measure.
const GRIDS: &str = r#"
paper    = "mine"
title    = "grids"
summary  = "which grids are run"
citation = "an example, not a paper"
axis.sender = { values = ["reno", "new_reno"], set = { "flow.bulk.sender.recovery" = "{sender}" } }
axis.n = { values = [1, 2, 3] }
grid.under = { path = "path.toml", axes = ["sender"], runs = { questions = 4, quick_questions = 2 } }
grid.squares = { computed = true, axes = ["n"] }
metric.goodput = { of = "goodput_kbps", unit = "kbit/s" }
measure.square = { grid = "squares", formula = "n * n" }
question."delayed ACKs".on = { "flow.bulk.receiver.ack_policy" = "delayed" }
points = [{ item = "under", grid = "under", metric = "goodput" }, { item = "square", measure = "square" }]
try = [{ grids = ["under"], points = "under", claims = "claim-*" }]
[[claim]]
item = "claim-under"
words = "NewReno carries something"
holds = { metric = "goodput", grid = "under", at = { sender = "new_reno" }, is = "above", than = 0 }
"#;

#[test]
fn what_is_run_under_answers_alone_has_no_row_by_default() {
    let items = reproduced(folder(GRIDS, "").path(), &RunStore::none());
    let of = |reading: &str| -> Vec<(String, u64)> {
        let items = items.iter().filter(|item| item.reading == reading);
        items.map(|item| (item.item.clone(), item.measured.unwrap_or(-1.0) as u64)).collect()
    };
    let squares = [1, 4, 9].map(|square| ("square".to_owned(), square));
    assert_eq!(of("default"), squares);
    let under: Vec<String> = of("delayed ACKs: on").into_iter().map(|(item, _)| item).collect();
    assert_eq!(under, ["sensitivity-claim-under", "sensitivity-under", "sensitivity-under"]);
}

#[test]
fn a_grid_without_runs_and_an_unknown_computation_are_mistakes() {
    let said = |from: &str, to: &str| {
        let folder = folder(&GRIDS.replacen(from, to, 1), "");
        let problem = mistake(folder.path());
        (problem.message().to_owned(), problem.advice().unwrap_or_default().to_owned())
    };
    let (message, _) = said("computed = true, ", "");
    assert_eq!(message, "the grid `squares` has no runs");
    let (message, advice) = said("formula = \"n * n\"", "by = \"miyoshi::los\"");
    assert!(message.contains("no computation `miyoshi::los`"), "{message}");
    assert!(advice.contains("`miyoshi::loss`"), "{advice}");
}

#[test]
fn a_binding_may_take_some_rows_of_an_item_by_their_coordinates() {
    let study = shown()
        + r#"
[[published]]
rows   = "goodput"
where  = { x = { loss = 0.001 } }
metric = "goodput"
at     = { sender = "reno" }
class  = "quantity"
[[published]]
rows   = "goodput"
metric = "goodput"
at     = { sender = "reno" }
class  = "exact"
"#;
    let published = "item,series,x,metric,unit,value,source\n\
                     goodput,reno,loss=0.001,goodput,kbit/s,1000,Fig. 1\n\
                     goodput,reno,loss=0.01,goodput,kbit/s,1000,Fig. 1\n";
    let items = reproduced(folder(&study, published).path(), &RunStore::none());
    let margins: Vec<f64> = items.iter().filter_map(|item| item.margin).collect();
    assert_eq!(margins, [50.0, 0.5]);
}
