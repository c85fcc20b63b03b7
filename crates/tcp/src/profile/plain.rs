//! What each key is by itself.

use super::Profile;

/// See the file.
pub(super) const PROFILE: Profile = Profile {
    name: "plain",
    summary: "each key's own default: SACK recovery by RFC 6675, Reno, delayed ACKs",
    source: "RFC 5681, RFC 6675, RFC 9293",
    sender: &[],
    receiver: &[],
    parameters: &[],
    beside: &[],
};
