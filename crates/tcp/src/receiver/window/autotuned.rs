//! A window that grows with what the application reads (dynamic right-sizing, Fisk and Feng 2001), as Linux has it.
//!
//! The buffer is enlarged when the application has read more in a round trip than ever before: to twice that, and as much
//! more as the last round trip's growth asks for. The window opens towards what the buffer allows by two segments for each
//! that arrives. How long a round trip is follows the timestamps' echoes: at once where they are shorter, slowly where a
//! queue makes them longer (Dumazet, "tcp: receive side improvements", netdev, May 2025).
//!
//! The first measure is ten segments, or the window at first where that is smaller (`tcp_init_buffer_space`:
//! min3(rcv_ssthresh, rcv_wnd, 10 advmss)), in whole segments (`tcp_select_initial_window`).
//!
//! # What is not modelled
//! Overhead of packets beside their payload: half of the buffer is the window (`tcp_rmem` is twice `initial` and `size`). Linux
//! finds out from the first packets how much of each is payload, and opens a window below ten segments by that. Here a round
//! trip that reads all of such a window enlarges the buffer instead.
//! Without timestamps no round trip is known but the handshake's.

use super::{AdvertisedWindow, Build, PathSample, WindowInput};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Time, Unit};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "autotuned",
        summary: "the free part of a buffer that grows with what the application reads in a round trip (Linux)",
        source: "Fisk, Feng: Dynamic right-sizing in TCP, LACSI 2001; ip-sysctl, tcp_moderate_rcvbuf",
        parameters: &[
            Parameter {
                name: "initial",
                unit: Unit::Bytes(1, 1 << 30),
                default: Some("64 KiB"),
                doc: "window at first (half of tcp_rmem's second value)",
            },
            Parameter {
                name: "size",
                unit: Unit::Bytes(1, 1 << 30),
                default: Some("16 MiB"),
                doc: "the largest window (half of tcp_rmem's third value)",
            },
        ],
        as_linux: true,
        ..Info::PLAIN
    },
    build: &|values| Box::new(Autotuned::new(values.bytes("initial"), values.bytes("size"))),
};

/// Bytes read in a round trip have to exceed this before the buffer grows, segments, unless the window at first is smaller: the
/// initial window of RFC 6928.
const AT_FIRST: u64 = 10;
/// Room beside twice what was read, segments.
const SPARE: u64 = 16;
/// What a small segment is: it opens the window no further.
const SMALL: u64 = 128;

struct Autotuned {
    size: u64,
    /// The window at first.
    initial: u64,
    /// What the buffer allows now.
    room: u64,
    /// How far the window has opened towards it.
    opened: u64,
    is_growing: bool,
    /// The most that was read in a round trip; 0 before the first.
    most_read: u64,
    rtt: Option<Duration>,
    /// When this round trip began, and what had been read by then.
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

    /// Whole segments that the window at first holds, bytes; the whole window if one segment is larger.
    fn whole_segments(&self, segment: u64) -> u64 {
        if segment > self.initial { self.initial } else { self.initial - self.initial % segment.max(1) }
    }

    fn end_round(&mut self, read: u64, segment: u64) {
        let holds = self.whole_segments(segment);
        let known = self.most_read.max(holds.min(AT_FIRST * segment));
        // A window of fewer than ten segments can be filled, but not exceeded.
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
            // A shorter one is taken as it is, a longer one only slowly.
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

    /// Round trips of 100 ms in each of which so many segments arrive and are read; the window after each.
    fn windows(rounds: &[u64], size: u64) -> Vec<u64> {
        let mut window = Autotuned::new(65_536, size);
        let (mut now, mut read) = (Time::ZERO, 0);
        let rtt = Duration::from_millis(100);
        let mut told = |bytes: u64, now, window: &mut Autotuned| {
            read += bytes;
            window.on_arrival(&PathSample { now, bytes, rtt: Some(rtt), read, segment: SEGMENT });
        };
        told(0, now, &mut window);
        let mut after = Vec::new();
        for segments in rounds {
            for number in 1..=*segments {
                told(SEGMENT, now + rtt.divided_by(*segments) * number, &mut window);
            }
            now += rtt;
            after.push(window.bytes(&WindowInput { unread: 0, segment: SEGMENT }));
        }
        after
    }

    /// A slow start is not held up: in no round trip is the window below twice what arrived in it. (Twice, because the sender
    /// doubles.)
    #[test]
    fn a_slow_start_finds_room() {
        let rounds: Vec<u64> = (0..8).map(|round| 10 << round).collect();
        for (segments, window) in rounds.iter().zip(windows(&rounds, 16 << 20)) {
            assert!(window >= 2 * segments * SEGMENT, "{segments}: {window}");
        }
    }

    /// It stays where the application reads no more than before, and never exceeds its size.
    #[test]
    fn it_grows_only_with_what_is_read() {
        let steady = windows(&[20, 20, 20, 20, 20, 20, 20, 20], 16 << 20);
        assert_eq!(steady[6], steady[7]);
        assert_eq!(windows(&[8, 8, 8, 8], 16 << 20), [65_536; 4]);
        assert!(windows(&[10, 20, 40, 80, 160, 320], 100_000).iter().all(|window| *window <= 100_000));
    }

    /// One echo that is shorter than all before ends the round trip as soon; a longer one hardly moves its end.
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

    /// Where the window at first holds fewer than ten segments, a round trip that fills it is all that can be read: the buffer
    /// grows, to twice that and 16 segments (`tcp_rcv_space_adjust`). 64 KiB hold 7 of 8960 bytes, 1 of 40,000.
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

    /// What is not read takes its room.
    #[test]
    fn unread_data_fills_it() {
        let mut window = Autotuned::new(65_536, 1 << 20);
        assert_eq!(window.bytes(&WindowInput { unread: 60_000, segment: SEGMENT }), 5_536);
    }
}
