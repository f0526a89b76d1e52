//! Integration tests of the policy.
#![expect(clippy::unwrap_used, reason = "a failed test may panic anywhere")]

mod bash;
mod cases;
mod followed;
mod gate;
#[cfg(unix)]
mod identity;
mod invariants;
mod mask;
mod paths;
mod programs;
mod properties;
mod smart;
