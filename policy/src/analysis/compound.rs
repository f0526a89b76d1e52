//! Compound commands: groups, loops, conditions, `case`, `[[`, `((`, functions and coprocesses.

use super::flow::{Step, narrow};
use super::reader::{Read, Reader};
use super::tree::{Assignment, Simple, Stdin, Word};

impl Reader<'_> {
    /// A compound command whose reserved word stands at the position.
    pub(super) fn compound(&mut self, word: &'static str) -> Read<()> {
        let first = self.tree.commands.len();
        let open = self.step(Step::Nothing);
        match word {
            "{" | "if" | "while" | "until" | "for" | "select" | "case" | "[[" | "function" | "coproc" => {
                self.pos += word.len()
            }
            _ => return self.error("unexpected reserved word"),
        }
        match word {
            "{" => {
                self.body()?;
                self.expect_word("}")?;
            }
            "if" => self.condition()?,
            "while" | "until" => {
                self.step(Step::Loop);
                self.body()?;
                self.expect_word("do")?;
                self.step(if word == "while" { Step::While } else { Step::Until });
                self.body()?;
                self.expect_word("done")?;
                self.step(Step::Done);
            }
            "for" => self.for_loop()?,
            "select" => {
                self.step(Step::Choice);
                self.for_loop()?;
            }
            "case" => self.case()?,
            "[[" => self.tucked(Self::double_bracket)?,
            "function" => return self.function_keyword(),
            _ => return self.coprocess(open),
        }
        self.trailing_redirects(first, open)
    }

    /// `((` or `(`.
    pub(super) fn parenthesis(&mut self) -> Read<()> {
        let first = self.tree.commands.len();
        let open = self.step(Step::Nothing);
        if self.at(1) == b'(' {
            self.tree.double_paren = true;
            if let Some(close) = self.arithmetic_close(self.pos + 2) {
                self.pos += 2;
                self.arithmetic(close)?;
                self.pos = close + 2;
                self.step(Step::Status);
                return self.trailing_redirects(first, open);
            }
        }
        self.pos += 1;
        self.step(Step::Enter);
        self.body()?;
        if self.peek() != b')' {
            return self.error("`(` is not closed");
        }
        self.step(Step::Leave);
        self.pos += 1;
        self.trailing_redirects(first, open)
    }

    /// A list that must not be empty.
    fn body(&mut self) -> Read<()> {
        if self.nested(Self::list)? == 0 {
            return self.error("a command is missing");
        }
        Ok(())
    }

    fn expect_word(&mut self, word: &'static str) -> Read<()> {
        if self.reserved() != Some(word) {
            return self.error(match word {
                "}" => "`{` is not closed",
                "do" => "`do` is missing",
                "done" => "`done` is missing",
                "then" => "`then` is missing",
                "fi" => "`fi` is missing",
                _ => "a reserved word is missing",
            });
        }
        self.pos += word.len();
        Ok(())
    }

    /// The redirections behind a compound command, whose first step is `open`.
    fn trailing_redirects(&mut self, first: usize, open: usize) -> Read<()> {
        let trail = self.step(Step::Nothing);
        let before = self.tree.redirects.len();
        loop {
            self.blanks();
            let Some(redirect) = self.redirect()? else {
                if self.tree.redirects.len() > before {
                    self.fill(open, Step::Open);
                    self.fill(trail, Step::Trail);
                    self.step(Step::Close);
                }
                return Ok(());
            };
            self.step(Step::Redirect(narrow(self.tree.redirects.len())));
            if redirect.feeds_stdin() {
                self.set_stdin(first, Stdin::Redirected);
            }
            self.tree.redirects.push(redirect);
        }
    }

    fn condition(&mut self) -> Read<()> {
        self.body()?;
        self.expect_word("then")?;
        self.step(Step::Then);
        self.body()?;
        self.step(Step::Else);
        // Each `elif` is an `if` in the `else` of the one before it.
        let mut conditions = 1;
        loop {
            match self.reserved() {
                Some("elif") => {
                    self.pos += 4;
                    self.body()?;
                    self.expect_word("then")?;
                    self.step(Step::Then);
                    self.body()?;
                    self.step(Step::Else);
                    conditions += 1;
                }
                Some("else") => {
                    self.pos += 4;
                    self.body()?;
                }
                _ => {
                    self.tree.steps.extend(std::iter::repeat_n(Step::Fi, conditions));
                    return self.expect_word("fi");
                }
            }
        }
    }

    fn for_loop(&mut self) -> Read<()> {
        self.blanks();
        if self.starts_with("((") {
            self.tree.double_paren = true;
            let Some(close) = self.arithmetic_close(self.pos + 2) else {
                return self.error("`((` is not closed");
            };
            self.pos += 2;
            self.arithmetic(close)?;
            self.pos = close + 2;
            self.blanks();
            if self.peek() == b';' {
                self.pos += 1;
            }
            self.newlines()?;
            return self.loop_body();
        }
        let name = match self.word()? {
            Some(name) if is_name(&name.text) => name.text,
            _ => return self.error("a loop needs the name of a variable"),
        };
        self.newlines()?;
        if self.reserved_in() {
            self.pos += 2;
            loop {
                self.blanks();
                match self.word()? {
                    Some(word) => {
                        if word.value().is_none_or(|text| text.contains(['[', '$', '`'])) {
                            self.tree.sets_names = true;
                        }
                        let span = word.span.clone();
                        self.step(Step::Value(narrow(self.tree.loops.len())));
                        self.tree.loops.push(Assignment { name: name.clone(), value: word, span });
                    }
                    None => break,
                }
            }
            match self.peek() {
                b';' => self.pos += 1,
                b'\n' if !self.done() => {}
                _ => return self.error("`;` is missing after the words of a loop"),
            }
        } else {
            self.step(Step::Forget);
            if self.peek() == b';' {
                self.pos += 1;
            }
        }
        self.newlines()?;
        self.loop_body()
    }

    fn loop_body(&mut self) -> Read<()> {
        self.step(Step::Loop);
        self.step(Step::Each);
        if self.reserved() == Some("{") {
            self.pos += 1;
            self.body()?;
            self.step(Step::Done);
            return self.expect_word("}");
        }
        self.expect_word("do")?;
        self.body()?;
        self.step(Step::Done);
        self.expect_word("done")
    }

    fn reserved_in(&self) -> bool {
        self.raw_word() == "in"
    }

    fn case(&mut self) -> Read<()> {
        self.blanks();
        if self.word()?.is_none() {
            return self.error("`case` needs a word");
        }
        self.newlines()?;
        if !self.reserved_in() {
            return self.error("`in` is missing after `case`");
        }
        self.pos += 2;
        self.step(Step::Case);
        loop {
            self.newlines()?;
            if self.reserved() == Some("esac") {
                self.pos += 4;
                self.step(Step::Esac);
                return Ok(());
            }
            self.step(Step::Branch);
            if self.peek() == b'(' {
                self.pos += 1;
                self.blanks();
            }
            loop {
                self.blanks();
                if self.word()?.is_none() {
                    return self.error("a pattern is missing in `case`");
                }
                self.blanks();
                match self.peek() {
                    b'|' if self.at(1) != b'|' => self.pos += 1,
                    b')' => {
                        self.pos += 1;
                        break;
                    }
                    _ => return self.error("`)` is missing after a pattern"),
                }
            }
            self.nested(Self::list)?;
            if self.starts_with(";;&") {
                self.step(Step::Fall);
                self.pos += 3;
            } else if self.starts_with(";&") {
                self.step(Step::Fall);
                self.pos += 2;
            } else if self.starts_with(";;") {
                self.pos += 2;
            } else if self.reserved() == Some("esac") {
                self.pos += 4;
                self.step(Step::Esac);
                return Ok(());
            } else {
                return self.error("`esac` is missing");
            }
        }
    }

    /// `name (` was read up to the parenthesis.
    pub(super) fn function(&mut self, name: &Word) -> Read<()> {
        self.pos += 1;
        self.blanks();
        if self.peek() != b')' {
            return self.error("unexpected `(`");
        }
        self.pos += 1;
        self.function_body(name)
    }

    fn function_keyword(&mut self) -> Read<()> {
        self.blanks();
        let Some(name) = self.word()? else { return self.error("a function needs a name") };
        self.blanks();
        if self.peek() == b'(' && self.at(1) != b'(' {
            let before = self.pos;
            self.pos += 1;
            self.blanks();
            if self.peek() == b')' {
                self.pos += 1;
            } else {
                self.pos = before;
            }
        }
        self.function_body(&name)
    }

    fn function_body(&mut self, name: &Word) -> Read<()> {
        if name.is_dynamic() {
            self.tree.doubt("a function whose name is not plain");
        }
        self.tree.functions.push(name.text.clone());
        self.newlines()?;
        let first = self.tree.commands.len();
        let function = narrow(self.tree.functions.len() - 1);
        let start = self.step(Step::Nothing);
        self.body_of_function()?;
        self.fill(start, Step::Function { name: function, end: narrow(self.tree.steps.len()) });
        self.notice_multiplying(&name.text, first);
        Ok(())
    }

    /// Notes a function that starts itself at least twice, piped together or in the background.
    fn notice_multiplying(&mut self, name: &str, first: usize) {
        let commands = &self.tree.commands;
        let calls = |simple: &Simple| simple.words.first().and_then(Word::value) == Some(name);
        let own = || commands.iter().skip(first).filter(|simple| calls(simple));
        let together = own().any(|simple| match simple.stdin {
            Stdin::Nothing => true,
            Stdin::Pipe(producer) => commands.get(producer).is_some_and(calls),
            _ => false,
        });
        self.tree.multiplies |= together && own().nth(1).is_some();
    }

    fn body_of_function(&mut self) -> Read<()> {
        match self.reserved() {
            Some("function" | "coproc" | "time" | "!") => self.error("a function needs a body"),
            Some(word) => self.nested(|reader| reader.compound(word)),
            None if self.peek() == b'(' => self.nested(Self::parenthesis),
            None => self.error("a function needs a compound command as body"),
        }
    }

    fn coprocess(&mut self, open: usize) -> Read<()> {
        let first = self.tree.commands.len();
        self.blanks();
        if !self.compound_starts() {
            let before = self.pos;
            let name = self.raw_word();
            self.pos += name.len();
            self.blanks();
            if !(is_name(name) && self.compound_starts()) {
                self.pos = before;
            }
        }
        if let Some(word) = self.reserved() {
            self.nested(|reader| reader.compound(word))?;
        } else if self.peek() == b'(' {
            self.nested(Self::parenthesis)?;
        } else {
            self.simple()?;
        }
        self.set_stdin(first, Stdin::Nothing);
        self.enclose(open);
        self.tree.coprocess = true;
        Ok(())
    }

    fn compound_starts(&self) -> bool {
        self.peek() == b'('
            || matches!(self.reserved(), Some("{" | "if" | "while" | "until" | "for" | "select" | "case" | "[["))
    }

    /// The inside of `[[`, up to and with `]]`.
    fn double_bracket(&mut self) -> Read<()> {
        let mut parentheses = 0usize;
        let mut previous = Word::default();
        loop {
            self.newlines()?;
            if self.done() {
                return self.error("`[[` is not closed");
            }
            if self.raw_word() == "]]" {
                if parentheses > 0 {
                    return self.error("`(` is not closed in `[[`");
                }
                self.pos += 2;
                self.step(Step::Status);
                return Ok(());
            }
            match self.peek() {
                b'(' => {
                    parentheses += 1;
                    self.pos += 1;
                    previous = Word::default();
                }
                b')' if parentheses > 0 => {
                    parentheses -= 1;
                    self.pos += 1;
                    previous = Word::default();
                }
                b'&' | b'|' if self.at(1) == self.peek() => {
                    self.pos += 2;
                    previous = Word::default();
                }
                b'<' | b'>' if self.at(1) != b'(' => {
                    self.pos += 1;
                    previous = Word::default();
                }
                _ => previous = self.test_operand(previous)?,
            }
        }
    }

    /// One word of `[[`; what it may be depends on the word before it.
    fn test_operand(&mut self, before: Word) -> Read<Word> {
        let previous = before.value().unwrap_or_default();
        if matches!(self.peek(), b'<' | b'>') {
            self.tree.doubt("a process substitution in `[[`");
        }
        let word = match previous {
            "=~" => self.pattern_word(true)?,
            "==" | "=" | "!=" => self.pattern_word(false)?,
            _ => self.word()?,
        };
        let Some(word) = word else { return self.error("unexpected token in `[[`") };
        let arithmetic = matches!(previous, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" | "-v");
        let number = |text: &str| text.bytes().all(|b| b.is_ascii_digit() || b == b'-');
        if arithmetic && !word.value().is_some_and(number) {
            if word.text.contains(['[', '`']) || word.text.contains("$(") {
                self.tree.doubt("`[[` evaluates a subscript");
            }
            self.tree.evaluates_names = true;
        }
        if matches!(word.text.as_str(), "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge") {
            if before.text.contains(['[', '`']) || before.text.contains("$(") {
                self.tree.doubt("`[[` evaluates a subscript");
            }
            self.tree.evaluates_names = true;
        }
        if matches!(word.text.as_str(), "-nt" | "-ot" | "-ef") && !before.text.is_empty() {
            self.test(before);
        } else if is_file_test(previous) {
            self.test(word.clone());
        }
        Ok(word)
    }

    /// Notes the operand of a file test.
    fn test(&mut self, operand: Word) {
        self.step(Step::Test(narrow(self.tree.tests.len())));
        self.tree.tests.push(operand);
    }
}

/// The operators of `[[` whose right operand is a file.
fn is_file_test(operator: &str) -> bool {
    let mut bytes = operator.bytes();
    match (bytes.next(), bytes.next(), bytes.next()) {
        (Some(b'-'), Some(letter), None) => b"abcdefghkprsuwxGLNOS".contains(&letter),
        _ => matches!(operator, "-nt" | "-ot" | "-ef"),
    }
}

pub(super) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
