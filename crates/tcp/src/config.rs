//! Configuration of an endpoint, and a list of all mechanisms by seam (kind of mechanism). Scenarios, `lasthop list`
//! and the schema take the mechanisms from this list.

use crate::endpoint::KeepAlive;
use crate::receiver::loss_discrimination as receiver_loss;
use crate::receiver::{ack_policy, ack_splitting, ecn_echo, window, window_estimate};
use crate::rtt::RtoLimits;
use crate::sender::loss_discrimination as sender_loss;
use crate::sender::{ack_counting, congestion, pacing, recovery, reduction, slow_start};
use lasthop_base::{Choice, Duration, Selection, Value, seams};

seams! {
    /// Configuration of one endpoint. [`Config::default`] describes a host with SACK that follows today's RFCs.
    #[derive(Clone, Debug)]
    pub struct Config {
        /// Payload of a full segment, bytes. The MSS option announces this payload, plus 12 bytes if timestamps are
        /// offered. If the peer refuses timestamps, a full segment carries these 12 bytes as payload.
        pub segment: u32 = 1448,
        /// MSS assumed if the peer sends no MSS option, bytes: 536 over IPv4, 1220 over IPv6 (RFC 9293 §3.7.1).
        pub default_mss: u32 = 536,
        /// Initial window, segments. RFC 6928 uses 10; the reproduced papers use 1 or 2.
        pub initial_window: u32 = 10,
        /// Initial ssthresh, bytes; `None` means no limit.
        pub initial_ssthresh: Option<u64> = None,
        /// Whether cwnd returns to the initial window if the sender has sent nothing for an RTO (RFC 5681 §4.1).
        pub restarts_after_idle: bool = true,
        /// Whether cwnd grows only while the sender uses enough of cwnd (congestion window validation).
        pub validates_window: bool = false,
        /// Test that decides whether the sender uses enough of cwnd: if true, Linux's `tcp_is_cwnd_limited`; if false,
        /// pipeACK >= cwnd / 2 (RFC 7661 §4.3).
        pub validates_as_linux: bool = false,
        /// Whether F-RTO detects and undoes spurious timeouts (RFC 5682 §3 if recovery uses SACK, otherwise §2).
        pub f_rto: bool = false,
        /// Whether D-SACK undoes a recovery or timeout whose retransmissions were all unnecessary (RFC 3708).
        pub dsack_undo: bool = false,
        /// Whether timestamps undo a recovery or timeout if they show that the original segment had arrived (Eifel, RFC
        /// 3522).
        pub eifel: bool = false,
        /// Whether the undo of a spurious retransmission restores cwnd entirely (Linux). Otherwise cwnd becomes the
        /// bytes in flight plus a small burst, and the retransmission timeout is adapted (RFC 4015).
        pub undo_whole: bool = false,
        /// Whether a timeout sets cwnd to the outstanding bytes not marked as lost, plus one segment (Linux, BBR).
        /// Otherwise a timeout sets cwnd to one segment (RFC 5681 §3.1).
        pub loss_window_in_flight: bool = false,
        /// Whether SACK blocks also yield RTT samples, from segments that were sent only once (Linux since 3.12). If
        /// such a segment was sent before the last transmission of the first outstanding segment, the retransmission
        /// timer restarts. Requires a recovery mechanism that stores send times.
        pub sack_rtt: bool = false,
        /// Whether a zero window stops the retransmission timer (BSD's persist state). Window probes continue, and cwnd
        /// does not change. As soon as the window opens, all outstanding data is retransmitted. Linux, in contrast,
        /// retransmits and reduces cwnd at a zero window.
        pub has_persist_state: bool = false,
        /// Bounds and granularity of the retransmission timeout.
        pub rto: RtoLimits = RtoLimits {
            initial: Duration::from_secs(1),
            smallest: Duration::from_millis(200),
            largest: Duration::from_secs(60),
            tick: Duration::from_millis(1),
            above_srtt: false,
        },
        /// Nagle's algorithm: whether a short segment waits while data is outstanding (RFC 9293 §3.7.4).
        pub nagle: bool = true,
        /// Whether to offer SACK (RFC 2018).
        pub sack: bool = true,
        /// Whether to report duplicate segments by D-SACK if both ends support SACK (RFC 2883).
        pub dsack: bool = true,
        /// Whether to offer timestamps (RFC 7323).
        pub timestamps: bool = true,
        /// Tick of the timestamp clock, 1 ns to 4 s (RFC 7323 §5.4: 1 ms to 1 s).
        pub timestamp_tick: Duration = Duration::from_millis(1),
        /// Whether to offer ECN (RFC 3168).
        pub ecn: bool = false,
        /// Whether to offer accurate ECN (RFC 9768), with fallback to classic ECN if the peer supports only classic
        /// ECN. Implies `ecn`.
        pub accecn: bool = false,
        /// Whether an ECN echo at a cwnd of one segment stops the sender until the retransmission timer expires (RFC
        /// 3168 §6.1.2). Linux and ns-2 send one segment per round trip instead.
        pub ecn_waits: bool = false,
        /// Length of TIME-WAIT (2 MSL).
        pub time_wait: Duration = Duration::from_secs(60),
        /// Limits after which the connection gives up a peer that does not answer.
        pub user_timeouts: UserTimeouts = UserTimeouts::default(),
        /// Keep-alive probes (RFC 9293 §3.8.4); `None` means no probes.
        pub keep_alive: Option<KeepAlive> = None,
        /// Largest number of challenge ACKs in five seconds (RFC 5961 §7 suggests 10). Values below 2 count as 2.
        pub challenges: u32 = 10,
        /// Whether the fast path handles data while no loss is detected. A test checks that `true` and `false` give the
        /// same results.
        #[doc(hidden)]
        pub has_fast_path: bool = true,
    }
    /// Configuration of a host with a receive buffer of 4 MiB.
    fn host();
    /// List of mechanisms for each seam of an endpoint. [`Catalogue::default`] holds this crate's mechanisms.
    ///
    /// Add a mechanism to the list of its seam; scenarios then find it by name:
    ///
    /// ```
    /// use lasthop_base::{Info, Mechanism};
    /// use lasthop_tcp::Catalogue;
    /// use lasthop_tcp::receiver::ack_splitting::{AckSplitting, Build, DueAck, AckForm};
    /// use lasthop_tcp::receiver::window_estimate::PathEstimate;
    ///
    /// /// Sends three ACKs for each ACK that is due.
    /// struct Thrice;
    ///
    /// impl AckSplitting for Thrice {
    ///     fn split(&mut self, _: &DueAck, _: &PathEstimate) -> AckForm {
    ///         AckForm::Copies(3)
    ///     }
    /// }
    ///
    /// const THRICE: Mechanism<Build> = Mechanism {
    ///     info: Info { name: "thrice", summary: "three ACKs for each ACK due", source: "an example", ..Info::PLAIN },
    ///     build: &|_| Box::new(Thrice),
    /// };
    ///
    /// let mut catalogue = Catalogue::default();
    /// catalogue.ack_splitting.add(&THRICE);
    /// assert!(catalogue.ack_splitting.info().find("thrice").is_some());
    /// ```
    pub struct Catalogue {
        /// Loss recovery.
        "sender" recovery: recovery::Build = recovery, "loss recovery";
        /// Window reduction during loss recovery.
        "sender" reduction: reduction::Build = reduction, "window reduction in recovery";
        /// End of slow start for reasons other than a loss.
        "sender" slow_start: slow_start::Build = slow_start, "slow start exit";
        /// Congestion control.
        "sender" congestion: congestion::Build = congestion, "congestion control";
        /// ACK counting: growth of cwnd for each ACK (per ACK, or by bytes: RFC 3465).
        "sender" ack_counting: ack_counting::Build = ack_counting, "window credit per ACK (byte counting)";
        /// Pacing, for congestion controls that set no pacing rate.
        "sender" pacing: pacing::Build = pacing, "pacing";
        /// Loss discrimination at the sender: whether congestion or the wireless link caused a loss.
        "sender" sender_discrimination as "loss_discrimination": sender_loss::Build = sender_loss, "loss \
         discrimination by the sender";
        /// ACK policy: the time at which each ACK is sent.
        "receiver" ack_policy: ack_policy::Build = ack_policy, "ACK policy";
        /// ACK splitting: number and form of the ACKs for each ACK that is due.
        "receiver" ack_splitting: ack_splitting::Build = ack_splitting, "ACK splitting";
        /// ECN echo: report of congestion marks to the sender.
        "receiver" ecn_echo: ecn_echo::Build = ecn_echo, "ECN echo";
        /// Advertised window.
        "receiver" window: window::Build = window, "advertised window", at first buffer(4 << 20);
        /// Loss discrimination at the receiver.
        "receiver" receiver_discrimination as "loss_discrimination": receiver_loss::Build = receiver_loss, "loss \
         discrimination by the receiver";
        /// Receiver's estimate of the sender's window.
        "receiver" window_estimate: window_estimate::Build = window_estimate, "estimate of the sender's window";
    }
}

