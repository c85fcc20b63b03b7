//! Tests the events that a sender passes to congestion control.

mod script;

use lasthop_base::{Choice, Duration, Info, Time};
use lasthop_tcp::Config;
use lasthop_tcp::sender::ack_counting::AckCounting;
use lasthop_tcp::sender::congestion::{
    AckEvent, Build, CongestionControl, LossEvent, LossPhase, LostSegment, Nature, RateHooks, Recovered,
    SentEvent, Start,
};
use script::Step::*;
use script::{ISS, Peer, Script, config};
use std::sync::{Arc, Mutex};

/// An acknowledgement: time, phase, SND.UNA, SND.NXT, and the bytes acknowledged, delivered, reported by SACK, in flight
/// and lost.
type Acked = (Time, LossPhase, [u64; 2], [u64; 5]);

#[derive(Default)]
struct Record {
    opened: Vec<Option<Duration>>,
    sent: Vec<SentEvent>,
    acked: Vec<Acked>,
    rtts: Vec<[Option<Duration>; 2]>,
    segments: Vec<u32>,
    lost_segments: Vec<LostSegment>,
    losses: Vec<LossEvent>,
    timeouts: Vec<(LossEvent, bool)>,
    idle: Vec<u64>,
    sizes: Vec<u64>,
}

/// A control with a constant window of ten segments.
struct Spy(Arc<Mutex<Record>>);

impl Spy {
    fn note(&self, change: impl FnOnce(&mut Record)) {
        change(&mut self.0.lock().expect("no test panics while holding the lock"));
    }
}

impl CongestionControl for Spy {
    fn window(&self) -> u64 {
        10_000
    }
    fn ssthresh(&self) -> u64 {
        5000
    }
    fn nature(&self) -> Nature {
        Nature { uses_rate_samples: true, ..Nature::FIXED }
    }
    fn on_ack(&mut self, ack: &AckEvent, _: &mut dyn AckCounting) {
        self.note(|record| {
            let bytes = [ack.acked, ack.delivered, ack.reported, ack.in_flight, ack.lost];
            record.acked.push((ack.now, ack.phase, [ack.una, ack.nxt], bytes));
            record.rtts.push([ack.rtt, ack.srtt]);
            record.segments.push(ack.segments);
        });
    }
    fn on_loss(&mut self, loss: &LossEvent) {
        self.note(|record| record.losses.push(*loss));
    }
    fn on_restart(&mut self, loss: &LossEvent) {
        self.on_loss(loss);
    }
    fn on_timeout(&mut self, loss: &LossEvent, first: bool) {
        self.note(|record| record.timeouts.push((*loss, first)));
    }
    fn on_mark(&mut self, loss: &LossEvent) {
        self.on_loss(loss);
    }
    fn on_idle(&mut self, window: u64) {
        self.note(|record| record.idle.push(window));
    }
    fn on_segment(&mut self, mss: u64) {
        self.note(|record| record.sizes.push(mss));
    }
    fn on_recovered(&mut self, _: u64, _: Recovered) {}
}

impl RateHooks for Spy {
    fn on_open(&mut self, rtt: Option<Duration>) {
        self.note(|record| record.opened.push(rtt));
    }
    fn on_sent(&mut self, sent: &SentEvent) {
        self.note(|record| record.sent.push(*sent));
    }
    fn on_lost(&mut self, _: Time, lost: &LostSegment) {
        self.note(|record| record.lost_segments.push(*lost));
    }
}

const INFO: Info = Info { name: "spy", ..Info::PLAIN };

/// Returns a script with an open connection, and the record of the spy. The handshake's RTT is 100 ms.
fn spied(settings: Config) -> (Script, Arc<Mutex<Record>>) {
    let record = Arc::new(Mutex::new(Record::default()));
    let shared = Arc::clone(&record);
    let build: Arc<Build> = Arc::new(move |_, _: Start| Box::new(Spy(Arc::clone(&shared))));
    let config = Config { congestion: Choice::with_constructor(&INFO, build), ..settings };
    (Script::opened(config, Peer::default()), record)
}

fn taken(record: &Arc<Mutex<Record>>) -> Record {
    std::mem::take(&mut record.lock().expect("no test panics while holding the lock"))
}

fn ms(millis: u64) -> Option<Duration> {
    Some(Duration::from_millis(millis))
}

