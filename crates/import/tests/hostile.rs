//! Arbitrary bytes, texts and damaged recordings lead to either a result or one clear message. The import never panics.

use lasthop_import::losses::LossModel;
use lasthop_import::{ImportOptions, RecordingFormat, read};
use proptest::prelude::*;
use std::io::{Write, sink};

fn asks() -> impl Strategy<Value = ImportOptions> {
    let name = prop_oneof![Just(None), "[a-z0-9_]{1,6}".prop_map(Some)];
    let formats: Vec<Option<RecordingFormat>> =
        RecordingFormat::ALL.iter().map(|(format, _)| Some(*format)).chain([None, None, None]).collect();
    let units = prop_oneof![Just(None), Just(Some("Mbit/s".to_owned())), "[A-Za-z/]{1,6}".prop_map(Some)];
    let packets = prop_oneof![Just(None), (0..1000_u64).prop_map(Some)];
    let models =
        prop_oneof![Just(None), Just(Some(LossModel::GilbertElliott)), Just(Some(LossModel::Gilbert))];
    (prop::sample::select(formats), name.clone(), name, units, packets, models, any::<bool>()).prop_map(
        |(format, time, rate, unit, packets, model, varying)| ImportOptions {
            format,
            time,
            rate,
            unit,
            packets,
            model,
            varying,
            ..ImportOptions::default()
        },
    )
}

/// Imports the bytes. A result must give a valid scenario; a failure must have a short message and a remedy.
fn survive(bytes: &[u8], options: &ImportOptions) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("input");
    std::fs::write(&path, bytes).expect("written");
    let trace = |side: &str| std::fs::File::create(folder.path().join(side)).expect("a file");
    let (mut down, mut up) = (trace("input.down"), trace("input.up"));
    match read(&path, options, &mut down, &mut up) {
        Ok(found) => {
            let text = found.scenario(options, "in\"put\n\\", ["input.down", "input.up"]);
            let named = folder.path().join("input.toml");
            let checked = lasthop_scenario::Scenario::parse(&text, &named.display().to_string());
            assert!(checked.is_ok(), "{:?}\n{text}", checked.err());
        }
        Err(refusal) => {
            assert!(!refusal.message.is_empty() && !refusal.help.is_empty(), "{refusal:?}");
            assert!(refusal.message.len() < 1000, "{refusal:?}");
        }
    }
}

fn rows() -> impl Strategy<Value = String> {
    let cell = prop_oneof![
        any::<u32>().prop_map(|number| number.to_string()),
        any::<f64>().prop_map(|number| number.to_string()),
        (0..50_u32).prop_map(|number| number.to_string()),
        Just("-".to_owned()),
        Just("D".to_owned()),
        Just("Mbits/sec".to_owned()),
        Just("2017.11.22_10.07.03".to_owned()),
        "[ -~]{0,8}",
    ];
    let names = prop::sample::select(vec![
        "",
        "time,rate_mbps\n",
        "Timestamp,DL_bitrate,State\n",
        "value,unit\n",
        "timestamp,rtt\n",
        "seq_num,Throughput\n",
        "PING x\n",
        "{\"intervals\":[",
        "time;down (kbit/s);x\n",
    ]);
    let row = prop::collection::vec(cell, 0..7);
    let delimiter = prop::sample::select(vec![",", ";", " ", "\t"]);
    (names, prop::collection::vec(row, 0..60), delimiter).prop_map(|(names, rows, delimiter)| {
        let lines: Vec<String> = rows.iter().map(|row| row.join(delimiter)).collect();
        format!("{names}{}\n", lines.join("\n"))
    })
}

/// Returns a small pcap capture of raw IP packets, with TCP in both directions.
fn capture(seed: u32) -> Vec<u8> {
    let mut bytes =
        vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 101, 0, 0, 0];
    for n in 0..80_u32 {
        let forward = n % 3 != 2;
        let payload: u16 = if forward { 1000 } else { 0 };
        let total = 40 + payload;
        let mut packet = vec![0x45, 0];
        packet.extend(total.to_be_bytes());
        packet.extend([0, 0, 0, 0, 64, 6, 0, 0]);
        let ends: [u8; 8] = if forward { [192, 0, 2, 1, 192, 0, 2, 2] } else { [192, 0, 2, 2, 192, 0, 2, 1] };
        packet.extend(ends);
        packet.extend([156, 64, 156, 64]);
        let number = seed.wrapping_add(n / 3 * 2000 + if n % 3 == 1 { 1000 } else { 0 });
        packet.extend((if forward { number } else { 7 }).to_be_bytes());
        packet.extend((if forward { 7 } else { number.wrapping_add(2000) }).to_be_bytes());
        packet.extend([0x50, 0x10, 255, 255, 0, 0, 0, 0]);
        bytes.extend((n / 100).to_le_bytes());
        bytes.extend((n % 100 * 10_000).to_le_bytes());
        bytes.extend((packet.len() as u32).to_le_bytes());
        bytes.extend(u32::from(total).to_le_bytes());
        bytes.extend(packet);
    }
    bytes
}

