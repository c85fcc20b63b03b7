//! The average queue length that RED and congestion warning use, and the queue limit. Each arrival adds the current
//! queue length to an exponentially weighted average.

use super::ArrivalState;
use lasthop_base::{Duration, Parameter, Rate, Unit, Values};

pub(super) const WEIGHT: Parameter = Parameter {
    name: "weight",
    unit: Unit::Number(0.0, 1.0),
    default: Some("0.002"),
    doc: "weight of the current queue length in the average at each arrival (w_q; ns-2: 0.002); 1: no averaging",
};

pub(super) const MEAN_PACKET: Parameter = Parameter {
    name: "mean_packet",
    unit: Unit::Bytes(1, 65_535),
    default: Some("500 bytes"),
    doc: "packet size that converts idle time to packets (ns-2's mean_pktsize_)",
};

pub(super) const PACKETS: Parameter = Parameter {
    name: "packets",
    unit: Unit::Count(1, 1_000_000_000),
    default: Some("50"),
    doc: "queue limit, packets, without the packet in transmission (ns-2: 50)",
};

/// The average queue length, packets (Floyd and Jacobson 1993 §4, as in ns-2). At each arrival, `avg = (1 - w) avg + w
/// q`, where w is the weight and q the current queue length. If m packets could have been sent in an idle time, that
/// time counts as m arrivals at an empty queue.
pub(super) struct Average {
    packets: u64,
    value: f64,
    weight: f64,
    packet_time: Duration,
}

impl Average {
    pub(super) fn new(values: &Values, rate: Rate) -> Average {
        Average {
            packets: values.count(PACKETS.name),
            value: 0.0,
            weight: values.number(WEIGHT.name),
            packet_time: rate.time_for(values.bytes(MEAN_PACKET.name)),
        }
    }

    pub(super) fn is_full(&self, queue: &ArrivalState) -> bool {
        u64::from(queue.backlog.waiting) >= self.packets
    }

    pub(super) fn value(&self) -> f64 {
        self.value
    }

    /// Updates the average at an arrival, and returns the new average.
    pub(super) fn on_arrival(&mut self, queue: &ArrivalState) -> f64 {
        if queue.idle > Duration::ZERO {
            let missed = queue.idle.as_nanos() / self.packet_time.as_nanos().max(1);
            self.value *= libm::pow(1.0 - self.weight, missed as f64);
        }
        self.value += self.weight * (f64::from(queue.backlog.waiting) - self.value);
        self.value
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::admission::{ALL, Admission, QueueContext};
    use crate::discipline::Discipline;
    use lasthop_base::{Choice, Stream, Value};
    use lasthop_wire::{Backlog, Body, Ecn, FlowId, Packet, Priority};

    pub(in crate::admission) fn busy(waiting: u32) -> ArrivalState {
        ArrivalState { backlog: Backlog { waiting, in_service: true, bytes: 0 }, idle: Duration::ZERO }
    }

    /// Builds the admission rule of this name with its defaults, but with a weight of 1, so that the average is the
    /// current queue length.
    pub(in crate::admission) fn unaveraged(name: &str) -> Box<dyn Admission> {
        let mut choice = Choice::named(ALL, name);
        choice.values.set(WEIGHT.name, Value::Number(1.0));
        let context =
            QueueContext { rate: Rate::from_bps(1_000_000), random: Stream::named(1, "test"), hosts: None };
        match (choice.build)(&choice.values, context) {
            Discipline::Fifo(admission) => admission,
            Discipline::Scheduled(_) => panic!("`{name}` must be a first-in-first-out queue"),
        }
    }

    pub(in crate::admission) fn packet(ecn: Ecn) -> Packet {
        Packet {
            number: 0,
            flow: FlowId(0),
            wire_bytes: 1000,
            forward: true,
            is_retransmission: false,
            before_first_loss: false,
            damaged: false,
            ecn,
            priority: Priority::NORMAL,
            route: 0,
            hop: 0,
            enqueued_at: lasthop_base::Time::ZERO,
            body: Body::Datagram { number: 0 },
        }
    }

    fn average(weight: f64) -> Average {
        let values = Values::new()
            .with(PACKETS.name, Value::Count(50))
            .with(WEIGHT.name, Value::Number(weight))
            .with(MEAN_PACKET.name, Value::Bytes(1000));
        Average::new(&values, Rate::from_bps(1_000_000))
    }

    /// If the queue grows from 0 by one packet at each of L arrivals, the average must be L + 1 + ((1 - w)^(L + 1) - 1)
    /// / w, where w is the weight (Floyd and Jacobson 1993 §6, Eq. 4).
    #[test]
    fn a_growing_queue() {
        let weight = 0.002;
        let mut average = average(weight);
        let mut last = 0.0;
        for length in 1..=50 {
            last = average.on_arrival(&busy(length));
        }
        let closed = 51.0 + (libm::pow(1.0 - weight, 51.0) - 1.0) / weight;
        assert!((last - closed).abs() < 1e-9, "{last}, expected {closed}");
    }

    #[test]
    fn a_constant_queue_is_its_own_average_and_idle_time_lowers_it() {
        let mut average = average(0.5);
        for _ in 0..200 {
            average.on_arrival(&busy(8));
        }
        assert!((average.value - 8.0).abs() < 1e-9);
        // In 24 ms of idle time, three packets could have been sent. With the arriving packet, the average is halved
        // four times, from 8 to 0.5.
        let idle = ArrivalState { idle: Duration::from_millis(24), ..busy(0) };
        assert!((average.on_arrival(&idle) - 0.5).abs() < 1e-9);
    }
}
