//! Programs through which a shell is reached, as data to review and extend.

/// Programs that start a shell when nothing but options is given, and the letters of their options with a value.
pub(super) const SHELL_WITHOUT_COMMAND: &[(&str, &str)] = &[
    ("pkexec", ""),
    ("unshare", "SGRw"),
    ("nsenter", "tSG"),
    ("linux32", ""),
    ("linux64", ""),
    ("i386", ""),
    ("x86_64", ""),
    ("firejail", ""),
    ("proot", "rbmqwkiRS"),
    ("run0", "uDg"),
    ("lima", ""),
    ("wsl", "du"),
    ("zellij", ""),
    ("byobu", ""),
    ("mc", ""),
    ("dbus-run-session", ""),
    ("fakeroot", "lis"),
    ("fakechroot", ""),
    ("gnu-screen", ""),
];

/// Programs that start a shell whatever their operands are.
pub(super) const SHELL_ALWAYS: &[&str] = &["newgrp", "login", "sulogin", "su-to-root"];

/// Programs that start a shell when nothing follows one operand.
pub(super) const SHELL_AFTER_OPERAND: &[(&str, &str)] = &[
    ("chroot", ""),
    ("setarch", ""),
    ("mosh", "p"),
    ("rlogin", "l"),
    ("rsh", "l"),
    ("slogin", "l"),
    ("et", "p"),
    ("arch-chroot", "u"),
    ("schroot", "cud"),
    ("telnet", ""),
    ("sg", ""),
];

/// `PROGRAM SUBCOMMAND` that opens a shell, unless one of the options or words behind it says what to run.
pub(super) const SHELL_SUBCOMMANDS: &[(&str, &[&str], &[&str])] = &[
    ("pipenv", &["shell"], &[]),
    ("poetry", &["shell"], &[]),
    ("hatch", &["shell"], &[]),
    ("pdm", &["shell"], &[]),
    ("rye", &["shell"], &[]),
    ("pixi", &["shell"], &[]),
    ("devbox", &["shell"], &["--"]),
    ("flox", &["activate"], &["--", "-c", "--command"]),
    ("nix", &["develop", "shell"], &["-c", "--command"]),
    ("guix", &["shell", "environment"], &["--"]),
    ("machinectl", &["shell", "login"], &[]),
    ("vagrant", &["ssh"], &["-c", "--command", "--"]),
    ("lxc", &["shell"], &[]),
    ("incus", &["shell"], &[]),
    ("multipass", &["shell"], &[]),
    ("limactl", &["shell"], &[]),
    ("colima", &["ssh"], &["--"]),
    ("minikube", &["ssh"], &["--"]),
    ("distrobox", &["enter"], &["--", "-e"]),
    ("toolbox", &["enter"], &[]),
    ("npm", &["explore"], &["--"]),
    ("fly", &["ssh"], &["-C", "--command"]),
    ("flyctl", &["ssh"], &["-C", "--command"]),
    ("heroku", &["ps:exec"], &[]),
    ("oc", &["rsh"], &[]),
    ("gh", &["codespace", "cs"], &["--", "--config"]),
    ("az", &["ssh", "webapp"], &["--help"]),
    ("aws-vault", &["exec"], &["--", "--server", "--ecs-server"]),
    ("aws", &["ssm"], &[]),
    ("chezmoi", &["cd"], &[]),
    ("spack", &["env"], &[]),
    ("docker-compose", &[], &[]),
];

/// Containers' default command is a shell in these images.
pub(super) const SHELL_IMAGES: &[&str] = &[
    "ubuntu",
    "debian",
    "alpine",
    "fedora",
    "centos",
    "rockylinux",
    "almalinux",
    "archlinux",
    "busybox",
    "bash",
    "amazonlinux",
    "opensuse",
    "oraclelinux",
    "kali",
    "kalilinux",
    "photon",
    "mageia",
    "voidlinux",
    "gentoo",
    "nixos",
    "buildpack-deps",
];

/// How a program gets code in its arguments.
#[derive(Clone, Copy, Debug)]
pub(super) enum Code {
    /// Behind one of these options (also glued to it, or with `=`).
    Options(&'static [&'static str]),
    /// In any argument.
    Any,
}

