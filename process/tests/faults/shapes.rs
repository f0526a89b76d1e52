//! Scripts whose processes leave their parent, group, session or environment.

/// Eight processes that detach themselves in different ways. Each prints its pid as `p=NUMBER`; the last line is
/// `ready`.
pub(crate) const ESCAPEES: &str = "sleep 71 & echo p=$!
    nohup sleep 72 >/dev/null 2>&1 & echo p=$!
    setsid sh -c 'echo p=$$; exec sleep 73' &
    (setsid sh -c 'echo p=$$; exec sleep 74 >/dev/null 2>&1' &)
    set -m; sleep 75 & echo p=$!; set +m
    (env -i setsid /bin/sh -c 'echo p=$$; exec sleep 76 >/dev/null 2>&1' &)
    sleep 77 & kill -STOP $!; echo p=$!
    echo p=$$
    sleep 0.3; echo ready; exec sleep 79";

/// How many processes [`ESCAPEES`] makes.
pub(crate) const ESCAPEES_COUNT: usize = 8;
