//! Tests of the advice on paths for which theory or a paper predicts the mechanisms that help.

use lasthop_lab::advise::{Advice, Aim, CandidateResults, DeploymentSite, Question, advise, sender};
use lasthop_lab::progress::Silent;
use lasthop_lab::repeat::on_threads;
use lasthop_scenario::Draft;

fn advice(path: &str, set: &[(&str, &str)], threads: usize) -> Advice {
    let mut draft = Draft::load(path).unwrap();
    for (key, value) in set {
        draft.set(key, value).unwrap();
    }
    on_threads(Some(threads), || advise(&draft, "advice", &Question::general(Aim::All), &Silent))
        .unwrap()
        .unwrap()
}

fn first_three(advice: &Advice) -> Vec<&CandidateResults> {
    advice.rows.iter().take(3).collect()
}

fn names(rows: &[&CandidateResults]) -> Vec<String> {
    rows.iter().map(|row| row.candidate.name.clone()).collect()
}

/// The buffer holds 0.6 s of data (500 packets of 1500 bytes at 10 Mbit/s). Cures that keep the queue short help on
/// this path (RFC 7567; paper `koga5`; BBR).
#[test]
fn a_deep_buffer_wants_a_window_or_a_queue_that_follows_the_path() {
    let advice = advice("rate=10Mbit/s,rtt=20ms,queue=500packets", &[("duration", "20 s")], 2);
    let first = first_three(&advice);
    let keeps_it_short = |row: &&CandidateResults| {
        row.candidate.set.iter().any(|(key, value)| {
            key.ends_with(".queue") || (key.ends_with("receiver.window") && value == "dynamic")
        })
    };
    assert!(first.iter().any(keeps_it_short), "{:?}", names(&first));
    for row in &first {
        let score = row.score_pct.unwrap();
        assert!(score.is_above(50.0), "{}: {score:?}", row.candidate.name);
        let change = row.short_change.unwrap();
        assert!(change.percent < -80.0, "short transfers must take over 80 % less time: {change:?}");
    }
}

/// The command that tries a candidate with real TCP contains the sender's congestion control and the candidate's
/// changes of the path. If a cure or a pair of cures changes the receiver, the command uses the agent. BBRv3 and
/// middleboxes have no command, because Linux lacks these mechanisms.
#[test]
fn the_commands_for_real_tcp_are_the_candidates_experiments() {
    let advice = advice("rate=10Mbit/s,rtt=20ms,queue=500packets", &[("duration", "20 s")], 2);
    let path = "'rate=10Mbit/s,rtt=20ms,queue=500packets' --set 'flow.bulk.profile=linux'";
    let live = |row: &CandidateResults| advice.live(path, row);
    let find = |name: &str| advice.rows.iter().find(|row| row.candidate.name == name).unwrap();
    let emulated = "sudo lasthop emulate 'rate=10Mbit/s,rtt=20ms,queue=500packets'";
    let iperf = "--server 'iperf3 -s' -- iperf3 -c {server} -R -t 20";
    let bbr = live(find("BBRv1")).unwrap();
    assert_eq!(bbr, format!("{emulated} --congestion bbr {iperf}"));
    // Active queue management does not change the sender. The sender of a one-line scenario uses CUBIC by default (RFC
    // 9438).
    let queue = live(find("active queue management (CoDel)")).unwrap();
    assert_eq!(queue, format!("{emulated} --set 'link.path.down.queue=codel' --congestion cubic {iperf}"));
    let window = find("dynamic receive window");
    let measured = "sudo lasthop agent measure 'rate=10Mbit/s,rtt=20ms,queue=500packets'";
    assert_eq!(live(window).unwrap(), format!("{measured} --senders cubic --window dynamic"));
    assert_eq!(Advice::deploy(window).unwrap(), "sudo lasthop agent run --window dynamic");
    assert_eq!(live(find("BBRv3")), None);
    let both = window.candidate.set.iter().chain(&find("BBRv1").candidate.set).cloned().collect();
    let mut pair = find("BBRv1").clone();
    pair.candidate.set = both;
    pair.candidate.sites = vec![DeploymentSite::Sender, DeploymentSite::Receiver];
    pair.candidate.agent = window.candidate.agent;
    assert_eq!(live(&pair).unwrap(), format!("{measured} --senders bbr --window dynamic"));
    let steps = advice.next_steps(path);
    let helping = advice.rows.iter().filter(|row| row.score_pct.unwrap().is_above(0.0));
    let expected = helping.filter_map(live).count();
    let listed = steps.iter().filter(|(words, _)| words.starts_with("Try candidate")).count();
    assert!(expected > 1 && listed == expected, "{listed} of {expected}: {steps:?}");
}

