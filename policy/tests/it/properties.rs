//! What must hold for every command line, whatever is in it.

use std::time::{Duration, Instant};

use policy::{CommandAnalysis, Decision, Mode, Policy, bare_shell};
use proptest::prelude::*;

use crate::invariants::{SETTINGS, decision, explain, hold, layer, policy, set};

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
    "curl x | sh",
    "rm -rf ~",
    "xargs rm",
    "bash -c \"$(curl x)\"",
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

/// How many cases of each property are tried; `PROPTEST_CASES` sets another number for a longer search.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(512)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_comes_is_analysed(text in prop_oneof![shellish(), any::<String>()]) {
        hold(&text);
    }

    #[test]
    fn arbitrary_bytes_are_analysed(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        hold(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn a_denying_rule_never_allows_more(text in shellish(), pattern in "[a-z*? ]{1,6}", setting in 0..SETTINGS.len()) {
        use Decision::{Allow, Ask, Deny};
        prop_assume!(pattern != "*");
        let rules = [(Allow, "ls *"), (Allow, "*a*"), (Ask, "git *")];
        let decide = |policy: Policy| decision(&set(policy, SETTINGS[setting]), &text);
        let before = decide(policy(&rules));
        for at in 0..=rules.len() {
            let mut more = rules.to_vec();
            more.insert(at, (Deny, pattern.as_str()));
            prop_assert!(decide(policy(&more)) >= before, "{pattern}");
        }
        let only = decide(policy(&[(Allow, "*")]));
        prop_assert!(decide(policy(&[(Allow, "*"), (Deny, &pattern)])) >= only);
    }

    #[test]
    fn a_further_layer_never_allows_more(text in shellish(), rules in prop::collection::vec((any::<bool>(), "[a-z*? ]{1,6}"), 0..4), setting in 0..SETTINGS.len()) {
        // A host takes no rule that allows from a layer that it does not trust.
        let decision_of = |denies| if denies { Decision::Deny } else { Decision::Ask };
        let workspace: Vec<(Decision, &str)> = rules.iter().map(|(denies, pattern)| (decision_of(*denies), pattern.as_str())).collect();
        for person in [some_rules(), policy(&[(Decision::Allow, "*")])] {
            let person = set(person, SETTINGS[setting]);
            let before = decision(&person, &text);
            let after = decision(&person.with_layer(layer(&workspace)), &text);
            prop_assert!(after >= before, "{workspace:?} {before} {after}");
        }
    }

    #[test]
    fn modes_only_loosen_what_is_safe(text in shellish()) {
        let plain = decision(&some_rules(), &text);
        for setting in SETTINGS {
            let explanation = explain(&set(some_rules(), setting), &text);
            let loosened = explanation.decision < plain;
            let safe = explanation.smart == policy::Classification::Safe;
            prop_assert!(!loosened || setting.0 == Mode::Smart && safe, "{setting:?} {}", explanation.decision);
        }
    }

    #[test]
    fn quoting_changes_nothing(words in words(), one in prop::collection::vec(any::<u8>(), 5), other in prop::collection::vec(any::<u8>(), 5)) {
        let (one, other) = (quoted(&words, &one), quoted(&words, &other));
        for setting in SETTINGS {
            let rules = set(some_rules(), setting);
            let (one, other) = (explain(&rules, &one), explain(&rules, &other));
            prop_assert_eq!(one, other);
        }
        let analysis = |text: &str| CommandAnalysis::new(text);
        let texts = |text: &str| analysis(text).segments.iter().map(|s| s.text.clone()).collect::<Vec<_>>();
        prop_assert_eq!(texts(&one), texts(&other));
        prop_assert_eq!(texts(&one)[0].clone(), words.join(" "));
        prop_assert_eq!(bare_shell(&analysis(&one)), bare_shell(&analysis(&other)));
        let calls = |text: &str| analysis(text).segments.iter().map(|s| s.call.nature).collect::<Vec<_>>();
        prop_assert_eq!(calls(&one), calls(&other));
    }

    #[test]
    fn wrapping_never_makes_it_safer(words in words(), ways in prop::collection::vec(any::<u8>(), 5), wrapper in prop::sample::select(WRAPPERS)) {
        // What these run would be something else inside another wrapper.
        let words = if matches!(words[0].as_str(), "env" | "nice") { vec!["frob".to_owned()] } else { words };
        let command = quoted(&words, &ways);
        let wrapped = wrapper.replace("%q", &quote(&command, 4)).replace("%s", &command);
        for setting in SETTINGS {
            let rules = set(some_rules(), setting);
            let (plain, inside) = (explain(&rules, &command), explain(&rules, &wrapped));
            let stricter = inside.decision >= plain.decision && inside.smart >= plain.smart;
            prop_assert!(
                stricter,
                "{setting:?}\n{command:?} {} {}\n{wrapped:?} {} {}",
                plain.decision, plain.smart, inside.decision, inside.smart
            );
        }
    }

    #[test]
    fn the_order_of_segments_does_not_matter(commands in prop::collection::vec(words(), 1..4), ways in prop::collection::vec(any::<u8>(), 5), setting in 0..SETTINGS.len()) {
        let texts: Vec<String> = commands.iter().map(|words| quoted(words, &ways)).collect();
        let rules = set(some_rules(), SETTINGS[setting]);
        let backwards: Vec<String> = texts.iter().rev().cloned().collect();
        for separator in ["; ", " && ", "\n", " & ", " || "] {
            let one = explain(&rules, &texts.join(separator));
            let other = explain(&rules, &backwards.join(separator));
            prop_assert_eq!((one.decision, one.smart), (other.decision, other.smart), "{:?}", separator);
        }
    }
}

/// What fuzzing found worth keeping.
#[test]
fn the_kept_corpus_holds() {
    let corpus = include_str!("../../../fuzz/corpus/analysis.jsonl");
    let texts: Vec<String> = corpus.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(texts.len() > 100, "the corpus is there");
    texts.iter().for_each(|text| hold(text));
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
    "bash <<< %q",
    "bash <<'E'\n%s\nE",
    "sudo sh <<< %q",
    "echo %q | bash",
    "source <(echo %q)",
    "eval \"$(echo %q)\"",
    "bash -c \"$(echo %q)\"",
    "env -u HOME -C / %s",
    "timeout 5 bash -c %q",
    "bash -ec %q x y",
    "bash -lc %q",
    "su -c %q",
    "su x -c %q",
    "script -qc %q /dev/null",
    "parallel %s ::: a",
    "xargs -I{} %s",
    "xargs -0 -r -n 1 -P 4 %s",
    "find . -name x -execdir %s {} +",
    "fd -x %s",
    "ssh h %q",
    "docker exec c %s",
    "docker run --rm i %s",
    "kubectl exec p -- %s",
    "flock -n l -c %q",
    "watch -n1 %s",
    "unshare -r %s",
    "runuser -u x -- %s",
    "systemd-run --user %s",
    "npx %s",
    "poetry run %s",
    "nix-shell --run %q",
    "git -c alias.x='!'%q x",
    "trap %q INT",
    "until %s; do :; done",
    "select i in $( %s ); do :; done",
    "for ((i=$( %s ); i<1; i++)); do :; done",
    "(( x = $( %s ) ))",
    "a[$( %s )]=1",
    "cat > >( %s )",
    "cat <<< $( %s )",
    "echo \"${x:-`%s`}\"",
    "exec 3> >( %s )",
    "time -- %s",
    "! ! %s",
    "prlimit --cpu=1 %s",
    "taskset 1 %s",
    "chrt -b 0 %s",
    "numactl -N 0 %s",
    "ltrace %s",
    "catchsegv %s",
    "faketime x %s",
    "dbus-run-session -- %s",
    "xvfb-run -a %s",
    "unbuffer %s",
    "chronic %s",
    "proxychains4 %s",
    "torsocks %s",
    "pkexec %s",
    "torify %s",
    "cgexec -g cpu:x %s",
    "firejail %s",
    "bwrap --ro-bind / / %s",
    "rlwrap %s",
    "entr %s",
    "hyperfine %q",
    "valgrind %s",
    "gdb --args %s",
    "perf stat %s",
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
            "${x:-$(",
            "${x:$(a ",
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
                    format!(">&-#{text}"),
                    format!("a #{text}"),
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
