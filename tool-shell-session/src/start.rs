//! What a start runs: the shell, the environment, and the command made of them.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use process::{CommandSpec, Opened, PtySettings, PtySize, Stdio};
use tool_api::{Environment, Grant, StartDirectory};

/// What every session gets: a terminal that programs know, and no pager, which would wait for a key that nobody
/// presses.
const SET: [(&str, &str); 7] = [
    ("TERM", "xterm-256color"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GH_PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("SYSTEMD_PAGER", "cat"),
    ("AWS_PAGER", ""),
];
/// What describes another terminal, and would be believed more than the size of this one, and where the host is.
const UNSET: [&str; 5] = ["COLUMNS", "LINES", "TERMCAP", "PWD", "OLDPWD"];

/// Where programs are looked for without a `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Returns the environment of a session: the host's, what every session gets, and what the call sets on top.
pub(crate) fn environment(mut host: Environment, call: &BTreeMap<String, String>) -> Environment {
    for name in UNSET {
        host.remove(OsStr::new(name));
    }
    host.extend(SET.map(|(name, value)| (OsString::from(name), OsString::from(value))));
    host.extend(call.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))));
    host
}

/// Returns the shell that runs the commands: the configured one; else `$SHELL` if that is bash, bash, or `/bin/sh`.
///
/// A configured name that is nowhere in `PATH` is returned as it is; the start then says so.
pub(crate) fn shell(configured: Option<&Path>, environment: &Environment) -> PathBuf {
    if let Some(configured) = configured {
        let found = if configured.is_absolute() { None } else { find(configured, environment) };
        return found.unwrap_or_else(|| configured.to_path_buf());
    }
    let preferred = environment.get(OsStr::new("SHELL")).map(PathBuf::from);
    preferred
        .filter(|shell| shell.is_absolute() && shell.file_name() == Some(OsStr::new("bash")) && can_run(shell))
        .or_else(|| find(Path::new("bash"), environment))
        .unwrap_or_else(|| PathBuf::from("/bin/sh"))
}

/// Returns what to start: `SHELL -c COMMAND` on a new terminal, in the directory and with the shell that were approved.
///
/// # Errors
/// Why that directory could not be opened.
pub(crate) fn spec(
    shell: &Path,
    command: &str,
    workdir: PathBuf,
    mut environment: Environment,
    size: PtySize,
    grant: &Grant,
) -> Result<CommandSpec, Arc<io::Error>> {
    let mut opened = Opened { workdir: None, program: grant.program().cloned() };
    match grant.directory() {
        StartDirectory::ByPath => {}
        StartDirectory::Opened(directory) => {
            opened.workdir = Some(Arc::clone(&directory.file));
            // A shell believes it if it leads to where it is. Without links, so that `..` is what it looks like.
            environment.entry("PWD".into()).or_insert_with(|| directory.path.clone().into_os_string());
        }
        StartDirectory::Unavailable(error) => return Err(Arc::clone(error)),
    }
    let argv = [shell.as_os_str(), OsStr::new("-c"), OsStr::new(command)].map(OsStr::to_owned);
    Ok(CommandSpec {
        argv: argv.to_vec(),
        env: environment.into_iter().collect(),
        workdir,
        stdio: Stdio::Pty(size, PtySettings::default()),
        opened,
    })
}

fn find(name: &Path, environment: &Environment) -> Option<PathBuf> {
    let path = environment.get(OsStr::new("PATH")).cloned().unwrap_or_else(|| OsString::from(DEFAULT_PATH));
    // A relative entry would mean something else in every directory.
    std::env::split_paths(&path).filter(|dir| dir.is_absolute()).map(|dir| dir.join(name)).find(|file| can_run(file))
}

fn can_run(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(variables: &[(&str, &str)]) -> Environment {
        variables.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect()
    }

    #[test]
    fn the_call_is_above_the_session_which_is_above_the_host() {
        let host =
            env(&[("TERM", "dumb"), ("PAGER", "less"), ("LINES", "9"), ("PWD", "/x"), ("HOME", "/h"), ("LANG", "C")]);
        let call =
            BTreeMap::from([("LANG".to_owned(), "C.UTF-8".to_owned()), ("AWS_PAGER".to_owned(), "x".to_owned())]);
        let expected = env(&[
            ("TERM", "xterm-256color"),
            ("PAGER", "cat"),
            ("GIT_PAGER", "cat"),
            ("GH_PAGER", "cat"),
            ("MANPAGER", "cat"),
            ("SYSTEMD_PAGER", "cat"),
            ("AWS_PAGER", "x"),
            ("HOME", "/h"),
            ("LANG", "C.UTF-8"),
        ]);
        assert_eq!(environment(host, &call), expected);
    }

    #[test]
    fn the_shell_is_bash_where_there_is_one() {
        let dir = tempfile::tempdir().unwrap();
        let program = |name: &str, mode: u32| {
            let file = dir.path().join(name);
            std::fs::write(&file, "").unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            file
        };
        let path = |path: &Path| env(&[("PATH", path.to_str().unwrap()), ("SHELL", "/bin/zsh")]);
        let none = tempfile::tempdir().unwrap();
        assert_eq!(shell(None, &path(none.path())), Path::new("/bin/sh"));
        let bash = program("bash", 0o644);
        assert_eq!(shell(None, &path(dir.path())), Path::new("/bin/sh"), "a file that cannot run is no shell");
        program("bash", 0o755);
        assert_eq!(shell(None, &path(dir.path())), bash);
        assert_eq!(shell(None, &env(&[("PATH", ""), ("SHELL", bash.to_str().unwrap())])), bash);
        let zsh = program("zsh", 0o755);
        assert_eq!(shell(Some(Path::new("zsh")), &path(dir.path())), zsh);
        assert_eq!(shell(Some(Path::new("dash")), &path(dir.path())), Path::new("dash"));
        assert_eq!(shell(Some(Path::new("/opt/zsh")), &path(dir.path())), Path::new("/opt/zsh"));
    }
}
