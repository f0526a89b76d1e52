//! The tool shell_session: interactive processes on a PTY.
