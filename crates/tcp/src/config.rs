//! Parts of an endpoint: plain values, and one choice for each seam; every mechanism for them, by seam, as scenarios,
//! `lasthop list` and the schema read it.

use crate::endpoint::KeepAlive;
use crate::receiver::{cause, echo, estimate, shape, timing, window};
use crate::rtt::RtoLimits;
use crate::sender::{congestion, counting, judge, recovery, reduction, slow_start};
use lasthop_base::{Answer, Choice, Duration, Value, seams};

seams! {
    /// Everything about one endpoint. [`Config::default`] is a SACK host of today's RFCs.
    #[derive(Clone, Debug)]
    pub struct Config {
        /// Payload of a full segment, bytes; the MSS option announces it plus the option bytes that each segment carries. A
        /// peer that refuses timestamps gets their 12 bytes as payload.
        pub segment: u32 = 1448,
        /// Payload that a peer which names no MSS can take, bytes: 536 over IPv4, 1220 over IPv6 (RFC 9293 §3.7.1).
        pub default_mss: u32 = 536,
        /// Initial window in segments (RFC 6928: 10; the papers: 1 or 2).
        pub initial_window: u32 = 10,
        /// Initial slow start threshold, bytes; `None`: as high as the window can get.
        pub initial_ssthresh: Option<u64> = None,
        /// Whether cwnd falls back to the initial window when nothing was sent for a timeout (RFC 5681 §4.1).
        pub restarts_after_idle: bool = true,
        /// Whether cwnd grows only while it is used: a sender that the application or the peer's window limits learns nothing
        /// of the path.
        pub validates_window: bool = false,
        /// Whether Linux's rule tells that it is used (`max_packets_out`, `is_cwnd_limited`), or pipeACK, which has to be at
        /// least half of it (RFC 7661 §4.3).
        pub validates_as_linux: bool = false,
        /// Whether the ACKs after a timeout are asked if it was spurious, and its effects undone then (F-RTO, RFC 5682: §3
        /// where recovery uses SACK, §2 elsewhere).
        pub f_rto: bool = false,
        /// Whether a recovery, or a timeout, is taken back if all that it sent again had arrived already (D-SACK, RFC 3708).
        pub dsack_undo: bool = false,
        /// Whether they are taken back if a timestamp tells that an original arrived (Eifel, RFC 3522).
        pub eifel: bool = false,
        /// Whether a repair that was for nothing gives back all of the window at once (Linux), or no more than what is in
        /// flight and a small burst, and a timeout that remembers the delay (RFC 4015).
        pub undo_whole: bool = false,
        /// Whether cwnd after a timeout is a segment more than the bytes that are not given up (Linux, BBR), or one segment
        /// (RFC 5681 §3.1).
        pub loss_window_spares: bool = false,
        /// Whether round-trip times are also taken from what SACK reports for the first time, of segments sent once; the timer
        /// starts anew if that was sent before the first outstanding one went out last (Linux since 3.12). Only with a recovery
        /// that keeps times.
        pub sack_rtt: bool = false,
        /// Whether a window of zero stops the retransmission timer: what is outstanding is probed for, cwnd stays, and once the
        /// window opens all of it goes again (BSD's persist state; Linux retransmits and reduces).
        pub freezes: bool = false,
        /// Bounds and granularity of the retransmission timeout.
        pub rto: RtoLimits = RtoLimits {
            initial: Duration::from_secs(1),
            smallest: Duration::from_millis(200),
            largest: Duration::from_secs(60),
            tick: Duration::from_millis(1),
            above_srtt: false,
        },
        /// Whether a short segment waits while data is outstanding (RFC 9293 §3.7.4).
        pub nagle: bool = true,
        /// Offer SACK (RFC 2018).
        pub sack: bool = true,
        /// Where SACK is agreed on, tell the peer what arrived twice (RFC 2883).
        pub dsack: bool = true,
        /// Offer timestamps (RFC 7323).
        pub timestamps: bool = true,
        /// Length of one tick of the timestamp clock, 1 ns to 4 s (RFC 7323 §5.4: 1 ms to 1 s).
        pub timestamp_tick: Duration = Duration::from_millis(1),
        /// Offer ECN (RFC 3168).
        pub ecn: bool = false,
        /// Offer accurate ECN (RFC 9768), and less where the peer knows it not: it implies `ecn`.
        pub accecn: bool = false,
        /// Whether an echo at a window of one segment makes the next segment wait for the retransmission timer, as RFC 3168
        /// §6.1.2 asks and hardly anybody does (Linux and ns-2 go on with one segment per round trip).
        pub ecn_waits: bool = false,
        /// Length of TIME-WAIT (2 MSL).
        pub time_wait: Duration = Duration::from_secs(60),
        /// Limits after which a peer that does not answer is given up.
        pub patience: Patience = Patience::default(),
        /// Probes of a peer that is silent; `None`: none (RFC 9293 §3.8.4).
        pub keep_alive: Option<KeepAlive> = None,
        /// Challenge ACKs in any five seconds at most (RFC 5961 §7: 10), at least 2.
        pub challenges: u32 = 10,
        /// Whether the sender takes a short way through its rules while nothing is lost. For the test that nothing but speed
        /// depends on it.
        #[doc(hidden)]
        pub has_shortcut: bool = true,
    }
    /// A host: its receive buffer has 4 MiB.
    fn host();
    /// The seams of an endpoint, in the order in which a reader would ask. [`Catalogue::default`] has this crate's
    /// mechanisms.
    ///
    /// A mechanism that is added to its seam is found by name like the others:
    ///
    /// ```
    /// use lasthop_base::{Info, Mechanism};
    /// use lasthop_tcp::Catalogue;
    /// use lasthop_tcp::receiver::shape::{AckShape, Build, Due, Shape};
    /// use lasthop_tcp::receiver::estimate::PathEstimate;
    ///
    /// /// Three ACKs for every one.
    /// struct Thrice;
    ///
    /// impl AckShape for Thrice {
    ///     fn shape(&mut self, _: &Due, _: &PathEstimate) -> Shape {
    ///         Shape::Copies(3)
    ///     }
    /// }
    ///
    /// const THRICE: Mechanism<Build> = Mechanism {
    ///     info: Info { name: "thrice", summary: "three ACKs for every one", source: "an example", ..Info::PLAIN },
    ///     build: &|_| Box::new(Thrice),
    /// };
    ///
    /// let mut catalogue = Catalogue::default();
    /// catalogue.shape.add(&THRICE);
    /// assert!(catalogue.shape.question().find("thrice").is_some());
    /// ```
    pub struct Catalogue {
        /// Loss recovery.
        "sender" recovery: recovery::Build = recovery, "loss recovery";
        /// Window reduction while a loss is repaired.
        "sender" reduction: reduction::Build = reduction, "window reduction in recovery";
        /// End of slow start, beside a loss.
        "sender" slow_start: slow_start::Build = slow_start, "slow start exit";
        /// Congestion control.
        "sender" congestion: congestion::Build = congestion, "congestion control";
        /// Credit for an ACK.
        "sender" counting: counting::Build = counting, "window credit per ACK (byte counting)";
        /// Sender's judgement of a loss once it is repaired.
        "sender" judge: judge::Build = judge, "loss discrimination by the sender";
        /// Time at which data is acknowledged.
        "receiver" timing: timing::Build = timing, "ACK policy";
        /// Number and form of the ACKs for each one that is due.
        "receiver" shape: shape::Build = shape, "ACK splitting";
        /// Echo of congestion marks.
        "receiver" echo: echo::Build = echo, "ECN echo";
        /// Advertised window.
        "receiver" window: window::Build = window, "advertised window", at first buffer(4 << 20);
        /// Receiver's judgement of a loss.
        "receiver" cause: cause::Build = cause, "loss discrimination by the receiver";
        /// Receiver's estimate of the sender's window.
        "receiver" estimate: estimate::Build = estimate, "estimate of the sender's window";
    }
}

