//! The third opinion: the simple commands that `shuck-parser` finds, as the spans of their words.

use shuck_ast::{
    ArithmeticExpr, ArithmeticExprNode, ArithmeticLvalue, ArrayElem, Assignment, AssignmentValue,
    BourneParameterExpansion, BuiltinCommand, Command, CompoundCommand, ConditionalExpr, DeclOperand, HeredocBodyPart,
    ParameterExpansion, ParameterExpansionSyntax, ParameterOp, Pattern, PatternPart, Redirect, RedirectTarget, Stmt,
    StmtSeq, Subscript, VarRef, Word, WordPart, WordPartNode,
};
use shuck_parser::{ShellDialect, parser::Parser};

/// The byte spans of one command's words.
pub(super) type Spans = Vec<(usize, usize)>;

/// Parses `source`; none when the parser refuses it, or when a command cannot be located.
pub(super) fn opinion(source: &str) -> Option<Vec<Spans>> {
    let result = Parser::with_dialect(source, ShellDialect::Bash).parse();
    if !result.is_ok() {
        return None;
    }
    let mut walk = Walk { source, commands: Vec::new(), lost: false };
    walk.sequence(&result.file.body);
    (!walk.lost).then_some(walk.commands)
}

struct Walk<'s> {
    source: &'s str,
    commands: Vec<Spans>,
    lost: bool,
}

fn span(word: &Word) -> (usize, usize) {
    (word.span.start.offset(), word.span.end.offset())
}

