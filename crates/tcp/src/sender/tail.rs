//! Tail loss probe: the end of a flight is asked for before the timer expires (RFC 8985 §7).
//!
//! Behind the last segments of a flight nothing comes that could show that they are lost. A probe, new data or the last
//! segment again, makes the receiver say what it has.

use super::timer::Kind;
use super::{Expiry, Outgoing, Sender};
use crate::event::{Log, Reason};
use crate::sender::congestion::Recovered;
use lasthop_base::{Duration, Time};

/// Where the probe of the tail stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tail {
    /// Nobody probes.
    Off,
    /// None is out. The retransmission timer would expire then, if the probe's was not before it.
    Quiet { expires: Time },
    /// One is to go out.
    Due,
    /// One went out: until this byte is acknowledged there is no other (TLP.end_seq); whether it was sent before.
    Asked { end: u64, again: bool },
}

/// TLP.max_ack_delay: how long a receiver may wait with the ACK of a lone segment.
const LONGEST_ACK_DELAY: Duration = Duration::from_millis(200);

impl Sender {
    /// Starts the timer of what is outstanding anew: the retransmission timer, or the probe's where that comes before it.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn arm(&mut self, now: Time) {
        let expires = now + self.rtt.rto();
        match self.tail {
            Tail::Quiet { .. } if self.is_undisturbed() => self.arm_probe(now, expires),
            _ => self.timer.start(expires, Kind::Retransmit),
        }
    }

    /// New data went out behind what is outstanding: the probe waits for it too, at most until the timer would expire.
    #[cold]
    pub(super) fn put_probe_off(&mut self, now: Time) {
        if let Tail::Quiet { expires } = self.tail
            && self.timer.kind() == Kind::Probe
        {
            self.arm_probe(now, expires);
        }
    }

    /// RFC 8985 §7.2, TLP_calc_PTO.
    #[cold]
    fn arm_probe(&mut self, now: Time, expires: Time) {
        let is_lone = self.board.outstanding() <= self.mss;
        let timeout = match self.rtt.srtt() {
            Some(srtt) => srtt * 2 + if is_lone { LONGEST_ACK_DELAY } else { Duration::ZERO },
            None => Duration::from_secs(1),
        };
        self.tail = Tail::Quiet { expires };
        self.timer.start((now + timeout).min(expires), Kind::Probe);
    }

    /// No loss is repaired and nothing is reported: else recovery asks by itself.
    #[inline(never)]
    fn is_undisturbed(&self) -> bool {
        self.board.sacked() == 0
            && self.board.lost() == 0
            && !self.repair.recovery().is_recovering()
            && !self.repair.restarts(self.board.una())
    }

    /// The probe's time has come; from now on the retransmission timer runs.
    pub(super) fn expire_probe(&mut self, now: Time) -> Expiry {
        self.timer.start(now + self.rtt.rto(), Kind::Retransmit);
        self.tail = Tail::Due;
        self.calm = false;
        Expiry::GoesOn
    }

    /// The probe, whatever cwnd says: new data, or the last segment again (RFC 8985 §7.3).
    #[inline(never)]
    pub(super) fn poll_probe(&mut self, now: Time, log: &mut Log) -> Option<Outgoing> {
        if let Ok(range) = self.next_new(self.mss) {
            self.tail = Tail::Asked { end: range.end, again: false };
            return Some(self.send_new(now, range));
        }
        let range = self.board.last()?;
        self.tail = Tail::Asked { end: self.board.nxt(), again: true };
        Some(self.again(now, range, Reason::TailProbe, log))
    }

    /// An ACK came; `twice`: it tells of something that arrived twice; `advanced`: it is new. Whether the probe has repaired a
    /// loss, for which the window is reduced as for one that recovery repairs (RFC 8985 §7.4.2).
    #[inline(never)]
    pub(super) fn conclude_probe(
        &mut self,
        now: Time,
        twice: bool,
        advanced: bool,
        selective: bool,
        log: &mut Log,
    ) {
        let Tail::Asked { end, again } = self.tail else { return };
        let una = self.board.una();
        if una < end {
            return;
        }
        let has_repaired = again && !twice && una > end;
        if !again || twice || has_repaired || (!advanced && !selective) {
            self.tail = Tail::Quiet { expires: Time::NEVER };
        }
        if has_repaired && !self.repair.recovery().is_recovering() {
            let loss = self.loss_event(now, self.board.outstanding());
            self.window.on_loss(&loss);
            self.window.on_recovered(self.board.outstanding(), Recovered::Kept);
            self.reductions.note(now, self.board.nxt());
            log.count_recovery();
        }
    }

    /// A timeout or a recovery: a probe's answer would say nothing.
    pub(super) fn forget_probe(&mut self) {
        if self.tail != Tail::Off {
            self.tail = Tail::Quiet { expires: Time::NEVER };
        }
    }
}
