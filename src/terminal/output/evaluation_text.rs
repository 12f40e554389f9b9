//! The tree of an evaluation as a result on standard output: wrapped and coloured on a terminal,
//! one line a rule elsewhere.

use std::borrow::Cow;

use crate::stopping::evaluation::{Class, Decision, Evaluation, RuleOutcome};
use crate::stopping::exit_check::event::TurnRecord;

use super::evaluation_tree::{evaluation_tree, turn_line};
use super::stream_traits::StreamTraits;
use super::style::Paint;
use super::wrap::wrap_options;

/// The beginnings of the tree's lines, and what stands below them where a line is continued.
const BRANCHES: [(&str, &str); 3] = [("├─ ", "│    "), ("└─ ", "     "), ("│   └─ ", "│        ")];

pub fn evaluation_text(heading: &str, evaluation: &Evaluation, traits: StreamTraits) -> String {
    let paint = traits.paint;
    let lines = evaluation_tree(heading, evaluation);
    let last = lines.len().saturating_sub(1);
    let mut outcomes = evaluation.rules.iter().map(|rule| rule.outcome);
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        let is_rule = line.starts_with("├─ ");
        let has_fired = is_rule && outcomes.next() == Some(RuleOutcome::Fired);
        for line in wrapped(line, traits) {
            text += &match at {
                0 => paint.bold(&line),
                _ if at == last => of_decision(paint, &evaluation.decision, &line),
                _ if has_fired => line,
                _ => paint.dim(&line),
            };
            text.push('\n');
        }
    }
    text
}

pub fn wrapped_tree(tree: &[String], traits: StreamTraits) -> Vec<String> {
    tree.iter().flat_map(|line| wrapped(line, traits)).collect()
}

/// A checked turn in one line.
pub fn turn_text(record: &TurnRecord, traits: StreamTraits) -> String {
    let lines = wrapped(&turn_line(record), traits).into_iter();
    let decision = &record.evaluation.decision;
    lines
        .map(|line| of_decision(traits.paint, decision, &line) + "\n")
        .collect()
}

fn wrapped(line: &str, traits: StreamTraits) -> Vec<String> {
    if !traits.is_terminal {
        return vec![line.to_owned()];
    }
    let branch = BRANCHES.iter().find(|(branch, _)| line.starts_with(branch));
    let (branch, below) = branch.copied().unwrap_or(("", "  "));
    let text = line.strip_prefix(branch).unwrap_or(line);
    let options = wrap_options(traits.width, text)
        .initial_indent(branch)
        .subsequent_indent(below);
    let lines = textwrap::wrap(text, options).into_iter();
    lines.map(Cow::into_owned).collect()
}

fn of_decision(paint: Paint, decision: &Decision, line: &str) -> String {
    match decision {
        Decision::Continue => paint.bold(line),
        Decision::Stop { class, .. } => match class {
            Class::Done | Class::Converged => paint.green(line),
            Class::Halted | Class::Cancelled => paint.red(line),
            Class::Exhausted | Class::Stalled | Class::NeedsHuman => paint.yellow(line),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continued_lines_of_a_tree_keep_its_rails() {
        let tree = [
            "CHECK (Iteration 2)",
            "├─ Maximum reached: NO (2 < 5 of all iterations)",
            "│   └─ Previous: 5, Current: 3, Changed: YES, Set: new",
            "└─ DECISION: STOP converged: 3 questions are open",
        ];
        let tree = tree.map(str::to_owned);
        let env = |name: &str| (name == "LANG").then_some("C.UTF-8");
        let narrow = wrapped_tree(&tree, StreamTraits::new(true, Some(40), &env));
        let expected = "\
CHECK (Iteration 2)
├─ Maximum reached: NO (2 < 5 of all
│    iterations)
│   └─ Previous: 5, Current: 3,
│        Changed: YES, Set: new
└─ DECISION: STOP converged: 3
     questions are open";
        assert_eq!(narrow.join("\n"), expected);
        let piped = StreamTraits::new(false, None, &env);
        assert_eq!(wrapped_tree(&tree, piped), tree);
    }
}
