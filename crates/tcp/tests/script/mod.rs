//! Test script: drives one endpoint step by step and plays the role of the endpoint's peer. Segments have 1000 bytes
//! and are numbered from 1.
//!
//! Initial sequence numbers are just below 2^32, so that they wrap in every script.

#![allow(dead_code, reason = "each test file is a separate program and uses a part")]

mod step_log;

use Step::*;
use lasthop_base::{Choice, Duration, Mechanism, Stream, Time, Value};
use lasthop_tcp::endpoint::Sending;
use lasthop_tcp::receiver::ack_policy;
use lasthop_tcp::rtt::RtoLimits;
use lasthop_tcp::sender::{ack_counting, congestion, recovery};
use lasthop_tcp::{Arriving, Config, Endpoint, Role, State};
use lasthop_wire::{Flags, Segment, Seq, Timestamps};
use step_log::StepLog;

/// Payload of a full segment, bytes.
pub const SEGMENT: u64 = 1000;
/// Initial sequence number of the endpoint.
pub const ISS: Seq = Seq(0xffff_fc00);
/// Initial sequence number of the peer.
pub const IRS: Seq = Seq(0xffff_fe00);

/// One step of a script: an input to the endpoint, or an expectation. Segment numbers count from 1, and byte offsets
/// from 0, the first byte written. Windows and flight are in whole segments, unless the name ends in `Bytes`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// The peer acknowledges everything before this segment.
    Ack(u64),
    Acks(u64, u32),
    AckBytes(u64),
    /// The peer acknowledges everything before the segment and SACKs ranges of segments, newest first. A range (2, 5)
    /// means segments 2 to 4.
    Sack(u64, &'static [(u64, u64)]),
    SackBytes(u64, &'static [(u64, u64)]),
    Echo(u64),
    /// Sets the window field in the headers of the peer's next segments.
    PeerWindow(u16),
    Data(u64),
    /// Data of the peer arrives: byte offsets, end excluded.
    DataBytes(u64, u64),
    Marked(u64),
    Write(u64),
    Close,
    Tick(u64),
    Timeout,
    /// Expects that the endpoint sends this segment, whole, for the first time.
    New(u64),
    /// Expects that the endpoint sends these segments (first and last number), whole, for the first time.
    News(u64, u64),
    /// Expects that the endpoint retransmits this segment as a whole.
    Again(u64),
    /// Expects that the endpoint sends or retransmits these bytes, end excluded.
    Bytes(u64, u64),
    /// Expects a pure ACK of everything before this segment of the peer.
    Acked(u64),
    AckedBytes(u64),
    /// Expects that the endpoint sends nothing.
    Nothing,
    Cwnd(u64),
    CwndBytes(u64),
    /// Expects this cwnd in whole segments. During recovery, this cwnd includes the data that has left the network, as
    /// in the figures of papers.
    Inflated(u64),
    Ssthresh(u64),
    SsthreshBytes(u64),
    InFlight(u64),
    /// Expects this RTO, ms.
    Rto(u64),
    /// Expects this time to the next deadline, ms.
    Deadline(u64),
    NoDeadline,
    In(State),
}

/// Options of the peer's SYN.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    pub mss: u16,
    pub window: u16,
    pub scale: Option<u8>,
    pub sack: bool,
    pub timestamps: bool,
    /// Whether the SYN offers ECN (ECE and CWR), or the SYN-ACK accepts it (ECE).
    pub ecn: bool,
}

impl Default for Peer {
    fn default() -> Peer {
        Peer { mss: 1000, window: 60_000, scale: None, sack: true, timestamps: false, ecn: false }
    }
}

/// Configuration of most tests, as in the papers. The initial window is one segment, the sender counts ACKs, and the
/// receiver acknowledges every segment at once.
pub fn config(recovery: &str) -> Config {
    Config {
        segment: SEGMENT as u32,
        initial_window: 1,
        rto: RtoLimits {
            initial: Duration::from_secs(1),
            smallest: Duration::from_secs(1),
            largest: Duration::from_secs(64),
            tick: Duration::ZERO,
            above_srtt: false,
        },
        timestamps: false,
        sack: recovery == "sack",
        recovery: Choice::named(recovery::ALL, recovery),
        ack_counting: Choice::named(ack_counting::ALL, "per_ack"),
        ack_policy: Choice::named(ack_policy::ALL, "immediate"),
        ..Config::default()
    }
}

