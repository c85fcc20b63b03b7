//! Tests that every mechanism describes itself, and that congestion controls declare the properties that their papers
//! and RFCs state.

use lasthop_base::{Choice, Info, Stream};
use lasthop_tcp::Catalogue;
use lasthop_tcp::sender::congestion::{self, LossEvent, Nature, Start};

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

/// According to their papers, only these controls lower cwnd without a loss if the delay grows. All other controls use
/// the delay only to choose the size of an increase or of a reduction after a loss.
#[test]
fn delay_based_controls_are_those_of_their_papers() {
    let expected =
        ["compound", "copa", "ledbat", "ledbat_plus_plus", "sprout", "vegas", "verus", "vivace", "yeah"];
    assert_eq!(with(|it| it.follows_delay), expected);
}

/// Controls whose window follows an estimate of the delivery rate observe each ACK: Westwood and its successors, Jersey
/// and its successors, and JTCP (jitter of the ACKs).
#[test]
fn controls_that_observe_acks() {
    let expected = ["jersey", "jtcp", "new_jersey", "w_cw", "westwood", "westwood_plus"];
    assert_eq!(with(|it| it.observes), expected);
}

/// BBR, Copa, Sprout, Verus and Vivace set the window in recovery themselves, and orders set the window of `external`.
/// Except for Sprout, these controls need the hooks for rates, as Peach (dummy segments) and Prague (pacing) do.
#[test]
fn rate_based_controls() {
    assert_eq!(with(|it| it.conserves), ["bbr", "bbr3", "copa", "external", "sprout", "verus", "vivace"]);
    assert_eq!(
        with(|it| it.uses_rate_samples),
        ["bbr", "bbr3", "copa", "external", "peach", "prague", "verus", "vivace"]
    );
}

/// The congestion warning of Jersey (Xu, Tian and Ansari 2004) attributes losses without a mark to random errors. Only
/// the controls with congestion warning rely on marks in this way.
#[test]
fn controls_with_congestion_warning() {
    assert_eq!(with(|it| it.judges_by_mark), ["jersey", "new_jersey", "w_cw"]);
}

/// BBR and Vivace draw random numbers. Only Peach sends dummy segments.
#[test]
fn random_controls_and_dummies() {
    assert_eq!(with(|it| it.draws), ["bbr", "bbr3", "vivace"]);
    assert_eq!(with(|it| it.sends_extra), ["peach"]);
    assert!(with(|it| it.sends_extra && !it.uses_rate_samples).is_empty());
}

/// Returns the names of all mechanisms of the seam `seam` for which `is` holds.
fn mechanisms(seam: &str, is: impl Fn(&Info) -> bool) -> Vec<&'static str> {
    let catalogue = Catalogue::default();
    let seams = catalogue.seams();
    let seam = seams.iter().find(|one| one.name == seam).unwrap_or_else(|| panic!("no seam {seam}"));
    seam.mechanisms.iter().filter(|info| is(info)).map(|info| info.name).collect()
}

/// QUIC stacks have NewReno (RFC 9002 §7) and CUBIC (RFC 9438).
#[test]
fn controls_of_quic_stacks() {
    let names: Vec<_> =
        congestion::ALL.iter().filter_map(|it| Some((it.info.name, it.info.quic_name?))).collect();
    assert_eq!(names, [("reno", "new_reno"), ("cubic", "cubic")]);
    assert_eq!(mechanisms("congestion", |info| info.scalable), ["prague", "dctcp"]);
}

/// Loss detection by SACK (RFC 6675, RFC 8985, RFC 4653) needs SACK, and so does Peach. One-way delays, as New Jersey and
/// JTCP's receiver use them, need timestamps. No other mechanism depends on an option.
#[test]
fn mechanisms_need_their_options() {
    let mut needs = Vec::new();
    for seam in Catalogue::default().seams() {
        for info in &seam.mechanisms {
            needs.extend(info.needs.iter().map(|need| (info.name, need.key())));
        }
    }
    needs.sort_unstable();
    let mut expected: Vec<_> =
        ["dcr", "ncr", "peach", "rack", "sack", "sack1"].map(|name| (name, "sack")).into();
    expected.extend(["jtcp", "new_jersey"].map(|name| (name, "timestamps")));
    expected.sort_unstable();
    assert_eq!(needs, expected);
}

