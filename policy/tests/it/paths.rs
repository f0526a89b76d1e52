//! Which paths of a command line lie outside the workspace.

use std::path::Path;

use policy::Policy;
use tool_api::{CommandKind, Workspace};

fn outside_of(command: &str, workspace: &Path, home: &Path) -> String {
    let policy = Policy::new().with_home(home);
    let found = policy.explain(command, CommandKind::Once, &Workspace::new(workspace)).outside;
    if found.is_empty() { "none".to_owned() } else { found.join(",") }
}

/// Checks commands in `/srv/proj` with the home directory `/home/u`, neither of which need exist.
#[track_caller]
fn check_all(rows: &[(&str, &str)]) {
    let mut failures = Vec::new();
    for (command, expected) in rows {
        let found = outside_of(command, Path::new("/srv/proj"), Path::new("/home/u"));
        if !expected.split('|').any(|one| one == found) {
            failures.push(format!("{command:?}: want {expected}, have {found}"));
        }
    }
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), rows.len(), failures.join("\n"));
}

#[test]
fn rows_of_the_table() {
    let rows = crate::cases::rows("path");
    let mut failures = Vec::new();
    for row in &rows {
        let found = outside_of(&row.command, Path::new("/srv/proj"), Path::new("/home/u"));
        let expected = row.expected.strip_prefix("outside=").unwrap();
        assert!(!row.benign || expected == "none", "{}", row.id);
        if !expected.split('|').any(|one| one == found) {
            failures.push(format!("{}: {:?} want {expected}, have {found}", row.id, row.command));
        }
    }
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), rows.len(), failures.join("\n"));
}

#[test]
fn names_are_taken_as_the_shell_takes_them() {
    check_all(&[
        ("cat a", "none"),
        ("cat ../x", "/srv/x"),
        ("cat ..", "/srv"),
        ("cat ../proj/x", "none"),
        ("cat ../projX/a", "/srv/projX/a"),
        ("cat /srv/projX/a", "/srv/projX/a"),
        ("cat /srv/proj", "none"),
        ("cat /srv//proj//a", "none"),
        ("cat //etc/passwd", "/etc/passwd"),
        ("cat /srv/proj/a/../../../x", "/x"),
        ("cat '/etc/passwd'", "/etc/passwd"),
        ("cat \"/etc\"/passwd", "/etc/passwd"),
        ("cat /e''tc/passwd", "/etc/passwd"),
        ("cat /etc\\/passwd", "/etc/passwd"),
        ("cat ~", "/home/u"),
        ("cat ~/x", "/home/u/x"),
        ("cat ~/../ann/x", "/home/ann/x"),
        ("cat \"~/x\"", "none"),
        ("cat \\~/x", "none"),
        ("cat a~", "none"),
        ("cat ~other/x", "?"),
        ("cat ~+/x", "none"),
        ("cat ~-/x", "?"),
        ("cat $HOME/x", "/home/u/x"),
        ("cat \"$HOME/x y\"", "/home/u/x y"),
        ("cat '$HOME/x'", "none"),
        ("cat $PWD/x", "none"),
        ("cat ${PWD}/../x", "/srv/x"),
        ("cat \"$OLDPWD\"", "?"),
        ("cat \"${D:-/etc}\"/x", "?"),
        ("cat /etc/$F", "?"),
        ("cat $((1+1))", "none"),
        ("cat $((1+1))/../../x", "?"),
        ("cat log.$$", "none"),
        ("cat {a,b}", "none"),
        ("cat {a,../b}", "/srv/b"),
        ("cat {a,/etc/{passwd,hosts}}", "/etc/passwd,/etc/hosts"),
        ("cat {'/etc/passwd',a}", "/etc/passwd|?"),
        ("cat x{1..3}", "none"),
        ("cat {$HOME,a}/x", "/home/u/x"),
        ("cat {~,a}/x", "/home/u/x|?"),
        ("cat $'\\x2e\\x2e/x'", "/srv/x"),
        ("cat *", "none"),
        ("cat src/*.rs", "none"),
        ("cat **/*.rs", "none"),
        ("cat [ab].c", "none"),
        ("cat x?y", "none"),
        ("cat /srv/proj/*.rs", "none"),
        ("cat ../*", "?"),
        ("cat */../../x", "?"),
        ("cat /*/passwd", "?"),
        ("cat /etc/*", "?"),
        ("cat ~/*", "?"),
        ("cat $HOME/*.txt", "?"),
        ("cat .*", "?"),
        ("cat .[a-z]*", "none|?"),
        ("cat ./.?*", "?"),
        ("cat '*'", "none"),
        ("cat ./a/./b/..", "none"),
    ]);
}

