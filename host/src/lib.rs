//! The tool host: registry, configuration and fronts, as a library and as the program toolhost.

mod assembly;
mod bound;
mod builtin;
mod card;
mod chat;
mod env;
mod host;
mod inbox;
#[cfg(feature = "mcp")]
pub mod mcp;
mod near;
mod registry;
mod schema;
pub mod settings;

pub use assembly::{AssembleError, builtin_tools};
pub use builtin::run_if_requested;
pub use card::Card;
pub use chat::{CallOptions, Chat};
pub use env::{EnvConfig, HostEnv, Inherit};
pub use host::Host;
pub use inbox::{Inbox, Pending};
pub use registry::{Registry, RegistryConfig, RegistryError};
pub use settings::{Settings, Sources};
