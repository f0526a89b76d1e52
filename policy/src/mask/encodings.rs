//! The forms in which programs print a value: as it is, in base64, percent-encoded, escaped for JSON, in hex.

/// Bytes that an encoded form has at least; shorter ones would be found by chance.
const MIN_FORM: usize = 8;

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Returns every form of a value, the value first, each once.
pub(super) fn forms(value: &[u8]) -> Vec<Vec<u8>> {
    let mut forms: Vec<Vec<u8>> = vec![value.to_vec()];
    let mut add = |form: Vec<u8>| {
        if form.len() >= MIN_FORM && !forms.contains(&form) {
            forms.push(form);
        }
    };
    for alphabet in [STANDARD, URL_SAFE] {
        add(padded(value, alphabet));
        for before in 0..3 {
            add(inside(value, before, alphabet));
        }
    }
    for upper in [true, false] {
        add(percent(value, upper, false));
        add(percent(value, upper, true));
        add(hex(value, upper));
    }
    if let Ok(text) = std::str::from_utf8(value) {
        let json = serde_json::to_string(text).unwrap_or_default();
        let json = json.trim_start_matches('"').strip_suffix('"').unwrap_or_default();
        add(json.as_bytes().to_vec());
        add(json.replace('/', "\\/").into_bytes());
    }
    forms
}

/// The characters that depend on the value alone when `before` bytes stand in front of it in what is encoded.
fn inside(value: &[u8], before: usize, alphabet: &[u8; 64]) -> Vec<u8> {
    let mut bytes = vec![0; before];
    bytes.extend_from_slice(value);
    let whole = bytes.len() * 8 / 6;
    let from = (before * 8).div_ceil(6);
    digits(&bytes, alphabet).skip(from).take(whole.saturating_sub(from)).collect()
}

fn padded(value: &[u8], alphabet: &[u8; 64]) -> Vec<u8> {
    let mut form: Vec<u8> = digits(value, alphabet).collect();
    while !form.len().is_multiple_of(4) {
        form.push(b'=');
    }
    form
}

fn digits<'a>(bytes: &'a [u8], alphabet: &'a [u8; 64]) -> impl Iterator<Item = u8> + 'a {
    bytes.chunks(3).flat_map(move |chunk| {
        let group = chunk.iter().chain([&0; 2]).take(3).fold(0u32, |group, &byte| group << 8 | u32::from(byte));
        (0..=chunk.len()).map(move |digit| alphabet[(group >> (18 - 6 * digit) & 63) as usize])
    })
}

fn percent(value: &[u8], upper: bool, plus: bool) -> Vec<u8> {
    let mut form = Vec::with_capacity(value.len());
    for &byte in value {
        match byte {
            b' ' if plus => form.push(b'+'),
            byte if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) => form.push(byte),
            byte => {
                form.push(b'%');
                form.extend(nibbles(byte, upper));
            }
        }
    }
    form
}

fn hex(value: &[u8], upper: bool) -> Vec<u8> {
    value.iter().flat_map(|&byte| nibbles(byte, upper)).collect()
}

fn nibbles(byte: u8, upper: bool) -> [u8; 2] {
    let digits = if upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    [digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(value: &str, shown: &str) {
        let forms = forms(value.as_bytes());
        let found = forms.iter().any(|form| form == shown.as_bytes());
        assert!(
            found,
            "{shown} is none of {:?}",
            forms.iter().map(|form| String::from_utf8_lossy(form)).collect::<Vec<_>>()
        );
    }

    #[test]
    fn every_form_is_there() {
        check("p\"ss w/rd?", "p\"ss w/rd?");
        check("p\"ss w/rd?", "cCJzcyB3L3JkPw==");
        check("p\"ss w/rd?", "p%22ss%20w%2Frd%3F");
        check("p\"ss w/rd?", "p%22ss+w%2frd%3f");
        check("p\"ss w/rd?", "p\\\"ss w/rd?");
        check("p\"ss w/rd?", "p\\\"ss w\\/rd?");
        check("p\"ss w/rd?", "7022737320772f72643f");
    }

    #[test]
    fn base64_is_found_at_every_offset() {
        let value = "hunter2-hunter2";
        for before in ["", "a", "ab", "abc"] {
            for after in ["", "z", "zy"] {
                let text = padded(format!("{before}{value}{after}").as_bytes(), STANDARD);
                let text = String::from_utf8(text).unwrap();
                let found = forms(value.as_bytes())
                    .into_iter()
                    .filter(|form| text.contains(std::str::from_utf8(form).unwrap()));
                assert!(found.map(|form| form.len()).max().unwrap_or_default() >= 18, "{text}");
            }
        }
    }
}
