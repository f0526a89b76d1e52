//! Texts that are analysed: commands as agents write them, scripts, and what was made to take long.

/// Commands as agents write them.
pub(crate) const TYPICAL: &[&str] = &[
    "git status",
    "git diff --stat HEAD~1",
    "git log --oneline -20 -- src/main.rs",
    "ls -la",
    "cat Cargo.toml",
    "cargo test -p policy --lib",
    "cargo build 2>&1 | tail -20",
    "cd policy && cargo clippy --all-targets 2>&1 | grep -E '^(warning|error)' | sort | uniq -c",
    "rg -n 'fn main' --glob '*.rs' | head -50",
    "grep -rn \"TODO\" src/ --include=*.ts | wc -l",
    "sed -n '1,80p' src/lib.rs",
    "find . -name '*.rs' -not -path './target/*' | xargs wc -l | sort -n | tail",
    "find src -type f -exec grep -l foo {} +",
    "npm run build && npm test -- --watch=false",
    "python3 -c 'import json,sys; print(json.load(sys.stdin)[\"a\"])' < data.json",
    "for f in src/*.rs; do echo \"== $f\"; head -5 \"$f\"; done",
    "if [ -f package.json ]; then cat package.json; else echo none; fi",
    "curl -s http://localhost:3000/health | jq .status",
    "docker ps -a --format '{{.Names}}'",
    "mkdir -p build && cp -r assets build/ && rm -f build/*.map",
    "RUST_LOG=debug cargo run --release -- --port 8080",
    "git add -A && git commit -m \"Fix the parser\" && git push origin HEAD",
    "timeout 60 bash -c 'until nc -z localhost 5432; do sleep 1; done'",
    "cat <<'EOF' > notes.md\n# Notes\n\n- one\n- two\nEOF",
];

/// Fragments of scripts, by name; each may be repeated, with the number of the copy for `%`.
pub(crate) const SCRIPTS: &[(&str, &str)] = &[
    (
        "plain",
        "# Builds and checks one part.\ncargo build --release --workspace\ncp target/release/tool dist/bin/\n\
         tar czf dist/tool.tar.gz -C dist bin\nsha256sum dist/tool.tar.gz > dist/tool.sha256\n\
         git tag -a v1 -m 'Release' && git push --tags\n",
    ),
    (
        "structured",
        "set -euo pipefail\nbuild%() {\n  local target=$1\n  for part in core cli docs; do\n    \
         if [[ -d \"$part\" ]]; then\n      (cd \"$part\" && make \"$target\" 2>&1 | tee \"log-$part.txt\")\n    \
         else\n      echo \"no $part\" >&2\n    fi\n  done\n}\nversion=$(git describe --tags \"$(git rev-parse HEAD)\")\n\
         case \"$version\" in\n  v1*) build% old ;;\n  *) build% new ;;\nesac\ncat <<EOF > info%.txt\nbuilt $version on \
         $(date)\nEOF\n",
    ),
    ("words", "echo one two three 'four five' \"six\" seven | sort -r | head -n 3 > out.txt; "),
];

/// Pieces that are repeated to make a reader take long.
pub(crate) const HOSTILE: &[&str] = &[
    "a",
    "a ",
    "a;",
    "a\n",
    "a|",
    "a&",
    "(",
    "{ ",
    "$(",
    "`",
    "`a`",
    "$(a)",
    "\"$(",
    "${x:-",
    "${x#",
    "$((",
    "((",
    "[[ ",
    "<(",
    "<<E\n",
    "<<E;",
    "<<<",
    "> f ",
    "\\",
    "'",
    "\"",
    "$'",
    "\"\"",
    "*",
    "{a,",
    "{a,b}",
    "~",
    "x=",
    "x=1 ",
    "a[",
    "=(",
    "! ",
    "time ",
    "coproc ",
    "if ",
    "for a in ",
    "case x in x) ",
    "f() ",
    "sudo ",
    "nice ",
    "xargs ",
    "env -S ",
    "eval ",
    "eval a;",
    "bash -c ",
    "bash -c a;",
    "bash<<<a;",
    "find -exec ",
    "git -c a ",
    "rm $x ",
    "rm $x;",
    "sudo $x;",
    "\"$@\"\nset -- a b c\n",
    "f(){ \"$@\"; }; f eval \"$@\"\n",
    "x=a; $x $x\n",
    "cd a;",
    "cd $x;",
    "cat ../a;",
    "> ../f;",
    "\u{e9}",
    "\u{1f600}",
    "\0",
];

/// How many texts are made around each piece.
pub(crate) const WAYS: usize = 4;

/// Copies of a fragment of a script up to a size.
pub(crate) fn script(fragment: &str, size: usize) -> String {
    let mut script = String::new();
    for copy in 0.. {
        let next = fragment.replace('%', &copy.to_string());
        if script.len() + next.len() > size {
            break;
        }
        script.push_str(&next);
    }
    script
}

/// Texts of `size` bytes at most that repeat a piece.
pub(crate) fn around(piece: &str, size: usize) -> [String; WAYS] {
    let whole = filled(piece, size);
    let inner = filled(piece, size - 16);
    [format!("{inner}a"), format!("echo \"$({inner}"), format!("bash -c '{}'", inner.replace('\'', "")), whole]
}

/// A text repeated up to a size.
pub(crate) fn filled(piece: &str, size: usize) -> String {
    piece.repeat(size / piece.len())
}

/// Bytes that mean something to a shell, in no order, always the same.
pub(crate) fn noise(size: usize) -> String {
    const BYTES: &[u8] = b"ab $(){}[]<>|&;\"'`\\\n*?~#=!-";
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(BYTES[(state >> 32) as usize % BYTES.len()])
    };
    (0..size).map(|_| next()).collect()
}
