//! Measures the secret mask and prints rows for `cargo xtask bench --only mask`.

use std::hint::black_box;
use std::time::Instant;

use policy::SecretMask;
use serde_json::{Value, json};
use tool_api::Mask;

/// Words of a log that come near what the rules look for.
const WORDS: [&str; 18] = [
    "connection",
    "GET /api/v1/users/12 200",
    "token bucket refilled",
    "worker",
    "key not found in cache",
    "author",
    "access log rotated",
    "auth service is up",
    "disk usage 43%",
    "tasks done",
    "classes.",
    "path=/usr/lib",
    "latency=12ms",
    "user=bob",
    "http://example.com/a?b=c",
    "thread",
    "compiled",
    "finished",
];

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let given = arguments.iter().position(|argument| argument == "--repetitions").and_then(|at| arguments.get(at + 1));
    let repetitions = given.and_then(|number| number.parse().ok()).unwrap_or(7);
    let size = if quick { 200_000 } else { 10_000_000 };

    let mask = SecretMask::new();
    for number in 0..10 {
        mask.add_value("SOME_TOKEN", &format!("s3cr3t-value-{number}/xyz"));
    }
    let mut log = log(size);
    let numbers: String = (0..size / 8).map(|number| format!("{number}\n")).collect();
    let dense = "password=hunter2 api_key: 9f86d081884c7d659a2feaa0c55ad015 postgres://a:b@c ".repeat(size / 1_000);
    let hostile = "key=".repeat(size / 400);
    let before = resident();
    let first = measure(1, || mask.mask("", &log[..1_024], "").len());
    row("first result of 1 KiB", "ms", first * 1e3, json!({"of": "ours", "atMost": 20}));
    speed(&mask, "log text", &log, repetitions, json!({"of": "ours", "atLeast": 100}));
    speed(&mask, "numbers by line", &numbers, repetitions, json!({"of": "ours", "atLeast": 100}));
    speed(&mask, "nothing but secrets", &dense, repetitions, Value::Null);
    speed(&mask, "names without values", &hostile, repetitions, Value::Null);
    log.truncate(1_024);
    let result = measure(repetitions * 100, || mask.mask("", &log, "").len());
    row("result of 1 KiB", "us", result * 1e6, json!({"of": "ours", "atMost": 20}));
    if let (Some(before), Some(after)) = (before, resident()) {
        let grown = after.saturating_sub(before) as f64 / 1_024.0;
        row("memory after all of this", "MiB", grown, Value::Null);
    }
}

fn log(size: usize) -> String {
    let mut text = String::with_capacity(size + 200);
    let mut number: usize = 7;
    while text.len() < size {
        text.push_str(&format!("2026-12-01T00:{:02}:{:02}.{:03}Z INFO", number / 60 % 60, number % 60, number % 1_000));
        for _ in 0..6 {
            number = number.wrapping_mul(1_103_515_245).wrapping_add(12_345) & 0x7fff_ffff;
            text.push(' ');
            text.push_str(WORDS[(number >> 8) % WORDS.len()]);
        }
        text.push('\n');
    }
    text
}

fn speed(mask: &SecretMask, name: &str, text: &str, repetitions: usize, limit: Value) {
    // Once before, so that what it needs is compiled.
    black_box(mask.mask("", &text[..text.len().min(64 * 1_024)], ""));
    let seconds = measure(repetitions, || mask.mask("", text, "").len());
    row(name, "MB/s", text.len() as f64 / seconds / 1e6, limit);
}

/// Returns the median time of one run, in seconds.
fn measure(repetitions: usize, mut run: impl FnMut() -> usize) -> f64 {
    let mut times: Vec<f64> = (0..repetitions)
        .map(|_| {
            let begin = Instant::now();
            black_box(run());
            begin.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn row(name: &str, unit: &str, ours: f64, limit: Value) {
    println!(
        "{}",
        json!({"group": "mask", "name": name, "unit": unit, "floor": null, "ours": ours, "ratio": null, "limit": limit})
    );
}

/// Kilobytes in memory, where the system says so.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
