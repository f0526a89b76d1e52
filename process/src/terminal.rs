//! The terminal's side of a command: one parse a chunk for clean text, modes and queries; a screen when it is asked for.
//!
//! An emulator on every byte costs several times what cleaning costs, and most output is never looked at as a screen.
//! So raw bytes wait until a screen is needed: somebody asks for it, a program asks where the cursor is, or the
//! alternate screen is on.

mod modes;
mod pending;
mod query;

pub use modes::Modes;

use crate::parse::{Csi, Parser, Sink, StringEnd, StringKind};
use crate::screen::{LineFeed, Screen, ScreenView, Size};
use crate::text::{Around, Cursor, Piece, TextRead, Transcript};
use modes::ModeTable;
use pending::Pending;
use query::Replies;

/// Output is taken in parts of this many bytes, so that what waits for the screen stays bounded within one call.
const PART: usize = 16 * 1024;

/// Sees the clean output as it comes, before lines are folded.
pub type Tap<'a> = &'a mut dyn FnMut(Piece<'_>);

/// Everything that is known of a terminal from what was written to it.
#[derive(Debug)]
pub struct Terminal {
    parser: Parser,
    transcript: Transcript,
    screen: Screen,
    pending: Pending,
    modes: ModeTable,
    replies: Replies,
}

impl Terminal {
    /// Creates a terminal of that size whose transcript retains `retained_chars` characters.
    pub fn new(size: Size, retained_chars: usize) -> Self {
        let mut transcript = Transcript::new(retained_chars);
        let screen = Screen::new(size);
        let size = screen.size();
        transcript.set_cols(size.cols.into());
        Self {
            parser: Parser::new(),
            transcript,
            screen,
            pending: Pending::new(size),
            modes: ModeTable::default(),
            replies: Replies::default(),
        }
    }

    /// Takes the next output. Any chunks give the same text, screen and replies.
    ///
    /// `line_feed` is what a line feed does at this moment, `tap` sees the clean text of these bytes.
    pub fn feed(&mut self, bytes: &[u8], line_feed: LineFeed, mut tap: Option<Tap<'_>>) {
        for part in bytes.chunks(PART) {
            let alternate = self.modes.alternate();
            // A part without any control byte, outside a sequence, is text and nothing else.
            let plain = self.parser.is_idle() && pending::is_plain(part);
            let (parser, mut feed) = self.split(part, line_feed, tap.as_mut().map(|tap| &mut **tap as Tap<'_>));
            parser.feed(part, &mut feed);
            let taken = feed.taken;
            if plain {
                self.pending.push_plain(part, line_feed);
            } else {
                self.pending.push(&part[taken..], line_feed);
            }
            if self.parser.take_line_inside() {
                self.pending.mark_moving();
            }
            if alternate || self.modes.alternate() {
                self.pending.flush(&mut self.screen);
            } else {
                self.pending.bound(&mut self.screen);
            }
        }
    }

    /// Ends the output: what was cut is given up, a cut character becomes U+FFFD. Nothing is fed afterwards.
    pub fn finish(&mut self, mut tap: Option<Tap<'_>>) {
        let (parser, mut feed) = self.split(&[], LineFeed::default(), tap.as_mut().map(|tap| &mut **tap as Tap<'_>));
        parser.finish(&mut feed);
    }

    /// The parser, and all that it feeds with `part`.
    fn split<'a>(
        &'a mut self,
        part: &'a [u8],
        line_feed: LineFeed,
        tap: Option<Tap<'a>>,
    ) -> (&'a mut Parser, Feed<'a>) {
        let Self { parser, transcript, screen, pending, modes, replies } = self;
        (parser, Feed { transcript, screen, pending, modes, replies, tap, line_feed, part, taken: 0 })
    }

    /// Takes the answers to what the program asked since the last call, in order; they are to be written to it.
    ///
    /// A program that asks has switched canonical mode off; answers for another one are to be thrown away.
    pub fn take_replies(&mut self) -> Vec<u8> {
        self.replies.take()
    }

    /// Whether there are answers to take.
    pub fn has_replies(&self) -> bool {
        !self.replies.is_empty()
    }

    /// The modes that matter to who types.
    pub fn modes(&self) -> Modes {
        self.modes.modes()
    }

    /// The rendered screen. Consumes nothing.
    pub fn screen(&mut self) -> ScreenView {
        self.pending.flush(&mut self.screen);
        self.screen.view()
    }

    /// Changes the size; sides outside 1 to [`crate::screen::MAX_SIDE`] are brought inside.
    pub fn resize(&mut self, size: Size) {
        self.pending.flush(&mut self.screen);
        self.screen.resize(size);
        let size = self.screen.size();
        self.pending.set_size(size);
        self.transcript.set_cols(size.cols.into());
    }

    /// The size.
    pub fn size(&self) -> Size {
        self.screen.size()
    }

    /// The clean text.
    pub fn transcript(&self) -> &Transcript {
        &self.transcript
    }

    /// The clean text, to read at a place or to make a cursor.
    pub fn transcript_mut(&mut self) -> &mut Transcript {
        &mut self.transcript
    }

    /// Reads at most `max_chars` characters from `cursor` on and moves it behind them.
    pub fn read(&mut self, cursor: &mut Cursor, max_chars: usize) -> TextRead {
        self.transcript.read(cursor, max_chars)
    }

    /// Looks at what a read would return, with up to `context` characters on both sides.
    pub fn around(&mut self, cursor: &Cursor, max_chars: usize, context: usize) -> Around {
        self.transcript.around(cursor, max_chars, context)
    }

    /// Takes a part of what was looked at; `false` when the cursor has moved meanwhile.
    pub fn take(&mut self, cursor: &mut Cursor, looked: &Around, chars: u64) -> bool {
        self.transcript.take(cursor, looked, chars)
    }

    /// Characters that `cursor` can still read.
    pub fn unread(&self, cursor: &Cursor) -> u64 {
        self.transcript.unread(cursor)
    }

    /// Bytes kept for a screen that nobody has asked for yet.
    pub fn pending_bytes(&self) -> usize {
        self.pending.len()
    }
}

/// Spreads what the parser finds in one part.
struct Feed<'a> {
    transcript: &'a mut Transcript,
    screen: &'a mut Screen,
    pending: &'a mut Pending,
    modes: &'a mut ModeTable,
    replies: &'a mut Replies,
    tap: Option<Tap<'a>>,
    line_feed: LineFeed,
    part: &'a [u8],
    /// Bytes of the part that the screen or `pending` already has.
    taken: usize,
}

impl Feed<'_> {
    fn piece(&mut self, piece: Piece<'_>) {
        self.transcript.push(piece);
        if let Some(tap) = &mut self.tap {
            tap(piece);
        }
    }
}

impl Sink for Feed<'_> {
    const TAKES_COLOURS: bool = false;

    fn text(&mut self, text: &str) {
        self.piece(Piece::Text(text));
    }

    fn carriage_return(&mut self) {
        self.piece(Piece::CarriageReturn);
    }

    fn backspace(&mut self) {
        self.piece(Piece::Backspace);
    }

    fn control(&mut self, byte: u8) {
        if byte != 0x07 {
            self.pending.mark_moving();
        }
    }

    fn esc(&mut self, intermediates: &[u8], last: u8) {
        if !pending::stays_in_line_esc(intermediates, last) {
            self.pending.mark_moving();
        }
        if intermediates.is_empty() {
            self.modes.esc(last);
        }
    }

    #[inline]
    fn csi(&mut self, csi: Csi<'_>, end: usize) {
        if csi.last() == b'm' && csi.marker() == 0 {
            return;
        }
        if !pending::stays_in_line(csi) {
            self.pending.mark_moving();
        }
        self.transcript.sequence(csi);
        self.modes.csi(csi);
        if query::needs_cursor(csi) && self.replies.has_room() {
            self.pending.push(&self.part[self.taken..end], self.line_feed);
            self.taken = end;
            self.pending.flush(self.screen);
        }
        self.replies.csi(csi, self.modes, self.screen);
    }

    fn string(&mut self, kind: StringKind, payload: &[u8], ended_by: StringEnd) {
        if kind == StringKind::Osc {
            self.replies.osc(payload, ended_by);
        }
    }
}
