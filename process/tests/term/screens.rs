//! The rendered screen: what each sequence does to it.

use process::screen::{LineFeed, Position, Screen, ScreenView, Size};

fn view(cols: u16, rows: u16, input: &str) -> ScreenView {
    let mut screen = Screen::new(Size { cols, rows });
    screen.feed(input.as_bytes(), LineFeed::Index);
    screen.view()
}

#[track_caller]
fn check(input: &str, expected: &[&str], row: usize, col: usize) {
    let view = view(10, 4, input);
    let mut rows = expected.to_vec();
    rows.resize(4, "");
    assert_eq!(view.rows, rows, "{input:?}");
    assert_eq!(view.cursor, Position { row, col }, "cursor after {input:?}");
}

#[test]
fn printing_and_wrapping() {
    check("abc\r\ndef", &["abc", "def"], 1, 3);
    check("abc\ndef", &["abc", "   def"], 1, 6);
    check("0123456789", &["0123456789"], 0, 9);
    check("0123456789a", &["0123456789", "a"], 1, 1);
    check("0123456789\rX", &["X123456789"], 0, 1);
    check("0123456789\x08X", &["01234567X9"], 0, 9);
    check("\x1b[?7l0123456789abc", &["012345678c"], 0, 9);
    check("1\r\n2\r\n3\r\n4\r\n5", &["2", "3", "4", "5"], 3, 1);
    check("a\tb", &["a       b"], 0, 9);
    check("a\t\t\tb", &["a        b"], 0, 9);
}

#[test]
fn wide_characters_and_marks() {
    check("日本", &["日本"], 0, 4);
    check("12345678a日", &["12345678a", "日"], 1, 2);
    check("日\x1b[2GX", &[" X"], 0, 2);
    check("日\x1b[1GX", &["X"], 0, 1);
    check("a日b\x1b[3GX", &["a Xb"], 0, 3);
    check("e\u{301}x", &["e\u{301}x"], 0, 2);
    check("日\u{301}x", &["日\u{301}x"], 0, 3);
    check("e\u{301}\u{302}\u{303}\u{304}\u{305}", &["e\u{301}\u{302}\u{303}"], 0, 1);
    check("\u{301}a", &["a"], 0, 1);
    check("日本\x1b[1;2H\x1b[P", &[" 本"], 0, 1);
    check("日本\x1b[1;2H\x1b[@", &["   本"], 0, 1);
}

#[test]
fn moving() {
    check("\x1b[2;3HX", &["", "  X"], 1, 3);
    check("\x1b[99;99HX", &["", "", "", "         X"], 3, 9);
    check("\x1b[3;3H\x1b[A\x1b[2D\x1b[BX", &["", "", "X"], 2, 1);
    check("\x1b[2;5H\x1b[EX\x1b[2FY\x1b[4GZ\x1b[3dW", &["Y  Z", "", "X   W"], 2, 5);
    check("\x1b[9999999999;9999999999HX", &["", "", "", "         X"], 3, 9);
    check("a\x1b7\x1b[3;3Hb\x1b8c", &["ac", "", "  b"], 0, 2);
    check("\x1b[3g\x1b[5G\x1bH\rX\tY", &["X   Y"], 0, 5);
    check("\t\x1b[ZX", &["X"], 0, 1);
}

#[test]
fn erasing_inserting_deleting() {
    check("abcdef\x1b[3G\x1b[K", &["ab"], 0, 2);
    check("abcdef\x1b[3G\x1b[1K", &["   def"], 0, 2);
    check("abcdef\x1b[3G\x1b[2K", &[""], 0, 2);
    check("abcdef\x1b[3G\x1b[2X", &["ab  ef"], 0, 2);
    check("abcdef\x1b[3G\x1b[2P", &["abef"], 0, 2);
    check("abcdef\x1b[3G\x1b[2@", &["ab  cdef"], 0, 2);
    check("0123456789\x1b[3G\x1b[4h+", &["01+2345678"], 0, 3);
    check("a\r\nb\r\nc\x1b[2;1H\x1b[J", &["a"], 1, 0);
    check("a\r\nb\r\nc\x1b[2;1H\x1b[1J", &["", "", "c"], 1, 0);
    check("a\r\nb\r\nc\x1b[2J", &[], 2, 1);
    check("a\r\nb\r\nc\x1b[2;1H\x1b[L", &["a", "", "b", "c"], 1, 0);
    check("a\r\nb\r\nc\x1b[2;1H\x1b[M", &["a", "c"], 1, 0);
    check("a\r\nb\r\nc\x1b[S", &["b", "c"], 2, 1);
    check("a\r\nb\r\nc\x1b[2T", &["", "", "a", "b"], 2, 1);
}

#[test]
fn margins_and_origin() {
    check("a\r\nb\r\nc\r\nd\x1b[2;3r\x1b[3;1H\nX", &["a", "c", "X", "d"], 2, 1);
    check("a\r\nb\r\nc\r\nd\x1b[2;3r\x1b[2;1H\x1bMX", &["a", "X", "b", "d"], 1, 1);
    check("\x1b[2;3r\x1b[?6h\x1b[9;1HX\x1b[1;1HY", &["", "Y", "X"], 1, 1);
    check("a\x1b[3;2rb", &["ab"], 0, 2);
}

