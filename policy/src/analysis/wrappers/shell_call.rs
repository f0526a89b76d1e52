//! How a shell's arguments decide where it reads its commands.

use super::super::tree::Word;

/// A shell's command line, read as bash reads it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShellCall<'w> {
    /// The text after `-c`.
    pub(crate) script: Option<&'w Word>,
    /// What follows that text: `$0` and the positional parameters.
    pub(crate) operands: &'w [Word],
    /// `-c` was given.
    pub(crate) command: bool,
    /// The script file.
    pub(crate) file: Option<&'w Word>,
    /// `--help`, `--version`: nothing is read.
    pub(crate) informs: bool,
    /// `-s`: the script is standard input, whatever operands follow.
    pub(crate) stdin: bool,
    /// No start-up file is read and nothing is interactive.
    pub(crate) plain: bool,
    /// Every option was known before running.
    pub(crate) known: bool,
}

impl<'w> ShellCall<'w> {
    pub(crate) fn read(arguments: &'w [Word]) -> Self {
        let mut call = Self {
            script: None,
            operands: &[],
            command: false,
            file: None,
            informs: false,
            stdin: false,
            plain: true,
            known: true,
        };
        let mut index = 0;
        while let Some(word) = arguments.get(index) {
            let Some(text) = word.value() else {
                if word.may_split() {
                    call.known = false;
                }
                break;
            };
            if text == "--" || text == "-" {
                index += 1;
                break;
            }
            if let Some(option) = text.strip_prefix("--") {
                index += 1;
                match option {
                    "help" | "version" | "dump-strings" | "dump-po-strings" => call.informs = true,
                    "rcfile" | "init-file" => {
                        call.plain = false;
                        index += 1;
                    }
                    "norc" | "noprofile" | "posix" | "restricted" | "verbose" | "noediting" => {}
                    "command" => call.command = true,
                    _ => {
                        call.plain = false;
                        if option.starts_with("command=") {
                            call.command = true;
                        }
                    }
                }
                continue;
            }
            let minus = text.starts_with('-');
            if !(minus || text.starts_with('+')) {
                break;
            }
            // PowerShell and nushell spell it out.
            match text.to_ascii_lowercase().as_str() {
                "-command" | "-encodedcommand" | "-ec" | "-commandwithargs" => {
                    call.command = true;
                    call.plain = false;
                    index += 1;
                    break;
                }
                "-file" => {
                    call.plain = false;
                    index += 1;
                    break;
                }
                _ => {}
            }
            index += 1;
            for letter in text[1..].chars() {
                match letter {
                    'c' if minus => call.command = true,
                    's' if minus => call.stdin = true,
                    'i' | 'l' => call.plain = false,
                    'o' | 'O' => index += 1,
                    _ => {}
                }
            }
        }
        let operand = arguments.get(index);
        if call.command {
            call.script = operand;
            call.operands = arguments.get(index + 1..).unwrap_or_default();
        } else {
            call.file = operand;
        }
        call
    }
}
