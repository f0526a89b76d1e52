//! Scripts that a shell gets on its standard input, where the command line tells: here-documents, here-strings, `echo`.

use super::wrappers::{self, ShellCall, is_shell};
use super::{MAX_WRAPPING, Place, Reach, Redirect, RedirectKind, Segment, Stdin, Word, WordPart, Work};

/// Bytes of such texts that are looked at, over the whole command line.
const MAX_BYTES: usize = 20_000;
/// Commands of a pipeline before the shell that are looked at.
const MAX_PRODUCERS: usize = 16;

/// A here-document.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    /// Where its delimiter stands behind the operator, in bytes of the source.
    pub(super) at: usize,
    pub(super) text: String,
    /// Nothing in it is expanded.
    pub(super) fixed: bool,
}

/// The script that a shell gets.
enum Fed {
    /// It says so, word by word.
    Exactly(String),
    /// Something like it.
    Perhaps(String),
    Unknown,
}

impl Work {
    /// Looks at what the shells among the segments from `base` on are fed with.
    pub(super) fn fed(&mut self, base: usize, bodies: &[Body], place: Place) {
        let mut scripts = Vec::new();
        for (number, segment) in self.result.segments.iter().enumerate().skip(base) {
            if reads_script(segment)
                && let Some(fed) = self.fed_with(base, number, bodies)
            {
                scripts.push((number, fed));
            }
        }
        scripts.extend(self.substituted(base));
        for (number, fed) in scripts {
            let segment = &self.result.segments[number];
            let counts = segment.reach != Reach::DenyOnly && segment.program() != Some("ssh");
            if counts && !matches!(fed, Fed::Exactly(_)) {
                self.doubt("a shell reads commands that are known only when it runs");
            }
            let (text, reach) = match fed {
                Fed::Exactly(text) if counts => (text, Reach::Both),
                Fed::Exactly(text) | Fed::Perhaps(text) => (text, Reach::DenyOnly),
                Fed::Unknown => continue,
            };
            self.fed += text.len();
            if self.fed > MAX_BYTES || place.depth >= MAX_WRAPPING {
                self.doubt("too much text for shells");
                return;
            }
            let inner = Place { wrapper: Some(number), reach, depth: place.depth + 1, stdin: Stdin::Inherited };
            self.script(&text, true, inner, &[]);
        }
    }

    /// What `echo` prints into a script: `eval "$(echo ...)"`, `source <(echo ...)`.
    fn substituted(&self, base: usize) -> Vec<(usize, Fed)> {
        let segments = &self.result.segments;
        let runs_text =
            |word: &Word| word.value().is_some_and(|name| matches!(name, "eval" | "source" | ".") || is_shell(name));
        let found = segments.iter().skip(base).filter_map(|segment| {
            let outer = segment.within.filter(|within| within.word.is_some())?.segment;
            let text = printed(segment)?;
            segments.get(outer)?.words.iter().any(runs_text).then_some((outer, Fed::Perhaps(text)))
        });
        found.collect()
    }

    /// What a segment gets on its standard input, unless that is the terminal or a file.
    fn fed_with(&self, base: usize, number: usize, bodies: &[Body]) -> Option<Fed> {
        let segments = &self.result.segments;
        let mut current = Some(number);
        while let Some(segment) = current.filter(|at| *at >= base).and_then(|at| segments.get(at)) {
            if let Some(redirect) = segment.redirects.iter().rev().find(|redirect| redirect.feeds_stdin()) {
                return match redirect.kind {
                    RedirectKind::Text => Some(written(redirect, bodies)),
                    _ => None,
                };
            }
            current = segment.wrapper;
        }
        match segments.get(number)?.stdin {
            Stdin::Pipe(first) => {
                let from = first.max(number.saturating_sub(MAX_PRODUCERS));
                let text = segments.get(from..number)?.iter().rev().find_map(printed);
                Some(text.map_or(Fed::Unknown, Fed::Perhaps))
            }
            // Of the loop or group around it.
            Stdin::Redirected => Some(Fed::Unknown),
            Stdin::Inherited | Stdin::Nothing => None,
        }
    }
}

