//! Reading, checking and merging of every source.

use std::fs;

use super::*;

#[derive(Debug, Default)]
struct Case {
    user: &'static str,
    workspace: &'static str,
    variables: &'static [(&'static str, &'static str)],
    flags: &'static [(&'static str, &'static str, &'static str)],
}

impl Case {
    /// Loads it with files in a directory of its own, whose name is replaced by `DIR` in the errors.
    fn load(&self) -> Result<Settings, String> {
        let dir = tempfile::tempdir().unwrap();
        let user = dir.path().join("toolhost.toml");
        fs::write(&user, self.user).unwrap();
        fs::write(dir.path().join(WORKSPACE_FILE), self.workspace).unwrap();
        let own = |text: &&str| (*text).to_owned();
        let sources = Sources {
            user_file: Some(user),
            user_file_required: true,
            workspace: Some(dir.path().to_owned()),
            variables: self.variables.iter().map(|(name, value)| (own(name), own(value))).collect(),
            home: Some("/home/ann".into()),
            flags: self.flags.iter().map(|(flag, key, value)| (own(flag), own(key), own(value))).collect(),
        };
        Settings::load(&sources).map_err(|errors| errors.to_string().replace(dir.path().to_str().unwrap(), "DIR"))
    }

    #[track_caller]
    fn fails(&self, expected: &str) {
        assert_eq!(self.load().expect_err("the configuration is bad"), expected);
    }
}

fn written(settings: &Settings) -> Vec<String> {
    let rules = settings.rules.iter().flat_map(|layer| &layer.written);
    rules.map(|rule| format!("{} = {}", rule.key, rule.decision)).collect()
}

#[test]
fn defaults_are_valid_and_listed() {
    let settings = Settings::defaults();
    assert_eq!(settings.bus, BusSettings::default());
    let list = settings.list();
    assert_eq!(list[0].key, "mode");
    assert!(list.iter().all(|setting| setting.origin == Origin::default_value()), "{list:?}");
}

#[test]
fn later_sources_win_and_values_know_theirs() {
    let case = Case {
        user: "[bus]\nmax_result_chars = 50000\ncancel_grace_ms = 500\n[env]\nset = { CI = '1' }",
        workspace: "[bus]\nmax_result_chars = 40000",
        variables: &[("TOOLHOST_BUS__CANCEL_GRACE_MS", "600"), ("HOME", "/x"), ("TOOLHOST_LOG", "debug")],
        flags: &[("--set", "env.inherit", "core")],
    };
    let settings = case.load().unwrap();
    assert_eq!((settings.bus.max_result_chars, settings.bus.cancel_grace_ms), (40_000, 600));
    assert_eq!(settings.env.inherit, crate::Inherit::Core);
    assert_eq!(settings.env.set["CI"], "1");
    let origin = |key: &str| settings.origin(key).to_string();
    assert!(origin("bus.max_result_chars").starts_with("workspace file "));
    assert_eq!(origin("bus.cancel_grace_ms"), "variable TOOLHOST_BUS__CANCEL_GRACE_MS");
    assert_eq!(origin("env.inherit"), "flag --set");
    assert_eq!(origin("mode"), "built-in default");
}

#[test]
fn unknown_keys_name_near_ones() {
    Case { user: "[bus]\nmax_results_chars = 5", ..Case::default() }.fails(
        "`bus.max_results_chars`: the key is unknown (file DIR/toolhost.toml)\nhint: did you mean `max_result_chars`?",
    );
    Case { variables: &[("TOOLHOST_MOODE", "ask")], ..Case::default() }
        .fails("`moode`: the key is unknown (variable TOOLHOST_MOODE)\nhint: did you mean `mode`?");
    Case { workspace: "[bus]\nport = 5", ..Case::default() }.fails(
        "`bus.port`: the key is unknown (workspace file DIR/.toolhost.toml)\n\
         hint: the keys here are `max_result_chars` and `cancel_grace_ms`",
    );
}

