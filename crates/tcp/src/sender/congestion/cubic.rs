//! CUBIC (RFC 9438): in congestion avoidance, cwnd is a cubic function of the time since the last window reduction.
//!
//! An epoch of congestion avoidance begins with the first ACK after a window reduction or slow start. The plateau
//! (W_max) is the cwnd at the last loss. Growth slows down below the plateau and accelerates above the plateau.
//!
//! The RFC lets cwnd grow "for each received new ACK". Here, growth is in proportion to the bytes that the mechanism
//! `ack_counting` credits for an ACK. With `ack_counting = "bytes"`, a delayed ACK for two segments therefore counts as
//! two ACKs. The estimate of Reno's cwnd always counts bytes (§4.3).
//!
//! # Choices that the RFC leaves open
//! * At cwnd = ssthresh, the sender is in congestion avoidance, as in Linux. §4.10 requires slow start; RFC 5681 §3.1
//!   leaves the choice open.
//! * An ACK never lowers cwnd, even if the estimate of Reno's cwnd applies and is lower than cwnd.

use super::cubic_linux::CubicLinux;
use super::reno::Reno;
use super::{
    AckEvent, Build, CongestionControl, Level, LossEvent, LossPhase, Nature, RateHooks, Recovered, Start,
};
use crate::sender::ack_counting::{AckCounting, Regime};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Time, Unit, Values};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "cubic",
        summary: "window as a cubic function of the time since the last reduction, never below Reno's",
        source: "RFC 9438 §4",
        parameters: &[
            Parameter {
                name: "variant",
                unit: Unit::Word(&["rfc9438", "linux"]),
                default: Some("rfc9438"),
                doc: "RFC 9438, or Linux: RFC 8312 with Linux's estimate of Reno's window (netdev, August 2024)",
            },
            Parameter {
                name: "c",
                unit: Unit::Number(0.001, 1000.0),
                default: Some("0.4"),
                doc: "C: speed of the window's return to the plateau, segments/s^3 (RFC 9438 §5.1)",
            },
            Parameter {
                name: "beta",
                unit: Unit::Number(0.1, 0.99),
                default: Some("0.7"),
                doc: "share of the window that remains after a loss or a mark (RFC 9438 §4.6)",
            },
            Parameter {
                name: "fast_convergence",
                unit: Unit::Flag,
                default: Some("true"),
                doc: "fast convergence: a loss below the last plateau lowers the next plateau further (RFC 9438 §4.7)",
            },
            Parameter {
                name: "reno_friendly",
                unit: Unit::Flag,
                default: Some("true"),
                doc: "Reno-friendly region: the window grows at least as fast as Reno's (RFC 9438 §4.3)",
            },
        ],
        linux_name: Some("cubic"),
        quic_name: Some("cubic"),
        ..Info::PLAIN
    },
    build: &|values, start| match values.word("variant") {
        "linux" => Box::new(CubicLinux::new(values, &start)),
        _ => Box::new(Cubic::new(values, start)),
    },
};

struct Cubic {
    window: Reno,
    mss: u64,
    c: f64,
    beta: f64,
    fast_convergence: bool,
    /// α of RFC 9438 §4.3: additive increase per window, segments, at which AIMD with `beta` has Reno's average rate.
    /// `None` disables the Reno-friendly region.
    alpha: Option<f64>,
    memory: Memory,
    undo: Memory,
    usage: Usage,
}

/// Variables that a window reduction changes, except cwnd and ssthresh. Windows are in segments.
#[derive(Clone, Copy, Default)]
struct Memory {
    /// W_max. The value 0 means unknown: the plateau of the next epoch is then cwnd at the start of that epoch (RFC
    /// 9438 §4.8, §4.10).
    plateau: f64,
    /// cwnd_prior: cwnd when ssthresh was last set; 0 if ssthresh was never set.
    prior: f64,
    /// Current epoch; `None` until the first ACK in congestion avoidance.
    epoch: Option<Epoch>,
}

