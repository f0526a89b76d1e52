//! `toolhost config`, and what becomes of a configuration that is bad or not trusted.

use insta::assert_snapshot;
use serde_json::Value;

use crate::program::Run;

const USER: &str = "mode = \"smart\"\n\n[permission.bash]\n\"git *\" = \"allow\"\n\"rm *\" = \"ask\"\n";
const WORKSPACE: &str = "mode = \"plan\"\nread_only = true\n[bus]\nmax_result_chars = 70000\n[audit]\nfile = \"/tmp/x\"\n\
                         [permission.bash]\n\"rm *\" = \"allow\"\n\"curl *\" = \"deny\"\n[permission.edit]\n\"*\" = \"ask\"\n";

#[test]
fn every_value_and_rule_is_shown_with_its_place_and_what_a_workspace_tried_is_said() {
    let run = Run::new().config(USER).file(".toolhost.toml", WORKSPACE).args([
        "config",
        "--set",
        "bus.cancel_grace_ms=500",
        "--set",
        "tools.shell=false",
    ]);
    let ran = run.run();
    let shown = ["mode", "read_only", "no_mutating", "bus.", "audit.", "tools.", "permission", "ignored"];
    let ours = |line: &&str| shown.iter().any(|start| line.starts_with(start));
    // The width of the first column depends on the tools of the build.
    let lines = ran.stdout.lines().filter(ours).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let text = lines.collect::<Vec<_>>().join("\n").replace("DIR/Library/Application Support", "DIR/.config");
    assert_snapshot!("config_of_a_person_and_a_workspace", text);
    assert_eq!(ran.code, Some(0));
    assert_eq!(ran.stderr.matches("is ignored").count(), 3, "{}", ran.stderr);
}

#[test]
fn it_is_json_for_programs() {
    let ran = Run::new().config(USER).args(["config", "--json", "--mode", "plan", "--read-only"]).run();
    let config: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.both()));
    assert_eq!(config["values"]["mode"]["value"], "plan");
    assert_eq!(config["values"]["mode"]["origin"], "flag --mode");
    assert_eq!(config["values"]["read_only"]["value"], true);
    assert_eq!(config["values"]["read_only"]["origin"], "flag --read-only");
    let rule = &config["permission"][1];
    assert_eq!((rule["pattern"].as_str(), rule["decision"].as_str()), (Some("rm *"), Some("ask")), "{rule}");
    assert!(rule["origin"].as_str().unwrap().ends_with("toolhost.toml:5"), "{rule}");
}

#[test]
fn a_bad_configuration_is_one_report() {
    let run = Run::new()
        .config("mode = \"yolo\"\n[bus]\nmax_result_char = 5\n[permission.bash]\n\"git *\" = \"alow\"\n")
        .variable("TOOLHOST_BUS__CANCEL_GRACE_MS", "soon")
        .args(["tools"]);
    assert_snapshot!(run.run().both());
}
