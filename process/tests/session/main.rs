//! Sessions with real commands on real terminals.

mod defects;
mod lives;
mod support;
mod typing;
mod waits;

#[ctor::ctor(unsafe)]
fn serve() {
    process::run_if_requested();
}
