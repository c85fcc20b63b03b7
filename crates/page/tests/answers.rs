//! Tests of the answers to the lab page's requests, without a browser.

use lasthop_page::Lab;
use lasthop_page::answer::{NamedColumns as Columns, decode};
use lasthop_sim::FLOW_METRICS;
use serde_json::{Value, json};

fn ask(lab: &mut Lab, request: Value) -> (Value, Columns) {
    decode(&lab.answer(&request.to_string())).expect("an answer")
}

/// Executes a whole run in slices of `events` events.
fn run(lab: &mut Lab, begin: Value, events: usize) -> (Value, Columns) {
    let (begun, _) = ask(lab, begin);
    assert_eq!(begun["error"], Value::Null);
    loop {
        let (header, columns) = ask(lab, json!({ "ask": "advance", "events": events }));
        assert_eq!(header["error"], Value::Null);
        if header["done"] == json!(true) {
            return (header, columns);
        }
    }
}

fn column<'c>(columns: &'c Columns, name: &str) -> &'c [f64] {
    columns.iter().find(|(known, _)| known == name).map(|(_, values)| &values[..]).expect(name)
}

const LINE: &str = "rate=2Mbit/s,rtt=60ms,queue=10packets,loss=1%,duration=5s";

#[test]
fn slices_change_nothing_and_numbers_are_those_of_a_run() {
    let begin = json!({ "ask": "begin", "line": LINE, "seed": "7", "samples": true,
                        "segments": { "from_s": 0, "to_s": 1e9, "most": 100_000 } });
    let (whole, columns) = run(&mut Lab::new(), begin.clone(), usize::MAX);
    let (sliced, again) = run(&mut Lab::new(), begin, 100);
    let bits = |columns: &Columns| -> Vec<(String, Vec<u64>)> {
        columns
            .iter()
            .map(|(name, values)| (name.clone(), values.iter().map(|one| one.to_bits()).collect()))
            .collect()
    };
    assert_eq!(whole, sliced);
    assert_eq!(bits(&columns), bits(&again));

    let scenario = lasthop_scenario::Scenario::load(LINE).expect("valid");
    let outcome = lasthop_sim::run(&scenario, 7);
    for metric in FLOW_METRICS {
        assert_eq!(whole["flows"][0][metric.name], json!((metric.of)(&outcome.flows[0])), "{}", metric.name);
    }
    // The columns contain every data segment, and a reason for every retransmission.
    let flow = &outcome.flows[0];
    assert_eq!(column(&columns, "data.sent_s").len() as u64, flow.source.data_sent);
    let again = column(&columns, "data.reason").iter().filter(|reason| **reason >= 0.0).count();
    assert_eq!(again as u64, flow.source.retransmitted);
    let lost = column(&columns, "data.fate").iter().filter(|fate| **fate >= 0.0).count();
    assert_eq!(lost as u64, flow.account.lost.total());
}

/// In the ready path `drop-patterns` (Fall and Floyd 1996, four drops), the link drops segments 14, 24, 26 and 28. Each
/// segment has 960 bytes.
#[test]
fn losses_are_where_the_scenario_puts_them_and_have_a_story() {
    let mut lab = Lab::new();
    let begin = json!({ "ask": "begin", "line": "drop-patterns", "seed": "1",
                        "segments": { "from_s": 0, "to_s": 1e9, "most": 100_000 } });
    let (_, columns) = run(&mut lab, begin, usize::MAX);
    let lost: Vec<f64> = column(&columns, "data.start")
        .iter()
        .zip(column(&columns, "data.fate"))
        .filter(|(_, fate)| **fate >= 0.0)
        .map(|(start, _)| start / 960.0)
        .collect();
    assert_eq!(lost, [14.0, 24.0, 26.0, 28.0]);

    let (story, _) =
        ask(&mut lab, json!({ "ask": "story", "line": "drop-patterns", "seed": "1", "offset": 24 * 960 }));
    let what: Vec<&str> =
        story["lines"].as_array().expect("lines").iter().filter_map(|line| line["what"].as_str()).collect();
    // The segment is sent, lost at the bottleneck, and retransmitted. The retransmission crosses both links.
    let of = |word: &str| what.iter().filter(|one| **one == word).count();
    assert_eq!(
        (of("joins"), of("arrives"), of("lost"), of("again"), of("acked")),
        (4, 3, 1, 1, 1),
        "{what:?}"
    );
}

#[test]
fn a_window_gives_its_part_and_says_where_it_stops() {
    let begin = |from: f64, to: f64, most: usize| {
        json!({ "ask": "begin", "line": LINE, "seed": "1", "segments": { "from_s": from, "to_s": to, "most": most },
                "hops": { "from_s": from, "to_s": to, "most": 100_000 } })
    };
    let mut lab = Lab::new();
    let (header, columns) = run(&mut lab, begin(1.0, 2.0, 100_000), usize::MAX);
    let sent = column(&columns, "data.sent_s");
    assert!(!sent.is_empty() && sent.iter().all(|at| (1.0..=2.0).contains(at)), "{sent:?}");
    assert_eq!(header["segments_to_s"], json!(2.0));
    // The path has only one link, so that each data segment crosses a link once. All other passages are those of ACKs.
    let data = column(&columns, "hop.data").iter().filter(|is| **is == 1.0).count();
    assert_eq!(data, sent.len());
    let (header, columns) = run(&mut lab, begin(1.0, 2.0, 50), usize::MAX);
    assert_eq!(column(&columns, "data.sent_s").len() + column(&columns, "ack.time_s").len(), 50);
    assert!(header["segments_to_s"].as_f64().expect("a time") < 2.0);
}

