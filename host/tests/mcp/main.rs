//! Tests of the MCP front: raw protocol lines, the built program, and the Python SDK as a real client.
#![cfg(all(unix, feature = "mcp"))]

mod client;
mod embedded;
mod protocol;
mod secrets;
