//! What an endpoint is made of: plain values, and one choice for each seam.

use crate::endpoint::KeepAlive;
use crate::receiver::{cause, echo, estimate, shape, timing, window};
use crate::rtt::RtoLimits;
use crate::sender::{congestion, counting, judge, recovery, reduction, slow_start};
use lasthop_base::{Choice, Duration, Value};

/// Everything about one endpoint. [`Config::default`] is a SACK host of today's RFCs.
#[derive(Clone, Hash, Debug)]
pub struct Config {
    /// Payload of a full segment, bytes; the MSS option announces it plus the option bytes that each segment carries. A
    /// peer that refuses timestamps gets their 12 bytes as payload.
    pub segment: u32,
    /// Payload that a peer which names no MSS can take, bytes: 536 over IPv4, 1220 over IPv6 (RFC 9293 §3.7.1).
    pub default_mss: u32,
    /// Initial window in segments (RFC 6928: 10; the papers: 1 or 2).
    pub initial_window: u32,
    /// Initial slow start threshold, bytes; `None`: as high as the window can get.
    pub initial_ssthresh: Option<u64>,
    /// Whether cwnd falls back to the initial window when nothing was sent for a timeout (RFC 5681 §4.1).
    pub restarts_after_idle: bool,
    /// Whether cwnd grows only while it is used: a sender that the application or the peer's window limits learns nothing of the
    /// path.
    pub validates_window: bool,
    /// Whether Linux's rule tells that it is used (`max_packets_out`, `is_cwnd_limited`), or pipeACK, which has to be at least
    /// half of it (RFC 7661 §4.3).
    pub validates_as_linux: bool,
    /// Whether the ACKs after a timeout are asked if it was spurious, and its effects undone then (F-RTO, RFC 5682: §3 where
    /// recovery uses SACK, §2 elsewhere).
    pub f_rto: bool,
    /// Whether a recovery, or a timeout, is taken back if all that it sent again had arrived already (D-SACK, RFC 3708).
    pub dsack_undo: bool,
    /// Whether they are taken back if a timestamp tells that an original arrived (Eifel, RFC 3522).
    pub eifel: bool,
    /// What a repair that was for nothing gives back at once: all of the window (Linux), or no more than what is in flight and
    /// a small burst, and a timeout that remembers the delay (RFC 4015).
    pub undo_whole: bool,
    /// What cwnd is after a timeout: a segment more than what is not given up (Linux, BBR), or one segment (RFC 5681 §3.1).
    pub loss_window_spares: bool,
    /// Whether round-trip times are also taken from what SACK reports for the first time, of segments sent once; the timer
    /// starts anew if that was sent before the first outstanding one went out last (Linux since 3.12). Only with a recovery
    /// that keeps times.
    pub sack_rtt: bool,
    /// Whether a window of zero stops the retransmission timer: what is outstanding is probed for, cwnd stays, and once the
    /// window opens all of it goes again (BSD's persist state; Linux retransmits and reduces).
    pub freezes: bool,
    /// Bounds and granularity of the retransmission timeout.
    pub rto: RtoLimits,
    /// Whether a short segment waits while data is outstanding (RFC 9293 §3.7.4).
    pub nagle: bool,
    /// Offer SACK (RFC 2018).
    pub sack: bool,
    /// Where SACK is agreed on, tell the peer what arrived twice (RFC 2883).
    pub dsack: bool,
    /// Offer timestamps (RFC 7323).
    pub timestamps: bool,
    /// Length of one tick of the timestamp clock, 1 ns to 4 s (RFC 7323 §5.4: 1 ms to 1 s).
    pub timestamp_tick: Duration,
    /// Offer ECN (RFC 3168).
    pub ecn: bool,
    /// Offer accurate ECN (RFC 9768), and less where the peer knows it not: it implies `ecn`.
    pub accecn: bool,
    /// Whether an echo at a window of one segment makes the next segment wait for the retransmission timer, as RFC 3168
    /// §6.1.2 asks and hardly anybody does (Linux and ns-2 go on with one segment per round trip).
    pub ecn_waits: bool,
    /// How long TIME-WAIT lasts (2 MSL).
    pub time_wait: Duration,
    /// When a peer that does not answer is given up.
    pub patience: Patience,
    /// How a peer that is silent is asked whether it is still there; `None`: not at all (RFC 9293 §3.8.4).
    pub keep_alive: Option<KeepAlive>,
    /// Challenge ACKs in any five seconds at most (RFC 5961 §7: 10), at least 2.
    pub challenges: u32,
    /// Loss recovery.
    pub recovery: Choice<recovery::Build>,
    /// How the window comes down while a loss is repaired.
    pub reduction: Choice<reduction::Build>,
    /// What ends slow start, beside a loss.
    pub slow_start: Choice<slow_start::Build>,
    /// Congestion control.
    pub congestion: Choice<congestion::Build>,
    /// What an ACK counts.
    pub counting: Choice<counting::Build>,
    /// How the sender judges a loss once it is repaired.
    pub judge: Choice<judge::Build>,
    /// When to acknowledge.
    pub timing: Choice<timing::Build>,
    /// In how many pieces to acknowledge.
    pub shape: Choice<shape::Build>,
    /// How congestion marks are echoed.
    pub echo: Choice<echo::Build>,
    /// How much to advertise.
    pub window: Choice<window::Build>,
    /// How the receiver estimates the sender's window.
    pub estimate: Choice<estimate::Build>,
    /// How the receiver judges a loss.
    pub cause: Choice<cause::Build>,
    /// Whether the sender takes a short way through its rules while nothing is lost. For the test that nothing but speed
    /// depends on it.
    #[doc(hidden)]
    pub has_shortcut: bool,
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

/// The window is what is free of a receive buffer of so many bytes.
fn buffer(size: u64) -> Choice<window::Build> {
    let mut buffer = Choice::of(&window::DEFAULT);
    buffer.values.set("size", Value::Bytes(size));
    buffer
}

impl Default for Config {
    /// A host's: its receive buffer has 4 MiB. A simulated one needs no memory, and its buffer limits nothing unless
    /// its scenario says so.
    fn default() -> Config {
        Config {
            segment: 1448,
            default_mss: 536,
            initial_window: 10,
            initial_ssthresh: None,
            restarts_after_idle: true,
            validates_window: false,
            validates_as_linux: false,
            f_rto: false,
            dsack_undo: false,
            eifel: false,
            undo_whole: false,
            loss_window_spares: false,
            sack_rtt: false,
            freezes: false,
            rto: RtoLimits {
                initial: Duration::from_secs(1),
                smallest: Duration::from_millis(200),
                largest: Duration::from_secs(60),
                tick: Duration::from_millis(1),
                above_srtt: false,
            },
            nagle: true,
            sack: true,
            dsack: true,
            timestamps: true,
            timestamp_tick: Duration::from_millis(1),
            ecn: false,
            accecn: false,
            ecn_waits: false,
            time_wait: Duration::from_secs(60),
            patience: Patience::default(),
            keep_alive: None,
            challenges: 10,
            recovery: Choice::of(&recovery::DEFAULT),
            reduction: Choice::of(&reduction::DEFAULT),
            slow_start: Choice::of(&slow_start::DEFAULT),
            congestion: Choice::of(&congestion::DEFAULT),
            counting: Choice::of(&counting::DEFAULT),
            judge: Choice::of(&judge::DEFAULT),
            timing: Choice::of(&timing::DEFAULT),
            shape: Choice::of(&shape::DEFAULT),
            echo: Choice::of(&echo::DEFAULT),
            window: buffer(4 << 20),
            estimate: Choice::of(&estimate::DEFAULT),
            cause: Choice::of(&cause::DEFAULT),
            has_shortcut: true,
        }
    }
}
