//! CUBIC (RFC 9438): in avoidance the window is a cubic function of the time since it was last reduced.
//!
//! A stage of avoidance begins with the first ACK behind a reduction (or behind slow start). It has its plateau at the
//! window that was too much; short of it growth slows down, beyond it it speeds up again.
//!
//! The RFC grows "for each received new ACK": an ACK counts here as much as the counting says, so that `counting =
//! "bytes"` makes delayed ACKs count in full. The estimate of Reno's window counts the bytes in any case (§4.3).
//!
//! # Where the RFC leaves a choice
//! * cwnd = ssthresh is avoidance (§4.10 says slow start; RFC 5681 §3.1 leaves it open, Linux does as here).
//! * An ACK never lowers cwnd, also where Reno's estimate takes over from a cubic that has run ahead of itself.
//! * Slow start is Reno's, and ends with a loss, or as `slow_start` says.

use super::cubic_linux::CubicLinux;
use super::reno::Reno;
use super::{
    AckEvent, Build, CongestionControl, Level, LossEvent, Nature, Phase, RateHooks, Recovered, Start,
};
use crate::sender::counting::{AckCounting, Regime};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Time, Unit, Values};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "cubic",
        summary: "the window is a cubic function of the time since it was last reduced, never below Reno's",
        source: "RFC 9438 §4",
        parameters: &[
            Parameter {
                name: "variant",
                unit: Unit::Word(&["rfc9438", "linux"]),
                default: Some("rfc9438"),
                doc: "the RFC's, or Linux's: RFC 8312 with an estimate of Reno's window of its own (netdev, August 2024)",
            },
            Parameter {
                name: "c",
                unit: Unit::Number(0.001, 1000.0),
                default: Some("0.4"),
                doc: "how fast the window returns, segments/s^3 (C, RFC 9438 §5.1)",
            },
            Parameter {
                name: "beta",
                unit: Unit::Number(0.1, 0.99),
                default: Some("0.7"),
                doc: "what a loss or a mark leaves of the window (RFC 9438 §4.6)",
            },
            Parameter {
                name: "fast_convergence",
                unit: Unit::Flag,
                default: Some("true"),
                doc: "whether a loss before the last plateau lowers the next one further (RFC 9438 §4.7)",
            },
            Parameter {
                name: "reno_friendly",
                unit: Unit::Flag,
                default: Some("true"),
                doc: "whether the window grows as Reno's would where that is faster (RFC 9438 §4.3)",
            },
        ],
        linux_name: Some("cubic"),
        ..Info::PLAIN
    },
    build: &|values, start| match values.word("variant") {
        "linux" => Box::new(CubicLinux::new(values, &start)),
        _ => Box::new(Cubic::new(values, start)),
    },
};

struct Cubic {
    /// cwnd, ssthresh and slow start.
    window: Reno,
    mss: u64,
    c: f64,
    beta: f64,
    fast_convergence: bool,
    /// Additive increase per window with which AIMD at `beta` keeps up with Reno; `None`: nobody compares.
    alpha: Option<f64>,
    memory: Memory,
    /// `memory` as it was before the last reduction.
    undo: Memory,
    usage: Usage,
}

/// What a reduction changes beside cwnd and ssthresh; windows in segments.
#[derive(Clone, Copy, Default)]
struct Memory {
    /// W_max; 0: unknown, and the next stage has its plateau where it begins (§4.8, §4.10).
    plateau: f64,
    /// cwnd_prior: cwnd when ssthresh was set last; 0: it never was.
    prior: f64,
    /// `None` until the first ACK of avoidance.
    stage: Option<Stage>,
}

/// A stage of avoidance.
#[derive(Clone, Copy)]
struct Stage {
    /// t_epoch, moved on by the time in which the window was not used (§5.8).
    began: Time,
    /// K, seconds: when the plateau is reached.
    rise: f64,
    /// W_est, segments.
    reno: f64,
    /// The last ACK with which the clock ran; `None`: the reduction behind it was taken back.
    seen: Option<Time>,
    /// The window was not used since.
    paused: bool,
}

