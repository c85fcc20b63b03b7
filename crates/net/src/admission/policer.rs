//! A policer: drops packets that exceed a token bucket (RFC 2475 §2.3.3.4; RFC 2697 with one bucket), before a
//! first-in-first-out queue.
//!
//! A policer does not smooth bursts. Because TCP sends bursts, TCP gets less than the policer's rate (Flach et al.,
//! SIGCOMM 2016).

use super::{Admission, ArrivalState, Build, Verdict};
use crate::bucket::Bucket;
use crate::discipline::Discipline;
use lasthop_base::{Info, Mechanism, Parameter, Time, Unit};
use lasthop_wire::{LossReason, Packet};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "policer",
        summary: "token-bucket policer: drops packets that exceed a rate and a burst",
        source: "RFC 2475 §2.3.3.4; Flach et al., SIGCOMM 2016",
        parameters: &[
            Parameter {
                name: "rate",
                unit: Unit::Rate,
                default: Some("10 Mbit/s"),
                doc: "token rate, one token a byte",
            },
            Parameter {
                name: "burst",
                unit: Unit::Bytes(1, 1_000_000_000_000),
                default: Some("125 KB"),
                doc: "bucket size; a packet larger than the bucket passes only if the bucket is full",
            },
            Parameter {
                name: "packets",
                unit: Unit::Count(0, 1_000_000_000),
                default: Some("0"),
                doc: "limit of the queue behind the policer, packets; 0: no limit",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values, _| {
        Discipline::fifo(Policer {
            bucket: Bucket::new(values.rate("rate"), values.bytes("burst")),
            packets: match values.count("packets") {
                0 => u64::MAX,
                packets => packets,
            },
        })
    },
};

struct Policer {
    bucket: Bucket,
    packets: u64,
}

impl Admission for Policer {
    fn admit(&mut self, now: Time, packet: &mut Packet, queue: &ArrivalState) -> Verdict {
        if self.bucket.ready_at(packet.wire_bytes) > now {
            return Verdict::Drop(LossReason::EarlyDrop);
        }
        if u64::from(queue.backlog.waiting) >= self.packets {
            return Verdict::Drop(LossReason::QueueFull);
        }
        self.bucket.spend(now);
        Verdict::Admit
    }

    fn draws(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::average::tests::{busy, packet};
    use super::*;
    use lasthop_base::{Duration, Rate};
    use lasthop_wire::Ecn;

    fn policer(burst: u64) -> Policer {
        Policer { bucket: Bucket::new(Rate::from_bps(8_000_000), burst), packets: 40 }
    }

    /// Packets have 1000 bytes, and at 8 Mbit/s the tokens for one packet arrive each millisecond. The source sends two
    /// packets each millisecond. As soon as the burst's tokens are spent, the policer must drop every second packet.
    #[test]
    fn a_source_of_twice_the_rate_loses_half() {
        let mut policer = policer(4000);
        let begin = Time::ZERO + Duration::from_secs(1);
        let passes: Vec<bool> = (0..20)
            .map(|number| {
                let now = begin + Duration::from_micros(500) * number;
                policer.admit(now, &mut packet(Ecn::Ect0), &busy(0)) == Verdict::Admit
            })
            .collect();
        let expected = [true; 7].into_iter().chain((7..20).map(|number| number % 2 == 0));
        assert_eq!(passes, expected.collect::<Vec<bool>>());
    }

    #[test]
    fn what_is_lost_costs_no_tokens() {
        let mut policer = policer(1000);
        let at = |millis| Time::ZERO + Duration::from_millis(millis);
        let mut admit = |millis, waiting| policer.admit(at(millis), &mut packet(Ecn::NotEct), &busy(waiting));
        assert_eq!(admit(10, 0), Verdict::Admit);
        assert_eq!(admit(10, 0), Verdict::Drop(LossReason::EarlyDrop));
        assert_eq!(admit(11, 40), Verdict::Drop(LossReason::QueueFull));
        assert_eq!(admit(11, 0), Verdict::Admit);
    }
}
