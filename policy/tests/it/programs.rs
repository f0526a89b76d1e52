//! What calls of programs do, and which files their arguments name.

use policy::{CommandAnalysis, Nature, Usage};

/// The nature of the worst call of the command line, and the files of all of them with a letter for what is done.
fn of(command: &str) -> (Nature, String, String) {
    let analysis = CommandAnalysis::new(command);
    let mut nature = Nature::Reads;
    let mut why = String::new();
    let mut files = Vec::new();
    for segment in &analysis.segments {
        if segment.call.nature > nature {
            nature = segment.call.nature;
            why = segment.call.why.to_string();
        }
        for file in &segment.call.files {
            let letter = match file.usage {
                Usage::Read => "r",
                Usage::Write => "w",
                Usage::Enter => "e",
                Usage::Run => "x",
            };
            files.push(format!("{letter}:{}", file.path.text));
        }
    }
    (nature, why, files.join(" "))
}

/// Checks rows of `nature command => files`; a row without an arrow says nothing about files.
#[track_caller]
fn check(rows: &str) {
    let mut failures = Vec::new();
    for row in rows.lines().map(str::trim).filter(|row| !row.is_empty()) {
        let (expected, rest) = row.split_once(' ').unwrap();
        let (command, files) = match rest.split_once("=>") {
            Some((command, files)) => (command.trim(), Some(files.trim())),
            None => (rest.trim(), None),
        };
        let command = command.replace("\\n", "\n");
        let (nature, why, found) = of(&command);
        let right = match expected {
            "reads" => nature == Nature::Reads,
            "asks" => nature != Nature::Reads,
            "unknown" => nature == Nature::Unknown,
            "changes" => nature == Nature::Changes,
            "destroys" => nature == Nature::Destroys,
            "any" => true,
            other => panic!("{other} is no nature"),
        };
        if !right {
            failures.push(format!("{command}: want {expected}, have {nature:?}: {why}"));
        }
        if let Some(files) = files.filter(|files| *files != found) {
            failures.push(format!("{command}: want files {files:?}, have {found:?}"));
        }
    }
    assert!(failures.is_empty(), "{} rows:\n{}", failures.len(), failures.join("\n"));
}

/// The rows of the corpus, as far as programs decide them.
#[test]
fn corpus() {
    let table = include_str!("../fixtures/policy.tsv");
    let mut failures = Vec::new();
    for line in table.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        // Coprocesses, functions and empty commands are not about programs.
        if columns[1] != "smart" || matches!(columns[0], "M311" | "M375" | "M401") {
            continue;
        }
        let command = columns[2].replace("\\n", "\n").replace("\\\\", "\\");
        let (nature, why, _) = of(&command);
        let analysis = CommandAnalysis::new(&command);
        if columns[3] == "smart=safe" && nature != Nature::Reads {
            failures.push(format!("{}: {command} is safe, have {nature:?}: {why}", columns[0]));
        }
        let decided_elsewhere = !analysis.is_understood()
            || analysis.segments.iter().any(|segment| !segment.assignments.is_empty() || !segment.redirects.is_empty())
            || command.contains("cd sub")
            || command.contains("/etc/passwd");
        if !columns[3].contains("safe") && nature == Nature::Reads && !decided_elsewhere {
            failures.push(format!("{}: {command} is not safe", columns[0]));
        }
    }
    assert!(failures.is_empty(), "{} rows:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn operands_and_values() {
    check(
        r#"
        reads cat a /etc/passwd => r:a r:/etc/passwd
        reads cat -n -- -x => r:-x
        reads cat - =>
        reads head -5 f => r:f
        reads head -n 5 f => r:f
        reads head -n5 f => r:f
        reads head --lines=5 f => r:f
        reads grep -rn "a b" src /tmp/x => r:src r:/tmp/x
        reads grep -e a -e b f => r:f
        reads grep --regexp=a f => r:f
        reads grep -f /etc/passwd f => r:/etc/passwd r:f
        reads grep -f/etc/passwd f => r:/etc/passwd r:f
        reads rg --file=/etc/passwd f => r:/etc/passwd r:f
        reads rg --files src => r:src
        reads cut -d / -f 1 f => r:f
        reads tr / _ =>
        reads test / = / =>
        reads [ -f /etc/passwd ] => r:/etc/passwd
        reads test a -nt /tmp/b => r:a r:/tmp/b
        reads sed -n '/foo/p' f => r:f
        reads sed -n -e p -e '/a/d' f => r:f
        reads awk '/a/{print}' f => r:f
        reads awk -F/ '{print $1}' f => r:f
        reads find /etc /tmp -name x => r:/etc r:/tmp
        reads find . -newer /etc/passwd => r:. r:/etc/passwd
        reads diff a /etc/passwd => r:a r:/etc/passwd
        asks wc -l --files0-from=/tmp/l => r:/tmp/l
        changes cp a /tmp/b => r:a w:/tmp/b
        changes cp -t /tmp a => w:/tmp r:a
        changes cp -t/tmp a b => w:/tmp r:a r:b
        changes cp --target-directory=/tmp a => w:/tmp r:a
        changes cp --targ /tmp a => w:/tmp r:a
        changes dd if=/dev/zero of=/tmp/x => r:/dev/zero w:/tmp/x
        changes touch /tmp/x => w:/tmp/x
        changes sort -o /tmp/x f => w:/tmp/x r:f
        changes sort f -o/tmp/x => r:f w:/tmp/x
        changes sed -i s/a/b/ f => w:f
        reads echo /etc/passwd =>
        reads printf /x =>
        changes rm -- -f => w:-f
        asks git -C /tmp/x status => e:/tmp/x
        reads git diff --no-index /etc/passwd a => r:/etc/passwd
        reads cd /tmp => e:/tmp
        "#,
    );
}
