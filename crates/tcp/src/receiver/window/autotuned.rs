//! Autotuned window, as in Linux: the window grows with the number of bytes that the application reads (dynamic
//! right-sizing, Fisk and Feng 2001).
//!
//! The buffer grows when the application reads more bytes in a round trip than in any earlier round trip. If the number
//! of bytes grows by the fraction g, the new size is (2 x bytes + 16 segments) x (1 + 2 g). The first threshold is ten
//! segments, or the initial window in whole segments if that window is smaller (`tcp_init_buffer_space`,
//! `tcp_select_initial_window`). The window opens towards the buffer by two segments per arrival. The RTT estimate
//! follows timestamp echoes: a shorter RTT replaces the estimate at once, a longer RTT raises the estimate slowly
//! (Dumazet, "tcp: receive side improvements", netdev, May 2025).
//!
//! # Not modelled
//! Overhead of packets: the window is half of the buffer (`tcp_rmem` is twice `initial` and `size`). If the initial
//! window is below ten segments, Linux measures the overhead of the first packets and opens the window accordingly.
//! Here the buffer grows when a round trip fills such a window. Without timestamps only the handshake yields an RTT
//! sample.

use super::{AdvertisedWindow, Build, PathSample, WindowInput};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Time, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "autotuned",
        summary: "free part of a buffer that grows with the application's reads per round trip (Linux)",
        source: "Fisk, Feng: Dynamic right-sizing in TCP, LACSI 2001; ip-sysctl, tcp_moderate_rcvbuf",
        parameters: &[
            Parameter {
                name: "initial",
                unit: Unit::Bytes(1, 1 << 30),
                default: Some("64 KiB"),
                doc: "initial window (half of tcp_rmem's second value)",
            },
            Parameter {
                name: "size",
                unit: Unit::Bytes(1, 1 << 30),
                default: Some("16 MiB"),
                doc: "largest window (half of tcp_rmem's third value)",
            },
        ],
        as_linux: true,
        ..Info::PLAIN
    },
    build: &|values| Box::new(Autotuned::new(values.bytes("initial"), values.bytes("size"))),
};

/// First threshold for the growth of the buffer, segments read per round trip (RFC 6928's initial window).
const AT_FIRST: u64 = 10;
/// Spare room in a new buffer size, segments, in addition to twice the bytes read.
const SPARE: u64 = 16;
/// Smallest payload, bytes, of an arrival that opens the window further.
const SMALL: u64 = 128;

struct Autotuned {
    size: u64,
    initial: u64,
    /// Largest window that the buffer currently permits, bytes.
    room: u64,
    /// Window opened so far, bytes; at most `room`.
    opened: u64,
    is_growing: bool,
    /// Largest number of bytes read in a round trip after which the buffer grew; 0 before the first growth.
    most_read: u64,
    rtt: Option<Duration>,
    /// Start of the current round trip, and the number of bytes that the application had read at that time.
    round: Option<(Time, u64)>,
}

impl Autotuned {
    fn new(initial: u64, size: u64) -> Autotuned {
        let initial = initial.min(size);
        Autotuned {
            size,
            initial,
            room: initial,
            opened: initial,
            is_growing: false,
            most_read: 0,
            rtt: None,
            round: None,
        }
    }

    /// Payload of the whole segments that fit into the initial window, bytes. If not even one segment fits, returns the
    /// initial window.
    fn whole_segments(&self, segment: u64) -> u64 {
        if segment > self.initial { self.initial } else { self.initial - self.initial % segment.max(1) }
    }

    fn end_round(&mut self, read: u64, segment: u64) {
        let holds = self.whole_segments(segment);
        let known = self.most_read.max(holds.min(AT_FIRST * segment));
        // In a round trip the application cannot read more than a window. If the initial window is below ten segments,
        // a full window therefore also makes the buffer grow.
        let fills = read >= holds && self.room == self.initial;
        if read <= known && !fills {
            return;
        }
        self.most_read = read;
        let wanted = 2 * read + SPARE * segment;
        let growth = u128::from(wanted) * u128::from(read.saturating_sub(known)) / u128::from(known.max(1));
        let wanted = u128::from(wanted) + 2 * growth;
        self.room = self.room.max(u64::try_from(wanted).unwrap_or(u64::MAX)).min(self.size);
    }
}

impl AdvertisedWindow for Autotuned {
    fn bytes(&mut self, input: &WindowInput) -> u64 {
        self.room.saturating_sub(input.unread).min(self.opened)
    }

    fn largest(&self) -> u64 {
        self.size
    }

    fn needs_arrivals(&self) -> bool {
        true
    }

    fn on_arrival(&mut self, arrived: &PathSample) {
        if let Some(rtt) = arrived.rtt {
            self.rtt = Some(self.rtt.map_or(rtt, |known| rtt.min((known * 7 + rtt).divided_by(8))));
        }
        self.is_growing = self.opened < self.room && arrived.bytes >= SMALL;
        if self.is_growing {
            self.opened = (self.opened + 2 * arrived.segment).min(self.room);
        }
        let Some(rtt) = self.rtt else { return };
        match self.round {
            Some((began, read)) if arrived.now.since(began) >= rtt => {
                self.end_round(arrived.read - read, arrived.segment);
                self.round = Some((arrived.now, arrived.read));
            }
            Some(_) => {}
            None => self.round = Some((arrived.now, arrived.read)),
        }
    }

