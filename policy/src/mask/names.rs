//! Names of variables that say secret, and values that are none all the same.

/// Words of a name that say that the value is secret.
const SECRET: [&str; 24] = [
    "KEY",
    "KEYS",
    "APIKEY",
    "ACCESSKEY",
    "SECRETKEY",
    "PRIVATEKEY",
    "SECRET",
    "SECRETS",
    "TOKEN",
    "TOKENS",
    "PASSWORDS",
    "PASS",
    "PASSCODE",
    "CREDENTIAL",
    "CREDS",
    "CRED",
    "COOKIE",
    "COOKIES",
    "JWT",
    "BEARER",
    "PAT",
    "PASSKEY",
    "LICENSEKEY",
    "SIGNINGKEY",
];
/// Ends of a word that say so as well (`PGPASSWORD`).
const SECRET_END: [&str; 7] = ["PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "TOKEN", "APIKEY", "CREDENTIALS"];
/// Words that say so only behind another one: alone they mean something else.
const SECRET_BEHIND: [&str; 2] = ["PWD", "AUTH"];
/// Words at the end of a name that say what the value is instead.
const HARMLESS_AT_END: [&str; 36] = [
    "FILE",
    "FILES",
    "FILENAME",
    "PATH",
    "PATHS",
    "DIR",
    "DIRECTORY",
    "HOME",
    "SOCK",
    "SOCKET",
    "NAME",
    "NAMES",
    "TYPE",
    "TYPES",
    "LENGTH",
    "SIZE",
    "COUNT",
    "LIMIT",
    "TTL",
    "EXPIRY",
    "EXPIRES",
    "URL",
    "URI",
    "ENDPOINT",
    "HOST",
    "PORT",
    "ALGORITHM",
    "HEADER",
    "PROVIDER",
    "HELPER",
    "COMMAND",
    "CMD",
    "PROMPT",
    "ENABLED",
    "DISABLED",
    "REGION",
];
/// Words that say so anywhere in a name.
const HARMLESS: [&str; 7] = ["PUBLIC", "PUB", "MAX", "MIN", "NUM", "TOTAL", "FINGERPRINT"];
/// Values that are common words, placeholders or switches: hiding them everywhere would hide no secret.
const COMMON: [&str; 52] = [
    "account",
    "active",
    "admin",
    "administrator",
    "always",
    "anonymous",
    "bearer",
    "changeit",
    "changeme",
    "chrome",
    "default",
    "delete",
    "development",
    "disable",
    "disabled",
    "docker",
    "enable",
    "enabled",
    "example",
    "false",
    "firefox",
    "github",
    "google",
    "hidden",
    "insert",
    "keyring",
    "libsecret",
    "localhost",
    "manual",
    "master",
    "memory",
    "mongodb",
    "number",
    "optional",
    "oracle",
    "passwd",
    "password",
    "plaintext",
    "postgres",
    "postgresql",
    "private",
    "production",
    "public",
    "rabbitmq",
    "required",
    "secret",
    "staging",
    "string",
    "system",
    "testing",
    "undefined",
    "unlimited",
];

/// Tells whether the name of a variable says that its value is secret: one of its words does (`GITHUB_TOKEN`,
/// `dbPassword`), and it is not about a file, a place or a kind (`SSH_AUTH_SOCK`, `TOKEN_FILE`).
pub fn names_secret(name: &str) -> bool {
    let words = words(name);
    let Some(last) = words.last() else { return false };
    if HARMLESS_AT_END.contains(&last.as_str()) || words.iter().any(|word| HARMLESS.contains(&word.as_str())) {
        return false;
    }
    words.iter().enumerate().any(|(at, word)| {
        SECRET.contains(&word.as_str())
            || SECRET_END.iter().any(|end| word.ends_with(end))
            || (at > 0 && at + 1 == words.len() && SECRET_BEHIND.contains(&word.as_str()))
    })
}

/// Splits a name at what is no letter or digit, and where a capital follows a small letter.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut after_small = false;
    for char in name.chars() {
        let ends = !char.is_ascii_alphanumeric() || (char.is_ascii_uppercase() && after_small);
        if ends && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        after_small = char.is_ascii_lowercase();
        if char.is_ascii_alphanumeric() {
            word.push(char.to_ascii_uppercase());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    // `KEY1`, `TOKEN2`.
    words
        .iter()
        .map(|word| word.trim_end_matches(|c: char| c.is_ascii_digit()))
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Tells whether a value is no secret whatever its name says: too short, a common word, one character again and again,
/// a small number, a path.
pub(super) fn is_trivial(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let first = value.chars().next();
    value.len() < super::MIN_VALUE
        || COMMON.contains(&lower.as_str())
        || value.chars().all(|char| Some(char) == first)
        || (value.len() < 9 && value.bytes().all(|byte| byte.is_ascii_digit()))
        || is_path(value)
}

/// Absolute paths, with few digits: a secret in base64 may begin with a slash as well.
fn is_path(value: &str) -> bool {
    let Some(rest) = value.strip_prefix("~/").or_else(|| value.strip_prefix('/')) else { return false };
    let digits = rest.bytes().filter(u8::is_ascii_digit).count();
    rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-@ ".contains(&byte))
        && digits * 5 <= rest.len()
        && rest.split('/').all(|part| part.len() <= 40)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_the_name_says_it() {
        for name in [
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "API_KEY",
            "DB_PASSWORD",
            "MYSQL_PWD",
            "PGPASSWORD",
            "dbPassword",
            "stripe.secret",
            "NPM_AUTH",
            "TOKEN2",
            "GOOGLE_CREDENTIALS",
            "REDIS_PASS",
            "OPENAI_APIKEY",
            "GH_PAT",
        ] {
            assert!(names_secret(name), "{name}");
        }
        for name in [
            "PATH",
            "PWD",
            "OLDPWD",
            "SSH_AUTH_SOCK",
            "TOKEN_FILE",
            "KEYBOARD",
            "MONKEY",
            "PUBLIC_KEY",
            "MAX_TOKENS",
            "AUTH",
            "",
        ] {
            assert!(!names_secret(name), "{name}");
        }
    }

    #[test]
    fn common_values_are_no_secrets() {
        for value in [
            "true",
            "12345",
            "1000000",
            "Password",
            "xxxxxxxxxx",
            "/home/me/.ssh/id_rsa",
            "~/keys/main.pem",
            "postgres",
        ] {
            assert!(is_trivial(value), "{value}");
        }
        for value in ["hunter2", "/9j4AAQSk0ZJRg1x23/456", "correct horse"] {
            assert!(!is_trivial(value), "{value}");
        }
    }
}
