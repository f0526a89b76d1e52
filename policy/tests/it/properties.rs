//! What must hold for every command line, whatever is in it.

use std::time::{Duration, Instant};

use policy::{Area, CommandAnalysis, Decision, Pattern, Policy, Rule, Rules, bare_shell};
use proptest::prelude::*;
use tool_api::{CommandKind, Workspace};

fn rule(decision: Decision, pattern: &str) -> Rule {
    let pattern = Pattern::new(pattern, None).unwrap();
    Rule { area: Area::Bash, pattern, decision, origin: "test".into() }
}

fn policy(rules: &[(Decision, &str)]) -> Policy {
    let mut layer = Rules::default();
    for (decision, pattern) in rules {
        layer.push(rule(*decision, pattern));
    }
    Policy::new().with_home("/home/u").with_layer(layer)
}

fn decision(policy: &Policy, command: &str) -> Decision {
    policy.explain(command, CommandKind::Once, &Workspace::new("/srv/proj")).decision
}

/// Rules that wrap nothing, so that a wrapper is never spelled out.
fn some_rules() -> Policy {
    use Decision::{Allow, Ask, Deny};
    policy(&[
        (Allow, "ls *"),
        (Allow, "echo *"),
        (Allow, "git *"),
        (Ask, "git push *"),
        (Deny, "rm *"),
        (Deny, "git reset *"),
        (Allow, "a*"),
    ])
}

/// Pieces of shell text, to be strung together in any order.
const PIECES: &[&str] = &[
    "ls",
    "rm x",
    "git status",
    "git push",
    "echo",
    "a",
    " ",
    " ",
    " ",
    "\n",
    ";",
    "&&",
    "||",
    "|",
    "&",
    "(",
    ")",
    "{ ",
    "; }",
    "$(",
    "`",
    "\"",
    "'",
    "\\",
    "$X",
    "${x",
    "}",
    "${x:-",
    "$((",
    "))",
    "((",
    "[[",
    "]]",
    "<<E\n",
    "\nE\n",
    "<<'E'\n",
    "<(",
    ">",
    "<",
    ">&-",
    "2>",
    "if ",
    "; then ",
    "; fi",
    "for a in ",
    "; do ",
    "; done",
    "case x in ",
    ") ",
    ";; ",
    "esac",
    "f() ",
    "function f ",
    "time ",
    "! ",
    "coproc ",
    "x=",
    "a[1]=",
    "=(",
    "*",
    "?",
    "[",
    "]",
    "~",
    "{a,b}",
    "#",
    "$'",
    "\\x72",
    "sudo ",
    "env ",
    "nice ",
    "xargs ",
    "find . -exec ",
    " \\;",
    "bash -c ",
    "eval ",
    "é",
    "\u{200b}",
    "\t",
    "\r",
    "\0",
];

fn shellish() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..24).prop_map(|pieces| pieces.concat())
}

fn words() -> impl Strategy<Value = Vec<String>> {
    let name = prop::sample::select(vec!["ls", "echo", "git", "rm", "frob", "a1", "env", "nice"]);
    let argument = prop_oneof![
        "[a-z0-9_./:@%+-]{1,8}",
        prop::sample::select(vec![
            "push", "reset", "status", "-x", "rm", "a b", "it's", "\"q\"", "$HOME", "*.rs", "~", ";", "é", "\\"
        ])
        .prop_map(str::to_owned),
    ];
    (name, prop::collection::vec(argument, 0..4))
        .prop_map(|(name, arguments)| std::iter::once(name.to_owned()).chain(arguments).collect())
}

