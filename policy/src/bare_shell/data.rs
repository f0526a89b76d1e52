//! Programs and words behind which the name of a shell is only data, to review and extend.

/// Whether a program takes the name of a shell as data.
pub(super) fn is_data_program(name: &str) -> bool {
    DATA_PROGRAMS.iter().any(|line| line.split(' ').any(|program| program == name))
}

/// Programs that take the name of a shell as a file, a package or a text, and never start it.
const DATA_PROGRAMS: &[&str] = &[
    // What shows files, and what names services.
    "vagrant ansible ansible-playbook ansible-galaxy packer evince okular zathura feh mpv vlc firefox chromium",
    "google-chrome steam nmap tcpdump iptables nft ufw firewall-cmd ss netstat gsettings dconf flatpak",
    // Text and files.
    "echo printf cat bat batcat tac nl head tail less more most pg cut sort uniq wc tr tee rev fold fmt column",
    "paste join comm diff sdiff colordiff delta cmp patch grep egrep fgrep zgrep rg ag ack ugrep sed gsed awk",
    "gawk mawk nawk jq yq xq xmllint iconv split csplit strings od xxd hexdump highlight pygmentize glow fzf sk",
    "look spell aspell yes seq expr figlet cowsay toilet ls dir vdir exa eza lsd tree stat file du df ncdu find",
    "gfind fd fdfind locate mlocate plocate updatedb cp mv rm ln mkdir rmdir touch chmod chown chgrp chattr",
    "lsattr install truncate shred unlink link mkfifo mknod mktemp dd readlink realpath basename dirname pathchk",
    "namei sync lsof fuser inotifywait getfacl setfacl getcap setcap trash trash-put rename md5sum sha1sum",
    "sha256sum sha512sum b2sum b3sum cksum shasum md5 sum ldd nm objdump readelf size strip patchelf ar tar",
    "bsdtar gtar zip unzip zipinfo gzip gunzip zcat bzip2 bunzip2 xz unxz zstd lz4 7z 7za rar unrar cpio scp sftp",
    "rsync rclone curl wget aria2c http xh",
    // Editors and viewers, whose own ways to a shell are looked at apart.
    "vi vim nvim view ex ed gvim vimdiff nvi nano pico micro emacs emacsclient hx helix kak joe mcedit mcview",
    "code codium subl gedit kate xdg-open open start",
    // What a shell itself does with a word.
    ": true false test [ cd pushd popd type hash command builtin alias unalias export unset set shift declare",
    "typeset local readonly read mapfile readarray let help enable return exit break continue trap wait jobs fg",
    "bg disown complete compgen compopt shopt source . umask ulimit getopts history fc kill",
    // What tells about programs, users and processes.
    "which whereis whatis apropos man info tldr cheat pydoc ps pgrep pkill killall pidof pstree top htop btop",
    "systemctl service journalctl loginctl chsh getent id groups finger who w useradd usermod userdel adduser",
    "deluser groupadd groupdel gpasswd passwd chage update-alternatives alternatives ssh-keygen ssh-copy-id",
    "ssh-add logger notify-send",
    // Packages.
    "apt apt-get apt-cache apt-mark apt-file aptitude dpkg dpkg-query dpkg-reconfigure rpm dnf yum microdnf",
    "zypper pacman yay paru makepkg apk emerge equery xbps-install xbps-query eopkg brew port pkg pkgin pkg_add",
    "opkg guix nix-env nix-build nix-store snap winget choco scoop mas pip pip3 pipx gem cpan cpanm luarocks opam",
    "cabal stack npm pnpm yarn bower composer cargo rustup rustc go gofmt conda mamba asdf sdk",
    // Builds and code, which run what is in the project.
    "make gmake cmake ninja meson bazel bazelisk buck buck2 scons just task mage rake gradle gradlew mvn mvnw ant",
    "sbt lein mix rebar3 dune configure autoreconf gcc g++ cc c++ clang clang++ ld as javac java dotnet tsc swift",
    "zig python pypy perl ruby node nodejs deno bun php lua luajit julia Rscript tclsh ts-node tsx pytest tox nox",
    "jest vitest prettier eslint black ruff mypy flake8 pylint shellcheck shfmt bashate checkbashisms hadolint",
    "ctags cscope cloc tokei scc degit pandoc doxygen gdb lldb",
    // Version control and services, whose ways to a shell are looked at apart.
    "git gh glab hub hg svn jj bzr fossil git-lfs tig lazygit docker podman nerdctl skopeo crane dive",
    "docker-compose kubectl oc helm kustomize k9s terraform tofu ansible-doc aws gcloud az doctl tmux screen",
    "crontab at psql mysql mariadb sqlite3 duckdb redis-cli mongosh xclip xsel wl-copy pbcopy bashcov ffmpeg",
    "ffprobe convert",
];

