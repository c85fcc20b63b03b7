//! What is right, but hardly what was meant.

use crate::scenario::{Flow, Route, Scenario, Traffic};

impl Scenario {
    /// What its author should know before it runs, a sentence each with a remedy; mostly nothing.
    pub fn notes(&self) -> Vec<String> {
        self.unmarked().into_iter().collect()
    }

    /// Flows that offer ECN where no queue ever marks.
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
        let others = match unmarked.count() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let hop = route.there.last()?;
        let direction = if hop.is_down { "down" } else { "up" };
        let (what, queue) = match &flow.traffic {
            Traffic::Tcp { source, .. } if source.accecn => ("accurate ECN", "dualpi2"),
            _ => ("ecn = true", "red"),
        };
        Some(format!(
            "flow.{}{others}: {what} changes nothing, because no queue on the way marks packets; \
             one that does: link.{}.{direction}.queue = \"{queue}\"",
            flow.name, self.links[hop.link].name
        ))
    }
}

#[cfg(test)]
mod tests {
    use crate::Draft;

    #[test]
    fn ecn_without_a_queue_that_marks_is_told() {
        let notes = |line: &str| Draft::load(line).and_then(|draft| draft.check()).expect("valid").notes();
        let told = notes("rate=10Mbit/s,rtt=20ms,ecn=true,count=3");
        assert_eq!(told.len(), 1);
        assert!(told[0].starts_with("flow.bulk.1 and 2 more: ecn = true changes nothing"), "{told:?}");
        assert!(told[0].ends_with("link.path.down.queue = \"red\""), "{told:?}");
        assert!(notes("rate=10Mbit/s,rtt=20ms,ecn=true,queue=red").is_empty());
        assert!(notes("rate=10Mbit/s,rtt=20ms,ecn=true,queue=warn").is_empty());
        assert_eq!(notes("rate=10Mbit/s,rtt=20ms,ecn=true,queue={kind=\"red\",marks=false}").len(), 1);
        assert!(notes("rate=10Mbit/s,rtt=20ms").is_empty());
    }
}