/// The text of a here-document or here-string.
fn written(redirect: &Redirect, bodies: &[Body]) -> Fed {
    let target = &redirect.target;
    let body = bodies.iter().find(|body| body.at == target.span.start && body.at > 0);
    match (body, target.value()) {
        (Some(body), _) if body.fixed => Fed::Exactly(body.text.clone()),
        (Some(body), _) => Fed::Perhaps(body.text.clone()),
        (None, Some(text)) => Fed::Exactly(text.to_owned()),
        (None, None) => {
            let piece = |part: &WordPart| match part {
                WordPart::Literal(text) => text.clone(),
                _ => "$x".to_owned(),
            };
            Fed::Perhaps(target.parts.iter().map(piece).collect())
        }
    }
}

/// Whether a segment is a shell that takes its commands from standard input.
fn reads_script(segment: &Segment) -> bool {
    let Some(name) = segment.program() else { return false };
    let arguments = &segment.words[1..];
    match name {
        // Another machine's, which only denying rules look at.
        "ssh" => return wrappers::options(arguments, "BbcDEeFIiJLlmOopQRSWw", &[]).0 + 1 == arguments.len(),
        "su" => return !arguments.iter().any(|word| word.text.starts_with("-c") || word.text.starts_with("--c")),
        "." | "source" => return arguments.first().is_some_and(is_input),
        _ if !is_shell(name) => return false,
        _ => {}
    }
    let call = ShellCall::read(arguments);
    !call.command && !call.informs && (call.stdin || call.file.is_none_or(is_input))
}

fn is_input(word: &Word) -> bool {
    matches!(&*word.text, "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
}

/// What `echo` and `printf` print, when it is known.
fn printed(segment: &Segment) -> Option<String> {
    let name = wrappers::base_name(segment.words.first()?.value()?);
    if !matches!(name, "echo" | "printf") {
        return None;
    }
    let mut text = String::new();
    for word in segment.words.iter().skip(1) {
        let value = word.value()?;
        if text.is_empty() && matches!(value, "-n" | "-e" | "-en" | "-ne" | "--") {
            continue;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(value);
    }
    Some(text.replace("\\n", "\n").replace("%s", " "))
}

#[cfg(test)]
mod tests {
    use super::super::CommandAnalysis;

    #[track_caller]
    fn check(command: &str, understood: bool, segments: &[&str]) {
        let analysis = CommandAnalysis::new(command);
        let found: Vec<&str> = analysis.segments.iter().map(|segment| segment.text.as_str()).collect();
        assert_eq!((analysis.is_understood(), found), (understood, segments.to_vec()), "{:?}", analysis.doubt);
    }

    #[test]
    fn the_script_on_a_shells_input_is_looked_into() {
        check("bash <<< 'rm x; ls'", true, &["bash", "rm x", "ls"]);
        check("bash -s a <<'E'\nrm x\nE", true, &["bash -s a", "rm x"]);
        check("sudo bash <<E\nrm x\nE", true, &["sudo bash", "bash", "rm x"]);
        check("bash <<-E\n\trm x\n\tE", true, &["bash", "rm x"]);
        check("source /dev/stdin <<< 'rm x'", true, &["source /dev/stdin", "rm x"]);
        check("bash < f", true, &["bash"]);
        check("bash f <<< 'rm x'", true, &["bash f"]);
        check("bash -c ls <<< 'rm x'", true, &["bash -c ls", "ls"]);
        check("cat <<< 'rm x'", true, &["cat"]);
        check("cat f | bash", false, &["cat f", "bash"]);
        check("echo rm x | bash", false, &["echo rm x", "bash", "rm x"]);
        check("bash <<< \"rm $x\"", false, &["bash", "rm $x"]);
        check("bash <<E\nrm $x\nE", false, &["bash", "rm $x"]);
        check("{ bash; } <<< 'rm x'", false, &["bash"]);
        check("source <(echo rm x)", false, &["source <(echo rm x)", "echo rm x", "rm x"]);
    }
}
