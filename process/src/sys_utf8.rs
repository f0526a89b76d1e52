//! Where a run of text ends and whether it is UTF-8, 64 bytes at a time and in one pass, on machines with AVX-512 VBMI.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "only who has looked may call code compiled for more, or take bytes for text")
)]

/// The length of the text at the start of `bytes`, up to a control other than tab and line feed, a 0xC2 or the end, and
/// the text itself if it is UTF-8. `None` where the machine cannot do both at once.
#[inline]
pub(crate) fn checked_run(bytes: &[u8]) -> Option<(usize, Option<&str>)> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vbmi")
    {
        // SAFETY: the machine has each of the features that the function needs.
        let (len, valid) = unsafe { wide::run(bytes) };
        let text = &bytes[..len];
        // SAFETY: it was checked just now.
        return Some((len, valid.then(|| unsafe { std::str::from_utf8_unchecked(text) })));
    }
    let _ = bytes;
    None
}

/// The method of J. Keiser and D. Lemire, "Validating UTF-8 In Less Than One Instruction Per Byte" (2020): what two
/// bytes in a row may break is looked up by three of their four halves, and only what all three name is broken.
#[cfg(target_arch = "x86_64")]
mod wide {
    use std::arch::x86_64::{
        __m512i, _mm512_alignr_epi8, _mm512_alignr_epi32, _mm512_and_si512, _mm512_cmpeq_epi8_mask, _mm512_loadu_si512,
        _mm512_maskz_mov_epi8, _mm512_movepi8_mask, _mm512_or_si512, _mm512_permutex2var_epi8, _mm512_permutexvar_epi8,
        _mm512_set1_epi8, _mm512_setzero_si512, _mm512_srli_epi16, _mm512_subs_epu8, _mm512_test_epi8_mask,
        _mm512_xor_si512,
    };

    const BLOCK: usize = 64;

    /// A first byte without what must follow.
    const TOO_SHORT: u8 = 1;
    /// ASCII, and then a byte that only goes on.
    const TOO_LONG: u8 = 1 << 1;
    const OVERLONG_3: u8 = 1 << 2;
    const TOO_LARGE: u8 = 1 << 3;
    const SURROGATE: u8 = 1 << 4;
    const OVERLONG_2: u8 = 1 << 5;
    /// Above U+10FFFF by the first byte alone, where the second is 0x80 to 0x8F; so is a form of four bytes too long.
    const TOO_LARGE_1000_OR_OVERLONG_4: u8 = 1 << 6;
    /// Two bytes that go on: right only as the third or fourth byte.
    const TWO_CONTINUATIONS: u8 = 1 << 7;
    /// What the lower half of the first byte says nothing about.
    const CARRY: u8 = TOO_SHORT | TOO_LONG | TWO_CONTINUATIONS;

    /// By the upper half of the first byte.
    const FIRST_UPPER: [u8; BLOCK] = {
        let mut table = [TOO_LONG; 16];
        table[0x8] = TWO_CONTINUATIONS;
        table[0x9] = TWO_CONTINUATIONS;
        table[0xa] = TWO_CONTINUATIONS;
        table[0xb] = TWO_CONTINUATIONS;
        table[0xc] = TOO_SHORT | OVERLONG_2;
        table[0xd] = TOO_SHORT;
        table[0xe] = TOO_SHORT | OVERLONG_3 | SURROGATE;
        table[0xf] = TOO_SHORT | TOO_LARGE | TOO_LARGE_1000_OR_OVERLONG_4;
        four_times(table)
    };
    /// By the lower half of the first byte.
    const FIRST_LOWER: [u8; BLOCK] = {
        let mut table = [CARRY | TOO_LARGE | TOO_LARGE_1000_OR_OVERLONG_4; 16];
        table[0x0] = CARRY | OVERLONG_3 | OVERLONG_2 | TOO_LARGE_1000_OR_OVERLONG_4;
        table[0x1] = CARRY | OVERLONG_2;
        table[0x2] = CARRY;
        table[0x3] = CARRY;
        table[0x4] = CARRY | TOO_LARGE;
        table[0xd] |= SURROGATE;
        four_times(table)
    };
    /// By the upper half of the second byte.
    const SECOND_UPPER: [u8; BLOCK] = {
        let goes_on = TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS;
        let mut table = [TOO_SHORT; 16];
        table[0x8] = goes_on | OVERLONG_3 | TOO_LARGE_1000_OR_OVERLONG_4;
        table[0x9] = goes_on | OVERLONG_3 | TOO_LARGE;
        table[0xa] = goes_on | SURROGATE | TOO_LARGE;
        table[0xb] = goes_on | SURROGATE | TOO_LARGE;
        four_times(table)
    };

    /// A table for a look-up that takes six bits, of which only four count.
    const fn four_times(table: [u8; 16]) -> [u8; BLOCK] {
        let mut whole = [0; BLOCK];
        let mut at = 0;
        while at < BLOCK {
            whole[at] = table[at % 16];
            at += 1;
        }
        whole
    }

    /// The ASCII characters that end a run, with the high bit.
    const ENDS: [[u8; BLOCK]; 2] = {
        let mut table = [[0; BLOCK]; 2];
        let mut byte = 0;
        while byte < 0x20 {
            table[0][byte] = if byte == b'\t' as usize || byte == b'\n' as usize { 0 } else { 0x80 };
            byte += 1;
        }
        table[1][BLOCK - 1] = 0x80;
        table
    };