#[test]
fn charsets_repeat_alignment_reset() {
    check("\x1b(0lqk\x1b(Bl", &["┌─┐l"], 0, 4);
    check("\x1b)0\x0elqk\x0fl", &["┌─┐l"], 0, 4);
    check("ab\x1b[3b", &["abbbb"], 0, 5);
    check("a\x1b[12b", &["aaaaaaaaaa", "aaa"], 1, 3);
    check("日\x1b[5b", &["日日日日日", "日"], 1, 2);
    check("\x1b#8\x1b[2;1H\x1b[J", &["EEEEEEEEEE"], 1, 0);
    check("abc\x1b[2;3r\x1b[4h\x1bcX", &["X"], 0, 1);
    check("abc\x1b[4h\x1b[?6h\x1b[!pX", &["Xbc"], 0, 1);
    check("a\x0bb\x0cc\x1bEd", &["a", " b", "  c", "d"], 3, 1);
    check("abc\x1b[20h\nd", &["abc", "d"], 1, 1);
}

#[test]
fn the_alternate_screen_has_its_own_text() {
    let main = "main\x1b[?1049halt";
    assert_eq!(view(10, 2, main).rows, ["    alt", ""]);
    assert!(view(10, 2, main).alternate);
    let back = view(10, 2, &format!("{main}\x1b[?1049l!"));
    assert_eq!(back.rows, ["main!", ""]);
    assert!(!back.alternate);
    for mode in [47, 1047] {
        let back = view(10, 2, &format!("main\x1b[?{mode}halt\x1b[?{mode}l!"));
        assert_eq!(back.rows, ["main   !", ""], "{mode}");
    }
    assert_eq!(view(10, 2, "\x1b[?47ha\x1b[?47l\x1b[?47h").rows, ["a", ""]);
    assert_eq!(view(10, 2, "\x1b[?1047ha\x1b[?1047l\x1b[?1047h").rows, ["", ""]);
}

#[test]
fn a_line_feed_follows_the_terminal_mode() {
    let mut screen = Screen::new(Size { cols: 10, rows: 3 });
    screen.feed(b"ab\n", LineFeed::NewLine);
    screen.feed(b"c\nd", LineFeed::Index);
    assert_eq!(screen.view().rows, ["ab", "c", " d"]);
    screen.feed(b"\x1b[?1049h\x1b[Hx\ny", LineFeed::NewLine);
    assert_eq!(screen.view().rows, ["x", " y", ""], "the alternate screen belongs to a raw program");
}

#[test]
fn resizing_keeps_text() {
    let mut screen = Screen::new(Size { cols: 10, rows: 4 });
    screen.feed(b"1\r\n2\r\n3\r\n0123456789", LineFeed::Index);
    screen.resize(Size { cols: 5, rows: 2 });
    assert_eq!(screen.view().rows, ["3", "01234"]);
    assert_eq!(screen.view().cursor, Position { row: 1, col: 4 });
    screen.resize(Size { cols: 8, rows: 3 });
    screen.feed(b"\r\nx", LineFeed::Index);
    assert_eq!(screen.view().rows, ["3", "01234", "x"]);
    let mut top = Screen::new(Size { cols: 10, rows: 4 });
    top.feed(b"1\r\n2\x1b[4;1H4\x1b[1;1H", LineFeed::Index);
    top.resize(Size { cols: 10, rows: 2 });
    assert_eq!(top.view().rows, ["1", "2"]);
}

#[test]
fn the_hidden_main_screen_survives_a_resize() {
    let mut screen = Screen::new(Size { cols: 10, rows: 4 });
    screen.feed(b"1\r\n2\r\n3\r\n4\x1b[?1049h\x1b[Hfull", LineFeed::Index);
    screen.resize(Size { cols: 10, rows: 2 });
    assert_eq!(screen.view().rows, ["full", ""]);
    screen.feed(b"\x1b[?1049l!", LineFeed::Index);
    assert_eq!(screen.view().rows, ["3", "4!"]);
}

#[test]
fn any_size_is_brought_inside() {
    for (cols, rows) in [(0, 0), (1, 1), (1, 1000), (1000, 1), (u16::MAX, u16::MAX)] {
        let mut screen = Screen::new(Size { cols, rows });
        screen.feed(
            "a日b\u{301}\x1b[5b\x1b[L\x1b[M\x1b[@\x1b[P\x1b[X\x1b[S\x1b[T\x1b#8\x1b[2;1r\t\x1b[Z".as_bytes(),
            LineFeed::Index,
        );
        screen.resize(Size { cols: rows, rows: cols });
        screen.feed(b"\x1b[999;999Hxyz\r\n\x1b[?1049hq\x1bM", LineFeed::Index);
        let size = screen.view().size;
        assert!((1..=1000).contains(&size.cols) && (1..=1000).contains(&size.rows));
    }
}
