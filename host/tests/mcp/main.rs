//! Tests of the MCP front: raw protocol lines, the built program, and the Python SDK as a real client.
#![cfg(all(unix, feature = "mcp"))]
#![expect(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

mod approvals;
mod client;
mod embedded;
mod example;
mod modes;
#[cfg(all(feature = "cli", feature = "sleep", feature = "shell-session"))]
mod program;
mod protocol;
#[cfg(all(feature = "cli", feature = "sleep", feature = "shell-session"))]
mod python;
mod secrets;
