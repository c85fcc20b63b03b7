//! Proportional rate reduction (RFC 9937): what goes out is in proportion to what arrives, until what is in flight is the
//! reduced window.

use super::{Build, Progress, Reduction};
use lasthop_base::{Info, Mechanism};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "prr",
        summary: "in proportion to what arrives, until what is in flight is the reduced window",
        source: "RFC 9937 §6",
        ..Info::PLAIN
    },
    build: &|_| Some(Box::new(Prr { recover_flight: 1, delivered: 0, out: 0 })),
};

struct Prr {
    /// RecoverFS, bytes.
    recover_flight: u64,
    /// prr_delivered and prr_out: bytes since recovery began.
    delivered: u64,
    out: u64,
}

impl Reduction for Prr {
    fn on_entered(&mut self, flight: u64) {
        *self = Prr { recover_flight: flight.max(1), delivered: 0, out: 0 };
    }

    fn on_ack(&mut self, progress: &Progress) -> u64 {
        let Progress { delivered, lost, advanced, in_flight, target, mss } = *progress;
        self.delivered += delivered;
        let mut send = if in_flight > target {
            let share = u128::from(self.delivered) * u128::from(target);
            (share.div_ceil(u128::from(self.recover_flight)) as u64).saturating_sub(self.out)
        } else {
            // As much as arrives; a segment more if the ACK is safe: it advances and tells no further loss (SafeACK).
            let bound = self.delivered.saturating_sub(self.out).max(delivered);
            let safe = if advanced && lost == 0 { mss } else { 0 };
            (bound + safe).min(target - in_flight)
        };
        if self.out == 0 {
            // The first retransmission goes out in any case.
            send = send.max(mss);
        }
        in_flight + send
    }

    fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    /// Recovery from `flight` segments with the first `lost` of them lost, to `target` in flight: what goes out with each ACK.
    fn sent(flight: u64, lost: u64, target: u64) -> (Vec<u64>, u64) {
        let mut prr = Prr { recover_flight: 1, delivered: 0, out: 0 };
        prr.on_entered(flight * MSS);
        let mut in_flight = (flight - lost) * MSS;
        let mut sent = Vec::new();
        for number in 0..flight - lost {
            in_flight -= MSS;
            let newly_lost = if number == 0 { lost * MSS } else { 0 };
            let progress = Progress {
                delivered: MSS,
                lost: newly_lost,
                advanced: false,
                in_flight,
                target: target * MSS,
                mss: MSS,
            };
            let goes = (prr.on_ack(&progress) - in_flight) / MSS;
            prr.on_sent(goes * MSS);
            in_flight += goes * MSS;
            sent.push(goes);
        }
        (sent, in_flight / MSS)
    }

    /// Half of what arrives goes out, spread over the recovery: never three ACKs in a row without a segment, and no two
    /// segments in a row until the target is reached; then one for each that leaves (RFC 9937 §6).
    #[test]
    fn a_light_loss_halves_the_rate() {
        let (sent, in_flight) = sent(20, 1, 10);
        assert!(sent.iter().all(|goes| *goes <= 1), "{sent:?}");
        assert!(sent.windows(3).all(|three| three.contains(&1)), "{sent:?}");
        // 19 in flight come down to 10 while 19 are delivered: ten go out, whatever the order.
        assert_eq!((sent.iter().sum::<u64>(), in_flight), (10, 10));
        assert!(sent[..15].windows(2).all(|pair| pair.contains(&0)), "{sent:?}");
    }

    /// After a heavy loss less is in flight than the target: as much goes out as arrives, no burst (the conservative bound).
    #[test]
    fn a_heavy_loss_conserves_packets() {
        let (sent, in_flight) = sent(20, 15, 10);
        assert_eq!(sent, [1; 5]);
        assert_eq!(in_flight, 5);
    }
}
