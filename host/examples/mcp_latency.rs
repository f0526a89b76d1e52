//! Measures a call of `mcp_host` against the floor `bare_rmcp`, over pipes and over sockets, in alternating runs, and
//! what `toolhost mcp` costs until its first answer. `cargo xtask bench --only mcp` runs it and prints the table.
//!
//! Each line of output is one row, as JSON: medians in microseconds, and the median of the ratios of runs that followed
//! each other.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

const WARM_UP: usize = 500;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> Result<()> {
    let (mut repetitions, mut calls) = (7, 3_000);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => calls = 300,
            "--repetitions" => repetitions = arguments.next().ok_or("how many repetitions?")?.parse()?,
            // There is one group here.
            "--only" => drop(arguments.next()),
            other => return Err(format!("unknown argument `{other}`").into()),
        }
    }
    let examples = std::env::current_exe()?.parent().map(Path::to_owned).unwrap_or_default();
    for (transport, sockets) in [("pipes", false), ("sockets", true)] {
        for (era, modern) in [("2025-11-25", false), ("2026-07-28", true)] {
            let mut times = [Vec::new(), Vec::new()];
            for _ in 0..repetitions {
                for (name, times) in ["bare_rmcp", "mcp_host"].into_iter().zip(&mut times) {
                    times.push(Server::start(&examples.join(name), &[], sockets)?.median_us(modern, calls)?);
                }
            }
            let [floor, ours] = times;
            let ratio = median(floor.iter().zip(&ours).map(|(floor, ours)| ours / floor).collect());
            let row = json!({
                "group": "mcp", "name": format!("no-op call, {transport}, {era}, floor bare rmcp"), "unit": "us",
                "floor": median(floor), "ours": median(ours), "ratio": ratio,
                "limit": {"of": "ratio", "atMost": 1.5},
            });
            println!("{row}");
        }
    }

    let program: PathBuf = examples.join("../toolhost");
    let mut starts = Vec::new();
    for _ in 0..repetitions {
        let mut server = Server::start(&program, &["mcp"], false)?;
        server.initialize()?;
        starts.push(cpu_ms(server.child.id())?);
    }
    let row = json!({
        "group": "mcp", "name": "`toolhost mcp` until its first answer: CPU", "unit": "ms",
        "floor": null, "ours": median(starts), "ratio": null, "limit": {"of": "ours", "atMost": 10.0},
    });
    println!("{row}");
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The processor time of all threads of a process, from Linux's `schedstat`, which counts nanoseconds.
fn cpu_ms(pid: u32) -> Result<f64> {
    let mut nanoseconds = 0.0;
    for task in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        let text = std::fs::read_to_string(task?.path().join("schedstat"))?;
        nanoseconds += text.split_whitespace().next().ok_or("an empty schedstat")?.parse::<f64>()?;
    }
    Ok(nanoseconds / 1e6)
}

struct Server {
    child: Child,
    input: Option<Box<dyn Write>>,
    output: BufReader<Box<dyn Read>>,
}

impl Server {
    fn start(program: &Path, arguments: &[&str], sockets: bool) -> Result<Self> {
        let mut command = Command::new(program);
        command.args(arguments);
        let cannot = |error| format!("cannot start `{}`: {error}", program.display());
        if !sockets {
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(cannot)?;
            let input = Box::new(child.stdin.take().expect("it is piped"));
            let output: Box<dyn Read> = Box::new(child.stdout.take().expect("it is piped"));
            return Ok(Self { child, input: Some(input), output: BufReader::new(output) });
        }
        // Two pairs, as Node makes them.
        let (input, its_input) = UnixStream::pair()?;
        let (output, its_output) = UnixStream::pair()?;
        let child =
            command.stdin(OwnedFd::from(its_input)).stdout(OwnedFd::from(its_output)).spawn().map_err(cannot)?;
        drop(command);
        let output: Box<dyn Read> = Box::new(output);
        Ok(Self { child, input: Some(Box::new(input)), output: BufReader::new(output) })
    }

    /// Returns the median time of a call.
    fn median_us(mut self, modern: bool, calls: usize) -> Result<f64> {
        let mut params = json!({"name": "echo", "arguments": {"text": "hello"}});
        if modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": info(),
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        } else {
            self.initialize()?;
            self.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string())?;
        }
        let mut times = Vec::with_capacity(calls);
        for id in 1..=WARM_UP + calls {
            let request = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string();
            let begun = Instant::now();
            let answer = self.exchange(&request)?;
            times.push(begun.elapsed().as_secs_f64() * 1e6);
            if id == 1 {
                let answer: Value = serde_json::from_str(&answer)?;
                assert_eq!(answer["result"]["content"][0]["text"], "hello", "{answer}");
            }
        }
        Ok(median(times.split_off(WARM_UP)))
    }

    fn initialize(&mut self) -> Result<()> {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info()});
        let request = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let answer: Value = serde_json::from_str(&self.exchange(&request.to_string())?)?;
        if answer["result"]["serverInfo"].is_null() { Err(format!("no answer: {answer}").into()) } else { Ok(()) }
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

fn info() -> Value {
    json!({"name": "mcp_latency", "version": "1"})
}

impl Drop for Server {
    fn drop(&mut self) {
        self.input = None;
        // It ends at the end of its input; nothing is left to do where it does not.
        let _ = self.child.wait();
    }
}