fn capture_ng(seed: u32) -> Vec<u8> {
    let block = |kind: u32, body: &[u8]| {
        let length = 12 + body.len() as u32;
        [&kind.to_le_bytes()[..], &length.to_le_bytes(), body, &length.to_le_bytes()].concat()
    };
    let mut bytes =
        block(0x0a0d_0d0a, &[0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]);
    bytes.extend(block(1, &[101, 0, 0, 0, 0, 0, 0, 0, 9, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0, 0]));
    let whole = capture(seed);
    let mut at = 24;
    while at < whole.len() {
        let word = |at: usize| u32::from_le_bytes(whole[at..at + 4].try_into().expect("four bytes"));
        let kept = word(at + 8) as usize;
        let micros = u64::from(word(at)) * 1_000_000 + u64::from(word(at + 4));
        let mut body = vec![0; 4];
        body.extend(((micros >> 32) as u32).to_le_bytes());
        body.extend((micros as u32).to_le_bytes());
        body.extend_from_slice(&whole[at + 8..at + 16]);
        body.extend_from_slice(&whole[at + 16..at + 16 + kept]);
        body.resize(body.len().next_multiple_of(4), 0);
        bytes.extend(block(6, &body));
        at += 16 + kept;
    }
    bytes
}

#[test]
fn whole_captures_of_both_kinds_say_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let found = [capture(5), capture_ng(5)].map(|bytes| {
        let path = folder.path().join("capture");
        std::fs::write(&path, bytes).expect("written");
        read(&path, &ImportOptions::default(), &mut sink(), &mut sink()).expect("it can be read")
    });
    assert_eq!(found[0].findings, found[1].findings);
    assert_eq!(found[0].down, found[1].down);
}

/// Returns the packets of [`capture`] in Ethernet frames with a VLAN tag and PPPoE (RFC 2516).
fn capture_pppoe(seed: u32) -> Vec<u8> {
    let whole = capture(seed);
    let mut bytes = whole[..24].to_vec();
    bytes[20] = 1;
    let mut at = 24;
    while at < whole.len() {
        let word = |at: usize| u32::from_le_bytes(whole[at..at + 4].try_into().expect("four bytes"));
        let (kept, length) = (word(at + 8), word(at + 12));
        let mut head = vec![2; 12];
        head.extend([0x81, 0, 0, 7, 0x88, 0x64, 0x11, 0, 0, 1]);
        head.extend((length as u16 + 2).to_be_bytes());
        head.extend([0, 0x21]);
        bytes.extend_from_slice(&whole[at..at + 8]);
        bytes.extend((kept + head.len() as u32).to_le_bytes());
        bytes.extend((length + head.len() as u32).to_le_bytes());
        bytes.extend(head);
        bytes.extend_from_slice(&whole[at + 16..at + 16 + kept as usize]);
        at += 16 + kept as usize;
    }
    bytes
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(bytes).expect("memory takes everything");
    packer.finish().expect("memory takes everything")
}

/// A capture gives the same result in PPPoE frames, compressed with gzip, and as a gzip file with two members.
#[test]
fn what_captures_are_wrapped_in_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("capture");
    let found = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("written");
        read(&path, &ImportOptions::default(), &mut sink(), &mut sink())
    };
    let plain = found(&capture(5)).expect("it can be read");
    let pieces = [packed(&capture(5)[..999]), packed(&capture(5)[999..])].concat();
    for wrapped in [capture_pppoe(5), packed(&capture(5)), pieces, packed(&capture_pppoe(5))] {
        let other = found(&wrapped).expect("it can be read");
        assert_eq!((other.findings, other.down), (plain.findings.clone(), plain.down.clone()));
    }
    let whole = packed(&capture(5));
    for cut in [2, 9, 15, whole.len() / 2, whole.len() - 3] {
        if let Err(refusal) = found(&whole[..cut]) {
            assert!(!refusal.message.is_empty() && !refusal.help.is_empty(), "{cut}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn bytes(bytes in prop::collection::vec(any::<u8>(), 0..2000), options in asks()) {
        survive(&bytes, &options);
    }

    #[test]
    fn tables(text in rows(), options in asks()) {
        survive(text.as_bytes(), &options);
    }

    #[test]
    fn records(bits in prop::collection::vec(prop::sample::select(vec!["0", "1", "0\n", "1,", "7 ", "12\n", "#x\n"]), 0..400), options in asks()) {
        survive(bits.concat().as_bytes(), &options);
    }

    #[test]
    fn damaged_captures(seed in any::<u32>(), ng in any::<bool>(), damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
                        cut in any::<prop::sample::Index>(), is_cut in any::<bool>(), options in asks()) {
        let mut bytes = if ng { capture_ng(seed) } else { capture(seed) };
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if is_cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        survive(&bytes, &ImportOptions { format: None, time: None, rate: None, unit: None, packets: None, ..options });
    }
}

/// The cell in the `unit` column is very long and names no unit of a rate. The error message quotes only the cell's
/// beginning.
#[test]
fn a_long_cell_is_shortened_in_the_message() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("input");
    std::fs::write(&path, format!("value,unit\n1,{}\n", "long ".repeat(1000))).expect("written");
    let options = ImportOptions { unit: Some("Mbit/s".to_owned()), ..ImportOptions::default() };
    let error = read(&path, &options, &mut sink(), &mut sink()).expect_err("no unit of a rate");
    assert!(error.message.len() < 300 && error.message.contains("long long"), "{}", error.message);
}
