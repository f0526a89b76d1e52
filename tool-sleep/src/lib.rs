//! The tool sleep: waits without a command.
