//! The program `toolhost`: the tools of this workspace for a person and for MCP clients.

mod args;
mod check;
mod config;
mod failure;
mod logs;
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
    logs::to_stderr();
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
