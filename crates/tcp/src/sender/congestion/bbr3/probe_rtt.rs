//! Measurement of the smallest RTT, and the state ProbeRTT (draft §5.3.4, §5.5.7).

use super::{AckSample, Bbr3, Bbr3State};
use lasthop_base::{Duration, Time};

/// BBR.min_rtt, and the smallest RTT of the last probe interval, which schedules ProbeRTT.
#[derive(Default)]
pub(super) struct MinRtt {
    /// BBR.min_rtt, and the time of its measurement (BBR.min_rtt_stamp); `None` if no RTT was measured.
    pub(super) smallest: Option<(Duration, Time)>,
    /// BBR.probe_rtt_min_delay: smallest RTT of the probe interval, and the time of its measurement.
    pub(super) recent: Option<(Duration, Time)>,
    /// BBR.probe_rtt_expired: whether ProbeRTT is due.
    expired: bool,
    /// BBR.probe_rtt_done_stamp: earliest end of ProbeRTT.
    done_at: Option<Time>,
    /// BBR.probe_rtt_round_done: whether a round has passed in ProbeRTT.
    has_round: bool,
}

impl MinRtt {
    /// OnInit: records the handshake's RTT as the first sample.
    pub(super) fn open(&mut self, rtt: Option<Duration>) {
        self.smallest = rtt.map(|rtt| (rtt, Time::ZERO));
    }

    /// Sets the time of the handshake's RTT sample to `now`, the time of the first ACK.
    pub(super) fn begin(&mut self, now: Time) {
        if let Some((_, at)) = self.smallest.as_mut().filter(|(_, at)| *at == Time::ZERO) {
            *at = now;
        }
    }
}

impl Bbr3 {
    pub(super) fn update_min_rtt(&mut self, now: Time, sample: &AckSample) {
        let known = &mut self.rtt;
        known.begin(now);
        known.expired = known.recent.is_some_and(|(_, at)| now > at + self.constants.probe_rtt_interval);
        if let Some(rtt) = sample.rtt
            && (known.expired || known.recent.is_none_or(|(delay, _)| rtt < delay))
        {
            known.recent = Some((rtt, now));
        }
        let Some((delay, at)) = known.recent else { return };
        let is_better = known
            .smallest
            .is_none_or(|(smallest, since)| delay < smallest || now > since + self.constants.min_rtt_counts);
        if is_better {
            known.smallest = Some((delay, at));
        }
    }

    pub(super) fn check_probe_rtt(&mut self, now: Time, in_flight: u64, sample: &AckSample) {
        if self.state != Bbr3State::ProbeRtt && self.rtt.expired && !self.is_idle_restart {
            self.enter(Bbr3State::ProbeRtt);
            self.save_window();
            self.rtt.done_at = None;
            self.cycle.stop_feedback();
            self.rounds.start();
        }
        if self.state == Bbr3State::ProbeRtt {
            self.handle_probe_rtt(now, in_flight);
        }
        if sample.delivered > 0 {
            self.is_idle_restart = false;
        }
    }

    fn handle_probe_rtt(&mut self, now: Time, in_flight: u64) {
        if self.rtt.done_at.is_none() {
            if in_flight <= self.probe_rtt_window() {
                self.rtt.done_at = Some(now + self.constants.probe_rtt_lasts);
                self.rtt.has_round = false;
                self.rounds.start();
            }
            return;
        }
        self.rtt.has_round |= self.rounds.begins;
        if self.rtt.has_round {
            self.check_probe_rtt_done(now);
        }
    }

    /// Leaves ProbeRTT if its duration has passed (CheckProbeRTTDone, ExitProbeRTT).
    pub(super) fn check_probe_rtt_done(&mut self, now: Time) {
        if self.rtt.done_at.is_none_or(|done_at| now <= done_at) {
            return;
        }
        // The next ProbeRTT is due one interval from now.
        self.rtt.recent = self.rtt.recent.map(|(delay, _)| (delay, now));
        self.restore_window();
        self.short.reset();
        if self.pipe.was_full {
            self.start_down(now);
            self.enter(Bbr3State::Cruise);
        } else {
            self.enter(Bbr3State::Startup);
        }
    }

    pub(super) fn probe_rtt_window(&self) -> u64 {
        self.product(self.bandwidth(), self.constants.probe_rtt_gain).max(self.fewest())
    }
}