/// Whether the window was in use when an ACK came (§5.8).
#[derive(Default)]
struct Usage {
    /// Bytes in the network after the last ACK.
    in_flight: u64,
    has_room: bool,
}

impl Cubic {
    fn new(values: &Values, start: Start) -> Cubic {
        let beta = values.number("beta");
        Cubic {
            window: Reno::plain(&start),
            mss: start.mss,
            c: values.number("c"),
            beta,
            fast_convergence: values.flag("fast_convergence"),
            alpha: values.flag("reno_friendly").then_some(3.0 * (1.0 - beta) / (1.0 + beta)),
            memory: Memory::default(),
            undo: Memory::default(),
            usage: Usage::default(),
        }
    }

    fn segments(&self) -> f64 {
        self.window.exact() / self.mss as f64
    }

    fn bytes(&self, segments: f64) -> f64 {
        segments * self.mss as f64
    }

    /// cwnd in segments after an ACK in avoidance that is worth `credit` bytes.
    fn grown(&mut self, ack: &AckEvent, credit: u64) -> f64 {
        let (cwnd, mss) = (self.segments(), self.mss as f64);
        let mut stage = match self.memory.stage {
            Some(stage) => stage.continued(ack),
            None => self.memory.begin(cwnd, self.c, ack.now),
        };
        let (c, plateau) = (self.c, self.memory.plateau);
        let cubic = |t: f64| {
            let before = t - stage.rise;
            c * before * before * before + plateau
        };
        let t = ack.now.since(stage.began).as_secs();
        let rtt = ack.srtt.map_or(0.0, Duration::as_secs);
        let target = cubic(t + rtt).min(1.5 * cwnd).max(cwnd);
        let mut grown = cwnd + (target - cwnd) * (credit as f64 / mss / cwnd).min(1.0);
        if let Some(alpha) = self.alpha {
            let alpha = if stage.reno >= self.memory.prior { 1.0 } else { alpha };
            stage.reno += alpha * ack.acked as f64 / mss / cwnd;
            if cubic(t) < stage.reno {
                grown = stage.reno.max(cwnd);
            }
        }
        self.memory.stage = Some(stage);
        grown
    }

    /// §4.6 and §4.7, without what becomes of cwnd: bytes that are left of `flight`. A loss is no reason to raise the window:
    /// FlightSize can be far above one that was lowered while more was outstanding.
    fn lower_ssthresh(&mut self, flight: u64) -> f64 {
        self.undo = self.memory;
        let cwnd = self.segments();
        let sinks = self.fast_convergence && cwnd < self.memory.plateau;
        let plateau = if sinks { cwnd * (1.0 + self.beta) / 2.0 } else { cwnd };
        self.memory = Memory { plateau, prior: cwnd, stage: None };
        let left = libm::round(self.beta * flight as f64).min(self.window.exact());
        self.window.set_ssthresh(left as u64);
        left
    }
}

impl Memory {
    fn begin(&mut self, cwnd: f64, c: f64, now: Time) -> Stage {
        if self.prior == 0.0 {
            self.prior = cwnd;
        }
        self.plateau = self.plateau.max(cwnd);
        let rise = libm::cbrt((self.plateau - cwnd) / c);
        Stage { began: now, rise, reno: cwnd, seen: Some(now), paused: false }
    }
}

impl Stage {
    /// The clock runs on to this ACK, but for the time in which the window was not used: since the last ACK if there was
    /// room in it, otherwise until what is acknowledged now was sent.
    fn continued(self, ack: &AckEvent) -> Stage {
        let idle = match (self.seen, ack.rtt) {
            (Some(seen), _) if self.paused => ack.now.since(seen),
            (Some(seen), Some(rtt)) => ack.now.since(seen).saturating_sub(rtt),
            _ => Duration::ZERO,
        };
        Stage { began: self.began + idle, seen: Some(ack.now), paused: false, ..self }
    }
}

