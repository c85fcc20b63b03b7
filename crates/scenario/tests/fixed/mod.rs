//! A fixed catalogue. Messages that list mechanisms of this catalogue do not change if mechanisms are added to Lasthop.

use lasthop_base::Seam;
use lasthop_scenario::Catalogue;

/// Returns a catalogue with a few well-known mechanisms of each kind.
pub fn catalogue() -> Catalogue {
    fn only<B: ?Sized>(seam: &mut Seam<B>, names: &[&str]) {
        seam.retain(|info| names.contains(&info.name));
    }
    let mut catalogue = Catalogue::default();
    only(&mut catalogue.tcp.recovery, &["tahoe", "reno", "new_reno", "sack"]);
    only(&mut catalogue.tcp.reduction, &["at_once"]);
    only(&mut catalogue.tcp.congestion, &["reno", "cubic"]);
    only(&mut catalogue.tcp.ack_counting, &["per_ack", "rfc5681", "bytes"]);
    only(&mut catalogue.tcp.sender_discrimination, &["always", "tagged"]);
    only(&mut catalogue.tcp.ack_policy, &["immediate", "delayed"]);
    only(&mut catalogue.tcp.ack_splitting, &["once", "split"]);
    only(&mut catalogue.tcp.ecn_echo, &["latched", "per_packet"]);
    only(&mut catalogue.tcp.window, &["buffer", "dynamic"]);
    only(&mut catalogue.tcp.receiver_discrimination, &["always", "jtcp"]);
    only(&mut catalogue.tcp.window_estimate, &["rate_times_rtt", "oracle"]);
    only(&mut catalogue.link.queue, &["drop_tail", "red"]);
    only(&mut catalogue.link.channel, &["none", "iid", "bit_error", "two_state"]);
    only(&mut catalogue.link.arq, &["none", "repeat"]);
    only(&mut catalogue.node.middlebox, &["none", "snoop"]);
    catalogue
}
