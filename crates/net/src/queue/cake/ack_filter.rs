//! CAKE's ACK filter. An arriving TCP packet may make a pure ACK in its flow's queue redundant; the filter removes this
//! ACK (tc-cake(8), `ack-filter`; rules as in Linux's sch_cake).
//!
//! A queued ACK is redundant if all of these conditions hold:
//!
//! * The ACK has no payload, no flags beside ACK, ECE and CWR, and no options beside timestamps and SACK.
//! * Neither its ACK number nor its timestamps exceed those of the new packet.
//! * The new packet SACKs all that the ACK SACKs, and acknowledges or SACKs more: a duplicate ACK is not redundant.
//!
//! The filter removes the first redundant ACK of the queue if the queue has a second redundant ACK with the same ECE
//! and CWR. In the aggressive mode, the filter also removes a single redundant ACK if the new packet follows directly
//! and has the same ECE and CWR.
//!
//! # Not modelled
//! The filter also reads the headers of flows with `opaque = true`, although a real queue could not read encrypted
//! headers.

use lasthop_wire::{Body, Flags, Packet, Segment};

/// Mode of the filter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AckFilter {
    Off,
    On,
    Aggressive,
}

impl AckFilter {
    /// Words of the parameter `ack_filter`.
    pub(super) const WORDS: &'static [&'static str] = &["off", "on", "aggressive"];

    pub(super) fn named(word: &str) -> AckFilter {
        match AckFilter::WORDS.iter().position(|known| *known == word) {
            Some(1) => AckFilter::On,
            Some(2) => AckFilter::Aggressive,
            _ => AckFilter::Off,
        }
    }

    /// Returns the position of the ACK that `new` makes redundant. `queue` has the packets before `new`, in order.
    pub(super) fn redundant<'a>(
        self,
        queue: impl Iterator<Item = &'a Packet>,
        new: &Packet,
    ) -> Option<usize> {
        let Body::Tcp(by) = &new.body else { return None };
        let mut first: Option<(usize, u16)> = None;
        let mut last = 0;
        for (place, packet) in queue.enumerate() {
            last = place;
            let Body::Tcp(segment) = &packet.body else { continue };
            if packet.flow != new.flow || packet.forward != new.forward {
                continue;
            }
            // A change of ECE or CWR is information for the sender, so the ACK with this change must stay.
            first = first.filter(|(_, flags)| *flags == ecn_flags(segment));
            if !is_made_redundant(segment, by) {
                continue;
            }
            match first {
                Some((found, _)) => return Some(found),
                None => first = Some((place, ecn_flags(segment))),
            }
        }
        let (found, flags) = first.filter(|_| self == AckFilter::Aggressive)?;
        (found == last && flags == ecn_flags(by)).then_some(found)
    }
}

fn ecn_flags(segment: &Segment) -> u16 {
    segment.flags.0 & (Flags::ECE | Flags::CWR).0
}

fn is_after(one: u32, other: u32) -> bool {
    one.wrapping_sub(other) as i32 > 0
}