#[derive(Clone, Copy)]
struct Epoch {
    /// t_epoch: start of the epoch, postponed by the time in which cwnd was not fully used (RFC 9438 §5.8).
    began: Time,
    /// K, seconds: time from the start of the epoch to the plateau.
    rise: f64,
    /// W_est: estimate of Reno's cwnd, segments.
    reno: f64,
    /// Arrival time of the last ACK that advanced the epoch's clock. `None` if the window reduction that ended this
    /// epoch was undone.
    seen: Option<Time>,
    /// Whether the flow has left a part of cwnd unused since `seen`.
    paused: bool,
}

/// Detector of flows that did not fully use cwnd before an ACK (RFC 9438 §5.8).
#[derive(Default)]
struct Usage {
    /// Bytes in flight after the last ACK.
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
        self.window.exact_cwnd() / self.mss as f64
    }

    fn bytes(&self, segments: f64) -> f64 {
        segments * self.mss as f64
    }

    /// Returns cwnd, segments, after an ACK in congestion avoidance. `credit`: bytes that the mechanism `ack_counting`
    /// credits for the ACK.
    fn grown(&mut self, ack: &AckEvent, credit: u64) -> f64 {
        let (cwnd, mss) = (self.segments(), self.mss as f64);
        let mut epoch = match self.memory.epoch {
            Some(epoch) => epoch.continued(ack),
            None => self.memory.begin(cwnd, self.c, ack.now),
        };
        let (c, plateau) = (self.c, self.memory.plateau);
        let cubic = |t: f64| {
            let before = t - epoch.rise;
            c * before * before * before + plateau
        };
        let t = ack.now.since(epoch.began).as_secs();
        let rtt = ack.srtt.map_or(0.0, Duration::as_secs);
        let target = cubic(t + rtt).min(1.5 * cwnd).max(cwnd);
        let mut grown = cwnd + (target - cwnd) * (credit as f64 / mss / cwnd).min(1.0);
        if let Some(alpha) = self.alpha {
            let alpha = if epoch.reno >= self.memory.prior { 1.0 } else { alpha };
            epoch.reno += alpha * ack.acked as f64 / mss / cwnd;
            if cubic(t) < epoch.reno {
                grown = epoch.reno.max(cwnd);
            }
        }
        self.memory.epoch = Some(epoch);
        grown
    }

    /// Sets W_max, cwnd_prior and ssthresh (RFC 9438 §4.6, §4.7). Returns `beta` × `flight`, limited to cwnd, because
    /// FlightSize can far exceed a lowered cwnd, and a loss must not raise cwnd.
    fn lower_ssthresh(&mut self, flight: u64) -> f64 {
        self.undo = self.memory;
        let cwnd = self.segments();
        let sinks = self.fast_convergence && cwnd < self.memory.plateau;
        let plateau = if sinks { cwnd * (1.0 + self.beta) / 2.0 } else { cwnd };
        self.memory = Memory { plateau, prior: cwnd, epoch: None };
        let left = libm::round(self.beta * flight as f64).min(self.window.exact_cwnd());
        self.window.set_ssthresh(left as u64);
        left
    }
}

impl Memory {
    fn begin(&mut self, cwnd: f64, c: f64, now: Time) -> Epoch {
        if self.prior == 0.0 {
            self.prior = cwnd;
        }
        self.plateau = self.plateau.max(cwnd);
        let rise = libm::cbrt((self.plateau - cwnd) / c);
        Epoch { began: now, rise, reno: cwnd, seen: Some(now), paused: false }
    }
}

impl Epoch {
    /// Advances the epoch's clock to this ACK, except for the time in which cwnd was not fully used. If cwnd was not
    /// fully used at the last ACK, the excluded time lasts from the last ACK to this ACK. Otherwise, the excluded time
    /// lasts from the last ACK to the transmission of the segment that this ACK acknowledges.
    fn continued(self, ack: &AckEvent) -> Epoch {
        let idle = match (self.seen, ack.rtt) {
            (Some(seen), _) if self.paused => ack.now.since(seen),
            (Some(seen), Some(rtt)) => ack.now.since(seen).saturating_sub(rtt),
            _ => Duration::ZERO,
        };
        Epoch { began: self.began + idle, seen: Some(ack.now), paused: false, ..self }
    }
}

