//! Profile without any keys: each key of a flow keeps its own default.

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
