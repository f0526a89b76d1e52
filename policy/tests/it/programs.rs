//! What calls of programs do, and which files their arguments name.

use policy::{CommandAnalysis, Nature, Usage};

/// The nature of the worst call of the command line, and the files of all of them with a letter for what is done.
fn of(command: &str) -> (Nature, String, String) {
    let analysis = CommandAnalysis::new(command);
    let mut nature = Nature::Reads;
    let mut why = String::new();
    let mut files = Vec::new();
    for segment in &analysis.segments {
        if segment.call.nature > nature {
            nature = segment.call.nature;
            why = segment.call.why.to_string();
        }
        for file in &segment.call.files {
            let letter = match file.usage {
                Usage::Read => "r",
                Usage::Write => "w",
                Usage::Enter => "e",
                Usage::Run => "x",
            };
            files.push(format!("{letter}:{}", file.path.text));
        }
    }
    (nature, why, files.join(" "))
}

/// Checks rows of `nature command => files`; a row without an arrow says nothing about files.
#[track_caller]
fn check(rows: &str) {
    let mut failures = Vec::new();
    for row in rows.lines().map(str::trim).filter(|row| !row.is_empty()) {
        let (expected, rest) = row.split_once(' ').unwrap();
        let (command, files) = match rest.split_once("=>") {
            Some((command, files)) => (command.trim(), Some(files.trim())),
            None => (rest.trim(), None),
        };
        let command = command.replace("\\n", "\n");
        let (nature, why, found) = of(&command);
        let right = match expected {
            "reads" => nature == Nature::Reads,
            "asks" => nature != Nature::Reads,
            "unknown" => nature == Nature::Unknown,
            "changes" => nature == Nature::Changes,
            "destroys" => nature == Nature::Destroys,
            "any" => true,
            other => panic!("{other} is no nature"),
        };
        if !right {
            failures.push(format!("{command}: want {expected}, have {nature:?}: {why}"));
        }
        if let Some(files) = files.filter(|files| *files != found) {
            failures.push(format!("{command}: want files {files:?}, have {found:?}"));
        }
    }
    assert!(failures.is_empty(), "{} rows:\n{}", failures.len(), failures.join("\n"));
}

/// The rows of the corpus, as far as programs decide them.
#[test]
fn corpus() {
    let table = include_str!("../fixtures/policy.tsv");
    let mut failures = Vec::new();
    for line in table.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        // Coprocesses, functions and empty commands are not about programs.
        if columns[1] != "smart" || matches!(columns[0], "M311" | "M375" | "M401") {
            continue;
        }
        let command = columns[2].replace("\\n", "\n").replace("\\\\", "\\");
        let (nature, why, _) = of(&command);
        let analysis = CommandAnalysis::new(&command);
        if columns[3] == "smart=safe" && nature != Nature::Reads {
            failures.push(format!("{}: {command} is safe, have {nature:?}: {why}", columns[0]));
        }
        let decided_elsewhere = !analysis.is_understood()
            || analysis.segments.iter().any(|segment| !segment.assignments.is_empty() || !segment.redirects.is_empty())
            || command.contains("cd sub")
            || command.contains("/etc/passwd");
        if !columns[3].contains("safe") && nature == Nature::Reads && !decided_elsewhere {
            failures.push(format!("{}: {command} is not safe", columns[0]));
        }
    }
    assert!(failures.is_empty(), "{} rows:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn operands_and_values() {
    check(
        r#"
        reads cat a /etc/passwd => r:a r:/etc/passwd
        reads cat -n -- -x => r:-x
        reads cat - =>
        reads head -5 f => r:f
        reads head -n 5 f => r:f
        reads head -n5 f => r:f
        reads head --lines=5 f => r:f
        reads grep -rn "a b" src /tmp/x => r:src r:/tmp/x
        reads grep -e a -e b f => r:f
        reads grep --regexp=a f => r:f
        reads grep -f /etc/passwd f => r:/etc/passwd r:f
        reads grep -f/etc/passwd f => r:/etc/passwd r:f
        reads rg --file=/etc/passwd f => r:/etc/passwd r:f
        reads rg --files src => r:src
        reads cut -d / -f 1 f => r:f
        reads tr / _ =>
        reads test / = / =>
        reads [ -f /etc/passwd ] => r:/etc/passwd
        reads test a -nt /tmp/b => r:a r:/tmp/b
        reads sed -n '/foo/p' f => r:f
        reads sed -n -e p -e '/a/d' f => r:f
        reads awk '/a/{print}' f => r:f
        reads awk -F/ '{print $1}' f => r:f
        reads find /etc /tmp -name x => r:/etc r:/tmp
        reads find . -newer /etc/passwd => r:. r:/etc/passwd
        reads diff a /etc/passwd => r:a r:/etc/passwd
        asks wc -l --files0-from=/tmp/l => r:/tmp/l
        changes cp a /tmp/b => r:a w:/tmp/b
        changes cp -t /tmp a => w:/tmp r:a
        changes cp -t/tmp a b => w:/tmp r:a r:b
        changes cp --target-directory=/tmp a => w:/tmp r:a
        changes cp --targ /tmp a => w:/tmp r:a
        changes dd if=/dev/zero of=/tmp/x => r:/dev/zero w:/tmp/x
        changes touch /tmp/x => w:/tmp/x
        changes sort -o /tmp/x f => w:/tmp/x r:f
        changes sort f -o/tmp/x => r:f w:/tmp/x
        changes sed -i s/a/b/ f => w:f
        reads echo /etc/passwd =>
        reads printf /x =>
        changes rm -- -f => w:-f
        asks git -C /tmp/x status => e:/tmp/x
        reads git diff --no-index /etc/passwd a => r:/etc/passwd
        reads cd /tmp => e:/tmp
        "#,
    );
}

