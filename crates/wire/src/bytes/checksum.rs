use etherparse::checksum::Sum16BitWords;
use std::net::IpAddr;

/// Returns the internet checksum of the bytes (RFC 1071). If the bytes include their correct checksum, the result is 0.
pub(super) fn plain(bytes: &[u8]) -> u16 {
    finish(Sum16BitWords::new().add_slice(bytes))
}

/// Returns the checksum of a TCP or UDP packet with its pseudo header (RFC 9293 §3.1, RFC 8200 §8.1).
pub(super) fn transport(source: IpAddr, destination: IpAddr, protocol: u8, bytes: &[u8]) -> u16 {
    let length = (bytes.len() as u32).to_be_bytes();
    let sum = address(Sum16BitWords::new(), source);
    let sum = address(sum, destination).add_4bytes(length).add_2bytes([0, protocol]);
    finish(sum.add_slice(bytes))
}

fn address(mut sum: Sum16BitWords, address: IpAddr) -> Sum16BitWords {
    match address {
        IpAddr::V4(v4) => sum.add_4bytes(v4.octets()),
        IpAddr::V6(v6) => sum.add_16bytes(v6.octets()),
    }
}

/// Returns the one's complement of `sum`. Converts the result from the machine's byte order, in which etherparse adds
/// words.
fn finish(sum: Sum16BitWords) -> u16 {
    sum.ones_complement().to_be()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_agree_with_the_published_example() {
        // The one's complement sum of the words 0001, f203, f4f5 and f6f7 is ddf2 (RFC 1071 §3).
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(plain(&bytes), !0xddf2);
    }
}
