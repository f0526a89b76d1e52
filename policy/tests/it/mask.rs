//! The secret mask: what it hides, what it leaves alone, and that pieces of a text are masked as the whole is.

use policy::SecretMask;
use proptest::prelude::*;
use tool_api::Mask;

/// Made up at run time, so that nothing in this file looks like a secret.
fn token(prefix: &str, length: usize) -> String {
    let letters = b"7fQx2LmZ9aWc4RtY8bVn3KpD6sHgJ5uEoNwXyT1i";
    let body: String = (0..length).map(|at| char::from(letters[at * 7 % letters.len()])).collect();
    format!("{prefix}{body}")
}

fn hex(length: usize) -> String {
    (0..length).map(|at| char::from(b"3f9a1c8e5b7d2046"[at * 5 % 16])).collect()
}

#[track_caller]
fn hides(text: &str, secret: &str, rule: &str) {
    assert!(text.contains(secret), "{text}");
    let mask = SecretMask::new();
    let masked = mask.mask("", text, "");
    assert!(!masked.contains(secret), "{masked}");
    assert_eq!(masked, text.replace(secret, &format!("[secret hidden: {rule}]")));
    assert_eq!(mask.mask("", &masked, ""), masked, "what is masked stays as it is");
}

#[track_caller]
fn leaves(text: &str) {
    let mask = SecretMask::new();
    assert_eq!(mask.mask("", text, ""), text);
}

#[test]
fn known_tokens() {
    for (prefix, length, rule) in [
        ("ghp_", 36, "github-pat"),
        ("gho_", 36, "github-oauth"),
        ("github_pat_", 82, "github-fine-grained-pat"),
        ("glpat-", 20, "gitlab-pat"),
        ("npm_", 36, "npm-access-token"),
        ("hvs.", 95, "vault-service-token"),
        ("sk_live_", 24, "stripe-access-token"),
        ("AIza", 35, "gcp-api-key"),
    ] {
        let secret = token(prefix, length);
        let secret = if rule == "npm-access-token" { secret.to_lowercase() } else { secret };
        for text in [
            format!("pushing with {secret}\n"),
            format!("TOK={secret}"),
            format!("{{\"t\": \"{secret}\", \"n\": 1}}"),
            format!("{secret}\r\nnext"),
            format!("é{secret} é"),
        ] {
            if text.starts_with('é') && !matches!(rule, "github-pat" | "gitlab-pat") {
                continue;
            }
            hides(&text, &secret, rule);
        }
    }
    let jwt = format!("{}.{}.{}", token("eyJhbGciOiJI", 30), token("eyJzdWIiOiIx", 40), token("", 43));
    hides(&format!("it is {jwt}\n"), &jwt, "jwt");
    let aws = format!("AKIA{}", "QX3R7LMZ2WC4TYB5".to_owned());
    hides(&format!("aws_access_key_id = {aws}\n"), &aws, "aws-access-token");
    hides(&format!("api_key: {}\n", hex(32)), &hex(32), "generic-api-key");
}

#[test]
fn examples_of_documentations_count_as_well() {
    let id = format!("AKIA{}", "IOSFODNN7EXAMPLE");
    hides(&format!("aws_access_key_id={id}\n"), &id, "aws-access-token");
    let key = format!("wJalrXUtnFEMI/{}/bPxRfiCYEXAMPLEKEY", "K7MDENG");
    hides(&format!("aws_secret_access_key = {key}\n"), &key, "aws-secret-access-key");
    hides(&format!("\"SecretAccessKey\": \"{key}\","), &key, "aws-secret-access-key");
    let weak = format!("ghp_{}", "abcd1234".repeat(5).split_at(36).0);
    hides(&format!("x {weak} y"), &weak, "github-pat");
    leaves(&format!("x ghp_{} y", "x".repeat(36)));
}

