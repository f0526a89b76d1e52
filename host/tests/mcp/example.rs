//! The example of a host of one's own serves its tool.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::client::{Client, ERAS, texts};

#[test]
fn the_example_serves_its_tool() {
    // Beside this test's directory, where Cargo puts examples.
    let program = std::env::current_exe().unwrap().ancestors().nth(2).unwrap().join("examples/mcp_host");
    if !program.exists() {
        std::io::stderr().write_all(b"skipped: the example `mcp_host` is not built here\n").unwrap();
        return;
    }
    for era in ERAS {
        let mut child = Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let client = Client::new(child.stdout.take().unwrap(), child.stdin.take().unwrap());
        let mut client = client.open(era);
        assert_eq!(texts(&client.call("echo", json!({"text": "hello"}))), ["hello"]);
        // It ends with its input, also when this test fails before.
        client.close();
        assert!(child.wait().unwrap().success());
    }
}
