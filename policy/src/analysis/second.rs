//! The second opinion: the simple commands that `rable` finds, as the source text of their words.

use rable::{Node, NodeKind};

/// What a second parser found.
#[derive(Debug, Default)]
pub(super) struct Opinion {
    /// The words' source text of each simple command, joined by NUL.
    pub(super) commands: Vec<String>,
}

/// Parses `source`; none when the parser refuses it.
pub(super) fn opinion(source: &str) -> Option<Opinion> {
    let nodes = rable::parse(source, false).ok()?;
    let mut opinion = Opinion::default();
    let mut work: Vec<&Node> = nodes.iter().collect();
    // A work list instead of recursion: a tree may be as deep as the parser allows.
    while let Some(node) = work.pop() {
        visit(node, &mut opinion, &mut work);
    }
    Some(opinion)
}

fn visit<'n>(node: &'n Node, opinion: &mut Opinion, work: &mut Vec<&'n Node>) {
    match &node.kind {
        NodeKind::Command { assignments, words, redirects } => {
            if !words.is_empty() {
                let mut joined = String::new();
                for (number, word) in words.iter().enumerate() {
                    if number > 0 {
                        joined.push('\0');
                    }
                    if let NodeKind::Word { value, .. } = &word.kind {
                        joined.push_str(value);
                    }
                }
                opinion.commands.push(joined);
            }
            work.extend(assignments.iter().chain(words).chain(redirects));
        }
        NodeKind::Word { parts, .. } => work.extend(parts),
        NodeKind::Pipeline { commands, .. } => work.extend(commands),
        NodeKind::List { items } => work.extend(items.iter().map(|item| &item.command)),
        NodeKind::If { condition, then_body, else_body, redirects } => {
            work.extend([&**condition, &**then_body]);
            work.extend(else_body.as_deref());
            work.extend(redirects);
        }
        NodeKind::While { condition, body, redirects } | NodeKind::Until { condition, body, redirects } => {
            work.extend([&**condition, &**body]);
            work.extend(redirects);
        }
        NodeKind::For { words, body, redirects, .. } | NodeKind::Select { words, body, redirects, .. } => {
            work.extend(words.iter().flatten());
            work.push(body);
            work.extend(redirects);
        }
        NodeKind::Case { word, patterns, redirects } => {
            work.push(word);
            for pattern in patterns {
                work.extend(&pattern.patterns);
                work.extend(pattern.body.as_ref());
            }
            work.extend(redirects);
        }
        NodeKind::ForArith { body, redirects, .. }
        | NodeKind::Subshell { body, redirects }
        | NodeKind::BraceGroup { body, redirects } => {
            work.push(body);
            work.extend(redirects);
        }
        NodeKind::Function { body: inner, .. }
        | NodeKind::Coproc { command: inner, .. }
        | NodeKind::CommandSubstitution { command: inner, .. }
        | NodeKind::ProcessSubstitution { command: inner, .. }
        | NodeKind::Redirect { target: inner, .. }
        | NodeKind::Negation { pipeline: inner }
        | NodeKind::Time { pipeline: inner, .. } => work.push(inner),
        NodeKind::Array { elements } => work.extend(elements),
        NodeKind::ConditionalExpr { body, redirects } => {
            work.push(body);
            work.extend(redirects);
        }
        NodeKind::ArithmeticCommand { redirects, .. } => work.extend(redirects),
        NodeKind::UnaryTest { operand, .. } | NodeKind::CondNot { operand } => work.push(operand),
        NodeKind::BinaryTest { left, right, .. }
        | NodeKind::CondAnd { left, right }
        | NodeKind::CondOr { left, right } => work.extend([&**left, &**right]),
        NodeKind::CondParen { inner } => work.push(inner),
        // Text, or text that our own reader and the third opinion look into.
        _ => {}
    }
}
