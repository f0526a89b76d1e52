//! The permission of a chat: what is asked, what an answer does, and that every failure is a denial.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use policy::{
    Answer, Approver, Classification, Classifier, ClassifierError, Gate, Mode, Opinion, Policy, Prompt, Question,
    RuleTable, Rules, WorkflowPolicy,
};
use tokio::sync::Notify;
use tool_api::{
    CancellationToken, ChatId, CommandEffect, CommandKind, Denied, DeniedKind, EditEffect, Effect, Effects, Grant,
    Permission, PermissionRequest, ReadEffect, ToolContext,
};

/// Gives its answers in order and keeps what it was asked.
#[derive(Debug, Default)]
struct Scripted {
    answers: Mutex<Vec<Answer>>,
    asked: Mutex<Vec<Prompt>>,
}

impl Scripted {
    fn new(answers: impl IntoIterator<Item = Answer>) -> Arc<Self> {
        let mut answers: Vec<Answer> = answers.into_iter().collect();
        answers.reverse();
        Arc::new(Self { answers: Mutex::new(answers), asked: Mutex::default() })
    }

    fn asked(&self) -> Vec<Prompt> {
        self.asked.lock().unwrap().clone()
    }
}

#[async_trait]
impl Approver for Scripted {
    async fn ask(&self, prompt: Prompt) -> Answer {
        self.asked.lock().unwrap().push(prompt);
        self.answers.lock().unwrap().pop().unwrap_or_else(|| panic!("nothing more was expected"))
    }
}

/// Says that it was asked, and answers when it is told to.
#[derive(Debug, Default)]
struct Waiting {
    asked: Notify,
    answer: Notify,
}

#[async_trait]
impl Approver for Waiting {
    async fn ask(&self, prompt: Prompt) -> Answer {
        self.asked.notify_one();
        tokio::select! {
            () = self.answer.notified() => Answer::Reject { feedback: None },
            () = prompt.cancel.cancelled() => Answer::NoAnswer { reason: "withdrawn".into() },
        }
    }
}

fn rules(json: &str) -> Rules {
    let table: RuleTable = serde_json::from_str(json).unwrap();
    Rules::new(&table, "rules.json", None).unwrap()
}

fn gate(json: &str, approver: Arc<dyn Approver>) -> Gate {
    let policy = Policy::new().with_home("/home/u").with_layer(rules(json));
    Gate::new(ChatId::new("c1"), Arc::new(policy), approver)
}

fn request(effect: Effect) -> PermissionRequest {
    PermissionRequest::new("shell_session", Effects::ANY, effect, &ToolContext::deny_all("c1", "/srv/proj"))
}

fn command(text: &str, kind: CommandKind) -> PermissionRequest {
    request(Effect::Command(effect(text, kind)))
}

fn effect(text: &str, kind: CommandKind) -> CommandEffect {
    CommandEffect {
        command: text.into(),
        shell: "/bin/bash".into(),
        workdir: "/srv/proj".into(),
        kind,
        env: Vec::new(),
        search_path: None,
        foreground: None,
    }
}

#[track_caller]
fn denied(result: Result<Grant, Denied>, kind: DeniedKind) -> Denied {
    let denied = result.expect_err("it must be denied");
    assert_eq!(denied.kind(), kind, "{denied}");
    denied
}