#[test]
fn what_gitleaks_lacks() {
    for (text, secret, rule) in [
        ("AccountName=a;AccountKey=KEY==;End", token("", 86) + "==", "azure-key"),
        ("https://a.example/c?sv=1&sig=KEY&x", token("", 43), "azure-key"),
        ("token KEY\n", token("ya29.", 60), "google-oauth"),
        ("export K=KEY\n", token("sk-proj-", 60), "model-api-key"),
        ("key KEY.", token("sk-ant-api03-", 60), "model-api-key"),
        ("bot KEY ok", format!("123456789:AA{}", token("", 33)), "telegram-token"),
        ("{\"auths\": {\"r\": {\"auth\": \"KEY\"}}}", token("", 24), "registry-login"),
        ("//r.example/:_authToken=KEY\n", token("", 36), "registry-login"),
        ("machine h login bob password KEY\n", "swordfish".to_owned(), "registry-login"),
        ("< Set-Cookie: a=b; sessionid=KEY; Path=/", token("", 32), "cookie"),
    ] {
        let text = text.replace("KEY==", "KEY");
        hides(&text.replace("KEY", &secret), &secret, rule);
    }
    leaves("sk-learn-based-classification-of-things-and-other-words");
    leaves("the machine has a login and a password prompt\n");
    leaves("Set-Cookie: theme=dark; Path=/");
}

#[test]
fn a_token_that_the_end_cuts_off() {
    let mask = SecretMask::new();
    let secret = token("ghp_", 36);
    let mark = "[secret hidden: github-pat]";
    assert_eq!(mask.mask("", &format!("a {}", &secret[..20]), ""), format!("a {mark}"));
    assert_eq!(mask.mask(&secret[..20], &format!("{} b", &secret[20..]), ""), format!("{mark} b"));
    for text in ["ghp_abc", "see ghp_tokens", "npm_config_registry", "a ghp_12 b"] {
        leaves(text);
    }
}

#[test]
fn passwords_of_urls() {
    hides("DATABASE_URL=postgres://app:s3cr3t@db:5432/app\n", "s3cr3t", "url-password");
    hides("https://bob:p%40ss@example.com/x", "p%40ss", "url-password");
    hides("connecting to redis://:hunter@cache/0", "hunter", "url-password");
    hides("a postgres://app:p@ss:w@db/x b", "p@ss:w", "url-password");
    for text in [
        "https://example.com:8080/@scope/pkg",
        "https://github.com/a/b@v1.2",
        "ssh://git@github.com/a/b.git",
        "http://[::1]:80/",
        "postgres://$USER:$PASSWORD@host/db",
        "postgres://<user>:<password>@host",
        "docker://alpine:3.18@sha256:0123",
        "mongodb://h1:27017,h2:27017/db?from=a@b",
        "https://user:***@host",
        "http://localhost:3000 - bob@example.com",
    ] {
        leaves(text);
    }
}

#[test]
fn headers() {
    let secret = token("", 40);
    hides(&format!("> Authorization: Bearer {secret}\r\n"), &secret, "authorization");
    hides("authorization: Basic dXNlcjpodW50ZXIy\n", "dXNlcjpodW50ZXIy", "authorization");
    hides(&format!("{{\"Authorization\": \"token {secret}\"}}"), &secret, "authorization");
    hides(&format!("-H 'authorization: {secret}'"), &secret, "authorization");
    hides(&format!("sent bearer {secret} to it"), &secret, "bearer-token");
    leaves("Authorization: Bearer $TOKEN");
    leaves("Authorization: Bearer <token>");
    leaves("the authorization: basic support of this bearer authentication-scheme-parameters");
}

