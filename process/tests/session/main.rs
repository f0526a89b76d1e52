//! Sessions with real commands on real terminals.

mod defects;
mod support;
mod waits;

#[ctor::ctor(unsafe)]
fn serve() {
    process::run_if_requested();
}
