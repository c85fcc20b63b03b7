//! Runs the 22 example test cases of draft-ietf-ccwg-bbr on nine paths each, and prints the table of
//! `docs/development/validation/bbr3-draft.md`.
//!
//! With a folder as argument, the program also draws rate, bytes in flight and state over time for the middle path of
//! each case: `cargo run -p lasthop-tcp --example bbr3-cases -- docs/images/bbr`

#[path = "../../tests/bbr3/cases/mod.rs"]
mod cases;
#[allow(dead_code, reason = "the test uses more")]
#[path = "../../tests/bbr3/lab/mod.rs"]
mod lab;
mod picture;

use cases::{CASES, Case, Why};
use std::path::Path;

enum Verdict {
    Holds(String),
    Not(String),
    NotHere(String),
}

fn verdict(case: &Case, rate: f64, rtt: f64, folder: Option<&Path>) -> Verdict {
    let mut lab = case.lab(rate, rtt);
    let seen = (case.run)(&mut lab);
    if let Some(folder) = folder {
        // Also draws the half second after the case.
        lab.run_for(0.5);
        let heading = format!("{}: {}, {:.0} ms", case.title, picture::rate(rate), rtt * 1e3);
        let text = picture::draw(&heading, &lab);
        std::fs::write(folder.join(format!("{}.svg", case.name)), text)
            .expect("the image folder is writable");
    }
    match (seen, (case.except)(rate, rtt)) {
        (Ok(what), _) => Verdict::Holds(what),
        (Err(Why::Not(_)), Some(reason)) => Verdict::Not(reason.to_owned()),
        (Err(Why::Not(why)), None) => Verdict::Not(why),
        (Err(Why::NotHere(why)), _) => Verdict::NotHere(why.to_owned()),
    }
}

/// Prints one section per case.
pub fn main() {
    let folder = std::env::args().nth(1);
    let folder = folder.as_deref().map(Path::new);
    for (number, case) in CASES.iter().enumerate() {
        let [rates, rtts] = case.paths;
        let (mut holds, mut lines, mut shown) = (0, Vec::<String>::new(), String::new());
        for rate in rates {
            for rtt in rtts {
                let is_middle = rate == rates[1] && rtt == rtts[1];
                let path = format!("{}, {} ms", picture::rate(rate), rtt * 1e3);
                match verdict(case, rate, rtt, folder.filter(|_| is_middle)) {
                    Verdict::Holds(what) if is_middle => {
                        holds += 1;
                        shown = what;
                    }
                    Verdict::Holds(_) => holds += 1,
                    Verdict::Not(why) => note(&mut lines, &format!("does not hold: {why}"), &path),
                    Verdict::NotHere(why) => note(&mut lines, &format!("cannot be shown: {why}"), &path),
                }
            }
        }
        println!(
            "### {}. {}\n\n![{}](../../images/bbr/{}.svg)\n",
            number + 1,
            case.title,
            case.title,
            case.name
        );
        println!("Expected: {}.\n", case.expects);
        println!(
            "Result: holds on {holds} of 9 paths{}",
            if shown.is_empty() { ".".to_owned() } else { format!(". Picture: {shown}.") }
        );
        if !lines.is_empty() {
            println!();
        }
        for line in lines {
            println!("{line}.");
        }
        println!();
    }
}

/// Appends `path` to the line that lists the paths for the reason `why`. Creates this line if it does not exist.
fn note(lines: &mut Vec<String>, why: &str, path: &str) {
    let known = lines.iter_mut().find(|line| line.starts_with(&format!("* {why}")));
    match known {
        Some(line) => {
            line.pop();
            line.push_str(&format!("; {path})"));
        }
        None => lines.push(format!("* {why} ({path})")),
    }
}
