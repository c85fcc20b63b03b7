//! Congestion warning: marks every ECN-capable packet while the average queue is above a threshold. A mark thus reports
//! that the queue is long. Packets that are not ECN-capable are dropped only if the queue is full.

use super::average::{Average, MEAN_PACKET, PACKETS, WEIGHT};
use super::{Admission, ArrivalState, Build, Verdict, mark};
use crate::discipline::Discipline;
use lasthop_base::{Info, Mechanism, Parameter, Time, Unit};
use lasthop_wire::{LossReason, Packet};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "warn",
        summary: "marks every ECN-capable packet while the average queue is above a threshold",
        source: "saad §3.B, Fig. 3; Xu, Tian, Ansari 2004 (TCP-Jersey)",
        parameters: &[
            PACKETS,
            Parameter {
                name: "threshold",
                unit: Unit::Number(0.0, 1e9),
                default: Some("5"),
                doc: "average queue above which every packet is marked, packets",
            },
            WEIGHT,
            MEAN_PACKET,
        ],
        ..Info::PLAIN
    },
    build: &|values, context| {
        Discipline::fifo(Warn {
            threshold: values.number("threshold"),
            average: Average::new(values, context.rate),
        })
    },
};

struct Warn {
    threshold: f64,
    average: Average,
}

impl Admission for Warn {
    fn admit(&mut self, _: Time, packet: &mut Packet, queue: &ArrivalState) -> Verdict {
        let average = self.average.on_arrival(queue);
        if self.average.is_full(queue) {
            return Verdict::Drop(LossReason::QueueFull);
        }
        if average > self.threshold {
            mark(packet);
        }
        Verdict::Admit
    }

    fn draws(&self) -> bool {
        false
    }

    fn marks(&self) -> bool {
        true
    }

    fn average(&self) -> Option<f64> {
        Some(self.average.value())
    }
}

#[cfg(test)]
mod tests {
    use super::super::average::tests::{busy, packet, unaveraged};
    use super::*;
    use lasthop_wire::Ecn;

    #[test]
    fn a_mark_tells_the_queue() {
        let mut warn = unaveraged("warn");
        for waiting in 0..50 {
            let mut capable = packet(Ecn::Ect0);
            assert_eq!(warn.admit(Time::ZERO, &mut capable, &busy(waiting)), Verdict::Admit);
            assert_eq!(capable.ecn == Ecn::Ce, waiting > 5, "{waiting} waiting");
            let mut other = packet(Ecn::NotEct);
            assert_eq!(warn.admit(Time::ZERO, &mut other, &busy(waiting)), Verdict::Admit);
            assert_eq!(other.ecn, Ecn::NotEct);
        }
        let verdict = warn.admit(Time::ZERO, &mut packet(Ecn::Ect0), &busy(50));
        assert_eq!(verdict, Verdict::Drop(LossReason::QueueFull));
    }
}
