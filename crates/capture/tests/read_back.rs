//! Tests that reading a capture file gives the times, names, lengths and comments that were written.

use lasthop_base::Time;
use lasthop_capture::Capture;
use pcap_file::DataLink;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::{Block, PcapNgReader};
use std::io::{self, Write};

const INTERFACES: [&str; 2] = ["source", "wireless down (dropped)"];

#[test]
fn interfaces_have_names_and_nanoseconds() {
    let (interfaces, _) = read(&Capture::new(Vec::new(), &INTERFACES).unwrap().finish().unwrap());
    let names: Vec<_> = interfaces.iter().map(|interface| interface.options[0].clone()).collect();
    assert_eq!(names, INTERFACES.map(|name| InterfaceDescriptionOption::IfName(name.into())));
    for interface in interfaces {
        assert_eq!((interface.linktype, interface.snaplen), (DataLink::RAW, 0));
        assert_eq!(interface.options[1], InterfaceDescriptionOption::IfTsResol(9));
    }
}

#[test]
fn packets_keep_their_time_length_and_comment() {
    let late = Time::from_nanos((1 << 40) + 123_456_789);
    let mut capture = Capture::new(Vec::new(), &INTERFACES).unwrap();
    capture.packet(0, Time::from_nanos(1), b"first", 5, None).unwrap();
    capture.packet(1, late, b"second", 1500, Some("dropped: queue_full")).unwrap();
    let (_, packets) = read(&capture.finish().unwrap());
    let [first, second] = &packets[..] else { panic!("{packets:?}") };
    assert_eq!((first.interface_id, first.timestamp.as_nanos(), first.original_len), (0, 1, 5));
    assert_eq!((&first.data[..], first.options.len()), (&b"first"[..], 0));
    assert_eq!(second.timestamp.as_nanos(), u128::from(late.as_nanos()));
    assert_eq!((second.interface_id, second.original_len), (1, 1500));
    assert_eq!(second.options, [EnhancedPacketOption::Comment("dropped: queue_full".into())]);
}

#[test]
fn a_snap_length_cuts_packets_and_keeps_their_length() {
    let mut capture = Capture::with_snap_length(Vec::new(), &INTERFACES, 40).unwrap();
    capture.packet(0, Time::ZERO, &[7; 1000], 1500, None).unwrap();
    capture.packet(0, Time::ZERO, &[7; 30], 0, None).unwrap();
    let (interfaces, packets) = read(&capture.finish().unwrap());
    assert_eq!(interfaces[0].snaplen, 40);
    let lengths: Vec<_> = packets.iter().map(|packet| (packet.data.len(), packet.original_len)).collect();
    assert_eq!(lengths, [(40, 1500), (30, 30)]);
}

#[test]
fn a_comment_too_long_for_the_format_is_cut_between_characters() {
    let mut capture = Capture::new(Vec::new(), &INTERFACES).unwrap();
    capture.packet(0, Time::ZERO, b"x", 1, Some(&"é".repeat(40_000))).unwrap();
    let (_, packets) = read(&capture.finish().unwrap());
    assert_eq!(packets[0].options, [EnhancedPacketOption::Comment("é".repeat(32_767).into())]);
}

#[test]
fn an_interface_that_does_not_exist_is_refused() {
    let mut capture = Capture::new(Vec::new(), &INTERFACES).unwrap();
    for interface in [2, usize::MAX] {
        let error = capture.packet(interface, Time::ZERO, b"x", 1, None).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}

#[test]
fn errors_of_the_writer_are_passed_up() {
    assert_eq!(Capture::new(Full, &INTERFACES).unwrap_err().kind(), io::ErrorKind::StorageFull);
}

/// A writer that fails as if the disk were full.
struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn read(file: &[u8]) -> (Vec<InterfaceDescriptionBlock<'static>>, Vec<EnhancedPacketBlock<'static>>) {
    let (mut interfaces, mut packets) = (Vec::new(), Vec::new());
    let mut reader = PcapNgReader::new(file).unwrap();
    while let Some(block) = reader.next_block() {
        match block.unwrap().into_owned() {
            Block::InterfaceDescription(interface) => interfaces.push(interface),
            Block::EnhancedPacket(packet) => packets.push(packet),
            other => panic!("{other:?}"),
        }
    }
    (interfaces, packets)
}
