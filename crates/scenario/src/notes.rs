//! Warnings about settings that are valid but probably unintended.

use crate::scenario::{Flow, Link, Route, Scenario, Traffic};
use lasthop_base::Info;
use lasthop_net::Config;
use lasthop_tcp::receiver::{ack_splitting, loss_discrimination};

impl Scenario {
    /// Returns warnings for the author of the scenario, each a sentence with a remedy. The list is usually empty.
    pub fn notes(&self) -> Vec<String> {
        let all = [
            self.loss_after_arq(),
            self.total_loss(),
            self.unpaired(),
            self.no_link_failures(),
            self.no_damaged_segments(),
            self.unused_by_stacks(),
            self.middleboxes_without_headers(),
        ];
        all.into_iter().flatten().chain(self.unmarked()).collect()
    }

    /// Warns of TCP mechanisms in a flow whose transport is not TCP.
    fn unused_by_stacks(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for flow in self.flows.iter().filter(|flow| flow.stack.is_some()) {
            let Traffic::Tcp { source, destination, .. } = &flow.traffic else { continue };
            let mechanisms = [
                ("receiver.ack_splitting", destination.ack_splitting.info, ack_splitting::DEFAULT.info),
                (
                    "receiver.loss_discrimination",
                    destination.receiver_discrimination.info,
                    loss_discrimination::DEFAULT.info,
                ),
                (
                    "sender.loss_discrimination",
                    source.sender_discrimination.info,
                    lasthop_tcp::sender::loss_discrimination::DEFAULT.info,
                ),
            ];
            let is_set = |(_, info, default): &(&str, &Info, Info)| info.name != default.name;
            notes.extend(mechanisms.iter().filter(|it| is_set(it)).map(|(key, info, _)| {
                format!(
                    "flow.{}: {key} = \"{}\" changes nothing, because the flow is not carried by TCP (kind = \"quic\")",
                    flow.name, info.name
                )
            }));
        }
        notes
    }

    /// Warns of middleboxes on the routes of flows whose transport is not TCP. Middleboxes act on TCP headers.
    fn middleboxes_without_headers(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for (node, choice) in self.middlebox_nodes() {
            let passes = |route: &Route| {
                route.there.iter().skip(1).any(|hop| {
                    let link = &self.links[hop.link];
                    node == if hop.is_down { link.from } else { link.to }
                })
            };
            let mut others = self
                .flows
                .iter()
                .zip(&self.routes)
                .filter(|(flow, route)| flow.stack.is_some() && passes(route))
                .map(|(flow, _)| &flow.name);
            let Some(first) = others.next() else { continue };
            let more = others.count();
            let more = if more > 0 { format!(" and {more} other flows") } else { String::new() };
            notes.push(format!(
                "node.{}.middlebox = \"{}\" sees no TCP headers in flow.{first}{more}, which TCP does not carry (kind = \"quic\")",
                self.nodes[node], choice.info.name
            ));
        }
        notes
    }

    fn loss_after_arq(&self) -> Vec<String> {
        let lossy =
            |(.., config): &(&Link, &str, &Config)| config.residual_loss > 0.0 && config.retransmits();
        let note = |(link, name, config): (&Link, &str, &Config)| {
            format!(
                "link.{0}.{name}: `loss` (residual_loss) is the share of packets lost after the link's own \
                 retransmissions (arq = \"{1}\"); to set losses that the link repairs, use link.{0}.{name}.channel",
                link.name, config.arq.info.name
            )
        };
        self.directions().filter(lossy).map(note).collect()
    }

    /// Warns of link directions that lose every packet, probably because a percentage was meant.
    fn total_loss(&self) -> Vec<String> {
        let loses_all = |(.., config): &(&Link, &str, &Config)| config.loses_all();
        let note = |(link, name, _): (&Link, &str, &Config)| {
            format!(
                "link.{}.{name}: every packet is lost, because a share of 1 is 100 %; write one in a hundred as 0.01 \
                 or \"1 %\"",
                link.name
            )
        };
        self.directions().filter(loses_all).map(note).collect()
    }

    /// Warns of a middlebox that needs reports of failed transmissions, if the link layer sends no such reports.
    fn no_link_failures(&self) -> Vec<String> {
        let asks = |node: usize| lasthop_middlebox::needs_failures(&self.middleboxes[node]);
        let reports_none = |link: &&Link| asks(link.from) && !link.down.reports_failures();
        let note = |link: &Link| {
            format!(
                "node.{}: middlebox = \"{}\" receives no report of failed transmissions, because link.{}.down.arq = \
                 \"{}\" sends none; arq = \"repeat\" does",
                self.nodes[link.from],
                self.middleboxes[link.from].info.name,
                link.name,
                link.down.arq.info.name
            )
        };
        self.links.iter().filter(reports_none).map(note).collect()
    }

