//! BBR version 3 (draft-ietf-ccwg-bbr-06, in the editors' copy of 3 August 2026). Pacing rate and cwnd follow a model
//! of the path: the bandwidth, the smallest RTT, and the number of bytes in flight that causes too many losses.
//!
//! Section numbers refer to the draft. Names in CamelCase or with the prefix `BBR.` are from the draft's pseudocode. A
//! function without a comment implements the pseudocode function of a similar name.
//!
//! # Differences and open points
//! * Congestion marks are ignored, as in the draft (§3.7).
//! * The sender paces each segment separately, for any send quantum.
//! * The maxima over rounds and cycles are exact. Linux estimates the maxima with Nichols' filter.

mod aggregation;
mod bandwidth;
mod constants;
mod control;
mod cycle;
mod loss;
mod probe_rtt;
mod rounds;

use super::{
    AckEvent, Build, CongestionControl, LossEvent, LossPhase, LostSegment, Nature, RateHooks, Recovered,
    SentEvent, Start,
};
use crate::sender::ack_counting::AckCounting;
use aggregation::Aggregation;
use bandwidth::{FullPipe, MaxBandwidth};
use constants::{Constants, PARAMETERS};
use control::LARGEST;
use cycle::Cycle;
use lasthop_base::{Duration, Info, Mechanism, Rate, Stream, Time, Values};
use loss::{ShortTerm, Undo};
use probe_rtt::MinRtt;
use rounds::{LastRound, Rounds};

/// Congestion control `bbr3`.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "bbr3",
        summary: "BBRv3: paces at the largest bandwidth of two probing cycles; losses limit the bytes in flight",
        source: "draft-ietf-ccwg-bbr-06",
        parameters: PARAMETERS,
        ..Info::PLAIN
    },
    build: &|values, start| Box::new(Bbr3::new(values, start)),
};

/// States of draft §5.1, including the four states of ProbeBW.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bbr3State {
    /// Searches for the bandwidth: the pacing rate doubles in each round.
    Startup,
    /// Drains the queue that Startup has built.
    Drain,
    /// ProbeBW_DOWN: drains the queue and leaves headroom for other flows.
    Down,
    /// ProbeBW_CRUISE: sends at the bandwidth estimate.
    Cruise,
    /// ProbeBW_REFILL: fills the pipe for one round.
    Refill,
    /// ProbeBW_UP: sends faster than the bandwidth estimate, to probe for bandwidth.
    Up,
    /// Keeps few bytes in flight, to measure the smallest RTT.
    ProbeRtt,
}

impl Bbr3State {
    fn probes_bandwidth(self) -> bool {
        matches!(self, Bbr3State::Down | Bbr3State::Cruise | Bbr3State::Refill | Bbr3State::Up)
    }

    fn accelerates(self) -> bool {
        matches!(self, Bbr3State::Startup | Bbr3State::Refill | Bbr3State::Up)
    }
}

/// Measurements from one ACK (RS in the draft).
#[derive(Clone, Copy, Default)]
struct AckSample {
    /// RS.delivery_rate, bytes per second; 0 if the ACK has no valid rate sample.
    rate: f64,
    /// RS.delivered, bytes.
    delivered: u64,
    /// RS.newly_acked, bytes.
    newly_acked: u64,
    /// RS.tx_in_flight, bytes.
    in_flight: u64,
    /// RS.lost, bytes.
    lost: u64,
    /// RS.prior_delivered, if the ACK delivered data.
    prior: Option<u64>,
    rtt: Option<Duration>,
    app_limited: bool,
}

impl AckSample {
    fn of(ack: &AckEvent) -> AckSample {
        let none = AckSample { newly_acked: ack.delivered, rtt: ack.rtt, ..AckSample::default() };
        let Some(rate) = ack.rate else { return none };
        AckSample {
            rate: if rate.reliable { rate.bytes_per_sec() } else { 0.0 },
            delivered: rate.delivered,
            in_flight: rate.in_flight,
            lost: rate.lost,
            prior: Some(rate.prior),
            rtt: rate.rtt.or(ack.rtt),
            app_limited: rate.app_limited,
            ..none
        }
    }
}

