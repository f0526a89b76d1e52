//! What "always" offers: a prefix of the command that is neither too wide nor useless.

use crate::analysis::wrappers::{base_name, is_shell, wrapper};
use crate::analysis::{CommandAnalysis, Reach, Segment, Word};
use crate::judge::Judgement;
use crate::outside::DIRECTORY;
use crate::rules::Decision;

/// Patterns that one answer allows.
const MOST: usize = 5;

/// The patterns for the segments that ask; empty when one of them cannot be offered, since the command would ask again.
/// Segments that are `unasked` anyway need none.
pub(crate) fn offer(
    analysis: &CommandAnalysis,
    judgement: &Judgement<'_>,
    unasked: impl Fn(usize) -> bool,
) -> Vec<String> {
    let mut patterns = Vec::new();
    if !analysis.is_understood() {
        return patterns;
    }
    for (number, (segment, verdict)) in analysis.segments.iter().zip(&judgement.verdicts).enumerate() {
        if unasked(number) || verdict.decision != Decision::Ask || segment.reach == Reach::DenyOnly {
            continue;
        }
        match prefix(segment) {
            Some(pattern) if !patterns.contains(&pattern) => patterns.push(pattern),
            Some(_) => {}
            None => return Vec::new(),
        }
    }
    if patterns.len() > MOST {
        patterns.clear();
    }
    patterns
}

/// How many words name what a program does, for programs whose subcommands differ in what they do.
const SUBCOMMANDS: &[(&str, usize)] = &[
    ("git", 2),
    ("git stash", 3),
    ("git remote", 3),
    ("git worktree", 3),
    ("git submodule", 3),
    ("git lfs", 3),
    ("git bisect", 3),
    ("npm", 2),
    ("npm run", 3),
    ("npm exec", 3),
    ("yarn", 2),
    ("yarn run", 3),
    ("pnpm", 2),
    ("pnpm run", 3),
    ("bun", 2),
    ("bun run", 3),
    ("cargo", 2),
    ("cargo xtask", 3),
    ("go", 2),
    ("go mod", 3),
    ("make", 2),
    ("just", 2),
    ("task", 2),
    ("mvn", 2),
    ("gradle", 2),
    ("./gradlew", 2),
    ("docker", 2),
    ("docker compose", 3),
    ("docker image", 3),
    ("docker container", 3),
    ("podman", 2),
    ("kubectl", 2),
    ("helm", 2),
    ("terraform", 2),
    ("gh", 3),
    ("glab", 3),
    ("aws", 3),
    ("gcloud", 3),
    ("az", 3),
    ("pip", 2),
    ("pip3", 2),
    ("uv", 2),
    ("uv pip", 3),
    ("poetry", 2),
    ("apt", 2),
    ("apt-get", 2),
    ("brew", 2),
    ("dnf", 2),
    ("systemctl", 2),
    ("rustup", 2),
    ("dotnet", 2),
    ("mix", 2),
    ("rails", 2),
    ("composer", 2),
    ("deno", 2),
    ("swift", 2),
    ("zig", 2),
    ("cmake", 2),
    ("bazel", 2),
    ("nx", 2),
    ("turbo", 2),
    ("tox", 1),
    ("pytest", 1),
    ("jest", 1),
    ("vitest", 1),
    ("tsc", 1),
    ("eslint", 1),
    ("prettier", 1),
    ("ruff", 2),
    ("mypy", 1),
    ("black", 1),
    ("ctest", 1),
    ("ninja", 1),
    ("ls", 1),
    ("cat", 1),
    ("head", 1),
    ("tail", 1),
    ("wc", 1),
    ("grep", 1),
    ("rg", 1),
    ("echo", 1),
    ("pwd", 1),
    ("which", 1),
    ("file", 1),
    ("stat", 1),
    ("du", 1),
    ("df", 1),
    ("diff", 1),
    ("tree", 1),
    ("cut", 1),
    ("uniq", 1),
    ("basename", 1),
    ("dirname", 1),
    ("realpath", 1),
    ("cd", 1),
    ("mkdir", 1),
    ("touch", 1),
    ("jq", 1),
    ("ps", 1),
    ("date", 1),
    ("uname", 1),
    ("id", 1),
    ("whoami", 1),
    ("true", 1),
    ("false", 1),
    ("sleep", 1),
    ("test", 1),
    ("[", 1),
    ("printf", 1),
    ("journalctl", 1),
];

/// Programs with targets, which have one of their own when none is named.
const ALONE: &[&str] = &["make", "just", "task", "gradle", "gradlew", "mvn", "bazel", "rake"];

