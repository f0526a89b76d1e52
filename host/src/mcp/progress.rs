//! Progress: what a client that asked for it hears while a call runs.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RoleServer};

use super::ask::Ask;

/// Tells the client at every interval that a call still runs, until it is dropped.
///
/// The value is the seconds since the call began, so it always grows.
pub(crate) async fn tell(peer: &Peer<RoleServer>, token: ProgressToken, title: &str, ask: &Ask, every: Duration) {
    let started = Instant::now();
    loop {
        tokio::time::sleep(every).await;
        let elapsed = started.elapsed();
        let awaited = awaited(title, ask.open.load(Ordering::Relaxed), elapsed);
        let progress = ProgressNotificationParam::new(token.clone(), elapsed.as_secs_f64()).with_message(awaited);
        if peer.notify_progress(progress).await.is_err() {
            // The connection is gone, and with it the call soon.
            std::future::pending::<()>().await;
        }
    }
}

/// Says what a call does. Seconds count when they are over.
fn awaited(title: &str, open_questions: usize, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs();
    match open_questions {
        0 => format!("{title}: running for {seconds} s"),
        _ => format!("{title}: waiting for the person's answer for {seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_not_rounded_up() {
        assert_eq!(awaited("Sleep", 0, Duration::from_millis(600)), "Sleep: running for 0 s");
        assert_eq!(awaited("Sleep", 1, Duration::from_millis(1_999)), "Sleep: waiting for the person's answer for 1 s");
    }
}
