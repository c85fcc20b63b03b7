//! Tests that the examples run, and that scenarios name their mechanisms in the same way as Lasthop's mechanisms.

#[path = "../examples/own_ack_policy.rs"]
mod own_ack_policy;
#[path = "../examples/own_congestion.rs"]
mod own_congestion;
#[path = "../examples/own_middlebox.rs"]
mod own_middlebox;
#[path = "../examples/own_queue.rs"]
mod own_queue;
#[path = "../examples/own_stack.rs"]
mod own_stack;

use lasthop_base::{Choice, Info};
use lasthop_scenario::Catalogue;
use lasthop_tcp::Config;
use lasthop_tcp::receiver::ack_policy::{self, AckPolicy, AckTime};
use std::sync::Arc;

fn catalogue() -> Catalogue {
    let mut catalogue = Catalogue::default();
    catalogue.tcp.congestion.add(&own_congestion::GAIMD);
    catalogue.link.queue.add(&own_queue::DROP_FRONT);
    catalogue.tcp.ack_policy.add(&own_ack_policy::QUICK);
    catalogue
}

const PATH: &str = "rate=10Mbit/s,rtt=20ms,congestion=gaimd,queue=drop_front,ack_policy=quick";

#[test]
fn the_programs_run() {
    own_congestion::main().expect("valid");
    own_middlebox::main().expect("valid");
    own_queue::main().expect("valid");
    own_ack_policy::main().expect("valid");
    own_stack::main().expect("valid");
}

/// 1 MB is 684 datagrams of 1463 bytes. Without losses, each window of 20 datagrams takes one round trip of 41.2 ms:
/// 40 ms of propagation, 1.2 ms of transmission for a datagram, and 0.03 ms for an ACK. Losses add up to 0.5 s for each
/// lost datagram.
#[test]
fn a_stack_has_its_window() {
    let own = [("flow.bulk.kind", "quic"), ("stack", "fixed_window")];
    let [lossless, lossy] = ["0", "0.01"].map(|loss| {
        let settings = [&own[..], &[("path.down.channel.loss", loss)]].concat();
        own_stack::completed_s(&settings).expect("valid").expect("complete")
    });
    let least = 684.0 / 20.0 * 0.0412;
    assert!((least..1.1 * least).contains(&lossless), "{lossless} s, at least {least} s");
    assert!(lossy > lossless, "{lossy} s");
}

/// Each ACK adds α / W to the window W, and each packet is lost with probability p. The mean square of W is therefore
/// 2 α / (p (1 - β²)), which is 8 / (3 p) for both general AIMD and Reno. The square root of this value is an upper
/// bound of the mean of W. The less W varies, the closer is the mean to the bound. The margin of 15 % covers this
/// difference, slow start and the spread of five runs.
#[test]
fn general_aimd_is_as_fast_as_its_rule_says() {
    let segments = (8.0_f64 / (3.0 * 0.002)).sqrt();
    let bound_kbps = segments * 1448.0 * 8.0 / 40.0;
    let [gaimd, reno] =
        ["gaimd", "reno"].map(|name| own_congestion::goodput_kbps(name).expect("valid") / bound_kbps);
    assert!((0.85..1.0).contains(&gaimd) && reno < gaimd, "{gaimd} and {reno} of the bound");
}

