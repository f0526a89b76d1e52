//! Hiding secrets in what leaves a tool.

use std::borrow::Cow;
use std::fmt::Debug;
use std::ops::Range;

/// Replaces secrets in text. The bus masks every result by itself; a tool that hands out one stream in pieces uses this
/// on the pieces, so that a secret which two of them share is hidden as well.
///
/// ```
/// use tool_api::{Mask, NoMask};
///
/// assert_eq!(NoMask.mask("", "plain", ""), "plain");
/// assert!(NoMask.secrets("", "plain", "").is_empty());
/// assert_eq!(NoMask.unfinished("plain"), 0);
/// ```
pub trait Mask: Debug + Send + Sync {
    /// Returns `text` with secrets replaced. What stands around it in the same stream is looked at and not returned; of
    /// a secret that reaches into `text` from there, the part inside is replaced. Text that is masked already comes
    /// back as it is.
    fn mask<'t>(&self, before: &str, text: &'t str, after: &str) -> Cow<'t, str>;

    /// Returns where [`Mask::mask`] finds secrets: byte ranges of `text` on character boundaries, in order and apart,
    /// for who has to keep a layout.
    fn secrets(&self, before: &str, text: &str, after: &str) -> Vec<Range<usize>>;

    /// Returns how many bytes at the end of `text` may be the beginning of a secret that is not all there yet: at most
    /// 4 096, always whole characters. More text or the end of the stream decides it.
    fn unfinished(&self, text: &str) -> usize;

    /// Hides a value from now on, for example what a person typed as a secret. Does nothing by default.
    fn learn(&self, secret: &[u8]) {
        let _ = secret;
    }
}

/// Hides nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMask;

impl Mask for NoMask {
    fn mask<'t>(&self, _before: &str, text: &'t str, _after: &str) -> Cow<'t, str> {
        Cow::Borrowed(text)
    }

    fn secrets(&self, _before: &str, _text: &str, _after: &str) -> Vec<Range<usize>> {
        Vec::new()
    }

    fn unfinished(&self, _text: &str) -> usize {
        0
    }
}
