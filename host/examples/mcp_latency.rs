//! Measures a call of `mcp_host` against the floor `bare_rmcp`, over pipes and over sockets, in alternating runs.
//!
//! `cargo run --release -p host --example mcp_latency` after `cargo build --release -p host --examples`. Prints one
//! line a transport and era: the median of the medians in microseconds, and the ratio to the floor.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const ROUNDS: usize = 7;
const WARM_UP: usize = 500;
const CALLS: usize = 3_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let beside = std::env::current_exe()?.parent().map(Path::to_owned).unwrap_or_default();
    let program = |name: &str| -> PathBuf { beside.join(name) };
    println!("transport  era     bare us  host us  ratio");
    for (transport, sockets) in [("pipes", false), ("sockets", true)] {
        for (era, modern) in [("legacy", false), ("modern", true)] {
            let mut medians = [Vec::new(), Vec::new()];
            for _ in 0..ROUNDS {
                for (name, medians) in ["bare_rmcp", "mcp_host"].into_iter().zip(&mut medians) {
                    medians.push(Server::start(&program(name), sockets)?.median(modern)?);
                }
            }
            let [bare, host] = medians.map(|mut medians| {
                medians.sort();
                medians[ROUNDS / 2].as_secs_f64() * 1e6
            });
            println!("{transport:9}  {era:6}  {bare:7.1}  {host:7.1}  {:5.2}", host / bare);
        }
    }
    Ok(())
}

struct Server {
    child: Child,
    input: Option<Box<dyn Write>>,
    output: BufReader<Box<dyn Read>>,
}

impl Server {
    fn start(program: &Path, sockets: bool) -> std::io::Result<Self> {
        let mut command = Command::new(program);
        if !sockets {
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
            let input = Box::new(child.stdin.take().expect("it is piped"));
            let output: Box<dyn Read> = Box::new(child.stdout.take().expect("it is piped"));
            return Ok(Self { child, input: Some(input), output: BufReader::new(output) });
        }
        // Two pairs, as Node makes them.
        let (input, its_input) = UnixStream::pair()?;
        let (output, its_output) = UnixStream::pair()?;
        let child = command.stdin(OwnedFd::from(its_input)).stdout(OwnedFd::from(its_output)).spawn()?;
        drop(command);
        let output: Box<dyn Read> = Box::new(output);
        Ok(Self { child, input: Some(Box::new(input)), output: BufReader::new(output) })
    }

    /// Returns the median time of a call.
    fn median(mut self, modern: bool) -> std::io::Result<Duration> {
        let info = json!({"name": "mcp_latency", "version": "1"});
        let mut params = json!({"name": "echo", "arguments": {"text": "hello"}});
        if modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": info,
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        } else {
            let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
            self.exchange(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string())?;
            self.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string())?;
        }
        let mut times = Vec::with_capacity(CALLS);
        for id in 1..=WARM_UP + CALLS {
            let request = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string();
            let begun = Instant::now();
            let answer = self.exchange(&request)?;
            times.push(begun.elapsed());
            if id == 1 {
                let answer: Value = serde_json::from_str(&answer)?;
                assert_eq!(answer["result"]["content"][0]["text"], "hello", "{answer}");
            }
        }
        let times = &mut times[WARM_UP..];
        times.sort();
        Ok(times[CALLS / 2])
    }

    fn exchange(&mut self, line: &str) -> std::io::Result<String> {
        self.write(line)?;
        let mut answer = String::new();
        self.output.read_line(&mut answer)?;
        Ok(answer)
    }

    fn write(&mut self, line: &str) -> std::io::Result<()> {
        self.input.as_mut().expect("it is open").write_all(format!("{line}\n").as_bytes())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.input = None;
        // It ends at the end of its input; nothing is left to do where it does not.
        let _ = self.child.wait();
    }
}
