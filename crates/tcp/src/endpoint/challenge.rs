//! Challenge ACKs, the answers to segments that may be forged: how many may go out.

use lasthop_base::{Duration, Time};

/// How many more challenge ACKs may go out now: a bucket of the connection's own, because one that connections share
/// can be read by whoever empties it.
#[derive(Debug)]
pub(super) struct Challenges {
    most: u32,
    left: u32,
    /// Since when the bucket has been filling.
    since: Time,
}

/// RFC 5961 §7 counts challenges in any five seconds.
const SPAN: Duration = Duration::from_secs(5);

impl Challenges {
    /// At most `in_five_seconds` challenges in any five seconds, one at least.
    pub(super) fn new(in_five_seconds: u32) -> Challenges {
        // A full bucket at the start of the five seconds, and what they add.
        let most = (in_five_seconds / 2).max(1);
        Challenges { most, left: most, since: Time::ZERO }
    }

    /// Whether one more may go out.
    pub(super) fn take(&mut self, now: Time) -> bool {
        let each = SPAN.divided_by(u64::from(self.most));
        let gained = now.since(self.since).as_nanos() / each.as_nanos();
        self.since += each * gained;
        self.left = self.most.min(self.left.saturating_add(u32::try_from(gained).unwrap_or(u32::MAX)));
        let allowed = self.left > 0;
        self.left -= u32::from(allowed);
        allowed
    }
}
