//! The variables of a test: a case for each combination of their values.

use crate::suites::log::FileLog;
use crate::text::node::NodeMap;

use super::elements;
use super::template::{Vars, render};

/// Variables that are the question where there is no prompt.
const QUESTION_VARS: [&str; 4] = ["question", "input", "prompt", "query"];

/// The most cases that the values of a test's variables make.
const MOST_COMBINATIONS: usize = 1000;

/// Returns the variables with each combination of those that have several values.
pub(super) fn combinations<'n>(
    vars: &'n NodeMap,
    line: usize,
    log: &mut FileLog<'_>,
) -> Vec<Vars<'n>> {
    let mut combinations = vec![Vars::new()];
    for (name, member) in vars {
        let values = elements(&member.node);
        if combinations.len().saturating_mul(values.len()) > MOST_COMBINATIONS {
            let problem =
                format!("the values of the variables make more than {MOST_COMBINATIONS} cases");
            log.add(line, problem);
            return Vec::new();
        }
        if values.iter().any(|value| {
            value
                .as_word()
                .is_some_and(|text| text.starts_with("file://"))
        }) {
            log.add(
                member.line,
                format!("the variable `{name}` is a file, which is not read"),
            );
        }
        let mut next = Vec::new();
        for combination in &combinations {
            for value in values {
                let mut combination = combination.clone();
                combination.insert(name.as_str(), value);
                next.push(combination);
            }
        }
        combinations = next;
    }
    combinations
}

/// Returns the question of a test without a prompt.
pub(super) fn question_var(vars: &Vars<'_>) -> Result<String, String> {
    let mut names = QUESTION_VARS
        .iter()
        .filter(|name| vars.contains_key(**name));
    match names.next() {
        Some(name) => render(&format!("{{{{{name}}}}}"), vars),
        None => Err("there is no prompt, and no variable `question` or `input`".to_owned()),
    }
}