impl Walk<'_> {
    fn sequence(&mut self, sequence: &StmtSeq) {
        for statement in sequence.iter() {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        self.redirects(&statement.redirects);
        match &statement.command {
            Command::Simple(simple) => {
                self.assignments(&simple.assignments);
                let name = span(&simple.name);
                if name.0 < name.1 {
                    let mut spans = vec![name];
                    spans.extend(simple.args.iter().map(span));
                    self.commands.push(spans);
                } else if !simple.args.is_empty() {
                    self.lost = true;
                }
                self.word(&simple.name);
                self.words(&simple.args);
            }
            Command::Builtin(builtin) => self.builtin(builtin),
            Command::Decl(declaration) => {
                self.assignments(&declaration.assignments);
                let name = &declaration.variant_span;
                let mut spans = vec![(name.start.offset(), name.end.offset())];
                for operand in &declaration.operands {
                    let span = match operand {
                        DeclOperand::Flag(word) | DeclOperand::Dynamic(word) => {
                            self.word(word);
                            word.span
                        }
                        DeclOperand::Name(name) => {
                            self.reference(name);
                            name.span
                        }
                        DeclOperand::Assignment(assignment) => {
                            self.assignment(assignment);
                            assignment.span
                        }
                    };
                    spans.push((span.start.offset(), span.end.offset()));
                }
                self.commands.push(spans);
            }
            Command::Binary(binary) => {
                self.statement(&binary.left);
                self.statement(&binary.right);
            }
            Command::Compound(compound) => self.compound(compound),
            Command::Function(function) => self.statement(&function.body),
            Command::AnonymousFunction(_) => self.lost = true,
        }
    }

    fn builtin(&mut self, builtin: &BuiltinCommand) {
        let (first, rest, assignments, whole, name) = match builtin {
            BuiltinCommand::Break(c) => (&c.depth, &c.extra_args, &c.assignments, c.span, "break"),
            BuiltinCommand::Continue(c) => (&c.depth, &c.extra_args, &c.assignments, c.span, "continue"),
            BuiltinCommand::Return(c) => (&c.code, &c.extra_args, &c.assignments, c.span, "return"),
            BuiltinCommand::Exit(c) => (&c.code, &c.extra_args, &c.assignments, c.span, "exit"),
        };
        // The tree has no span for the name: it must be what the command starts with.
        let start = whole.start.offset();
        let found = self.source.get(start..).is_some_and(|text| text.starts_with(name));
        self.lost |= !found;
        self.assignments(assignments);
        let mut spans = vec![(start, start + name.len())];
        for word in first.iter().chain(rest) {
            spans.push(span(word));
            self.word(word);
        }
        self.commands.push(spans);
    }

    fn compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::If(c) => {
                self.sequence(&c.condition);
                self.sequence(&c.then_branch);
                for (condition, body) in &c.elif_branches {
                    self.sequence(condition);
                    self.sequence(body);
                }
                c.else_branch.iter().for_each(|body| self.sequence(body));
            }
            CompoundCommand::For(c) => {
                c.words.iter().for_each(|words| self.words(words));
                self.sequence(&c.body);
            }
            CompoundCommand::Select(c) => {
                self.words(&c.words);
                self.sequence(&c.body);
            }
            CompoundCommand::ArithmeticFor(c) => {
                for part in [&c.init_ast, &c.condition_ast, &c.step_ast].into_iter().flatten() {
                    self.arithmetic(part);
                }
                self.sequence(&c.body);
            }
            CompoundCommand::While(c) => {
                self.sequence(&c.condition);
                self.sequence(&c.body);
            }
            CompoundCommand::Until(c) => {
                self.sequence(&c.condition);
                self.sequence(&c.body);
            }
            CompoundCommand::Case(c) => {
                self.word(&c.word);
                for case in &c.cases {
                    self.patterns(&case.patterns);
                    self.sequence(&case.body);
                }
            }
            CompoundCommand::Subshell(body) | CompoundCommand::BraceGroup(body) => {
                self.sequence(body);
            }
            CompoundCommand::Arithmetic(c) => {
                c.expr_ast.iter().for_each(|part| self.arithmetic(part));
            }
            CompoundCommand::Time(c) => {
                c.command.iter().for_each(|inner| self.statement(inner));
            }
            CompoundCommand::Conditional(c) => self.conditional(&c.expression),
            CompoundCommand::Coproc(c) => self.statement(&c.body),
            CompoundCommand::Repeat(_) | CompoundCommand::Foreach(_) | CompoundCommand::Always(_) => self.lost = true,
        }
    }

    fn conditional(&mut self, expression: &ConditionalExpr) {
        match expression {
            ConditionalExpr::Binary(binary) => {
                self.conditional(&binary.left);
                self.conditional(&binary.right);
            }
            ConditionalExpr::Unary(unary) => self.conditional(&unary.expr),
            ConditionalExpr::Parenthesized(inner) => self.conditional(&inner.expr),
            ConditionalExpr::Word(word) | ConditionalExpr::Regex(word) => self.word(word),
            ConditionalExpr::Pattern(pattern) => self.pattern(pattern),
            ConditionalExpr::VarRef(reference) => self.reference(reference),
        }
    }

    fn redirects(&mut self, redirects: &[Redirect]) {
        for redirect in redirects {
            match &redirect.target {
                RedirectTarget::Word(word) => self.word(word),
                RedirectTarget::Heredoc(heredoc) => {
                    for part in &heredoc.body.parts {
                        match &part.kind {
                            HeredocBodyPart::CommandSubstitution { body, .. } => self.sequence(body),
                            HeredocBodyPart::ArithmeticExpansion { expression_ast, expression_word_ast, .. } => {
                                self.expression(expression_ast.as_deref(), expression_word_ast)
                            }
                            HeredocBodyPart::Parameter(parameter) => self.parameter(parameter),
                            HeredocBodyPart::Literal(_) | HeredocBodyPart::Variable(_) => {}
                        }
                    }
                }
            }
        }
    }

    fn assignments(&mut self, assignments: &[Assignment]) {
        assignments.iter().for_each(|assignment| self.assignment(assignment));
    }

    fn assignment(&mut self, assignment: &Assignment) {
        self.reference(&assignment.target);
        match &assignment.value {
            AssignmentValue::Scalar(word) => self.word(word),
            AssignmentValue::Compound(array) => {
                for element in &array.elements {
                    if let ArrayElem::Keyed { key, .. } | ArrayElem::KeyedAppend { key, .. } = element {
                        self.subscript(key);
                    }
                    self.word(element.value());
                }
            }
        }
    }

    fn reference(&mut self, reference: &VarRef) {
        reference.subscript.iter().for_each(|subscript| self.subscript(subscript));
    }

    fn subscript(&mut self, subscript: &Subscript) {
        match (&subscript.word_ast, &subscript.arithmetic_ast) {
            (Some(word), _) => self.word(word),
            (None, Some(arithmetic)) => self.arithmetic(arithmetic),
            (None, None) => {}
        }
    }

    fn words(&mut self, words: &[Word]) {
        words.iter().for_each(|word| self.word(word));
    }

    fn word(&mut self, word: &Word) {
        self.parts(&word.parts);
    }

    fn parts(&mut self, parts: &[WordPartNode]) {
        for part in parts {
            match &part.kind {
                WordPart::Literal(_)
                | WordPart::SingleQuoted { .. }
                | WordPart::Variable(_)
                | WordPart::PrefixMatch { .. } => {}
                WordPart::ZshQualifiedGlob(_) => self.lost = true,
                WordPart::DoubleQuoted { parts, .. } => self.parts(parts),
                WordPart::CommandSubstitution { body, .. } | WordPart::ProcessSubstitution { body, .. } => {
                    self.sequence(body)
                }
                WordPart::ArithmeticExpansion { expression_ast, expression_word_ast, .. } => {
                    self.expression(expression_ast.as_deref(), expression_word_ast);
                }
                WordPart::Parameter(parameter) => self.parameter(parameter),
                WordPart::ParameterExpansion { reference, operator, operand_word_ast, .. } => {
                    self.reference(reference);
                    self.operation(operator, operand_word_ast.as_deref());
                }
                WordPart::Length(reference)
                | WordPart::ArrayAccess(reference)
                | WordPart::ArrayLength(reference)
                | WordPart::ArrayIndices(reference)
                | WordPart::Transformation { reference, .. } => self.reference(reference),
                WordPart::Substring { reference, offset_ast, offset_word_ast, length_ast, length_word_ast, .. }
                | WordPart::ArraySlice {
                    reference, offset_ast, offset_word_ast, length_ast, length_word_ast, ..
                } => {
                    self.reference(reference);
                    self.expression(offset_ast.as_deref(), offset_word_ast);
                    if let Some(word) = length_word_ast {
                        self.expression(length_ast.as_deref(), word);
                    }
                }
                WordPart::IndirectExpansion { reference, operator, operand_word_ast, .. } => {
                    self.reference(reference);
                    match operator {
                        Some(operator) => self.operation(operator, operand_word_ast.as_deref()),
                        None => operand_word_ast.iter().for_each(|word| self.word(word)),
                    }
                }
            }
        }
    }

    fn parameter(&mut self, parameter: &ParameterExpansion) {
        let ParameterExpansionSyntax::Bourne(syntax) = &parameter.syntax else {
            self.lost = true;
            return;
        };
        match syntax {
            BourneParameterExpansion::Access { reference }
            | BourneParameterExpansion::Length { reference }
            | BourneParameterExpansion::Indices { reference }
            | BourneParameterExpansion::Transformation { reference, .. } => {
                self.reference(reference);
            }
            BourneParameterExpansion::PrefixMatch { .. } => {}
            BourneParameterExpansion::Indirect { reference, operator, operand_word_ast, .. } => {
                self.reference(reference);
                match operator {
                    Some(operator) => self.operation(operator, operand_word_ast.as_deref()),
                    None => operand_word_ast.iter().for_each(|word| self.word(word)),
                }
            }
            BourneParameterExpansion::Slice {
                reference,
                offset_ast,
                offset_word_ast,
                length_ast,
                length_word_ast,
                ..
            } => {
                self.reference(reference);
                self.expression(offset_ast.as_deref(), offset_word_ast);
                if let Some(word) = length_word_ast {
                    self.expression(length_ast.as_deref(), word);
                }
            }
            BourneParameterExpansion::Operation { reference, operator, operand_word_ast, .. } => {
                self.reference(reference);
                self.operation(operator, operand_word_ast.as_deref());
            }
        }
    }

    /// An operator's patterns and its operand, each looked into once.
    fn operation(&mut self, operator: &ParameterOp, operand: Option<&Word>) {
        match operator {
            ParameterOp::RemovePrefixShort { pattern }
            | ParameterOp::RemovePrefixLong { pattern }
            | ParameterOp::RemoveSuffixShort { pattern }
            | ParameterOp::RemoveSuffixLong { pattern } => self.pattern(pattern),
            ParameterOp::ReplaceFirst { pattern, replacement_word_ast, .. }
            | ParameterOp::ReplaceAll { pattern, replacement_word_ast, .. } => {
                self.pattern(pattern);
                self.word(replacement_word_ast);
            }
            _ => operand.into_iter().for_each(|word| self.word(word)),
        }
    }

    fn patterns(&mut self, patterns: &[Pattern]) {
        patterns.iter().for_each(|pattern| self.pattern(pattern));
    }

    fn pattern(&mut self, pattern: &Pattern) {
        for part in &pattern.parts {
            match &part.kind {
                PatternPart::Word(word) => self.word(word),
                PatternPart::Group { patterns, .. } => self.patterns(patterns),
                PatternPart::Literal(_) | PatternPart::AnyString | PatternPart::AnyChar | PatternPart::CharClass(_) => {
                }
            }
        }
    }

    /// Arithmetic has two readings of the same text; one of them is walked.
    fn expression(&mut self, tree: Option<&ArithmeticExprNode>, word: &Word) {
        match tree {
            Some(tree) => self.arithmetic(tree),
            None => self.word(word),
        }
    }

    fn arithmetic(&mut self, node: &ArithmeticExprNode) {
        match &node.kind {
            ArithmeticExpr::Number(_) | ArithmeticExpr::Variable(_) => {}
            ArithmeticExpr::Indexed { index, .. } => self.arithmetic(index),
            ArithmeticExpr::ShellWord(word) => self.word(word),
            ArithmeticExpr::Parenthesized { expression } => self.arithmetic(expression),
            ArithmeticExpr::Unary { expr, .. } | ArithmeticExpr::Postfix { expr, .. } => {
                self.arithmetic(expr);
            }
            ArithmeticExpr::Binary { left, right, .. } => {
                self.arithmetic(left);
                self.arithmetic(right);
            }
            ArithmeticExpr::Conditional { condition, then_expr, else_expr } => {
                self.arithmetic(condition);
                self.arithmetic(then_expr);
                self.arithmetic(else_expr);
            }
            ArithmeticExpr::Assignment { target, value, .. } => {
                if let ArithmeticLvalue::Indexed { index, .. } = target {
                    self.arithmetic(index);
                }
                self.arithmetic(value);
            }
        }
    }
}
