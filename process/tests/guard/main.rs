//! Starting and ending commands: real processes, real terminals, real guardians.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed helper is a failed test")]

mod basics;
mod fixtures;
mod limits;
mod opened;
mod rights;
mod stopping;
mod support;

/// Before `main`, since libtest has threads afterwards: this very program serves as fork server, and as the
/// programs the tests run.
#[ctor::ctor(unsafe)]
fn before_main() {
    process::run_if_requested();
    fixtures::run_if_named();
}