#[test]
fn passwords_by_name() {
    hides("password=hunter2&user=bob", "hunter2", "password");
    hides("{\"password\": \"correct!horse\"}", "correct!horse", "password");
    hides("password: Tr0ub4dor&3x\n".replace('&', "-").as_str(), "Tr0ub4dor-3x", "password");
    hides("Server=db;User=sa;Password=Pa55word!;", "Pa55word!", "password");
    hides("mysql.passwd = 'abcd1234'", "abcd1234", "password");
    hides("LANG=C\nDB_PASSWORD=swordfish\nPATH=/bin", "swordfish", "variable");
    hides("declare -x API_KEY=\"some thing\"\n", "some thing", "variable");
    for text in [
        "password = getpass.getpass()",
        "def login(user: str, password: str) -> bool:",
        "password: string;",
        "  password: required",
        "\"password\": \"string\"",
        "\"password\": \"The password of the user\"",
        "password=os.environ['PW']",
        "password: ${DB_PASSWORD}",
        "Enter password: ",
        "Password:",
        "[sudo] password for bob: ",
        "if passwd == NULL:",
        "DB_PASSWORD=\n",
        "API_KEY=${{ secrets.API_KEY }}",
        "TOKEN_COUNT=123456",
        "SSH_KEY=/home/bob/.ssh/id_ed25519",
        "getpwnam(pwd, 'nobody')",
    ] {
        leaves(text);
    }
}

fn key_block(label: &str, lines: usize) -> String {
    let body: String = (0..lines).map(|line| token("MIIE", 60).replacen('7', &line.to_string(), 1) + "\n").collect();
    let dashes = "-----";
    format!("{dashes}BEGIN {label}{dashes}\n{body}{dashes}END {label}{dashes}")
}

#[test]
fn private_keys_are_hidden_whole() {
    for label in ["RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PRIVATE KEY", "PGP PRIVATE KEY BLOCK"] {
        let key = key_block(label, 6);
        hides(&format!("$ cat key\n{key}\n$ "), &key, "private-key");
        let escaped = key.replace('\n', "\\n");
        hides(&format!("{{\"key\": \"{escaped}\"}}"), &escaped, "private-key");
    }
    leaves(&key_block("CERTIFICATE", 6));
    leaves(&key_block("PUBLIC KEY", 6));
    leaves("a file with -----BEGIN RSA PRIVATE KEY----- in it ends with -----END RSA PRIVATE KEY-----");
}

#[test]
fn private_keys_are_hidden_without_beginning_or_end() {
    let mask = SecretMask::new();
    let key = key_block("RSA PRIVATE KEY", 6);
    for cut in 40..key.len() - 34 {
        let (first, second) = key.split_at(cut);
        let first = mask.mask("", first, "").into_owned();
        if cut > 60 {
            assert_eq!(first, "[secret hidden: private-key]", "{cut}");
        }
        let second = mask.mask("", second, "");
        let left = second.trim_start_matches("[secret hidden: private-key]");
        assert!(left.is_empty() || cut > key.len() - 60, "{cut}: {second}");
    }
}