fn is_made_redundant(ack: &Segment, by: &Segment) -> bool {
    let is_plain = ack.len == 0
        && ack.flags.0 & !(Flags::ECE | Flags::CWR).0 == Flags::ACK.0
        && ack.accecn().is_none()
        && ack.damaged().is_none();
    let newest = by.timestamps.unwrap_or_default();
    let is_newer =
        ack.timestamps.is_some_and(|it| is_after(it.value, newest.value) || is_after(it.echo, newest.echo));
    if !is_plain || is_newer || is_after(ack.ack.0, by.ack.0) {
        return false;
    }
    let within = |(left, right): &(lasthop_wire::Seq, lasthop_wire::Seq)| {
        by.sack.as_slice().iter().any(|(from, to)| !is_after(from.0, left.0) && !is_after(right.0, to.0))
    };
    let bytes = |segment: &Segment| -> u64 {
        segment.sack.as_slice().iter().map(|(left, right)| u64::from(right.0.wrapping_sub(left.0))).sum()
    };
    ack.sack.as_slice().iter().all(within) && (ack.ack != by.ack || bytes(by) > bytes(ack))
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::packet;
    use super::*;
    use lasthop_wire::{Ecn, Seq, Timestamps};

    fn ack(number: u32, sack: &[(u32, u32)]) -> Packet {
        let mut segment = Segment { ack: Seq(number), flags: Flags::ACK, ..Segment::default() };
        sack.iter().for_each(|(left, right)| segment.sack.push(Seq(*left), Seq(*right)));
        Packet { body: Body::Tcp(segment), ..packet(0, 0, Ecn::NotEct) }
    }

    fn with(packet: Packet, change: impl FnOnce(&mut Segment)) -> Packet {
        let Body::Tcp(mut segment) = packet.body else { panic!("TCP") };
        change(&mut segment);
        Packet { body: Body::Tcp(segment), ..packet }
    }

    fn found(filter: AckFilter, queue: &[Packet], new: &Packet) -> Option<usize> {
        filter.redundant(queue.iter(), new)
    }

    /// The filter must remove the first of two redundant ACKs, so that one stays. The aggressive filter must also
    /// remove a single redundant ACK directly before the new packet.
    #[test]
    fn one_redundant_ack_stays() {
        let (one, two, three) = (ack(1000, &[]), ack(2000, &[]), ack(3000, &[]));
        for (filter, single, behind) in [(AckFilter::On, None, None), (AckFilter::Aggressive, Some(0), None)]
        {
            assert_eq!(found(filter, &[one, two], &three), Some(0));
            assert_eq!(found(filter, &[one], &two), single);
            let data = with(ack(1000, &[]), |it| it.len = 100);
            assert_eq!(found(filter, &[one, data], &two), behind, "data is between the two ACKs");
        }
    }

    /// Comparisons of ACK numbers must allow for the wrapping of sequence numbers.
    #[test]
    fn numbers_wrap() {
        let old = ack(u32::MAX - 500, &[]);
        assert_eq!(found(AckFilter::Aggressive, &[old], &ack(500, &[])), Some(0));
        assert_eq!(found(AckFilter::Aggressive, &[ack(500, &[])], &old), None);
    }

    /// Duplicate ACKs must stay, because loss detection needs them. If two ACKs have the same ACK number, the earlier
    /// ACK is redundant only if the later ACK has all SACK blocks of the earlier ACK and more.
    #[test]
    fn loss_reports_stay() {
        let filter = AckFilter::Aggressive;
        assert_eq!(found(filter, &[ack(1000, &[])], &ack(1000, &[])), None, "a duplicate ACK");
        let (less, more) = (ack(1000, &[(3000, 4000)]), ack(1000, &[(3000, 5000)]));
        assert_eq!(found(filter, &[less], &more), Some(0));
        assert_eq!(found(filter, &[more], &less), None);
        assert_eq!(found(filter, &[less], &ack(2000, &[])), None, "the later ACK has no SACK block");
    }

    /// Packets with data, SYN, FIN or newer timestamps, and packets of other flows or the opposite direction, must
    /// stay.
    #[test]
    fn only_pure_older_acks_of_the_flow_go() {
        let (old, new) = (ack(1000, &[]), ack(2000, &[]));
        let clock = |value| Some(Timestamps { value, echo: 1 });
        for other in [
            with(old, |it| it.len = 1),
            with(old, |it| it.flags = Flags::ACK | Flags::FIN),
            with(old, |it| it.flags = Flags::ACK | Flags::SYN),
            with(old, |it| it.flags = Flags::ACK | Flags::WIRELESS),
            with(old, |it| it.timestamps = clock(9)),
            Packet { flow: lasthop_wire::FlowId(1), ..old },
            Packet { forward: false, ..old },
        ] {
            let new = with(new, |it| it.timestamps = clock(8));
            assert_eq!(found(AckFilter::Aggressive, &[other], &new), None, "{other:?}");
        }
        let same = with(old, |it| it.timestamps = clock(8));
        assert_eq!(found(AckFilter::Aggressive, &[same], &with(new, |it| it.timestamps = clock(8))), Some(0));
    }

    /// An ACK must stay if the following ACK has another value of ECE.
    #[test]
    fn ecn_flags_stay() {
        let marked = with(ack(1000, &[]), |it| it.flags = Flags::ACK | Flags::ECE);
        let (two, three) = (ack(2000, &[]), ack(3000, &[]));
        assert_eq!(found(AckFilter::On, &[marked, two], &three), None);
        assert_eq!(found(AckFilter::Aggressive, &[marked], &two), None);
        assert_eq!(found(AckFilter::On, &[marked, ack(1500, &[]), two], &three), Some(1));
    }
}