#[test]
fn all_bad_values_are_reported_at_once() {
    let case = Case {
        user: "mode = 5\n[bus]\nmax_result_chars = 'many'\n[env]\nexclude = 'A'",
        variables: &[("TOOLHOST_BUS__CANCEL_GRACE_MS", "-1")],
        ..Case::default()
    };
    case.fails(
        "`bus.max_result_chars`: got \"many\"; allowed is a whole number of at least 0 (file DIR/toolhost.toml)\n\
         `env.exclude`: got \"A\"; allowed is a list (file DIR/toolhost.toml)\n\
         `bus.cancel_grace_ms`: got -1; allowed is a whole number of at least 0 (variable TOOLHOST_BUS__CANCEL_GRACE_MS)\n\
         `mode`: got 5; allowed is \"ask\", \"smart\" or \"plan\" (file DIR/toolhost.toml)",
    );
}

#[test]
fn ranges_and_words_are_checked() {
    Case { user: "[bus]\nmax_result_chars = 5", ..Case::default() }
        .fails("`bus.max_result_chars`: got 5; allowed is 1000 to 10000000 (file DIR/toolhost.toml)");
    Case { user: "[env]\ninherit = 'some'", ..Case::default() }
        .fails("`env.inherit`: unknown variant `some`, expected one of `all`, `core`, `none` (file DIR/toolhost.toml)");
    Case { flags: &[("--mode", "mode", "yolo")], ..Case::default() }
        .fails("`mode`: got \"yolo\"; allowed is \"ask\", \"smart\" or \"plan\" (flag --mode)");
    Case { user: "[audit]\nfile = 'audit.jsonl'", ..Case::default() }.fails(
        "`audit.file`: got \"audit.jsonl\"; allowed is an absolute path, or one that begins with `~/` (file DIR/toolhost.toml)",
    );
}

#[cfg(feature = "mcp")]
#[test]
fn fronts_check_their_own_tables() {
    Case { user: "[mcp]\nprogress_ms = 1", ..Case::default() }
        .fails("`mcp.progress_ms`: got 1; allowed is 10 to 600000 (file DIR/toolhost.toml)");
    let settings = Case { user: "[mcp]\nwithout_elicitation = 'allow'", ..Case::default() }.load().unwrap();
    assert_eq!(settings.mcp().without_elicitation, crate::mcp::WithoutElicitation::Allow);
    Case { user: "[mcp]\nwait_limit_ms = 0", ..Case::default() }
        .fails("`mcp.wait_limit_ms`: got 0; allowed is 100 to 86400000 (file DIR/toolhost.toml)");
    Case { user: "[mcp]\nwait_limit_ms = 'x'", ..Case::default() }
        .fails("`mcp.wait_limit_ms`: invalid type: string \"x\", expected u64 (file DIR/toolhost.toml)");
}

#[cfg(feature = "sleep")]
#[test]
fn tools_check_their_own_tables() {
    Case { user: "[tool.sleep]\nmax_ms = 0", ..Case::default() }
        .fails("`tool.sleep.max_ms`: got 0; allowed is 1 to 86400000 (file DIR/toolhost.toml)");
    Case { user: "[tool.slep]\nmax_ms = 0", ..Case::default() }
        .fails("`tool.slep`: the key is unknown (file DIR/toolhost.toml)\nhint: did you mean `sleep`?");
}

#[test]
fn files_must_be_readable_toml() {
    let error = Case { user: "mode = \n", ..Case::default() }.load().unwrap_err();
    assert!(error.starts_with("the file is not TOML: TOML parse error at line 1, column 8"), "{error}");
    assert!(error.ends_with("(file DIR/toolhost.toml)"), "{error}");
    let missing = Sources {
        user_file: Some("/nonexistent/toolhost.toml".into()),
        user_file_required: true,
        ..Sources::default()
    };
    assert_eq!(
        Settings::load(&missing).unwrap_err().to_string(),
        "the file does not exist (file /nonexistent/toolhost.toml)"
    );
    assert!(Settings::load(&Sources { user_file_required: false, ..missing }).is_ok());
}