    fn is_growing(&self) -> bool {
        self.is_growing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: u64 = 1000;

    /// 65,536 bytes hold 65 segments of 1000 bytes, 7 of 8960 and one of 65,536. For a larger segment, the result is
    /// the whole window.
    #[test]
    fn whole_segments_fit_into_the_window() {
        let window = Autotuned::new(65_536, 1 << 20);
        for (segment, bytes) in [(1000, 65_000), (8960, 62_720), (65_536, 65_536), (65_537, 65_536)] {
            assert_eq!(window.whole_segments(segment), bytes, "{segment}");
        }
    }

    /// Returns the window after each round trip of 100 ms, bytes. `rounds`: number of segments in each round trip. The
    /// application reads all data at once.
    fn windows(rounds: &[u64], size: u64) -> Vec<u64> {
        let mut window = Autotuned::new(65_536, size);
        let (mut now, mut read) = (Time::ZERO, 0);
        let rtt = Duration::from_millis(100);
        let mut receive = |bytes: u64, now, window: &mut Autotuned| {
            read += bytes;
            window.on_arrival(&PathSample { now, bytes, rtt: Some(rtt), read, segment: SEGMENT });
        };
        receive(0, now, &mut window);
        let mut after = Vec::new();
        for segments in rounds {
            for number in 1..=*segments {
                receive(SEGMENT, now + rtt.divided_by(*segments) * number, &mut window);
            }
            now += rtt;
            after.push(window.bytes(&WindowInput { unread: 0, segment: SEGMENT }));
        }
        after
    }

    /// The window does not limit slow start, because the window is at least twice the arrivals of the last round trip.
    #[test]
    fn a_slow_start_finds_room() {
        let rounds: Vec<u64> = (0..8).map(|round| 10 << round).collect();
        for (segments, window) in rounds.iter().zip(windows(&rounds, 16 << 20)) {
            assert!(window >= 2 * segments * SEGMENT, "{segments}: {window}");
        }
    }

    #[test]
    fn it_grows_only_with_what_is_read() {
        let steady = windows(&[20, 20, 20, 20, 20, 20, 20, 20], 16 << 20);
        assert_eq!(steady[6], steady[7]);
        assert_eq!(windows(&[8, 8, 8, 8], 16 << 20), [65_536; 4]);
        assert!(windows(&[10, 20, 40, 80, 160, 320], 100_000).iter().all(|window| *window <= 100_000));
    }

    #[test]
    fn a_shorter_round_trip_counts_at_once() {
        let grows = |rtts: [u64; 2], after: u64| {
            let mut window = Autotuned::new(65_536, 1 << 20);
            let start = Time::ZERO;
            for (number, rtt) in (0..).zip(rtts) {
                let rtt = Some(Duration::from_millis(rtt));
                let now = start + Duration::from_millis(number);
                window.on_arrival(&PathSample { now, bytes: 0, rtt, read: 0, segment: SEGMENT });
            }
            let read = 40 * SEGMENT;
            let now = start + Duration::from_millis(after);
            window.on_arrival(&PathSample { now, bytes: read, rtt: None, read, segment: SEGMENT });
            window.room > 65_536
        };
        assert!(!grows([50, 40], 39) && grows([50, 40], 40));
        assert!(!grows([40, 48], 40) && grows([40, 48], 41));
    }

    /// An initial window below ten segments grows when a round trip fills the window. The new size is twice the bytes
    /// read plus 16 segments (`tcp_rcv_space_adjust`). 64 KiB hold 7 segments of 8960 bytes, or 1 segment of 40,000
    /// bytes.
    #[test]
    fn a_window_below_ten_segments_grows_once_it_is_filled() {
        for (segment, filled) in [(6554, 9), (8960, 7), (40_000, 1), (65_535, 1)] {
            let after_a_round_of = |segments: u64| {
                let mut window = Autotuned::new(65_536, 16 << 20);
                let (start, rtt) = (Time::ZERO, Duration::from_millis(20));
                let mut arrives = |now, read| {
                    window.on_arrival(&PathSample { now, bytes: segment, rtt: Some(rtt), read, segment });
                };
                arrives(start, 0);
                arrives(start + rtt, segments * segment);
                window.room
            };
            assert_eq!(after_a_round_of(filled), (2 * filled + 16) * segment, "{segment}");
            assert_eq!(after_a_round_of(filled - 1), 65_536, "{segment}");
        }
    }

    #[test]
    fn unread_data_fills_it() {
        let mut window = Autotuned::new(65_536, 1 << 20);
        assert_eq!(window.bytes(&WindowInput { unread: 60_000, segment: SEGMENT }), 5_536);
    }
}
