//! Settings without effect, or with an unexpected effect, give one note, both in the table and in JSON.

mod common;

use common::{call, objects, stderr_of, stdout};

const SHORT: [&str; 4] = ["--runs", "2", "--set", "duration=5s"];

fn notes(arguments: &[&str]) -> Vec<String> {
    let output = call(&[arguments, &SHORT].concat());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr_of(&output));
    stderr_of(&output).lines().filter(|line| line.starts_with("note: ")).map(str::to_owned).collect()
}

/// `loss` has the same meaning in a one-line scenario, with `--set` and with `--vary`. If the link layer retransmits, a
/// note explains that these packets are lost after the link's retransmissions.
#[test]
fn loss_is_the_same_in_the_line_set_and_varied() {
    for path in ["lte", "wifi-edge", "starlink", "nr-mmwave"] {
        let line = format!("{path},loss=10%");
        let json = |arguments: &[&str]| stdout(&[arguments, &SHORT, &["--format", "json"]].concat());
        let in_line = json(&["run", &line]);
        assert_eq!(in_line, json(&["run", path, "--set", "loss=10%"]), "{path}");
        assert_ne!(in_line, json(&["run", path]), "{path}");
        let retransmits = path != "starlink";
        let [run, compare] =
            [notes(&["run", path, "--set", "loss=10%"]), notes(&["compare", path, "--vary", "loss=10%,20%"])];
        assert_eq!(
            (run.len(), &run),
            (usize::from(retransmits), &compare),
            "{path}: one note, whatever varies"
        );
        assert!(run.iter().all(|note| note.contains("lost after the link's own retransmissions")), "{run:?}");
    }
    let goodput = |value: &str| {
        let varied = stdout(
            &[&["compare", "lte", "--vary", &format!("loss={value}"), "--format", "json"][..], &SHORT]
                .concat(),
        );
        objects(&varied)[0]["goodput_kbps"]["mean"].as_f64().unwrap()
    };
    // CUBIC's mean window falls at least with the square root of the loss rate (response functions, RFC 9438 §5). A
    // loss rate 1000 times higher thus leaves at most about 3 % of the window; the bound of 10 % has a margin.
    assert!(goodput("10%") < 0.1 * goodput("0.01%"));
}

#[test]
fn what_changes_nothing_is_noted_once() {
    let line = "rate=2Mbit/s,rtt=40ms,loss=1%";
    let varied = notes(&["compare", line, "--vary", "ack_splitting=once,split"]);
    assert_eq!(varied.len(), 1, "{varied:?}");
    assert!(
        varied[0]
            .contains("ack_splitting = \"split\" changes nothing, because loss_discrimination = \"always\""),
        "{varied:?}"
    );
    assert!(varied[0].contains("mac, jtcp, rtt"), "{varied:?}");
    let json =
        stdout(&[&["run", line, "--set", "ack_splitting=split", "--format", "json"][..], &SHORT].concat());
    let told: Vec<_> = objects(&json).into_iter().filter_map(|mut object| object.remove("note")).collect();
    assert_eq!(told.len(), 1, "{json}");
    let all = notes(&["run", line, "--set", "loss=1"]);
    assert!(all.len() == 1 && all[0].contains("a share of 1 is 100 %"), "{all:?}");
    assert_eq!(notes(&["run", line]), Vec::<String>::new());
}
