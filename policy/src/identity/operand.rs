//! Which arguments of an interpreter name the script that it runs, as data to review and extend.
//!
//! Saying too much is harmless here: a file that is looked at without need is compared, and does not change.

use crate::analysis::Word;
use crate::analysis::wrappers::{ShellCall, base_name, is_shell};

/// An interpreter and its options, each as its manual page has them.
#[derive(Clone, Copy, Debug)]
struct Interpreter {
    names: &'static [&'static str],
    /// Short options whose value is something else.
    values: &'static str,
    /// Long options whose value is the next argument and something else.
    long_values: &'static [&'static str],
    /// Options, as written, whose value is the program itself or a module: no operand is a script then.
    code: &'static [&'static str],
    /// Options, as written, whose value is a file that is run.
    files: &'static [&'static str],
    /// Words that may stand before the script.
    before: &'static [&'static str],
    /// Whether the first operand is a script.
    operand: bool,
}

const PLAIN: Interpreter =
    Interpreter { names: &[], values: "", long_values: &[], code: &[], files: &[], before: &[], operand: true };

const INTERPRETERS: &[Interpreter] = &[
    Interpreter {
        names: &["python", "pypy", "ipython"],
        values: "WXQ",
        long_values: &["--check-hash-based-pycs"],
        code: &["-c", "-m"],
        ..PLAIN
    },
    Interpreter {
        names: &["node", "nodejs"],
        values: "C",
        long_values: &["--conditions", "--env-file", "--input-type", "--inspect-port", "--title"],
        code: &["-e", "-p", "-pe", "--eval", "--print"],
        files: &["-r", "--require", "--import", "--loader", "--experimental-loader"],
        before: &["inspect", "debug"],
        ..PLAIN
    },
    Interpreter { names: &["deno", "bun"], before: &["run", "test", "bench"], code: &["eval", "-e", "-p"], ..PLAIN },
    Interpreter { names: &["ts-node", "tsx"], values: "PCO", code: &["-e", "-p"], files: &["-r"], ..PLAIN },
    Interpreter { names: &["ruby", "jruby"], values: "ICEFKx", code: &["-e"], files: &["-r"], ..PLAIN },
    Interpreter { names: &["perl"], values: "I", code: &["-e", "-E"], ..PLAIN },
    Interpreter {
        names: &["php"],
        values: "cdzS",
        code: &["-r", "-R", "-B", "-E"],
        files: &["-f", "-F", "--file", "--process-file"],
        ..PLAIN
    },
    Interpreter { names: &["lua", "luajit", "texlua"], values: "elj", ..PLAIN },
    Interpreter { names: &["expect"], values: "cd", files: &["-f"], ..PLAIN },
    Interpreter { names: &["rscript", "julia"], values: "Jptm", code: &["-e", "-E"], files: &["-L"], ..PLAIN },
    Interpreter { names: &["r"], files: &["-f"], operand: false, ..PLAIN },
    Interpreter { names: &["tclsh", "wish", "guile", "scala", "groovy", "elixir", "escript", "osascript"], ..PLAIN },
    Interpreter { names: &["java"], long_values: &["-cp", "-classpath", "--class-path"], files: &["-jar"], ..PLAIN },
    Interpreter { names: &["dotnet", "mono", "wine", "php-cgi", "octave", "bc", "ansible-playbook"], ..PLAIN },
    Interpreter { names: &["go"], before: &["run"], ..PLAIN },
    Interpreter { names: &["uv"], before: &["run"], ..PLAIN },
    Interpreter { names: &["awk", "gawk", "mawk", "nawk"], files: &["-f", "--file"], operand: false, ..PLAIN },
    Interpreter { names: &["sed", "gsed"], files: &["-f", "--file"], operand: false, ..PLAIN },
    Interpreter { names: &["jq"], files: &["-f", "--from-file"], operand: false, ..PLAIN },
    Interpreter {
        names: &["make", "gmake", "nmake", "ninja", "just"],
        files: &["-f", "--file", "--makefile", "--justfile"],
        operand: false,
        ..PLAIN
    },
    Interpreter { names: &["gdb", "lldb"], files: &["-x", "--command", "-s"], operand: true, ..PLAIN },
    Interpreter { names: &["vim", "nvim", "ex"], files: &["-S", "-u", "-s"], operand: false, ..PLAIN },
    Interpreter { names: &["psql"], files: &["-f", "--file"], operand: false, ..PLAIN },
    Interpreter { names: &["sqlite"], files: &["-init"], operand: false, ..PLAIN },
    Interpreter { names: &["tmux", "screen"], files: &["-f", "-c"], operand: false, ..PLAIN },
];

/// How a script is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Found {
    /// Where its path leads.
    ByPath,
    /// Where its path leads, else in `PATH`, as a shell finds its script.
    ByPathFirst,
    /// In `PATH`, unless it has a slash, as `.` finds it.
    InPathFirst,
}

/// The scripts that a command runs by its arguments.
pub(crate) fn scripts(words: &[Word]) -> Vec<(&Word, Found)> {
    let Some(name) = words.first().and_then(Word::value) else { return Vec::new() };
    let (name, arguments) = (base_name(name), &words[1..]);
    if matches!(name, "." | "source") {
        let operand = arguments.iter().find(|word| word.text != "--");
        return operand.map(|word| (word, Found::InPathFirst)).into_iter().collect();
    }
    if is_shell(name) {
        let call = ShellCall::read(arguments);
        let mut found: Vec<_> = call.file.map(|word| (word, Found::ByPathFirst)).into_iter().collect();
        found.extend(after(arguments, &["--rcfile", "--init-file"]).map(|word| (word, Found::ByPath)));
        return found;
    }
    interpreter(name).map(|known| known.scripts(arguments)).unwrap_or_default()
}

