//! The log and the panics of the program, on standard error, secrets hidden.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, PoisonError, RwLock};

use policy::SecretMask;
use tool_api::Mask;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// What hides secrets in the log; none before the program has read its environment.
static MASK: RwLock<Option<Arc<dyn Mask>>> = RwLock::new(None);

/// Shows warnings, or what `TOOLHOST_LOG` asks for (for example `debug` or `host=trace`), on standard error.
pub(crate) fn to_stderr() {
    let mask = SecretMask::new();
    mask.add_variables(std::env::vars_os());
    mask_with(&(Arc::new(mask) as Arc<dyn Mask>));
    std::panic::set_hook(Box::new(|panic| {
        let text = format!("{panic}\n");
        // Nothing is left to do when even this cannot be written.
        let _ = io::stderr().write_all(hidden(&text).as_bytes());
    }));
    // Below `info` the MCP SDK shows whole messages, and a person's answer can be a secret.
    let no_messages = filter_fn(|meta| !meta.target().starts_with("rmcp") || *meta.level() <= tracing::Level::INFO);
    let builder = tracing_subscriber::fmt().with_writer(|| Line(Vec::new())).with_ansi(io::stderr().is_terminal());
    match std::env::var("TOOLHOST_LOG") {
        Ok(filter) => {
            let builder = builder.with_span_events(FmtSpan::CLOSE).with_env_filter(EnvFilter::new(filter));
            builder.finish().with(no_messages).init();
        }
        Err(_) => builder.with_env_filter(EnvFilter::new("warn")).finish().with(no_messages).init(),
    }
}

/// Hides with this from now on.
pub(crate) fn mask_with(mask: &Arc<dyn Mask>) {
    *MASK.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(mask));
}

fn hidden(text: &str) -> String {
    let mask = MASK.read().unwrap_or_else(PoisonError::into_inner).clone();
    match mask {
        Some(mask) => mask.mask("", text, "").into_owned(),
        None => text.to_owned(),
    }
}

/// One entry of the log, written as a whole when it is complete, so that no write divides a secret.
struct Line(Vec<u8>);

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let text = String::from_utf8_lossy(&self.0);
        // A log that cannot be written stops nothing.
        let _ = io::stderr().write_all(hidden(&text).as_bytes());
    }
}