/// Programs that execute code given in their arguments.
pub(super) const CODE: &[(&str, Code)] = &[
    ("python", Code::Options(&["-c"])),
    ("pypy", Code::Options(&["-c"])),
    ("perl", Code::Options(&["-e", "-E"])),
    ("ruby", Code::Options(&["-e"])),
    ("irb", Code::Options(&["-e"])),
    ("node", Code::Options(&["-e", "-p", "--eval", "--print"])),
    ("nodejs", Code::Options(&["-e", "-p", "--eval", "--print"])),
    ("bun", Code::Options(&["-e", "--eval"])),
    ("deno", Code::Any),
    ("php", Code::Options(&["-r"])),
    ("lua", Code::Options(&["-e"])),
    ("luajit", Code::Options(&["-e"])),
    ("julia", Code::Options(&["-e", "-E"])),
    ("Rscript", Code::Options(&["-e"])),
    ("R", Code::Options(&["-e"])),
    ("guile", Code::Options(&["-c"])),
    ("elixir", Code::Options(&["-e"])),
    ("erl", Code::Options(&["-eval"])),
    ("groovy", Code::Options(&["-e"])),
    ("scala", Code::Options(&["-e"])),
    ("jrunscript", Code::Options(&["-e"])),
    ("tclsh", Code::Any),
    ("expect", Code::Options(&["-c"])),
    ("awk", Code::Any),
    ("gawk", Code::Any),
    ("mawk", Code::Any),
    ("nawk", Code::Any),
    ("gdb", Code::Options(&["-ex", "-eval-command", "--ex", "--eval-command", "-iex"])),
    ("lldb", Code::Options(&["-o", "-O", "--one-line"])),
    ("cpan", Code::Any),
    ("cobc", Code::Any),
    ("osascript", Code::Options(&["-e"])),
    ("emacs", Code::Options(&["--eval", "-eval", "--execute"])),
];

/// Options whose value is a command line that the program runs with its own terminal.
pub(super) const COMMAND_OPTIONS: &[(&str, &[&str])] = &[
    (
        "tar",
        &[
            "--checkpoint-action",
            "--to-command",
            "--use-compress-program",
            "-I",
            "--rsh-command",
            "--new-volume-script",
            "--info-script",
            "-F",
        ],
    ),
    ("bsdtar", &["--use-compress-program"]),
    ("rsync", &["-e", "--rsh"]),
    ("zip", &["-TT", "--unzip-command"]),
    ("nc", &["-e", "-c", "--exec", "--sh-exec"]),
    ("ncat", &["-e", "-c", "--exec", "--sh-exec"]),
    ("netcat", &["-e", "-c"]),
    ("ssh", &["-oProxyCommand", "-oLocalCommand", "-o"]),
    ("scp", &["-S", "-o"]),
    ("sftp", &["-S", "-o"]),
    ("man", &["-P", "-H", "--pager", "--html"]),
    ("git", &["-c", "--upload-pack", "--receive-pack", "-O", "--open-files-in-pager", "--exec", "-x"]),
    ("make", &["--eval", "-E"]),
    ("gmake", &["--eval", "-E"]),
    ("split", &["--filter"]),
    ("sort", &["--compress-program"]),
    ("mysql", &["-e", "--execute", "--pager"]),
    ("psql", &["-c", "--command"]),
    ("start-stop-daemon", &["-x", "--exec", "-a", "--startas"]),
    ("dtach", &["-c", "-A", "-n"]),
    ("abduco", &["-c", "-A"]),
    ("xterm", &["-e"]),
    ("run-parts", &["--regex"]),
    ("cpulimit", &["--"]),
    ("hyperfine", &["-S", "--shell"]),
    ("nmap", &["--script"]),
    ("less", &["-P"]),
    ("entr", &[]),
    ("pexec", &["-c"]),
    ("pg_dump", &[]),
    ("mail", &["--exec"]),
    ("fzf", &["--bind", "--preview"]),
];

/// Filters that copy what is typed to their output when they have no file.
pub(super) const FILTERS: &[&str] = &[
    "cat", "tee", "tr", "dd", "rev", "tac", "nl", "pv", "head", "tail", "sort", "uniq", "cut", "fold", "expand",
    "unexpand", "fmt", "col", "iconv", "base64", "base32", "xxd", "od", "read", "line", "mbuffer", "buffer", "sponge",
    "unbuffer", "ts", "zcat", "gunzip", "gzip", "xz", "bzip2", "zstd", "openssl", "gpg", "lolcat",
];

/// Filters whose first operand is a program or pattern, not a file.
pub(super) const FILTERS_WITH_PROGRAM: &[&str] =
    &["sed", "awk", "gawk", "mawk", "grep", "egrep", "fgrep", "rg", "perl", "jq", "tr"];