#[test]
fn redirections_are_files() {
    check_all(&[
        ("< /etc/passwd", "/etc/passwd"),
        ("< /etc/passwd cat", "/etc/passwd"),
        ("cat < ../x", "/srv/x"),
        ("echo x > f", "none"),
        ("echo x >> f 2>&1", "none"),
        ("echo x > ../f", "/srv/f"),
        ("echo x > $HOME/f", "/home/u/f"),
        ("echo x > ~/a/../b", "/home/u/b"),
        ("echo x &> /tmp/e", "/tmp/e"),
        ("echo x &>> /tmp/e", "/tmp/e"),
        ("echo x >& /tmp/e", "/tmp/e"),
        ("echo x >& 2", "none"),
        ("echo x <> /tmp/e", "/tmp/e"),
        ("echo x {fd}> /tmp/e", "/tmp/e"),
        ("exec 3< /tmp/e", "/tmp/e"),
        ("exec 3<&-", "none"),
        ("> /tmp/e", "/tmp/e"),
        ("ls >> /dev/null 2>> /dev/stderr", "none"),
        ("ls > /dev/tty", "none"),
        ("ls > /dev/sda", "/dev/sda"),
        ("echo x > /dev/tcp/host/80", "/dev/tcp/host/80"),
        ("cat < /dev/udp/host/53", "/dev/udp/host/53"),
        ("cat <<< /etc/passwd", "none"),
        ("cat <<'E'\n/etc/passwd $(cat /etc/shadow)\nE", "none"),
        ("cat <<E\n/etc/passwd\nE", "none"),
        ("cat <<E | tee /tmp/x\n$(cat ../y)\nE", "/srv/y,/tmp/x"),
        ("cat <<A <<B\n`cat /etc/a`\nA\n$(cat /etc/b)\nB", "/etc/a,/etc/b"),
        ("(ls) > /tmp/e", "/tmp/e"),
        ("{ cd src; ls; } > ../e", "/srv/e"),
        ("for i in a b; do echo $i; done > /tmp/e", "/tmp/e"),
        ("while read l; do echo $l; done < /etc/passwd", "/etc/passwd"),
        ("until false; do :; done 2> /tmp/e", "/tmp/e"),
        ("case x in x) ls;; esac > /tmp/e", "/tmp/e"),
        ("[[ -n x ]] > /tmp/e", "/tmp/e"),
        ("(( 1 )) > /tmp/e", "/tmp/e"),
        ("f() { ls; } > /tmp/e; f", "/tmp/e"),
        ("ls | tee a > /tmp/e", "/tmp/e"),
        ("diff <(cat /etc/a) <(cat b)", "/etc/a"),
        ("tee >(cat > /tmp/e)", "/tmp/e"),
        ("x=$(cat /etc/a)", "/etc/a"),
        ("echo \"$(cat /etc/a)\" '$(cat /etc/b)'", "/etc/a"),
        ("echo `cat /etc/a`", "/etc/a"),
        ("echo ${x:-$(cat /etc/a)}", "/etc/a"),
        ("echo $(( $(cat /etc/a) ))", "/etc/a"),
        ("[[ -f /etc/passwd ]]", "/etc/passwd"),
        ("[[ ! -e ../x && -d src ]]", "/srv/x"),
        ("[[ a -nt /etc/passwd ]]", "/etc/passwd"),
        ("[[ /etc/passwd -ot a ]]", "/etc/passwd"),
        ("[[ /etc/passwd == x ]]", "none"),
        ("[[ $x == /* ]]", "none"),
        ("[[ -n /etc/passwd ]]", "none"),
    ]);
}

