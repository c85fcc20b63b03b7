//! Keys under which results are stored. A key is a digest of all inputs on which the result depends.

use sha2::{Digest, Sha256};

/// Returns the digest of the parts as 32 hexadecimal digits: the first half of a SHA-256. Each part is preceded by its
/// length.
pub fn key(parts: &[impl AsRef<[u8]>]) -> String {
    let mut digest = Sha256::new();
    for part in parts {
        let part = part.as_ref();
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    let digit = |four: u8| char::from(b"0123456789abcdef"[usize::from(four)]);
    digest.finalize().iter().take(16).flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(key(&["ab", "c"]), key(&["a", "bc"]));
    }

    /// The key of one empty part is the first half of the SHA-256 of eight zero bytes, which encode the length 0. The
    /// expected value was computed by a different program.
    #[test]
    fn it_is_the_beginning_of_a_sha_256() {
        assert_eq!(key(&[""]), "af5570f5a1810b7af78caf4bc70a660f");
    }
}
