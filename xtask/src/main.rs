//! Development tasks of the workspace, called as `cargo xtask TASK`.

mod bench;
mod fuzz;
mod metadata;
mod test;
mod tidy;

use std::process::ExitCode;

/// One task: its name, what it does, and its entry, which gets the arguments after the name.
struct Task {
    name: &'static str,
    summary: &'static str,
    run: fn(&[String]) -> anyhow::Result<ExitCode>,
}

/// Every task; a new one is a module and a line here.
const TASKS: &[Task] = &[
    Task { name: "test", summary: "check and test every crate by itself, in each set of its features", run: test::run },
    Task { name: "tidy", summary: "check the rules of the repository", run: tidy::run },
    Task { name: "bench", summary: "measure the speed, against floors built in the same run", run: bench::run },
    Task { name: "fuzz", summary: "search for texts that break what must hold", run: fuzz::run },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = arguments.split_first() else {
        eprint!("{}", usage());
        return ExitCode::from(2);
    };
    if ["help", "-h", "--help"].contains(&name.as_str()) {
        print!("{}", usage());
        return ExitCode::SUCCESS;
    }
    let Some(task) = TASKS.iter().find(|task| task.name == name) else {
        eprint!("error: there is no task `{name}`\n{}", usage());
        return ExitCode::from(2);
    };
    (task.run)(rest).unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(2)
    })
}

fn usage() -> String {
    let mut text = "usage: cargo xtask TASK [--help]\n".to_owned();
    for task in TASKS {
        text.push_str(&format!("  {:<6} {}\n", task.name, task.summary));
    }
    text
}
