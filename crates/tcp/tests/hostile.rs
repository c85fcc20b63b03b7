//! Hostile input: forged segments have no effect, and a malicious peer cannot cause unbounded work, memory use or
//! growth of cwnd.

mod pipe;

use lasthop_base::{Duration, Stream, Time};
use lasthop_tcp::{Arriving, Catalogue, Config, Endpoint, Role, State};
use lasthop_wire::{Flags, Segment, Seq, Timestamps};
use pipe::{Pipe, Run, host, pipe};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn forged_segments_change_nothing(
        source in host(),
        destination in host(),
        pipe in pipe(),
        forge in 0.1..1.0f64,
    ) {
        Run::new([source, destination], Pipe { forge, ..pipe }).complete();
    }
}

#[derive(Clone, Debug)]
enum Op {
    Segment {
        seq: i64,
        ack: i64,
        len: u32,
        flags: u8,
        window: u16,
        sack: Vec<(i64, i64)>,
        /// Error of the peer's timestamp clock, in ticks; `None`: no timestamps.
        clock: Option<i32>,
    },
    /// An ACK of part of the outstanding data; the value is this part in thousandths.
    Ack(u64),
    Write(u64),
    Tick(u64),
}

fn near() -> impl Strategy<Value = i64> {
    prop_oneof![-3..3i64, -3000..70_000i64, any::<i32>().prop_map(i64::from)]
}

fn op() -> impl Strategy<Value = Op> {
    let blocks = prop::collection::vec((near(), near()), 0..4);
    // RST and SYN are rare, because they end most connections.
    let flags = prop_oneof![8 => Just(0x10u8), 2 => Just(0x18), 1 => Just(0x11), 1 => any::<u8>()];
    let clock = prop_oneof![Just(None), (-5..5i32).prop_map(Some), any::<i32>().prop_map(Some)];
    let segment = (near(), near(), 0..3000u32, flags, any::<u16>(), blocks, clock).prop_map(
        |(seq, ack, len, flags, window, sack, clock)| Op::Segment {
            seq,
            ack,
            len,
            flags,
            window,
            sack,
            clock,
        },
    );
    prop_oneof![
        4 => segment,
        3 => (0..=1000u64).prop_map(Op::Ack),
        1 => (1..200_000u64).prop_map(Op::Write),
        1 => (1..5000u64).prop_map(Op::Tick),
    ]
}

struct Victim {
    endpoint: Endpoint,
    ack_counting: &'static str,
    /// Whether the congestion control is Reno with `is_at_once`. The test computes an upper bound for the growth of
    /// cwnd only in this case.
    is_reno: bool,
    /// Whether a loss reduces cwnd at once, not gradually.
    is_at_once: bool,
    discriminates: bool,
    f_rto: bool,
    now: Time,
    /// Number of data segments sent.
    segments: u64,
    /// Bytes that the application has written.
    written: u64,
    /// Bytes that the peer has acknowledged.
    acked: u64,
    /// Sum of all increases of cwnd above ssthresh, bytes.
    gained: u64,
    largest: u64,
    undone: u64,
}

const ISS: Seq = Seq(0xffff_f000);
const IRS: Seq = Seq(0xffff_ff00);
const MSS: u64 = 500;

impl Victim {
    /// Returns an endpoint with the mechanisms that [`Catalogue::pick`] chooses. The receive window is that of
    /// `Config::default`, because it bounds the memory of the reassembly queue.
    fn new(mechanisms: &[u8], timestamps: bool) -> Victim {
        let config = Config {
            segment: MSS as u32,
            window: Config::default().window,
            timestamps,
            f_rto: timestamps,
            ..Catalogue::default().pick(Config::default(), mechanisms)
        };
        let discriminates =
            (config.sender_discrimination.build)(&config.sender_discrimination.values).is_some();
        let is_at_once = (config.reduction.build)(&config.reduction.values).is_none();
        let is_reno = config.congestion.info.name == "reno" && is_at_once;
        let ack_counting = config.ack_counting.info.name;
        let mut endpoint = Endpoint::new(config, Role::Active, ISS, Stream::named(1, "victim"));
        let now = Time::ZERO + Duration::from_secs(1);
        endpoint.open(now);
        endpoint.poll_segment(now);
        let answer = Segment {
            seq: IRS,
            ack: ISS.at(1),
            flags: Flags::SYN | Flags::ACK,
            window: 65_000,
            mss: Some(if timestamps { MSS as u16 + 12 } else { MSS as u16 }),
            sack_permitted: true,
            window_scale: Some(4),
            timestamps: timestamps.then_some(Timestamps { value: 1000, echo: 1000 }),
            ..Segment::default()
        };
        endpoint.handle_segment(now, &answer, &Arriving::default());
        assert_eq!(endpoint.state(), State::Established);
        let largest = endpoint.sender().window();
        Victim {
            endpoint,
            ack_counting,
            is_reno,
            is_at_once,
            discriminates,
            f_rto: timestamps,
            now,
            segments: 0,
            written: 0,
            acked: 0,
            gained: 0,
            largest,
            undone: 0,
        }
    }

