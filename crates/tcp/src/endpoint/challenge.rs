//! Rate limit of challenge ACKs, which answer segments that may be forged.

use lasthop_base::{Duration, Time};

/// Token bucket of one connection. A bucket that connections share would leak information to attackers.
#[derive(Debug)]
pub(super) struct Challenges {
    most: u32,
    left: u32,
    since: Time,
}

/// Time span of the limit: RFC 5961 §7 limits the challenge ACKs in any five seconds.
const SPAN: Duration = Duration::from_secs(5);

impl Challenges {
    /// Allows at most `in_five_seconds` challenge ACKs, but at least 2, in any five seconds.
    pub(super) fn new(in_five_seconds: u32) -> Challenges {
        // The bucket starts full and is refilled once in five seconds. Its size is therefore half of the limit.
        let most = (in_five_seconds / 2).max(1);
        Challenges { most, left: most, since: Time::ZERO }
    }

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
