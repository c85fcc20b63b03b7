//! Rate limit of challenge ACKs, which answer segments that may be forged.

use lasthop_base::{Duration, Time};

/// Token bucket of one connection. Connections do not share a bucket, because a shared bucket would leak information to
/// attackers.
#[derive(Debug)]
pub(super) struct Challenges {
    most: u32,
    left: u32,
    since: Time,
}

/// Time span of the limit: RFC 5961 §7 limits the challenge ACKs in any five seconds.
const SPAN: Duration = Duration::from_secs(5);

impl Challenges {
    /// Limits challenge ACKs to `in_five_seconds` in any five seconds. A limit below 2 counts as 2.
    pub(super) fn new(in_five_seconds: u32) -> Challenges {
        // A full bucket allows `most` ACKs at once, and the refill allows `most` more ACKs in five seconds. The size of
        // the bucket is therefore half of the limit.
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
