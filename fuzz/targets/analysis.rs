//! The analysis of command lines and the decision on them: no panic, no more time than a line for each byte, and nothing
//! allowed that was not understood.
#![no_main]

#[path = "../../policy/tests/it/invariants.rs"]
mod invariants;

use std::panic::PanicHookInfo;
use std::time::{Duration, Instant};

use libfuzzer_sys::fuzz_target;
use policy::CommandAnalysis;

/// Time that any text may take, instrumented and on a busy machine, and what each of its bytes may add.
const ANY_TEXT: Duration = Duration::from_millis(20);
const EACH_BYTE: Duration = Duration::from_micros(20);

fuzz_target!(init: only_our_panics_count(), |bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    invariants::hold(&text);
    let allowed = ANY_TEXT + EACH_BYTE * u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    // A machine that did something else meanwhile is not slow five times in a row.
    let fastest = (0..5).map(|_| time(&text)).find(|taken| *taken <= allowed);
    assert!(fastest.is_some(), "the analysis takes more than {allowed:?} each time");
});

fn time(text: &str) -> Duration {
    let start = Instant::now();
    let _ = CommandAnalysis::new(text);
    start.elapsed()
}

/// The analysis catches panics, so what ends the run is the hook. A panic of the other two parsers is no finding: it
/// means that they have no opinion, and then nothing is allowed.
fn only_our_panics_count() {
    let end_the_run = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
        let elsewhere = |location: &std::panic::Location<'_>| {
            ["/rable-", "/shuck-"].iter().any(|package| location.file().contains(package))
        };
        if !info.location().is_some_and(elsewhere) {
            end_the_run(info);
        }
    }));
}