impl Default for Config {
    /// A host's: its receive buffer has 4 MiB. A simulated one needs no memory, and its buffer limits nothing unless
    /// its scenario says so.
    fn default() -> Config {
        Config::host()
    }
}

/// The window is what is free of a receive buffer of so many bytes.
fn buffer(size: u64) -> Choice<window::Build> {
    let mut buffer = Choice::of(&window::DEFAULT);
    buffer.values.set("size", Value::Bytes(size));
    buffer
}

/// When a peer that does not answer is given up (RFC 9293 §3.8.3).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Patience {
    /// R1: so many retransmissions of the same data (or SYN) in a row are trouble worth telling (at least 3).
    pub troubled_after: u32,
    /// R2, the user timeout: how long data, or a probe of a closed window, may go without an answer (at least 100 s by
    /// default; RFC 5482, told to nobody); `None`: for ever. It is looked at when a timer of the sender expires.
    pub data: Option<Duration>,
    /// R2 of the SYN and SYN-ACK (at least 180 s by default); `None`: for ever.
    pub syn: Option<Duration>,
}

impl Default for Patience {
    /// 3 retransmissions, 15 minutes, 3 minutes.
    fn default() -> Patience {
        Patience {
            troubled_after: 3,
            data: Some(Duration::from_secs(900)),
            syn: Some(Duration::from_secs(180)),
        }
    }
}

impl Catalogue {
    /// The same endpoint of any mechanisms with their defaults, for tests that run over all there are: the numbers choose
    /// an answer to each question in turn, modulo how many there are; where they end, the configuration's own stay.
    pub fn pick(&self, mut config: Config, numbers: &[u8]) -> Config {
        for (question, number) in self.questions().into_iter().zip(numbers) {
            let info = question.mechanisms[usize::from(*number) % question.mechanisms.len()];
            self.answer(&mut config, question.name, &Answer { info, values: info.defaults() });
        }
        config
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_has_a_place_in_a_configuration() {
        let catalogue = Catalogue::default();
        for question in catalogue.questions() {
            assert!(question.find(question.default.name).is_some(), "{}", question.name);
            for info in &question.mechanisms {
                let (mut config, values) = (Config::default(), info.defaults());
                assert!(catalogue.answer(&mut config, question.name, &Answer { info, values }));
                let named = format!("name: {:?}", info.name);
                assert!(format!("{config:?}").contains(&named), "{} {named}", question.name);
            }
        }
    }

    #[test]
    fn an_answer_to_another_question_is_refused() {
        let catalogue = Catalogue::default();
        let cubic = catalogue.congestion.question().find("cubic").expect("it is there");
        let answer = Answer { info: cubic, values: cubic.defaults() };
        assert!(!catalogue.answer(&mut Config::default(), "recovery", &answer));
        assert!(!catalogue.answer(&mut Config::default(), "colour", &answer));
    }
}