impl Usage {
    /// Whether a window of `cwnd` bytes had room for a segment before this ACK. Of ACKs between which nothing was sent, as
    /// a driver takes those that have come in one go, the first decides.
    fn had_room(&mut self, ack: &AckEvent, cwnd: u64, mss: u64) -> bool {
        let before = ack.in_flight.saturating_add(ack.delivered);
        if before != self.in_flight {
            self.has_room = before.saturating_add(mss) <= cwnd;
        }
        self.in_flight = ack.in_flight;
        self.has_room
    }
}

impl CongestionControl for Cubic {
    fn window(&self) -> u64 {
        self.window.window()
    }

    fn ssthresh(&self) -> u64 {
        self.window.ssthresh()
    }

    fn nature(&self) -> Nature {
        Nature::FIXED
    }

    fn on_ack(&mut self, ack: &AckEvent, counting: &mut dyn AckCounting) {
        if ack.acked == 0 || ack.phase == Phase::Recovery || self.window.is_full() {
            return;
        }
        if self.window.in_slow_start() {
            return self.window.on_ack(ack, counting);
        }
        let had_room = self.usage.had_room(ack, self.window.window(), self.mss);
        if ack.held || had_room {
            if let Some(stage) = &mut self.memory.stage {
                stage.paused = true;
            }
            return;
        }
        let credit = counting.credit(ack, self.mss, Regime::Avoidance);
        let grown = self.grown(ack, credit);
        self.window.set(self.bytes(grown).max(self.window.exact()));
    }

    /// As for Reno, two segments are allowed in any case.
    fn on_loss(&mut self, loss: &LossEvent) {
        let left = self.lower_ssthresh(loss.flight).max(self.bytes(2.0));
        self.window.set_ssthresh(left as u64);
        self.window.set(left);
    }

    fn on_restart(&mut self, loss: &LossEvent) {
        self.lower_ssthresh(loss.flight);
        self.window.restart();
    }

    /// §4.8. A timeout in recovery is the loss of a retransmission and lowers ssthresh a second time (RFC 5681 §4.3): what
    /// is left of a cwnd that was lowered already, not of FlightSize, which also counts what SACK reported. What the window was before the timeout says nothing of what follows.
    fn on_timeout(&mut self, loss: &LossEvent, first: bool) {
        if first {
            self.lower_ssthresh(loss.flight.min(self.window()));
            self.memory.plateau = 0.0;
        }
        self.memory.stage = None;
        self.window.restart_beside(loss.spared);
    }

    /// One segment is the least that a mark leaves (§4.6).
    fn on_mark(&mut self, loss: &LossEvent) {
        let before = self.window.exact();
        let left = self.lower_ssthresh(loss.flight.min(self.window())).max(self.bytes(1.0));
        self.window.set(left.min(before));
    }

    fn leave_slow_start(&mut self) {
        self.window.leave_slow_start();
    }

    fn on_idle(&mut self, window: u64) {
        self.memory.stage = None;
        self.window.on_idle(window);
    }

    fn on_segment(&mut self, mss: u64) {
        // Windows in segments become so many more; a stage begins anew from where it has come to.
        let more = self.mss as f64 / mss as f64;
        for memory in [&mut self.memory, &mut self.undo] {
            *memory = Memory { plateau: memory.plateau * more, prior: memory.prior * more, stage: None };
        }
        self.mss = mss;
        self.window.on_segment(mss);
    }

    fn on_reordered(&mut self, to: Level) {
        self.window.on_reordered(to);
    }

    fn on_recovered(&mut self, flight: u64, recovered: Recovered) {
        match recovered {
            // It was lowered when the loss was found, and does not grow during recovery.
            Recovered::Kept => {
                self.window.cap();
                self.memory.stage = None;
            }
            Recovered::Probed { .. } => self.window.on_recovered(flight, recovered),
            // §4.9: only if the window has not grown beyond it since.
            Recovered::Revised { .. } => {
                if self.segments() < self.memory.prior {
                    let stage = self.undo.stage.map(|stage| Stage { seen: None, ..stage });
                    self.memory = Memory { stage, ..self.undo };
                }
                self.window.on_recovered(flight, recovered);
            }
        }
    }
}

impl RateHooks for Cubic {}
