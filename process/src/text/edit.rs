//! What a line editor does inside the current line: honoured once the cursor went back in it.

use super::{LINE_CAP, Transcript, columns};
use crate::parse::Csi;
use crate::screen::MAX_SIDE;

/// What a line editor does to the current line behind the cursor; counts are columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edit {
    /// Forgets what stands behind the cursor (EL 0).
    Erase,
    /// Makes room for as many columns (ICH).
    Insert(u16),
    /// Closes up over as many columns (DCH).
    Delete(u16),
    /// Goes over as many columns (CUF).
    Forward(u16),
}

impl Edit {
    #[inline]
    pub(super) fn of(csi: Csi<'_>) -> Option<Self> {
        let count = csi.param(0, 1);
        match csi.function() {
            (0, 0, b'K') if csi.param(0, 0) == 0 => Some(Self::Erase),
            (0, 0, b'@') => Some(Self::Insert(count)),
            (0, 0, b'P') => Some(Self::Delete(count)),
            (0, 0, b'C') => Some(Self::Forward(count)),
            _ => None,
        }
    }
}

impl Transcript {
    pub(super) fn edit(&mut self, edit: Edit) {
        match edit {
            Edit::Erase => self.tail.clear(),
            Edit::Insert(count) if self.tail.len() < LINE_CAP as usize => self.tail.insert(count.min(MAX_SIDE).into()),
            Edit::Insert(_) => {}
            Edit::Delete(count) => self.tail.overwrite(count.into()),
            Edit::Forward(count) => {
                let mut left = usize::from(count);
                while left > 0
                    && let Some(char) = self.tail.pop()
                {
                    self.log.push(char.encode_utf8(&mut [0; 4]));
                    left = left.saturating_sub(columns(char));
                }
            }
        }
    }
}
