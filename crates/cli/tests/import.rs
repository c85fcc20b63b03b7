//! `lasthop import` converts recordings to paths that run.

mod common;

use common::{call_in, names_in, stderr_of};

fn imports(folder: &std::path::Path, arguments: &[&str]) -> String {
    let output = call_in(folder, &[&["import"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr_of(&output));
    String::from_utf8(output.stdout).unwrap()
}

fn refused(folder: &std::path::Path, arguments: &[&str]) -> String {
    let before = names_in(folder);
    let output = call_in(folder, &[&["import"], arguments].concat());
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert_eq!(names_in(folder), before, "a refused import leaves files");
    stderr_of(&output)
}

#[test]
fn a_table_a_capture_and_a_record_become_paths_that_run() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let rows: String = (0..40).map(|second| format!("{second},{}\n", 4 + second % 5)).collect();
    std::fs::write(folder.join("drive.csv"), format!("time_s,rate_mbps\n{rows}")).unwrap();
    let record: String = (0..20_000).map(|n| if n % 97 < 3 { '1' } else { '0' }).collect();
    std::fs::write(folder.join("losses.txt"), record).unwrap();
    let path = "rate=8Mbit/s,rtt=30ms,queue=60packets,duration=20s";
    let run = call_in(folder, &["run", path, "--runs", "1", "--pcap", "run.pcapng", "--snap", "120"]);
    assert_eq!(run.status.code(), Some(0), "{}", stderr_of(&run));

    assert!(imports(folder, &["drive.csv"]).contains("mean 6 Mbit/s"));
    let told = imports(folder, &["run.pcapng"]);
    assert!(told.contains("captured at the sender"), "{told}");
    let told = imports(folder, &["losses.txt"]);
    assert!(told.contains("loss gemodel") && told.contains("burst 3"), "{told}");

    for name in ["drive", "run", "losses"] {
        let output =
            call_in(folder, &["run", &format!("{name}.toml"), "--runs", "1", "--set", "duration=5 s"]);
        assert_eq!(output.status.code(), Some(0), "{name}: {}", stderr_of(&output));
    }
    let scenario = std::fs::read_to_string(folder.join("drive.toml")).unwrap();
    for said in [
        "trace = \"drive.down\"",
        "Assumed: the recording does not give the queue's size.",
        "Measured: the table's rates",
    ] {
        assert!(scenario.contains(said), "{said}\n{scenario}");
    }
    let made =
        ["drive.csv", "drive.down", "drive.toml", "losses.toml", "losses.txt", "run.pcapng", "run.toml"];
    assert_eq!(names_in(folder), made);
    // Flags replace values that are missing from the recording.
    imports(
        folder,
        &[
            "losses.txt",
            "--out",
            "other.toml",
            "--link-rate",
            "3Mbit/s",
            "--rtt",
            "80ms",
            "--queue",
            "40packets",
        ],
    );
    let scenario = std::fs::read_to_string(folder.join("other.toml")).unwrap();
    for said in ["rate = \"3Mbit/s\"", "one_way_delay = \"40 ms\"", "queue = \"40packets\""] {
        assert!(scenario.contains(said), "{said}\n{scenario}");
    }
}

#[test]
fn what_cannot_be_imported_is_said_in_one_message() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let file = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    file("empty", "");
    file("none.txt", "# no packets\n");
    file("table.csv", "time,rate_mbps\n0,1\n1,2\n");
    file("there.toml", "");
    file("there.csv", "time,rate_mbps\n0,1\n1,2\n");
    assert!(refused(folder, &["nowhere.csv"]).contains("nowhere.csv"));
    assert!(refused(folder, &["."]).contains("the folder has no `down-heavy-pdo`"));
    assert!(refused(folder, &[".", "--format", "csv"]).contains("directory"));
    assert!(refused(folder, &["empty"]).contains("the file is empty"));
    assert!(refused(folder, &["none.txt", "--format", "losses"]).contains("the record has no packets"));
    assert!(refused(folder, &["table.csv", "--unit", "kbit/s"]).contains("units contradict"));
    assert!(refused(folder, &["table.csv", "--queue", "many"]).contains("many"));
    assert!(refused(folder, &["there.csv"]).contains("exists already"));
    file("trace.down", "1\n2\n");
    assert!(refused(folder, &["trace.down"]).contains("would overwrite"));
}

/// A CellReplay folder becomes a path that runs, with the recorded base delays.
#[test]
fn a_folder_of_light_and_heavy_traces_becomes_a_path() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let from = folder.join("driving");
    std::fs::create_dir(&from).unwrap();
    let put = |name: &str, text: &str| std::fs::write(from.join(name), text).unwrap();
    let told = refused(folder, &["driving"]);
    assert!(
        told.contains("driving: the folder has no `down-heavy-pdo`") && told.contains("latency-offset-up"),
        "{told}"
    );
    put("down-heavy-pdo", "1\n");
    put("up-heavy-pdo", "2\n");
    put("down-delay-light-pdo", "0 20 0 1 2 3\n5000 24 0 1 2 3\n10000 20 0 1 2 3\n");
    let told = refused(folder, &["driving"]);
    assert!(told.contains("no `up-delay-light-pdo`"), "{told}");
    put("up-delay-light-pdo", "0 30 0 2\n10000 x 0 2\n");
    let told = refused(folder, &["driving"]);
    assert!(told.contains("up-delay-light-pdo: line 2: `x` is not a whole number of milliseconds"), "{told}");
    let told = refused(folder, &["driving/down-delay-light-pdo"]);
    assert!(told.contains("name the folder with both"), "{told}");
    put("up-delay-light-pdo", "0 30 0 2\n10000 30 0 2\n");
    put("latency-offset-up", "100 0\n300 1\n");
    let told = refused(folder, &["driving"]);
    assert!(told.contains("latency-offset-up: line 2: expected the delay of 200 bytes"), "{told}");
    put("latency-offset-up", "100 0\n200 1\n");

    let told = imports(folder, &["driving"]);
    assert!(
        told.contains(
            "down, heavy trace: 1 delivery opportunities of 1400 bytes in 0.001 s: mean 11.2 Mbit/s"
        ),
        "{told}"
    );
    assert!(
        told.contains(
            "down, light trace: 3 trains of up to 4 packets in 10 s; one-way base delay from 20 to 24 ms"
        ),
        "{told}"
    );
    let made = [
        "driving",
        "driving.down",
        "driving.down.light",
        "driving.toml",
        "driving.up",
        "driving.up.light",
        "driving.up.sizes",
    ];
    assert_eq!(names_in(folder), made);
    let output = call_in(
        folder,
        &["run", "driving.toml", "--runs", "1", "--set", "duration=10 s", "--format", "json"],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr_of(&output));
    let scenario = std::fs::read_to_string(folder.join("driving.toml")).unwrap();
    for said in
        ["light = \"driving.down.light\"", "light_sizes = \"driving.up.sizes\"", "one_way_delay = \"0 ms\""]
    {
        assert!(scenario.contains(said), "{said}\n{scenario}");
    }
}
