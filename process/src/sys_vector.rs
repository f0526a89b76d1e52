//! Running a piece of code compiled for the widest vectors that the machine has.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "only who has looked may call code compiled for more than the baseline")
)]

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
