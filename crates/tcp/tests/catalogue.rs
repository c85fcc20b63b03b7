//! Tests that every mechanism describes itself, and that congestion controls declare the properties that their papers
//! and RFCs state.

use lasthop_base::{Choice, Stream};
use lasthop_tcp::Catalogue;
use lasthop_tcp::sender::congestion::{self, Nature, Start};

#[test]
fn every_mechanism_is_described() {
    let catalogue = Catalogue::default();
    let seams = catalogue.seams();
    assert!(seams.len() >= 13);
    let mistakes: Vec<String> = seams.iter().flat_map(|seam| seam.mistakes()).collect();
    assert!(mistakes.is_empty(), "{mistakes:#?}");
}

fn controls() -> impl Iterator<Item = (&'static str, Nature, Option<&'static str>)> {
    congestion::ALL.iter().map(|mechanism| {
        let choice = Choice::of(mechanism);
        let random = Stream::named(1, "start");
        let start = Start { window: 10_000, ssthresh: 1 << 30, mss: 1000, selective: true, random };
        (mechanism.info.name, (choice.build)(&choice.values, start).nature(), mechanism.info.linux_name)
    })
}

fn with(is: impl Fn(&Nature) -> bool) -> Vec<&'static str> {
    let mut names: Vec<&str> =
        controls().filter(|(_, nature, _)| is(nature)).map(|(name, ..)| name).collect();
    names.sort_unstable();
    names
}

/// Congestion controls have the names of Linux's modules (`tcp_*.c` in net/ipv4), except `westwood_plus`.
#[test]
fn kernel_modules_have_their_names() {
    let mut modules: Vec<(&str, &str)> =
        controls().filter_map(|(name, _, module)| Some((name, module?))).collect();
    modules.sort_unstable();
    let same = ["bbr", "bic", "cubic", "dctcp", "htcp", "hybla", "illinois", "reno", "scalable", "veno"];
    let mut expected: Vec<(&str, &str)> = same.iter().map(|name| (*name, *name)).collect();
    expected.extend([("westwood_plus", "westwood"), ("yeah", "yeah")]);
    expected.sort_unstable();
    assert_eq!(modules, expected);
}

/// Scalable controls: DCTCP (RFC 8257) and Prague (RFC 9331). Only an L4S sender uses ECT(1) (RFC 9331 §4.1).
#[test]
fn scalable_controls_are_those_of_their_documents() {
    assert_eq!(with(|it| it.is_scalable), ["dctcp", "prague"]);
    assert_eq!(with(|it| it.sends_ect1), ["prague"]);
}

/// According to their papers, the controls of the first list lower cwnd without a loss if the delay grows. The controls
/// of the second list do not.
#[test]
fn delay_based_controls_are_those_of_their_papers() {
    for name in ["compound", "copa", "ledbat", "ledbat_plus_plus", "vegas", "verus", "vivace", "yeah"] {
        assert!(with(|it| it.follows_delay).contains(&name), "{name}");
    }
    for name in ["bbr", "bbr3", "cubic", "dctcp", "htcp", "reno", "scalable", "westwood_plus"] {
        assert!(!with(|it| it.follows_delay).contains(&name), "{name}");
    }
}

/// BBR and Vivace draw random numbers. Only Peach sends dummy segments.
#[test]
fn random_controls_and_dummies() {
    for name in ["bbr", "bbr3", "vivace"] {
        assert!(with(|it| it.draws).contains(&name), "{name}");
    }
    assert!(!with(|it| it.draws).contains(&"cubic"));
    assert_eq!(with(|it| it.sends_extra), ["peach"]);
    assert!(with(|it| it.sends_extra && !it.uses_rate_samples).is_empty());
}
