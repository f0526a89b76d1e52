//! What host, fork server and guardian say to each other: one request, then fixed-size commands and reports.

use crate::sys::Process;

/// The step of a start that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Checking what was asked for, before anything was started.
    Request,
    /// Opening the terminal or the pipes.
    Open,
    /// Starting or reaching the fork server.
    Server,
    /// Making a process.
    Fork,
    /// Starting a session.
    Session,
    /// Taking the terminal as controlling terminal.
    Terminal,
    /// Moving descriptors to 0, 1 and 2.
    Stdio,
    /// Changing to the working directory.
    Workdir,
    /// Executing the program.
    Exec,
}

const STAGES: [Stage; 9] = [
    Stage::Request,
    Stage::Open,
    Stage::Server,
    Stage::Fork,
    Stage::Session,
    Stage::Terminal,
    Stage::Stdio,
    Stage::Workdir,
    Stage::Exec,
];

/// A failed step and the system's number for why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) stage: Stage,
    pub(crate) errno: i32,
}

impl Failure {
    pub(crate) const SIZE: usize = 8;

    pub(crate) fn encode(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[0] = self.stage as u8;
        bytes[4..].copy_from_slice(&self.errno.to_le_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let stage = *STAGES.get(usize::from(*bytes.first()?))?;
        Some(Self { stage, errno: int(bytes, 4)? })
    }
}

fn int(bytes: &[u8], at: usize) -> Option<i32> {
    bytes.get(at..at + 4)?.try_into().ok().map(i32::from_le_bytes)
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes)
}

/// The fixed part of a request; the strings follow: working directory, arguments, environment, each ended by a
/// zero byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// Length of the strings in bytes.
    pub(crate) length: u32,
    pub(crate) argc: u32,
    pub(crate) envc: u32,
    /// Whether standard input is to become the controlling terminal.
    pub(crate) terminal: bool,
    pub(crate) creation_mask: Option<u32>,
    pub(crate) descriptor_limit: Option<u64>,
    /// Whether a descriptor of the working directory comes with the request.
    pub(crate) workdir_opened: bool,
    /// Whether a descriptor of the program comes with it, behind that of the working directory.
    pub(crate) program_opened: bool,
    /// Whether that one is executed itself, rather than compared with what its path leads to.
    pub(crate) executes_descriptors: bool,
}

impl Header {
    pub(crate) const SIZE: usize = 32;

    pub(crate) fn encode(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        let mask = self.creation_mask.unwrap_or(u32::MAX);
        let opened = [self.workdir_opened, self.program_opened, self.executes_descriptors];
        let opened = opened.iter().rev().fold(0, |bits, bit| bits << 1 | u32::from(*bit));
        let values = [self.length, self.argc, self.envc, u32::from(self.terminal), mask, opened];
        for (value, at) in values.iter().zip((0..).step_by(4)) {
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        bytes[24..].copy_from_slice(&self.descriptor_limit.unwrap_or(u64::MAX).to_le_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8; Self::SIZE]) -> Self {
        let word = |at| int(bytes, at).unwrap_or(0).cast_unsigned();
        let limit = long(bytes, 24).unwrap_or(u64::MAX);
        Self {
            length: word(0),
            argc: word(4),
            envc: word(8),
            terminal: word(12) != 0,
            creation_mask: Some(word(16)).filter(|mask| *mask != u32::MAX),
            descriptor_limit: Some(limit).filter(|limit| *limit != u64::MAX),
            workdir_opened: word(20) & 1 != 0,
            program_opened: word(20) & 2 != 0,
            executes_descriptors: word(20) & 4 != 0,
        }
    }
}

/// From the host to a guardian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    /// End the tree: ask now, kill after the grace.
    Stop { grace_ms: u64 },
    /// Signal the leader; answered with [`Report::Answer`].
    Signal { sequence: u32, signal: i32 },
}

impl Command {
    pub(crate) const SIZE: usize = 16;

    pub(crate) fn encode(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        match self {
            Self::Stop { grace_ms } => {
                bytes[0] = 1;
                bytes[8..].copy_from_slice(&grace_ms.to_le_bytes());
            }
            Self::Signal { sequence, signal } => {
                bytes[0] = 2;
                bytes[4..8].copy_from_slice(&signal.to_le_bytes());
                bytes[8..12].copy_from_slice(&sequence.to_le_bytes());
            }
        }
        bytes
    }

    pub(crate) fn decode(bytes: &[u8; Self::SIZE]) -> Option<Self> {
        match bytes[0] {
            1 => Some(Self::Stop { grace_ms: long(bytes, 8)? }),
            2 => Some(Self::Signal { signal: int(bytes, 4)?, sequence: int(bytes, 8)?.cast_unsigned() }),
            _ => None,
        }
    }
}

