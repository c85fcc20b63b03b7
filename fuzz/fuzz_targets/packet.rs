//! Fuzzes the packet parser. For any bytes, `parse` returns an error or a packet that remains the same after `emit` and
//! `parse`. ICMP errors are parsed, too.
#![no_main]

use lasthop_wire::bytes::{Checksums, Content, EmitError, Payload, emit, parse, parse_icmp_error};
use lasthop_wire::Body;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(error) = parse_icmp_error(bytes, Checksums::Ignore) {
        assert!(!error.to_string().is_empty());
        assert!(parse_icmp_error(bytes, Checksums::Verify).is_err());
    }
    let parsed = match parse(bytes, Checksums::Ignore) {
        Ok(parsed) => parsed,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return assert!(parse(bytes, Checksums::Verify).is_err());
        }
    };
    let body = match parsed.content {
        Content::Tcp(segment) => Body::Tcp(segment),
        Content::Datagram => Body::Datagram { number: 0 },
    };
    let mut written = Vec::new();
    match emit(&parsed.header, &body, Payload::Bytes(parsed.payload), &mut written) {
        Ok(()) => {}
        // `emit` adds NOPs that align options to 32-bit words. Options that fill 40 bytes without NOPs no longer fit.
        Err(EmitError::OptionsTooLong) => return,
        Err(EmitError::PacketTooLong { .. }) if bytes.len() > 65_000 => return,
        Err(error) => panic!("parsed, but not emitted: {error}"),
    }
    let reparsed = parse(&written, Checksums::Verify).expect("an emitted packet parses with valid checksums");
    assert_eq!(reparsed, parsed);
});
