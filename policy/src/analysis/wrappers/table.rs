//! Programs that run another command given in their arguments, as data to review and extend.

/// How a rule that allows the inner command relates to the wrapper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The wrapper changes nothing about what runs: a rule that allows the inner command allows both.
    Through,
    /// The inner command must be allowed, and the wrapper by a rule of its own.
    Both,
    /// The wrapper is a command of its own; only denying rules look inside.
    DenyOnly,
}

/// A program whose arguments are options, operands, then a command line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wrapper {
    pub(crate) name: &'static str,
    /// Letters of short options that take a value.
    pub(crate) short: &'static str,
    /// Long options whose value may be the next argument.
    pub(crate) long: &'static [&'static str],
    /// Operands before the command.
    pub(crate) operands: usize,
    /// Whether `NAME=value` may stand before the command.
    pub(crate) assigns: bool,
    pub(crate) reach: Reach,
}

const fn wrapper(
    name: &'static str,
    short: &'static str,
    long: &'static [&'static str],
    operands: usize,
    reach: Reach,
) -> Wrapper {
    Wrapper { name, short, long, operands, assigns: false, reach }
}

const fn assigning(
    name: &'static str,
    short: &'static str,
    long: &'static [&'static str],
    reach: Reach,
) -> Wrapper {
    Wrapper { name, short, long, operands: 0, assigns: true, reach }
}

use Reach::{Both, DenyOnly, Through};

