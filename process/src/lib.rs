//! A running command: spawn on a PTY or on pipes, clean text, scrollback, rendered screen, whole-tree stop.

pub mod echo;
pub mod keys;
pub mod parse;
pub mod screen;
pub mod terminal;
pub mod text;
