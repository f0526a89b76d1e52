//! In which directories a command may run: small sets, one for success and one for failure of what ran before.

/// A directory, by its number; [`UNKNOWN`] when it is known only at run time.
pub(super) type Id = u16;

/// A directory that is not known.
pub(super) const UNKNOWN: Id = Id::MAX;
/// The end of a stack of directories.
pub(super) const EMPTY: Id = Id::MAX;
/// A stack that is not known.
pub(super) const LOST: Id = Id::MAX - 1;

/// What a shell knows about its directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) current: Id,
    /// `$OLDPWD`.
    pub(super) old: Id,
    /// The stack of `pushd`, by the number of its top.
    pub(super) stack: Id,
}

impl Place {
    pub(super) const LOST: Self = Self { current: UNKNOWN, old: UNKNOWN, stack: LOST };
}

const MOST: usize = 6;

/// A few places; too many become one that is not known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    items: [Place; MOST],
    length: u8,
}

impl Places {
    pub(super) const NONE: Self = Self { items: [Place::LOST; MOST], length: 0 };

    pub(super) fn one(place: Place) -> Self {
        let mut places = Self::NONE;
        places.add(place);
        places
    }

    pub(super) fn as_slice(&self) -> &[Place] {
        &self.items[..usize::from(self.length)]
    }

    pub(super) fn is_empty(&self) -> bool {
        self.length == 0
    }

    pub(super) fn add(&mut self, place: Place) {
        if self.as_slice().contains(&place) || self.as_slice() == [Place::LOST] {
            return;
        }
        match self.items.get_mut(usize::from(self.length)) {
            Some(free) => {
                *free = place;
                self.length += 1;
            }
            None => *self = Self::one(Place::LOST),
        }
    }

    pub(super) fn join(&mut self, other: &Self) {
        other.as_slice().iter().for_each(|place| self.add(*place));
    }

    pub(super) fn holds(&self, other: &Self) -> bool {
        self.as_slice() == [Place::LOST] || other.as_slice().iter().all(|place| self.as_slice().contains(place))
    }
}

/// Where a shell may be after a command.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    /// If it succeeded.
    pub(super) ok: Places,
    /// If it failed.
    pub(super) failed: Places,
    /// It succeeds, unless somebody interferes: only `||` looks at `failed`.
    pub(super) certain: bool,
}

impl State {
    pub(super) const NOWHERE: Self = Self { ok: Places::NONE, failed: Places::NONE, certain: false };

    pub(super) fn of(places: Places) -> Self {
        Self { ok: places, failed: places, certain: false }
    }

    /// Where it may be, whatever happened.
    pub(super) fn all(&self) -> Places {
        let mut all = self.ok;
        if !self.certain {
            all.join(&self.failed);
        }
        all
    }
}
