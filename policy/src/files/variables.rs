//! The values that a command line itself gives to its variables.

/// Values of one variable that are told apart.
const MOST_VALUES: usize = 8;
/// Variables that are followed.
const MOST_VARIABLES: usize = 64;

/// What is known about variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Variables {
    known: Vec<Variable>,
    /// Something may have set any variable.
    lost: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Variable {
    name: String,
    values: Vec<String>,
    /// It may have other values, too.
    open: bool,
}

/// What a variable may be.
#[derive(Clone, Copy, Debug)]
pub(super) enum Known<'v> {
    /// The command line does not set it.
    Untouched,
    /// One of these.
    Values(&'v [String]),
    Unknown,
}

impl Variables {
    pub(super) fn get(&self, name: &str) -> Known<'_> {
        // Scripts that somebody sources rarely change what the shell itself keeps.
        let kept = matches!(name, "HOME" | "PWD" | "OLDPWD");
        match self.known.iter().find(|variable| variable.name == name) {
            _ if self.lost && !kept => Known::Unknown,
            None => Known::Untouched,
            Some(variable) if variable.open => Known::Unknown,
            Some(variable) => Known::Values(&variable.values),
        }
    }

    /// Sets a variable; when `surely` is false it may keep the value that it has. No values: it is not known.
    pub(super) fn set(&mut self, name: &str, values: Option<Vec<String>>, surely: bool) {
        let open = values.is_none();
        let values = values.unwrap_or_default();
        let Some(variable) = self.known.iter_mut().find(|variable| variable.name == name) else {
            if self.known.len() >= MOST_VARIABLES {
                self.lose();
                return;
            }
            // What it was before is not known.
            self.known.push(Variable { name: name.to_owned(), values, open: open || !surely });
            return;
        };
        if surely {
            (variable.values, variable.open) = (values, open);
            return;
        }
        variable.open |= open;
        for value in values {
            if !variable.values.contains(&value) {
                variable.values.push(value);
            }
        }
        variable.open |= variable.values.len() > MOST_VALUES;
    }

    /// Any variable may have any value from now on.
    pub(super) fn lose(&mut self) {
        self.lost = true;
    }
}