#[test]
fn directories_are_followed() {
    check_all(&[
        ("cd /tmp && touch x", "/tmp,/tmp/x"),
        ("cd /tmp; touch x", "/tmp,/tmp/x"),
        ("cd /tmp\ntouch x", "/tmp,/tmp/x"),
        ("cd /tmp || touch x", "/tmp"),
        ("cd /tmp || exit 1; touch x", "/tmp,/tmp/x"),
        ("cd /no/such || exit 1; touch x", "/no/such,/no/such/x"),
        ("cd /no/such; touch x", "/no/such,/no/such/x"),
        ("cd /no/such && ls; touch ../x", "/no/such,/no/x,/srv/x"),
        ("cd /tmp && touch /srv/proj/x", "/tmp"),
        ("cd src && touch x", "none"),
        ("cd src && touch ../x", "none"),
        ("cd src && touch ../../x", "/srv/x"),
        ("cd src; touch ../x", "/srv/x"),
        ("cd src && cd .. && touch x", "none"),
        ("cd src && cd ../.. && touch x", "/srv,/srv/x"),
        ("cd a/b/c && cat ../../../x", "none"),
        ("cd a/b/c && cat ../../../../x", "/srv/x"),
        ("cd ..", "/srv"),
        ("cd .", "none"),
        ("cd ''", "none"),
        ("cd -- /tmp", "/tmp"),
        ("cd -P /tmp", "/tmp"),
        ("cd -L ../..", "/"),
        ("cd ~", "/home/u"),
        ("cd ~/x && cat y", "/home/u/x,/home/u/x/y"),
        ("cd && cat y", "/home/u,/home/u/y"),
        ("cd $HOME; cat /srv/proj/a", "/home/u"),
        ("cd \"$HOME\" && cat .bashrc", "/home/u,/home/u/.bashrc"),
        ("cd /tmp; cd -; touch x", "/tmp"),
        ("cd /tmp && cd - && touch x", "/tmp"),
        ("cd /tmp && cat \"$OLDPWD/a\"", "/tmp"),
        ("cd /tmp && cat ~-/a", "/tmp"),
        ("cd /tmp && cat $PWD/a", "/tmp,/tmp/a"),
        ("cd \"$D\"; touch x", "?"),
        ("cd $(mktemp -d) && touch x", "?"),
        ("cd \"$D\" && touch /tmp/x", "/tmp/x,?"),
        ("(cd \"$D\"); touch x", "?"),
        ("(cd /tmp && touch x); touch y", "/tmp,/tmp/x"),
        ("{ cd /tmp; }; touch x", "/tmp,/tmp/x"),
        ("cd /tmp | cat; touch x", "/tmp"),
        ("ls | cd /tmp; touch x", "/tmp"),
        ("cd /tmp & wait; touch x", "/tmp"),
        ("x=$(cd /tmp; cat y); touch x", "/tmp,/tmp/y"),
        ("cat <(cd /tmp; cat y); touch x", "/tmp,/tmp/y"),
        ("coproc cd /tmp; touch x", "/tmp"),
        ("if cd /tmp; then touch x; fi", "/tmp,/tmp/x"),
        ("if cd /no/such; then touch x; else touch y; fi", "/no/such,/no/such/x"),
        ("! cd /no/such && touch x", "/no/such"),
        ("if true; then cd /tmp; fi; touch x", "/tmp,/tmp/x"),
        ("if true; then :; elif cd /tmp; then touch a; else touch b; fi", "/tmp,/tmp/a"),
        ("while cd ..; do touch x; done", "/srv,/srv/x,/,/x,?|/srv,/srv/x,/,/x"),
        ("for d in a b; do (cd $d && cat x); done", "none"),
        ("for d in a /tmp; do (cd $d && cat x); done", "/tmp,/tmp/x"),
        ("for d in a b; do cd $d && cat x && cd ..; done", "none|/srv|?|/srv,?"),
        ("for f in *.txt; do cat \"$f\"; done", "none"),
        ("for f in /etc/*; do cat \"$f\"; done", "?"),
        ("for f in a b; do cat ../$f; done", "/srv/a,/srv/b"),
        ("for f; do cat \"$f\"; done", "?"),
        ("until cd /tmp; do :; done; touch x", "/tmp,/tmp/x"),
        ("case $1 in a) cd /tmp;; b) cd src;; esac; cat ../x", "/tmp,/x,/srv/x|/tmp,/srv/x,/x"),
        ("case $1 in a) cd /tmp;& b) touch x;; c) touch y;; esac", "/tmp,/tmp/x"),
        ("f() { cd /tmp; }; f; touch x", "/tmp,/tmp/x"),
        ("f() { touch x; }; cd /tmp; f", "/tmp,/tmp/x"),
        ("f() { touch x; }; (cd /tmp; f); f", "/tmp,/tmp/x"),
        ("f() { cd /tmp || return; touch x; }; f", "/tmp,/tmp/x"),
        ("f() { cat /etc/a; }", "/etc/a"),
        ("f() { f; }; f; touch x", "none"),
        ("f() { cd ..; f; }; f; touch x", "/srv,/,/srv/x,/x"),
        ("pushd /tmp && touch x && popd && touch y", "/tmp,/tmp/x"),
        ("pushd src; touch ../x; popd", "/srv/x"),
        ("pushd /tmp; pushd; touch y", "/tmp"),
        ("pushd /tmp > /dev/null; pushd /srv/proj; popd; touch z", "/tmp,/tmp/z"),
        ("popd; touch x", "none"),
        ("pushd +1; touch x", "?"),
        ("pushd -n /tmp; touch x", "none"),
        ("CDPATH=/etc cd ssl && cat x", "/etc/ssl,/etc/ssl/x|?"),
        ("export CDPATH=/etc; cd ssl", "/etc/ssl"),
        ("CDPATH=/etc; cd ./ssl", "none"),
        ("CDPATH=$X cd ssl", "?"),
        ("HOME=/tmp; cd; cat x", "/tmp,/tmp/x"),
        ("HOME=/tmp cd", "/tmp"),
        ("command cd /tmp; touch x", "/tmp,/tmp/x"),
        ("builtin cd /tmp && touch x", "/tmp,/tmp/x"),
        ("eval 'cd /tmp'; touch x", "/tmp,/tmp/x"),
        ("eval cd /tmp '&&' touch x", "/tmp,/tmp/x"),
        ("bash -c 'cd /tmp; touch x'; touch y", "/tmp,/tmp/x"),
        ("bash -c '{ ls; } > ../x'", "/srv/x"),
        ("cd /tmp && bash -c 'cat x'", "/tmp,/tmp/x"),
        ("cd src && bash -c 'cat ../x'", "none"),
        ("env -C /tmp touch x && touch y", "/tmp,/tmp/x"),
        ("env --chdir=/tmp touch x", "/tmp,/tmp/x"),
        ("env -C src cat ../x", "none"),
        ("exit; touch ../x", "/srv/x"),
        ("cd() { builtin cd /tmp; }; cd src; cat x", "/tmp,/tmp/x"),
        ("exit() { :; }; cd /tmp; exit; touch x", "/tmp,/tmp/x"),
        ("true && cd /tmp && exit; touch x", "/tmp"),
        ("cd /tmp; (touch a; cd /; touch b); touch c", "/tmp,/tmp/a,/,/b,/tmp/c"),
    ]);
}