#[test]
fn ordinary_output_stays() {
    let uuid = "6fa459ea-ee8a-3ca4-894e-db77e160355e";
    for text in [
        format!("commit {}\nAuthor: A B <a@b.c>\n\n    Use the key of the cache, not the token\n", hex(40)),
        format!("{}  file.tar.gz\n", hex(64)),
        format!("checksum = \"{}\"\nname = \"keyring\"\n", hex(64)),
        format!("\"integrity\": \"sha512-{}==\",\n", token("", 86)),
        format!(
            "\"node_modules/key-tree\": {{\n  \"resolved\": \"https://r.example/key-tree-1.0.tgz\",\n  \"integrity\": \"sha512-{}==\"\n",
            token("", 86)
        ),
        format!("Cache restored from key: Linux-cargo-{}\n", hex(64)),
        format!("github.com/zalando/go-keyring v0.2.3 h1:{}=\n", token("", 43)),
        format!("golang.org/x/oauth2 v0.15.0/go.mod h1:{}=\n", token("", 43)),
        format!("user.signingkey={}\nkey fingerprint = {}\n", hex(16), hex(40)),
        format!("The key fingerprint is:\nSHA256:{} bob@host\n", token("", 43)),
        format!("gpg: key {}: public key imported\n", hex(16).to_uppercase()),
        format!("GPG_KEY={}\n", hex(40)),
        format!("  Public key pin-sha256: {}=\n", token("", 43)),
        "pub Authorization: WINBIO_PRESENCE_0,\nlet password: MSV1_0_MESSAGE\n".to_owned(),
        "//{registry}:_password=\"{password}\"\n".to_owned(),
        format!("ssh-ed25519 {} bob@host\n", token("AAAAC3NzaC1lZDI1NTE5", 48)),
        "Access: 2026-12-01 10:11:12.123456789 +0000\n".to_owned(),
        "asset main.3f9a1c8e5b7d2046.js 120 KiB [emitted] (name: main)\n".to_owned(),
        format!("request id {uuid} author {uuid}\n"),
        format!("sha256:{} Pull complete\n", hex(64)),
        format!("index {}..{} 100644\n", hex(8), hex(7)),
        format!("drwxr-xr-x 2 root root 4096 Dec  1 00:00 keys\n{uuid}\n"),
        "GET /api/v1/auth/token?key=name 200 12ms\n".to_owned(),
        "fn token(&self) -> Token { self.key.access(api::TOKEN) }\n".to_owned(),
        "Compiling tokio-util v0.7.20\nCompiling secrecy v0.10.3\n".to_owned(),
        "error[E0425]: cannot find value `api_key` in this scope\n".to_owned(),
        "key: value\ntoken: some-token-name\nsecretName: my-app-tls-secret\n".to_owned(),
        "ssh-rsa public key fingerprint SHA256:9f86d081 ok\n".to_owned(),
        "test mask::keys::access_token_is_hidden ... ok\n".to_owned(),
        "日本語 токен é \u{1f511}=\u{1f511}\n".to_owned(),
    ] {
        leaves(&text);
    }
}

#[test]
fn exact_values_in_every_form() {
    let mask = SecretMask::new();
    mask.add_variables([("MY_TOKEN", "va/lue \"with\" all"), ("HOME", "/root-of-it"), ("DEBUG_KEY", "true")]);
    let mark = "[secret hidden: MY_TOKEN]";
    for form in [
        "va/lue \"with\" all",
        "va%2Flue%20%22with%22%20all",
        "va%2flue+%22with%22+all",
        "va/lue \\\"with\\\" all",
        "va\\/lue \\\"with\\\" all",
        "dmEvbHVlICJ3aXRoIiBhbGw=",
        "76612f6c75652022776974682220616c6c",
        "76612F6C75652022776974682220616C6C",
    ] {
        assert_eq!(mask.mask("", &format!("<{form}>"), ""), format!("<{mark}>"), "{form}");
    }
    assert_eq!(mask.mask("", "/root-of-it true", ""), "/root-of-it true");
    assert_eq!(mask.mask("", mark, ""), mark);
}

#[test]
fn a_plain_word_is_hidden_where_it_stands_alone() {
    let mask = SecretMask::new();
    mask.add_value("DB_PASSWORD", "walrus");
    assert_eq!(mask.mask("", "walrus, walruses", ""), "[secret hidden: DB_PASSWORD], walruses");
}

#[test]
fn what_is_learned_is_hidden_from_then_on() {
    let mask = SecretMask::new();
    let text = "you typed opensesame!";
    assert_eq!(mask.mask("", text, ""), text);
    mask.learn(b"opensesame!");
    assert_eq!(mask.mask("", text, ""), "you typed [secret hidden: typed secret]");
    mask.learn(b"short");
    // Half a character and some text.
    mask.learn(b"\xa9 sesame");
    assert_eq!(mask.mask("", "an \u{e9} sesame", ""), "an [secret hidden: typed secret]");
    assert_eq!(mask.mask("", "short", ""), "short");
}

