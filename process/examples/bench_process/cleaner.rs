//! The cleaner without a terminal: alone, and with all that a session does to what it reads.

use std::hint::black_box;

use process::parse::{Parser, Sink};
use process::screen::{LineFeed, Size};
use process::terminal::Terminal;
use process::text::Transcript;

use crate::engine::RETAINED;
use crate::row::{Limit, Pair, alternate};
use crate::{Plan, Result, inputs, proc};

/// What a session reads in one turn.
const CHUNK: usize = 32 * 1024;

/// Clean text, collected and thrown away.
#[derive(Default)]
struct Text(String);

impl Sink for Text {
    const TAKES_COLOURS: bool = false;

    fn text(&mut self, text: &str) {
        self.0.push_str(text);
    }

    fn carriage_return(&mut self) {
        self.0.push('\r');
    }

    fn backspace(&mut self) {
        self.0.push('\u{8}');
    }
}

pub(crate) fn measure(plan: Plan) -> Result<()> {
    let size = plan.amount(16 << 20);
    let half = Limit::RatioAtLeast(0.5);
    measure_input(plan, "plain", &inputs::plain(size), [half, Limit::None])?;
    measure_input(plan, "CJK", &inputs::cjk(size), [half, Limit::None])?;
    measure_input(plan, "dense colours", &inputs::colours(size), [Limit::AtLeast(0.8), Limit::None])?;
    for (name, bytes) in inputs::hostile(size / 4) {
        measure_input(plan, name, &bytes, [Limit::AtLeast(0.3); 2])?;
    }
    Ok(())
}

fn measure_input(plan: Plan, name: &str, bytes: &[u8], [text, retained]: [Limit; 2]) -> Result<()> {
    // Both sides write all they produce to memory that was used before.
    let mut copy = vec![1_u8; bytes.len()];
    // Room for what becomes U+FFFD.
    let mut clean = Text(" ".repeat(bytes.len() * 3));
    let floor = |copy: &mut Vec<u8>| {
        let mut at = 0;
        speed(bytes, copy, |copy, chunk| {
            copy[at..at + chunk.len()].copy_from_slice(chunk);
            at += chunk.len();
        })
    };
    let mut pair = Pair::default();
    let ours = || {
        let mut parser = Parser::new();
        clean.0.clear();
        speed(bytes, &mut clean, |clean, chunk| parser.feed(chunk, clean))
    };
    alternate(plan.repetitions, || floor(&mut copy), ours, |floor, ours| pair.push(floor, ours))?;
    pair.print("cleaner", &format!("{name}: text, floor memcpy"), "GB/s", text);

    let mut pair = Pair::default();
    let ours = || {
        let mut parser = Parser::new();
        speed(bytes, &mut Transcript::new(RETAINED), |transcript, chunk| transcript.feed(&mut parser, chunk))
    };
    alternate(plan.repetitions, || floor(&mut copy), ours, |floor, ours| pair.push(floor, ours))?;
    pair.print("cleaner", &format!("{name}: and lines, retained"), "GB/s", retained);

    let mut pair = Pair::default();
    let ours = || {
        let mut terminal = Terminal::new(Size::default(), RETAINED);
        speed(bytes, &mut terminal, |terminal, chunk| {
            terminal.feed(chunk, LineFeed::NewLine, None);
            black_box(terminal.take_replies());
        })
    };
    alternate(plan.repetitions, || floor(&mut copy), ours, |floor, ours| pair.push(floor, ours))?;
    pair.print("cleaner", &format!("{name}: and modes, queries, screen"), "GB/s", Limit::None);
    Ok(())
}

/// Feeds all bytes by chunks; returns GB a second of processor time, since nothing here waits.
fn speed<T>(bytes: &[u8], state: &mut T, mut feed: impl FnMut(&mut T, &[u8])) -> Result<f64> {
    let begun = proc::cpu_ms()?;
    for chunk in bytes.chunks(CHUNK) {
        feed(state, black_box(chunk));
        black_box(&mut *state);
    }
    Ok(bytes.len() as f64 / (proc::cpu_ms()? - begun) / 1e6)
}