#[test]
fn variables_of_the_command_line_are_known() {
    check_all(&[
        ("D=/tmp; cat $D/x", "/tmp/x"),
        ("D=src; cat $D/x", "none"),
        ("D=src && cat \"$D/x\"", "none"),
        ("D=/tmp; D=src; cat $D/x", "none"),
        ("cat $D/x; D=src", "?"),
        ("D=$X; cat $D", "?"),
        ("D=~; cat $D/x", "/home/u/x"),
        ("D=/tmp; E=$D/y; cat $E", "/tmp/y"),
        ("D=/tmp cat $D/x", "?"),
        ("export D=/tmp; cat $D/x", "/tmp/x"),
        ("declare D=/tmp; cat $D/x", "/tmp/x"),
        ("local D=src; cat $D/x", "none"),
        ("declare -n D=E; cat $D/x", "?"),
        ("D=a; D+=/../../x; cat $D", "?"),
        ("D=(a b); cat $D", "?"),
        ("D=a; read D; cat $D", "?"),
        ("D=a; printf -v D /etc/x; cat $D", "?"),
        ("D=a; unset D; cat $D/x", "?"),
        ("D=a; . ./env; cat $D", "?"),
        ("D=a; eval \"$X\"; cat $D", "?"),
        ("D=a; true && D=/tmp; cat $D/x", "/tmp/x"),
        ("if x; then D=a; else D=/tmp; fi; cat $D/x", "?"),
        ("D=b; if x; then D=a; else D=/tmp; fi; cat $D/x", "/tmp/x"),
        ("D=a; while x; do cat $D; D=/tmp; done", "/tmp"),
        ("D='a /etc'; cat $D", "?"),
        ("D='a b'; cat \"$D\"", "none"),
        ("D=a; bash -c 'cat $D/etc/passwd'", "?"),
        ("D=/tmp; f() { cat $D; }; f", "/tmp"),
        ("OUT=/tmp/o; echo x > $OUT", "/tmp/o"),
        ("OUT=/tmp/o; echo x > \"$OUT\"", "/tmp/o"),
        ("D=/tmp; cd $D && touch x", "/tmp,/tmp/x"),
        ("for D in a b; do :; done; cat $D", "none"),
    ]);
}

