//! Which bytes of a block mean what to colours, as one bit a byte.

/// Bytes of a block.
pub(super) const BLOCK: usize = 64;

/// One bit a byte of a block, the first byte lowest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Classes {
    pub(super) escape: u64,
    /// `[`.
    pub(super) bracket: u64,
    /// Parameter bytes, 0x30 to 0x3B.
    pub(super) params: u64,
    /// `m`.
    pub(super) last: u64,
    /// Whatever is no ASCII text.
    pub(super) no_text: u64,
}

impl Classes {
    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub(super) fn of(block: &[u8; BLOCK]) -> Self {
        let [escape, bracket, params, last, no_text] = crate::sys_vector::colour_bits(block);
        Self { escape, bracket, params, last, no_text }
    }

    #[cfg(not(target_arch = "x86_64"))]
    #[inline]
    pub(super) fn of(block: &[u8; BLOCK]) -> Self {
        Self::by_words(block)
    }

    /// By words of eight bytes, which any machine has.
    #[cfg(any(test, not(target_arch = "x86_64")))]
    fn by_words(block: &[u8; BLOCK]) -> Self {
        use super::scan::{equal, no_ascii_text, no_params};
        let bits = |high_bits: fn(u64) -> u64| {
            block.as_chunks::<8>().0.iter().rev().fold(0, |bits, word| {
                // Gathers the high bit of each byte in the highest byte.
                let gathered = (high_bits(u64::from_le_bytes(*word)) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
                bits << 8 | gathered
            })
        };
        Self {
            escape: bits(|word| equal(word, 0x1b)),
            bracket: bits(|word| equal(word, b'[')),
            params: !bits(no_params),
            last: bits(|word| equal(word, b'm')),
            no_text: bits(no_ascii_text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_at_every_place() {
        for byte in 0..=255u8 {
            for place in 0..BLOCK {
                let mut block = [b'a'; BLOCK];
                block[place] = byte;
                let bit = |holds: bool| u64::from(holds) << place;
                let text = matches!(byte, b'\t' | b'\n' | 0x20..=0x7e);
                let expected = Classes {
                    escape: bit(byte == 0x1b),
                    bracket: bit(byte == b'['),
                    params: bit(matches!(byte, 0x30..=0x3b)),
                    last: bit(byte == b'm'),
                    no_text: bit(!text),
                };
                assert_eq!(Classes::of(&block), expected, "byte {byte:#x} at {place}");
                assert_eq!(Classes::by_words(&block), expected, "byte {byte:#x} at {place}, by words");
            }
        }
    }

    #[test]
    fn neighbours_do_not_hide_a_byte() {
        for pair in 0..=u16::MAX {
            let [a, b] = pair.to_le_bytes();
            let mut block = [b'0'; BLOCK];
            block[30..32].copy_from_slice(&[a, b]);
            assert_eq!(Classes::of(&block), Classes::by_words(&block), "{a:#x} {b:#x}");
        }
    }
}
