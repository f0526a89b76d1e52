//! Tests of the host: the bus, its contract, the program, and the examples.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[cfg(all(unix, feature = "cli", feature = "shell-session"))]
mod audit;
mod bus;
#[cfg(feature = "cli")]
mod check;
#[cfg(feature = "cli")]
mod configuration;
mod contract;
#[path = "../../examples/decide.rs"]
mod decide;
#[cfg(feature = "cli")]
mod docs;
#[path = "../../examples/embed.rs"]
mod embed;
mod examples;
#[cfg(all(target_os = "linux", feature = "cli", feature = "shell-session"))]
mod identity;
mod mask;
#[cfg(feature = "cli")]
mod program;
