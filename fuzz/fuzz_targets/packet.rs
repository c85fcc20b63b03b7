//! The packet reader: any bytes are either a packet that is the same after it was written and read again, or an error; and
//! an ICMP error, or the reason why not.
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
        // Padding takes room that the options had without it.
        Err(EmitError::OptionsTooLong) => return,
        Err(EmitError::PacketTooLong { .. }) if bytes.len() > 65_000 => return,
        Err(error) => panic!("read, but not written: {error}"),
    }
    let again = parse(&written, Checksums::Verify).expect("what was written is read, and its checksums are right");
    assert_eq!(again, parsed);
});
