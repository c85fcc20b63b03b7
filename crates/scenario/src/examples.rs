//! Example topologies with several flows; each is a complete scenario.

/// Title and text of each example.
pub const TOPOLOGIES: &[(&str, &str)] = &[
    (
        "Three flows with different round trips share a bottleneck",
        r#"[link]                          # one link per line; queues are 1 bdp unless they are set
near = { from = "s1", to = "left", rate = "1 Gbit/s", one_way_delay = "1 ms" }
far = { from = "s2", to = "left", rate = "1 Gbit/s", one_way_delay = "40 ms" }
shared = { from = "left", to = "client", rate = "20 Mbit/s", one_way_delay = "10 ms" }

[flow.near]
from = "s1"
to = "client"

[flow.far]                      # two of them: far.1 and far.2, the second a second later
from = "s2"
to = "client"
count = 2
stagger = "1 s"
sender.congestion = "cubic"
"#,
    ),
    (
        "A download and telephone calls over one last hop",
        r#"[link.wired]
from = "server"
to = "bs"
rate = "1 Gbit/s"
one_way_delay = "10 ms"

[link.wireless]
from = "bs"
to = "client"
one_way_delay = "5 ms"
down.rate = "10 Mbit/s"
up.rate = "2 Mbit/s"

[flow.bulk]
from = "server"
to = "client"

[flow.call]                     # datagrams: 50 a second each way
kind = "cbr"
from = "server"
to = "client"
rate = "64 kbit/s"
packet = "160 bytes"

[flow.answer]
kind = "cbr"
from = "client"
to = "server"
rate = "64 kbit/s"
packet = "160 bytes"

[flow.video]                    # bursts and pauses of random length
kind = "on_off"
from = "server"
to = "client"
rate = "8 Mbit/s"
packet = "1200 bytes"
on = "2 s"
off = "3 s"
period = "exponential"
start = "10 s"
"#,
    ),
    (
        "Two clients of one base station on separate radio links; one finite transfer",
        r#"[link.wired]
from = "server"
to = "bs"
rate = "30 Mbit/s"
one_way_delay = "20 ms"

[link.good]
from = "bs"
to = "c1"
rate = "20 Mbit/s"
one_way_delay = "2 ms"
channel = { kind = "iid", loss = "0.1 %" }

[link.poor]
from = "bs"
to = "c2"
rate = "5 Mbit/s"
one_way_delay = "2 ms"
channel = { kind = "two_state", mean_loss = "2 %", mean_burst = 4 }

[flow.one]
from = "server"
to = "c1"

[flow.two]
from = "server"
to = "c2"
transfer = "5 MB"
"#,
    ),
    (
        "A Wi-Fi cell: two stations, one of them slow, share the medium with three stations that only add load",
        r#"[link]
wired = { from = "server", to = "ap", rate = "1 Gbit/s", one_way_delay = "10 ms" }
near = { from = "ap", to = "laptop", cell = "home", rate = "54 Mbit/s", arq = { kind = "wifi", stations = 3, load = "30 %" } }
far = { from = "ap", to = "phone", cell = "home", rate = "6 Mbit/s", arq = "wifi" }

[flow]
download = { from = "server", to = "laptop" }
upload = { from = "phone", to = "server" }
"#,
    ),
    (
        "A parking lot: one flow over three links, one over each link; a route that is not the shortest",
        r#"[link]
ab = { from = "a", to = "b", rate = "10 Mbit/s", one_way_delay = "5 ms", queue = "50 packets" }
bc = { from = "b", to = "c", rate = "10 Mbit/s", one_way_delay = "5 ms", queue = "50 packets" }
cd = { from = "c", to = "d", rate = "10 Mbit/s", one_way_delay = "5 ms", queue = "50 packets" }
slow = { from = "b", to = "d", rate = "1 Mbit/s", one_way_delay = "50 ms" }

[flow]
long = { from = "a", to = "d" }
first = { from = "a", to = "b" }
second = { from = "b", to = "c" }
third = { from = "c", to = "d" }

[route]                         # node.destination = next node, both ways
b.d = "c"
d.a = "c"
"#,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Draft;

    #[test]
    fn each_is_a_scenario_with_several_flows() {
        for (title, text) in TOPOLOGIES {
            let scenario = Draft::parse(text, title).and_then(|draft| draft.check());
            let scenario = scenario.unwrap_or_else(|problem| panic!("{title}: {problem}"));
            assert!(scenario.flows.len() > 1, "{title}");
        }
        let (_, parking_lot) = TOPOLOGIES.last().expect("an example exists");
        let scenario = Draft::parse(parking_lot, "lot").and_then(|draft| draft.check()).expect("valid");
        assert_eq!((scenario.routes[0].there.len(), scenario.routes[0].back.len()), (3, 3));
    }
}