#[test]
fn options_that_do_more_than_read() {
    check(
        r#"
        asks find . -execdir sh -c id \;
        asks find . -delete => w:.
        asks find . -fprint out => r:. w:out
        asks find . -fprintf out %p => r:. w:out
        asks find . $X
        asks find . -{exec,x} rm {} \;
        asks find . \-exec rm {} \;
        asks find "$d" -name x
        asks find . -files0-from f
        asks rg --pre ./x foo => x:./x
        asks rg --pre=./x foo => x:./x
        asks rg -z foo
        asks rg -nz foo
        asks rg --search-zi foo
        asks sort -oout f => w:out r:f
        asks sort -uo out f => w:out r:f
        asks sort -uoout f
        asks sort --outp=x f => w:x r:f
        asks sort --co=./x f
        asks sort "$f"
        asks sort *
        asks sort -T /tmp f => w:/tmp r:f
        asks sort --files0-from=l
        asks sed -ni p f
        asks sed --in-pl s/a/b/ f
        asks sed -n -e p -i.bak f
        asks sed 's/a/b/w out' f => w:out r:f
        asks sed 's/a/b/gw out' f
        asks sed 's/a/b/;w out' f
        asks sed '1e id' f
        asks sed e f
        asks sed '$e' f
        asks sed '/x/{e id\n}' f
        asks sed -f s.sed f => x:s.sed r:f
        asks sed "s/$a/b/" f
        asks sed 's/[/]/w out/x/' f
        asks sed 's/[[:alpha:]/]/g;s/w out\n/x/p' f
        asks sed 's/[\]/]/w out/' f
        asks awk '/[[:alpha:]/]/ {print}' f
        asks sed 'r /etc/passwd' f => r:/etc/passwd r:f
        asks sed '/a/,/b/r x' f
        asks sed --expression='1e id' f
        asks sed -n --quiet --expr=p --file x f
        asks awk 'BEGIN{system("id")}'
        asks awk '{print > "out"}' f
        asks awk '{print $1, $2 >> "out"}' f
        asks awk '{printf("%s", $1) > "out"}' f
        asks awk '{print | "sh"}' f
        asks awk '"id" | getline x' f
        asks awk '{while (("id") | getline l) print l}' f
        asks awk '{getline x < "/etc/passwd"; print x}'
        asks awk 'BEGIN{x = 4 / 2 | "sh"}'
        asks awk 'BEGIN{print 1,\n2 > "out"}'
        asks awk -f x.awk f => x:x.awk r:f
        asks awk -v x=1 -f x.awk f
        asks gawk -i inplace '{print}' f
        asks gawk '@load "x"; {print}' f
        asks awk 'BEGIN{ARGV[1]="/etc/passwd"; ARGC=2} {print}'
        asks awk "$p" f
        asks date --set=x
        asks date -s x
        asks date 010100002030
        asks date --se=x
        asks man -P ./x ls => x:./x
        asks man -H./x ls
        asks man --html=./x ls
        asks jq -f p.jq f => x:p.jq r:f
        asks jq env
        asks jq '$ENV.X' f
        asks jq 'import "x" as x; .' f
        reads jq --rawfile a /etc/passwd . f => r:/etc/passwd r:f
        asks xargs rm
        asks git grep --open-files-in-pager=./x foo
        asks git grep -O./x foo
        asks git grep -O foo
        asks git -c core.pager=./x log
        asks git -ccore.pager=./x log
        asks git --exec-path=./x status
        asks git --paginate show HEAD
        asks git -p log
        asks git log --ext-diff
        asks git log --textconv -p
        asks git diff --output=x => w:x
        asks git diff --outpu=x => w:x
        asks git diff --ext
        asks git fetch --upload-pack ./x .
        asks git ls-remote --upload-pa=./x .
        asks git clone 'ext::sh -c id'
        asks git rebase -x id HEAD~1
        asks git submodule foreach id
        asks git branch newname
        asks git branch -D x
        asks git branch -d x
        asks git branch -m a b
        asks git branch --edit-description
        asks git tag v1
        asks git tag -d v1
        asks git tag -a v1 -m x
        asks git stash
        asks git stash pop
        asks git remote add x y
        asks git remote update
        asks git config a.b c
        asks git config --global a.b c
        asks git config --unset a.b
        asks git config -e
        asks git config edit
        asks git config set a.b c
        asks git config unset a.b
        asks git reflog expire --all
        asks git worktree add ../x
        asks git notes add -m x
        asks git bisect start
        asks git symbolic-ref HEAD refs/heads/x
        asks git frobnicate
        asks git $x
        asks git log $x
        asks git push
        asks git archive --remote=. --exec=./x HEAD
        asks base64 -o out f => w:out r:f
        asks uniq a out => r:a w:out
        asks uniq $x
        asks uniq *
        asks xxd a out => r:a w:out
        asks xxd -r a
        asks iconv -o out f => w:out r:f
        asks tee out => w:out
        asks split f
        asks file -m x f => r:x r:f
        asks file -f list
        asks file -C
        asks file -z x
        asks sysctl -w a=b
        asks sysctl a=b
        asks mount x y
        asks fd -X rm
        asks fd -x rm
        asks fd --exec-ba rm
        asks bat --pager=./x f
        asks ag --pager ./x foo
        asks tar xf a.tar => r:a.tar
        asks tar -cf a.tar f --use-compress-program=./x
        asks tar tf a.tar --to-command=./x
        asks tar tf a.tar --checkpoint=1 --checkpoint-action=exec=./x
        asks tar -tf a.tar -I ./x
        asks tar tf host:a.tar
        asks tar tf a.tar -T list
        asks rsync -e ./x a b:
        asks scp -S ./x a h:
        asks wget --use-askpass=./x http://h
        asks curl http://h
        asks dig x
        asks node -e 1
        asks python3 -c 1
        asks npm test
        asks printenv
        asks env
        asks set
        asks export
        asks declare -p
        asks history
        asks tree -o out => w:out
        asks tree -R
        asks shuf -o out f
        asks hostname x
        asks hostname -b x
        asks hostname -F f
        asks diff --pag a b
        asks diff -l a b
        asks unzip a.zip
        asks gzip f
        asks gofmt -w x.go => w:x.go
        asks dmesg -C
        asks journalctl --vacuum-time=1s
        asks ss -K
        asks systemctl restart x
        asks pip list --outdated
        asks go env -w A=b
        asks go test -exec ./x
        asks docker run -v /etc:/x img
        asks printf -v PATH x
        asks read PATH
        asks export PATH=.
        asks declare -x LD_PRELOAD=x
        asks ps auxe
        asks ls --frob
        asks cat --frob=x f
        asks ./ls => x:./ls
        asks /tmp/ls => x:/tmp/ls
        asks ls2
        asks env -S 'rm x'
        asks time -o out ls
        asks wipefs -a x
        asks clang-format -i x.c => w:x.c
        asks nm --plugin ./x f
        "#,
    );
}