#[test]
fn parameters_that_the_script_tells_are_known() {
    check_all(&[
        ("bash -c 'cat \"$1\"' x /etc/passwd", "/etc/passwd"),
        ("bash -c 'cat \"$1\"' x src/a", "none"),
        ("bash -c 'cat \"$@\"' x a ../b", "/srv/b"),
        ("bash -c 'cat \"$2\"' x a", "?"),
        ("bash -c 'cat \"$1\"'", "?"),
        ("f() { cat \"$1\"; }; f /etc/passwd; f a", "/etc/passwd"),
        ("f() { cat \"$1\"; }; f a", "none"),
        ("f() { cat \"$1\"; }; f \"$X\"", "?"),
        ("f() { \"$@\"; }; f cat /etc/passwd", "/etc/passwd"),
        ("f() { \"$@\"; }; f env cat /etc/passwd", "/etc/passwd"),
        ("f() { \"$@\"; }; f bash -c 'cd /; cat etc/passwd'", "/,/etc/passwd|/etc/passwd,/"),
        ("f() { cat x > \"$1\"; }; f a", "?"),
        ("f() { cd \"$1\" && ls; }; f src; touch x", "none"),
        ("f() { cd \"$1\" && ls; }; f /tmp; touch x", "/tmp,/tmp/x"),
        ("mkcd() { mkdir -p \"$1\" && cd \"$1\"; }; mkcd src; touch ../../x", "/srv/x,/x|/x,/srv/x"),
        ("set -- /etc/passwd; cat \"$1\"", "/etc/passwd"),
        ("cat \"$1\"", "?"),
        ("for f in \"$@\"; do cat \"$f\"; done", "?"),
        ("cat \"$(pwd)/x\"", "none"),
        ("cat `pwd`/../x", "/srv/x"),
        ("cd /tmp && cat $(pwd)/x", "/tmp,/tmp/x"),
        ("cat \"$(pwd -P)/x\"", "?"),
        ("cat out$((1+1)).txt", "none"),
        ("i=0; i=$((i+1)); cat out$i", "none"),
        ("cat /etc/$((i))", "?"),
        ("sh -c \"cat $HOME/x\"", "/home/u/x"),
        ("D=/etc; bash -c \"cd $D && cat passwd\"", "/etc,/etc/passwd"),
        ("D=src; bash -c \"cat $D/a\"", "none"),
        ("bash -c \"$X\"", "?"),
        ("eval \"cat $HOME/x\"", "/home/u/x"),
        ("HOME=/etc bash -c 'cat ~/passwd'", "?"),
        ("env HOME=/etc bash -c 'cat ~/passwd'", "?"),
        ("su -c 'cat ~/x' bob", "?"),
        ("cat /etc/a > /tmp/x", "/etc/a,/tmp/x"),
        ("> /tmp/x cat /etc/a", "/tmp/x,/etc/a"),
        ("cd /tmp > ../log", "/tmp,/srv/log"),
        ("source ~/.bashrc", "/home/u/.bashrc"),
        (". venv/bin/activate && pip list && cat ~/x", "/home/u/x"),
        ("echo /etc/passwd | xargs cat", "/etc/passwd"),
        ("printf '%s\\n' a ../b | xargs rm", "/srv/b"),
        ("echo $X | xargs rm", "?"),
        ("echo 1 2 3 | xargs kill", "none"),
        ("ls | xargs cat", "none"),
        ("find . -name x | sort | xargs wc -l", "none"),
        ("find /etc -name x | xargs wc -l", "/etc"),
        ("git ls-files | grep -v x | xargs -n 10 wc -l", "none"),
        ("curl http://h | xargs rm", "?"),
        ("cat list | xargs rm", "?"),
        ("find . -print0 | xargs -0 -I{} cp {} /tmp/", "/tmp"),
    ]);
}

