//! The tool host: registry, configuration and fronts, as a library and as the program toolhost.
//!
//! A [`Host`] joins what a front needs: the [`Registry`] of tools, whom to ask before an effect (a policy from the
//! configuration, or a permission of the embedding program), the environment of commands, and the [`Inbox`] where
//! notices wait. A front opens a [`Chat`], makes calls, shows results (as [`Card`]s to a person), and ends the host.
//! No front knows a concrete tool, and nothing below this crate knows a front.
//!
//! Every call takes the same steps: look up, validate against the schema, run within one span, clean, bound. A panic
//! in a tool is an error of that call, and a tool that ignores its cancellation is dropped.
//!
//! ```
//! use host::{CallOptions, Host, Settings};
//! use tool_api::{ToolCall, Workspace};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! host::run_if_requested();
//! let host = Host::from_settings(&Settings::defaults(), std::env::vars_os())?;
//! let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! runtime.block_on(async {
//!     let chat = host.open_chat(Workspace::new("/srv/project"));
//!     let call = ToolCall::new("slep", serde_json::json!({"ms": 5}));
//!     let error = host.call(&chat, call, CallOptions::new()).await.unwrap_err();
//!     assert_eq!(error.to_string(), "no tool is named `slep`");
//!     host.end().await;
//! });
//! # Ok(())
//! # }
//! ```
//!
//! `examples/embed.rs` is a host with a tool and a permission of its own.

mod assembly;
mod audit;
mod bound;
mod builtin;
mod card;
mod chat;
mod env;
mod host;
mod inbox;
mod masking;
#[cfg(feature = "mcp")]
pub mod mcp;
mod near;
mod registry;
mod schema;
pub mod settings;
#[cfg(any(feature = "cli", feature = "mcp"))]
mod signals;

pub use assembly::{AssembleError, builtin_tools};
pub use audit::AuditFile;
pub use builtin::run_if_requested;
pub use card::Card;
pub use chat::{CallOptions, Chat};
pub use env::{EnvConfig, HostEnv, Inherit};
pub use host::Host;
pub use inbox::{Inbox, Pending};
pub use registry::{Registry, RegistryConfig, RegistryError};
pub use settings::{Settings, Sources};
#[cfg(any(feature = "cli", feature = "mcp"))]
pub use signals::{Signalled, Signals};
