//! The streams that are measured: ordinary ones, and hostile ones.

/// Lines of a log.
pub(crate) fn plain(size: usize) -> Vec<u8> {
    fill(size, |line| {
        format!(
            "2026-03-01T12:00:{:02}Z INFO worker{}: request {line} served in {} ms\n",
            line % 60,
            line % 8,
            line % 977
        )
    })
}

/// Lines of Chinese.
pub(crate) fn cjk(size: usize) -> Vec<u8> {
    fill(size, |line| format!("第{line}行：终端输出的文字需要保持完整，不能丢失任何字符。\n"))
}

/// A colour for every word.
pub(crate) fn colours(size: usize) -> Vec<u8> {
    fill(size, |line| {
        format!(
            "\x1b[1;3{}mcrate\x1b[0m \x1b[38;5;{}mmodule\x1b[39m::\x1b[4;32mname\x1b[24;39m ok\n",
            line % 8,
            line % 256
        )
    })
}

/// One line without an end.
pub(crate) fn one_line(size: usize) -> Vec<u8> {
    (0..size).map(|at| b'a' + (at % 26) as u8).collect()
}

/// What a program may print to slow down whoever reads it.
pub(crate) fn hostile(size: usize) -> Vec<(&'static str, Vec<u8>)> {
    let repeat = |unit: &[u8]| unit.iter().copied().cycle().take(size).collect::<Vec<u8>>();
    vec![
        ("ESC only", repeat(b"\x1b")),
        ("short sequences", repeat(b"\x1b[m\x1b[H\x1b7\x1b8\x1b(B")),
        ("cursor moves between letters", repeat(b"a\x1b[2Cb\x1b[5;7H")),
        ("sequences with many parameters", repeat(b"\x1b[1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16;17;18m")),
        ("a sequence without an end", {
            let mut bytes = repeat(b"1;");
            bytes[..2].copy_from_slice(b"\x1b[");
            bytes
        }),
        ("a control string without an end", {
            let mut bytes = repeat(b"x");
            bytes[..4].copy_from_slice(b"\x1b]0;");
            bytes
        }),
        ("control strings", repeat(b"\x1b]0;title\x07\x1bPq#0\x1b\\")),
        ("C1 controls", repeat("\u{9b}1m\u{85}\u{90}q\u{9c}".as_bytes())),
        ("progress bar", repeat(b"\r 42 % [=========>           ] 1234/5678")),
        ("a carriage return after each letter", repeat(b"a\r")),
        ("letters and backspaces", repeat(b"ab\x08\x08")),
        ("erased and typed again", repeat(b"abc\x08\x1b[K\x08\x1b[1P")),
        ("invalid UTF-8", repeat(b"\xff\xfea\xc3(\xe2\x82")),
        ("wide and combining characters", repeat("漢e\u{301}\u{200d}".as_bytes())),
        ("line feeds only", repeat(b"\n")),
        ("the alternate screen", {
            let mut bytes = repeat(b"\x1b[3;4Hword\x1b[K\r\n");
            bytes[..8].copy_from_slice(b"\x1b[?1049h");
            bytes
        }),
    ]
}

fn fill(size: usize, line: impl Fn(usize) -> String) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(size + 200);
    let mut number = 0;
    while bytes.len() < size {
        bytes.extend_from_slice(line(number).as_bytes());
        number += 1;
    }
    bytes
}