/// From a guardian, or from the fork server in its place, to the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Report {
    /// The guardian lives and is about to read the request: from here on the command may have run.
    Hello { guardian: i32 },
    /// The command runs.
    Started { leader: i32 },
    /// The command was not started.
    Failed(Failure),
    /// The leader ended with this code.
    Exited { code: i32 },
    /// The leader was ended by this signal.
    Signaled { signal: i32 },
    /// The guardian was killed; how the leader ended is not known.
    Lost,
    /// A stop began: so many processes were alive.
    Found { count: u32 },
    /// This process did not end in the grace and was killed. Only said of the first ones.
    Killed { pid: i32, name: [u8; 16] },
    /// So many were killed.
    KilledInAll { count: u32 },
    /// Whether the signal was sent: 0 or the system's number for why not.
    Answer { sequence: u32, errno: i32 },
    /// No process of the tree is left. The last report.
    Empty,
}

impl Report {
    pub(crate) const SIZE: usize = 32;

    pub(crate) fn encode(self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        let (kind, first, second) = match self {
            Self::Hello { guardian } => (1, guardian, 0),
            Self::Started { leader } => (2, leader, 0),
            Self::Failed(failure) => (3, failure.errno, failure.stage as u64),
            Self::Exited { code } => (4, code, 0),
            Self::Signaled { signal } => (5, signal, 0),
            Self::Lost => (6, 0, 0),
            Self::Found { count } => (7, 0, u64::from(count)),
            Self::Killed { pid, name } => {
                bytes[16..].copy_from_slice(&name);
                (8, pid, 0)
            }
            Self::KilledInAll { count } => (11, 0, u64::from(count)),
            Self::Answer { sequence, errno } => (9, errno, u64::from(sequence)),
            Self::Empty => (10, 0, 0),
        };
        bytes[0] = kind;
        bytes[4..8].copy_from_slice(&first.to_le_bytes());
        bytes[8..16].copy_from_slice(&second.to_le_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8; Self::SIZE]) -> Option<Self> {
        let (first, second) = (int(bytes, 4)?, long(bytes, 8)?);
        let small = u32::try_from(second).unwrap_or(u32::MAX);
        Some(match bytes[0] {
            1 => Self::Hello { guardian: first },
            2 => Self::Started { leader: first },
            3 => Self::Failed(Failure { stage: *STAGES.get(usize::try_from(second).ok()?)?, errno: first }),
            4 => Self::Exited { code: first },
            5 => Self::Signaled { signal: first },
            6 => Self::Lost,
            7 => Self::Found { count: small },
            8 => Self::Killed { pid: first, name: bytes[16..].try_into().ok()? },
            9 => Self::Answer { sequence: small, errno: first },
            10 => Self::Empty,
            11 => Self::KilledInAll { count: small },
            _ => return None,
        })
    }

    /// The report about one killed process.
    pub(crate) fn killed(process: &Process) -> Self {
        Self::Killed { pid: process.pid, name: process.name }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_come_back_as_they_were() {
        let reports = [
            Report::Hello { guardian: 7 },
            Report::Started { leader: 8 },
            Report::Exited { code: 255 },
            Report::Signaled { signal: 9 },
            Report::Lost,
            Report::Found { count: 3 },
            Report::KilledInAll { count: 70_000 },
            Report::Killed { pid: 12, name: *b"sleep\0\0\0\0\0\0\0\0\0\0\0" },
            Report::Answer { sequence: u32::MAX, errno: 1 },
            Report::Empty,
        ];
        let failures = STAGES.map(|stage| Report::Failed(Failure { stage, errno: 2 }));
        for report in reports.into_iter().chain(failures) {
            assert_eq!(Report::decode(&report.encode()), Some(report));
        }
        assert_eq!(Report::decode(&[200; Report::SIZE]), None);
    }

    #[test]
    fn failures_come_back_as_they_were() {
        for stage in STAGES {
            let failure = Failure { stage, errno: 13 };
            assert_eq!(Failure::decode(&failure.encode()), Some(failure));
        }
        assert_eq!(Failure::decode(&[]), None);
    }

    #[test]
    fn commands_come_back_as_they_were() {
        for command in [Command::Stop { grace_ms: 2000 }, Command::Signal { sequence: 4, signal: 15 }] {
            assert_eq!(Command::decode(&command.encode()), Some(command));
        }
        assert_eq!(Command::decode(&[0; Command::SIZE]), None);
    }

    #[test]
    fn headers_come_back_as_they_were() {
        let full = Header {
            length: 1,
            argc: 2,
            envc: 3,
            terminal: true,
            creation_mask: Some(0o022),
            descriptor_limit: Some(1024),
            workdir_opened: true,
            program_opened: false,
            executes_descriptors: true,
        };
        let empty = Header { terminal: false, creation_mask: None, descriptor_limit: None, ..full };
        let other = Header { workdir_opened: false, program_opened: true, executes_descriptors: false, ..full };
        for header in [full, empty, other] {
            assert_eq!(Header::decode(&header.encode()), header);
        }
    }
}