/// First operands of any program that say what is done with the words behind them.
pub(super) const DATA_VERBS: &[&str] = &[
    "add",
    "install",
    "uninstall",
    "remove",
    "rm",
    "delete",
    "del",
    "update",
    "upgrade",
    "search",
    "find",
    "info",
    "show",
    "list",
    "ls",
    "get",
    "view",
    "describe",
    "inspect",
    "create",
    "new",
    "init",
    "config",
    "set",
    "unset",
    "use",
    "pin",
    "hold",
    "help",
    "pull",
    "push",
    "build",
    "status",
    "logs",
    "stop",
    "kill",
    "restart",
    "download",
    "fetch",
    "clone",
    "edit",
    "completion",
    "completions",
    "plugin",
    "query",
    "why",
    "depends",
    "which",
    "where",
    "item",
    "version",
    "lint",
    "format",
    "check",
    "start",
    "enable",
    "disable",
];

/// Words that say, wherever they stand, that text for a shell is printed.
pub(super) const PRINTING_VERBS: &[&str] = &[
    "completion",
    "completions",
    "complete",
    "generate-completion",
    "generate-shell-completion",
    "hook",
    "init",
    "shellenv",
    "shell-init",
    "activate",
    "shell-hook",
    "shell-env",
    "docker-env",
    "prompt",
    "export",
    "integration",
    "shell-integration",
    "path",
];

/// Programs that start a shell in some of their forms, looked for behind programs that are not known.
pub(super) const LAUNCHERS: &[&str] = &["su", "sudo", "doas", "ssh", "chroot", "runuser"];

/// Options of any program whose next argument is data.
pub(super) const DATA_OPTIONS: &[&str] = &[
    "--shell",
    "--with-shell",
    "--name",
    "--output",
    "--bin",
    "--package",
    "--title",
    "--tag",
    "--message",
    "--lang",
    "--language",
    "--type",
    "--filter",
    "--target",
    "--file",
    "--path",
    "--dir",
    "--directory",
    "--format",
    "--interpreter",
    "--query",
    "--label",
];

/// Options of any program whose value is a command line.
pub(super) const COMMAND_VALUES: &[&str] =
    &["--command", "--cmd", "--exec", "--exec-command", "--shell-command", "--run-command", "--run"];

/// Shells whose names are words of other meanings too: only a whole path to them counts behind an unknown program.
pub(super) const AMBIGUOUS_SHELLS: &[&str] = &[
    "rc", "es", "ion", "oil", "cmd", "cmd.exe", "nu", "brush", "hush", "sash", "posh", "nash", "jsh", "murex", "bsh",
    "scsh",
];

/// Variables that name a tool of the person's own choice.
pub(super) const TOOL_VARIABLES: &[&str] = &[
    "EDITOR",
    "VISUAL",
    "PAGER",
    "MANPAGER",
    "GIT_EDITOR",
    "GIT_PAGER",
    "BROWSER",
    "CC",
    "CXX",
    "CPP",
    "LD",
    "AR",
    "NM",
    "STRIP",
    "MAKE",
    "CMAKE",
    "PYTHON",
    "PYTHON3",
    "PIP",
    "NODE",
    "NPM",
    "RUBY",
    "PERL",
    "JAVA",
    "JAVACMD",
    "GIT",
    "CARGO",
    "RUSTC",
    "GO",
    "DOCKER",
    "KUBECTL",
    "CHROME",
    "FC",
];

/// Programs that tell the path of another one.
pub(super) const LOOKUPS: &[&str] = &["which", "command", "type", "whence", "realpath", "readlink"];

/// Programs that make any text of what is given to them.
pub(super) const TEXT_MAKERS: &[&str] = &[
    "echo", "printf", "base64", "base32", "xxd", "od", "rev", "tr", "sed", "awk", "openssl", "perl", "python",
    "python3", "ruby", "read", "line", "head", "tail", "dd", "tee", "nc", "ncat", "gunzip", "zcat", "cut",
];