/// BBR version 3.
pub struct Bbr3 {
    constants: Constants,
    mss: u64,
    initial_window: u64,
    selective: bool,
    random: Stream,
    cwnd: u64,
    /// BBR.prior_cwnd.
    prior: u64,
    /// C.pacing_rate, bytes per second.
    rate: Option<f64>,
    /// Whether an RTT sample was available for the first pacing rate.
    has_rtt: bool,
    quantum: u64,
    phase: LossPhase,
    state: Bbr3State,
    /// BBR.drain_start_round.
    drains_since: u64,
    /// BBR.idle_restart: whether no data has been delivered since sending restarted after an idle time.
    is_idle_restart: bool,
    /// BBR.bw, bytes per second.
    bw: f64,
    rounds: Rounds,
    last: LastRound,
    max_bandwidth: MaxBandwidth,
    pipe: FullPipe,
    short: ShortTerm,
    /// BBR.inflight_longterm, bytes; `u64::MAX` means infinite.
    long_term: u64,
    cycle: Cycle,
    rtt: MinRtt,
    aggregation: Aggregation,
    undo: Undo,
}

/// Snapshot of the model, for tests and other observers.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ModelSnapshot {
    /// State of BBR.
    pub state: Bbr3State,
    /// BBR.max_bw, bytes per second.
    pub max_bandwidth: f64,
    /// BBR.bw_shortterm, bytes per second; infinity if the bandwidth has no short-term bound.
    pub bandwidth_short_term: f64,
    /// C.pacing_rate, bytes per second.
    pub pacing_rate: f64,
    /// BBR.pacing_gain.
    pub pacing_gain: f64,
    /// BBR.min_rtt.
    pub min_rtt: Option<Duration>,
    /// BBR.inflight_longterm, bytes; `None` if infinite.
    pub inflight_long_term: Option<u64>,
    /// BBR.inflight_shortterm, bytes; `None` if infinite.
    pub inflight_short_term: Option<u64>,
    /// Inflight(1.0): bytes in flight for one bandwidth-delay product and the send quanta.
    pub target: u64,
    /// InflightWithHeadroom(), bytes.
    pub target_with_headroom: u64,
    /// BBR.extra_acked, bytes.
    pub extra_acked: u64,
    /// BBR.round_count.
    pub rounds: u64,
    /// BBR.full_bw_count.
    pub flat_rounds: u64,
    /// BBR.full_bw_now.
    pub is_full: bool,
    /// BBR.full_bw_reached.
    pub was_full: bool,
    /// BBR.idle_restart.
    pub is_idle_restart: bool,
}

impl Bbr3 {
    /// Returns the congestion control of a new connection.
    pub fn new(values: &Values, start: Start) -> Bbr3 {
        let constants = Constants::of(values);
        Bbr3 {
            aggregation: Aggregation::over(constants.extra_acked_rounds),
            constants,
            mss: start.mss,
            initial_window: start.window,
            selective: start.selective,
            random: start.random,
            cwnd: start.window,
            prior: 0,
            rate: None,
            has_rtt: false,
            quantum: 2 * start.mss,
            phase: LossPhase::Open,
            state: Bbr3State::Startup,
            drains_since: 0,
            is_idle_restart: false,
            bw: 0.0,
            rounds: Rounds::default(),
            last: LastRound::default(),
            max_bandwidth: MaxBandwidth::default(),
            pipe: FullPipe::default(),
            short: ShortTerm::UNBOUND,
            long_term: u64::MAX,
            cycle: Cycle::NONE,
            rtt: MinRtt::default(),
            undo: Undo::NOTHING,
        }
    }

    /// Returns a snapshot of the model.
    pub fn snapshot(&self) -> ModelSnapshot {
        let finite = |bytes: u64| (bytes != u64::MAX).then_some(bytes);
        ModelSnapshot {
            state: self.state,
            max_bandwidth: self.max_bandwidth.largest(),
            bandwidth_short_term: self.short.bandwidth,
            pacing_rate: self.rate.unwrap_or(0.0),
            pacing_gain: self.pacing_gain(),
            min_rtt: self.rtt.smallest.map(|(rtt, _)| rtt),
            inflight_long_term: finite(self.long_term),
            inflight_short_term: finite(self.short.inflight),
            target: self.inflight(self.bandwidth(), 1.0),
            target_with_headroom: self.long_term_with_headroom(),
            extra_acked: self.aggregation.extra,
            rounds: self.rounds.count,
            flat_rounds: self.pipe.flat_rounds,
            is_full: self.pipe.is_full,
            was_full: self.pipe.was_full,
            is_idle_restart: self.is_idle_restart,
        }
    }

    fn enter(&mut self, state: Bbr3State) {
        self.state = state;
    }

    /// Leaves Startup if the pipe is full, and Drain if the queue is empty (CheckStartupDone, CheckDrainDone).
    fn leave_startup(&mut self, now: Time, in_flight: u64, sample: &AckSample) {
        self.check_startup_loss(sample);
        if self.state == Bbr3State::Startup && self.pipe.was_full {
            self.enter(Bbr3State::Drain);
            self.drains_since = self.rounds.count;
        }
        let is_drained = in_flight <= self.inflight(self.bandwidth(), 1.0);
        if self.state == Bbr3State::Drain && (is_drained || self.rounds.count > self.drains_since + 3) {
            self.start_down(now);
        }
    }