/// Each entry follows the program's manual page.
pub(crate) const WRAPPERS: &[Wrapper] = &[
    assigning(
        "sudo",
        "ugpChrtTRDU",
        &[
            "user", "group", "prompt", "close-from", "host", "role", "type", "command-timeout",
            "chroot", "chdir", "other-user",
        ],
        Both,
    ),
    assigning("doas", "uC", &[], Both),
    assigning("env", "uC", &["unset", "chdir"], Through),
    wrapper("genv", "uC", &["unset", "chdir"], 0, Both),
    wrapper("nice", "n", &["adjustment"], 0, Through),
    wrapper("nohup", "", &[], 0, Through),
    wrapper("timeout", "ks", &["kill-after", "signal"], 1, Through),
    wrapper("gtimeout", "ks", &["kill-after", "signal"], 1, Through),
    // `time` as a keyword never gets here; this is time(1), which can write a file.
    wrapper("time", "of", &["output", "format"], 0, Both),
    wrapper("stdbuf", "ioe", &["input", "output", "error"], 0, Through),
    wrapper("setsid", "", &[], 0, Through),
    wrapper("ionice", "cnpPu", &["class", "classdata", "pid", "pgid", "uid"], 0, Through),
    wrapper("chrt", "TPDp", &["sched-runtime", "sched-period", "sched-deadline", "pid"], 1, Both),
    wrapper("taskset", "p", &["pid"], 1, Both),
    wrapper("builtin", "", &[], 0, Through),
    wrapper("exec", "a", &[], 0, Through),
    wrapper(
        "xargs",
        "EIPnLsad",
        &[
            "arg-file", "delimiter", "max-args", "max-lines", "max-chars", "max-procs", "replace",
            "process-slot-var", "eof",
        ],
        0,
        Through,
    ),
    wrapper("flock", "wEo", &["wait", "timeout", "conflict-exit-code"], 1, Both),
    wrapper("busybox", "", &[], 0, Both),
    wrapper("toybox", "", &[], 0, Both),
    wrapper("strace", "abeoOpsSPuUEIX", &["output", "trace", "attach", "user", "env"], 0, Both),
    wrapper("ltrace", "aAbDeFlnopsuwx", &["output"], 0, Both),
    wrapper("valgrind", "", &[], 0, Both),
    wrapper("firejail", "", &[], 0, Both),
    wrapper("bwrap", "", &[], 0, DenyOnly),
    wrapper("rlwrap", "bCDfFghHilmMOpPqsStUwz", &[], 0, Both),
    wrapper("unbuffer", "", &[], 0, Through),
    wrapper("unshare", "SGRw", &["setuid", "setgid", "root", "wd", "map-user", "map-group", "propagation"], 0, Both),
    wrapper("nsenter", "tSG", &["target", "setuid", "setgid"], 0, Both),
    wrapper("chroot", "", &["userspec", "groups"], 1, Both),
    wrapper("setpriv", "", &["reuid", "regid", "groups", "inh-caps", "ambient-caps", "bounding-set", "securebits", "pdeathsig"], 0, Both),
    wrapper("prlimit", "po", &["pid", "output"], 0, Both),
    wrapper("setarch", "", &[], 1, Both),
    wrapper("linux32", "", &[], 0, Both),
    wrapper("linux64", "", &[], 0, Both),
    wrapper("i386", "", &[], 0, Both),
    wrapper("x86_64", "", &[], 0, Both),
    wrapper("systemd-run", "HMptEPGdu", &["unit", "property", "description", "slice", "uid", "gid", "nice", "working-directory", "setenv"], 0, Both),
    wrapper("systemd-inhibit", "", &["what", "who", "why", "mode"], 0, Through),
    wrapper("caffeinate", "tw", &[], 0, Through),
    wrapper("runuser", "ugG", &["user", "group", "supp-group"], 0, Both),
    wrapper("pkexec", "", &["user"], 0, Both),
    wrapper("gosu", "", &[], 1, Both),
    wrapper("su-exec", "", &[], 1, Both),
    wrapper("dbus-run-session", "", &["config-file", "dbus-daemon"], 0, Both),
    wrapper("dbus-launch", "", &[], 0, Both),
    wrapper("xvfb-run", "enfps", &["server-num", "server-args", "auth-file", "error-file"], 0, Both),
    wrapper("faketime", "", &[], 1, Both),
    wrapper("fakeroot", "lis", &["lib", "faked"], 0, Both),
    wrapper("proxychains", "f", &[], 0, Both),
    wrapper("proxychains4", "f", &[], 0, Both),
    wrapper("torsocks", "", &[], 0, Both),
    wrapper("catchsegv", "", &[], 0, Both),
    wrapper("ssh-agent", "aEOPt", &[], 0, Both),
    wrapper("numactl", "", &[], 0, Both),
    wrapper("cgexec", "g", &[], 0, Both),
    wrapper("winpty", "", &[], 0, Both),
    wrapper("aa-exec", "pn", &["profile", "namespace"], 0, Both),
    wrapper("ccache", "", &[], 0, DenyOnly),
    wrapper("npx", "pc", &["package"], 0, DenyOnly),
    wrapper("bunx", "", &[], 0, DenyOnly),
    wrapper("uvx", "", &["from", "with", "python"], 0, DenyOnly),
    wrapper("ssh-copy-id", "ipo", &[], 0, DenyOnly),
];

/// `PROGRAM SUBCOMMAND [options] command...`, an environment runner: a command of its own.
pub(crate) const RUNNERS: &[(&str, &[&str], &str, usize)] = &[
    ("poetry", &["run"], "", 0),
    ("pipenv", &["run"], "", 0),
    ("pdm", &["run"], "", 0),
    ("hatch", &["run"], "", 0),
    ("rye", &["run"], "", 0),
    ("uv", &["run"], "p", 0),
    ("conda", &["run"], "np", 0),
    ("mamba", &["run"], "np", 0),
    ("micromamba", &["run"], "np", 0),
    ("bundle", &["exec"], "", 0),
    ("direnv", &["exec"], "", 1),
    ("mise", &["exec", "x"], "", 0),
    ("rtx", &["exec", "x"], "", 0),
    ("asdf", &["exec"], "", 0),
    ("pyenv", &["exec"], "", 0),
    ("rbenv", &["exec"], "", 0),
    ("nvm", &["exec"], "", 1),
    ("volta", &["run"], "", 0),
    ("devbox", &["run"], "c", 0),
    ("flox", &["activate"], "d", 0),
    ("pixi", &["run"], "e", 0),
    ("npm", &["exec", "x"], "c", 0),
    ("pnpm", &["exec", "dlx"], "", 0),
    ("yarn", &["exec", "dlx"], "", 0),
    ("rustup", &["run"], "", 1),
    ("docker", &["exec"], "euw", 1),
    ("docker", &["run"], "evwpuhlmc", 1),
    ("podman", &["exec"], "euwl", 1),
    ("podman", &["run"], "evwpuhlmc", 1),
    ("nerdctl", &["exec"], "euw", 1),
    ("nerdctl", &["run"], "evwpuhlmc", 1),
    ("kubectl", &["exec"], "cnf", 1),
    ("oc", &["exec", "rsh"], "cn", 1),
    ("lxc", &["exec"], "", 1),
    ("incus", &["exec"], "", 1),
    ("distrobox", &["enter"], "n", 1),
    ("toolbox", &["run"], "cdr", 0),
    ("heroku", &["run"], "a", 0),
    ("fly", &["ssh"], "aC", 1),
    ("vagrant", &["ssh"], "", 1),
    ("adb", &["shell"], "", 0),
];

