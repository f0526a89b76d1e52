//! The tool `shell_session`: interactive processes on a terminal.
//!
//! For programs that need input or a terminal while they run: REPLs, debuggers, scaffolders, ssh, full-screen
//! programs. One tool with one `action`. Starting is asked for with the whole command; every other action only reaches
//! sessions that the same chat started.
//!
//! Never:
//! - a process, a file or a byte before [`Permission`](tool_api::Permission) granted the start;
//! - an argument that is changed to fit: what is out of range is refused by name;
//! - a secret in a result: the person types it to the terminal, past the model;
//! - a wait that holds back another call on the same session.
//!
//! On systems without Unix terminals only [`Config`] is here, and the tool is not offered.

mod config;
#[cfg(unix)]
mod error;
#[cfg(unix)]
mod masked;
#[cfg(unix)]
mod params;
#[cfg(unix)]
mod render;
#[cfg(unix)]
mod report;
#[cfg(unix)]
mod request;
#[cfg(unix)]
mod schema;
#[cfg(unix)]
mod secret;
#[cfg(unix)]
mod start;
#[cfg(unix)]
mod tool;
#[cfg(unix)]
mod wait;

pub use config::{Config, ConfigError};
#[cfg(unix)]
pub use tool::ShellSession;