/// The wireless link loses 1 % of the packets, and the queue is never full. Link retransmissions and senders that
/// tolerate random loss help on this path (Balakrishnan et al. 1997; paper `hasegawa`, §1).
#[test]
fn losses_on_the_air_want_repeats_or_a_sender_that_tolerates_them() {
    let advice = advice("rate=10Mbit/s,rtt=100ms,loss=1%", &[("duration", "30 s")], 2);
    let first = first_three(&advice);
    let helps = |row: &&CandidateResults| {
        let is_sender = |value: &str| ["bbr", "bbr3", "veno", "westwood_plus"].contains(&value);
        row.candidate
            .sites
            .iter()
            .any(|place| matches!(place, DeploymentSite::Link | DeploymentSite::BaseStation))
            || row.candidate.set.iter().any(|(_, value)| is_sender(value))
    };
    assert!(first.iter().all(helps), "{:?}", names(&first));
    assert!(first[0].goodput_change.unwrap().ci95.unwrap()[0] > 20.0, "{:?}", first[0]);
}

/// The LTE link has no hybrid ARQ and uses unacknowledged mode. The link loses 1 % of the blocks, and only TCP
/// retransmits the data. Three cures help on this path: acknowledged mode (TS 36.322), HARQ, and a sender that ignores
/// random loss.
#[test]
fn blocks_lost_on_the_air_want_acknowledged_mode_or_hybrid_arq() {
    let without = [
        ("duration", "20 s"),
        ("link.wireless.arq.mode", "um"),
        ("link.wireless.arq.transmissions", "1"),
        ("link.wireless.channel.loss", "1 %"),
    ];
    let advice = advice("lte-am", &without, 2);
    let find = |name: &str| advice.rows.iter().position(|row| row.candidate.name == name);
    let [am, harq] = ["RLC acknowledged mode", "2 link transmissions instead of 1"].map(find);
    assert!(am.is_some_and(|rank| rank < 6) && harq.is_some_and(|rank| rank < 6), "{am:?} {harq:?}");
    for row in [am, harq].into_iter().flatten().map(|rank| &advice.rows[rank]) {
        assert!(row.goodput_change.unwrap().ci95.unwrap()[0] > 20.0, "{row:?}");
    }
}

/// Two paths have the same loss rate, but on the second path losses occur in bursts of five packets. A burst is one
/// loss event for a sender (RFC 5681 §3.1: one reduction for each window). The goodput on the second path is therefore
/// higher. Link retransmissions are lost in the same burst and bring no gain.
#[test]
fn in_bursts_losses_cost_less_and_repeats_do_not_help() {
    let seen = |path: &str| {
        let advice = advice(path, &[("duration", "30 s")], 2);
        let repeats = advice.rows.iter().find(|row| row.candidate.sites == [DeploymentSite::Link]).unwrap();
        (advice.base.goodput_kbps.unwrap().mean, repeats.goodput_change.unwrap())
    };
    let (alone, repeated) = seen("rate=10Mbit/s,rtt=100ms,loss=1%");
    let (bursts, in_bursts) = seen("rate=10Mbit/s,rtt=100ms,loss=1%,burst=5");
    assert!(
        bursts > 1.3 * alone,
        "goodput with bursts must be higher: {bursts} kbit/s, but {alone} kbit/s with single losses"
    );
    assert!(repeated.ci95.unwrap()[0] > 20.0, "{repeated:?}");
    let [low, high] = in_bursts.ci95.unwrap();
    assert!(low < 10.0 && high < repeated.percent, "{in_bursts:?}");
}

/// Unresponsive datagrams use 8 Mbit/s of 10 Mbit/s and leave a fifth of the rate to TCP. Per-flow queueing gives TCP
/// half of the rate (Demers, Keshav, Shenker 1989; RFC 8290 §1).
#[test]
fn beside_datagrams_that_do_not_yield_a_queue_for_each_flow_helps() {
    let text = "duration = \"20 s\"\n[link.a]\nfrom = \"x\"\nto = \"y\"\nrate = \"10 Mbit/s\"\none_way_delay = \"20 ms\"\n\
                queue = \"100 packets\"\n[flow.bulk]\nfrom = \"x\"\nto = \"y\"\nprofile = \"linux\"\n\
                [flow.video]\nfrom = \"x\"\nto = \"y\"\nkind = \"cbr\"\nrate = \"8 Mbit/s\"\npacket = \"1200 bytes\"\n";
    let draft = Draft::parse(text, "beside.toml").unwrap();
    let advice =
        on_threads(Some(2), || advise(&draft, "beside.toml", &Question::general(Aim::Goodput), &Silent))
            .unwrap()
            .unwrap();
    let first = &advice.rows[0];
    let is_fair = |row: &CandidateResults| {
        row.candidate
            .set
            .iter()
            .any(|(key, value)| key == "link.a.down.queue" && ["fq_codel", "cake"].contains(&value.as_str()))
    };
    assert!(is_fair(first), "{:?}", names(&first_three(&advice)));
    assert!(first.goodput_change.unwrap().ci95.unwrap()[0] > 80.0, "{:?}", first.goodput_change);
}