impl Default for Config {
    /// Returns the configuration of a host with a receive buffer of 4 MiB. The default buffer of a simulated host, in
    /// contrast, does not limit the window.
    fn default() -> Config {
        Config::host()
    }
}

/// Selects the mechanism that advertises the free part of a receive buffer of `size` bytes.
fn buffer(size: u64) -> Choice<window::Build> {
    let mut buffer = Choice::of(&window::DEFAULT);
    buffer.values.set("size", Value::Bytes(size));
    buffer
}

/// Limits after which the connection gives up a peer that does not answer (RFC 9293 §3.8.3).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct UserTimeouts {
    /// R1: number of consecutive retransmissions of the same data (or SYN) after which [`crate::Event::R1Reached`]
    /// occurs (RFC 9293: at least 3).
    pub r1: u32,
    /// R2, the user timeout: longest time without an answer to data or window probes (RFC 9293: at least 100 s). `None`
    /// means no limit. Each expiry of a sender's timer checks this limit. The user timeout option (RFC 5482) is not
    /// sent.
    pub data: Option<Duration>,
    /// R2 of the SYN and SYN-ACK (RFC 9293: at least 180 s); `None` means no limit.
    pub syn: Option<Duration>,
}

impl Default for UserTimeouts {
    /// Defaults: 3 retransmissions, 15 minutes for data, 3 minutes for the SYN.
    fn default() -> UserTimeouts {
        UserTimeouts { r1: 3, data: Some(Duration::from_secs(900)), syn: Some(Duration::from_secs(180)) }
    }
}