/// Quotes one word in one of several ways that all mean the same.
fn quote(word: &str, way: u8) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:@%+-".contains(c);
    match way % 5 {
        0 if word.chars().all(plain) => word.to_owned(),
        1 => word
            .chars()
            .map(|c| if plain(c) && way.is_multiple_of(2) || !c.is_ascii() { c.to_string() } else { format!("\\{c}") })
            .collect(),
        2 => format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$").replace('`', "\\`")),
        3 => format!("$'{}'", word.replace('\\', "\\\\").replace('\'', "\\'")),
        _ => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

fn quoted(words: &[String], ways: &[u8]) -> String {
    let quoted: Vec<String> = words.iter().zip(ways.iter().cycle()).map(|(word, way)| quote(word, *way)).collect();
    quoted.join(" ")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_comes_is_analysed(text in prop_oneof![shellish(), any::<String>()]) {
        let analysis = CommandAnalysis::new(&text);
        let _ = bare_shell(&analysis);
        let rules = some_rules();
        let explanation = rules.explain(&text, CommandKind::Interactive, &Workspace::new("/srv/proj"));
        if !analysis.is_understood() {
            prop_assert_ne!(explanation.decision, Decision::Allow);
        }
    }

    #[test]
    fn arbitrary_bytes_are_analysed(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = CommandAnalysis::new(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn a_denying_rule_never_allows_more(text in shellish(), pattern in "[a-z*? ]{1,6}") {
        use Decision::{Allow, Ask, Deny};
        prop_assume!(pattern != "*");
        let rules = [(Allow, "ls *"), (Allow, "*a*"), (Ask, "git *")];
        let before = decision(&policy(&rules), &text);
        for at in 0..=rules.len() {
            let mut more = rules.to_vec();
            more.insert(at, (Deny, pattern.as_str()));
            prop_assert!(decision(&policy(&more), &text) >= before, "{pattern}");
        }
        let only = decision(&policy(&[(Allow, "*")]), &text);
        prop_assert!(decision(&policy(&[(Allow, "*"), (Deny, &pattern)]), &text) >= only);
    }

    #[test]
    fn quoting_changes_nothing(words in words(), one in prop::collection::vec(any::<u8>(), 5), other in prop::collection::vec(any::<u8>(), 5)) {
        let (one, other) = (quoted(&words, &one), quoted(&words, &other));
        let rules = some_rules();
        prop_assert_eq!(decision(&rules, &one), decision(&rules, &other), "{} {}", one, other);
        let texts = |text: &str| CommandAnalysis::new(text).segments.iter().map(|s| s.text.clone()).collect::<Vec<_>>();
        prop_assert_eq!(texts(&one), texts(&other));
        prop_assert_eq!(texts(&one)[0].clone(), words.join(" "));
    }

    #[test]
    fn wrapping_never_makes_it_safer(words in words(), ways in prop::collection::vec(any::<u8>(), 5), wrapper in prop::sample::select(WRAPPERS)) {
        prop_assume!(!matches!(words[0].as_str(), "env" | "nice"));
        let command = quoted(&words, &ways);
        let wrapped = wrapper.replace("%q", &quote(&command, 4)).replace("%s", &command);
        let rules = some_rules();
        let (plain, inside) = (decision(&rules, &command), decision(&rules, &wrapped));
        prop_assert!(inside >= plain, "{command:?} {plain}, {wrapped:?} {inside}");
    }

    #[test]
    fn the_order_of_segments_does_not_matter(commands in prop::collection::vec(words(), 1..4), ways in prop::collection::vec(any::<u8>(), 5)) {
        let texts: Vec<String> = commands.iter().map(|words| quoted(words, &ways)).collect();
        let rules = some_rules();
        let forwards = decision(&rules, &texts.join("; "));
        let backwards: Vec<String> = texts.into_iter().rev().collect();
        prop_assert_eq!(forwards, decision(&rules, &backwards.join("; ")));
    }
}

/// `%s` is the command, `%q` the command quoted as one word.
const WRAPPERS: &[&str] = &[
    "sudo %s",
    "sudo -u x -E %s",
    "env %s",
    "env A=1 %s",
    "env -i %s",
    "nice %s",
    "nice -n 5 %s",
    "nohup %s",
    "timeout 5 %s",
    "timeout -k 1 5 %s",
    "time %s",
    "time -p %s",
    "stdbuf -oL %s",
    "setsid %s",
    "ionice -c 3 %s",
    "xargs %s",
    "xargs -n1 %s",
    "find . -exec %s \\;",
    "command %s",
    "command -p %s",
    "exec %s",
    "exec -a x %s",
    "builtin command %s",
    "bash -c %q",
    "sh -c %q",
    "eval %q",
    "trap %q EXIT",
    "flock l %s",
    "watch %q",
    "( %s )",
    "{ %s; }",
    "! %s",
    "if %s; then :; fi",
    "while %s; do :; done",
    "f() { %s; }",
    "echo $( %s )",
    "echo \"$( %s )\"",
    "cat <( %s )",
    "A=1 %s",
    "cat <<E\n$( %s )\nE",
    "echo ${x:-$( %s )}",
    "coproc %s",
    "a | %s",
    "%s | a",
    "%s &",
    "a; %s",
    "a && %s",
    "[[ -n $( %s ) ]]",
    "case x in x) %s;; esac",
    "busybox %s",
    "doas %s",
    "strace -f %s",
    "nice timeout 5 nohup sudo %s",
    "x=$( %s )",
    "a > $( %s )",
    "for i in $( %s ); do :; done",
    "setarch x86_64 %s",
    "\\time %s",
    "chroot / %s",
];

#[test]
fn hostile_texts_end_soon_on_an_ordinary_thread() {
    // The stack of a thread as tokio makes them, in a build whose frames are large.
    let thread = std::thread::Builder::new().stack_size(2 * 1024 * 1024).spawn(|| {
        let extra = [
            "time ",
            "time ! ",
            "! ",
            "coproc ",
            "coproc a ",
            ") time ",
            "a=$",
            "((a",
            "$((-",
            "[[ ! ",
            "${a[",
            "x=(",
            "\"${a:-",
            "`a",
            "<<<",
            "@(",
            "a[",
            "nice ",
            "sudo $X ",
            "eval ",
            "env -S ",
            "bash -c ",
            "xargs xargs ",
            "{a,",
            "{a..",
            "> f ",
            "a|",
            "a\n",
            "x=1 ",
            "case a in a) ",
            "\u{1f600}",
            "\"$@\"\nset -- a b c\n",
            "f(){ \"$@\"; }; f eval \"$@\"\n",
            "set -- eval '\"$@\"'; eval \"$@\"\n",
            "bash -c '\"$@\"' x ",
            "x=a; $x $x\n",
            "foo sudo -i bash ",
        ];
        for piece in PIECES.iter().chain(&extra) {
            for size in [500, 9_000, 16_384] {
                let text = piece.repeat(size / piece.len());
                for text in [
                    text.clone(),
                    format!("{text}a"),
                    format!("ls {text}"),
                    format!("env -S {text}"),
                    format!("echo \"$({text}"),
                ] {
                    let start = Instant::now();
                    let analysis = CommandAnalysis::new(&text);
                    let _ = bare_shell(&analysis);
                    // A build without optimisation on a busy machine; what is wrong here takes minutes or forever.
                    assert!(start.elapsed() < Duration::from_secs(10), "{piece:?} {size}");
                }
            }
        }
    });
    thread.unwrap().join().unwrap();
}