/// The sender that the user selects replaces the scenario's sender.
#[test]
fn the_sender_may_be_another_than_the_scenario_s() {
    let mut draft = Draft::load("hasegawa").unwrap();
    let keys = sender::set_sender(&mut draft, "bbr").unwrap();
    let scenario = draft.check().unwrap();
    let lasthop_scenario::Traffic::Tcp { source, .. } = &scenario.flows[0].traffic else { panic!("TCP") };
    assert_eq!((source.congestion.info.name, source.recovery.info.name), ("bbr", "rack"));
    // The returned keys produce the same scenario if they are set one by one.
    let mut again = Draft::load("hasegawa").unwrap();
    keys.iter().for_each(|(key, value)| again.set(key, value).unwrap());
    assert_eq!(again.show().unwrap(), draft.show().unwrap());
}

/// A receive window of 64 KB at an RTT of 100 ms limits every congestion control to 5.2 Mbit/s of 20 Mbit/s (RFC 7323
/// §1.1).
#[test]
fn a_small_window_wants_a_larger_one() {
    let small = [
        ("flow.bulk.receiver.window", "buffer"),
        ("flow.bulk.receiver.window.size", "65535 bytes"),
        ("duration", "15 s"),
    ];
    let advice = advice("rate=20Mbit/s,rtt=100ms", &small, 2);
    let first = first_three(&advice);
    let widens = |row: &CandidateResults| {
        row.candidate.sites.contains(&DeploymentSite::Receiver)
            && row.candidate.set.iter().any(|(key, _)| key.contains("receiver.window"))
    };
    assert!(widens(first[0]), "{:?}", names(&first));
    assert!(first[0].goodput_change.unwrap().percent > 150.0, "{:?}", first[0].goodput_change);
}

#[test]
fn threads_change_nothing() {
    let path = "rate=4Mbit/s,rtt=40ms,loss=1%";
    let once = advice(path, &[("duration", "10 s")], 1);
    let twice = advice(path, &[("duration", "10 s")], 2);
    assert_eq!(once.objects("x"), twice.objects("x"));
    assert!(once.rows.len() > 8, "{}", once.rows.len());
}

#[test]
fn datagrams_alone_are_refused() {
    let text = "[link.a]\nfrom = \"x\"\nto = \"y\"\nrate = \"1 Mbit/s\"\none_way_delay = \"1 ms\"\n\
                [flow.voice]\nfrom = \"x\"\nto = \"y\"\nkind = \"cbr\"\nrate = \"64 kbit/s\"\npacket = \"160 bytes\"\n";
    let draft = Draft::parse(text, "voice.toml").unwrap();
    let problem = advise(&draft, "voice.toml", &Question::general(Aim::All), &Silent).unwrap_err();
    assert!(problem.message().contains("no TCP flow"), "{}", problem.message());
    assert!(problem.advice().is_some_and(|help| help.contains("[flow.bulk]")), "{:?}", problem.advice());
}

/// If the user selects a site, only changes at this site are tried. At the sender, all congestion controls are tried.
/// If the user selects a flow, only this flow is changed.
#[test]
fn advice_for_a_place_and_a_flow() {
    let text = "duration = \"10 s\"\n[link.a]\nfrom = \"x\"\nto = \"y\"\nrate = \"4 Mbit/s\"\none_way_delay = \"20 ms\"\n\
                down.channel = { kind = \"iid\", loss = 0.01 }\n[flow.bulk]\nfrom = \"x\"\nto = \"y\"\n\
                [flow.many]\nfrom = \"x\"\nto = \"y\"\ncount = 2\n";
    let draft = Draft::parse(text, "two.toml").unwrap();
    let question = Question {
        sites: vec![DeploymentSite::Sender],
        flows: vec!["many".into()],
        ..Question::general(Aim::Goodput)
    };
    let advice = on_threads(Some(2), || advise(&draft, "two.toml", &question, &Silent)).unwrap().unwrap();
    let tried: Vec<&Vec<(String, String)>> = advice.rows.iter().map(|row| &row.candidate.set).collect();
    assert!(advice.rows.iter().all(|row| row.candidate.sites.iter().all(|it| *it == DeploymentSite::Sender)));
    assert!(
        tried.iter().flat_map(|set| set.iter()).all(|(key, _)| key.starts_with("flow.many.")),
        "{tried:?}"
    );
    let has = |wanted: &str| tried.iter().flat_map(|set| set.iter()).any(|(_, value)| value == wanted);
    assert!(has("vegas") && has("copa") && has("bbr3") && has("linux"), "{tried:?}");
    assert!(advice.rule().contains("Only changes at these places were tried: sender."), "{}", advice.rule());
    let unknown = Question { flows: vec!["none".into()], ..question };
    let problem = advise(&draft, "two.toml", &unknown, &Silent).unwrap_err();
    assert_eq!(problem.message(), "there is no TCP flow `none`");
    assert!(problem.advice().is_some_and(|help| help.contains("bulk, many")), "{:?}", problem.advice());
}
