//! Text that a tool pushes to the model without being asked.

use std::fmt::Debug;
use std::ops::Range;

use crate::ChatId;

/// What a [`Notice`] tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NoticeKind {
    /// Something that ran in the background ended.
    Exit,
    /// A monitored command printed lines that were asked for.
    Lines,
    /// A monitor ended, for a reason that the text gives.
    MonitorEnd,
    /// The host stopped something by itself: idle, lifetime.
    Stopped,
}

/// Text for the model of one chat, numbered by its source.
///
/// A sink delivers each notice exactly once and keeps the order of one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The chat it is for.
    pub chat: ChatId,
    /// What it tells.
    pub kind: NoticeKind,
    /// The id of what it is about, for example `t12`.
    pub source: String,
    /// Its number among the notices of its source, from 1.
    pub sequence: u64,
    /// Clean text for the model.
    pub text: String,
    /// The bytes of the source's output that it was made from, for monitors.
    pub bytes: Option<Range<u64>>,
}

/// Where tools send notices.
///
/// ```
/// use std::sync::Mutex;
/// use tool_api::{Notice, NoticeKind, NoticeSink};
///
/// #[derive(Debug, Default)]
/// struct Keep(Mutex<Vec<Notice>>);
///
/// impl NoticeSink for Keep {
///     fn notify(&self, notice: Notice) {
///         self.0.lock().expect("no holder panics").push(notice);
///     }
/// }
///
/// let sink = Keep::default();
/// sink.notify(Notice {
///     chat: "chat-1".into(),
///     kind: NoticeKind::Exit,
///     source: "t1".into(),
///     sequence: 1,
///     text: "t1 (cargo build) exited with code 0 after 12 s".into(),
///     bytes: None,
/// });
/// assert_eq!(sink.0.lock().unwrap().len(), 1);
/// ```
pub trait NoticeSink: Debug + Send + Sync {
    /// Takes a notice. Never blocks and cannot fail; when the model reads it is the sink's decision.
    fn notify(&self, notice: Notice);
}

/// Discards every notice.
#[derive(Clone, Copy, Debug, Default)]
pub struct Discard;

impl NoticeSink for Discard {
    fn notify(&self, _notice: Notice) {}
}
