//! What the model reads.

use super::super::{Notes, Survivor};
use super::*;

fn running() -> Outcome {
    Outcome {
        id: Some("s1".to_owned()),
        output: Some(String::new()),
        remaining_chars: Some(0),
        lost_chars: Some(0),
        reason: Some(Reason::Quiet),
        state: Some(State::Running),
        foreground: Some("python3".to_owned()),
        held_by: Some(Vec::new()),
        ..Outcome::default()
    }
}

#[track_caller]
fn check(outcome: &Outcome, expected: &str) {
    let output = outcome.clone().into_output();
    assert_eq!(output.as_text(), expected);
}

#[test]
fn a_running_session_says_why_the_call_returned() {
    check(&running(), "s1: running python3 (quiet: the output paused)");
    let waits = Outcome {
        reason: Some(Reason::Input),
        waiting_for: Some(WaitingFor::Key),
        output: Some("4\n>>> ".to_owned()),
        ..running()
    };
    check(&waits, "s1: running python3 (input: it waits for a key)\n4\n>>> ");
    let limit = Outcome { reason: Some(Reason::Limit), ..running() };
    check(&limit, "s1: running python3 (limit: still waiting, call `read` again to wait on)");
    let stopped = Outcome { state: Some(State::Stopped), reason: Some(Reason::Deadline), ..running() };
    check(
        &stopped,
        "s1: stopped: `signal` CONT lets it go on, and what is typed waits until then (deadline: the time to wait is over)",
    );
}

#[test]
fn an_action_without_a_wait_gives_no_reason() {
    let done = Some("the terminal now has 80 columns and 24 rows".to_owned());
    let outcome = Outcome {
        reason: Some(Reason::Deadline),
        waiting_for: Some(WaitingFor::Line),
        notes: Notes { done, unwaited: true, ..Notes::default() },
        ..running()
    };
    check(&outcome, "s1: running python3 (it waits for a line)\n[the terminal now has 80 columns and 24 rows]");
    let outcome = Outcome { waiting_for: None, notes: Notes { unwaited: true, ..Notes::default() }, ..outcome };
    check(&outcome, "s1: running python3");
}

#[test]
fn a_text_that_is_not_read_yet_is_said_to_be_so() {
    let outcome = Outcome {
        reason: Some(Reason::Text),
        output: Some("a\n".to_owned()),
        remaining_chars: Some(5),
        notes: Notes { beyond: true, ..Notes::default() },
        ..running()
    };
    check(
        &outcome,
        "s1: running python3 (text: it appeared in what is not read yet, read on)\na\n\
         [5 characters not read yet: `read` gives the next part]",
    );
}

#[test]
fn each_thing_that_needs_a_step_says_which() {
    let outcome = Outcome {
        output: Some("middle\n".to_owned()),
        lost_chars: Some(1_234_567),
        remaining_chars: Some(1),
        waiting_for: Some(WaitingFor::Secret),
        ..running()
    };
    check(
        &outcome,
        "s1: running python3 (quiet: the output paused; it waits for a secret)\n\
         [1 234 567 characters lost before this: it scrolled out unread]\n\
         middle\n\
         [1 character not read yet: `read` gives the next part]\n\
         [it asks for a secret: call `read`, and the person is asked for it where that is possible; never type one with `write`]",
    );
}

#[test]
fn an_end_says_how_why_and_what_is_left() {
    let outcome = Outcome {
        state: Some(State::Signaled),
        reason: Some(Reason::Exit),
        signal: Some("SIGKILL".to_owned()),
        ended_because: Some(EndedBecause::Killed),
        foreground: None,
        held_by: Some(vec![Process { pid: 7, command: "sleep\n60".to_owned() }]),
        survivors: Some(vec![Survivor {
            pid: 8,
            command: "dd".to_owned(),
            state: "D".to_owned(),
            reason: "waits in the kernel".to_owned(),
        }]),
        notes: Notes { done: Some("stopped 2 processes".to_owned()), ran_ms: 1_250, ..Notes::default() },
        ..running()
    };
    check(
        &outcome,
        "s1: ended by SIGKILL after 1.2 s, killed by a call\n\
         [stopped 2 processes]\n\
         [still holding the terminal: 7 sleep\\n60; `kill` ends that too]\n\
         [could not end process 8 (dd): state D, waits in the kernel]",
    );
}

#[test]
fn a_screen_is_shown_to_its_last_row() {
    let rows = ["~", "", "-- INSERT --", "", ""].map(str::to_owned).to_vec();
    let outcome = Outcome {
        screen: Some(Screen { rows, cursor: Cursor { row: 0, col: 1 }, alternate: true }),
        notes: Notes { cols: 80, ..Notes::default() },
        ..running()
    };
    check(
        &outcome,
        "s1: running python3 (quiet: the output paused)\n\
         [alternate screen, 80 columns, 5 rows, cursor at row 0, column 1 (from 0)]\n~\n\n-- INSERT --",
    );
}

#[test]
fn a_list_has_a_line_a_session() {
    check(&Outcome { sessions: Some(Vec::new()), ..Outcome::default() }, "no sessions; `start` makes one");
    let entry = Entry {
        id: "s1".to_owned(),
        command: "python3\t-i".to_owned(),
        state: State::Running,
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        idle_ms: 3_400,
        unread_chars: 1_200,
        ended: None,
    };
    let over = Entry {
        id: "s2".to_owned(),
        state: State::Exited,
        unread_chars: 0,
        ended: Some(ended(State::Exited, Some(3), None)),
        ..entry.clone()
    };
    check(
        &Outcome { sessions: Some(vec![entry, over]), ..Outcome::default() },
        "s1: running, last call 3.4 s ago, 1 200 characters not read yet: python3\\t-i\n\
         s2: exited with code 3, last call 3.4 s ago: python3\\t-i",
    );
}

#[test]
fn keys_without_a_value_are_null_and_the_rest_is_left_out() {
    let json = running().into_output().structured.expect("it is structured");
    let expected = serde_json::json!({
        "id": "s1", "output": "", "remainingChars": 0, "lostChars": 0, "reason": "quiet", "state": "running",
        "foreground": "python3", "heldBy": [], "exitCode": null, "signal": null, "endedBecause": null,
    });
    assert_eq!(json, expected);
    let list = Outcome { sessions: Some(Vec::new()), ..Outcome::default() };
    assert_eq!(list.into_output().structured, Some(serde_json::json!({"sessions": []})));
}

#[test]
fn a_question_that_is_over_leaves_the_next_one_to_a_read() {
    let notes = |is_open| Notes { secret: Some("a note".to_owned()), secret_is_open: is_open, ..Notes::default() };
    let waits = |is_open| Outcome { waiting_for: Some(WaitingFor::Secret), notes: notes(is_open), ..running() };
    let head = "s1: running python3 (quiet: the output paused; it waits for a secret)\n[a note]";
    check(&waits(true), head);
    let hint = "[it asks for a secret: call `read`, and the person is asked for it where that is possible; never type one with `write`]";
    check(&waits(false), &format!("{head}\n{hint}"));
}
