//! The traits and words every toolhost crate shares: Tool, Permission, NoticeSink.
