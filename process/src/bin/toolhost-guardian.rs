//! The fork server as a program of its own, for hosts that cannot be re-executed.

fn main() {
    #[cfg(unix)]
    process::run_if_requested();
    eprintln!("toolhost-guardian is started by a host that runs commands, not by hand");
    std::process::exit(2);
}
