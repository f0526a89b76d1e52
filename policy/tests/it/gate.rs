//! The permission of a chat: what is asked, what an answer does, and that every failure is a denial.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use policy::{Answer, Approver, Gate, Policy, Prompt, RuleTable, Rules};
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
