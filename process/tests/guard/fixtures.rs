//! The programs the tests run: this test binary, with a name in its environment.

use std::ffi::OsString;

const NAME: &str = "GUARD_TEST_FIXTURE";

/// Runs the fixture this process was started as, and does not return then.
pub(crate) fn run_if_named() {
    let Ok(name) = std::env::var(NAME) else { return };
    let code = match name.as_str() {
        "args" => {
            println!("{:?}", std::env::args().skip(1).collect::<Vec<_>>());
            0
        }
        other => panic!("there is no fixture {other}"),
    };
    std::process::exit(code);
}

/// The environment variable that makes this program a fixture.
pub(crate) fn named(name: &str) -> (OsString, OsString) {
    (NAME.into(), name.into())
}
