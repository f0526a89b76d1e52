//! The program `xtask` on small workspaces of its own.

mod test;
mod tidy;
mod workspace;
