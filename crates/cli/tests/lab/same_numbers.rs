//! The numbers that the lab's page shows in a browser equal those of the command `lasthop`.

use crate::browser::Browser;
use crate::{OpenedPage, lasthop, opened};
use lasthop_page::Lab;
use lasthop_page::answer::decode;
use serde_json::{Value, json};
use std::time::Instant;

/// Scenarios that, taken together, use many kinds of queues, channels, link layers and endpoints.
const LINES: &[&str] = &[
    "rate=10Mbit/s,rtt=40ms,queue=1bdp,loss=0.5%,duration=5s",
    "rate=10Mbit/s,rtt=40ms,queue={kind=\"codel\"},loss=1%,burst=5,congestion=reno,duration=5s",
    "rate=5Mbit/s,rtt=100ms,loss=1%,congestion=bbr,recovery=rack,count=2,duration=5s",
    "rate=20Mbit/s,rtt=30ms,ber=1e-5,arq={kind=\"repeat\",transmissions=4,delay=\"6 ms\"},duration=5s",
    "hasegawa,duration=20s",
    "hasegawa,ack_splitting=split,receiver.loss_discrimination=jtcp,link.wireless.down.channel.rate=7e-5,duration=20s",
    "hasegawa,node.bs.middlebox=snoop,duration=20s",
    "umts,duration=20s",
    "umts-fading,duration=10s",
    "lte,duration=3s",
    "lte-fading,duration=5s",
    "wifi,duration=2s",
    "wavelan,duration=10s",
    "geo-satellite,duration=10s",
    "leo-satellite,duration=5s",
    "nr-5g,duration=1s",
    "dsl,duration=2s,profile=rfc",
    "drop-patterns",
];
const SEEDS: [&str; 3] = ["1", "7", "9223372036854775807"];
const MORE_SEEDS: [&str; 5] = ["1", "2", "7", "4294967296", "9223372036854775807"];

/// Returns a one-line scenario for every mechanism of the catalogue that can be used without further keys.
fn mechanisms(lab: &mut Lab) -> Vec<String> {
    let (offered, _) = decode(&lab.answer("{\"ask\":\"catalogue\"}")).expect("an answer");
    let named = |value: &Value| value["name"].as_str().expect("a name").to_owned();
    let mut lines = Vec::new();
    for question in offered["questions"].as_array().expect("questions") {
        for mechanism in question["mechanisms"].as_array().expect("mechanisms") {
            lines.push(format!(
                "rate=10Mbit/s,rtt=40ms,queue=1bdp,loss=0.5%,duration=2s,{}={}",
                named(question),
                named(mechanism)
            ));
        }
    }
    lines.retain(|line| {
        let told = lab.answer(&json!({ "ask": "check", "line": line }).to_string());
        decode(&told).is_ok_and(|(header, _)| header["error"].is_null())
    });
    lines
}

/// Runs the engine in this program. Returns the numbers of all flows, and an FNV-1a hash over the 32-bit words of all
/// columns.
fn native(lab: &mut Lab, line: &str, seed: &str) -> (Value, u32) {
    lab.answer(&request(line, seed, true).to_string());
    let answer = lab.answer(&json!({ "ask": "advance", "events": usize::MAX }).to_string());
    let (header, columns) = decode(&answer).expect("an answer");
    let words = columns.iter().flat_map(|(_, values)| values).flat_map(|value| {
        let bits = value.to_bits();
        [bits as u32, (bits >> 32) as u32]
    });
    let sum = words.fold(0x811c_9dc5_u32, |hash, word| (hash ^ word).wrapping_mul(0x0100_0193));
    (header["flows"].clone(), sum)
}

fn request(line: &str, seed: &str, asks: bool) -> Value {
    let mut request = json!({ "line": line, "seed": seed, "samples": true,
                              "segments": { "from_s": 0, "to_s": 1e9, "most": 100_000 } });
    if asks {
        request["ask"] = json!("begin");
    }
    request
}

/// Compares the results of flows. The JSON numbers 1 and 1.0 count as equal.
fn is_same(ones: &Value, others: &Value) -> bool {
    let rows = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let (ones, others) = (rows(ones), rows(others));
    let is_same_flow = |(one, other): (&Value, &Value)| {
        let (Some(one), Some(other)) = (one.as_object(), other.as_object()) else { return false };
        one.len() == other.len()
            && one.iter().all(|(name, value)| {
                other
                    .get(name)
                    .is_some_and(|it| it == value || (value.is_number() && it.as_f64() == value.as_f64()))
            })
    };
    ones.len() == others.len() && !ones.is_empty() && ones.iter().zip(&others).all(is_same_flow)
}

#[derive(Default)]
struct Durations {
    native: f64,
    page: f64,
}