/// Each new segment is passed with its range and the bytes in flight, the segment included.
#[test]
fn transmissions() {
    let (mut script, record) = spied(config("sack"));
    script.run([Write(1 << 30), News(1, 10), Nothing]);
    let Record { opened, sent, .. } = taken(&record);
    assert_eq!(opened, [ms(100)]);
    let fields: Vec<[u64; 5]> =
        sent.iter().map(|it| [it.una, it.start, it.nxt, it.bytes, it.in_flight]).collect();
    let expected: Vec<[u64; 5]> =
        (0..10).map(|n| [1, 1 + 1000 * n, 1001 + 1000 * n, 1000, 1000 * (n + 1)]).collect();
    assert_eq!(fields, expected);
    assert!(sent.iter().all(|it| it.now == script.now));
}

/// An ACK of two segments after 50 ms: RFC 6298 smooths the RTT to 7/8 x 100 + 1/8 x 50 = 93.75 ms. A SACK block of one
/// segment delivers 1000 bytes without an advance.
#[test]
fn acknowledgements() {
    let (mut script, record) = spied(config("sack"));
    script.run([Write(1 << 30), News(1, 10), Nothing, Tick(50)]);
    let _ = taken(&record);
    script.run([Ack(3)]);
    let first = taken(&record);
    assert_eq!(first.acked, [(script.now, LossPhase::Open, [2001, 10_001], [2000, 2000, 0, 8000, 0])]);
    assert_eq!((first.rtts[0], first.segments[0]), ([ms(50), Some(Duration::from_micros(93_750))], 2));
    script.run([News(11, 12), Nothing, Tick(10)]);
    let _ = taken(&record);
    script.sack(3, &[(5, 6)]);
    let second = taken(&record);
    assert_eq!(second.acked[0].2, [2001, 12_001]);
    // Before a recovery, and without limited transmit, all outstanding data counts as in flight (RFC 5681 §3.2).
    assert_eq!(second.acked[0].3, [0, 1000, 1000, 10_000, 0]);
    assert_eq!(second.segments, [0], "the ACK number does not advance");
}

/// Three SACKed segments above a hole show a loss. The event has the window of data that the loss concerns, and
/// min(cwnd, advertised window).
#[test]
fn losses() {
    for (advertised, window) in [(60_000, 10_000), (8000, 8000)] {
        let (mut script, record) = spied(config("sack"));
        script.run([Write(1 << 30), News(1, 10), Nothing, Tick(50), PeerWindow(advertised)]);
        let nxt = 10_001;
        script.sack(1, &[(2, 3)]);
        script.sack(1, &[(2, 4)]);
        assert!(taken(&record).losses.is_empty());
        script.sack(1, &[(2, 5)]);
        let Record { losses, lost_segments, acked, .. } = taken(&record);
        assert_eq!(losses.len(), 1);
        let loss = &losses[0];
        assert_eq!((loss.now, loss.una, loss.nxt, loss.window), (script.now, 1, nxt, window));
        assert_eq!((loss.flight, loss.marked), (10_000, false));
        assert_eq!(lost_segments.len(), 1);
        assert_eq!((lost_segments[0].range.start, lost_segments[0].range.end), (1, 1001));
        let (_, phase, _, bytes) = acked.last().expect("an ACK");
        assert_eq!((*phase, bytes[4]), (LossPhase::Recovery, 1000), "1000 bytes were lost");
        assert_eq!(bytes[3], 6000, "ten segments, less three SACKed and one lost");
    }
}

/// A timeout concerns all outstanding data. Only the first timeout of this data is a first timeout.
#[test]
fn timeouts() {
    let (mut script, record) = spied(config("sack"));
    script.run([Write(1 << 30), News(1, 10), Nothing, Tick(50), Ack(2), New(11)]);
    let _ = taken(&record);
    script.run([Timeout, Again(1 + 1)]);
    let first = taken(&record).timeouts;
    assert_eq!(first.len(), 1);
    let (loss, is_first) = &first[0];
    assert_eq!((loss.una, loss.nxt, loss.flight, *is_first), (1001, 11_001, 10_000, true));
    while script.endpoint.poll_segment(script.now).is_some() {}
    script.run([Timeout]);
    let second = taken(&record).timeouts;
    assert_eq!(second.iter().map(|(loss, first)| (loss.una, *first)).collect::<Vec<_>>(), [(1001, false)]);
}

/// A smaller path MTU changes the segment size.
#[test]
fn segment_sizes() {
    let (mut script, record) = spied(config("sack"));
    script.run([Write(1 << 30), News(1, 10)]);
    assert!(script.endpoint.handle_too_long(script.now, ISS.at(1), 700));
    assert_eq!(taken(&record).sizes, [700]);
}