    /// Where the run ends, and whether it is UTF-8.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    pub(super) fn run(bytes: &[u8]) -> (usize, bool) {
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        // Zeros end a run, so there is an end in every last block.
        let mut last = [0; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        let tables = [load(&FIRST_UPPER), load(&FIRST_LOWER), load(&SECOND_UPPER)];
        let ends = [load(&ENDS[0]), load(&ENDS[1])];
        let c2 = _mm512_set1_epi8(0xc2_u8.cast_signed());
        let mut before = _mm512_setzero_si512();
        let mut high_before = 0;
        let mut broken = _mm512_setzero_si512();
        for (number, block) in blocks.iter().chain([&last]).enumerate() {
            let mut bytes = load(block);
            let high = _mm512_movepi8_mask(bytes);
            let controls = _mm512_movepi8_mask(_mm512_permutex2var_epi8(ends[0], bytes, ends[1])) & !high;
            let end = controls | _mm512_cmpeq_epi8_mask(bytes, c2);
            if end != 0 {
                // Zeros behind the end show a character that is cut there.
                bytes = _mm512_maskz_mov_epi8(end.wrapping_sub(1) & !end, bytes);
            }
            if high | high_before != 0 {
                broken = _mm512_or_si512(broken, breaks(bytes, before, tables));
            }
            if end != 0 {
                return (number * BLOCK + end.trailing_zeros() as usize, _mm512_test_epi8_mask(broken, broken) == 0);
            }
            (before, high_before) = (bytes, high);
        }
        unreachable!("the last block holds a zero");
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn load(block: &[u8; BLOCK]) -> __m512i {
        // SAFETY: a block has the 64 bytes that are read, and they need no alignment.
        unsafe { _mm512_loadu_si512(block.as_ptr().cast::<__m512i>()) }
    }

    /// What is broken in a block, at each byte that shows it.
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    #[inline]
    fn breaks(bytes: __m512i, before: __m512i, [first_upper, first_lower, second_upper]: [__m512i; 3]) -> __m512i {
        let of = |byte: u8| _mm512_set1_epi8(byte.cast_signed());
        // Each lane of 16 bytes with the one in front of it.
        let lanes = _mm512_alignr_epi32::<12>(bytes, before);
        let first = _mm512_alignr_epi8::<15>(bytes, lanes);
        // What the shift brings in from a neighbour is above the half that counts.
        let pair = _mm512_and_si512(
            _mm512_and_si512(
                _mm512_permutexvar_epi8(_mm512_srli_epi16::<4>(first), first_upper),
                _mm512_permutexvar_epi8(first, first_lower),
            ),
            _mm512_permutexvar_epi8(_mm512_srli_epi16::<4>(bytes), second_upper),
        );
        // The third and the fourth byte of a character are the right places for two that go on, and the only ones.
        let third = _mm512_subs_epu8(_mm512_alignr_epi8::<14>(bytes, lanes), of(0xe0 - 0x80));
        let fourth = _mm512_subs_epu8(_mm512_alignr_epi8::<13>(bytes, lanes), of(0xf0 - 0x80));
        let wanted = _mm512_and_si512(_mm512_or_si512(third, fourth), of(TWO_CONTINUATIONS));
        _mm512_xor_si512(wanted, pair)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::checked_run;

    /// Compares with a look at each byte; says whether the machine could do it.
    #[track_caller]
    fn check(bytes: &[u8]) -> bool {
        let Some(found) = checked_run(bytes) else { return false };
        let ends = |byte: &u8| (*byte < 0x20 && !matches!(byte, b'\t' | b'\n')) || matches!(byte, 0x7f | 0xc2);
        let len = bytes.iter().position(ends).unwrap_or(bytes.len());
        assert_eq!(found, (len, std::str::from_utf8(&bytes[..len]).ok()), "{bytes:x?}");
        true
    }

    /// Every pair, and characters of three and four bytes at their edges, at each place that a block may cut.
    #[test]
    fn agrees_at_every_cut() {
        if !check(b"") {
            eprintln!("skipped: agrees_at_every_cut needs a machine with AVX-512 VBMI");
            return;
        }
        let mut samples: Vec<Vec<u8>> = (0..=u16::MAX).map(|pair| pair.to_be_bytes().to_vec()).collect();
        let edges = [0x00, 0x7e, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff];
        for first in 0xc0..=0xff {
            for second in edges {
                for third in edges {
                    samples.extend(edges.map(|fourth| vec![first, second, third, fourth]));
                    samples.push(vec![first, second, third]);
                }
            }
        }
        for (number, sample) in samples.iter().enumerate() {
            for start in [0, 64, 123 + number % 6] {
                let mut bytes = vec![b'a'; start];
                bytes.extend(sample);
                check(&bytes);
                bytes.extend([b'b'; 70]);
                check(&bytes);
            }
        }
    }

    proptest! {
        #[test]
        fn agrees_on_damaged_text(
            text in "[a-z é終😀\n]{0,400}",
            at in any::<prop::sample::Index>(),
            byte in any::<u8>(),
            cut in 0_usize..4,
        ) {
            check(text.as_bytes());
            let mut bytes = text.into_bytes();
            bytes.push(b'.');
            let at = at.index(bytes.len());
            bytes[at] = byte;
            check(&bytes[cut.min(bytes.len())..]);
            check(&bytes[..bytes.len().saturating_sub(cut)]);
        }
    }
}
