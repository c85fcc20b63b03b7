//! Script of a hostile path, as plain data. A fuzzer or a property test builds scripts from arbitrary bytes.

use arbitrary::{Arbitrary, Result, Unstructured};
use lasthop_base::Choice;
use lasthop_host::Options;
use lasthop_tcp::receiver::ack_policy;
use lasthop_tcp::{Catalogue, Config};

/// Options of two hosts, the number of bytes that each host sends, and one action of the path for each packet.
#[derive(Clone, Debug)]
pub struct HostileScript {
    pub client: Setup,
    pub server: Setup,
    /// Number of bytes that the client sends, before the modulo operation of [`HostileScript::bytes`].
    pub up: u16,
    /// Number of bytes that the server sends, before the modulo operation of [`HostileScript::bytes`].
    pub down: u16,
    /// Actions for the packets, in the order of sending. After the last action, the path is clean.
    pub actions: Vec<PathAction>,
}

pub const MAX_BYTES: u16 = 20_000;

#[derive(Arbitrary, Clone, Debug)]
pub struct Setup {
    /// Numbers from which [`Catalogue::pick`] selects the mechanisms of the endpoint.
    pub mechanisms: [u8; 16],
    pub sack: bool,
    pub timestamps: bool,
    pub ecn: bool,
    pub accecn: bool,
    pub nagle: bool,
    pub delays_acks: bool,
    pub mss: Option<u16>,
    pub send_buffer: u16,
    pub receive_buffer: u16,
}

/// Action of the path on a packet, or an attack that follows the packet.
#[derive(Clone, Debug)]
pub enum PathAction {
    Pass,
    Lose,
    Twice,
    /// The packet is delayed by this many milliseconds, so that later packets may overtake the packet.
    Late(u8),
    Cut(u16),
    Flip(u16),
    /// The path sends the packet. In addition, an off-path attacker sends a segment to the same destination.
    OffPath(OffPathSegment),
    /// The path sends the packet. In addition, an on-path attacker sends a segment to the same destination.
    Inside(Forgery),
    /// The path sends the packet. In addition, an on-path attacker sends an ICMP error about the packet to the packet's
    /// source.
    Icmp(ForgedIcmp),
}

/// A forged ICMP error about a packet. `seq` is added to the sequence number of the quoted packet.
#[derive(Arbitrary, Clone, Debug)]
pub struct ForgedIcmp {
    pub kind: u8,
    pub code: u8,
    pub mtu: u16,
    pub seq: i16,
}

/// A segment that a receiver must reject according to RFC 5961, RFC 9293 or RFC 7323. Unnamed fields, `ahead` and
/// `behind` are distances from the range that the receiver accepts. `at` selects the sequence number, `len` the payload
/// length, and `stamp` the TSval.
#[derive(Arbitrary, Clone, Debug)]
pub enum OffPathSegment {
    /// A reset below the window.
    OldReset(u32),
    /// A reset beyond the window.
    FarReset(u32),
    /// A reset in the window whose sequence number differs from RCV.NXT (RFC 5961 §3.2).
    NearReset(u16),
    /// A SYN with any sequence number (RFC 5961 §4).
    Syn { at: u32, acks: bool },
    /// Data in the window. The ACK acknowledges bytes that the receiver has never sent (RFC 5961 §5).
    UnsentAck { ahead: u32, at: u16, len: u16, stamp: u32 },
    /// Data in the window. The acknowledgement number is too old (RFC 5961 §5).
    AncientAck { behind: u32, at: u16, len: u16, stamp: u32 },
    /// Data beyond the window.
    FarData { at: u32, len: u16, stamp: u32 },
    /// Data below the window.
    OldData { at: u32, len: u16, stamp: u32 },
    /// Data in the window. The TSval is older than the first TSval of the connection (RFC 7323 §5).
    OldStamp { behind: u32, at: u16, len: u16 },
}

/// A segment that may differ from a valid segment in any field. `seq`, `ack`, `stamps` and `sack` are differences from
/// valid values.
#[derive(Arbitrary, Clone, Debug)]
pub struct Forgery {
    pub seq: i16,
    pub ack: i16,
    pub flags: u8,
    pub window: u16,
    pub stamps: Option<(i32, i32)>,
    pub sack: Vec<(i16, i16)>,
    pub len: u16,
}

impl<'a> Arbitrary<'a> for HostileScript {
    fn arbitrary(bytes: &mut Unstructured<'a>) -> Result<HostileScript> {
        let (client, server, up, down) = bytes.arbitrary()?;
        // With an on-path attacker, most invariants cannot be checked. Therefore three quarters of the scripts have
        // only off-path attackers.
        let is_blind = bytes.ratio(3, 4)?;
        let mut actions = Vec::new();
        while !bytes.is_empty() {
            actions.push(PathAction::read(bytes, is_blind)?);
        }
        Ok(HostileScript { client, server, up, down, actions })
    }
}

impl PathAction {
    fn read(bytes: &mut Unstructured<'_>, is_blind: bool) -> Result<PathAction> {
        Ok(match bytes.arbitrary::<u8>()? % 32 {
            0..=2 => PathAction::Lose,
            3..=4 => PathAction::Twice,
            5..=6 => PathAction::Late(bytes.arbitrary()?),
            7 => PathAction::Cut(bytes.arbitrary()?),
            8 => PathAction::Flip(bytes.arbitrary()?),
            9..=15 if is_blind => PathAction::OffPath(bytes.arbitrary()?),
            9..=15 => PathAction::Inside(bytes.arbitrary()?),
            16..=17 => PathAction::Icmp(bytes.arbitrary()?),
            _ => PathAction::Pass,
        })
    }
}

impl Setup {
    pub fn options(&self) -> Options {
        let Setup { sack, timestamps, ecn, accecn, nagle, .. } = *self;
        let tcp = Config {
            sack,
            timestamps,
            ecn,
            accecn,
            nagle,
            ack_policy: Choice::named(
                ack_policy::ALL,
                if self.delays_acks { "delayed" } else { "immediate" },
            ),
            window: Options::default().tcp.window,
            ..Catalogue::default().pick(Options::default().tcp, &self.mechanisms)
        };
        Options {
            tcp,
            mss: self.mss.map(|mss| mss.max(Options::SMALLEST_MSS)),
            send_buffer: usize::from(self.send_buffer.max(1)),
            receive_buffer: Some(u64::from(self.receive_buffer.max(1))),
            ..Options::default()
        }
    }
}

impl HostileScript {
    /// Returns the number of bytes that the client sends, then the number of bytes that the server sends. Small buffers
    /// limit these numbers, because a transfer of many segments of a few bytes takes too long.
    pub fn bytes(&self) -> (usize, usize) {
        let room = |from: &Setup, to: &Setup| from.send_buffer.min(to.receive_buffer).max(1);
        let most = |room: u16| MAX_BYTES.min(room.saturating_mul(100));
        (
            usize::from(self.up % most(room(&self.client, &self.server))),
            usize::from(self.down % most(room(&self.server, &self.client))),
        )
    }
}