    /// Warns of a receiver that needs damaged segments, if the link layer discards damaged segments.
    fn no_damaged_segments(&self) -> Vec<String> {
        let note = |(flow, route): (&Flow, &Route)| {
            let Traffic::Tcp { destination, .. } = &flow.traffic else { return None };
            let cause =
                (destination.receiver_discrimination.build)(&destination.receiver_discrimination.values);
            let hop = route.there.last().filter(|_| cause.damage_report_copies() > 0)?;
            let (link, name) = (&self.links[hop.link], if hop.is_down { "down" } else { "up" });
            let config = if hop.is_down { &link.down } else { &link.up };
            config.schedules_itself().then(|| {
                format!(
                    "flow.{}: loss_discrimination = \"{}\" receives no damaged segments, because link.{}.{name}.arq = \
                     \"{}\" discards them; arq = \"repeat\" does not",
                    flow.name, destination.receiver_discrimination.info.name, link.name, config.arq.info.name
                )
            })
        };
        self.flows.iter().zip(&self.routes).filter_map(note).collect()
    }

    fn directions(&self) -> impl Iterator<Item = (&Link, &'static str, &Config)> {
        self.links.iter().flat_map(|link| [(link, "down", &link.down), (link, "up", &link.up)])
    }

    /// Warns of a receiver whose ACK splitting needs loss discrimination but which has none. Also warns of a receiver
    /// whose loss discrimination is not used by the ACK splitting. Flows with the same warning share one sentence.
    fn unpaired(&self) -> Vec<String> {
        let mut notes: Vec<(String, &Flow, usize)> = Vec::new();
        for (flow, receiver) in self.receivers() {
            let Some(why) = unpaired(receiver) else { continue };
            match notes.iter_mut().find(|(known, ..)| *known == why) {
                Some((.., more)) => *more += 1,
                None => notes.push((why, flow, 0)),
            }
        }
        notes
            .into_iter()
            .map(|(why, flow, more)| format!("flow.{}{}: {why}", flow.name, others(more)))
            .collect()
    }

    fn receivers(&self) -> impl Iterator<Item = (&Flow, &lasthop_tcp::Config)> {
        self.flows.iter().filter_map(|flow| match &flow.traffic {
            Traffic::Tcp { destination, .. } => Some((flow, &**destination)),
            Traffic::Datagrams { .. } => None,
        })
    }

    /// Warns of flows that offer ECN, if no queue on their route marks packets.
    fn unmarked(&self) -> Option<String> {
        let offers = |flow: &Flow| match &flow.traffic {
            Traffic::Tcp { source, destination, .. } => {
                (source.ecn || source.accecn) && (destination.ecn || destination.accecn)
            }
            Traffic::Datagrams { .. } => false,
        };
        let is_marked = |route: &Route| {
            route.there.iter().any(|hop| {
                let link = &self.links[hop.link];
                if hop.is_down { link.down.marks() } else { link.up.marks() }
            })
        };
        let mut unmarked =
            self.flows.iter().zip(&self.routes).filter(|(flow, route)| offers(flow) && !is_marked(route));
        let (flow, route) = unmarked.next()?;
        let others = others(unmarked.count());
        let hop = route.there.last()?;
        let direction = if hop.is_down { "down" } else { "up" };
        let (what, queue) = match &flow.traffic {
            Traffic::Tcp { source, .. } if source.accecn => ("accurate ECN", "dualpi2"),
            _ => ("ecn = true", "red"),
        };
        Some(format!(
            "flow.{}{others}: {what} changes nothing, because no queue on the way marks packets; to mark packets, set \
             link.{}.{direction}.queue = \"{queue}\"",
            flow.name, self.links[hop.link].name
        ))
    }
}

