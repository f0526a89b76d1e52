//! What must hold for every text, whatever is in it: tried with generated texts here, and by the fuzz targets.

use policy::{
    Area, Classification, CommandAnalysis, Decision, Explanation, Mode, Pattern, Policy, Rule, Rules, WorkflowPolicy,
    bare_shell,
};
use tool_api::{CommandKind, Workspace};

/// Rules that deny, one of which is added to see that nothing becomes allowed by it.
const DENIALS: &[&str] = &["rm *", "*x*", "git push *", "?m*", "bash *", "ls", "sudo *", "a*", "* -exec *", "echo ? *"];

/// A layer of rules about commands.
pub(crate) fn layer(rules: &[(Decision, &str)]) -> Rules {
    let mut layer = Rules::default();
    for (decision, pattern) in rules {
        let pattern = Pattern::new(pattern, None).expect("a pattern");
        layer.push(Rule { area: Area::Bash, pattern, decision: *decision, origin: "test".into() });
    }
    layer
}

/// A policy with one layer of rules about commands.
pub(crate) fn policy(rules: &[(Decision, &str)]) -> Policy {
    Policy::new().with_home("/home/u").with_layer(layer(rules))
}

/// What a policy says about a command line that ends by itself.
pub(crate) fn explain(policy: &Policy, command: &str) -> Explanation {
    policy.explain(command, CommandKind::Once, &Workspace::new("/srv/proj"))
}

/// The decision alone.
pub(crate) fn decision(policy: &Policy, command: &str) -> Decision {
    policy.decide(command, CommandKind::Once, &Workspace::new("/srv/proj"))
}

/// How a policy decides beyond its rules.
pub(crate) const SETTINGS: [(Mode, Option<WorkflowPolicy>); 5] = [
    (Mode::Ask, None),
    (Mode::Smart, None),
    (Mode::Plan, None),
    (Mode::Smart, Some(WorkflowPolicy::ReadOnly)),
    (Mode::Ask, Some(WorkflowPolicy::NoMutatingCommands)),
];

/// The policy with a mode and perhaps a workflow policy.
pub(crate) fn set(policy: Policy, (mode, workflow): (Mode, Option<WorkflowPolicy>)) -> Policy {
    let policy = policy.with_mode(mode);
    match workflow {
        Some(workflow) => policy.with_workflow(workflow),
        None => policy,
    }
}

/// Panics when something does not hold for a text. Of rules and settings some are tried, which depends on the text.
pub(crate) fn hold(text: &str) {
    let number = text.bytes().fold(text.len(), |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    let analysis = CommandAnalysis::new(text);
    assert_ne!(analysis.doubt.as_deref(), Some("the analysis failed"), "a panic inside was caught");
    let lenient = [(Decision::Allow, "*"), (Decision::Ask, "git push *"), (Decision::Allow, "*e*")];
    let plain = explain(&policy(&lenient), text);
    assert_eq!((&plain.doubt, &plain.syntax_error), (&analysis.doubt, &analysis.syntax_error));
    assert_eq!(plain.bare_shell, bare_shell(&analysis).is_some());
    if !analysis.is_understood() {
        assert_ne!(plain.decision, Decision::Allow, "it is not understood");
        assert_ne!(plain.smart, Classification::Safe, "it is not understood");
    }
    for (own, segment) in analysis.segments.iter().enumerate() {
        assert!(segment.wrapper.is_none_or(|wrapper| wrapper < own), "what wraps comes first");
        assert!(segment.span.clone().is_none_or(|span| text.get(span).is_some()), "a span holds characters");
    }

    let settings = SETTINGS[number % SETTINGS.len()];
    let before = explain(&set(policy(&lenient), settings), text);
    assert_eq!(decision(&set(policy(&lenient), settings), text), before.decision);
    if before.decision < plain.decision {
        assert_eq!(settings.0, Mode::Smart, "it is looser than the rules");
        assert_eq!(before.smart, Classification::Safe, "only what is safe runs unasked");
    }
    adding_a_denial(text, number / SETTINGS.len(), settings, &lenient, before.decision);
}

/// A further rule that denies, wherever it stands, and a further layer never allow more.
fn adding_a_denial(
    text: &str,
    number: usize,
    settings: (Mode, Option<WorkflowPolicy>),
    rules: &[(Decision, &str)],
    before: Decision,
) {
    let denial = DENIALS[number % DENIALS.len()];
    let mut more = rules.to_vec();
    more.insert(number / DENIALS.len() % (rules.len() + 1), (Decision::Deny, denial));
    let with_rule = decision(&set(policy(&more), settings), text);
    assert!(with_rule >= before, "with `{denial}` denied it is {with_rule} and no longer {before}");
    let further = layer(&[(Decision::Allow, "*"), (Decision::Deny, denial)]);
    let with_layer = decision(&set(policy(rules), settings).with_layer(further), text);
    assert!(with_layer >= before, "with a layer that denies `{denial}` it is {with_layer} and no longer {before}");
}
