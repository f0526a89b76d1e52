//! What the value of an option, or an operand, means.

/// What a value means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A text, number or name: no file.
    Text,
    /// A file to read, or a directory to list.
    Read,
    /// A file to make, change or remove.
    Write,
    /// The directory where the results go, instead of the last operand.
    Destination,
    /// A directory to go to.
    Enter,
    /// A program or script to run.
    Run,
    /// An archive; `HOST:FILE` is fetched by another program.
    Archive,
    /// A file with names of further files.
    List,
    /// A pattern: the operand that stands for it is then a file.
    Pattern,
    /// A file of patterns, likewise.
    PatternFile,
    /// A sed script.
    Sed,
    /// An awk program.
    Awk,
    /// A jq or yq filter.
    Jq,
    /// Code of an interpreter.
    Code,
    /// A file with code; the operand that stands for it is then a file.
    CodeFile,
    /// `@FILE`, else a text.
    At,
    /// `NAME=@FILE`, `NAME=<FILE`, `NAME@FILE`.
    Form,
    /// `NAME=FILE`, or just a file.
    Named,
    /// `FILE:MOUNTPOINT[:OPTIONS]`.
    Bind,
    /// `type=...,source=FILE,...`.
    Mount,
    /// `HOST:FILE` or an address, else a file to read.
    Remote,
    /// The same, to write.
    RemoteWrite,
    /// A path when it is visibly one.
    Any,
    /// `if=FILE`, `of=FILE` and other `NAME=value` of dd.
    Dd,
    /// `+FORMAT` of date; anything else sets the clock.
    Format,
    /// Letters of `ps` without a dash, or process numbers.
    Letters,
    /// `NAME=value`, `-letters` or `+letters` of a builtin that sets variables.
    Variable,
    /// The name of a setting; `NAME=value` sets it.
    Setting,
    /// A command of several words up to `;` or `+`.
    Until,
    /// The rest is a command line, which is looked at on its own.
    Command,
}

impl Kind {
    pub(super) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "" | "text" => Self::Text,
            "read" => Self::Read,
            "write" => Self::Write,
            "dest" => Self::Destination,
            "enter" => Self::Enter,
            "run" => Self::Run,
            "archive" => Self::Archive,
            "list" => Self::List,
            "pattern" => Self::Pattern,
            "patternfile" => Self::PatternFile,
            "sed" => Self::Sed,
            "awk" => Self::Awk,
            "jq" => Self::Jq,
            "code" => Self::Code,
            "codefile" => Self::CodeFile,
            "at" => Self::At,
            "form" => Self::Form,
            "named" => Self::Named,
            "bind" => Self::Bind,
            "mount" => Self::Mount,
            "remote" => Self::Remote,
            "remotewrite" => Self::RemoteWrite,
            "any" => Self::Any,
            "dd" => Self::Dd,
            "format" => Self::Format,
            "letters" => Self::Letters,
            "variable" => Self::Variable,
            "setting" => Self::Setting,
            "until" => Self::Until,
            "command" => Self::Command,
            _ => return None,
        })
    }

    /// Whether an operand of this kind is given by an option instead, when one gives a script or pattern.
    pub(super) fn is_script(self) -> bool {
        matches!(
            self,
            Self::Pattern | Self::PatternFile | Self::Sed | Self::Awk | Self::Jq | Self::Code | Self::CodeFile
        )
    }

    /// Whether no value of this kind does more than be read.
    pub(super) fn is_harmless(self) -> bool {
        !matches!(
            self,
            Self::Write
                | Self::Destination
                | Self::Run
                | Self::List
                | Self::Archive
                | Self::Sed
                | Self::Awk
                | Self::Jq
                | Self::Code
                | Self::CodeFile
                | Self::RemoteWrite
                | Self::Dd
                | Self::Format
                | Self::Letters
                | Self::Variable
                | Self::Setting
                | Self::Until
        )
    }
}