#[test]
fn programs_that_are_paths_run_a_file() {
    check_all(&[
        ("/tmp/x.sh", "/tmp/x.sh"),
        ("./x", "none"),
        ("../x", "/srv/x"),
        ("~/bin/x", "/home/u/bin/x"),
        ("$HOME/bin/x", "/home/u/bin/x"),
        ("\"$D\"/x", "?"),
        ("/usr/bin/ls", "none"),
        ("/bin/cat a", "none"),
        ("/usr/../tmp/x", "/tmp/x"),
        ("/opt/homebrew/bin/git status", "none"),
        ("timeout 5 /tmp/x", "/tmp/x"),
        ("cd /tmp && ./x", "/tmp,/tmp/x"),
        ("nice -n 5 cat /etc/a", "/etc/a"),
        ("sudo cat /etc/a", "/etc/a"),
        ("nohup cat /etc/a > /tmp/o", "/tmp/o,/etc/a|/etc/a,/tmp/o"),
        ("xargs cat /etc/a < list", "/etc/a"),
        ("xargs -a /tmp/l cat", "/tmp/l"),
        ("poetry run cat /etc/a", "/etc/a"),
        ("docker exec c cat /etc/a", "none|/etc/a"),
        ("ssh host cat /etc/a", "none|/etc/a"),
        ("bash -c 'bash -c \"cat /etc/a\"'", "/etc/a"),
        ("find . -exec sh -c 'cat /etc/a' \\;", "/etc/a"),
        ("find . -name x -exec cat {} +", "none"),
        ("trap 'cat /etc/a' EXIT", "/etc/a"),
        ("eval cat /etc/a", "/etc/a"),
        ("time cat /etc/a", "/etc/a"),
        ("! cat /etc/a", "/etc/a"),
        ("watch cat /etc/a", "/etc/a"),
        ("source /tmp/x", "/tmp/x"),
        (". ./x", "none"),
        ("bash x.sh", "none"),
        ("bash ../x.sh", "/srv/x.sh"),
    ]);
}

/// Makes a workspace `proj` with links beside a directory `away`, and a home.
#[cfg(unix)]
fn live() -> (tempfile::TempDir, std::path::PathBuf) {
    use std::fs;
    use std::os::unix::fs::symlink;

    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().canonicalize().unwrap();
    for made in ["proj/src/deep", "proj/links", "proj/data", "away/below", "home"] {
        fs::create_dir_all(root.join(made)).unwrap();
    }
    for made in ["proj/src/a.rs", "proj/src/b.txt", "proj/data/c.csv", "away/secret", "home/notes"] {
        fs::write(root.join(made), "x").unwrap();
    }
    symlink(root.join("away"), root.join("proj/links/away")).unwrap();
    symlink("../../away/secret", root.join("proj/links/secret.txt")).unwrap();
    symlink("../src", root.join("proj/links/src")).unwrap();
    symlink("../src/deep", root.join("proj/links/deep")).unwrap();
    symlink("loop", root.join("proj/links/loop")).unwrap();
    symlink("../../away/new", root.join("proj/links/dangling")).unwrap();
    symlink("a.rs", root.join("proj/src/alias.rs")).unwrap();
    (directory, root)
}

