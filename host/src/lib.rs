//! The tool host: registry, configuration and fronts, as a library and as the program toolhost.

mod bound;
mod builtin;
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

pub use chat::{CallOptions, Chat};
pub use env::{EnvConfig, HostEnv, Inherit};
pub use host::Host;
pub use inbox::{Inbox, Pending};
pub use registry::{Registry, RegistryConfig, RegistryError};
pub use settings::{Settings, Sources};
