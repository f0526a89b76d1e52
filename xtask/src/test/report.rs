//! What a person reads while the steps run, and at the end.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use super::plan::Step;
use super::step::Done;

/// Prints a line a step and keeps the totals.
#[derive(Debug)]
pub(crate) struct Report {
    started: Instant,
    width: usize,
    steps: usize,
    passed: usize,
    failed: usize,
    skipped: usize,
    failures: Vec<String>,
}

impl Report {
    pub(crate) fn new(steps: &[Step]) -> Self {
        let width = steps.iter().map(|step| step.to_string().len()).max().unwrap_or(0);
        Self { started: Instant::now(), width, steps: 0, passed: 0, failed: 0, skipped: 0, failures: Vec::new() }
    }

    /// Shows what runs now; its outcome comes on the same line.
    pub(crate) fn starts(&self, step: &Step) {
        print!("{:<width$}  ", step.to_string(), width = self.width);
        // A terminal that went away is noticed at the next line.
        let _ = io::stdout().flush();
    }

    pub(crate) fn ended(&mut self, step: &Step, done: &Done) {
        self.steps += 1;
        self.passed += done.results.passed;
        self.skipped += done.results.skipped.len();
        let took = seconds(done.took);
        let Some(failure) = &done.failure else {
            let tests = match done.results.passed {
                0 => String::new(),
                passed => format!("  {passed} passed"),
            };
            println!("ok      {took:>8}{tests}");
            for line in &done.results.skipped {
                println!("    {line}");
            }
            return;
        };
        // A step that fails without a failed test counts as one.
        self.failed += done.results.failed.max(1);
        println!("FAILED  {took:>8}  {failure}");
        println!("---- output of {step} (cargo {}) ----", step.arguments().join(" "));
        println!("{}", done.output.trim_end());
        println!("---- end of output of {step} ----");
        self.failures.push(format!("{step}: {failure}"));
        self.failures.extend(done.results.failures.iter().map(|name| format!("    {name}")));
    }

    /// Prints the end and gives the exit code.
    pub(crate) fn close(self) -> ExitCode {
        println!();
        if !self.failures.is_empty() {
            println!("failures:");
            for line in &self.failures {
                println!("  {line}");
            }
            println!();
        }
        if self.skipped > 0 {
            println!("{} said above that something was skipped", plural(self.skipped, "test"));
        }
        println!("{} in {}", plural(self.steps, "step"), seconds(self.started.elapsed()));
        println!("{} passed, {} failed", self.passed, self.failed);
        if self.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

fn plural(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
