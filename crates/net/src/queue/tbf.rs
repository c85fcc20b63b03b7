//! A shaper: packets leave at a rate below the link's rate, or in bursts that a token bucket allows (RFC 2475 §2.3.3.3;
//! Linux's tbf).
//!
//! A packet needs one token per byte. The first packet waits until the bucket has enough tokens, and all packets behind
//! it wait, too. A packet larger than the bucket leaves when the bucket is full, and makes the number of tokens
//! negative (Linux drops or segments such packets). A second bucket for a peak rate is not modelled.

use super::fifo::{Front, PacketFifo};
use super::{Build, Dropped, Queue};
use crate::bucket::Bucket;
use crate::discipline::Discipline;
use lasthop_base::{Info, Mechanism, Parameter, Time, Unit, Values};
use lasthop_wire::{Backlog, LossReason, Packet};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "tbf",
        summary: "token-bucket shaper: packets wait for tokens, which arrive at a rate and are saved for a burst",
        source: "RFC 2475 §2.3.3.3; tc-tbf(8)",
        parameters: &[
            Parameter {
                name: "rate",
                unit: Unit::Rate,
                default: Some("10 Mbit/s"),
                doc: "token rate, one token a byte; no effect above the link's rate",
            },
            Parameter {
                name: "burst",
                unit: Unit::Bytes(1, 1_000_000_000_000),
                default: Some("15 KB"),
                doc: "bucket size: tokens saved while idle",
            },
            Parameter {
                name: "packets",
                unit: Unit::Count(0, 1_000_000_000),
                default: Some("0"),
                doc: "queue limit, packets, without the packet in transmission; 0: no limit",
            },
            Parameter {
                name: "bytes",
                unit: Unit::Bytes(0, 1_000_000_000_000),
                default: Some("125 KB"),
                doc: "queue limit, bytes; 0: no limit",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values, _| Discipline::scheduled(TokenBucket::new(values)),
};

struct TokenBucket {
    bucket: Bucket,
    packets: u64,
    bytes: u64,
    waiting: PacketFifo,
}

impl TokenBucket {
    fn new(values: &Values) -> TokenBucket {
        let or_unlimited = |limit: u64| if limit == 0 { u64::MAX } else { limit };
        TokenBucket {
            bucket: Bucket::new(values.rate("rate"), values.bytes("burst")),
            packets: or_unlimited(values.count("packets")),
            bytes: or_unlimited(values.bytes("bytes")),
            waiting: PacketFifo::default(),
        }
    }
}

impl Queue for TokenBucket {
    fn enqueue(&mut self, now: Time, packet: Packet, dropped: &mut Dropped) {
        let fits = (self.waiting.len() as u64) < self.packets
            && self.waiting.bytes().saturating_add(u64::from(packet.wire_bytes)) <= self.bytes;
        if self.waiting.is_empty() || fits {
            self.waiting.push(now, packet)
        } else {
            dropped.push((packet, LossReason::QueueFull))
        }
    }

    fn dequeue(&mut self, now: Time, _: &mut Dropped) -> Option<Packet> {
        let bytes = self.waiting.first()?.wire_bytes;
        if self.bucket.ready_at(bytes) > now {
            return None;
        }
        self.bucket.spend(now);
        self.waiting.pop().map(|(_, packet)| packet)
    }

    fn ready_at(&self, _: Time) -> Time {
        // The last call of `dequeue` has passed the first packet's size to the bucket.
        if self.waiting.is_empty() { Time::NEVER } else { self.bucket.ready_again_at() }
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    fn draws(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{at, packet};
    use super::*;
    use lasthop_base::{Rate, Value};
    use lasthop_wire::Ecn;

    /// Builds a shaper of 8 Mbit/s, at which the tokens for 1000 bytes arrive in 1 ms.
    fn shaper(burst: u64) -> TokenBucket {
        let mut values = MECHANISM.info.defaults();
        values.set("rate", Value::Rate(Rate::from_bps(8_000_000)));
        values.set("burst", Value::Bytes(burst));
        values.set("bytes", Value::Bytes(20_000));
        TokenBucket::new(&values)
    }

    fn leaves(queue: &mut TokenBucket, from: u64) -> Vec<f64> {
        let (mut now, mut dropped, mut left) = (at(from), Dropped::new(), Vec::new());
        while queue.backlog().waiting > 0 {
            match queue.dequeue(now, &mut dropped) {
                Some(_) => left.push(now.as_secs() * 1e3),
                None => {
                    let next = queue.ready_at(now);
                    assert!(next > now && next < Time::NEVER);
                    now = next;
                }
            }
        }
        left
    }

    /// RFC 2475 §2.3.3.3, RFC 2697 §3: a full bucket must pass its burst at once. In any interval of length t, at most
    /// burst + rate * t bytes may pass.
    #[test]
    fn a_burst_and_then_the_rate() {
        let (mut queue, mut dropped) = (shaper(5000), Dropped::new());
        (0..10).for_each(|number| queue.enqueue(at(100), packet(number, 0, Ecn::NotEct), &mut dropped));
        assert_eq!(leaves(&mut queue, 100), [100., 100., 100., 100., 100., 101., 102., 103., 104., 105.]);
        // 3 ms after the previous packets, the bucket must have tokens for three packets.
        (0..4).for_each(|number| queue.enqueue(at(108), packet(number, 0, Ecn::NotEct), &mut dropped));
        assert_eq!(leaves(&mut queue, 108), [108., 108., 108., 109.]);
        assert!(dropped.is_empty());
    }

    #[test]
    fn a_packet_larger_than_the_bucket_leaves_when_it_is_full_and_is_paid_later() {
        let (mut queue, mut dropped) = (shaper(500), Dropped::new());
        (0..3).for_each(|number| queue.enqueue(at(10), packet(number, 0, Ecn::NotEct), &mut dropped));
        assert_eq!(leaves(&mut queue, 10), [10., 11., 12.]);
    }

    #[test]
    fn the_limit_counts_what_waits() {
        let (mut queue, mut dropped) = (shaper(1000), Dropped::new());
        (0..25).for_each(|number| queue.enqueue(at(10), packet(number, 0, Ecn::NotEct), &mut dropped));
        assert_eq!((queue.backlog().waiting, dropped.len()), (20, 5));
    }
}
