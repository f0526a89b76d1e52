//! The inbox: notices wait here until a front takes them to the model.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tool_api::{ChatId, Mask, NoMask, Notice, NoticeSink};

use crate::masking::mask_text;

/// Notices that wait a chat; the oldest go first when more come, which [`Inbox::take`] then says.
const MAX_WAITING: usize = 1_000;

/// Keeps the notices of each chat until a front takes them, in the order they came.
#[derive(Debug)]
pub struct Inbox {
    waiting: Mutex<HashMap<ChatId, Waiting>>,
    arrived: watch::Sender<u64>,
    mask: Arc<dyn Mask>,
}

#[derive(Debug, Default)]
struct Waiting {
    notices: VecDeque<Notice>,
    dropped: u64,
}

/// What [`Inbox::take`] gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// The notices, the oldest first.
    pub notices: Vec<Notice>,
    /// How many older ones were dropped since the last take because too many waited.
    pub dropped: u64,
}

impl Pending {
    /// Returns the text for the model, or nothing when nothing waits.
    pub fn text(&self) -> Option<String> {
        if self.notices.is_empty() {
            return None;
        }
        let mut texts: Vec<String> = Vec::with_capacity(self.notices.len() + 1);
        if self.dropped > 0 {
            texts.push(format!("[{} older notices were dropped]", self.dropped));
        }
        texts.extend(self.notices.iter().map(|notice| notice.text.clone()));
        Some(texts.join("\n\n"))
    }
}

impl Inbox {
    /// Makes an empty inbox.
    pub fn new() -> Self {
        Self { waiting: Mutex::default(), arrived: watch::Sender::new(0), mask: Arc::new(NoMask) }
    }

    /// Sets what hides secrets in notices as they come.
    #[must_use]
    pub fn with_mask(mut self, mask: Arc<dyn Mask>) -> Self {
        self.mask = mask;
        self
    }

    /// Takes all that waits for a chat; each notice is given once.
    pub fn take(&self, chat: &ChatId) -> Pending {
        let taken = self.lock().remove(chat).unwrap_or_default();
        Pending { notices: taken.notices.into(), dropped: taken.dropped }
    }

    /// Tells how many notices wait for a chat.
    pub fn waiting(&self, chat: &ChatId) -> usize {
        self.lock().get(chat).map_or(0, |waiting| waiting.notices.len())
    }

    /// Returns a receiver that changes whenever a notice of any chat arrives.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.arrived.subscribe()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ChatId, Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Inbox {
    fn default() -> Self {
        Self::new()
    }
}

impl NoticeSink for Inbox {
    fn notify(&self, mut notice: Notice) {
        mask_text(&mut notice.text, &*self.mask);
        {
            let mut waiting = self.lock();
            let waiting = waiting.entry(notice.chat.clone()).or_default();
            if waiting.notices.len() == MAX_WAITING {
                waiting.notices.pop_front();
                waiting.dropped += 1;
            }
            waiting.notices.push_back(notice);
        }
        self.arrived.send_modify(|count| *count += 1);
    }
}

#[cfg(test)]
mod tests {
    use tool_api::NoticeKind;

    use super::*;

    fn notice(chat: &str, sequence: u64) -> Notice {
        let text = format!("t1 says {sequence}");
        Notice { chat: chat.into(), kind: NoticeKind::Exit, source: "t1".into(), sequence, text, bytes: None }
    }

    #[test]
    fn gives_each_notice_once_and_in_order() {
        let inbox = Inbox::new();
        let mut arrived = inbox.watch();
        for sequence in 1..=3 {
            inbox.notify(notice("a", sequence));
        }
        inbox.notify(notice("b", 1));
        assert!(arrived.has_changed().unwrap());
        arrived.mark_unchanged();
        assert_eq!(inbox.waiting(&"a".into()), 3);
        let taken = inbox.take(&"a".into());
        assert_eq!(taken.text().unwrap(), "t1 says 1\n\nt1 says 2\n\nt1 says 3");
        assert_eq!(inbox.take(&"a".into()), Pending::default());
        assert_eq!(inbox.waiting(&"b".into()), 1);
        assert!(!arrived.has_changed().unwrap());
    }

    #[test]
    fn bounds_what_waits_and_counts_the_rest() {
        let inbox = Inbox::new();
        for sequence in 1..=MAX_WAITING as u64 + 2 {
            inbox.notify(notice("a", sequence));
        }
        let taken = inbox.take(&"a".into());
        assert_eq!((taken.notices.len(), taken.dropped), (MAX_WAITING, 2));
        assert_eq!(taken.notices[0].sequence, 3);
        assert!(taken.text().unwrap().starts_with("[2 older notices were dropped]\n\nt1 says 3"));
    }
}