#[cfg(unix)]
#[test]
fn links_are_followed_where_they_lead() {
    let (_directory, root) = live();
    let (workspace, home) = (root.join("proj"), root.join("home"));
    let mut failures = Vec::new();
    let rows = [
        ("cat src/a.rs", "none"),
        ("cat src/alias.rs", "none"),
        ("cat links/src/a.rs", "none"),
        ("cat links/secret.txt", "R/away/secret"),
        ("cat links/away/below/../secret", "R/away/secret"),
        ("cat links/away/../proj/src/a.rs", "none"),
        ("cat links/away/../home/notes", "R/home/notes"),
        ("echo x > links/dangling", "R/away/new"),
        ("echo x > links/secret.txt", "R/away/secret"),
        ("cat links/loop", "R/proj/links/loop"),
        ("cat links/loop/x", "R/proj/links/loop/x"),
        ("cat links/*", "R/away,R/away/new,R/proj/links/loop,R/away/secret"),
        ("cat links/*.txt", "R/away/secret"),
        ("cat links/s*", "R/away/secret"),
        ("cat links/d*", "R/away/new"),
        ("cat links/sr?", "none"),
        ("cat */*.txt", "R/away/secret"),
        ("cat */secret*", "R/away/secret"),
        ("cat links/*/secret", "R/away,R/away/new,R/proj/links/loop,R/away/secret"),
        ("cat src/*", "none"),
        ("cat *", "none"),
        ("for f in links/*.txt; do cat \"$f\"; done", "R/away/secret"),
        ("cat links/{src/a.rs,secret.txt}", "R/away/secret"),
        // A shell takes `..` off the name, a program goes where the link leads.
        ("cd links/src && cd .. && cat b", "none"),
        ("cd links/deep && cat ../../x", "none"),
        ("cd links/deep && cat ../../../x", "R/x"),
        ("cd links/away && ls", "R/away"),
        ("cd links/away && cat secret", "R/away,R/away/secret"),
        ("cd links/away && cat ../src/a.rs", "R/away,R/src/a.rs"),
        ("cd -P links/src && cat ../data/c.csv", "none"),
        // What is there can be entered, so that it does not stay where it was.
        ("cd src; cat ../x", "none"),
        ("cd src; cd ..; cat x", "none"),
        ("cd src/deep; cat ../../x", "none"),
        ("cd missing; cat ../x", "R/x"),
        ("cd missing/../src; cat ../x", "R/x"),
        ("cd src/../src; cat ../x", "none"),
        ("cd src/a.rs; cat ../x", "R/x"),
        ("pushd src; cat ../x; popd; cat x", "none"),
        ("pushd src; pushd deep; popd; popd; cat ../y", "R/y"),
        ("for d in src data; do cd $d; cat ../x; cd ..; done", "none"),
        ("links/secret.txt", "R/away/secret"),
        ("./links/away/tool", "R/away/tool"),
        ("bash links/secret.txt", "R/away/secret"),
        ("mkdir -p new/dir && cd new/dir && cat ../../x", "none"),
        // What is there now may be gone by then.
        ("rmdir src; cd src; cat ../x", "R/x"),
        ("mv src y; cd src; cat ../x", "R/x"),
        ("rmdir src; cd src && cat ../x", "none"),
    ];
    for (command, expected) in rows {
        let found = outside_of(command, &workspace, &home).replace(root.to_str().unwrap(), "R");
        if !expected.split('|').any(|one| one == found) {
            failures.push(format!("{command:?}: want {expected}, have {found}"));
        }
    }
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), rows.len(), failures.join("\n"));
}

#[cfg(unix)]
#[test]
fn a_workspace_named_by_a_link_is_the_same_workspace() {
    let (_directory, root) = live();
    let link = root.join("by-name");
    std::os::unix::fs::symlink(root.join("proj"), &link).unwrap();
    for (command, expected) in [
        ("cat src/a.rs".to_owned(), "none"),
        (format!("cat {}/proj/src/a.rs", root.display()), "none"),
        (format!("cat {}/src/a.rs", link.display()), "none"),
        ("cd .. && ls".to_owned(), "R"),
        ("cat ../home/notes".to_owned(), "R/home/notes"),
    ] {
        let found = outside_of(&command, &link, &root.join("home")).replace(root.to_str().unwrap(), "R");
        assert_eq!(found, expected, "{command}");
    }
}

#[cfg(unix)]
#[test]
fn a_path_that_changes_all_the_time_is_looked_at_and_never_hangs() {
    use std::sync::atomic::{AtomicBool, Ordering};

    let (_directory, root) = live();
    let workspace = root.join("proj");
    std::fs::create_dir(workspace.join("real")).unwrap();
    std::os::unix::fs::symlink("../away", workspace.join("flip")).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let flipper = scope.spawn(|| {
            let (a, b, c) = (workspace.join("real"), workspace.join("flip"), workspace.join("spare"));
            let mut flips = 0;
            while !done.load(Ordering::Relaxed) {
                std::fs::rename(&a, &c).unwrap();
                std::fs::rename(&b, &a).unwrap();
                std::fs::rename(&c, &b).unwrap();
                flips += 1;
            }
            flips
        });
        for _ in 0..2_000 {
            let found = outside_of("cat real/secret", &workspace, &root).replace(root.to_str().unwrap(), "R");
            assert!(matches!(found.as_str(), "none" | "R/away/secret"), "{found}");
        }
        done.store(true, Ordering::Relaxed);
        assert!(flipper.join().unwrap() > 0);
    });
}