    fn take(&mut self, op: &Op) {
        let una = self.endpoint.sender().scoreboard().una();
        let before = self.endpoint.sender().window();
        match op {
            Op::Write(bytes) => {
                self.endpoint.write(*bytes);
                self.written += bytes;
            }
            Op::Tick(millis) => {
                self.now += Duration::from_millis(*millis);
                self.endpoint.handle_timeout(self.now);
            }
            Op::Ack(part) => {
                let outstanding = self.endpoint.sender().scoreboard().outstanding();
                let ack = ISS.at(una + outstanding * part / 1000);
                self.arrive(&Segment { ack, ..self.plain(0) });
            }
            Op::Segment { seq, ack, len, flags, window, sack, clock } => {
                let near = |start: Seq, at: u64, by: i64| Seq(start.at(at).0.wrapping_add(by as u32));
                let next = self.endpoint.receiver().next();
                let mut segment = Segment {
                    seq: near(IRS, next, *seq),
                    ack: near(ISS, una, *ack),
                    len: *len,
                    flags: Flags(u16::from(*flags)),
                    window: *window,
                    ..self.plain(clock.unwrap_or(0))
                };
                if clock.is_none() {
                    segment.timestamps = None;
                }
                for (from, to) in sack {
                    segment.sack.push(near(ISS, una, *from), near(ISS, una, *to));
                }
                self.arrive(&segment);
            }
        }
        self.check(una, before);
    }

    fn plain(&self, clock: i32) -> Segment {
        let value = ((self.now.as_nanos() / 1_000_000) as u32).wrapping_add_signed(clock);
        Segment {
            seq: IRS.at(self.endpoint.receiver().next()),
            flags: Flags::ACK,
            window: 60_000,
            timestamps: self.endpoint.agreed().timestamps.then_some(Timestamps { value, echo: value }),
            ..Segment::default()
        }
    }

    fn arrive(&mut self, segment: &Segment) {
        self.endpoint.handle_segment(self.now, segment, &Arriving::default());
    }

    fn check(&mut self, una: u64, before: u64) {
        let sender = self.endpoint.sender();
        let (scoreboard, after) = (sender.scoreboard(), sender.window());
        let acked = scoreboard.una() - una;
        self.acked += acked;
        let allowed = match self.ack_counting {
            "bytes" => MSS.max(acked.min(2 * MSS)),
            "per_ack" | "rfc5681" => MSS,
            // Part of a segment gives no credit, and a small segment gives as much credit as a full segment.
            _ => MSS * self.segments,
        };
        let undone = self.endpoint.counters().timeouts_undone;
        if !self.is_reno {
            self.undone = undone;
        } else if std::mem::replace(&mut self.undone, undone) < undone {
            // An undo by F-RTO restores at most the largest former cwnd.
            assert!(after <= self.largest + allowed, "undo: cwnd {after} exceeds {}", self.largest);
        } else if self.discriminates && after > before + allowed {
            assert!(after <= self.largest + allowed, "review: cwnd {after} exceeds {}", self.largest);
        } else if !(self.f_rto && after == 3 * MSS) {
            // Step 3 a of F-RTO (RFC 5682 §2.1) is excluded. This step sets cwnd to three segments: one retransmission,
            // and the two new segments in flight.
            assert!(
                after <= before + allowed || after == sender.ssthresh(),
                "one event raised cwnd from {before} to {after}"
            );
            self.gained += after.saturating_sub(before.max(sender.ssthresh().min(after)));
        }
        self.largest = self.largest.max(after);
        assert!(after >= MSS || (sender.is_recovering() && !self.is_at_once));
        if self.is_reno && self.ack_counting == "bytes" {
            assert!(
                self.gained <= self.acked + MSS,
                "cwnd gained {} bytes for {} acknowledged",
                self.gained,
                self.acked
            );
        }
        assert!(
            scoreboard.outstanding() <= self.written + 1 && scoreboard.sacked() <= scoreboard.outstanding()
        );
        assert!(scoreboard.lost() + scoreboard.sacked() <= scoreboard.outstanding());
        let reassembly = self.endpoint.receiver().reassembly();
        assert!(reassembly.beyond().len() <= (4 << 20) / MSS as usize);
        assert!(reassembly.highest() <= self.endpoint.receiver().edge());
        let mut count = 0;
        while let Some(sending) = self.endpoint.poll_segment(self.now) {
            self.segments += u64::from(sending.segment.len > 0);
            assert!(u64::from(sending.segment.len) <= MSS);
            count += 1;
            assert!(count <= 2 + 2 * after / 8, "{count} segments for one event exceed cwnd");
        }
        assert!(self.endpoint.poll_timeout() >= self.now);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_foul_peer(
        mut mechanisms: [u8; 16],
        is_reno: bool,
        timestamps: bool,
        ops in prop::collection::vec(op(), 1..200),
    ) {
        if is_reno {
            let catalogue = Catalogue::default();
            let congestion = catalogue.seams().iter().position(|seam| seam.name == "congestion");
            mechanisms[congestion.expect("a seam")] = 0;
        }
        let mut victim = Victim::new(&mechanisms, timestamps);
        victim.take(&Op::Write(100_000));
        for op in &ops {
            victim.take(op);
        }
    }
}
