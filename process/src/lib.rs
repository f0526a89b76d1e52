//! A running command: spawn on a PTY or on pipes, clean text, scrollback, rendered screen, whole-tree stop.
