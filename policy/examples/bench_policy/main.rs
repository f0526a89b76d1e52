//! Measures analysis and decision; `cargo xtask bench` runs it and prints the table.
//!
//! Each line of output is one row, as JSON. `--repetitions N`, `--quick` (few repetitions), `--only GROUP`.

mod texts;

use std::hint::black_box;
use std::time::Instant;

use policy::{CommandAnalysis, Mode, Policy, RuleTable, Rules};
use serde_json::{Value, json};
use tool_api::{CommandKind, Workspace};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// The name of the only group.
const GROUP: &str = "policy";

/// A person's rules, as many as people write, and those of a workspace.
const PERSON: &str = r#"{
    "bash": {
        "*": "ask", "git *": "allow", "git push *": "ask", "git push --force *": "deny", "git reset --hard *": "ask",
        "cargo *": "allow", "cargo publish *": "deny", "npm run *": "allow", "npm test *": "allow", "ls *": "allow",
        "cat *": "allow", "rg *": "allow", "sed -n *": "allow", "rm -rf *": "deny", "sudo *": "deny", "python3 *": "ask",
        "make *": "allow", "docker ps *": "allow", "head *": "allow", "tail *": "allow", "* --no-verify *": "ask"
    },
    "external_directory": {"/tmp/*": "allow", "~/.cargo/*": "allow"}
}"#;
const WORKSPACE: &str = r#"{"bash": {"cargo bench *": "ask", "terraform *": "deny", "kubectl delete *": "deny"}}"#;

/// What is asked of a run.
#[derive(Clone, Copy, Debug)]
struct Plan {
    repetitions: usize,
    /// How often one measurement does the same.
    rounds: usize,
}

fn main() -> Result<()> {
    let mut plan = Plan { repetitions: 7, rounds: 200 };
    let mut only = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => plan.rounds = 20,
            "--repetitions" => plan.repetitions = arguments.next().ok_or("how many repetitions?")?.parse()?,
            "--only" => only = arguments.next(),
            other => return Err(format!("unknown argument `{other}`").into()),
        }
    }
    if only.is_some_and(|only| only != GROUP) {
        return Ok(());
    }
    let workspace = Workspace::new(std::env::current_dir()?);
    let policies = [(Mode::Ask, policy(Mode::Ask)?), (Mode::Smart, policy(Mode::Smart)?)];
    typical(plan, &policies, &workspace);
    scripts(plan, &policies, &workspace);
    hostile(plan, &policies[1].1, &workspace);
    Ok(())
}

fn policy(mode: Mode) -> Result<Policy> {
    let layer = |text, source| -> Result<Rules> {
        let table: RuleTable = serde_json::from_str(text)?;
        Ok(Rules::new(&table, source, None)?)
    };
    let policy = Policy::new().with_mode(mode).with_home("/home/u");
    Ok(policy.with_layer(layer(PERSON, "person")?).with_layer(layer(WORKSPACE, "workspace")?))
}

fn decide(policy: &Policy, command: &str, workspace: &Workspace) {
    black_box(policy.decide(black_box(command), CommandKind::Once, workspace));
}

/// Commands as agents write them.
fn typical(plan: Plan, policies: &[(Mode, Policy)], workspace: &Workspace) {
    let commands = texts::TYPICAL;
    let each = |run: &dyn Fn(&str)| {
        let times = commands.iter().map(|command| seconds(plan, plan.rounds, || run(command)) * 1e6);
        let times: Vec<f64> = times.collect();
        (times.iter().sum::<f64>() / times.len() as f64, times.into_iter().fold(0.0, f64::max))
    };
    let (mean, slowest) = each(&|command| drop(black_box(CommandAnalysis::new(black_box(command)))));
    row("typical command: analysis, mean", "µs", mean, None);
    row("typical command: analysis, slowest", "µs", slowest, None);
    for (mode, policy) in policies {
        let (mean, slowest) = each(&|command| decide(policy, command, workspace));
        row(&format!("typical command: analysis and decision in `{mode}`, mean"), "µs", mean, Some(30.0));
        row(&format!("typical command: analysis and decision in `{mode}`, slowest"), "µs", slowest, None);
    }
    let (_, policy) = &policies[1];
    let count = |command: &&str| allocation_counter::measure(|| decide(policy, command, workspace)).count_total;
    let allocations = commands.iter().map(count).sum::<u64>() as f64 / commands.len() as f64;
    row("typical command: allocations", "count", allocations, None);
}

/// Scripts of 4 KiB.
fn scripts(plan: Plan, policies: &[(Mode, Policy)], workspace: &Workspace) {
    for (name, fragment) in texts::SCRIPTS {
        let script = texts::script(fragment, 4096);
        for (mode, policy) in policies {
            let taken = seconds(plan, plan.rounds / 20, || decide(policy, &script, workspace)) * 1e3;
            row(&format!("4 KiB script, {name}: analysis and decision in `{mode}`"), "ms", taken, Some(1.0));
        }
    }
}

/// Texts of 16 KiB that were made to take long; the worst counts.
fn hostile(plan: Plan, policy: &Policy, workspace: &Workspace) {
    let mut worst = (0.0, "");
    for piece in texts::HOSTILE {
        for text in texts::around(piece, 16_384) {
            let taken = seconds(plan, 1, || decide(policy, &text, workspace)) * 1e3;
            if taken > worst.0 {
                worst = (taken, piece);
            }
        }
    }
    eprintln!("the slowest hostile text repeats {:?}", worst.1);
    row(&format!("16 KiB, worst of {} hostile texts", texts::HOSTILE.len() * texts::WAYS), "ms", worst.0, Some(10.0));
    let bytes = texts::noise(16_384);
    let taken = seconds(plan, 1, || decide(policy, &bytes, workspace)) * 1e3;
    row("16 KiB of noise", "ms", taken, Some(10.0));
}

/// The median of what one call takes.
fn seconds(plan: Plan, rounds: usize, mut run: impl FnMut()) -> f64 {
    let rounds = rounds.max(1);
    let mut times: Vec<f64> = (0..plan.repetitions)
        .map(|_| {
            let start = Instant::now();
            (0..rounds).for_each(|_| run());
            start.elapsed().as_secs_f64() / rounds as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn row(name: &str, unit: &str, ours: f64, most: Option<f64>) {
    let limit = most.map_or(Value::Null, |most| json!({"of": "ours", "atMost": most}));
    let row = json!({
        "group": GROUP, "name": name, "unit": unit, "floor": null, "ours": ours, "ratio": null, "limit": limit,
    });
    println!("{row}");
}