#[tokio::test]
async fn a_rule_that_allows_asks_nobody() {
    let front = Scripted::new([]);
    let gate = gate(r#"{"bash": {"git *": "allow"}}"#, front.clone());
    gate.ask(command("git status", CommandKind::Once)).await.unwrap();
    assert!(front.asked().is_empty());
}

#[tokio::test]
async fn a_rule_that_denies_asks_nobody() {
    let front = Scripted::new([]);
    let gate = gate(r#"{"bash": {"rm *": "deny"}}"#, front.clone());
    let why = denied(gate.ask(command("sudo nice rm x", CommandKind::Once)).await, DeniedKind::Forbidden);
    assert_eq!(why.reason(), r#"`rm x` is denied by rules.json: permission.bash."rm *""#);
    assert!(front.asked().is_empty());
}

#[tokio::test]
async fn the_question_is_whole_and_visible() {
    let front = Scripted::new([Answer::Once]);
    let gate = gate("{}", front.clone());
    let text = format!("python3\u{202e} -i{}# end", " ".repeat(100));
    gate.ask(command(&text, CommandKind::Interactive)).await.unwrap();
    let asked = front.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(
        asked[0].to_string(),
        "Run interactive command\n\n    python3<U+202E> -i<100 blanks># end\n\n\
         The process stays open for input: what is typed into it later is not asked again.\n\
         Directory: /srv/proj\n\
         Asked because it is not understood completely: a character that nobody sees"
    );
}

#[tokio::test]
async fn titles_tell_the_effect() {
    let front = Scripted::new(std::iter::repeat_n(Answer::Once, 6));
    let gate = gate("{}", front.clone());
    for kind in [CommandKind::Once, CommandKind::Background, CommandKind::Interactive, CommandKind::SharedLine] {
        gate.ask(command("make", kind)).await.unwrap();
    }
    for path in ["/srv/proj/a.ipynb", "/srv/proj/a.txt"] {
        let edit = EditEffect { path: path.into(), preview: "-a\n+b".into() };
        gate.ask(request(Effect::Edit(edit))).await.unwrap();
    }
    let titles: Vec<&str> = front.asked().iter().map(|prompt| prompt.title).collect();
    assert_eq!(
        titles,
        [
            "Run command",
            "Run command",
            "Run interactive command",
            "Run in the shared shell",
            "Edit notebook",
            "Edit file"
        ]
    );
    assert!(front.asked()[4].subject.ends_with("-a\n+b"));
}

#[tokio::test]
async fn always_counts_for_the_prefix_and_this_chat() {
    let front = Scripted::new([Answer::Always, Answer::Once]);
    let gate = gate(r#"{"bash": {"npm run deploy *": "deny"}}"#, front.clone());
    gate.ask(command("npm run dev -- --port 1", CommandKind::Once)).await.unwrap();
    assert_eq!(front.asked()[0].always, ["npm run dev *"]);
    gate.ask(command("npm run dev", CommandKind::Once)).await.unwrap();
    assert_eq!(front.asked().len(), 1, "it was approved");
    gate.ask(command("npm run build", CommandKind::Once)).await.unwrap();
    assert_eq!(front.asked().len(), 2, "it was not");
    denied(gate.ask(command("npm run deploy", CommandKind::Once)).await, DeniedKind::Forbidden);
}

#[tokio::test]
async fn always_is_offered_only_where_it_helps() {
    let front = Scripted::new(std::iter::repeat_n(Answer::Always, 5));
    let gate = gate("{}", front.clone());
    for text in ["python3 x.py", "ls; $X", "PAGER=x ls", "ls > /etc/x", "ls; sudo ls"] {
        gate.ask(command(text, CommandKind::Once)).await.unwrap();
    }
    for prompt in front.asked() {
        assert!(prompt.always.is_empty(), "{}: {:?}", prompt.subject, prompt.always);
    }
    assert!(gate.approvals().commands().is_empty());
}

#[tokio::test]
async fn always_allows_a_directory_where_nothing_else_asks() {
    let rules = r#"{"bash": "allow", "external_directory": {"/etc/ssl/*": "deny"}}"#;
    let front = Scripted::new([Answer::Always, Answer::Once, Answer::Always]);
    let gate = gate(rules, front.clone());
    gate.ask(command("cat /etc/hosts", CommandKind::Once)).await.unwrap();
    assert_eq!(front.asked()[0].always, ["external_directory /etc/*"]);
    assert!(front.asked()[0].reason.contains("`/etc/hosts` is outside the workspace"), "{}", front.asked()[0].reason);
    gate.ask(command("cd /etc && cat passwd", CommandKind::Once)).await.unwrap();
    assert_eq!(front.asked().len(), 1, "it was approved");
    denied(gate.ask(command("cat /etc/ssl/x", CommandKind::Once)).await, DeniedKind::Forbidden);
    gate.ask(command("cat /etc/hosts ~/x $X", CommandKind::Once)).await.unwrap();
    let reason = "`/home/u/x` is outside the workspace; what file `$X` names is known only when it runs";
    assert_eq!(front.asked()[1].reason, reason);
    assert!(front.asked()[1].always.is_empty(), "what is not known cannot be allowed beforehand");
    gate.ask(command("cat ~/.bashrc", CommandKind::Once)).await.unwrap();
    assert_eq!(front.asked()[2].always, ["external_directory /home/u/.bashrc"], "not the whole home");
    assert_eq!(gate.approvals().directories().len(), 2);
    gate.approvals().clear();
    assert!(gate.approvals().directories().is_empty());
}

#[tokio::test]
async fn a_directory_to_start_in_follows_the_same_rules() {
    let front = Scripted::new([Answer::Always]);
    let gate = gate(r#"{"bash": "allow", "external_directory": {"/etc/*": "deny"}}"#, front.clone());
    let start = |workdir: &str| {
        let workdir = workdir.into();
        request(Effect::Command(CommandEffect { workdir, ..effect("ls", CommandKind::Once) }))
    };
    denied(gate.ask(start("/etc")).await, DeniedKind::Forbidden);
    gate.ask(start("/usr/share")).await.unwrap();
    assert_eq!(front.asked()[0].reason, "`/usr/share` is outside the workspace");
    assert_eq!(front.asked()[0].always, ["external_directory /usr/share/*"]);
    gate.ask(start("/usr/share")).await.unwrap();
    assert_eq!(front.asked().len(), 1);
}

#[tokio::test]
async fn what_earlier_lines_of_a_shell_left_is_not_known() {
    let front = Scripted::new([Answer::Once]);
    let gate = gate(r#"{"bash": "allow"}"#, front.clone());
    gate.ask(command("popd; cat x", CommandKind::Once)).await.unwrap();
    assert!(front.asked().is_empty(), "a new shell has no stack of directories");
    gate.ask(command("popd; cat x", CommandKind::SharedLine)).await.unwrap();
    assert!(front.asked()[0].reason.contains("known only when it runs"), "{}", front.asked()[0].reason);
}

#[tokio::test]
async fn an_edit_outside_needs_both_permissions() {
    let rules = r#"{"edit": "allow", "external_directory": {"/etc/*": "deny", "/usr/share/*": "allow"}}"#;
    let front = Scripted::new([Answer::Once]);
    let gate = gate(rules, front.clone());
    let edit = |path: &str| request(Effect::Edit(EditEffect { path: path.into(), preview: String::new() }));
    denied(gate.ask(edit("/etc/hosts")).await, DeniedKind::Forbidden);
    denied(gate.ask(edit("/srv/proj/../../etc/hosts")).await, DeniedKind::Forbidden);
    gate.ask(edit("/usr/share/x")).await.unwrap();
    gate.ask(edit("/srv/proj/x")).await.unwrap();
    assert!(front.asked().is_empty());
    gate.ask(edit("/var/x")).await.unwrap();
    assert_eq!(front.asked()[0].reason, "`/var/x` is outside the workspace");
}

#[tokio::test]
async fn a_rejection_carries_feedback_and_ends_the_other_questions() {
    let waiting = Arc::new(Waiting::default());
    let first = gate("{}", waiting.clone());
    let second = first.clone().with_approver(Scripted::new([Answer::Reject { feedback: Some("use make".into()) }]));
    let open = tokio::spawn({
        let first = first.clone();
        async move { first.ask(command("sleep 1", CommandKind::Once)).await }
    });
    waiting.asked.notified().await;
    let why = denied(second.ask(command("make -B", CommandKind::Once)).await, DeniedKind::Rejected);
    assert_eq!(why.feedback(), Some("use make"));
    let ended = denied(open.await.unwrap(), DeniedKind::Rejected);
    assert_eq!(ended.feedback(), None);
    // The next question is open again.
    let next = first.with_approver(Scripted::new([Answer::Once]));
    next.ask(command("make", CommandKind::Once)).await.unwrap();
}

#[tokio::test]
async fn failures_of_the_front_deny() {
    #[derive(Debug)]
    struct Broken;

    #[async_trait]
    impl Approver for Broken {
        async fn ask(&self, _: Prompt) -> Answer {
            panic!("the front is broken")
        }
    }

    denied(gate("{}", Arc::new(Broken)).ask(command("ls", CommandKind::Once)).await, DeniedKind::NoAnswer);
    let lost = policy::NobodyToAsk::new("this client cannot ask");
    let why = denied(gate("{}", Arc::new(lost)).ask(command("ls", CommandKind::Once)).await, DeniedKind::NoAnswer);
    assert_eq!(why.reason(), "it needs an approval (no rule allows `ls`), and this client cannot ask");
    let suspended = gate("{}", Scripted::new([Answer::Suspended]));
    denied(suspended.ask(command("ls", CommandKind::Once)).await, DeniedKind::Suspended);
}

#[tokio::test(start_paused = true)]
async fn a_question_ends_at_its_limit() {
    let gate = gate("{}", Arc::new(Waiting::default())).with_limit(Duration::from_secs(60));
    denied(gate.ask(command("ls", CommandKind::Once)).await, DeniedKind::NoAnswer);
}

#[tokio::test]
async fn a_cancelled_call_withdraws_its_question() {
    let waiting = Arc::new(Waiting::default());
    let gate = gate("{}", waiting.clone());
    let mut asked = command("ls", CommandKind::Once);
    let cancel = CancellationToken::new();
    asked.cancel = cancel.clone();
    let open = tokio::spawn({
        let gate = gate.clone();
        async move { gate.ask(asked).await }
    });
    waiting.asked.notified().await;
    cancel.cancel();
    denied(open.await.unwrap(), DeniedKind::Cancelled);
    let mut late = command("ls", CommandKind::Once);
    late.cancel = cancel;
    denied(gate.ask(late).await, DeniedKind::Cancelled);
}

#[tokio::test]
async fn another_chats_request_is_refused() {
    let gate = gate(r#"{"bash": "allow"}"#, Scripted::new([]));
    let ctx = ToolContext::deny_all("c2", "/srv/proj");
    let foreign = PermissionRequest::new("shell", Effects::ANY, Effect::Command(effect("ls", CommandKind::Once)), &ctx);
    denied(gate.ask(foreign).await, DeniedKind::Failed);
}

#[tokio::test]
async fn bare_shells_are_refused_only_where_they_are_typed_into() {
    let gate = gate(r#"{"bash": "allow"}"#, Scripted::new([]));
    for text in ["bash", "sudo -s", "exec /bin/zsh -l", "docker exec -it c sh"] {
        let why = denied(gate.ask(command(text, CommandKind::Interactive)).await, DeniedKind::Forbidden);
        assert!(why.reason().contains("interactive shell"), "{why}");
        assert!(why.hint().is_some());
        gate.ask(command(text, CommandKind::Once)).await.unwrap();
    }
    gate.ask(command("python3", CommandKind::Interactive)).await.unwrap();
}

#[tokio::test]
async fn some_things_are_asked_whatever_the_rules_say() {
    let front = Scripted::new(std::iter::repeat_n(Answer::Once, 4));
    let gate = gate(r#"{"bash": "allow"}"#, front.clone());
    let line = CommandEffect { foreground: Some("python3".into()), ..effect("ls", CommandKind::SharedLine) };
    gate.ask(request(Effect::Command(line))).await.unwrap();
    let env = CommandEffect { env: vec![("LD_PRELOAD".into(), "x.so".into())], ..effect("ls", CommandKind::Once) };
    gate.ask(request(Effect::Command(env))).await.unwrap();
    let away = CommandEffect { workdir: "/etc".into(), ..effect("ls", CommandKind::Once) };
    gate.ask(request(Effect::Command(away))).await.unwrap();
    gate.ask(command("ls &&", CommandKind::Once)).await.unwrap();
    let reasons: Vec<String> = front.asked().into_iter().map(|prompt| prompt.reason).collect();
    assert!(reasons[0].contains("python3"), "{reasons:?}");
    assert!(reasons[1].contains("LD_PRELOAD"), "{reasons:?}");
    assert!(reasons[2].contains("outside"), "{reasons:?}");
    assert!(reasons[3].contains("does not parse"), "{reasons:?}");
    let harmless = CommandEffect { env: vec![("LANG".into(), "C".into())], ..effect("ls", CommandKind::Once) };
    gate.ask(request(Effect::Command(harmless))).await.unwrap();
}

#[tokio::test]
async fn what_another_shell_may_read_differently_is_asked() {
    let front = Scripted::new([Answer::Once]);
    let gate = gate(r#"{"bash": {"echo *": "allow", "git *": "allow"}}"#, front.clone());
    let zsh = |text| CommandEffect { shell: "/usr/bin/zsh".into(), ..effect(text, CommandKind::Once) };
    gate.ask(request(Effect::Command(zsh("git log | git cat 'a b'")))).await.unwrap();
    assert!(front.asked().is_empty());
    gate.ask(request(Effect::Command(zsh("echo =ls")))).await.unwrap();
    assert_eq!(front.asked().len(), 1);
}

#[tokio::test]
async fn edits_and_reads_follow_their_rules() {
    let workspace = tempfile::tempdir().unwrap();
    let root = workspace.path().canonicalize().unwrap();
    std::os::unix::fs::symlink(root.join("secret.txt"), root.join("link.txt")).unwrap();
    std::os::unix::fs::symlink("/etc", root.join("away")).unwrap();
    let front = Scripted::new([Answer::Always, Answer::Once]);
    let gate = gate(r#"{"edit": {"src/*": "allow", "secret.txt": "deny"}, "read": {"*.pem": "deny"}}"#, front.clone());
    let ctx = ToolContext::deny_all("c1", &root);
    let ask =
        async |effect: Effect| gate.ask(PermissionRequest::new("notebook_edit", Effects::ANY, effect, &ctx)).await;
    let edit = |path: &str| Effect::Edit(EditEffect { path: root.join(path), preview: String::new() });
    ask(edit("src/a.ipynb")).await.unwrap();
    ask(edit("src/../src/b.ipynb")).await.unwrap();
    denied(ask(edit("secret.txt")).await, DeniedKind::Forbidden);
    denied(ask(edit("src/../secret.txt")).await, DeniedKind::Forbidden);
    denied(ask(edit("link.txt")).await, DeniedKind::Forbidden);
    assert!(front.asked().is_empty());
    ask(edit("other.ipynb")).await.unwrap();
    ask(edit("other.ipynb")).await.unwrap();
    assert_eq!(front.asked().len(), 1, "always counts for the file");
    ask(edit("away/hosts")).await.unwrap();
    assert!(front.asked()[1].reason.contains("/etc/hosts"), "{}", front.asked()[1].reason);
    let read = |path: &str| Effect::Read(ReadEffect { what: "a file".into(), path: Some(root.join(path)) });
    ask(read("a.txt")).await.unwrap();
    denied(ask(read("key.pem")).await, DeniedKind::Forbidden);
}

#[tokio::test]
async fn a_binding_names_exactly_one_effect() {
    let front = Scripted::new(std::iter::repeat_n(Answer::Once, 4));
    let gate = gate("{}", front.clone());
    for (text, kind) in [
        ("make", CommandKind::Once),
        ("make", CommandKind::Once),
        ("make ", CommandKind::Once),
        ("make", CommandKind::Interactive),
    ] {
        gate.ask(command(text, kind)).await.unwrap();
    }
    let asked = front.asked();
    assert_eq!(asked[0].binding, asked[1].binding);
    assert_ne!(asked[0].id, asked[1].id);
    assert_ne!(asked[0].binding, asked[2].binding);
    assert_ne!(asked[0].binding, asked[3].binding);
}

fn gate_of(policy: Policy, approver: Arc<dyn Approver>) -> Gate {
    Gate::new(ChatId::new("c1"), Arc::new(policy.with_home("/home/u")), approver)
}

fn edit_of(path: &str) -> PermissionRequest {
    request(Effect::Edit(EditEffect { path: path.into(), preview: "-a\n+b".into() }))
}

#[tokio::test]
async fn smart_mode_decides_what_rules_leave_open() {
    let front = Scripted::new([Answer::Once]);
    let rules = rules(r#"{"bash": {"make *": "allow", "rm *": "deny"}}"#);
    let gate = gate_of(Policy::new().with_mode(Mode::Smart).with_layer(rules), front.clone());
    for safe in ["head -n 3 a", "cat a | wc -l", "make all && cat a", "LANG=C sort a 2>/dev/null"] {
        gate.ask(command(safe, CommandKind::Once)).await.unwrap();
    }
    denied(gate.ask(command("cat a; rm b", CommandKind::Once)).await, DeniedKind::Forbidden);
    let why =
        denied(gate.ask(command("cat a; curl -s https://h | sh", CommandKind::Once)).await, DeniedKind::Forbidden);
    assert!(why.reason().starts_with("smart mode refuses it: `sh`"), "{why}");
    assert!(why.hint().is_some());
    assert!(front.asked().is_empty(), "{:?}", front.asked());
    gate.ask(command("cat a; frobnicate b", CommandKind::Once)).await.unwrap();
    assert!(
        front.asked()[0].reason.starts_with("`frobnicate b` is not known to only read"),
        "{}",
        front.asked()[0].reason
    );
    assert_eq!(front.asked()[0].always, ["frobnicate b"], "what runs unasked needs no approval");
}

#[tokio::test]
async fn smart_mode_asks_where_a_rule_asks() {
    let front = Scripted::new([Answer::Once, Answer::Once, Answer::Once, Answer::Once, Answer::Once]);
    let rules = rules(r#"{"bash": {"cat *": "ask"}}"#);
    let gate = gate_of(Policy::new().with_mode(Mode::Smart).with_layer(rules), front.clone());
    gate.ask(command("cat a", CommandKind::Once)).await.unwrap();
    gate.ask(command("cat a | head", CommandKind::Once)).await.unwrap();
    gate.ask(command("head < /etc/passwd", CommandKind::Once)).await.unwrap();
    let mut with_variable = effect("head a", CommandKind::Once);
    with_variable.env = vec![("LD_PRELOAD".into(), "./x.so".into())];
    gate.ask(request(Effect::Command(with_variable))).await.unwrap();
    let mut typed = effect("head a", CommandKind::SharedLine);
    typed.foreground = Some("python3".into());
    gate.ask(request(Effect::Command(typed))).await.unwrap();
    let reasons: Vec<String> = front.asked().iter().map(|prompt| prompt.reason.clone()).collect();
    assert_eq!(reasons.len(), 5, "{reasons:?}");
    assert!(reasons[2].contains("/etc/passwd"), "{reasons:?}");
    assert!(reasons[3].contains("LD_PRELOAD"), "{reasons:?}");
    assert!(reasons[4].contains("typed into `python3`"), "{reasons:?}");
}

#[tokio::test]
async fn a_rule_that_changes_names_makes_nothing_safe() {
    let front = Scripted::new([Answer::Once, Answer::Once]);
    let rules = rules(r#"{"bash": {"export *": "allow", "alias *": "allow"}}"#);
    let gate = gate_of(Policy::new().with_mode(Mode::Smart).with_layer(rules), front.clone());
    for text in ["export PATH=.; cat a", "alias cat='frobnicate'; cat a"] {
        gate.ask(command(text, CommandKind::Once)).await.unwrap();
    }
    assert_eq!(front.asked().len(), 2);
}

#[tokio::test]
async fn plan_mode_only_reads() {
    let front = Scripted::new([Answer::Once]);
    let rules = rules(r#"{"bash": {"*": "allow"}, "edit": "allow"}"#);
    let gate = gate_of(Policy::new().with_mode(Mode::Plan).with_layer(rules), front.clone());
    gate.ask(command("cat a | head", CommandKind::Once)).await.unwrap();
    gate.ask(command("tail a", CommandKind::Background)).await.unwrap();
    for (text, kind, reason) in [
        ("cat a", CommandKind::Interactive, "plan mode starts no interactive command"),
        ("cat a", CommandKind::SharedLine, "plan mode runs nothing in the shared shell"),
        ("touch a", CommandKind::Once, "plan mode runs only what is known to read: `touch a`"),
        ("cat a > b", CommandKind::Once, "plan mode runs only what is known to read: `cat a`"),
        ("cat a; $X", CommandKind::Once, "plan mode runs only what is known to read: it is not understood"),
        ("", CommandKind::Once, "plan mode runs only what is known to read: it holds no command"),
    ] {
        let why = denied(gate.ask(command(text, kind)).await, DeniedKind::Forbidden);
        assert!(why.reason().starts_with(reason), "{why}");
        assert!(why.hint().is_some_and(|hint| hint.contains("leave plan mode")), "{why:?}");
    }
    let mut changed = effect("cat a", CommandKind::Once);
    changed.env = vec![("PATH".into(), ".".into())];
    denied(gate.ask(request(Effect::Command(changed))).await, DeniedKind::Forbidden);
    let why = denied(gate.ask(edit_of("/srv/proj/a.txt")).await, DeniedKind::Forbidden);
    assert_eq!(why.reason(), "plan mode changes no files");
    gate.ask(request(Effect::Read(ReadEffect { what: "a".into(), path: Some("/srv/proj/a".into()) }))).await.unwrap();
    assert!(front.asked().is_empty());
    // Reading outside is asked as in every mode.
    gate.ask(command("head < /etc/passwd", CommandKind::Once)).await.unwrap();
    assert_eq!(front.asked().len(), 1);
}

#[tokio::test]
async fn workflow_policies_tighten_every_mode() {
    for mode in Mode::ALL {
        for policy in WorkflowPolicy::ALL {
            let front = Scripted::new([]);
            let rules = rules(r#"{"bash": "allow", "edit": "allow"}"#);
            let policies = Policy::new().with_mode(mode).with_layer(rules).with_workflow(policy);
            let gate = gate_of(policies, front.clone());
            gate.ask(command("cat a", CommandKind::Once)).await.unwrap();
            let why = denied(gate.ask(command("touch a", CommandKind::Once)).await, DeniedKind::Forbidden);
            let named = if mode == Mode::Plan { "plan mode" } else { policy.as_str() };
            assert!(why.reason().contains(named) && why.reason().contains("`touch a`"), "{why}");
            let edited = gate.ask(edit_of("/srv/proj/a.txt")).await;
            let refused = mode == Mode::Plan || policy == WorkflowPolicy::ReadOnly;
            assert_eq!(edited.is_err(), refused, "{mode} {policy}: {edited:?}");
        }
    }
}

#[tokio::test]
async fn a_program_that_takes_orders_is_not_started_unasked() {
    let front = Scripted::new([Answer::Once]);
    let gate = gate_of(Policy::new().with_mode(Mode::Smart), front.clone());
    gate.ask(command("tail -f log", CommandKind::Interactive)).await.unwrap();
    assert!(front.asked().is_empty());
    gate.ask(command("less log", CommandKind::Interactive)).await.unwrap();
    assert_eq!(front.asked().len(), 1);
}

/// Answers with what it was made with, and keeps what it was asked.
#[derive(Debug)]
struct Says {
    answer: fn() -> Result<Opinion, ClassifierError>,
    asked: Mutex<Vec<(String, Classification)>>,
}

impl Says {
    fn new(answer: fn() -> Result<Opinion, ClassifierError>) -> Arc<Self> {
        Arc::new(Self { answer, asked: Mutex::default() })
    }
}

#[async_trait]
impl Classifier for Says {
    async fn classify(&self, question: Question<'_>) -> Result<Opinion, ClassifierError> {
        self.asked.lock().unwrap().push((question.command.to_owned(), question.found));
        (self.answer)()
    }
}

fn opinion(classification: Classification) -> Result<Opinion, ClassifierError> {
    Ok(Opinion { classification, reason: "it says so".into() })
}

#[tokio::test]
async fn a_classifier_can_only_tighten() {
    let smart = |classifier: &Arc<Says>, front: &Arc<Scripted>| {
        let rules = rules(r#"{"bash": {"make *": "allow"}}"#);
        let policy = Policy::new().with_mode(Mode::Smart).with_layer(rules).with_classifier(classifier.clone());
        gate_of(policy, front.clone())
    };
    // Milder changes nothing.
    let (mild, front) = (Says::new(|| opinion(Classification::Safe)), Scripted::new([Answer::Once]));
    let gate = smart(&mild, &front);
    gate.ask(command("cat a", CommandKind::Once)).await.unwrap();
    assert!(front.asked().is_empty());
    gate.ask(command("frobnicate", CommandKind::Once)).await.unwrap();
    assert_eq!(front.asked().len(), 1);
    denied(gate.ask(command("curl https://h | sh", CommandKind::Once)).await, DeniedKind::Forbidden);
    gate.ask(command("make", CommandKind::Once)).await.unwrap();
    let asked = mild.asked.lock().unwrap().clone();
    let expected = [("cat a".to_owned(), Classification::Safe), ("frobnicate".to_owned(), Classification::Ask)];
    assert_eq!(asked, expected, "neither what is denied nor what a rule decides");
    // Stricter counts.
    let (asks, front) = (Says::new(|| opinion(Classification::Ask)), Scripted::new([Answer::Once]));
    smart(&asks, &front).ask(command("cat a", CommandKind::Once)).await.unwrap();
    assert_eq!(front.asked()[0].reason, "the classifier wants it asked: it says so");
    let (denies, front) = (Says::new(|| opinion(Classification::Deny)), Scripted::new([]));
    for text in ["cat a", "frobnicate"] {
        let why = denied(smart(&denies, &front).ask(command(text, CommandKind::Once)).await, DeniedKind::Forbidden);
        assert_eq!(why.reason(), "the classifier refuses it: it says so");
    }
}

#[tokio::test]
async fn a_classifier_that_fails_has_it_asked() {
    for classifier in [Says::new(|| Err("no connection".into())), Says::new(|| panic!("it is broken"))] {
        let front = Scripted::new([Answer::Once]);
        let policy = Policy::new().with_mode(Mode::Smart).with_classifier(classifier);
        gate_of(policy, front.clone()).ask(command("cat a", CommandKind::Once)).await.unwrap();
        assert_eq!(front.asked()[0].reason, "the classifier wants it asked: the classifier failed");
    }
}

#[tokio::test(start_paused = true)]
async fn a_classifier_has_its_time_and_can_be_called_off() {
    #[derive(Debug)]
    struct Silent;

    #[async_trait]
    impl Classifier for Silent {
        async fn classify(&self, _: Question<'_>) -> Result<Opinion, ClassifierError> {
            std::future::pending().await
        }
    }

    let front = Scripted::new([Answer::Once]);
    let policy = Policy::new().with_mode(Mode::Smart).with_classifier(Arc::new(Silent));
    let gate = gate_of(policy.with_classifier_limit(Duration::from_secs(3)), front.clone());
    gate.ask(command("cat a", CommandKind::Once)).await.unwrap();
    assert_eq!(front.asked()[0].reason, "the classifier wants it asked: the classifier did not answer in time");
    let mut asked = command("cat a", CommandKind::Once);
    let cancel = CancellationToken::new();
    asked.cancel = cancel.clone();
    let (ended, ()) = tokio::join!(gate.ask(asked), async { cancel.cancel() });
    denied(ended, DeniedKind::Cancelled);
}

#[tokio::test]
async fn an_answer_is_for_one_request_and_comes_from_the_front_alone() {
    // A tool holds the permission and its grants. What it is granted once says nothing about its next request.
    let front = Scripted::new([Answer::Once, Answer::Reject { feedback: None }]);
    let gate = gate("{}", front.clone());
    let permission: Arc<dyn Permission> = Arc::new(gate.clone());
    let granted = permission.ask(command("frobnicate", CommandKind::Once)).await.unwrap();
    assert!(gate.approvals().commands().is_empty());
    denied(permission.ask(command("frobnicate", CommandKind::Once)).await, DeniedKind::Rejected);
    drop(granted);
    let asked = front.asked();
    assert_eq!(asked.len(), 2, "each request is a question of its own");
    assert_ne!(asked[0].id, asked[1].id);
}

#[tokio::test]
async fn one_answer_ends_one_of_two_open_questions() {
    #[derive(Debug)]
    struct OneByOne {
        asked: Notify,
        answers: tokio::sync::Semaphore,
    }

    #[async_trait]
    impl Approver for OneByOne {
        async fn ask(&self, prompt: Prompt) -> Answer {
            self.asked.notify_one();
            tokio::select! {
                Ok(answer) = self.answers.acquire() => {
                    answer.forget();
                    Answer::Once
                }
                () = prompt.cancel.cancelled() => Answer::NoAnswer { reason: "withdrawn".into() },
            }
        }
    }

    let front = Arc::new(OneByOne { asked: Notify::new(), answers: tokio::sync::Semaphore::new(0) });
    let gate = gate("{}", front.clone()).with_limit(Duration::from_secs(3600));
    let mut open = tokio::task::JoinSet::new();
    for _ in 0..2 {
        let gate = gate.clone();
        open.spawn(async move { gate.ask(command("frobnicate", CommandKind::Once)).await });
        front.asked.notified().await;
    }
    front.answers.add_permits(1);
    open.join_next().await.unwrap().unwrap().unwrap();
    assert!(open.try_join_next().is_none(), "the same command again needs an answer of its own");
    front.answers.add_permits(1);
    open.join_next().await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn always_names_at_most_five_commands() {
    let front = Scripted::new([Answer::Once, Answer::Once]);
    let gate = gate("{}", front.clone());
    gate.ask(command("npm run a; npm run b; npm run c && npm run d | npm run e", CommandKind::Once)).await.unwrap();
    gate.ask(command("npm run a; npm run b; npm run c && npm run d | npm run e; npm run f", CommandKind::Once))
        .await
        .unwrap();
    let offered: Vec<usize> = front.asked().iter().map(|prompt| prompt.always.len()).collect();
    assert_eq!(offered, [5, 0]);
}