/// Whether a program runs what it reads on its standard input.
pub(crate) fn runs_its_input(words: &[Word]) -> bool {
    let name = words.first().and_then(Word::value).map(base_name);
    name.is_some_and(|name| is_shell(name) || interpreter(name).is_some_and(|known| known.operand))
}

fn interpreter(name: &str) -> Option<&'static Interpreter> {
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    // `python3.12`, `ruby2.7`, `lua5.4`
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    INTERPRETERS.iter().find(|known| known.names.iter().any(|known| *known == name || *known == stem))
}

/// What follows one of these options.
fn after<'w>(arguments: &'w [Word], options: &'w [&str]) -> impl Iterator<Item = &'w Word> {
    arguments.windows(2).filter(|pair| options.contains(&pair[0].text.as_str())).map(|pair| &pair[1])
}

impl Interpreter {
    fn scripts<'w>(&self, arguments: &'w [Word]) -> Vec<(&'w Word, Found)> {
        let mut found = Vec::new();
        let mut index = 0;
        let mut operand = self.operand;
        let mut before = true;
        while let Some(word) = arguments.get(index) {
            let Some(text) = word.value() else {
                // It may become anything; what has a known beginning may still be a path.
                if operand {
                    found.push((word, Found::ByPath));
                }
                break;
            };
            index += 1;
            if before && self.before.contains(&text) {
                before = false;
                continue;
            }
            if text == "--" {
                if operand && let Some(word) = arguments.get(index) {
                    found.push((word, Found::ByPath));
                }
                break;
            }
            if !text.starts_with('-') || text == "-" {
                if self.code.contains(&text) {
                    break;
                }
                if operand {
                    found.push((word, Found::ByPath));
                    operand = false;
                }
                // Programs whose operand is the script leave what follows to it.
                if self.operand {
                    break;
                }
                continue;
            }
            let short = !text.starts_with("--") && text.len() > 2;
            let is_code = |option: &&&str| text == **option || (short && is_bundled(text, option));
            if self.code.iter().any(|option| is_code(&option)) {
                operand = false;
                if self.operand {
                    break;
                }
            }
            if self.files.contains(&text) {
                if let Some(word) = arguments.get(index) {
                    found.push((word, Found::ByPath));
                }
                index += 1;
                if matches!(text, "-jar" | "-f") && self.operand {
                    break;
                }
            } else if self.long_values.contains(&text) || is_valued(text, self.values) {
                index += 1;
            }
        }
        found
    }
}

/// Whether the last letter of bundled short options is this option, as in `-Bc` and `-ne`.
fn is_bundled(text: &str, option: &str) -> bool {
    option.len() == 2 && text.ends_with(&option[1..]) && text[1..].bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Whether the value of the last of bundled short options is the next argument.
fn is_valued(text: &str, values: &str) -> bool {
    let letters = &text[1..];
    if letters.starts_with('-') {
        return false;
    }
    // The first one with a value takes the rest; only at the end it takes the next argument.
    letters
        .char_indices()
        .find(|(_, letter)| values.contains(*letter))
        .is_some_and(|(at, letter)| at + letter.len_utf8() == letters.len())
}

#[cfg(test)]
mod tests {
    use crate::CommandAnalysis;

    use super::scripts;

    #[track_caller]
    fn check(command: &str, expected: &[&str]) {
        let analysis = CommandAnalysis::new(command);
        let words = &analysis.segments[0].words;
        let found: Vec<&str> = scripts(words).into_iter().map(|(word, _)| word.text.as_str()).collect();
        assert_eq!(found, expected, "{command}");
    }

    #[test]
    fn the_script_of_an_interpreter() {
        check("bash -x run.sh a b", &["run.sh"]);
        check("bash -c 'echo' x", &[]);
        check("bash --rcfile rc -i", &["rc"]);
        check(". ./env.sh", &["./env.sh"]);
        check("source -- env.sh", &["env.sh"]);
        check("python3 x.py data.csv", &["x.py"]);
        check("python3.12 -u -W ignore x.py -c y", &["x.py"]);
        check("python3 -Wignore -B x.py", &["x.py"]);
        check("python3 -m pytest x.py", &[]);
        check("python -Bc 'print()' x.py", &[]);
        check("/usr/bin/node --require ./hook.js app.js z.js", &["./hook.js", "app.js"]);
        check("node -e 1 app.js", &[]);
        check("deno run -A main.ts", &["main.ts"]);
        check("ruby -I lib -rset x.rb", &["x.rb"]);
        check("perl -ne print x.txt", &[]);
        check("perl -w x.pl y", &["x.pl"]);
        check("php -f x.php y", &["x.php"]);
        check("awk -f a.awk data", &["a.awk"]);
        check("awk '{print}' data", &[]);
        check("make -f other.mk all", &["other.mk"]);
        check("make all", &[]);
        check("java -cp lib -jar app.jar", &["app.jar"]);
        check("go run main.go", &["main.go"]);
        check("sed -n -f s.sed data", &["s.sed"]);
        check("ls -la x", &[]);
    }
}
