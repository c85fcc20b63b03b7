//! Profile without values of its own: each key keeps its default.

use super::Profile;

pub(super) const PROFILE: Profile = Profile {
    name: "plain",
    summary: "each key's own default: SACK recovery (RFC 6675), Reno, delayed ACKs",
    source: "RFC 5681, RFC 6675, RFC 9293",
    sender: &[],
    receiver: &[],
    parameters: &[],
    beside: &[],
};
