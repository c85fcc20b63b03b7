//! The chapter's network as a scenario, its experiments, and a value for each open question.
//!
//! # The receivers' links are part of the shared one
//! Each is as fast as the shared link and never queues; their 5 ms are added to its own.

use lasthop_base::{Duration, Stream, Time};
use lasthop_scenario::{Draft, Problem, Scenario, Traffic};
use std::fmt::Write as _;

/// The TCP of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variant {
    Reno,
    NewReno,
    Sack,
}

impl Variant {
    pub(super) const ALL: [Variant; 3] = [Variant::Reno, Variant::NewReno, Variant::Sack];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Variant::Reno => "Reno",
            Variant::NewReno => "NewReno",
            Variant::Sack => "SACK",
        }
    }

    const fn recovery(self) -> &'static str {
        match self {
            Variant::Reno => "reno",
            Variant::NewReno => "new_reno",
            Variant::Sack => "sack",
        }
    }

    /// By how much the paper's two rows of the same experiment differ, Mbit/s (Tables 3.3 and 3.7).
    pub(super) const fn spread(self) -> f64 {
        match self {
            Variant::Reno => 1.4,
            Variant::NewReno => 0.6,
            Variant::Sack => 0.2,
        }
    }
}

/// Who the twenty are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Senders {
    All(Variant),
    /// Ten Reno, ten SACK (§3.3.4).
    Mixed,
}

impl Senders {
    /// The variant of flow `number`, from 0.
    pub(super) fn variant(self, number: usize) -> Variant {
        match self {
            Senders::All(variant) => variant,
            Senders::Mixed if number < TCP_FLOWS / 2 => Variant::Reno,
            Senders::Mixed => Variant::Sack,
        }
    }
}

/// What the CBR sources do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    TcpOnly,
    LargeCbr,
    MultipleCbr,
    /// As before, each packet late by up to 0.67 ms.
    Fluctuation,
    /// As before, 15 packets back to back every 10 ms.
    Burst,
}

impl Load {
    pub(super) const TABLE: [Load; 3] = [Load::TcpOnly, Load::LargeCbr, Load::MultipleCbr];
    pub(super) const JITTER: [Load; 3] = [Load::MultipleCbr, Load::Fluctuation, Load::Burst];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Load::TcpOnly => "TCP only",
            Load::LargeCbr => "Large CBR",
            Load::MultipleCbr => "Multiple CBR",
            Load::Fluctuation => "fluctuation",
            Load::Burst => "burst",
        }
    }
}

pub(super) const TCP_FLOWS: usize = 20;
pub(super) const SECONDS: f64 = 20.0;

/// How the access delays of the twenty senders lie between 3 and 7 ms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Delays {
    #[default]
    Cycling,
    Even,
    Drawn,
}

impl Delays {
    /// Of sender `number`, microseconds.
    fn micros(self, number: usize, random: &mut Stream) -> u64 {
        match self {
            Delays::Cycling => 3000 + 1000 * (number as u64 % 5),
            Delays::Even => 3000 + 4000 * number as u64 / (TCP_FLOWS as u64 - 1),
            Delays::Drawn => 3000 + (4000.0 * random.uniform()) as u64,
        }
    }
}

/// One answer to the open questions: all defaults, or one changed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Setting {
    pub(super) question: &'static str,
    pub(super) answer: &'static str,
    pub(super) delays: Delays,
    pub(super) headers: &'static str,
    pub(super) reenter: bool,
    pub(super) min_rto: &'static str,
    pub(super) window: &'static str,
    pub(super) timing: &'static str,
    /// Mean on and off times of the multiple CBR streams, ms.
    pub(super) on_off: (u32, u32),
    pub(super) one_large: bool,
    pub(super) borrows: bool,
}

impl Default for Setting {
    fn default() -> Setting {
        Setting {
            question: "",
            answer: "",
            delays: Delays::Cycling,
            headers: "none",
            reenter: true,
            min_rto: "1 s",
            window: "65535 bytes",
            timing: "immediate",
            on_off: (1200, 800),
            one_large: false,
            borrows: true,
        }
    }
}

impl Setting {
    /// `smallest RTO: 200 ms`, or `default`.
    pub(super) fn label(&self) -> String {
        match self.question {
            "" => "default".into(),
            question => format!("{question}: {}", self.answer),
        }
    }

    /// The scenario of one repetition: starts, and delays where they are drawn, follow from the seed.
    pub(super) fn scenario(&self, senders: Senders, load: Load, seed: u64) -> Result<Scenario, Problem> {
        let mut scenario = Draft::parse(&self.text(senders, load, seed), "koga3")?.check()?;
        let mut starts = Stream::named(seed, "koga3.starts");
        for flow in &mut scenario.flows {
            if matches!(flow.traffic, Traffic::Tcp { .. }) {
                flow.start = Time::ZERO + Duration::from_secs_f64(0.1 * starts.uniform());
            }
        }
        Ok(scenario)
    }

