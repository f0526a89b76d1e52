//! Scripts that a shell gets on its standard input, where the command line tells: here-documents, here-strings, `echo`.

use super::wrappers::{self, ShellCall, is_shell};
use super::{MAX_WRAPPING, Place, Reach, RedirectKind, Segment, Stdin, Word, Work};

/// Bytes of such texts that are looked at, over the whole command line.
const MAX_BYTES: usize = 20_000;
/// Commands of a pipeline before the shell that are looked at.
const MAX_PRODUCERS: usize = 16;

impl Work {
    /// Looks at what the shells among the segments from `base` on are fed with, for rules that deny.
    pub(super) fn fed(&mut self, base: usize, texts: &[(usize, String)], place: Place) {
        if place.depth >= MAX_WRAPPING {
            return;
        }
        let mut scripts = Vec::new();
        for (number, segment) in self.result.segments.iter().enumerate().skip(base) {
            if reads_script(segment)
                && let Some(text) = self.text_for(base, number, texts)
            {
                scripts.push((number, text));
            }
        }
        for (number, text) in scripts {
            self.fed += text.len();
            if self.fed > MAX_BYTES {
                self.doubt("too much text for shells");
                return;
            }
            let inner = Place {
                wrapper: Some(number),
                reach: Reach::DenyOnly,
                depth: place.depth + 1,
                stdin: Stdin::Inherited,
            };
            self.script(&text, true, inner, &[]);
        }
    }

    /// The text that a segment gets on its standard input.
    fn text_for(&self, base: usize, number: usize, texts: &[(usize, String)]) -> Option<String> {
        let segments = &self.result.segments;
        let mut current = Some(number);
        while let Some(segment) = current.filter(|at| *at >= base).and_then(|at| segments.get(at)) {
            if let Some(redirect) = segment.redirects.iter().rev().find(|redirect| redirect.feeds_stdin()) {
                if redirect.kind != RedirectKind::Text {
                    return None;
                }
                let body = texts.iter().find(|(at, _)| *at == redirect.target.span.start && *at > 0);
                return body.map(|(_, text)| text.clone()).or_else(|| redirect.target.value().map(str::to_owned));
            }
            current = segment.wrapper;
        }
        let Stdin::Pipe(first) = segments.get(number)?.stdin else { return None };
        let from = first.max(number.saturating_sub(MAX_PRODUCERS));
        segments.get(from..number)?.iter().rev().find_map(printed)
    }
}

/// Whether a segment is a shell that takes its commands from standard input.
fn reads_script(segment: &Segment) -> bool {
    let Some(name) = segment.program() else { return false };
    let arguments = &segment.words[1..];
    match name {
        "ssh" => return wrappers::options(arguments, "BbcDEeFIiJLlmOopQRSWw", &[]).0 + 1 == arguments.len(),
        "su" => return !arguments.iter().any(|word| word.text.starts_with("-c") || word.text.starts_with("--c")),
        _ if !is_shell(name) => return false,
        _ => {}
    }
    let call = ShellCall::read(arguments);
    let stdin = |word: &Word| matches!(&*word.text, "-" | "/dev/stdin" | "/dev/fd/0");
    !call.command && !call.informs && (call.stdin || call.file.is_none_or(stdin))
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
