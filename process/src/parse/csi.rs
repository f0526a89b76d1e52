//! One CSI sequence; its parameters are parsed only when somebody asks.

use super::CSI_CAP;

/// Parameters beyond this many are ignored (as xterm and the VT500 do).
const MAX_PARAMS: usize = 32;

/// A CSI sequence (ECMA-48 5.4): `CSI marker? parameters intermediates final`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Csi<'a> {
    marker: u8,
    params: &'a [u8],
    intermediates: &'a [u8],
    last: u8,
}

impl<'a> Csi<'a> {
    /// Reads a whole sequence from what follows ESC; returns it and the bytes it takes.
    ///
    /// `None` when it is cut, malformed or no CSI: then the state machine goes byte by byte.
    #[inline]
    pub(super) fn scan(bytes: &'a [u8]) -> Option<(Self, usize)> {
        let (b'[', rest) = bytes.split_first()? else {
            return None;
        };
        let marker = match rest.first()? {
            &marker @ 0x3c..=0x3f => marker,
            _ => 0,
        };
        let start = usize::from(marker != 0);
        let mut at = start;
        while let 0x30..=0x3b = rest.get(at)? {
            at += 1;
        }
        let middle = at;
        while let 0x20..=0x2f = rest.get(at)? {
            at += 1;
        }
        let &last @ 0x40..=0x7e = rest.get(at)? else {
            return None;
        };
        if at > CSI_CAP {
            return None;
        }
        let csi = Self { marker, params: &rest[start..middle], intermediates: &rest[middle..at], last };
        Some((csi, at + 2))
    }

    /// Takes apart the bytes between CSI and its final byte; `None` if they are no valid sequence.
    pub(super) fn new(held: &'a [u8], last: u8) -> Option<Self> {
        if held.len() > CSI_CAP {
            return None;
        }
        let (marker, rest) = match held.split_first() {
            Some((&marker @ 0x3c..=0x3f, rest)) => (marker, rest),
            _ => (0, held),
        };
        let middle = rest.iter().position(|byte| !(0x30..=0x3b).contains(byte)).unwrap_or(rest.len());
        let (params, intermediates) = rest.split_at(middle);
        let valid = intermediates.iter().all(|byte| (0x20..=0x2f).contains(byte));
        valid.then_some(Self { marker, params, intermediates, last })
    }

    /// The final byte, which names the function together with the marker and the intermediates.
    pub fn last(&self) -> u8 {
        self.last
    }

    /// The private marker (`<`, `=`, `>`, `?`), or 0.
    pub fn marker(&self) -> u8 {
        self.marker
    }

    /// The intermediate bytes.
    pub fn intermediates(&self) -> &'a [u8] {
        self.intermediates
    }

    /// Marker, intermediates and final byte in one value to match on; only the first intermediate counts.
    pub fn function(&self) -> (u8, u8, u8) {
        (self.marker, self.intermediates.first().copied().unwrap_or(0), self.last)
    }

    /// The parameters, each with its sub-parameters; an absent one is 0, a large one 65 535.
    pub fn params(&self) -> impl Iterator<Item = impl Iterator<Item = u16> + 'a> + 'a {
        self.params
            .split(|&byte| byte == b';')
            .take(MAX_PARAMS)
            .map(|param| param.split(|&byte| byte == b':').map(number))
    }

    /// The parameter number `n` from 0, without its sub-parameters; absent or 0 is `default`.
    pub fn param(&self, n: usize, default: u16) -> u16 {
        match self.params().nth(n).and_then(|mut subs| subs.next()).unwrap_or(0) {
            0 => default,
            value => value,
        }
    }
}

fn number(digits: &[u8]) -> u16 {
    digits
        .iter()
        .fold(0u16, |value, digit| value.saturating_mul(10).saturating_add(u16::from(digit.wrapping_sub(b'0'))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(held: &str, expected: Option<(u8, &[&[u16]], &str)>) {
        let csi = Csi::new(held.as_bytes(), b'm');
        let got = csi.map(|csi| {
            let params: Vec<Vec<u16>> = csi.params().map(Iterator::collect).collect();
            (csi.marker(), params, String::from_utf8(csi.intermediates().to_vec()).unwrap())
        });
        let expected = expected.map(|(marker, params, inter)| {
            (marker, params.iter().map(|subs| subs.to_vec()).collect(), inter.to_owned())
        });
        assert_eq!(got, expected, "{held:?}");
        if let Some(csi) = csi {
            let whole = format!("[{held}m");
            let scanned = Csi::scan(whole.as_bytes()).unwrap();
            assert_eq!(scanned, (csi, whole.len()), "{held:?}");
        }
    }

    #[test]
    fn parts() {
        check("", Some((0, &[&[0]], "")));
        check("1;22", Some((0, &[&[1], &[22]], "")));
        check("?25", Some((b'?', &[&[25]], "")));
        check("4:3;;7", Some((0, &[&[4, 3], &[0], &[7]], "")));
        check("?2026$", Some((b'?', &[&[2026]], "$")));
        check(" ", Some((0, &[&[0]], " ")));
        check("9999999999", Some((0, &[&[65535]], "")));
        check("1?2", None);
        check("!1", None);
    }

    #[test]
    fn long_ones_are_refused_in_both_ways() {
        let long = "1".repeat(CSI_CAP + 1);
        assert_eq!(Csi::new(long.as_bytes(), b'm'), None);
        assert_eq!(Csi::scan(format!("[{long}m").as_bytes()), None);
        let fits = "1".repeat(CSI_CAP);
        assert!(Csi::new(fits.as_bytes(), b'm').is_some());
        assert!(Csi::scan(format!("[{fits}m").as_bytes()).is_some());
    }
}
