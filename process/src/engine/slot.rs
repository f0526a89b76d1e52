//! A start that is under way: it holds a place among the running sessions, and can be called off.

use tokio::sync::watch;

use super::Owner;

/// How far a start is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    UnderWay,
    CalledOff,
    Over,
}

/// A start, as its pool knows it.
#[derive(Debug)]
pub(super) struct Starting {
    owner: Owner,
    phase: watch::Sender<Phase>,
}

impl Starting {
    pub(super) fn new(owner: Owner) -> Self {
        Self { owner, phase: watch::Sender::new(Phase::UnderWay) }
    }

    pub(super) fn owner(&self) -> &Owner {
        &self.owner
    }

    /// Asks the start to leave nothing.
    pub(super) fn call_off(&self) {
        self.phase.send_if_modified(|phase| {
            let under_way = *phase == Phase::UnderWay;
            if under_way {
                *phase = Phase::CalledOff;
            }
            under_way
        });
    }

    pub(super) fn is_called_off(&self) -> bool {
        *self.phase.borrow() == Phase::CalledOff
    }

    /// Waits until the start is called off.
    pub(super) async fn called_off(&self) {
        // The sender lives as long as this borrow.
        let _ = self.phase.subscribe().wait_for(|phase| *phase == Phase::CalledOff).await;
    }

    pub(super) fn set_over(&self) {
        self.phase.send_replace(Phase::Over);
    }

    /// Waits until the start has ended, one way or the other.
    pub(super) async fn over(&self) {
        let _ = self.phase.subscribe().wait_for(|phase| *phase == Phase::Over).await;
    }
}