/// Each arrival at a full queue causes one drop, at the front or at the tail. The goodput is therefore about the same.
#[test]
fn a_queue_loses_from_its_front() {
    let (lost, delivered) = own_queue::over(r#"{ kind = "drop_front", packets = 20 }"#).expect("valid");
    let (_, by_tail) = own_queue::over("20 packets").expect("valid");
    assert!(lost > 0);
    assert!(delivered as f64 > 0.9 * by_tail as f64, "{delivered} of {by_tail}");
}

/// The path loses only the ACKs that the middlebox drops. The tolerance of two covers a FIN and a packet in flight.
#[test]
fn a_middlebox_takes_every_second_ack() {
    let (_, acks, ended) = own_middlebox::over("thinned").expect("valid");
    assert!(acks > 100 && ended.abs_diff(acks / 2) <= 2, "{ended} of {acks}");
    assert_eq!(own_middlebox::over("none").expect("valid").2, 0);
}

/// The transfer has 100 segments. `immediate` acknowledges every segment. `quick` acknowledges each of the first 16
/// segments, and then every second segment.
#[test]
fn a_receiver_acknowledges_quickly_at_first() {
    let [all, quick] =
        ["immediate", "quick"].map(|ack_policy| own_ack_policy::acks(ack_policy).expect("valid"));
    assert_eq!(all - quick, (100 - 16) / 2);
}

#[test]
fn they_are_written_and_listed_like_ours() {
    let catalogue = catalogue();
    let mut draft = catalogue.load(PATH).expect("valid");
    draft.set("flow.bulk.sender.congestion.keeps", "0.6").expect("its parameter");
    draft.set("sender", "gaimd").expect("a sender's mechanism");
    draft.set("link.path.down.queue.packets", "30").expect("its parameter");
    let shown = draft.show().expect("valid");
    for line in
        ["kind = \"gaimd\"", "kind = \"drop_front\"", "packets = 30", "kind = \"quick\"", "first = 16"]
    {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    let reparsed = catalogue.parse(&shown, "shown.toml").expect("TOML").show().expect("valid");
    assert_eq!(reparsed, shown);
    assert!(catalogue.schema().to_string().contains(r#""const":"gaimd""#));
    assert_eq!(catalogue.list_of("drop_front").expect("it is there")[0].kind, "queue");
    assert_eq!(catalogue.explain("gaimd")[0].keys[0].path, "flow.NAME.sender.congestion.keeps");
}

#[test]
fn what_is_wrong_with_them_is_said_as_of_ours() {
    let catalogue = catalogue();
    let refused = |line: &str| {
        let problem = catalogue.load(line).and_then(|draft| draft.check()).expect_err(line);
        let help = miette::Diagnostic::help(&problem).map(|help| help.to_string());
        format!("{problem}; {}", help.unwrap_or_default())
    };
    let misspelt = refused("rate=10Mbit/s,rtt=20ms,congestion=gamid");
    assert!(misspelt.contains("no congestion is called `gamid`; did you mean `gaimd`?"), "{misspelt}");
    let range = refused("rate=10Mbit/s,rtt=20ms,congestion={kind=\"gaimd\",keeps=2}");
    assert!(range.contains("a number from 0.5 to 0.99"), "{range}");
    // Without the catalogue the name is unknown.
    assert!(
        Catalogue::default()
            .load("rate=10Mbit/s,rtt=20ms,congestion=gaimd")
            .is_ok_and(|d| d.check().is_err())
    );
}

/// The mechanism's description and constructor are created at run time, as for mechanisms in Python.
#[test]
fn a_mechanism_may_be_made_at_run_time() {
    struct Every(u64);
    impl AckPolicy for Every {
        fn on_data(&mut self, arrival: &ack_policy::DataArrival) -> AckTime {
            if arrival.urgent || arrival.unacknowledged >= self.0 * arrival.segment {
                AckTime::Now
            } else {
                AckTime::After(lasthop_base::Duration::from_millis(100))
            }
        }
    }
    let name: &'static str = Box::leak(format!("every_{}", 3).into_boxed_str());
    let info: &'static Info = Box::leak(Box::new(Info { name, ..Info::PLAIN }));
    let every = 3;
    let build: Arc<ack_policy::Build> = Arc::new(move |_| Box::new(Every(every)));
    // A configuration can contain the mechanism without a catalogue.
    let config =
        Config { ack_policy: Choice::with_constructor(info, Arc::clone(&build)), ..Config::default() };
    assert!(format!("{config:?}").contains("every_3"));
    // A scenario can name the mechanism if a catalogue contains it.
    let mut catalogue = Catalogue::default();
    catalogue.tcp.ack_policy.add_with_constructor(info, build);
    let line = "rate=10Mbit/s,rtt=40ms,transfer=90000bytes,segment=1000bytes,ack_policy=every_3";
    let scenario = catalogue.load(line).and_then(|draft| draft.check()).expect("valid");
    let sent = lasthop_sim::run(&scenario, 1).flows[0].destination.acks_sent;
    // The receiver sends 30 ACKs for 90 segments, and a few more for the SYN-ACK and the close.
    assert!((30..36).contains(&sent), "{sent}");
}