/// Returns the mechanism `name` of `list` with the parameters `values`.
pub fn choose<B: ?Sized>(
    list: &'static [Mechanism<B>],
    name: &str,
    values: &[(&'static str, Value)],
) -> Choice<B> {
    let mut choice = Choice::named(list, name);
    for (name, value) in values {
        choice.values.set(name, value.clone());
    }
    choice
}

/// Replaces the congestion control by Reno as in the papers: a loss halves min(cwnd, advertised window) instead of
/// FlightSize.
pub fn halving_the_window(config: Config) -> Config {
    let congestion = choose(congestion::ALL, "reno", &[("halve", Value::Word("window"))]);
    Config { congestion, ..config }
}

/// An endpoint under test, and the state of its peer.
pub struct Script {
    pub endpoint: Endpoint,
    pub now: Time,
    pub peer: Peer,
    /// Number of segments sent before the segment that now has number 1.
    base: u64,
    /// Bytes that the peer has acknowledged.
    acked: u64,
    /// Upper bound of the bytes that the peer has sent.
    peer_sent: u64,
    window: u16,
    /// Log of all steps, printed if the test fails.
    pub log: StepLog,
}

impl Script {
    /// Returns a script with a closed endpoint.
    pub fn closed(config: Config, role: Role, peer: Peer) -> Script {
        let mut endpoint = Endpoint::new(config, role, ISS, Stream::named(1, "script"));
        endpoint.trace();
        let (now, window) = (Time::ZERO + Duration::from_secs(1), peer.window);
        Script { endpoint, now, peer, base: 0, acked: 0, peer_sent: 0, window, log: StepLog::default() }
    }

    /// Returns a script with a connection that the endpoint has opened. The peer has answered the SYN after 100 ms.
    pub fn opened(config: Config, peer: Peer) -> Script {
        let mut script = Script::closed(config, Role::Active, peer);
        script.endpoint.open(script.now);
        let syn = script.sent("the SYN").segment;
        assert!(syn.flags.has(Flags::SYN) && !syn.flags.has(Flags::ACK));
        script.tick(100);
        let answer = script.syn(Flags::SYN | Flags::ACK, syn.timestamps);
        script.arrive(answer);
        let ack = script.sent("the ACK of the SYN").segment;
        assert_eq!((ack.seq, ack.ack, ack.len), (ISS.at(1), IRS.at(1), 0));
        assert_eq!(script.endpoint.state(), State::Established);
        script
    }

    /// Returns a script with an open connection. The endpoint has enough data to send for any script.
    pub fn sender(config: Config) -> Script {
        let mut script = Script::opened(config, Peer::default());
        script.endpoint.write(1 << 40);
        script
    }

    /// Returns a sender as [`Script::sender`] does, after slow start has increased cwnd from 1 to `window` segments, a
    /// power of two. A full cwnd is outstanding, and the first of these segments now has number 1.
    pub fn with_window(config: Config, window: u64) -> Script {
        let mut script = Script::sender(config);
        let mut sent = 1;
        script.run([New(1)]);
        while sent + 1 < 2 * window {
            let first = sent.div_ceil(2);
            for acked in first..=sent {
                script.run([Tick(1), Ack(acked + 1)]);
                while script.endpoint.poll_segment(script.now).is_some() {}
            }
            sent = 2 * sent + 1;
        }
        script.base = sent - window;
        script.run([Cwnd(window), InFlight(window)]);
        script
    }

    /// Returns a script with an open connection, in which the endpoint receives the peer's data.
    pub fn receiver(config: Config) -> Script {
        Script::opened(config, Peer::default())
    }

    /// Renumbers segments: the segment `first` now has number 1.
    pub fn renumber(&mut self, first: u64) {
        self.base += first - 1;
    }

    /// Runs the steps in order. If a step fails, panics with its index and name.
    #[track_caller]
    pub fn run<const N: usize>(&mut self, steps: [Step; N]) -> &mut Script {
        for (index, step) in steps.into_iter().enumerate() {
            self.log.step(self.now, index, &step);
            self.step(step, &format!("step {index}, {step:?}"));
            self.log.end_step(&self.endpoint);
        }
        self
    }

    /// Returns the next outgoing segment. Panics if the endpoint sends nothing. `what`: the expected segment, for the
    /// message.
    #[track_caller]
    pub fn sent(&mut self, what: &str) -> Sending {
        match self.endpoint.poll_segment(self.now) {
            Some(sending) => {
                self.log.sent(self.now, &self.describe(&sending));
                sending
            }
            None => panic!("{what}: no segment is sent"),
        }
    }

    /// Does the same as [`Step::Sack`], for blocks that are computed at run time.
    pub fn sack(&mut self, number: u64, blocks: &[(u64, u64)]) {
        let blocks: Vec<_> =
            blocks.iter().map(|(from, to)| (self.start_of(*from), self.start_of(*to))).collect();
        self.acknowledge(self.start_of(number), &blocks, Flags::ACK);
    }

    /// Does the same as [`Script::sack`], with a timestamp echo (TSecr) of `echo` ms. `marked`: whether the ACK echoes
    /// a mark (ECE).
    pub fn ack_with_echo(&mut self, number: u64, blocks: &[(u64, u64)], echo: u32, marked: bool) {
        self.acked = self.start_of(number);
        let mut segment = self.plain();
        segment.timestamps = Some(self.stamps(echo));
        segment.flags = if marked { Flags::ACK | Flags::ECE } else { Flags::ACK };
        for (from, to) in blocks {
            segment.sack.push(ISS.at(1 + self.start_of(*from)), ISS.at(1 + self.start_of(*to)));
        }
        self.arrive(segment);
    }

    pub fn arrive(&mut self, segment: Segment) {
        self.arrive_with(segment, false);
    }

    pub fn tick(&mut self, millis: u64) {
        self.now += Duration::from_millis(millis);
        if self.endpoint.poll_timeout() <= self.now {
            self.endpoint.handle_timeout(self.now);
        }
    }

    /// Returns the peer's SYN or SYN-ACK with its options.
    pub fn syn(&self, flags: Flags, echo: Option<Timestamps>) -> Segment {
        let ecn = match (self.peer.ecn, flags.has(Flags::ACK)) {
            (false, _) => Flags::default(),
            (true, true) => Flags::ECE,
            (true, false) => Flags::ECE | Flags::CWR,
        };
        Segment {
            seq: IRS,
            ack: if flags.has(Flags::ACK) { ISS.at(1) } else { Seq(0) },
            flags: flags | ecn,
            window: self.peer.window,
            mss: Some(self.peer.mss),
            window_scale: self.peer.scale,
            sack_permitted: self.peer.sack,
            timestamps: self.peer.timestamps.then(|| self.stamps(echo.map_or(0, |stamps| stamps.value))),
            ..Segment::default()
        }
    }

    /// Returns an empty segment of the peer, with its next sequence number, its last ACK number and its window.
    pub fn plain(&self) -> Segment {
        Segment {
            seq: IRS.at(1 + self.peer_sent),
            ack: ISS.at(1 + self.acked),
            flags: Flags::ACK,
            window: self.window,
            timestamps: self.peer.timestamps.then(|| self.stamps(self.millis())),
            ..Segment::default()
        }
    }

    /// Returns the timestamps of the peer's next segment. The clocks of both ends are equal.
    pub fn stamps(&self, echo: u32) -> Timestamps {
        Timestamps { value: self.millis(), echo }
    }

    /// Current time in milliseconds, which is also the value of both timestamp clocks.
    pub fn millis(&self) -> u32 {
        (self.now.as_nanos() / 1_000_000) as u32
    }

    #[track_caller]
    fn step(&mut self, step: Step, what: &str) {
        let sender = self.endpoint.sender();
        match step {
            Ack(number) => self.acknowledge(self.start_of(number), &[], Flags::ACK),
            Acks(number, times) => {
                (0..times).for_each(|_| self.acknowledge(self.start_of(number), &[], Flags::ACK));
            }
            AckBytes(bytes) => self.acknowledge(self.base * SEGMENT + bytes, &[], Flags::ACK),
            Sack(number, blocks) => self.sack(number, blocks),
            SackBytes(bytes, blocks) => {
                let base = self.base * SEGMENT;
                let blocks: Vec<_> = blocks.iter().map(|(from, to)| (base + from, base + to)).collect();
                self.acknowledge(base + bytes, &blocks, Flags::ACK);
            }
            Echo(number) => self.acknowledge(self.start_of(number), &[], Flags::ACK | Flags::ECE),
            PeerWindow(window) => self.window = window,
            Data(number) => self.data(number - 1, number, false),
            Marked(number) => self.data(number - 1, number, true),
            DataBytes(from, to) => self.data_bytes(from, to, false),
            Write(bytes) => self.endpoint.write(bytes),
            Close => self.endpoint.close(),
            Tick(millis) => self.tick(millis),
            Timeout => {
                self.now = self.endpoint.poll_timeout();
                assert_ne!(self.now, Time::NEVER, "{what}: no timer runs");
                self.endpoint.handle_timeout(self.now);
            }
            New(number) => self.expect(what, self.start_of(number), self.start_of(number + 1), Some(false)),
            News(first, last) => (first..=last).for_each(|number| {
                self.expect(what, self.start_of(number), self.start_of(number + 1), Some(false))
            }),
            Again(number) => self.expect(what, self.start_of(number), self.start_of(number + 1), Some(true)),
            Bytes(from, to) => {
                let base = self.base * SEGMENT;
                self.expect(what, base + from, base + to, None);
            }
            Acked(number) => self.expect_ack(what, (number - 1) * SEGMENT),
            AckedBytes(bytes) => self.expect_ack(what, bytes),
            Nothing => {
                let sent = self.endpoint.poll_segment(self.now);
                assert_eq!(sent.map(|sending| self.describe(&sending)), None, "{what}");
            }
            Cwnd(segments) => assert_eq!(sender.window() / SEGMENT, segments, "{what}"),
            CwndBytes(bytes) => assert_eq!(sender.window(), bytes, "{what}"),
            Inflated(segments) => assert_eq!(sender.inflated_window() / SEGMENT, segments, "{what}"),
            Ssthresh(segments) => assert_eq!(sender.ssthresh() / SEGMENT, segments, "{what}"),
            SsthreshBytes(bytes) => assert_eq!(sender.ssthresh(), bytes, "{what}"),
            InFlight(segments) => assert_eq!(sender.in_flight(), segments * SEGMENT, "{what}"),
            Rto(millis) => assert_eq!(sender.rtt().rto(), Duration::from_millis(millis), "{what}"),
            Deadline(millis) => {
                assert_eq!(self.endpoint.poll_timeout(), self.now + Duration::from_millis(millis), "{what}");
            }
            NoDeadline => assert_eq!(self.endpoint.poll_timeout(), Time::NEVER, "{what}"),
            In(state) => assert_eq!(self.endpoint.state(), state, "{what}"),
        }
    }

    fn start_of(&self, number: u64) -> u64 {
        (self.base + number - 1) * SEGMENT
    }

    pub fn acknowledge(&mut self, bytes: u64, blocks: &[(u64, u64)], flags: Flags) {
        self.acked = bytes;
        let mut segment = self.plain();
        segment.flags = flags;
        for (from, to) in blocks {
            segment.sack.push(ISS.at(1 + from), ISS.at(1 + to));
        }
        self.arrive(segment);
    }

    fn data(&mut self, from: u64, to: u64, marked: bool) {
        self.data_bytes(from * SEGMENT, to * SEGMENT, marked);
    }

    fn data_bytes(&mut self, from: u64, to: u64, marked: bool) {
        let segment = Segment { seq: IRS.at(1 + from), len: (to - from) as u32, ..self.plain() };
        self.peer_sent = self.peer_sent.max(to);
        self.arrive_with(segment, marked);
    }

    fn arrive_with(&mut self, segment: Segment, marked: bool) {
        self.log.arrived(self.now, &self.describe_arrival(&segment, marked));
        let arriving = Arriving::marked(marked);
        self.endpoint.handle_segment(self.now, &segment, &arriving);
    }

    #[track_caller]
    fn expect(&mut self, what: &str, from: u64, to: u64, again: Option<bool>) {
        let sending = self.sent(what);
        let segment = &sending.segment;
        let wanted = (ISS.at(1 + from), (to - from) as u32);
        assert_eq!((segment.seq, segment.len), wanted, "{what}: {} was sent", self.describe(&sending));
        if let Some(again) = again {
            assert_eq!(sending.is_retransmission, again, "{what}: {}", self.describe(&sending));
        }
    }

    #[track_caller]
    fn expect_ack(&mut self, what: &str, bytes: u64) {
        let sending = self.sent(what);
        assert!(sending.segment.is_pure_ack(), "{what}: {}", self.describe(&sending));
        assert_eq!(sending.segment.ack, IRS.at(1 + bytes), "{what}: {}", self.describe(&sending));
    }

    /// Returns a description of an outgoing segment, with byte offsets as in the steps.
    fn describe(&self, sending: &Sending) -> String {
        let segment = &sending.segment;
        format!(
            "bytes {}..{} {:?} ack {}{}",
            self.written(segment.seq),
            self.written(segment.seq) + i64::from(segment.len),
            segment.flags,
            self.read(segment.ack),
            if sending.is_retransmission { " again" } else { "" }
        )
    }

    fn describe_arrival(&self, segment: &Segment, marked: bool) -> String {
        let blocks = segment.sack.as_slice().iter();
        let blocks: Vec<_> = blocks.map(|(left, right)| self.written(*left)..self.written(*right)).collect();
        format!(
            "bytes {}..{} {:?} ack {} sack {blocks:?}{}",
            self.read(segment.seq),
            self.read(segment.seq) + i64::from(segment.len),
            segment.flags,
            self.written(segment.ack),
            if marked { " marked" } else { "" }
        )
    }

    /// Byte offset of a sequence number in the endpoint's stream. Offset 0 is the first byte of segment 1.
    fn written(&self, seq: Seq) -> i64 {
        ISS.offset_of(seq, self.acked).unwrap_or(0) as i64 - 1 - (self.base * SEGMENT) as i64
    }

    fn read(&self, seq: Seq) -> i64 {
        IRS.offset_of(seq, self.peer_sent).unwrap_or(0) as i64 - 1
    }
}