#[test]
fn rules_keep_their_order_and_their_file() {
    let case = Case {
        user: "[permission.bash]\n'git *' = 'allow'\n'*' = 'ask'",
        workspace: "[permission.bash]\n'git push *' = 'deny'",
        ..Case::default()
    };
    let settings = case.load().unwrap();
    assert_eq!(
        written(&settings),
        [
            r#"permission.bash."git *" = allow"#,
            r#"permission.bash."*" = ask"#,
            r#"permission.bash."git push *" = deny"#
        ]
    );
    let origins: Vec<String> = settings
        .policy()
        .layers()
        .iter()
        .flat_map(policy::Rules::as_slice)
        .map(|rule| rule.origin.rsplit('/').next().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(
        origins,
        [
            r#"toolhost.toml:2: permission.bash."git *""#,
            r#"toolhost.toml:3: permission.bash."*""#,
            r#".toolhost.toml:2: permission.bash."git push *""#
        ]
    );
}

#[test]
fn a_mistake_in_a_rule_is_an_error() {
    Case { user: "[permission.bash]\n'git *' = 'alow'", ..Case::default() }
        .fails("`permission.bash.\"git *\"`: unknown variant `alow`, expected one of `allow`, `ask`, `deny` (file DIR/toolhost.toml)");
    Case { workspace: "[permission.bash]\n'' = 'allow'", ..Case::default() }.fails(
        "`permission`: `permission.bash.\"\"` is not a rule: the pattern is empty (workspace file DIR/.toolhost.toml)",
    );
    Case { variables: &[("TOOLHOST_PERMISSION", "{bash=allow}")], ..Case::default() }
        .fails("`permission`: rules are set in a file only (variable TOOLHOST_PERMISSION)");
}

#[test]
fn a_workspace_cannot_allow() {
    let workspace = "permission.edit = 'allow'\n[permission.bash]\n'*' = 'allow'\n'rm *' = 'deny'\n'ls *' = 'allow'";
    let settings = Case { workspace, ..Case::default() }.load().unwrap();
    assert_eq!(written(&settings), [r#"permission.bash."rm *" = deny"#]);
    assert!(settings.ignored[0].origin.to_string().ends_with("/.toolhost.toml:1"), "{:?}", settings.ignored);
    assert!(settings.rules[0].written[0].origin.to_string().ends_with("/.toolhost.toml:4"), "{:?}", settings.rules);
    let ignored: Vec<&str> = settings.ignored.iter().map(|found| found.key.as_str()).collect();
    assert_eq!(ignored, ["permission.edit", r#"permission.bash."*""#, r#"permission.bash."ls *""#]);
}

#[test]
fn files_of_rules_are_json_or_toml() {
    let dir = tempfile::tempdir().unwrap();
    let check = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::write(&path, text).unwrap();
        let rules = rules_file(&path, None).map(|rules| rules.as_slice().len());
        rules.map_err(|errors| errors.to_string().replace(dir.path().to_str().unwrap(), "DIR"))
    };
    assert_eq!(check("a.json", r#"{"permission": {"bash": {"git *": "allow", "*": "ask"}}}"#), Ok(2));
    assert_eq!(check("b.toml", "[permission.bash]\n'git *' = 'allow'"), Ok(1));
    assert_eq!(check("c", "{}"), Ok(0));
    let unknown = "`bash`: the key is unknown; a file of rules has `permission` alone (file DIR/d.toml)";
    assert_eq!(check("d.toml", "[bash]\n'git *' = 'allow'"), Err(unknown.to_owned()));
    assert!(check("e.json", "{").unwrap_err().starts_with("the file is not JSON: EOF"));
}

#[test]
fn a_workspace_only_tightens() {
    let case = Case {
        user: "[bus]\nmax_result_chars = 50000",
        workspace: "[bus]\nmax_result_chars = 60000\ncancel_grace_ms = 100\n[env]\ninherit = 'none'\nset = { LD_PRELOAD = 'x' }\n[tools]\nshell = false",
        ..Case::default()
    };
    let settings = case.load().unwrap();
    assert_eq!(settings.bus, BusSettings { max_result_chars: 50_000, ..BusSettings::default() });
    assert_eq!(settings.env, EnvConfig::default());
    assert_eq!(settings.values["tools"]["shell"], json!(false));
    let ignored: Vec<String> =
        settings.ignored.iter().map(|found| format!("{}: {}", found.key, found.reason)).collect();
    assert_eq!(
        ignored,
        [
            "bus.cancel_grace_ms: a workspace cannot set this",
            "bus.max_result_chars: 60000 is above 50000, and a workspace can only lower limits",
            "env.inherit: a workspace cannot set this",
            "env.set: a workspace cannot set this",
        ]
    );
}

/// The mode that holds where a person's file and a workspace's name one, and whether the workspace's was ignored.
#[track_caller]
fn check_modes(user: &'static str, workspace: &'static str, expected: Mode, ignored: bool) {
    let settings = Case { user, workspace, ..Case::default() }.load().unwrap();
    assert_eq!((settings.policy().mode(), !settings.ignored.is_empty()), (expected, ignored), "{:?}", settings.ignored);
}

#[test]
fn a_workspace_can_only_set_a_stricter_mode() {
    check_modes("", "mode = 'plan'", Mode::Plan, false);
    check_modes("", "mode = 'ask'", Mode::Ask, false);
    check_modes("", "mode = 'smart'", Mode::Ask, true);
    check_modes("mode = 'smart'", "mode = 'plan'", Mode::Plan, false);
    // The strictest of both: everything is asked, and what smart mode refuses stays refused.
    check_modes("mode = 'smart'", "mode = 'ask'", Mode::Smart, false);
    let case = Case { user: "mode = 'smart'", workspace: "mode = 'ask'", ..Case::default() };
    let policy = case.load().unwrap().policy();
    let decision = |policy: &Policy, command| {
        policy.explain(command, tool_api::CommandKind::Once, &tool_api::Workspace::new("/srv/proj")).decision
    };
    use policy::Decision::{Allow, Ask, Deny};
    assert_eq!((decision(&policy, "ls"), decision(&policy, "rm -rf /")), (Ask, Deny));
    let flags: &'static [_] = &[("--mode", "mode", "smart")];
    let policy = Case { flags, ..case }.load().unwrap().policy();
    assert_eq!((decision(&policy, "ls"), decision(&policy, "rm -rf /")), (Allow, Deny));
    let case = Case { user: "mode = 'smart'", flags: &[("--mode", "mode", "ask")], ..Case::default() };
    let policy = case.load().unwrap().policy();
    assert_eq!((decision(&policy, "ls"), decision(&policy, "rm -rf /")), (Ask, Ask));
    check_modes("mode = 'plan'", "mode = 'ask'", Mode::Plan, true);
    check_modes("mode = 'plan'", "mode = 'smart'", Mode::Plan, true);
    for mode in ["yolo", "Plan", ""] {
        let workspace: &'static str = format!("mode = '{mode}'").leak();
        let error = Case { workspace, ..Case::default() }.load().unwrap_err();
        assert!(error.starts_with(&format!("`mode`: got \"{mode}\"; allowed is \"ask\"")), "{error}");
    }
}

#[test]
fn a_workspace_can_only_add_workflow_policies() {
    let load = |user, workspace| Case { user, workspace, ..Case::default() }.load().unwrap();
    let both = [WorkflowPolicy::ReadOnly, WorkflowPolicy::NoMutatingCommands];
    let settings = load("", "readOnly = true\nnoMutatingCommands = true");
    assert_eq!(settings.policy().workflow(), both);
    let settings =
        load("read_only = true\nno_mutating_commands = true", "read_only = false\nnoMutatingCommands = false");
    assert_eq!(settings.policy().workflow(), both);
    let ignored: Vec<String> =
        settings.ignored.iter().map(|found| format!("{}: {}", found.key, found.reason)).collect();
    assert_eq!(
        ignored,
        [
            "no_mutating_commands: a workspace can only switch workflow policies on",
            "read_only: a workspace can only switch workflow policies on",
        ]
    );
    let settings = load("", "[audit]\nfile = '/tmp/x'");
    assert_eq!((settings.audit.file, settings.ignored[0].key.as_str()), (None, "audit.file"));
}

#[test]
fn workflow_policies_and_modes_come_from_every_source() {
    for case in [
        Case { user: "read_only = true", ..Case::default() },
        Case { user: "readOnly = true", ..Case::default() },
        Case { variables: &[("TOOLHOST_READ_ONLY", "true")], ..Case::default() },
        Case { flags: &[("--set", "readOnly", "true")], ..Case::default() },
    ] {
        assert_eq!(case.load().unwrap().policy().workflow(), [WorkflowPolicy::ReadOnly], "{case:?}");
    }
    let case = Case { user: "mode = 'plan'", variables: &[("TOOLHOST_MODE", "smart")], ..Case::default() };
    assert_eq!(case.load().unwrap().policy().mode(), Mode::Smart);
    let case = Case { user: "[audit]\nfile = '~/audit.jsonl'", ..Case::default() };
    assert_eq!(case.load().unwrap().audit.file, Some("/home/ann/audit.jsonl".into()));
}

#[cfg(feature = "sleep")]
#[test]
fn the_former_place_of_a_tools_table_is_an_error_that_says_so() {
    Case { user: "[tools.sleep]\nmax_ms = 5", ..Case::default() }.fails(
        "`tools.sleep`: the key is unknown (file DIR/toolhost.toml)\n\
         hint: the table of a tool is `[tool.sleep]`; `tools.shell` switches off every one that runs commands",
    );
    Case { user: "[tools.shell]\nenabled = false", ..Case::default() }.fails(
        "`tools.shell`: got a table; allowed is true or false (file DIR/toolhost.toml)\n\
         hint: the table of the tool `shell` is `[tool.shell]`",
    );
}

#[test]
fn a_workspaces_text_is_not_shown() {
    let error = Case { workspace: "[bus]\nroot:x:secret\n", ..Case::default() }.load().unwrap_err();
    assert_eq!(error, "the file is not TOML: parse error at line 2 (workspace file DIR/.toolhost.toml)");
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_workspace_is_not_read() {
    use std::os::unix::fs::symlink;

    let outside = tempfile::tempdir().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let link = root.join(WORKSPACE_FILE);
    let load = || {
        let sources = Sources { workspace: Some(root.clone()), ..Sources::default() };
        Settings::load(&sources).map_err(|errors| errors.to_string().replace(root.to_str().unwrap(), "DIR"))
    };
    fs::write(outside.path().join("secret"), "root:x:secret").unwrap();
    fs::write(root.join("own.toml"), "[bus]\nmax_result_chars = 5000").unwrap();
    symlink(outside.path().join("secret"), &link).unwrap();
    let refused = "it is a link that leads out of the workspace, and is not read (workspace file DIR/.toolhost.toml)";
    assert_eq!(load().unwrap_err(), refused);
    fs::remove_file(&link).unwrap();
    symlink("missing", &link).unwrap();
    assert_eq!(load().unwrap_err(), "it is a link that leads nowhere (workspace file DIR/.toolhost.toml)");
    fs::remove_file(&link).unwrap();
    symlink("own.toml", &link).unwrap();
    assert_eq!(load().unwrap().bus.max_result_chars, 5_000);
}

#[cfg(all(unix, feature = "shell-session"))]
#[test]
fn the_key_that_was_set_is_to_blame() {
    Case { flags: &[("--set", "tool.shell_session.wait_limit_ms", "500")], ..Case::default() }.fails(
        "`tool.shell_session.wait_limit_ms`: got 500, which the default of `start_wait_ms` does not fit: got 1000; \
         allowed is 0 to 500 (flag --set)",
    );
    let user = "[tool.shell_session]\nwait_limit_ms = 500\nstart_wait_ms = 600";
    Case { user, ..Case::default() }
        .fails("`tool.shell_session.start_wait_ms`: got 600; allowed is 0 to 500 (file DIR/toolhost.toml)");
    let user = "[tool.shell_session]\nper_chat = 9\ntotal = 8";
    assert!(Case { user, ..Case::default() }.load().is_ok(), "the smaller one decides");
}

#[test]
fn a_workspace_cannot_switch_on() {
    let case = Case { user: "tools.shell = false", workspace: "tools.shell = true", ..Case::default() };
    let settings = case.load().unwrap();
    assert_eq!(settings.values["tools"]["shell"], json!(false));
    assert_eq!(settings.ignored[0].reason, "a workspace can only switch tools off");
}

#[test]
fn finds_the_platforms_directory() {
    let file = user_file(|name| match name {
        "HOME" => Some("/home/ann".into()),
        "XDG_CONFIG_HOME" => Some("relative".into()),
        _ => None,
    });
    if cfg!(target_os = "linux") {
        assert_eq!(file, Some("/home/ann/.config/toolhost.toml".into()));
    }
    assert_eq!(user_file(|_| None), None);
}
