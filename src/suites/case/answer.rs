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
    line: usize,
    raw: &RawCase,
    defaults: &CaseDefaults,
    log: &mut FileLog<'_>,
) -> Option<(Expected, Matcher)> {
    let own = field(map, "match").map(|member| matcher::read(member, log));
    let options = field(map, "options");
    let options = options.map(|member| {
        let texts = matcher::texts("options", member, log);
        (member.line, without_letters(texts))
    });
    let expected = expected(map, log);
    let matcher = match (own, options) {
        (Some(None), _) => return None,
        (Some(Some(Matcher::Choice { options: inner })), outer) => {
            if let Some((line, _)) = outer.as_ref().filter(|_| !inner.is_empty()) {
                log.add(*line, "the options are given twice");
            }
            Matcher::Choice {
                options: outer.map_or(inner, |(_, options)| options),
            }
        }
        (Some(Some(_)), Some((line, _))) => {
            return log.refuse(line, "`options` need `match: choice`");
        }
        (Some(Some(own)), None) => own,
        (None, Some((_, options))) => Matcher::Choice { options },
        (None, None) => match (&defaults.matcher, &expected) {
            // Only cases with options are choices.
            (Some(Matcher::Choice { .. }) | None, _) if !raw.matcher.is_empty() => {
                matcher::read(&Node::text(line, raw.matcher.as_str()), log)?
            }
            (Some(Matcher::Choice { .. }) | None, Some(expected)) => inferred(expected),
            (Some(Matcher::Choice { .. }) | None, None) => Matcher::Exact,
            (Some(default), _) => default.clone(),
        },
    };
    let Some(expected) = expected else {
        let needs_none = match &matcher {
            Matcher::Judge { rubric } => rubric.is_some(),
            Matcher::All { none } => !none.is_empty(),
            _ => false,
        };
        let is_missing = field(map, "expected").is_none();
        if !needs_none && is_missing {
            log.add(line, "the case has no `expected` answer");
        }
        let none = Expected {
            line,
            ..Expected::default()
        };
        return (needs_none && is_missing).then_some((none, matcher));
    };
    Some((expected, matcher))
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

fn expected(map: &NodeMap, log: &mut FileLog<'_>) -> Option<Expected> {
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
            let rest = option.trim_start_matches('(').strip_prefix(letter)?;
            let rest = rest.strip_prefix([')', '.', ':'])?;
            Some(rest.trim().to_owned()).filter(|rest| !rest.is_empty())
        })
        .collect();
    bare.unwrap_or(options)
}