#[test]
fn repetitions_have_intervals_and_are_paired() {
    let mut lab = Lab::new();
    let mut goodputs = Vec::new();
    for run_number in 0..4 {
        for (variant, line) in [LINE.to_owned(), format!("{LINE},congestion=reno")].into_iter().enumerate() {
            let seed = (run_number + 1).to_string();
            let begin = json!({ "ask": "begin", "line": line, "seed": seed, "variant": variant });
            let (header, _) = run(&mut lab, begin, 1000);
            if variant == 0 {
                goodputs.push(header["flows"][0]["goodput_kbps"].as_f64().expect("a number"));
            }
        }
    }
    let (answer, _) = ask(&mut lab, json!({ "ask": "intervals" }));
    let number = &answer["variants"][0][0]["goodput_kbps"];
    let mean = goodputs.iter().sum::<f64>() / 4.0;
    assert!((number["mean"].as_f64().expect("a mean") - mean).abs() < 1e-9);
    assert_eq!(number["runs"], json!(4));
    assert_eq!(number["change"]["percent"], json!(0.0), "the first variant must be its own baseline");
    assert!(answer["variants"][1][0]["goodput_kbps"]["change"]["ci95"].is_array());
    ask(&mut lab, json!({ "ask": "forget" }));
    assert_eq!(ask(&mut lab, json!({ "ask": "intervals" })).0["variants"], json!([]));
}

#[test]
fn files_come_from_the_page() {
    let mut lab = Lab::new();
    let line = "trace=mine.down,up=1Mbit/s,rtt=40ms,duration=2s";
    let (refused, _) = ask(&mut lab, json!({ "ask": "check", "line": line }));
    assert_eq!(
        refused["error"]["message"],
        "link.path.down.trace: cannot read `mine.down`: this page has no such file: drop it onto the page"
    );
    // The trace has one delivery opportunity of 1504 bytes every 10 ms, which is a rate of 1.2032 Mbit/s.
    ask(&mut lab, json!({ "ask": "file", "name": "mine.down", "text": "10\n20\n30\n40\n" }));
    let (drawn, _) = ask(&mut lab, json!({ "ask": "check", "line": line }));
    assert_eq!(drawn["links"][0]["down"]["service"], "trace");
    assert!(
        drawn["links"][0]["down"]["rate"].as_str().is_some_and(|rate| rate.starts_with("1.2")),
        "{drawn}"
    );
    // The page provides a scenario as a file. Keys after the file's name change values of the scenario.
    let toml = std::fs::read_to_string("../../scenarios/lte.toml").expect("a scenario");
    ask(&mut lab, json!({ "ask": "file", "name": "lab.toml", "text": toml }));
    let (show, _) = ask(&mut lab, json!({ "ask": "show", "line": "lab.toml,duration=3s" }));
    assert!(show["toml"].as_str().is_some_and(|text| text.contains("duration = \"3 s\"")), "{show}");
}

/// Positions count UTF-16 units, like browsers. An emoji has two such units.
#[test]
fn what_is_wrong_has_a_place() {
    let mut lab = Lab::new();
    let (answer, _) =
        ask(&mut lab, json!({ "ask": "check", "line": "rate=10Mbit/s,rtt=40ms,congestion=renoo" }));
    let error = &answer["error"];
    assert_eq!(
        (&error["from"], &error["to"], &error["underlined"]),
        (&json!(34), &json!(39), &json!("renoo"))
    );
    assert!(error["help"].as_str().is_some_and(|help| help.starts_with("did you mean `reno`?")), "{error}");
    ask(
        &mut lab,
        json!({ "ask": "file", "name": "lab.toml", "text": "title = \"\u{1f4e1}\"\nduration = 7\n" }),
    );
    let (answer, _) = ask(&mut lab, json!({ "ask": "check", "line": "lab.toml" }));
    let error = &answer["error"];
    assert_eq!(
        (&error["file"], &error["line"], &error["from"]),
        (&json!("lab.toml"), &json!(2), &json!(24)),
        "{error}"
    );
}

#[test]
fn a_request_that_makes_no_sense_is_an_answer_too() {
    let mut lab = Lab::new();
    for request in [
        "",
        "{",
        "[]",
        "{\"ask\":\"sing\"}",
        "{\"ask\":\"begin\",\"line\":\"umts\",\"seed\":\"-1\"}",
        "{\"ask\":\"begin\",\"line\":\"umts\",\"seed\":\"1\",\"variant\":99}",
        "{\"ask\":\"advance\",\"events\":0}",
        "{\"ask\":\"check\",\"line\":\"\"}",
        "{\"ask\":\"check\",\"line\":\"/etc/passwd\"}",
    ] {
        let (header, columns) = decode(&lab.answer(request)).expect("an answer");
        assert!(
            header["error"]["message"].as_str().is_some_and(|message| !message.is_empty()),
            "{request}: {header}"
        );
        assert!(columns.is_empty());
    }
}

/// The page offers exactly the mechanisms of the catalogue.
#[test]
fn everything_that_can_be_chosen_is_offered() {
    let (offered, _) = ask(&mut Lab::new(), json!({ "ask": "catalogue" }));
    let catalogue = lasthop_scenario::Catalogue::default();
    let names: Vec<&str> = catalogue.seams().iter().map(|seam| seam.name).collect();
    let told: Vec<&str> = offered["questions"]
        .as_array()
        .expect("questions")
        .iter()
        .filter_map(|one| one["name"].as_str())
        .collect();
    assert_eq!(told, names);
    let reasons = offered["again"].as_array().expect("reasons");
    assert!(
        reasons.len() == 11 && reasons[0] == "fast_retransmit" && reasons[10] == "handshake",
        "{reasons:?}"
    );
}
