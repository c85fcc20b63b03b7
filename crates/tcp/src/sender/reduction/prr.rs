//! Proportional rate reduction (RFC 9937).

use super::{Build, Reduction, ReductionInput};
use lasthop_base::{Info, Mechanism};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "prr",
        summary: "sends in proportion to the bytes delivered until the bytes in flight reach the reduced window (PRR)",
        source: "RFC 9937 §6",
        ..Info::PLAIN
    },
    build: &|_| Some(Box::new(Prr { recover_flight: 1, delivered: 0, out: 0 })),
};

struct Prr {
    /// RecoverFS: FlightSize at the begin of recovery, bytes.
    recover_flight: u64,
    /// prr_delivered: bytes delivered since recovery began.
    delivered: u64,
    /// prr_out: bytes sent since recovery began.
    out: u64,
}

impl Reduction for Prr {
    fn on_entered(&mut self, flight: u64) {
        *self = Prr { recover_flight: flight.max(1), delivered: 0, out: 0 };
    }

    fn on_ack(&mut self, input: &ReductionInput) -> u64 {
        let ReductionInput { delivered, lost, advanced, in_flight, target, mss } = *input;
        self.delivered += delivered;
        let mut send = if in_flight > target {
            let share = u128::from(self.delivered) * u128::from(target);
            (share.div_ceil(u128::from(self.recover_flight)) as u64).saturating_sub(self.out)
        } else {
            // Sends as many bytes as were delivered, plus one segment if the ACK advances SND.UNA and reveals no
            // further loss (SafeACK).
            let bound = self.delivered.saturating_sub(self.out).max(delivered);
            let safe = if advanced && lost == 0 { mss } else { 0 };
            (bound + safe).min(target - in_flight)
        };
        if self.out == 0 {
            // The fast retransmission is always sent, regardless of the limit.
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

    /// Returns the number of segments sent at each ACK of a recovery, and the number in flight at the end of the
    /// recovery. The recovery begins with `flight` segments, of which the first `lost` are lost, and reduces the flight
    /// to `target` segments.
    fn sent(flight: u64, lost: u64, target: u64) -> (Vec<u64>, u64) {
        let mut prr = Prr { recover_flight: 1, delivered: 0, out: 0 };
        prr.on_entered(flight * MSS);
        let mut in_flight = (flight - lost) * MSS;
        let mut sent = Vec::new();
        for number in 0..flight - lost {
            in_flight -= MSS;
            let newly_lost = if number == 0 { lost * MSS } else { 0 };
            let input = ReductionInput {
                delivered: MSS,
                lost: newly_lost,
                advanced: false,
                in_flight,
                target: target * MSS,
                mss: MSS,
            };
            let goes = (prr.on_ack(&input) - in_flight) / MSS;
            prr.on_sent(goes * MSS);
            in_flight += goes * MSS;
            sent.push(goes);
        }
        (sent, in_flight / MSS)
    }

    /// RFC 9937 §6: with one of 20 segments lost and a target of 10, one segment is sent for every two delivered. Any
    /// three successive ACKs send at least one segment; any two of the first 15 ACKs send at most one. At the target,
    /// each ACK sends one segment.
    #[test]
    fn a_light_loss_halves_the_rate() {
        let (sent, in_flight) = sent(20, 1, 10);
        assert!(sent.iter().all(|goes| *goes <= 1), "segments sent at each ACK: {sent:?}");
        assert!(sent.windows(3).all(|three| three.contains(&1)), "segments sent at each ACK: {sent:?}");
        // The flight falls from 19 to 10 segments while 19 segments are delivered, so 10 segments are sent.
        assert_eq!((sent.iter().sum::<u64>(), in_flight), (10, 10));
        assert!(sent[..15].windows(2).all(|pair| pair.contains(&0)), "segments sent at each ACK: {sent:?}");
    }

    /// The loss of 15 of 20 segments leaves fewer segments in flight than the target of 10. One segment is then sent
    /// for each delivered segment (packet conservation).
    #[test]
    fn a_heavy_loss_conserves_packets() {
        let (sent, in_flight) = sent(20, 15, 10);
        assert_eq!(sent, [1; 5]);
        assert_eq!(in_flight, 5);
    }
}
