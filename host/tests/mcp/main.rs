//! Tests of the MCP front: raw protocol lines, the built program, and the Python SDK as a real client.
#![cfg(all(unix, feature = "mcp"))]
#![expect(clippy::unwrap_used, reason = "a step that fails is a test that fails")]

mod client;
mod embedded;
mod program;
mod protocol;
mod python;
mod secrets;