#[test]
fn calls_that_only_read() {
    check(
        r#"
        reads /bin/ls -la => 
        reads /usr/bin/cat f => r:f
        reads ls --color=auto -lah src
        reads ls -la ~/x
        reads ls *.rs
        reads cat "$f"
        reads cat ./$x
        reads grep -rn --include='*.rs' foo src
        reads grep -A3 -B 2 -C1 x f
        reads grep "$pattern" f
        reads grep -c "" f
        reads rg -tpy -g '!x' -C3 foo src
        reads rg -n --no-heading foo
        reads find . -type f -not -name '*.o' -print0
        reads find . \( -name a -o -name b \) -prune
        reads find . -maxdepth 2 -mtime -1 -size +1M -printf '%p\n'
        reads sed -n '1,5p;10q' f
        reads sed -E 's/(a|b)/\1/g' f
        reads sed 's|a|b|g; s/x/y/2p' f
        reads sed -n '/a/,/b/{=;p}' f
        reads sed '/^#/d' f
        reads sed '$!N;P;D' f
        reads sed 'y/abc/xyz/' f
        reads sed '1i\\ttext' f
        reads sed -e '/x/a new text' f
        reads sed -n '$=' f
        reads sed 10q f
        reads sed 's/[[:space:]]*$//' f
        reads sed -E 's/^[^[:alnum:]_]+//g' f
        reads awk '/^[[:space:]]*#/ {next} {print}' f
        reads awk '{print $1}' f
        reads awk -F: '$3 > 100 {print $1}' /etc/passwd => r:/etc/passwd
        reads awk '/a|b/ {n++} END {print n}' f
        reads awk '{ if ($1 > 5) print $2; else print "a > b | c" }' f
        reads awk 'NR==1, NR==5 {print FILENAME, $0}' f
        reads awk '{ a[$1] += $2 / 2 } END { for (k in a) printf "%s %d", k, a[k] }' f
        reads awk '$1 ~ /x/ && !/y/ || length > 80' f
        reads awk -v n="$n" 'NR<=n' f
        reads jq . f => r:f
        reads jq -r '.a[] | select(.b > 1) | .env' f
        reads jq -n --arg a b '$a'
        reads sort -k2,2n -t: -u f
        reads sort -rn
        reads uniq -c
        reads uniq -f1 -s 2 f
        reads cut -d, -f1-3 --complement f
        reads tr -d '\n'
        reads tr '[:upper:]' '[:lower:]'
        reads wc -l src/*.rs
        reads head -c 100 f
        reads tail -n +5 f
        reads tail -20f f
        reads date +%Y-%m-%d
        reads date -u -d '1 day ago' +%s
        reads date -Iseconds
        reads hostname
        reads hostname -I
        reads uname -a
        reads id -un
        reads whoami
        reads ps aux
        reads ps -ef
        reads ps -eo pid,cmd --sort=-rss
        reads ps -p 1 -o comm=
        reads ps axjf
        reads df -h /
        reads du -sh -- *
        reads free -m
        reads uptime
        reads stat -c %s f
        reads stat --format=%a f
        reads file f
        reads tree -L 2 -I node_modules --dirsfirst
        reads test -n "$x"
        reads [ "$a" = "$b" ]
        reads [ ! -e f ]
        reads [ $# -eq 0 ]
        reads [ "$x" -gt 3 -a -d src ]
        reads which -a git
        reads type git
        reads command -v git
        reads basename "$f" .rs
        reads dirname a/b
        reads realpath --relative-to=. f
        reads sha256sum f
        reads diff -u a b
        reads diff -rq --exclude=x a b
        reads cmp a b
        reads comm -12 a b
        reads xxd -l 16 f
        reads od -An -tx1 f
        reads strings -n 8 f
        reads base64 -d f
        reads seq 1 2 10
        reads sleep 1
        reads true
        reads :
        reads echo -n "$x" *
        reads printf '%s\n' "$x"
        reads pwd
        reads set -euo pipefail
        reads read -r line
        reads local x=1
        reads timeout 5 ls
        reads timeout -k 1 5s ls -la
        reads nice -n 5 ls
        reads time ls
        reads env LANG=C sort f
        reads stdbuf -oL cat f
        reads git status -sb
        reads git status --porcelain=v1
        reads git log --oneline --graph --all -20
        reads git log -p -3 -- src
        reads git log --since="2 days ago" --author=x --pretty=format:%h
        reads git log -S'foo' -n 5
        reads git log --grep="; rm x"
        reads git diff
        reads git diff --cached --name-only
        reads git diff HEAD~1 HEAD -- a
        reads git diff main...HEAD --stat
        reads git show HEAD:src/x
        reads git show --stat
        reads git branch
        reads git branch -a
        reads git branch -vv
        reads git branch --show-current
        reads git branch --list 'x*'
        reads git branch --contains HEAD
        reads git tag
        reads git tag -l 'v*'
        reads git remote
        reads git remote -v
        reads git remote get-url origin
        reads git stash list
        reads git stash show -p
        reads git config user.name
        reads git config --get user.name
        reads git config -l
        reads git rev-parse --abbrev-ref HEAD
        reads git ls-files -m
        reads git ls-tree -r HEAD
        reads git blame -L 1,5 f
        reads git grep -n foo
        reads git describe --tags
        reads git reflog
        reads git worktree list
        reads git --no-pager log
        reads git --version
        reads git commit --help
        reads git shortlog -sn
        reads git rev-list --count HEAD
        reads git cat-file -p HEAD
        reads git merge-base a b
        reads git for-each-ref --sort=-committerdate
        reads cargo --version
        reads cargo +nightly --version
        reads cargo -V
        reads node --version
        reads node -v
        reads python3 --version
        reads python3 -V
        reads go version
        reads go env GOPATH
        reads rustc --version
        reads npm ls
        reads npm -v
        reads pip list
        reads pip show x
        reads rustup toolchain list
        reads docker ps -a
        reads docker images
        reads docker logs --tail 5 x
        reads systemctl status x
        reads systemctl list-units --type=service
        reads journalctl -u x -n 50 --no-pager
        reads tar tf a.tar => r:a.tar
        reads tar -tzf a.tgz => r:a.tgz
        reads tar --list --file=a.tar
        reads unzip -l a.zip => r:a.zip
        reads gzip -l a.gz
        reads zcat a.gz
        reads dpkg -l
        reads rpm -qa
        reads pacman -Q
        reads apt list --installed
        reads apt-cache policy x
        reads brew list
        reads objdump -d f
        reads nm -C f
        reads readelf -h f
        reads lsof -i :80
        reads pgrep -fl x
        reads ss -tlnp
        reads sysctl kernel.hostname
        reads crontab -l
        reads make --version
        reads gcc --version
        reads rm --help
        reads xxd f
        reads shellcheck x.sh
        reads bat -n f
        reads eza -la
        reads fd -e rs foo src
        reads kill -l
        reads man -k foo
        reads whatis ls
        reads locate foo
        reads nproc
        reads lscpu
        reads numfmt --to=iec 1000
        reads expr 1 + 2
        reads cal 2026
        reads tac f
        reads nl -ba f
        reads column -t -s, f
        reads paste -d, a b
        reads join a b
        reads fold -w 80 f
        reads rev f
        reads cksum f
        "#,
    );
}

#[test]
fn what_destroys() {
    check(
        r#"
        destroys mkfs.ext4 /dev/sda1
        destroys mkfs -t ext4 /dev/sda1
        destroys mkswap /dev/sda
        destroys wipefs -a /dev/sda
        destroys shutdown -h now
        destroys shutdown now
        destroys reboot
        destroys poweroff -f
        destroys halt
        destroys init 0
        destroys systemctl poweroff
        destroys systemctl reboot
        destroys sudo shutdown now
        destroys zpool destroy x
        changes dd if=/dev/zero of=/dev/sda => r:/dev/zero w:/dev/sda
        changes rm -rf / => w:/
        changes chmod -R 777 / => w:/
        reads mkfs --help
        reads mkfs.ext4 --version
        "#,
    );
    let recursive = |command: &str| CommandAnalysis::new(command).segments[0].call.recursive;
    for command in
        ["rm -rf /", "rm -fr x", "rm --recursive x", "rm --rec x", "chmod -R 777 /", "find / -delete", "rm x -r"]
    {
        assert!(recursive(command), "{command}");
    }
    for command in ["rm -f /", "chmod 777 /", "find /", "rm -- -r"] {
        assert!(!recursive(command), "{command}");
    }
}
