//! The four states of ProbeBW (draft §5.3.3), and the time of the next bandwidth probe.

use super::{AckSample, Bbr3, Bbr3State};
use lasthop_base::{Duration, Time};

/// BBR.ack_phase: stage of the bandwidth probe whose data the arriving ACKs acknowledge.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
enum Feedback {
    #[default]
    None,
    Refilling,
    Starting,
    Arriving,
    Stopping,
}

pub(super) struct Cycle {
    feedback: Feedback,
    /// BBR.is_bw_probe_sample: whether the ACKs that arrive now acknowledge data sent to probe for bandwidth.
    pub(super) is_probe: bool,
    /// BBR.prev_probe_too_high: whether the last bandwidth probe caused too many losses.
    pub(super) was_too_high: bool,
    /// BBR.prev_probe_precautionary: whether the last bandwidth probe stopped at the long-term bound as a precaution.
    was_careful: bool,
    /// BBR.bw_probe_up_acked, bytes.
    up_acked: u64,
    /// BBR.probe_up_acked_per_inc, bytes.
    acked_per_step: u64,
    /// BBR.bw_probe_up_rounds.
    up_rounds: u32,
    rounds: u64,
    /// BBR.cycle_stamp.
    since: Time,
    /// BBR.bw_probe_wait.
    wait: Duration,
}

impl Cycle {
    pub(super) const NONE: Cycle = Cycle {
        feedback: Feedback::None,
        is_probe: false,
        was_too_high: false,
        was_careful: false,
        up_acked: 0,
        acked_per_step: u64::MAX,
        up_rounds: 0,
        rounds: 0,
        since: Time::ZERO,
        wait: Duration::ZERO,
    };

    pub(super) fn begin_round(&mut self) {
        self.rounds += 1;
    }

    /// Records that the bandwidth probe has stopped, although ACKs of the probe's data still arrive.
    pub(super) fn stop_feedback(&mut self) {
        self.feedback = Feedback::Stopping;
    }
}

impl Bbr3 {
    /// Enters the next state of ProbeBW if that state is due (UpdateProbeBWCyclePhase).
    pub(super) fn advance_cycle(&mut self, now: Time, in_flight: u64, sample: &AckSample) {
        if !self.pipe.was_full || self.adapt_long_term(sample) {
            return;
        }
        let state = self.state;
        match state {
            Bbr3State::Down if self.is_time_to_probe(now) => self.start_refill(),
            Bbr3State::Down if self.is_time_to_cruise(in_flight) => self.enter(Bbr3State::Cruise),
            Bbr3State::Cruise if self.is_time_to_probe(now) => self.start_refill(),
            Bbr3State::Refill if self.rounds.begins => {
                self.cycle.is_probe = true;
                self.start_up(sample);
            }
            Bbr3State::Up if self.is_time_to_go_down(in_flight, sample) => {
                self.cycle.was_too_high = false;
                self.start_down(now);
            }
            _ => {}
        }
    }

    /// Enters ProbeBW_DOWN and chooses the time until the next bandwidth probe (StartProbeBW_DOWN, PickProbeWait).
    pub(super) fn start_down(&mut self, now: Time) {
        self.last.reset();
        let cycle = &mut self.cycle;
        cycle.acked_per_step = u64::MAX;
        cycle.rounds = self.random.draw() % 2;
        cycle.wait = self.constants.wait
            + Duration::from_secs_f64(self.constants.wait_spread.as_secs() * self.random.uniform());
        cycle.since = now;
        cycle.feedback = Feedback::Stopping;
        self.rounds.start();
        self.enter(Bbr3State::Down);
    }

    pub(super) fn start_refill(&mut self) {
        self.short.reset();
        let cycle = &mut self.cycle;
        (cycle.up_rounds, cycle.up_acked) = (0, 0);
        cycle.was_careful = false;
        cycle.feedback = Feedback::Refilling;
        self.rounds.start();
        self.enter(Bbr3State::Refill);
    }

    fn start_up(&mut self, sample: &AckSample) {
        self.cycle.feedback = Feedback::Starting;
        self.rounds.start();
        self.pipe.reset(sample.rate);
        self.enter(Bbr3State::Up);
        self.raise_slope();
    }

    /// Returns whether a bandwidth probe is due (IsTimeToProbeBW): the wait is over, or enough rounds have passed.
    /// After a loss, a Reno flow needs one round for each segment of the target inflight to regain its cwnd. Enough
    /// rounds are this number or `reno_rounds`, whichever is smaller.
    fn is_time_to_probe(&self, now: Time) -> bool {
        let reno_rounds = self.target_inflight() / self.mss;
        now > self.cycle.since + self.cycle.wait
            || self.cycle.rounds >= reno_rounds.min(self.constants.reno_rounds)
    }