/// Returns a sentence about the mechanism that has no effect: ACK splitting without loss discrimination, or loss
/// discrimination without ACK splitting. Returns `None` if both mechanisms have an effect.
fn unpaired(receiver: &lasthop_tcp::Config) -> Option<String> {
    let ack_splitting = (receiver.ack_splitting.build)(&receiver.ack_splitting.values);
    let cause = (receiver.receiver_discrimination.build)(&receiver.receiver_discrimination.values);
    let (shape_name, cause_name) =
        (receiver.ack_splitting.info.name, receiver.receiver_discrimination.info.name);
    match (ack_splitting.needs().causes, cause.discriminates()) {
        (true, false) => {
            let judging = loss_discrimination::ALL
                .iter()
                .filter(|one| (one.build)(&one.info.defaults()).discriminates());
            Some(format!(
                "ack_splitting = \"{shape_name}\" changes nothing, because loss_discrimination = \
                 \"{cause_name}\" classifies no loss as wireless; mechanisms that do: {}",
                names(judging.map(|one| &one.info))
            ))
        }
        (false, true) if cause.damage_report_copies() == 0 => {
            let asking =
                ack_splitting::ALL.iter().filter(|one| (one.build)(&one.info.defaults()).needs().causes);
            Some(format!(
                "loss_discrimination = \"{cause_name}\" classifies losses and changes nothing else, because \
                 ack_splitting = \"{shape_name}\" does not use the result; mechanisms that use it: {}",
                names(asking.map(|one| &one.info))
            ))
        }
        _ => None,
    }
}

fn names<'i>(mechanisms: impl Iterator<Item = &'i Info>) -> String {
    mechanisms.map(|info| info.name).collect::<Vec<&str>>().join(", ")
}

/// Returns the text ` and 3 more`; empty for 0.
fn others(count: usize) -> String {
    if count == 0 { String::new() } else { format!(" and {count} more") }
}

/// Returns the warnings of several scenarios, without repetitions.
pub fn of_all<'s>(scenarios: impl IntoIterator<Item = &'s Scenario>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for note in scenarios.into_iter().flat_map(Scenario::notes) {
        if !all.contains(&note) {
            all.push(note);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use crate::Draft;

    #[test]
    fn ecn_without_a_queue_that_marks_is_told() {
        let notes = |line: &str| Draft::load(line).and_then(|draft| draft.check()).expect("valid").notes();
        let found = notes("rate=10Mbit/s,rtt=20ms,ecn=true,count=3");
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("flow.bulk.1 and 2 more: ecn = true changes nothing"), "{found:?}");
        assert!(found[0].ends_with("link.path.down.queue = \"red\""), "{found:?}");
        assert!(notes("rate=10Mbit/s,rtt=20ms,ecn=true,queue=red").is_empty());
        assert!(notes("rate=10Mbit/s,rtt=20ms,ecn=true,queue=warn").is_empty());
        assert_eq!(notes("rate=10Mbit/s,rtt=20ms,ecn=true,queue={kind=\"red\",marks=false}").len(), 1);
        assert!(notes("rate=10Mbit/s,rtt=20ms").is_empty());
    }

    #[test]
    fn what_changes_nothing_is_told() {
        let notes = |line: &str| Draft::load(line).and_then(|draft| draft.check()).expect("valid").notes();
        let one = |line: &str| {
            let [note] = &notes(line)[..] else { panic!("{line}: {:?}", notes(line)) };
            note.clone()
        };
        let split = one("rate=10Mbit/s,ack_splitting=split,count=3");
        assert!(
            split.starts_with("flow.bulk.1 and 2 more: ack_splitting = \"split\" changes nothing"),
            "{split}"
        );
        assert!(
            one("rate=10Mbit/s,receiver.loss_discrimination=rtt")
                .contains("loss_discrimination = \"rtt\" classifies losses and changes nothing")
        );
        for sound in [
            "ack_splitting=split,receiver.loss_discrimination=mac",
            "ack_splitting={kind=\"split\",when=\"always\"}",
            "receiver.loss_discrimination=hack",
            "ack_splitting=copies",
            "loss=99%",
        ] {
            assert_eq!(notes(&format!("rate=10Mbit/s,{sound}")), Vec::<String>::new(), "{sound}");
        }
        assert!(one("rate=10Mbit/s,loss=1").starts_with("link.path.down: every packet is lost"));
        assert!(one("rate=10Mbit/s,up_loss=100%").starts_with("link.path.up: every packet is lost"));
        assert!(notes("lte,loss=1").iter().any(|note| note.contains("every packet is lost")));
    }

    #[test]
    fn each_note_is_told_once() {
        let scenario = |line: &str| Draft::load(line).and_then(|draft| draft.check()).expect("valid");
        let all = [
            "rate=10Mbit/s,ack_splitting=split",
            "rate=10Mbit/s,ack_splitting=split,segment=1000bytes",
            "lte,loss=1%",
            "lte,loss=2%",
        ];
        assert_eq!(super::of_all(&all.map(scenario)).len(), 2);
    }
}