/// What rules about directories make of a command; `R` stands for the temporary directory.
#[cfg(unix)]
#[test]
fn rules_about_directories_decide() {
    use policy::{RuleTable, Rules};

    let (_directory, root) = live();
    let shown = root.to_str().unwrap();
    let check = |rules: &str, command: &str, expected: &str, reason: &str| {
        let table: RuleTable = serde_json::from_str(&rules.replace("R/", &format!("{shown}/"))).unwrap();
        let policy = Policy::new()
            .with_home(root.join("home"))
            .with_layer(Rules::new(&table, "rules", Some(&root.join("home"))).unwrap());
        let command = command.replace("R/", &format!("{shown}/"));
        let explained = policy.explain(&command, CommandKind::Once, &Workspace::new(root.join("proj")));
        let have = explained.reason.replace(shown, "R");
        assert_eq!(explained.decision.to_string(), expected, "{command} under {rules}: {have}");
        assert!(have.contains(reason), "{command} under {rules}: want {reason}, have {have}");
    };
    let all = r#"{"bash": "allow"}"#;
    check(all, "cat src/a.rs", "allow", "");
    check(
        all,
        "cat R/away/secret R/away/below ../x",
        "ask",
        "`R/away/secret`, `R/away/below` and `R/x` are outside the workspace",
    );
    check(all, "cat links/secret.txt", "ask", "`R/away/secret` is outside");
    check(all, "cat \"$D/x\"", "ask", "what file `\"$D/x\"` names is known only when it runs");
    check(all, "cat R/away/secret $X", "ask", "`R/away/secret` is outside the workspace; what file `$X` names");
    let some = r#"{"bash": "allow", "external_directory": {"R/away/*": "allow", "~/*": "allow", "~/.ssh/*": "deny"}}"#;
    check(some, "cat R/away/secret", "allow", "");
    check(some, "cd R/away && cat secret", "allow", "");
    check(some, "cat links/secret.txt", "allow", "");
    check(some, "cat ~/notes", "allow", "");
    check(some, "cat ~/.ssh/id", "deny", "`R/home/.ssh/id` is outside the workspace and denied by rules");
    check(some, "cat ~/./x/../.ssh/id", "deny", "denied by rules");
    check(some, "ls ~/.ssh", "deny", "denied by rules");
    check(some, "echo x >> ~/.ssh/authorized_keys", "deny", "denied by rules");
    check(some, "bash -c 'cat ~/.ssh/id'", "deny", "denied by rules");
    check(some, "cd && cat .ssh/id", "deny", "denied by rules");
    check(some, "cp -r ~ copy", "ask", "`R/home` holds what rules");
    check(some, "cat ~/notes R/x", "ask", "`R/x` is outside");
    check(some, "cat $X", "ask", "known only when it runs");
    check(r#"{"bash": "allow", "external_directory": "allow"}"#, "cat $X R/x", "allow", "");
    check(r#"{"bash": "allow", "external_directory": "deny"}"#, "cat R/x", "deny", "`R/x` is outside");
    check(r#"{"bash": "allow", "external_directory": "deny"}"#, "cat a", "allow", "");
    check(r#"{"bash": "allow", "external_directory": "deny"}"#, "cat $X", "ask", "known only when it runs");
    check(
        r#"{"bash": "allow", "external_directory": {"*": "deny", "R/away/*": "allow"}}"#,
        "cat R/away/secret",
        "allow",
        "",
    );
    check(r#"{"bash": {"R/away/tool *": "allow"}}"#, "R/away/tool x", "allow", "");
    check(r#"{"bash": {"tool *": "allow"}}"#, "R/away/tool x", "ask", "");
}

#[test]
fn hostile_texts_end_soon_and_are_not_inside() {
    let texts = [
        format!("cat {}", (0..2_000).map(|n| format!("{n} ")).collect::<String>()),
        format!("cat {}", "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b} ".repeat(500)),
        format!("cat {}", "{a,".repeat(2_000)),
        format!("cat {}x", "*/".repeat(4_000)),
        format!("cat {}x", "a/../".repeat(3_000)),
        "cd a; ".repeat(2_000),
        "pushd a; ".repeat(1_500),
        "cd ..; ".repeat(2_000),
        (0..1_000).map(|n| format!("f{n}() {{ f{}; f{}; }}; ", n + 1, n + 2)).collect::<String>() + "f0",
        "while cd a; do ".repeat(40) + "ls" + &"; done".repeat(40),
        (0..400).map(|n| format!("X{n}=$X{n}/a; cat $X{n}; ")).collect(),
        "D=$D/..; for D in $D/a; do cat $D; done; ".repeat(300),
    ];
    for text in texts {
        let started = std::time::Instant::now();
        outside_of(&text, Path::new("/srv/proj"), Path::new("/home/u"));
        let took = started.elapsed();
        // Far below what anything but linear cost would take, also in a debug build on a busy machine.
        assert!(took.as_secs() < 3, "{took:?}: {}", &text[..60]);
    }
}
