//! Imports tables of known data sets and of users, and checks the messages about tables that cannot be used.

use lasthop_import::{ImportError, ImportOptions, ImportResult, Service, read};

fn import(text: &str, options: &ImportOptions) -> (Result<ImportResult, ImportError>, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("table");
    std::fs::write(&path, text).expect("written");
    let mut down = Vec::new();
    let found = read(&path, options, &mut down, &mut std::io::sink());
    (found, String::from_utf8(down).expect("text"))
}

/// Imports a table. Returns the number of delivery opportunities (1500 bytes each), and the length of the trace in ms.
fn trace(text: &str, options: &ImportOptions) -> (u64, u64) {
    match import(text, options).0.expect("it can be read").down.expect("a rate").value {
        Service::Trace { opportunities, millis } => (opportunities, millis),
        Service::Rate(rate) => panic!("{rate}"),
    }
}

fn refusal(text: &str, options: &ImportOptions) -> String {
    let ImportError { message, help } = import(text, options).0.expect_err("it cannot be read");
    format!("{message} | {help}")
}

fn columns(time: &str, rate: &str, unit: &str) -> ImportOptions {
    ImportOptions {
        time: Some(time.into()),
        rate: Some(rate.into()),
        unit: Some(unit.into()),
        ..ImportOptions::default()
    }
}

#[test]
fn known_tables_need_no_words() {
    let usual = ImportOptions::default();
    // Data set from Ghent: 150 kB in each of four seconds, which are 100 delivery opportunities of 1500 bytes per
    // second.
    let ghent: String = (0..4)
        .map(|n| format!("{} {n}000 51.03 3.73 150000 1000\n", 1_453_121_790_686_u64 + n * 1000))
        .collect();
    assert_eq!(trace(&ghent, &usual), (400, 4000));
    // Data set from Oslo: the first column is in seconds. The second row has 75 kB in half a second.
    assert_eq!(
        trace("1289406399 549 59.8 10.7 150000 1000\n1289406400 1549 59.8 10.7 75000 500\n", &usual),
        (150, 1500)
    );
    // Data set from Cork: the rates are in kbit/s and the times are dates. Rows in state I are left out.
    let irish = "Timestamp,Longitude,DL_bitrate,UL_bitrate,State\n2017.11.22_10.07.03,-8.5,12,3,I\n\
                 2017.11.22_10.07.04,-8.5,1200,3,D\n2017.11.22_10.07.05,-8.5,2400,3,D\n2017.11.22_10.07.06,-8.5,1200,3,D\n";
    assert_eq!(trace(irish, &usual), (400, 3000));
    assert_eq!(trace("1.2,Mbits/sec\n600,Kbits/sec\n1200000,bits/sec\n", &usual), (250, 3000));
    // Data set Lumos5G: the rate is in Mbit/s, with a row per second. Data set Pensieve: seconds and Mbit/s.
    assert_eq!(
        trace("run_num,seq_num,Throughput,nrStatus\n1,1,12,CONNECTED\n1,2,24,CONNECTED\n", &usual),
        (3000, 2000)
    );
    assert_eq!(trace("0.0\t1.2\n0.5\t2.4\n1.0\t1.2\n", &usual), (200, 1500));
}

#[test]
fn any_table_is_read_by_its_columns() {
    let text = "when;what;down\n0;a;150\n1000;b;300\n2000;c;150\n";
    let options = ImportOptions { time_unit: Some("ms".into()), ..columns("when", "down", "kB/s") };
    assert_eq!(trace(text, &options), (400, 3000));
    // The columns are given by number. Milliseconds are recognised from the values.
    let (found, _) = import("0 150\n1000 300\n2000 150\n", &columns("1", "2", "kB/s"));
    let found = found.expect("it can be read");
    assert!(
        found.findings.iter().any(|line| line.contains("assumed: times are milliseconds")),
        "{:?}",
        found.findings
    );
    assert_eq!(found.seconds, 3.0);
}