/// Options of containers' long forms that take a value.
pub(crate) const RUNNER_VALUES: &[&str] = &[
    "env", "user", "workdir", "volume", "publish", "name", "network", "entrypoint", "hostname",
    "mount", "label", "memory", "cpus", "platform", "container", "namespace", "prefix", "python",
    "with", "index", "service", "env-file", "env-vars", "device", "ulimit", "add-host", "package", "context", "kubeconfig",
];

/// Options before the subcommand that take a value, for programs with subcommands: a denying rule looks past them.
pub(crate) const SUBCOMMANDS: &[(&str, &str, &[&str])] = &[
    ("git", "Cc", &["git-dir", "work-tree", "namespace", "exec-path", "super-prefix", "config-env", "attr-source"]),
    ("docker", "cHl", &["config", "context", "host", "log-level", "tlscacert", "tlscert", "tlskey"]),
    ("podman", "c", &["connection", "url", "identity", "root", "runroot", "log-level"]),
    ("kubectl", "ns", &["namespace", "context", "kubeconfig", "cluster", "user", "server", "token", "as"]),
    ("helm", "n", &["namespace", "kube-context", "kubeconfig"]),
    ("npm", "w", &["prefix", "workspace", "registry", "loglevel", "userconfig", "cache"]),
    ("pnpm", "CF", &["dir", "filter", "loglevel", "config"]),
    ("yarn", "", &["cwd"]),
    ("cargo", "CZ", &["config", "color", "manifest-path"]),
    ("go", "C", &[]),
    ("systemctl", "HMtp", &["host", "machine", "type", "property", "state", "root"]),
    ("terraform", "", &[]),
    ("gh", "R", &["repo"]),
    ("aws", "", &["profile", "region", "output", "endpoint-url", "query", "ca-bundle"]),
    ("gcloud", "", &["project", "account", "configuration", "format"]),
    ("pip", "", &["python", "log", "proxy", "cache-dir"]),
    ("pip3", "", &["python", "log", "proxy", "cache-dir"]),
    ("apt", "oct", &["option", "config-file"]),
    ("apt-get", "oct", &["option", "config-file"]),
    ("brew", "", &[]),
    ("dnf", "c", &["config", "installroot"]),
    ("ip", "", &[]),
    ("hg", "R", &["repository", "cwd", "config"]),
    ("svn", "", &["config-dir", "username", "password"]),
    ("make", "CfIjlo", &["directory", "file", "jobs", "include-dir"]),
];

/// Shells, by the name of the program.
pub(crate) const SHELLS: &[&str] = &[
    "sh", "bash", "rbash", "dash", "ash", "zsh", "rzsh", "ksh", "rksh", "ksh93", "mksh", "pdksh", "oksh", "lksh", "yash",
    "posh", "fish", "csh", "tcsh", "nu", "elvish", "xonsh", "pwsh", "powershell", "osh", "ysh",
    "rc", "es", "scsh", "hush", "sash", "ion", "murex", "oil", "bosh", "pbosh", "obosh", "bsh", "jsh", "nash", "bash5", "zsh5", "brush", "cmd", "cmd.exe", "powershell.exe", "pwsh-preview",
];
