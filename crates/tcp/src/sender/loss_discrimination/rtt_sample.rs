//! Round-trip samples for loss discrimination, and their division into rounds.

use lasthop_base::{Duration, Time};

/// Round-trip sample of one ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RttSample {
    /// Arrival time of the ACK.
    pub now: Time,
    /// Round-trip time.
    pub rtt: Duration,
    /// Receiver's clock at the ACK (TSval, unwrapped), if timestamps are in use. Only differences are meaningful.
    pub clock: Option<Time>,
    /// Offset of the first byte not acknowledged after the ACK (SND.UNA).
    pub una: u64,
    /// Bytes outstanding after the ACK.
    pub outstanding: u64,
    /// Payload of a full segment, bytes.
    pub mss: u64,
}

impl RttSample {
    /// Forward delay, ns, plus an unknown constant offset between the two clocks. Without timestamps, returns the
    /// round-trip time instead.
    pub fn forward_delay(&self) -> i64 {
        let sent = self.now.as_nanos() as i64 - self.rtt.as_nanos() as i64;
        match self.clock {
            Some(clock) => clock.as_nanos() as i64 - sent,
            None => self.rtt.as_nanos() as i64,
        }
    }
}

/// A round of samples. A round begins with an ACK, and ends with the ACK of the first segment sent after that ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampledRound {
    end: u64,
    pub(super) window: u64,
}

impl SampledRound {
    pub(super) fn begin(sample: &RttSample) -> SampledRound {
        SampledRound { end: sample.una + sample.outstanding, window: sample.outstanding }
    }

    pub(super) fn is_over(&self, sample: &RttSample) -> bool {
        sample.una > self.end
    }
}

#[cfg(test)]
pub(super) mod samples {
    use super::*;
    use crate::ranges::Range;
    use crate::sender::loss_discrimination::LossDiscriminator;

    const MSS: u64 = 1000;
    pub(in crate::sender::loss_discrimination) const LOST: Range = Range { start: 1, end: 1001 };

    pub(in crate::sender::loss_discrimination) struct SamplePath {
        pub(in crate::sender::loss_discrimination) stamps: bool,
        pub(in crate::sender::loss_discrimination) now: Time,
        pub(in crate::sender::loss_discrimination) una: u64,
    }

    impl Default for SamplePath {
        fn default() -> SamplePath {
            SamplePath { stamps: false, now: Time::ZERO + Duration::from_secs(1), una: 1 }
        }
    }

    impl SamplePath {
        /// Acknowledges `window` segments, spread over one round trip of `rtt` ms. `back`: additional delay of the
        /// return path, ms, included in `rtt`.
        pub(in crate::sender::loss_discrimination) fn round(
            &mut self,
            discriminator: &mut dyn LossDiscriminator,
            window: u64,
            rtt: u64,
            back: u64,
        ) {
            for _ in 0..window {
                self.now += Duration::from_nanos(rtt * 1_000_000 / window);
                self.una += MSS;
                let clock = Time::from_nanos(self.now.as_nanos() - back * 1_000_000);
                discriminator.on_rtt_sample(&RttSample {
                    now: self.now,
                    rtt: Duration::from_millis(rtt),
                    clock: self.stamps.then_some(clock),
                    una: self.una,
                    outstanding: window * MSS,
                    mss: MSS,
                });
            }
        }
    }
}
