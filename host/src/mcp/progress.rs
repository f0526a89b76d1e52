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
        let seconds = started.elapsed().as_secs_f64();
        let awaited = match ask.open.load(Ordering::Relaxed) {
            0 => format!("{title}: running for {seconds:.0} s"),
            _ => format!("{title}: waiting for the person's answer for {seconds:.0} s"),
        };
        let progress = ProgressNotificationParam::new(token.clone(), seconds).with_message(awaited);
        if peer.notify_progress(progress).await.is_err() {
            // The connection is gone, and with it the call soon.
            std::future::pending::<()>().await;
        }
    }
}
