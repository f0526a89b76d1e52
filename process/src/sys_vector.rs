//! Many bytes at a time: code compiled for the widest vectors of the machine, one bit a byte of a block, short ASCII.
#![expect(unsafe_code, reason = "only who has looked may call code compiled for more, or take bytes for text")]

/// Runs `work`, which is compiled once more for each width: a loop that the compiler turns into vectors gets wider ones.
///
/// Only what is inlined into `work` profits, so it should be a loop over `#[inline(always)]` functions.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn widest<R>(work: impl FnOnce() -> R) -> R {
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi1,bmi2")]
    fn with_512_bits<R>(work: impl FnOnce() -> R) -> R {
        work()
    }
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    fn with_256_bits<R>(work: impl FnOnce() -> R) -> R {
        work()
    }
    // Baseline vectors are 128 bits. The detection is done once, and is a load and a test after that.
    let bits = is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2");
    if bits
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
    {
        // SAFETY: the machine has each of the features that the function needs.
        unsafe { with_512_bits(work) }
    } else if bits && is_x86_feature_detected!("avx2") {
        // SAFETY: the machine has each of the features that the function needs.
        unsafe { with_256_bits(work) }
    } else {
        work()
    }
}

/// Runs `work`: the vectors of the baseline are the widest.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) fn widest<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// One bit for each byte of a block, of each class in turn: ESC, `[`, the parameters of a sequence (0x30 to 0x3B), `m`,
/// and whatever is no ASCII text.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn colour_bits(block: &[u8; 64]) -> [u64; 5] {
    #[target_feature(enable = "sse2")]
    #[inline]
    fn with_sse2(block: &[u8; 64]) -> [u64; 5] {
        use std::arch::x86_64::{
            __m128i, _mm_andnot_si128, _mm_cmpeq_epi8, _mm_cmplt_epi8, _mm_loadu_si128, _mm_min_epu8,
            _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8, _mm_sub_epi8,
        };
        let of = |byte: u8| _mm_set1_epi8(byte.cast_signed());
        let mut bits = [0; 5];
        for (n, part) in block.as_chunks::<16>().0.iter().enumerate() {
            // SAFETY: `part` has the 16 bytes that are read, and they need no alignment.
            let bytes = unsafe { _mm_loadu_si128(part.as_ptr().cast::<__m128i>()) };
            let is = |byte| _mm_cmpeq_epi8(bytes, of(byte));
            let digits = _mm_sub_epi8(bytes, of(0x30));
            let line_or_tab = _mm_or_si128(is(b'\t'), is(b'\n'));
            // As signed numbers, the bytes from 0x80 on are below, too.
            let low = _mm_cmplt_epi8(bytes, of(0x20));
            let classes = [
                is(0x1b),
                is(b'['),
                _mm_cmpeq_epi8(_mm_min_epu8(digits, of(0x0b)), digits),
                is(b'm'),
                _mm_or_si128(_mm_andnot_si128(line_or_tab, low), is(0x7f)),
            ];
            for (bits, class) in bits.iter_mut().zip(classes) {
                *bits |= u64::from(_mm_movemask_epi8(class).cast_unsigned()) << (16 * n);
            }
        }
        bits
    }
    // SAFETY: each x86_64 has SSE2.
    unsafe { with_sse2(block) }
}

/// The first `len` bytes as text, if they are ASCII: the general check costs a call.
#[inline]
pub(crate) fn ascii(bytes: &[u8; 8], len: usize) -> Option<&str> {
    let first = bytes.get(..len)?;
    let others = u64::from_le_bytes(*bytes) & 0x8080_8080_8080_8080;
    if others.trailing_zeros() as usize / 8 < len {
        return None;
    }
    // SAFETY: the first byte that is no ASCII, if there is one, is not among the first `len`; ASCII is UTF-8.
    Some(unsafe { str::from_utf8_unchecked(first) })
}
