//! What a session survives: floods, early exits, programs that never read, escapees, full machines, killed hosts.
//!
//! Each test runs in a process of its own, so that descriptors, threads, memory and CPU time can be counted exactly.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed helper is a failed test")]

mod harness;
mod hosts;
mod input;
mod lifecycle;
mod limits;
mod measure;
mod output;
mod shapes;
mod stopping;
mod terminal;
mod waiting;

/// Before `main`, since libtest has threads afterwards: this very program serves as fork server, and as the hosts that
/// tests kill or starve.
#[ctor::ctor(unsafe)]
fn before_main() {
    process::run_if_requested();
    hosts::run_if_named();
}