impl Catalogue {
    /// Selects a mechanism with default parameters for each seam; for tests. Each of the `numbers` is the index of a
    /// mechanism in its seam, modulo the number of mechanisms.
    pub fn pick(&self, mut config: Config, numbers: &[u8]) -> Config {
        for (seam, number) in self.seams().into_iter().zip(numbers) {
            let info = seam.mechanisms[usize::from(*number) % seam.mechanisms.len()];
            self.select(&mut config, seam, &Selection { info, values: info.defaults() });
        }
        config
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mechanism_can_be_selected() {
        let catalogue = Catalogue::default();
        for seam in catalogue.seams() {
            assert!(seam.find(seam.default.name).is_some(), "{}", seam.name);
            for info in &seam.mechanisms {
                let (mut config, values) = (Config::default(), info.defaults());
                assert!(catalogue.select(&mut config, seam, &Selection { info, values }));
                let named = format!("name: {:?}", info.name);
                assert!(format!("{config:?}").contains(&named), "{} {named}", seam.name);
            }
        }
    }

    #[test]
    fn a_mechanism_of_another_seam_is_refused() {
        let catalogue = Catalogue::default();
        let cubic = catalogue.congestion.info().find("cubic").expect("cubic exists");
        let selection = Selection { info: cubic, values: cubic.defaults() };
        for seam in catalogue.seams().into_iter().filter(|seam| seam.name != "congestion") {
            assert!(!catalogue.select(&mut Config::default(), seam, &selection), "{}", seam.name);
        }
    }
}
