//! Impairments of packets on a path, reproducible from a seed.

use lasthop_base::{Duration, Stream, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Impairments of packets in one direction, as in netem(8). Probabilities are 0 to 1 and independent.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Impairment {
    /// Probability that a packet begins a burst of losses. A burst may be a single loss.
    pub loss: f64,
    /// Mean number of consecutive losses, at least 1 (0 counts as 1).
    pub burst: f64,
    /// Probability that a packet is duplicated.
    pub duplicate: f64,
    /// Probability that a packet gets an additional delay of up to [`Impairment::jitter`], so that later packets
    /// overtake it.
    pub reorder: f64,
    /// Largest additional delay of a reordered packet.
    pub jitter: Duration,
    /// Probability that one bit of a packet is flipped.
    pub corrupt: f64,
    /// Delay of every packet.
    pub delay: Duration,
}

/// A path that impairs packets and returns each packet when its delivery is due.
#[derive(Debug)]
pub struct ImpairedPath {
    impairment: Impairment,
    random: Stream,
    in_burst: bool,
    /// Packets in flight, the earliest due time first. Packets with the same due time stay in order of sending.
    waiting: BinaryHeap<Reverse<(Time, u64, Vec<u8>)>>,
    count: u64,
    lost: u64,
}

impl ImpairedPath {
    /// Creates a path with this impairment.
    pub fn new(impairment: Impairment, random: Stream) -> ImpairedPath {
        ImpairedPath { impairment, random, in_burst: false, waiting: BinaryHeap::new(), count: 0, lost: 0 }
    }

    /// Sends a packet into the path.
    pub fn send(&mut self, now: Time, packet: &[u8]) {
        let impairment = self.impairment;
        // Every packet consumes the same number of random draws. The draws of a packet therefore do not depend on the
        // impairments of earlier packets.
        let [loss, duplicate, reorder, corrupt] = std::array::from_fn(|_| self.random.uniform());
        let (late, bit) = (self.random.uniform(), self.random.draw());
        let goes_on = 1.0 - 1.0 / impairment.burst.max(1.0);
        self.in_burst = loss < if self.in_burst { goes_on } else { impairment.loss };
        if self.in_burst {
            self.lost += 1;
            return;
        }
        let mut packet = packet.to_vec();
        if corrupt < impairment.corrupt && !packet.is_empty() {
            let bit = bit as usize % (packet.len() * 8);
            packet[bit / 8] ^= 1 << (bit % 8);
        }
        let lateness = if reorder < impairment.reorder { late * impairment.jitter.as_secs() } else { 0.0 };
        let due = now + impairment.delay;
        if duplicate < impairment.duplicate {
            self.push(due, packet.clone());
        }
        self.push(due + Duration::from_secs_f64(lateness), packet);
    }

    /// Returns the next packet that is due.
    pub fn poll(&mut self, now: Time) -> Option<Vec<u8>> {
        if self.due() > now {
            return None;
        }
        self.waiting.pop().map(|Reverse((_, _, packet))| packet)
    }

    /// Time at which the next packet is due; [`Time::NEVER`] if none is in flight.
    pub fn due(&self) -> Time {
        self.waiting.peek().map_or(Time::NEVER, |Reverse((due, _, _))| *due)
    }

    /// Packets lost so far.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    fn push(&mut self, due: Time, packet: Vec<u8>) {
        self.count += 1;
        self.waiting.push(Reverse((due, self.count, packet)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(impairment: Impairment) -> Vec<u32> {
        let mut path = ImpairedPath::new(impairment, Stream::named(1, "test"));
        let mut arrived = Vec::new();
        for n in 0..20_000_u32 {
            let now = Time::ZERO + Duration::from_millis(u64::from(n));
            path.send(now, &n.to_be_bytes());
            while let Some(packet) = path.poll(now) {
                arrived.push(u32::from_be_bytes(packet.try_into().expect("four bytes")));
            }
        }
        arrived
    }

    #[test]
    fn losses_come_as_often_and_in_bursts_as_long_as_asked_for() {
        let impairment = Impairment { loss: 0.02, burst: 4.0, ..Impairment::default() };
        let arrived = arrivals(impairment);
        let gaps: Vec<u32> =
            arrived.windows(2).map(|pair| pair[1] - pair[0] - 1).filter(|gap| *gap > 0).collect();
        let lost: u32 = gaps.iter().sum();
        let mean = f64::from(lost) / gaps.len() as f64;
        // About 390 bursts are expected. Their length has mean 4 and standard deviation 3.5, so four standard errors
        // are 0.7.
        assert!((3.3..4.7).contains(&mean), "mean burst {mean}");
        let bursts = gaps.len() as f64 / (20_000.0 - f64::from(lost));
        assert!((0.016..0.024).contains(&bursts), "a burst begins with {bursts}");
    }

    #[test]
    fn duplicates_and_late_packets_come_as_often_as_asked_for() {
        let arrived = arrivals(Impairment { duplicate: 0.1, ..Impairment::default() });
        assert!((21_800..22_200).contains(&arrived.len()), "{}", arrived.len());
        let jitter = Duration::from_millis(10);
        let arrived = arrivals(Impairment { reorder: 0.1, jitter, ..Impairment::default() });
        let late = arrived.windows(2).filter(|pair| pair[1] < pair[0]).count();
        // Packets are sent every 1 ms, and the delay is uniform up to 10 ms. A delayed packet is overtaken unless its
        // delay is below 1 ms (probability 0.1). Two successive delayed packets count once.
        assert!((1500..2000).contains(&late), "{late}");
    }

    #[test]
    fn a_corrupt_packet_differs_in_one_bit() {
        let mut path =
            ImpairedPath::new(Impairment { corrupt: 1.0, ..Impairment::default() }, Stream::named(1, "test"));
        path.send(Time::ZERO, &[0; 40]);
        let packet = path.poll(Time::ZERO).expect("a packet");
        assert_eq!(packet.iter().map(|byte| byte.count_ones()).sum::<u32>(), 1);
    }
}