/// A Linux receiver can use a fixed or an automatically tuned window, and sends each ACK once. A Linux sender can use
/// loss detection by duplicate ACKs, SACK or RACK, HyStart, and pacing by its rule or by the control.
#[test]
fn mechanisms_of_linux_hosts() {
    let mut linux = Vec::new();
    for seam in Catalogue::default().seams() {
        linux.extend(seam.mechanisms.iter().filter(|info| info.as_linux).map(|info| info.name));
    }
    linux.sort_unstable();
    let mut expected = vec![
        "always",
        "always",
        "autotuned",
        "control",
        "delivered",
        "buffer",
        "hystart",
        "latched",
        "linux",
        "linux",
        "new_reno",
        "once",
        "packets",
        "rack",
        "sack",
    ];
    expected.sort_unstable();
    assert_eq!(linux, expected);
}

/// Options of `lasthop agent` for a real kernel, each with the parameter that its number sets.
#[test]
fn mechanisms_for_real_kernels() {
    let mut live = Vec::new();
    for seam in Catalogue::default().seams() {
        live.extend(seam.mechanisms.iter().filter_map(|info| {
            let live = info.live.as_ref()?;
            assert!(
                info.parameters.iter().any(|parameter| parameter.name == live.parameter),
                "{}",
                info.name
            );
            Some((live.word, live.parameter))
        }));
    }
    live.sort_unstable();
    let words: Vec<&str> = live.iter().map(|(word, _)| *word).collect();
    assert_eq!(words, ["copies", "dynamic", "fixed", "link-rate", "split"]);
}

/// Some parameters are effective only with certain values of others.
#[test]
fn parameters_that_depend_on_others() {
    let rules = |seam: &str, name: &str| {
        let catalogue = Catalogue::default();
        let seams = catalogue.seams();
        let seam = seams.iter().find(|one| one.name == seam).expect("a seam");
        let info = seam.mechanisms.iter().find(|info| info.name == name).expect("a mechanism");
        info.only_if.iter().map(|rule| (rule.parameters, rule.other)).collect::<Vec<_>>()
    };
    assert_eq!(rules("congestion", "prague"), [(&["floor_after"][..], "rtt_floor")]);
    assert_eq!(rules("ack_splitting", "by_loss"), [(&["buffer_loss"][..], "buffer")]);
    assert_eq!(rules("ack_policy", "dupack_delay"), [(&["after"][..], "every")]);
    let expected = [
        (&["packets"][..], "formula"),
        (&["rate", "adaptive"], "formula"),
        (&["delay", "retransmissions"], "formula"),
    ];
    assert_eq!(rules("window", "link_rate"), expected);
}

/// Only orders from outside set the window of `external`.
#[test]
fn controls_that_take_orders() {
    assert_eq!(with(|it| it.takes_orders), ["external"]);
}

/// A restart (Tahoe) has the same cwnd as a first timeout, and both reduce a cwnd of 40 segments. Controls that take
/// orders keep the ordered cwnd.
#[test]
fn a_restart_begins_like_a_timeout() {
    let ordered = with(|it| it.takes_orders);
    for mechanism in congestion::ALL.iter().filter(|mechanism| !ordered.contains(&mechanism.info.name)) {
        let choice = Choice::of(mechanism);
        let window = |is_restart| {
            let random = Stream::named(1, "start");
            let start = Start { window: 40_000, ssthresh: 1 << 30, mss: 1000, selective: true, random };
            let mut control = (choice.build)(&choice.values, start);
            let loss =
                LossEvent { una: 1, nxt: 40_001, flight: 40_000, window: 40_000, ..LossEvent::default() };
            if is_restart {
                control.on_restart(&loss)
            } else {
                control.on_timeout(&loss, true)
            }
            control.window()
        };
        assert_eq!(window(true), window(false), "{}", mechanism.info.name);
        assert!(window(true) <= 4000, "{}", mechanism.info.name);
    }
}
