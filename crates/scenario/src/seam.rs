//! The questions to which mechanisms are the answers, of links and of TCP in one form.

use lasthop_base::{Choice, Seam};

/// All seams: the sender's, the receiver's, the links'.
pub(crate) fn seams() -> Vec<Seam> {
    lasthop_tcp::catalogue::seams().into_iter().chain(lasthop_net::catalogue::seams()).collect()
}

/// The seams of one side.
pub(crate) fn of_side(side: &str) -> Vec<Seam> {
    seams().into_iter().filter(|seam| seam.side == side).collect()
}

/// The place in an endpoint's configuration that a seam's choice goes to.
pub(crate) fn in_endpoint<'a>(config: &'a mut lasthop_tcp::Config, seam: &str) -> Option<&'a mut Choice> {
    Some(match seam {
        "recovery" => &mut config.recovery,
        "congestion" => &mut config.congestion,
        "counting" => &mut config.counting,
        "judge" => &mut config.judge,
        "timing" => &mut config.timing,
        "shape" => &mut config.shape,
        "echo" => &mut config.echo,
        "window" => &mut config.window,
        "estimate" => &mut config.estimate,
        "cause" => &mut config.cause,
        _ => return None,
    })
}

/// The place in a link's configuration that a seam's choice goes to.
pub(crate) fn in_link<'a>(config: &'a mut lasthop_net::link::Config, seam: &str) -> Option<&'a mut Choice> {
    Some(match seam {
        "queue" => &mut config.queue,
        "channel" => &mut config.channel,
        "arq" => &mut config.arq,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::{Duration, Rate};
    use lasthop_net::{link, service::Service};

    #[test]
    fn every_seam_has_a_place() {
        let mut endpoint = lasthop_tcp::Config::default();
        let mut wire = link::Config::wire(Service::Rate(Rate::from_bps(1)), Duration::ZERO);
        for seam in seams() {
            let place = match seam.side {
                "link" => in_link(&mut wire, seam.name),
                _ => in_endpoint(&mut endpoint, seam.name),
            };
            let default = place.unwrap_or_else(|| panic!("{} has no place", seam.name));
            assert!(seam.find(default.info.name).is_some(), "{}", seam.name);
        }
    }
}