#[test]
fn gaps_and_holes_are_left_out_and_said() {
    let text = "time_s,rate_mbps\n0,1.2\n1,1.2\n2,-\n3,1.2\n4,1.2\n60,1.2\n61,1.2\n61,2.4\n5,1.2\n6,1.2\n7,1.2\n8,1.2\n9,1.2\n";
    let (found, _) = import(text, &ImportOptions::default());
    let found = found.expect("it can be read");
    let all = found.findings.join("\n");
    assert!(
        all.contains("1 rows without a usable rate")
            && all.contains("2 gaps with a total of 56 s, the longest of 55 s"),
        "{all}"
    );
    assert!(
        all.contains("1 rows have the same time as the row before") && all.contains("time goes back 1 times"),
        "{all}"
    );
    // Without the gaps, the trace has 11 seconds: ten with 100 delivery opportunities, and one with 150.
    assert_eq!(found.down.expect("a rate").value, Service::Trace { opportunities: 1150, millis: 11_000 });
}

#[test]
fn what_does_not_fit_is_said_once_and_clearly() {
    let usual = ImportOptions::default();
    let contradiction = ImportOptions { unit: Some("kbit/s".into()), ..ImportOptions::default() };
    assert!(refusal("time,rate_mbps\n0,1\n1,1\n", &contradiction).contains("units contradict"));
    let times = ImportOptions { time_unit: Some("s".into()), ..ImportOptions::default() };
    assert!(refusal("time_ms,rate_mbps\n0,1\n1000,1\n", &times).contains("units contradict"));
    assert!(refusal("time,speed\n0,1\n", &usual).contains("no column looks like a rate"));
    assert!(refusal("time,throughput\n0,1\n", &usual).contains("unit of `throughput` is not known"));
    assert!(refusal("time,a_mbps,b_mbps\n0,1,2\n", &usual).contains("several columns match: a_mbps, b_mbps"));
    assert!(refusal("time,rate_gbps\n0,1\n1,99999\n", &usual).contains("row 2"));
    assert!(refusal("time,rate_mbps\n0,0\n1,0\n", &usual).contains("less than one packet of 1500 bytes"));
    assert!(
        refusal("time,rate_mbps\n", &usual).contains("no row has a rate")
            || refusal("time,rate_mbps\n", &usual).contains("not a time")
    );
    assert!(refusal("time,rate_mbps\n3,1\n2,1\n1,1\n", &usual).contains("time goes back"));
    assert!(
        refusal("time,rate_mbps\n0,1\n", &columns("time", "nosuch", "Mbit/s")).contains("no column `nosuch`")
    );
    assert!(refusal("unit_id,dtime,bytes_sec\n1,2,3\n", &usual).contains("FCC"));
    assert!(refusal("5\n4\n", &usual).contains("line 2"));
    assert!(refusal("", &usual).contains("empty"));
    let long = "x".repeat(3 << 20);
    assert!(refusal(&long, &usual).contains("more than a million characters"), "{}", refusal(&long, &usual));
}

#[test]
fn iperf3_s_intervals_become_a_trace() {
    let interval = |start: u32, bytes: u64, rate: u64| {
        format!(
            r#"{{"streams":[{{"rtt":20500}}],"sum":{{"start":{start},"end":{},"seconds":1,"bytes":{bytes},"bits_per_second":{rate},"omitted":false}}}}"#,
            start + 1
        )
    };
    let report = |intervals: &str| {
        format!(
            r#"{{"start":{{"test_start":{{"protocol":"TCP"}}}},"intervals":[{intervals}],"end":{{"streams":[{{"sender":{{"min_rtt":20100}}}}],"sum_sent":{{"retransmits":3}}}}}}"#
        )
    };
    let text = report(&[interval(0, 150_000, 1_200_000), interval(1, 300_000, 2_400_000)].join(","));
    let (found, _) = import(&text, &ImportOptions::default());
    let found = found.expect("it can be read");
    assert_eq!(found.down.expect("a rate").value, Service::Trace { opportunities: 300, millis: 2000 });
    assert_eq!(found.rtt_ms.expect("a round trip").value, 20.1);
    assert!(
        found.channel.is_none()
            && found.findings.iter().any(|line| line.contains("3 segments were retransmitted"))
    );
    let wrong = report(&interval(0, 150_000, 9_000_000));
    assert!(refusal(&wrong, &ImportOptions::default()).contains("contradicts itself"));
    assert!(refusal(&text[..text.len() - 9], &ImportOptions::default()).contains("not valid JSON"));
}

#[test]
fn mahimahi_s_traces_stay_as_they_are() {
    let (found, down) = import("1\n1\n5\n20\n", &ImportOptions::default());
    assert_eq!(down, "1\n1\n5\n20\n");
    assert_eq!(
        found.expect("it can be read").down.expect("a rate").value,
        Service::Trace { opportunities: 4, millis: 20 }
    );
}