impl Usage {
    /// Returns whether the bytes in flight before this ACK left room for a segment in a cwnd of `cwnd` bytes. If
    /// several ACKs arrive as one batch, without a transmission in between, the result for the first ACK applies to
    /// all.
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

    fn on_ack(&mut self, ack: &AckEvent, ack_counting: &mut dyn AckCounting) {
        if ack.acked == 0 || ack.phase == LossPhase::Recovery || self.window.is_full() {
            return;
        }
        if self.window.in_slow_start() {
            return self.window.on_ack(ack, ack_counting);
        }
        let had_room = self.usage.had_room(ack, self.window.window(), self.mss);
        if ack.held || had_room {
            if let Some(epoch) = &mut self.memory.epoch {
                epoch.paused = true;
            }
            return;
        }
        let credit = ack_counting.credit(ack, self.mss, Regime::Avoidance);
        let grown = self.grown(ack, credit);
        self.window.set_cwnd(self.bytes(grown).max(self.window.exact_cwnd()));
    }

    /// Reduces cwnd and ssthresh to `beta` × FlightSize, but to at least two segments, as Reno does.
    fn on_loss(&mut self, loss: &LossEvent) {
        let left = self.lower_ssthresh(loss.flight).max(self.bytes(2.0));
        self.window.set_ssthresh(left as u64);
        self.window.set_cwnd(left);
    }

    fn on_restart(&mut self, loss: &LossEvent) {
        self.lower_ssthresh(loss.flight);
        self.window.restart();
    }

    /// Handles a timeout (RFC 9438 §4.8). A timeout in recovery means a lost retransmission. Such a timeout lowers
    /// ssthresh again, from the cwnd that the recovery has lowered (RFC 5681 §4.3).
    fn on_timeout(&mut self, loss: &LossEvent, first: bool) {
        if first {
            self.lower_ssthresh(loss.flight.min(self.window()));
            self.memory.plateau = 0.0;
        }
        self.memory.epoch = None;
        self.window.restart_with_in_flight(loss.still_in_flight);
    }

    /// Reduces cwnd at a mark, but to at least one segment (RFC 9438 §4.6).
    fn on_mark(&mut self, loss: &LossEvent) {
        let before = self.window.exact_cwnd();
        let left = self.lower_ssthresh(loss.flight.min(self.window())).max(self.bytes(1.0));
        self.window.set_cwnd(left.min(before));
    }

    fn leave_slow_start(&mut self) {
        self.window.leave_slow_start();
    }

    fn on_idle(&mut self, window: u64) {
        self.memory.epoch = None;
        self.window.on_idle(window);
    }

    fn on_segment(&mut self, mss: u64) {
        // A window in segments changes with the segment size. The epoch restarts from the current cwnd.
        let more = self.mss as f64 / mss as f64;
        for memory in [&mut self.memory, &mut self.undo] {
            *memory = Memory { plateau: memory.plateau * more, prior: memory.prior * more, epoch: None };
        }
        self.mss = mss;
        self.window.on_segment(mss);
    }

    fn on_reordered(&mut self, to: Level) {
        self.window.on_reordered(to);
    }

    fn on_recovered(&mut self, flight: u64, recovered: Recovered) {
        match recovered {
            // cwnd was lowered at the loss and has not grown during recovery.
            Recovered::Kept => {
                self.window.cap_at_ssthresh();
                self.memory.epoch = None;
            }
            Recovered::Probed { .. } => self.window.on_recovered(flight, recovered),
            // RFC 9438 §4.9: W_max and the epoch are restored only if cwnd is still below cwnd_prior.
            Recovered::Revised { .. } => {
                if self.segments() < self.memory.prior {
                    let epoch = self.undo.epoch.map(|epoch| Epoch { seen: None, ..epoch });
                    self.memory = Memory { epoch, ..self.undo };
                }
                self.window.on_recovered(flight, recovered);
            }
        }
    }
}

impl RateHooks for Cubic {}