/// Programs that run what their arguments say; no prefix of them means anything.
const NEVER: &[&str] = &[
    "python",
    "pypy",
    "ipython",
    "node",
    "nodejs",
    "deno",
    "bun",
    "perl",
    "ruby",
    "irb",
    "php",
    "lua",
    "luajit",
    "julia",
    "Rscript",
    "R",
    "osascript",
    "awk",
    "gawk",
    "mawk",
    "sed",
    "expect",
    "tclsh",
    "emacs",
    "vim",
    "vi",
    "nvim",
    "eval",
    "source",
    ".",
    "ssh",
    "scp",
    "rsync",
    "su",
    "script",
    "watch",
    "parallel",
    "find",
    "fd",
    "git",
    "tmux",
    "screen",
    "docker",
    "podman",
    "kubectl",
    "sudo",
    "doas",
    "env",
    "curl",
    "wget",
    "npx",
    "bunx",
    "uvx",
    "trap",
    "alias",
    "export",
    "declare",
    "typeset",
    "source",
    "set",
    "shopt",
    "enable",
    "hash",
    "gdb",
    "lldb",
    "socat",
    "nc",
    "ncat",
];

/// Subcommands that run what follows, or change what later commands run.
const NEVER_SUBCOMMANDS: &[&str] = &[
    "git config",
    "docker exec",
    "docker run",
    "podman exec",
    "podman run",
    "kubectl exec",
    "kubectl run",
    "poetry run",
    "uv run",
    "pipenv run",
    "npm exec",
    "pnpm exec",
    "pnpm dlx",
    "yarn exec",
    "yarn dlx",
    "bun x",
    "deno eval",
    "deno run",
    "cargo run",
    "go run",
    "bundle exec",
    "mise exec",
    "conda run",
    "git filter-branch",
    "git submodule foreach",
    "docker compose exec",
    "docker compose run",
    "npm config",
    "aws configure set",
];

fn prefix(segment: &Segment) -> Option<String> {
    let words = &segment.words;
    if !segment.assignments.is_empty() || !segment.sets.is_empty() {
        return None;
    }
    let name = words.first().and_then(Word::value)?;
    let base = base_name(name);
    let stem = base.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if wrapper(base).is_some() || is_shell(base) {
        return None;
    }
    let count = SUBCOMMANDS
        .iter()
        .filter(|(start, _)| starts_with(words, start))
        .max_by_key(|(start, _)| start.len())
        .map(|(_, count)| *count);
    if let Some(count) = count {
        if words.len() == 1 && ALONE.contains(&base) {
            return Some(segment.text.clone());
        }
        let named = words.get(..count)?;
        let plain = named.iter().skip(1).all(|word| {
            word.value().is_some_and(|text| !text.starts_with(['-', '+']) && !text.is_empty() && is_plain(text))
        });
        if !plain || NEVER_SUBCOMMANDS.iter().any(|start| starts_with(words, start)) {
            return None;
        }
        return Some(format!("{} *", crate::analysis::join(named)));
    }
    if NEVER.contains(&stem) || NEVER.contains(&base) {
        return None;
    }
    // This very command: nothing wider is known to be harmless.
    let plain = !segment.is_dynamic() && is_plain(&segment.text) && !segment.text.starts_with(DIRECTORY);
    plain.then(|| segment.text.clone())
}

/// Whether text means itself in a pattern.
fn is_plain(text: &str) -> bool {
    !text.contains(['*', '?', '\n']) && !text.starts_with(['~', '$'])
}

fn starts_with(words: &[Word], start: &str) -> bool {
    start.split(' ').enumerate().all(|(index, part)| words.get(index).and_then(Word::value) == Some(part))
}

#[cfg(test)]
mod tests {
    use super::prefix;
    use crate::analysis::CommandAnalysis;

    #[track_caller]
    fn check(command: &str, expected: Option<&str>) {
        let analysis = CommandAnalysis::new(command);
        assert_eq!(prefix(&analysis.segments[0]).as_deref(), expected, "{command}");
    }

    #[test]
    fn offers_what_the_program_does() {
        check("npm run dev -- --port 3000", Some("npm run dev *"));
        check("npm install", Some("npm install *"));
        check("git status -s", Some("git status *"));
        check("git stash push -m x", Some("git stash push *"));
        check("cargo test -p policy", Some("cargo test *"));
        check("ls -la", Some("ls *"));
        check("make", Some("make"));
        check("make test", Some("make test *"));
        check("docker compose up -d", Some("docker compose up *"));
    }

    #[test]
    fn offers_the_very_command_of_an_unknown_program() {
        check("./deploy.sh staging", Some("./deploy.sh staging"));
        check("rm -rf build", Some("rm -rf build"));
        check("frobnicate 'a b'", Some("frobnicate a b"));
        check("rm *.o", None);
        check("frobnicate $X", None);
    }

    #[test]
    fn never_offers_what_runs_anything() {
        for command in [
            "python3 x.py",
            "python3.12 -m http.server",
            "bash x.sh",
            "sh -c ls",
            "sudo ls",
            "env ls",
            "git",
            "git -C x status",
            "git -c a=b log",
            "git config core.pager sh",
            "node -e 1",
            "npm",
            "nice make",
            "xargs rm",
            "find . -name x",
            "docker exec c ls",
            "ssh host ls",
            "FOO=1 ls",
            "x=1",
            "eval ls",
            "$X",
            "/usr/bin/env ls",
            "npm run",
            "uv run x",
            "cargo +nightly test",
        ] {
            check(command, None);
        }
    }
}