/// Compares every number of every flow, and every bit of the samples and segments. Returns the total durations of the
/// runs, ms.
fn are_the_same(browser: &mut Browser, lab: &mut Lab, lines: &[String], seeds: &[&str]) -> Durations {
    let mut took = Durations::default();
    for line in lines {
        for seed in seeds {
            let begun = Instant::now();
            let (flows, sum) = native(lab, line, seed);
            took.native += begun.elapsed().as_secs_f64() * 1e3;
            let page = browser.value(&format!("lab.run({})", request(line, seed, false)));
            assert_eq!(page["header"]["error"], Value::Null, "{line}");
            let told = &page["header"]["flows"];
            assert!(
                is_same(told, &flows),
                "{line}, seed {seed}: is the page out of date? make page: {told} {flows}"
            );
            assert_eq!(page["sum"], json!(sum), "{line}, seed {seed}: is the page out of date? make page");
            took.page += page["ms"].as_f64().expect("a time");
        }
    }
    took
}

#[test]
fn runs_are_the_same_bit_for_bit() {
    let Some(OpenedPage { mut browser, .. }) = opened("") else { return };
    browser.wait("document.body.dataset.repetitions === '10'");
    let mut lab = Lab::new();
    let lines: Vec<String> = LINES.iter().map(ToString::to_string).collect();
    are_the_same(&mut browser, &mut lab, &lines[..2], &SEEDS);
    are_the_same(&mut browser, &mut lab, &lines[2..], &SEEDS[2..]);
    let mechanisms = mechanisms(&mut lab);
    assert!(LINES.len() + mechanisms.len() >= 50, "{mechanisms:?}");
    are_the_same(&mut browser, &mut lab, &mechanisms, &SEEDS[..1]);
}

/// Compares all scenarios with five seeds, and measures the speed of the page relative to this program (`make
/// page-times`).
#[test]
#[ignore = "takes minutes; needs an idle machine and a release build: make page-times"]
fn all_runs_are_the_same_and_the_page_is_not_much_slower() {
    let Some(OpenedPage { mut browser, .. }) = opened("") else { return };
    browser.wait("document.body.dataset.repetitions === '10'");
    let mut lab = Lab::new();
    let lines: Vec<String> = LINES.iter().map(ToString::to_string).chain(mechanisms(&mut lab)).collect();
    let Durations { native, page } = are_the_same(&mut browser, &mut lab, &lines, &MORE_SEEDS);
    let (runs, ratio) = (lines.len() * MORE_SEEDS.len(), page / native);
    println!("{runs} runs of {} scenarios are the same bit for bit", lines.len());
    println!("native {native:.0} ms, page {page:.0} ms: {ratio:.2} times as long");
    // The bound does not apply to a debug build of this program, which is slow.
    assert!(cfg!(debug_assertions) || ratio < 2.5, "{ratio}");
}

/// The page offers every mechanism, parameter, ready path and number of this program's engine.
#[test]
fn what_can_be_chosen_is_the_same() {
    let Some(OpenedPage { mut browser, .. }) = opened("") else { return };
    let (offered, _) = decode(&Lab::new().answer("{\"ask\":\"catalogue\"}")).expect("an answer");
    let page = browser.value("lab.ask({ ask: 'catalogue' })");
    assert!(page == offered, "the page is out of date: make page");
}

/// A variant saved by the page equals the output of `show`. `run` with the saved file gives the page's numbers.
#[test]
fn a_saved_scenario_gives_the_same_numbers_on_the_command_line() {
    let Some(OpenedPage { mut browser, .. }) = opened("") else { return };
    for line in [LINES[1], LINES[5], LINES[9]] {
        let toml = browser.text(&format!(
            "lab.ask({}).then(answer => answer.toml)",
            json!({ "ask": "show", "line": line })
        ));
        let shown = lasthop(&["show", line]);
        assert_eq!(
            toml,
            String::from_utf8_lossy(&shown.stdout),
            "{line}: is the page out of date? make page"
        );
        let file = browser.folder.path().join("saved.toml");
        std::fs::write(&file, &toml).expect("the file can be written");
        for seed in &SEEDS[1..] {
            let flows = browser.value(&format!(
                "lab.run({}).then(answer => answer.header.flows)",
                request(line, seed, false)
            ));
            let told = lasthop(&[
                "run",
                file.to_str().expect("text"),
                "--runs",
                "1",
                "--seed",
                seed,
                "--format",
                "json",
            ]);
            assert!(told.status.success(), "{line}: {}", String::from_utf8_lossy(&told.stderr));
            let objects = String::from_utf8(told.stdout).expect("text");
            let ours = objects.lines().map(|object| serde_json::from_str::<Value>(object).expect("JSON"));
            let ours: Vec<Value> =
                ours.filter(|object| object["flow"].is_string() && object.get("link").is_none()).collect();
            for flow in flows.as_array().expect("flows") {
                let of_program = ours
                    .iter()
                    .find(|one| one["flow"] == flow["flow"])
                    .unwrap_or_else(|| panic!("{line}: {flow} {objects}"));
                for (name, value) in
                    flow.as_object().expect("numbers").iter().filter(|(name, _)| *name != "flow")
                {
                    let told = &of_program[name];
                    let told = if told.is_object() { &told["mean"] } else { told };
                    assert_eq!(told.as_f64(), value.as_f64(), "{line}, seed {seed}, {name}");
                }
            }
        }
    }
}