#[test]
fn values_of_several_lines_are_hidden_by_line_as_well() {
    let mask = SecretMask::new();
    mask.add_value("APP_SECRET", "first line of the value\nsecond line of the value");
    let text = "b: second line of the value.";
    assert_eq!(mask.mask("", text, ""), "b: [secret hidden: APP_SECRET].");
}

#[test]
fn what_may_go_on_is_said() {
    let mask = SecretMask::new();
    mask.add_value("X_TOKEN", "0123-abcdef-4567");
    let secret = token("ghp_", 36);
    for (text, held) in [
        ("plain text\n".to_owned(), 0),
        ("plain text ".to_owned(), 0),
        ("progress 45%".to_owned(), 0),
        ("$ ".to_owned(), 0),
        (">>> ".to_owned(), 0),
        ("x 0123-ab".to_owned(), 7),
        (format!("t {}", &secret[..12]), 12),
        (format!("api_key={}", &hex(9)), 17),
        (format!("{secret}\n"), 0),
    ] {
        assert_eq!(mask.unfinished(&text), held, "{text}");
    }
    let key = key_block("PRIVATE KEY", 4);
    assert_eq!(mask.unfinished(&format!("a\n{}", &key[..150])), 150);
    assert_eq!(mask.unfinished(&format!("a\n{key}\n")), 0);
}

/// Makes one piece of adjacent marks of one secret.
fn joined(text: &str) -> String {
    let mut text = text.to_owned();
    for name in ["github-pat", "url-password", "K_TOKEN", "authorization", "private-key", "generic-api-key", "password"]
    {
        let mark = format!("[secret hidden: {name}]");
        while text.contains(&mark.repeat(2)) {
            text = text.replace(&mark.repeat(2), &mark);
        }
    }
    text
}

fn part() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[ -~\\n]{0,40}",
        1 => "[a-z é日\\n]{0,20}",
        1 => Just(format!(" {} ", token("ghp_", 36))),
        1 => Just("postgres://app:s3cr3t@db/x ".to_owned()),
        1 => Just(" k-exact-value-1 ".to_owned()),
        1 => Just("Authorization: Bearer abcdef123456 ".to_owned()),
        1 => Just(format!("\n{}\n", key_block("PRIVATE KEY", 2))),
        1 => Just(format!("api_key: {}\n", hex(32))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn pieces_are_masked_as_the_whole(parts in proptest::collection::vec(part(), 1..6), cuts in proptest::collection::vec(0usize..600, 1..5)) {
        let mask = SecretMask::new();
        mask.add_value("K_TOKEN", "k-exact-value-1");
        let text = parts.concat();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| text.floor_char_boundary((*cut).min(text.len()))).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let pieces: String = cuts
            .windows(2)
            .map(|cut| mask.mask(&text[..cut[0]], &text[cut[0]..cut[1]], &text[cut[1]..]).into_owned())
            .collect();
        let whole = mask.mask("", &text, "").into_owned();
        prop_assert_eq!(joined(&pieces), joined(&whole));
        prop_assert!(!whole.contains("k-exact-value-1"));
    }

    #[test]
    fn any_text_is_masked_in_whole_characters(text in "\\PC{0,300}", before in "\\PC{0,40}") {
        let mask = SecretMask::new();
        for found in mask.secrets(&before, &text, &before) {
            prop_assert!(text.is_char_boundary(found.start) && text.is_char_boundary(found.end));
        }
        let held = mask.unfinished(&text);
        prop_assert!(held <= 4096 && text.is_char_boundary(text.len() - held));
    }

    #[test]
    fn text_without_keywords_is_unchanged(text in "[b-df-hj-nq-rv-z .,\\n]{0,400}") {
        let mask = SecretMask::new();
        let masked = mask.mask("", &text, "").into_owned();
        prop_assert_eq!(masked, text);
    }
}
