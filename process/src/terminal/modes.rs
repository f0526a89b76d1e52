//! The modes a program sets: what typing has to honour, and what DECRQM reports.

use crate::parse::Csi;

/// The modes that matter to who types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Modes {
    /// DECCKM: cursor keys send SS3 instead of CSI.
    pub application_cursor: bool,
    /// DECKPAM: the keypad sends sequences.
    pub application_keypad: bool,
    /// Mode 2004: a paste is put between marks.
    pub bracketed_paste: bool,
    /// Mode 47, 1047 or 1049: a full-screen program is on.
    pub alternate_screen: bool,
    /// Mode 1004: the program wants to know about focus.
    pub focus_events: bool,
    /// Modes 9, 1000, 1002, 1003: the program wants mouse events.
    pub mouse: bool,
    /// DECTCEM is reset: the cursor is hidden.
    pub hidden_cursor: bool,
}

/// The private modes that are tracked; all others are reported as not recognised.
const PRIVATE: [u16; 14] = [1, 6, 7, 9, 12, 25, 47, 1000, 1002, 1003, 1004, 1006, 1048, 2004];
const ALTERNATE: u16 = 47;

/// Every tracked mode.
#[derive(Debug, Clone, Copy)]
pub(super) struct ModeTable {
    private: [bool; PRIVATE.len()],
    keypad: bool,
    insert: bool,
    new_line: bool,
}

impl Default for ModeTable {
    fn default() -> Self {
        let private = PRIVATE.map(|mode| matches!(mode, 7 | 25));
        Self { private, keypad: false, insert: false, new_line: false }
    }
}

fn index(mode: u16) -> Option<usize> {
    let mode = if matches!(mode, 1047 | 1049) { ALTERNATE } else { mode };
    PRIVATE.iter().position(|&known| known == mode)
}

impl ModeTable {
    fn private(&self, mode: u16) -> bool {
        index(mode).is_some_and(|n| self.private[n])
    }

    pub(super) fn alternate(&self) -> bool {
        self.private(ALTERNATE)
    }

    pub(super) fn modes(&self) -> Modes {
        Modes {
            application_cursor: self.private(1),
            application_keypad: self.keypad,
            bracketed_paste: self.private(2004),
            alternate_screen: self.alternate(),
            focus_events: self.private(1004),
            mouse: [9, 1000, 1002, 1003].iter().any(|&mode| self.private(mode)),
            hidden_cursor: !self.private(25),
        }
    }

    pub(super) fn esc(&mut self, last: u8) {
        match last {
            b'=' => self.keypad = true,
            b'>' => self.keypad = false,
            b'c' => *self = Self::default(),
            _ => {}
        }
    }

    pub(super) fn csi(&mut self, csi: Csi<'_>) {
        match csi.function() {
            (b'?', 0, last @ (b'h' | b'l')) => {
                for mode in csi.params().filter_map(|mut subs| subs.next()) {
                    if let Some(n) = index(mode) {
                        self.private[n] = last == b'h';
                    }
                }
            }
            (0, 0, last @ (b'h' | b'l')) => {
                for mode in csi.params().filter_map(|mut subs| subs.next()) {
                    match mode {
                        4 => self.insert = last == b'h',
                        20 => self.new_line = last == b'h',
                        _ => {}
                    }
                }
            }
            // DECSTR resets modes but neither the screen in use nor the paste mode (xterm).
            (0, b'!', b'p') => {
                for (mode, on) in PRIVATE.iter().zip(&mut self.private) {
                    match mode {
                        1 | 6 => *on = false,
                        7 | 25 => *on = true,
                        _ => {}
                    }
                }
                (self.keypad, self.insert) = (false, false);
            }
            _ => {}
        }
    }

    /// What DECRQM reports: 0 not recognised, 1 set, 2 reset.
    pub(super) fn report_private(&self, mode: u16) -> u8 {
        index(mode).map_or(0, |n| report(self.private[n]))
    }

    /// What DECRQM reports for an ANSI mode.
    pub(super) fn report_ansi(&self, mode: u16) -> u8 {
        match mode {
            4 => report(self.insert),
            20 => report(self.new_line),
            _ => 0,
        }
    }
}

fn report(on: bool) -> u8 {
    if on { 1 } else { 2 }
}
