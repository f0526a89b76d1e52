//! Hiding secrets in what leaves a tool.

use std::borrow::Cow;
use std::fmt::Debug;

/// Replaces secrets in text. The bus masks every result by itself; a tool that hands out one stream in pieces uses this
/// on the pieces, so that a secret which two of them share is hidden as well.
///
/// ```
/// use tool_api::{Mask, NoMask};
///
/// assert_eq!(NoMask.mask("", "plain", ""), "plain");
/// assert_eq!(NoMask.unfinished("plain"), 0);
/// ```
pub trait Mask: Debug + Send + Sync {
    /// Returns `text` with secrets replaced. What stands around it in the same stream is looked at and not returned; a
    /// secret that reaches into `text` from there is replaced by the part that is inside.
    fn mask<'t>(&self, before: &str, text: &'t str, after: &str) -> Cow<'t, str>;

    /// Returns how many bytes at the end of `text` may be the beginning of a secret that is not all there yet: at most
    /// 4 096, always whole characters. More text or the end of the stream decides it.
    fn unfinished(&self, text: &str) -> usize;
}

/// Hides nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMask;

impl Mask for NoMask {
    fn mask<'t>(&self, _before: &str, text: &'t str, _after: &str) -> Cow<'t, str> {
        Cow::Borrowed(text)
    }

    fn unfinished(&self, _text: &str) -> usize {
        0
    }
}
