//! Scripts by the grammar of bash, whose execution is harmless where no program but stubs exists.

/// Names of programs that exist nowhere.
pub(super) const NAMES: &[&str] = &["aa", "bb", "kk", "qq"];

/// A source of scripts; the same seed gives the same scripts.
#[derive(Debug)]
pub(super) struct Generator {
    state: u64,
    /// Bodies of here-documents that follow the current line.
    pending: String,
    /// Here-documents so far, so that each has its own delimiter.
    documents: usize,
    /// Pieces that the script may still get.
    budget: u32,
}

impl Generator {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1, pending: String::new(), documents: 0, budget: 0 }
    }

    /// The next script.
    pub(super) fn script(&mut self) -> String {
        self.budget = 4 + self.below(40);
        self.pending.clear();
        let mut text = String::new();
        if self.chance(3) {
            text.push_str("f() ");
            text.push_str(&self.group(1));
            text.push('\n');
        }
        text.push_str(&self.list(0));
        text
    }

    fn next(&mut self) -> u64 {
        // xorshift64*
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33
    }

    fn below(&mut self, limit: u32) -> u32 {
        u32::try_from(self.next() % u64::from(limit)).unwrap()
    }

    fn chance(&mut self, one_in: u32) -> bool {
        self.below(one_in) == 0
    }

    fn pick<'t>(&mut self, options: &[&'t str]) -> &'t str {
        options[self.below(u32::try_from(options.len()).unwrap()) as usize]
    }

    /// Whether another piece may come at this depth.
    fn more(&mut self, depth: u32) -> bool {
        self.budget = self.budget.saturating_sub(1);
        self.budget > 0 && depth < 5
    }

    /// Commands, with what they leave behind them on the line.
    fn list(&mut self, depth: u32) -> String {
        let mut text = String::new();
        loop {
            text.push_str(&self.pipeline(depth));
            let last = !self.more(depth) || self.chance(3);
            let separator =
                self.pick(&["; ", ";", "\n", "\n", " && ", " || ", "&&", " & ", " &\n", "\n\n# aa 'x\n", " # bb \"\n"]);
            if last {
                self.end_line(&mut text);
                return text;
            }
            if separator.contains('\n') && !self.pending.is_empty() {
                self.end_line(&mut text);
            } else {
                text.push_str(separator);
            }
        }
    }

    /// Ends the line, and adds the here-documents that wait for that.
    fn end_line(&mut self, text: &mut String) {
        if !self.pending.is_empty() {
            text.push('\n');
            text.push_str(&std::mem::take(&mut self.pending));
        }
    }

    /// A list where a here-document of the outer line stays with the outer line.
    fn inner_list(&mut self, depth: u32) -> String {
        let outer = std::mem::take(&mut self.pending);
        let text = self.list(depth);
        self.pending = outer;
        text
    }

    fn pipeline(&mut self, depth: u32) -> String {
        let mut text = String::new();
        if self.chance(12) {
            text.push_str(self.pick(&["! ", "time ", "time -p ", "! time ", "time -- "]));
        }
        text.push_str(&self.command(depth));
        while self.more(depth) && self.chance(5) {
            text.push_str(self.pick(&[" | ", "|", " |& ", " |\n"]));
            if text.ends_with('\n') && !self.pending.is_empty() {
                text.push_str(&std::mem::take(&mut self.pending));
            }
            text.push_str(&self.command(depth));
        }
        text
    }

    fn command(&mut self, depth: u32) -> String {
        if !self.more(depth) {
            return self.simple(depth);
        }
        match self.below(24) {
            0 => self.group(depth),
            1 => format!("({})", self.list_in_lines(depth)),
            2 => {
                let (condition, body) = (self.closed(depth), self.closed(depth));
                let rest = if self.chance(2) { format!("else {}", self.closed(depth)) } else { String::new() };
                format!("if {condition}then {body}{rest}fi")
            }
            3 => {
                let (condition, body) = (self.closed(depth), self.closed(depth));
                let word = self.pick(&["while", "until"]);
                format!("{word} {condition}do {body}break; done")
            }
            4 => {
                let words: Vec<String> = (0..self.below(3)).map(|_| self.word(depth + 1)).collect();
                let body = self.closed(depth);
                let variable = self.pick(&["v", "w", "n"]);
                format!("for {variable} in {}; do {body}done", words.join(" "))
            }
            5 => {
                let (word, body) = (self.word(depth + 1), self.closed(depth));
                let pattern = self.pick(&["*", "(x|*)", "x|q*|aa", "\"q\"*", "[a-z]*)\n;; *"]);
                let end = self.pick(&[";;", ";&", ";;&", ""]);
                format!("case {word} in {pattern}) {body}{end}\nesac")
            }
            6 => format!("for ((i={}; i<2; i++)); do {}done", self.arithmetic(depth), self.closed(depth)),
            7 => format!("[[ {} {} {} ]]", self.word(depth + 1), self.pick(&["==", "!=", "<"]), self.word(depth + 1)),
            8 => format!("[[ -n {} && ! -e {} ]]", self.word(depth + 1), self.word(depth + 1)),
            9 => format!("(({}))", self.arithmetic(depth)),
            10 => format!("{} {}", self.pick(&["f()", "function g", "f ()\n"]), self.group(depth)),
            11 => format!("f {}", self.words(depth)),
            12 if depth < 2 => format!("coproc {}", self.group(depth)),
            13 => format!("{} {}", self.group(depth), self.redirect(depth)),
            14 => self.assignment(depth),
            _ => self.simple(depth),
        }
    }

    fn list_in_lines(&mut self, depth: u32) -> String {
        let text = self.list(depth + 1);
        if text.trim_end().ends_with('&') || self.chance(2) { format!("{text}\n") } else { format!(" {text} \n") }
    }

    fn group(&mut self, depth: u32) -> String {
        let body = self.closed(depth);
        format!("{{ {body}}}")
    }

    /// A list that a reserved word may follow.
    fn closed(&mut self, depth: u32) -> String {
        let text = self.list(depth + 1);
        if text.contains('#') || text.ends_with('\n') || self.chance(3) {
            format!("{text}\n")
        } else {
            format!("{text}; ")
        }
    }

    fn simple(&mut self, depth: u32) -> String {
        let mut text = String::new();
        if self.chance(8) {
            text.push_str(&self.assignment(depth));
            text.push(' ');
        }
        if self.chance(12) {
            text.push_str(&self.redirect(depth));
            text.push(' ');
        }
        match self.below(10) {
            0 if depth < 4 => text.push_str(&self.wrapper(depth)),
            1 => {
                text.push_str(self.pick(&[
                    "echo",
                    "printf %s",
                    "test -n",
                    ":",
                    "true",
                    "cd .",
                    "ec\\ho",
                    "'printf' x",
                ]));
                text.push(' ');
                text.push_str(&self.words(depth));
            }
            2 if depth < 4 && self.chance(2) => text.push_str(&self.special(depth)),
            _ => {
                text.push_str(&self.name());
                text.push(' ');
                text.push_str(&self.words(depth));
            }
        }
        text
    }

    /// The name of a program, spelled in one of many ways.
    fn name(&mut self) -> String {
        let name = self.pick(NAMES);
        let (one, other) = name.split_at(1);
        match self.below(16) {
            0 => format!("{one}\\{other}"),
            1 => format!("'{one}'{other}"),
            2 => format!("\"{name}\""),
            3 => format!("{one}''{other}"),
            4 => format!("{one}\\\n{other}"),
            5 => format!("$'\\x{:x}'{other}", one.as_bytes()[0]),
            6 => format!("$\"{name}\""),
            7 => self
                .pick(&["$n", "\"$n\"", "${n}", "${n:-bb}", "$(aa)", "{bb,kk}", "${v:+qq}", "`bb x`", "./s/aa"])
                .to_owned(),
            _ => name.to_owned(),
        }
    }

    fn words(&mut self, depth: u32) -> String {
        let mut text = String::new();
        while self.more(depth) && !self.chance(3) {
            if self.chance(7) {
                text.push_str(&self.redirect(depth));
            } else {
                text.push_str(&self.word(depth + 1));
            }
            text.push_str(self.pick(&[" ", " ", "  ", " \\\n", "\t"]));
        }
        text
    }

    fn word(&mut self, depth: u32) -> String {
        let mut text = self.piece(depth);
        while self.chance(5) {
            text.push_str(&self.piece(depth));
        }
        text
    }

    fn piece(&mut self, depth: u32) -> String {
        if !self.more(depth) || self.chance(2) {
            let plain = [
                "x",
                "-q",
                "a1",
                "'q r'",
                "\"x y\"",
                "\\;",
                "\\&",
                "'it'\\''s'",
                "$'a\\tb'",
                "\"\"",
                "é",
                "a=b",
                "--f=x",
                "#",
                "x#y",
                "%",
                "+",
                "'$(aa)'",
                "\"\\$(aa)\"",
                "\\$v",
                "@",
                "'\n'",
                "-",
                "--",
                "1",
                "if",
                "done",
                "{",
                "}",
                "'#'",
                "\"'\"",
                "'\"'",
                "in",
                "!",
                "]]",
                "\\\\",
                "a\\ b",
                "=",
                "^",
            ];
            return self.pick(&plain).to_owned();
        }
        match self.below(22) {
            0 => format!("$({})", self.substituted(depth)),
            1 => format!("\"a$({})b\"", self.substituted(depth)),
            2 => {
                let text = self.substituted(depth + 2);
                if text.contains(['`', '\\', '#']) { "x".to_owned() } else { format!("`{text}`") }
            }
            3 => format!("<({})", self.substituted(depth)),
            4 => format!(">({})", self.substituted(depth)),
            5 => format!("$(({}))", self.arithmetic(depth)),
            6 => format!("${{v:-{}}}", self.word(depth + 1)),
            7 => format!("\"${{u:-$({})}}\"", self.substituted(depth)),
            8 => format!("${{v#{}}}", self.word(depth + 1)),
            9 => format!("\"${{v/q/$({})}}\"", self.substituted(depth)),
            10 => format!("${{a[$({} x)]}}", self.pick(NAMES)),
            11 => self
                .pick(&["$v", "\"$v\"", "$w", "\"$w\"", "$n", "$#", "$?", "\"$@\"", "$*", "$u", "${#v}", "${v%r}"])
                .to_owned(),
            12 => self.pick(&["*", "?", "[ab]", "s/*", "~", "a*", "~/x", "nothing*"]).to_owned(),
            13 => format!("{{{},{}}}", self.pick(&["x", "", "'q r'"]), self.word(depth + 1)),
            14 => self.pick(&["{1..3}", "{a,b}", "x{,y}", "{a}", "{}", "{,}"]).to_owned(),
            15 => format!("$'\\x{:x}\\n'", 0x61 + self.below(4)),
            16 => format!("\"${{v:+{}}}\"", self.pick(&["$(aa)", "x", "'q'", "$(bb \"x\")", "`kk`"])),
            17 => format!("\"$(({}))\"", self.arithmetic(depth)),
            18 => format!("${{u=$({})}}", self.substituted(depth)),
            19 => format!("${{v:$({} x)0:1}}", self.pick(&["true", "aa 0 >&2;"])),
            20 => format!("${{v^^{}}}", self.pick(&["q", "$(aa)", "[$(bb)]"])),
            _ => format!(
                "\"{}$({}) {}\"",
                self.pick(&["$v", "\\\"", "'", "x"]),
                self.substituted(depth),
                self.pick(&["$w", "'", "\\`"])
            ),
        }
    }

    /// What stands in a substitution; never so that `$(` and `(` look like arithmetic.
    fn substituted(&mut self, depth: u32) -> String {
        let text = self.inner_list(depth + 1);
        let text = if text.starts_with('(') { format!(" {text}") } else { text };
        if text.contains('#') || text.contains("<<") { format!("{text}\n") } else { text }
    }

    fn arithmetic(&mut self, depth: u32) -> String {
        match self.below(5) {
            0 => "1 + 2".to_owned(),
            1 => "i".to_owned(),
            2 => "x = 3, (1 << 2)".to_owned(),
            _ if self.more(depth) => format!("1 + $({}; echo 1)", self.name()),
            _ => "0".to_owned(),
        }
    }

    fn assignment(&mut self, depth: u32) -> String {
        let name = self.pick(&["v", "w", "n", "A", "v+", "a[1]"]);
        match self.below(4) {
            0 => format!("{name}={}", self.word(depth + 1)),
            1 => format!("a=({} {})", self.word(depth + 1), self.word(depth + 1)),
            2 => format!("{name}="),
            _ => format!("{name}={}", self.pick(&["aa", "'bb x'", "\"$v\"", "x$w", "$(kk)"])),
        }
    }

    fn redirect(&mut self, depth: u32) -> String {
        match self.below(12) {
            0 => "2>&1".to_owned(),
            1 => ">/dev/null".to_owned(),
            2 => format!("> o{}", self.below(3)),
            3 => format!(">>{}", self.pick(&["o1", "'o 2'", "\"$v\""])),
            4 => "</dev/null".to_owned(),
            5 => format!("<<<{}", self.word(depth + 1)),
            6 => format!("{}> o3", self.pick(&["2", "3", "{fd}", "&"])),
            7 => self.pick(&["2>&-", "<&0", ">|o1", "<>o1", "3<&0", "&>>o2"]).to_owned(),
            8 if depth < 4 => format!("> \"o$({})\"", self.substituted(depth)),
            9 if depth < 4 => format!("< <({})", self.substituted(depth)),
            _ => self.here_document(depth),
        }
    }

    fn here_document(&mut self, depth: u32) -> String {
        self.documents += 1;
        let delimiter = format!("E{}", self.documents);
        let mut body = String::new();
        let quoted = self.chance(3);
        for _ in 0..self.below(3) {
            let line = match self.below(5) {
                0 if depth < 4 => format!("x $({}) y", self.substituted(depth + 1)),
                1 => "'$v' \"`aa`\" \\$(bb)".to_owned(),
                2 => format!(" {delimiter}x"),
                3 if depth < 4 => format!("${{u:-$({})}}", self.substituted(depth + 1)),
                _ => "aa; bb $(".to_owned() + if quoted { "" } else { "kk)" },
            };
            body.push_str(&line);
            body.push('\n');
        }
        self.pending.push_str(&body);
        self.pending.push_str(&delimiter);
        self.pending.push('\n');
        match (quoted, self.below(3)) {
            (true, 0) => format!("<<'{delimiter}'"),
            (true, 1) => format!("<<\\{delimiter}"),
            (true, _) => format!("<<\"{delimiter}\""),
            (false, 0) => format!("<<-{delimiter}"),
            (false, _) => format!("<<{delimiter}"),
        }
    }

    /// A program or builtin that runs what follows it.
    fn wrapper(&mut self, depth: u32) -> String {
        let prefix = self.pick(&[
            "nice",
            "nice -n 3",
            "nice -5",
            "env",
            "env A=1",
            "env -u A B=2",
            "env -i",
            "env - x=1",
            "timeout 5",
            "timeout -k 1 5",
            "timeout --signal=KILL 5s",
            "timeout -s INT 5",
            "nohup",
            "command",
            "command --",
            "command -p",
            "exec",
            "exec -a x",
            "builtin command",
            "xargs",
            "xargs -n1",
            "xargs -n 2 -r",
            "xargs -I{}",
            "xargs -I {} -- ",
            "stdbuf -oL",
            "stdbuf -i 0 --output=L",
            "time",
            "nice nice",
            "env nice -n1 timeout 5",
            "env -S",
            "'nice'",
            "\\env",
            "command env A=1",
            "find . -maxdepth 0 -exec",
            "xargs --max-args=1",
            "nice --adjustment=2",
            "env -C . ",
            "nohup --",
        ]);
        let (name, words) = (self.name(), self.words(depth));
        match prefix {
            "env -S" => format!("env -S '{} x y'", self.pick(NAMES)),
            _ if prefix.starts_with("find") => {
                format!("{prefix} {name} {words} {{}} {}", self.pick(&["\\;", "+", "';'"]))
            }
            _ if prefix.starts_with("xargs") => {
                format!("{prefix} {name} {words} {}", self.pick(&["<<< 'q r'", "</dev/null"]))
            }
            _ => format!("{prefix} {name} {words}"),
        }
    }

    /// A shell or builtin that runs a text.
    fn special(&mut self, depth: u32) -> String {
        let script = self.inner_list(depth + 2);
        let quoted = format!("'{}'", script.replace('\'', "'\\''"));
        match self.below(9) {
            0 => format!("eval {quoted}"),
            1 => format!("bash -c {quoted}"),
            2 => format!("bash -c {quoted} x a b"),
            3 => format!("trap {quoted} EXIT"),
            4 => format!("bash -ec {quoted} </dev/null"),
            5 => format!("eval {} {}", self.name(), self.words(depth)),
            6 => format!("bash <<< {quoted}"),
            7 => format!("set -- {}\n\"$@\"", self.words(depth)),
            _ => format!("nice bash -c {quoted}"),
        }
    }
}
