//! Constants of the draft. Each constant is a parameter of the mechanism.

use lasthop_base::{Duration, Parameter, Unit, Values};

pub(super) struct Constants {
    pub(super) startup_gain: f64,
    pub(super) drain_gain: f64,
    pub(super) down_gain: f64,
    pub(super) up_gain: f64,
    pub(super) window_gain: f64,
    pub(super) up_window_gain: f64,
    pub(super) probe_rtt_gain: f64,
    pub(super) margin: f64,
    pub(super) most_lost: f64,
    pub(super) most_holes: u64,
    pub(super) beta: f64,
    pub(super) headroom: f64,
    pub(super) fewest: u64,
    pub(super) growth: f64,
    pub(super) flat_rounds: u64,
    pub(super) extra_acked_rounds: u64,
    pub(super) min_rtt_counts: Duration,
    pub(super) probe_rtt_interval: Duration,
    pub(super) probe_rtt_lasts: Duration,
    pub(super) wait: Duration,
    pub(super) wait_spread: Duration,
    pub(super) reno_rounds: u64,
    pub(super) saves_once: bool,
}

impl Constants {
    pub(super) fn of(values: &Values) -> Constants {
        Constants {
            startup_gain: values.number("startup_gain"),
            drain_gain: values.number("drain_gain"),
            down_gain: values.number("down_gain"),
            up_gain: values.number("up_gain"),
            window_gain: values.number("window_gain"),
            up_window_gain: values.number("up_window_gain"),
            probe_rtt_gain: values.number("probe_rtt_gain"),
            margin: values.number("margin"),
            most_lost: values.number("most_lost"),
            most_holes: values.count("most_holes"),
            beta: values.number("beta"),
            headroom: values.number("headroom"),
            fewest: values.count("fewest"),
            growth: values.number("growth"),
            flat_rounds: values.count("flat_rounds"),
            extra_acked_rounds: values.count("extra_acked_rounds"),
            min_rtt_counts: values.duration("min_rtt_counts"),
            probe_rtt_interval: values.duration("probe_rtt_interval"),
            probe_rtt_lasts: values.duration("probe_rtt_lasts"),
            wait: values.duration("wait"),
            wait_spread: values.duration("wait_spread"),
            reno_rounds: values.count("reno_rounds"),
            saves_once: values.word("saves") == "episode",
        }
    }
}

const fn gain(name: &'static str, range: (f64, f64), default: &'static str, doc: &'static str) -> Parameter {
    Parameter { name, unit: Unit::Number(range.0, range.1), default: Some(default), doc }
}

const fn share(name: &'static str, default: &'static str, doc: &'static str) -> Parameter {
    Parameter { name, unit: Unit::Probability(0.0, 0.99), default: Some(default), doc }
}

const fn count(name: &'static str, range: (u64, u64), default: &'static str, doc: &'static str) -> Parameter {
    Parameter { name, unit: Unit::Count(range.0, range.1), default: Some(default), doc }
}

const fn time(name: &'static str, default: &'static str, doc: &'static str) -> Parameter {
    Parameter {
        name,
        unit: Unit::Duration(Duration::from_millis(1), Duration::from_secs(3600)),
        default: Some(default),
        doc,
    }
}

pub(super) const PARAMETERS: &[Parameter] = &[
    gain("startup_gain", (1.0, 10.0), "2.77", "pacing gain of Startup (BBR.StartupPacingGain, 4 ln 2; §2.5)"),
    gain("drain_gain", (0.01, 1.0), "0.5", "pacing gain of Drain (BBR.DrainPacingGain, §2.5)"),
    gain("down_gain", (0.01, 1.0), "0.9", "pacing gain of ProbeBW_DOWN (§5.3.3.1)"),
    gain("up_gain", (1.0, 10.0), "1.25", "pacing gain of ProbeBW_UP (§5.3.3.5)"),
    gain(
        "window_gain",
        (1.0, 10.0),
        "2",
        "largest number of bandwidth-delay products in flight (BBR.DefaultCwndGain, §2.6)",
    ),
    gain(
        "up_window_gain",
        (1.0, 10.0),
        "2.25",
        "largest number of bandwidth-delay products in flight in ProbeBW_UP (§5.3.3.5)",
    ),
    gain(
        "probe_rtt_gain",
        (0.0, 1.0),
        "0.5",
        "largest number of bandwidth-delay products in flight in ProbeRTT (BBR.ProbeRTTCwndGain, §2.16.2)",
    ),
    share(
        "margin",
        "0.01",
        "share by which the pacing rate is below the estimated bandwidth, so that queues drain (BBR.PacingMarginPercent, §2.5)",
    ),
    share(
        "most_lost",
        "0.02",
        "largest share of bytes lost in a round while probing for bandwidth (BBR.LossThresh, §2.8)",
    ),
    count(
        "most_holes",
        (1, 1000),
        "6",
        "separate losses in a round that end Startup (BBRStartupFullLossCnt, §5.3.1.3)",
    ),
    share(
        "beta",
        "0.7",
        "smallest share of the short-term model that remains after a round with losses (BBR.Beta, §2.8)",
    ),
    share("headroom", "0.15", "share of inflight_longterm left to other flows (BBR.Headroom, §2.8)"),
    count("fewest", (1, 100), "4", "smallest window, segments (BBR.MinPipeCwnd, §2.8)"),
    gain(
        "growth",
        (1.0, 10.0),
        "1.25",
        "smallest ratio of the delivery rate to the earlier rate that counts as growth in a round (§5.3.1.2)",
    ),
    count("flat_rounds", (1, 100), "3", "rounds without growth after which the pipe is full (§5.3.1.2)"),
    count(
        "extra_acked_rounds",
        (1, 100),
        "10",
        "rounds for which ACK aggregation counts (BBR.ExtraAckedFilterLen, §2.12)",
    ),
    time("min_rtt_counts", "10 s", "lifetime of the smallest RTT (BBR.MinRTTFilterLen, §2.16.1)"),
    time("probe_rtt_interval", "5 s", "time between two ProbeRTT states (BBR.ProbeRTTInterval, §2.16.2)"),
    time("probe_rtt_lasts", "200 ms", "shortest duration of ProbeRTT (BBR.ProbeRTTDuration, §2.16.2)"),
    time("wait", "2 s", "shortest time between two probes for bandwidth (§5.3.3.8)"),
    time("wait_spread", "1 s", "largest random addition to `wait` (§5.3.3.8)"),
    count(
        "reno_rounds",
        (1, 100_000),
        "63",
        "largest number of rounds between two probes, for coexistence with Reno (§5.3.3.8)",
    ),
    Parameter {
        name: "saves",
        unit: Unit::Word(&["round", "episode"]),
        default: Some("round"),
        doc: "saving of the state for undo: in each round with losses (§5.5.10.2, NoteLoss), or once per recovery (§5.5.11.1)",
    },
];
