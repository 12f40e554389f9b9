//! The expected answers of a case, and how they are compared.

use std::iter::zip;

use crate::benchmark::case::Matcher;
use crate::suites::log::FileLog;
use crate::suites::matcher;
use crate::suites::raw_case::RawCase;
use crate::text::clean::words;
use crate::text::node::{Node, NodeMap, NodeValue};

use super::{CaseDefaults, field, tidy};

/// The expected answers as they are written.
#[derive(Default)]
pub(super) struct Expected {
    pub(super) line: usize,
    pub(super) texts: Vec<String>,
    /// All of them are numbers.
    is_number: bool,
}

pub(super) fn read(
    map: &NodeMap,
    raw: &RawCase,
    defaults: &CaseDefaults,
) -> Option<(Expected, Matcher)> {
    let (line, log) = (raw.node.line, &raw.log);
    let expected = expected(map, log);
    let matcher = matcher(map, expected.as_ref(), raw, defaults)?;
    let missing = || match field(map, "expected") {
        None if matcher.needs_no_answer() => Some(Expected {
            line,
            ..Expected::default()
        }),
        None => log.refuse(line, "the case has no `expected` answer"),
        Some(_) => None,
    };
    Some((expected.or_else(missing)?, matcher))
}

fn matcher(
    map: &NodeMap,
    expected: Option<&Expected>,
    raw: &RawCase,
    defaults: &CaseDefaults,
) -> Option<Matcher> {
    let (line, log) = (raw.node.line, &raw.log);
    let own = field(map, "match").map(|member| matcher::read(member, log));
    let options = field(map, "options");
    let options = options.map(|member| {
        let texts = matcher::texts("options", member, log);
        (member.line, without_letters(texts))
    });
    Some(match (own, options) {
        (Some(own), None) => own?,
        (Some(Some(Matcher::Choice { options: inner })), Some((line, options))) => {
            if !inner.is_empty() {
                log.add(line, "the options are given twice");
            }
            Matcher::Choice { options }
        }
        (Some(None), Some(_)) => return None,
        (Some(Some(_)), Some((line, _))) => {
            return log.refuse(line, "`options` need `match: choice`");
        }
        (None, Some((_, options))) => Matcher::Choice { options },
        (None, None) => match &defaults.matcher {
            Some(default) if !matches!(default, Matcher::Choice { .. }) => default.clone(),
            // Only cases with options are choices.
            _ if !raw.matcher.is_empty() => {
                matcher::read(&Node::text(line, raw.matcher.as_str()), log)?
            }
            _ => expected.map_or(Matcher::Exact, inferred),
        },
    })
}

/// Prose is right in many words, which only a model can compare.
fn inferred(expected: &Expected) -> Matcher {
    /// Words of a sentence that is hardly written twice.
    const LONG: usize = 25;
    let is_prose = |text: &String| text.contains('\n') || words(text).count() > LONG;
    if expected.is_number {
        Matcher::Numeric {
            absolute: 0.0,
            relative: 0.0,
        }
    } else if expected.texts.iter().any(is_prose) {
        Matcher::Judge { rubric: None }
    } else {
        Matcher::Exact
    }
}

fn expected(map: &NodeMap, log: &FileLog) -> Option<Expected> {
    let member = field(map, "expected")?;
    let elements = member.elements();
    if elements.is_empty() {
        return log.refuse(member.line, "`expected` is an empty list");
    }
    let mut texts = Vec::new();
    let mut is_number = true;
    for element in elements {
        is_number &= matches!(element.value, NodeValue::Number(_));
        match &element.value {
            NodeValue::Bool(true) => texts.extend(["true".to_owned(), "yes".to_owned()]),
            NodeValue::Bool(false) => texts.extend(["false".to_owned(), "no".to_owned()]),
            NodeValue::Number(number) => texts.push(number.clone()),
            NodeValue::Text(text) if !text.trim().is_empty() => texts.push(tidy(text)),
            _ => return log.wrong("`expected`", element, "a text, a number, true or false"),
        }
    }
    Some(Expected {
        line: member.line,
        texts,
        is_number,
    })
}

/// The question adds the letters itself.
fn without_letters(options: Vec<String>) -> Vec<String> {
    let bare: Option<Vec<String>> = zip(&options, 'A'..='Z')
        .map(|(option, letter)| {
            let rest = option.trim_start_matches('(');
            let rest = rest.strip_prefix([letter, letter.to_ascii_lowercase()])?;
            let rest = rest.strip_prefix([')', '.', ':'])?;
            Some(rest.trim().to_owned()).filter(|rest| !rest.is_empty())
        })
        .collect();
    bare.unwrap_or(options)
}
