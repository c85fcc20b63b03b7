//! Messages between client and server: one message per datagram, with numbers in network byte order.
//!
//! Bytes after a message are padding. Both sides ignore messages of an unknown session.

/// First bytes of every datagram: protocol and version.
const MAGIC: [u8; 4] = *b"LHr1";
/// Minimum size of a hello, bytes. The response to a hello is shorter, so that a client without a proven address
/// receives fewer bytes than it sends.
pub(crate) const HELLO_BYTES: usize = 64;
pub(crate) const LARGEST: usize = 2048;
/// Maximum number of bytes of a result in one datagram.
pub(crate) const PART_BYTES: usize = 1200;
/// Header bytes of a part, before its result bytes.
pub(crate) const PART_HEAD: usize = 4 + 1 + 5 * 8;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Message {
    /// Request for a cookie. The response repeats `nonce`.
    Hello {
        nonce: u64,
    },
    /// Response with the cookie that proves the address.
    Cookie {
        nonce: u64,
        cookie: u64,
    },
    /// Request for a session, from a proven address.
    Begin {
        nonce: u64,
        cookie: u64,
    },
    Welcome {
        nonce: u64,
        session: u64,
    },
    /// Response that refuses a session because the server serves another client.
    Busy {
        nonce: u64,
    },
    /// Message from the client's second proven address. The server sends the packets of the measurement to this
    /// address.
    Attach {
        session: u64,
        cookie: u64,
    },
    Attached {
        session: u64,
    },
    Ping {
        session: u64,
        number: u32,
    },
    /// Response with the present time in ns by the responding side's clock.
    Pong {
        session: u64,
        number: u32,
        clock: u64,
    },
    Start {
        session: u64,
        phase: RecordingPhase,
    },
    Started {
        session: u64,
        number: u8,
    },
    /// Packet that fills the queue.
    Data {
        session: u64,
        number: u8,
        data: DataHeader,
    },
    Report {
        session: u64,
        number: u8,
        report: Report,
    },
    /// Request for a part of a phase's result.
    Fetch {
        session: u64,
        number: u8,
        part: u32,
    },
    /// Part of a result. The message has the total number of parts, and the number of result bytes that follow.
    Part {
        session: u64,
        number: u8,
        part: u32,
        parts: u32,
        len: u32,
    },
    Bye {
        session: u64,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RecordingPhase {
    pub(crate) number: u8,
    /// Whether packets are sent to the client, and whether packets are sent to the server.
    pub(crate) directions: [bool; 2],
    /// Time for which the queue is filled before the recording starts, ms.
    pub(crate) warm_ms: u32,
    /// Duration of the recording, ms.
    pub(crate) span_ms: u32,
    /// Median minus minimum of the RTTs without load, µs.
    pub(crate) jitter_us: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DataHeader {
    pub(crate) packet: u64,
    /// Send time by the sender's clock, ns.
    pub(crate) sent: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Report {
    pub(crate) highest: u64,
    pub(crate) received: u64,
    /// Queueing time of the last packet, µs.
    pub(crate) waited_us: u32,
}

impl Message {
    /// Encodes the message and the bytes that follow it; replaces the content of `bytes`.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>, behind: &[u8]) {
        bytes.clear();
        bytes.extend_from_slice(&MAGIC);
        let mut put = |kind: u8, longs: &[u64]| {
            bytes.push(kind);
            longs.iter().for_each(|long| bytes.extend_from_slice(&long.to_be_bytes()));
        };
        match *self {
            Message::Hello { nonce } => put(0, &[nonce]),
            Message::Cookie { nonce, cookie } => put(1, &[nonce, cookie]),
            Message::Begin { nonce, cookie } => put(2, &[nonce, cookie]),
            Message::Welcome { nonce, session } => put(3, &[nonce, session]),
            Message::Busy { nonce } => put(4, &[nonce]),
            Message::Attach { session, cookie } => put(5, &[session, cookie]),
            Message::Attached { session } => put(6, &[session]),
            Message::Ping { session, number } => put(7, &[session, number.into()]),
            Message::Pong { session, number, clock } => put(8, &[session, number.into(), clock]),
            Message::Start { session, phase } => {
                let RecordingPhase { number, directions, warm_ms, span_ms, jitter_us } = phase;
                let directions = u64::from(directions[0]) + 2 * u64::from(directions[1]);
                let longs =
                    [session, number.into(), directions, warm_ms.into(), span_ms.into(), jitter_us.into()];
                put(9, &longs);
            }
            Message::Started { session, number } => put(10, &[session, number.into()]),
            Message::Data { session, number, data } => {
                put(11, &[session, number.into(), data.packet, data.sent]);
            }
            Message::Report { session, number, report } => {
                let Report { highest, received, waited_us } = report;
                put(12, &[session, number.into(), highest, received, waited_us.into()]);
            }
            Message::Fetch { session, number, part } => put(13, &[session, number.into(), part.into()]),
            Message::Part { session, number, part, parts, len } => {
                put(14, &[session, number.into(), part.into(), parts.into(), len.into()]);
            }
            Message::Bye { session } => put(15, &[session]),
        }
        bytes.extend_from_slice(behind);
        if matches!(self, Message::Hello { .. }) {
            bytes.resize(HELLO_BYTES, 0);
        }
    }

    pub(crate) fn session(&self) -> Option<u64> {
        match *self {
            Message::Hello { .. } | Message::Cookie { .. } | Message::Begin { .. } | Message::Busy { .. } => {
                None
            }
            Message::Welcome { session, .. }
            | Message::Attach { session, .. }
            | Message::Attached { session }
            | Message::Ping { session, .. }
            | Message::Pong { session, .. }
            | Message::Start { session, .. }
            | Message::Started { session, .. }
            | Message::Data { session, .. }
            | Message::Report { session, .. }
            | Message::Fetch { session, .. }
            | Message::Part { session, .. }
            | Message::Bye { session } => Some(session),
        }
    }

    /// Decodes a datagram into a message and the bytes that follow it.
    pub(crate) fn read(bytes: &[u8]) -> Option<(Message, &[u8])> {
        let rest = bytes.strip_prefix(&MAGIC)?;
        let (kind, mut rest) = rest.split_first()?;
        let mut long = || -> Option<u64> {
            let (long, behind) = rest.split_first_chunk()?;
            rest = behind;
            Some(u64::from_be_bytes(*long))
        };
        let message = match kind {
            0 if bytes.len() >= HELLO_BYTES => Message::Hello { nonce: long()? },
            1 => Message::Cookie { nonce: long()?, cookie: long()? },
            2 => Message::Begin { nonce: long()?, cookie: long()? },
            3 => Message::Welcome { nonce: long()?, session: long()? },
            4 => Message::Busy { nonce: long()? },
            5 => Message::Attach { session: long()?, cookie: long()? },
            6 => Message::Attached { session: long()? },
            7 => Message::Ping { session: long()?, number: small(long()?)? },
            8 => Message::Pong { session: long()?, number: small(long()?)?, clock: long()? },
            9 => {
                let (session, number, directions) = (long()?, tiny(long()?)?, long()?);
                let phase = RecordingPhase {
                    number,
                    directions: [directions & 1 != 0, directions & 2 != 0],
                    warm_ms: small(long()?)?,
                    span_ms: small(long()?)?,
                    jitter_us: small(long()?)?,
                };
                Message::Start { session, phase }
            }
            10 => Message::Started { session: long()?, number: tiny(long()?)? },
            11 => {
                let (session, number) = (long()?, tiny(long()?)?);
                Message::Data { session, number, data: DataHeader { packet: long()?, sent: long()? } }
            }
            12 => {
                let (session, number) = (long()?, tiny(long()?)?);
                let (highest, received) = (long()?, long()?);
                let report = Report { highest, received, waited_us: small(long()?)? };
                Message::Report { session, number, report }
            }
            13 => Message::Fetch { session: long()?, number: tiny(long()?)?, part: small(long()?)? },
            14 => {
                let (session, number) = (long()?, tiny(long()?)?);
                let (part, parts) = (small(long()?)?, small(long()?)?);
                Message::Part { session, number, part, parts, len: small(long()?)? }
            }
            15 => Message::Bye { session: long()? },
            _ => return None,
        };
        match message {
            Message::Part { len, .. } => Some((message, rest.get(..len as usize)?)),
            _ => Some((message, rest)),
        }
    }
}

fn small(long: u64) -> Option<u32> {
    u32::try_from(long).ok()
}

fn tiny(long: u64) -> Option<u8> {
    u8::try_from(long).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all([a, b]: [u64; 2], [c, d]: [u32; 2], number: u8) -> Vec<Message> {
        let directions = [c % 2 == 0, d % 2 == 0];
        let phase = RecordingPhase { number, directions, warm_ms: c, span_ms: d, jitter_us: c };
        vec![
            Message::Hello { nonce: a },
            Message::Cookie { nonce: a, cookie: b },
            Message::Begin { nonce: a, cookie: b },
            Message::Welcome { nonce: a, session: b },
            Message::Busy { nonce: a },
            Message::Attach { session: a, cookie: b },
            Message::Attached { session: a },
            Message::Ping { session: a, number: c },
            Message::Pong { session: a, number: c, clock: b },
            Message::Start { session: a, phase },
            Message::Started { session: a, number },
            Message::Data { session: a, number, data: DataHeader { packet: b, sent: a } },
            Message::Report { session: a, number, report: Report { highest: b, received: a, waited_us: c } },
            Message::Fetch { session: a, number, part: c },
            Message::Bye { session: a },
        ]
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            longs in any::<[u64; 2]>(),
            words in any::<[u32; 2]>(),
            number in any::<u8>(),
            part in proptest::collection::vec(any::<u8>(), 0..PART_BYTES),
            padding in 0_usize..100,
            cut in any::<proptest::sample::Index>(),
        ) {
            let len = part.len() as u32;
            let with_bytes = Message::Part { session: longs[0], number, part: words[0], parts: words[1], len };
            for message in all(longs, words, number).into_iter().chain([with_bytes]) {
                let mut bytes = Vec::new();
                let behind = if message == with_bytes { &part[..] } else { &[] };
                message.write(&mut bytes, behind);
                let len = bytes.len();
                prop_assert!(len <= LARGEST);
                bytes.resize(len + padding, 0xff);
                let read = Message::read(&bytes);
                prop_assert_eq!(read.map(|(message, _)| message), Some(message));
                prop_assert!(message != with_bytes || read.map(|(_, behind)| behind) == Some(&part[..]));
                let cut = cut.index(len);
                prop_assert_eq!(Message::read(&bytes[..cut]), None, "{} of {} bytes", cut, len);
            }
        }

        #[test]
        fn no_bytes_are_too_strange(kind in 0_u8..20, rest in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Message::read(&rest);
            let _ = Message::read(&[&MAGIC[..], &[kind], &rest].concat());
        }
    }

    /// A client whose address is not proven must not make the server send more bytes than the server receives.
    #[test]
    fn answers_to_strangers_are_no_longer_than_questions() {
        let len = |message: Message| {
            let mut bytes = Vec::new();
            message.write(&mut bytes, &[]);
            bytes.len()
        };
        assert!(len(Message::Cookie { nonce: 0, cookie: 0 }) <= len(Message::Hello { nonce: 0 }));
        let begin = len(Message::Begin { nonce: 0, cookie: 0 });
        assert!(len(Message::Welcome { nonce: 0, session: 0 }) <= begin);
        assert!(len(Message::Busy { nonce: 0 }) <= begin);
        let mut bytes = Vec::new();
        Message::Hello { nonce: 7 }.write(&mut bytes, &[]);
        assert_eq!(Message::read(&bytes[..HELLO_BYTES - 1]), None);
    }
}