    fn is_time_to_cruise(&self, in_flight: u64) -> bool {
        in_flight <= self.long_term_with_headroom()
            && in_flight <= self.inflight(self.max_bandwidth.largest(), 1.0)
    }

    fn is_time_to_go_down(&mut self, in_flight: u64, sample: &AckSample) -> bool {
        if self.cycle.was_too_high && in_flight >= self.long_term {
            self.cycle.was_careful = true;
            return true;
        }
        if self.rounds.is_window_limited() && self.cwnd >= self.long_term {
            // Here the long-term bound, not the path, limits the delivery rate.
            self.pipe.reset(sample.rate);
            return false;
        }
        self.pipe.is_full
    }

    /// Adapts the long-term bound (AdaptLongTermModel). Returns whether the state changes.
    fn adapt_long_term(&mut self, sample: &AckSample) -> bool {
        if self.rounds.begins {
            let feedback = self.cycle.feedback;
            match feedback {
                Feedback::Starting => self.cycle.feedback = Feedback::Arriving,
                Feedback::Stopping if self.end_feedback(sample) => return true,
                _ => {}
            }
        }
        if !self.is_too_high(sample) && self.long_term != u64::MAX {
            self.long_term = self.long_term.max(sample.in_flight);
            if self.state == Bbr3State::Up {
                self.raise_long_term(sample);
            }
        }
        false
    }

    /// Ends the feedback on the last bandwidth probe. Returns whether another bandwidth probe begins at once, because
    /// the last probe stopped as a precaution and did not cause too many losses.
    fn end_feedback(&mut self, sample: &AckSample) -> bool {
        self.cycle.is_probe = false;
        self.cycle.feedback = Feedback::None;
        if !self.state.probes_bandwidth() {
            return false;
        }
        if !sample.app_limited {
            self.max_bandwidth.advance();
        }
        let goes_on = self.cycle.was_careful && !self.cycle.was_too_high;
        if goes_on {
            self.start_refill();
        }
        goes_on
    }

    /// Sets the growth of the long-term bound (RaiseInflightLongtermSlope): 1 segment in the first round, then 2, 4, 8
    /// … segments.
    fn raise_slope(&mut self) {
        let steps = 1u64 << self.cycle.up_rounds;
        self.cycle.up_rounds = (self.cycle.up_rounds + 1).min(30);
        self.cycle.acked_per_step = (self.cwnd / steps).max(self.mss);
    }

    /// Raises the long-term bound in ProbeBW_UP (ProbeInflightLongtermUpward).
    fn raise_long_term(&mut self, sample: &AckSample) {
        if !self.rounds.is_window_limited() || self.cwnd < self.long_term {
            return;
        }
        self.cycle.up_acked += sample.newly_acked;
        let steps = self.cycle.up_acked / self.cycle.acked_per_step;
        self.cycle.up_acked %= self.cycle.acked_per_step;
        self.long_term += steps * self.mss;
        if self.rounds.begins {
            self.raise_slope();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::MECHANISM;
    use super::*;
    use crate::sender::congestion::Start;
    use lasthop_base::Stream;

    /// Draft §5.3.3.5: the window has 64 segments. In rounds with a full window, the long-term bound grows by 1, 2, 4,
    /// 8 … segments. In other rounds, the long-term bound does not grow.
    #[test]
    fn the_bound_grows_twice_as_fast_in_each_round() {
        let random = Stream::named(1, "sender");
        let start = Start { window: 64_000, ssthresh: 1 << 30, mss: 1000, selective: true, random };
        let mut bbr = Bbr3::new(&MECHANISM.info.defaults(), start);
        bbr.long_term = 20_000;
        bbr.raise_slope();
        let sample = |newly_acked| AckSample { newly_acked, ..AckSample::default() };
        bbr.raise_long_term(&sample(64_000));
        assert_eq!(bbr.long_term, 20_000, "the window was not full");
        bbr.rounds.note_full_window();
        let in_round = |bbr: &mut Bbr3| {
            let before = bbr.long_term;
            for ack in 1..=64 {
                bbr.rounds.begins = ack == 64;
                bbr.raise_long_term(&sample(1000));
            }
            (bbr.long_term - before) / 1000
        };
        assert_eq!([(); 5].map(|()| in_round(&mut bbr)), [1, 2, 4, 8, 16]);
    }
}