    fn save_window(&mut self) {
        let is_whole = self.phase == LossPhase::Open && self.state != Bbr3State::ProbeRtt;
        self.prior = if is_whole { self.cwnd } else { self.prior.max(self.cwnd) };
    }

    fn restore_window(&mut self) {
        self.cwnd = self.cwnd.max(self.prior);
    }

    fn update_model(&mut self, ack: &AckEvent, sample: &AckSample) {
        self.last.begin_ack(sample, self.rounds.delivered);
        self.rounds.advance(sample);
        if self.rounds.begins {
            self.cycle.begin_round();
        }
        self.max_bandwidth.update(sample);
        self.adapt_to_losses();
        self.aggregation.on_ack(
            ack.now,
            sample.newly_acked,
            self.bw,
            self.cwnd,
            self.rounds.count,
            self.pipe.was_full,
        );
        if self.rounds.begins {
            self.pipe.update(sample, &self.constants);
        }
        self.leave_startup(ack.now, ack.in_flight, sample);
        self.advance_cycle(ack.now, ack.in_flight, sample);
        self.update_min_rtt(ack.now, sample);
        self.check_probe_rtt(ack.now, ack.in_flight, sample);
        self.last.end_ack(sample);
        self.bw = self.max_bandwidth.largest().min(self.short.bandwidth);
    }
}

impl CongestionControl for Bbr3 {
    fn window(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> u64 {
        LARGEST
    }

    fn nature(&self) -> Nature {
        Nature { uses_rate_samples: true, conserves: true, ..Nature::DRAWS }
    }

    /// UpdateOnACK: updates the model, the pacing rate and cwnd.
    fn on_ack(&mut self, ack: &AckEvent, _: &mut dyn AckCounting) {
        if self.phase == LossPhase::Restart && ack.phase == LossPhase::Open {
            self.restore_window();
        }
        self.phase = ack.phase;
        if !self.has_rtt && ack.srtt.is_some() {
            self.open_pacing(ack.srtt);
        }
        self.rounds.delivered += ack.delivered;
        let sample = AckSample::of(ack);
        self.update_model(ack, &sample);
        self.pace(self.pacing_gain());
        self.set_quantum();
        self.set_window(sample.newly_acked);
    }

    /// OnEnterFastRecovery: saves the state of the model for an undo.
    fn on_loss(&mut self, _: &LossEvent) {
        self.save_state();
        self.phase = LossPhase::Recovery;
    }

    fn on_restart(&mut self, loss: &LossEvent) {
        self.on_timeout(loss, true);
    }

    /// OnEnterRTO: cwnd becomes one segment more than the bytes in flight (draft §5.6.4.4).
    fn on_timeout(&mut self, loss: &LossEvent, _: bool) {
        self.save_state();
        self.phase = LossPhase::Restart;
        self.cwnd = loss.still_in_flight + self.mss;
    }

    fn on_mark(&mut self, _: &LossEvent) {}

    fn on_idle(&mut self, _: u64) {}

    fn on_segment(&mut self, mss: u64) {
        self.mss = mss;
    }

    fn on_recovered(&mut self, _: u64, recovered: Recovered) {
        match recovered {
            Recovered::Probed { window } => return self.cwnd = window,
            Recovered::Kept => self.restore_window(),
            Recovered::Revised { .. } => self.handle_spurious_loss(),
        }
        self.phase = LossPhase::Open;
    }
}

impl RateHooks for Bbr3 {
    fn holds_back(&self) -> bool {
        self.state == Bbr3State::ProbeRtt
    }

    fn on_open(&mut self, rtt: Option<Duration>) {
        self.rtt.open(rtt);
        self.open_pacing(rtt);
    }

    /// Handles a restart after an idle time (HandleRestartFromIdle), and records whether cwnd is full.
    fn on_sent(&mut self, sent: &SentEvent) {
        if sent.in_flight + self.mss > self.cwnd {
            self.rounds.note_full_window();
        }
        if sent.in_flight > sent.bytes || !sent.limited {
            return;
        }
        self.is_idle_restart = true;
        self.aggregation.begin(sent.now);
        if self.state.probes_bandwidth() {
            self.pace(1.0);
        } else if self.state == Bbr3State::ProbeRtt {
            self.check_probe_rtt_done(sent.now);
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.rate.map(|rate| Rate::from_bps((8.0 * rate) as u64))
    }

    fn on_lost(&mut self, now: Time, lost: &LostSegment) {
        self.handle_lost(now, lost);
    }
}