    fn text(&self, senders: Senders, load: Load, seed: u64) -> String {
        let mut text =
            format!("title = \"koga, chapter 3\"\nduration = \"20 s\"\nheaders = \"{}\"\n", self.headers);
        let mut random = Stream::named(seed, "koga3.delays");
        let shared = match load {
            Load::TcpOnly => "rate = \"82 Mbit/s\"\nqueue = \"200 packets\"".to_string(),
            _ => {
                format!("rate = \"100 Mbit/s\"\nqueue = {{ kind = \"cbq\", tcp_borrows = {} }}", self.borrows)
            }
        };
        // What is written cannot fail: the target is a string.
        let _ = write!(
            text,
            "[link.shared]\nfrom = \"n1\"\nto = \"n2\"\none_way_delay = \"10 ms\"\nup.rate = \"100 Mbit/s\"\n\
             [link.shared.down]\n{shared}\n"
        );
        for number in 0..TCP_FLOWS {
            let source = number + 1;
            let micros = self.delays.micros(number, &mut random);
            let variant = senders.variant(number);
            let (recovery, is_sack) = (variant.recovery(), variant == Variant::Sack);
            let recovery = match variant {
                Variant::Reno => format!("{{ kind = \"reno\", reenter = {} }}", self.reenter),
                _ => format!("\"{recovery}\""),
            };
            let _ = write!(
                text,
                "[link.t{source}]\nfrom = \"t{source}\"\nto = \"n1\"\nrate = \"100 Mbit/s\"\n\
                 one_way_delay = \"{micros} us\"\n\
                 [flow.t{source}]\nfrom = \"t{source}\"\nto = \"n2\"\nsegment = \"500 bytes\"\nsack = {is_sack}\n\
                 timestamps = false\n\
                 [flow.t{source}.sender]\nrecovery = {recovery}\ncounting = \"per-ack\"\ninitial_window = 1\n\
                 congestion = {{ kind = \"reno\", halve = \"window\" }}\ninitial_ssthresh = \"65535 bytes\"\n\
                 min_rto = \"{}\"\ninitial_rto = \"3 s\"\nmax_rto = \"64 s\"\ntick = \"100 ms\"\n\
                 [flow.t{source}.receiver]\ntiming = \"{}\"\nwindow = {{ kind = \"buffer\", size = \"{}\" }}\n",
                self.min_rto, self.timing, self.window
            );
        }
        if load != Load::TcpOnly {
            self.add_cbr(load, &mut text);
        }
        text
    }

    fn add_cbr(&self, load: Load, text: &mut String) {
        let is_one = self.one_large && load == Load::LargeCbr;
        let (streams, rate) = if is_one { (1, "30 Mbit/s") } else { (5, "6 Mbit/s") };
        let access = match load {
            Load::LargeCbr | Load::MultipleCbr if !is_one => rate,
            _ => "100 Mbit/s",
        };
        let (on, off) = self.on_off;
        let pattern = match load {
            Load::LargeCbr => "on = \"6 s\"\noff = \"8 s\"".to_string(),
            _ => format!("on = \"{on} ms\"\noff = \"{off} ms\"\nperiod = \"exponential\""),
        };
        let spacing = match load {
            Load::Fluctuation => "jitter = \"0.67 ms\"\n",
            Load::Burst => "burst = 15\n",
            _ => "",
        };
        for stream in 1..=streams {
            let _ = write!(
                text,
                "[link.c{stream}]\nfrom = \"c{stream}\"\nto = \"n1\"\nrate = \"{access}\"\none_way_delay = \"5 ms\"\n\
                 [flow.c{stream}]\nkind = \"on_off\"\nfrom = \"c{stream}\"\nto = \"n2\"\nrate = \"{rate}\"\n\
                 packet = \"500 bytes\"\n{pattern}\n{spacing}"
            );
        }
    }
}

/// Every other answer to every open question.
pub(super) fn questions() -> Vec<Setting> {
    let of = |question, answer| Setting { question, answer, ..Setting::default() };
    vec![
        Setting { headers: "40 bytes", ..of("header bytes", "40 beside the 500") },
        Setting { delays: Delays::Even, ..of("access delays", "spread evenly from 3 to 7 ms") },
        Setting { delays: Delays::Drawn, ..of("access delays", "drawn from 3 to 7 ms") },
        Setting { reenter: false, ..of("Reno's second fast retransmit in one window", "no") },
        Setting { min_rto: "200 ms", ..of("smallest RTO", "200 ms") },
        Setting { window: "1 MB", ..of("largest window", "1 MB") },
        Setting { window: "20000 bytes", ..of("largest window", "20000 bytes (40 packets)") },
        Setting { timing: "delayed", ..of("delayed ACKs", "on") },
        Setting { on_off: (3000, 2000), ..of("on and off times", "3 s and 2 s") },
        Setting { on_off: (300, 200), ..of("on and off times", "0.3 s and 0.2 s") },
        Setting { one_large: true, ..of("the large CBR", "one stream of 30 Mbit/s") },
        Setting { borrows: false, ..of("TCP borrows", "no") },
    ]
}
