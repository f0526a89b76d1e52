//! `shell_session` through its trait: real programs on real terminals.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod contract;
mod ends;
mod host;
mod input;
mod limits;
mod masks;
mod opened;
mod programs;
mod secrets;
mod starts;
mod waits;

/// The fork server is this program again, as in a host whose `main` begins so.
#[ctor::ctor(unsafe)]
fn serve_if_asked() {
    process::run_if_requested();
}
