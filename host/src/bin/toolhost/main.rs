//! The program `toolhost`: the tools of this workspace for a person and for MCP clients.

mod args;
mod check;
mod config;
mod failure;
mod output;
mod play;
mod tools;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};
use failure::Failure;

fn main() -> ExitCode {
    // Before anything else: this program is also the fork server that owns the commands.
    host::run_if_requested();
    let args = Args::parse();
    log_to_stderr();
    run(&args).unwrap_or_else(Failure::report)
}

fn run(args: &Args) -> Result<ExitCode, Failure> {
    match &args.command {
        #[cfg(feature = "mcp")]
        Command::Mcp => mcp(&args.common),
        Command::Play(play) => play::run(&args.common, play),
        Command::Tools { json } => tools::run(&args.common, *json),
        Command::Check(check) => check::run(&args.common, check),
        Command::Config { json } => config::run(&args.common, *json),
    }
}

#[cfg(feature = "mcp")]
fn mcp(common: &args::Common) -> Result<ExitCode, Failure> {
    // Taken first, so that nothing printed by mistake reaches the client.
    let stdio =
        host::mcp::Stdio::take().map_err(|error| Failure::machine("cannot use standard input and output", error))?;
    let settings = common.settings()?;
    let host = std::sync::Arc::new(common.host(&settings)?);
    let ended = host::mcp::serve(stdio, host, common.workspace()?, settings.mcp())
        .map_err(|error| Failure::machine("the MCP front failed", error))?;
    Ok(match ended {
        host::mcp::Ended::Closed => ExitCode::SUCCESS,
        host::mcp::Ended::Signal(signal) => ExitCode::from(signal.exit_code()),
    })
}

/// Shows warnings, or what `TOOLHOST_LOG` asks for (for example `debug` or `host=trace`), on standard error.
fn log_to_stderr() {
    use std::io::IsTerminal;
    use tracing_subscriber::EnvFilter;

    use tracing_subscriber::filter::filter_fn;
    use tracing_subscriber::fmt::format::FmtSpan;
    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::util::SubscriberInitExt;

    // Below `info` the MCP SDK shows whole messages, and a person's answer can be a secret.
    let no_messages = filter_fn(|meta| !meta.target().starts_with("rmcp") || *meta.level() <= tracing::Level::INFO);
    let builder = tracing_subscriber::fmt().with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
    match std::env::var("TOOLHOST_LOG") {
        Ok(filter) => {
            let builder = builder.with_span_events(FmtSpan::CLOSE).with_env_filter(EnvFilter::new(filter));
            builder.finish().with(no_messages).init();
        }
        Err(_) => builder.with_env_filter(EnvFilter::new("warn")).finish().with(no_messages).init(),
    }
}
