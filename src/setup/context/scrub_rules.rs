//! The user's own rules and exceptions for the masking of secrets, from `scrub.toml` in the home.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use regex::bytes::{Regex, RegexBuilder};

use crate::config::paths::{Home, read_optional};
use crate::domain::names::did_you_mean;
use crate::error::{Error, whole};
use crate::files::SizeLimit;
use crate::scrub::Scrubber;
use crate::scrub::rules::{RuleError, UserRules};

/// A file of rules that cannot be used, with the place of the error in it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: {problem}", file.display(), line.map(|line| format!(":{line}")).unwrap_or_default())]
pub(crate) struct RuleFileError {
    file: PathBuf,
    /// From 1.
    line: Option<usize>,
    problem: String,
}

/// The fields of the file and of its tables, for suggestions.
const FIELDS: [&str; 14] = [
    "rule",
    "id",
    "kind",
    "description",
    "keywords",
    "regex",
    "before",
    "after",
    "ignore_case",
    "entropy",
    "names",
    "allow",
    "values",
    "patterns",
];

/// What is wrong with a value, and its place: the number of a `[[rule]]`, or `[allow]`, and a field.
type ValueProblem = (Option<usize>, &'static str, String);

/// Loads the rules; none if there is no file.
pub(crate) fn load(home: &Home) -> Result<UserRules, Error> {
    let file = home.scrub_file();
    let hint = || format!("fix or remove {}", file.display());
    let text = read_optional(&file, SizeLimit::SETTINGS).map_err(|error| {
        let problem = RuleFileError {
            file: file.clone(),
            line: None,
            problem: error.to_string(),
        };
        Error::usage(problem).hint(hint())
    })?;
    match text {
        None => Ok(UserRules::default()),
        Some(text) => parse(&file, &text).map_err(|error| Error::usage(error).hint(hint())),
    }
}

fn parse(file: &Path, text: &str) -> Result<UserRules, RuleFileError> {
    let at = |line, problem| RuleFileError {
        file: file.to_owned(),
        line,
        problem,
    };
    let rules = UserRules::parse(text).map_err(|error| match error {
        RuleError::Toml(error) => {
            let before = error.span().and_then(|span| text.get(..span.start));
            let line = before.map(|before| before.matches('\n').count() + 1);
            at(line, with_suggestion(error.message()))
        }
        error => at(None, whole(&error)),
    })?;
    check(&rules).map_err(|(rule, field, problem)| at(line_of(text, rule, field), problem))?;
    // The scrubber knows best what it can use.
    Scrubber::new(&rules, &[]).map_err(|error| at(None, whole(&error)))?;
    Ok(rules)
}

/// Returns the line of a field, from 1; that of its table if the field is not there.
fn line_of(text: &str, rule: Option<usize>, field: &str) -> Option<usize> {
    let header = if rule.is_some() {
        "[[rule]]"
    } else {
        "[allow]"
    };
    let mut lines = text.lines().map(str::trim_start).zip(1..);
    let mut tables = lines.by_ref().filter(|(line, _)| line.starts_with(header));
    let (_, table) = tables.nth(rule.unwrap_or_default())?;
    let mut inside = lines.take_while(|(line, _)| !line.starts_with('['));
    let own = inside.find(|(line, _)| {
        let rest = line.strip_prefix(field);
        rest.is_some_and(|rest| rest.trim_start().starts_with('='))
    });
    Some(own.map_or(table, |(_, line)| line))
}

fn check(rules: &UserRules) -> Result<(), ValueProblem> {
    let mut ids = BTreeSet::new();
    for (number, rule) in rules.rules.iter().enumerate() {
        let wrong = |field, problem: String| Err((Some(number), field, problem));
        let (id, kind) = (&rule.id, &rule.kind);
        if id.is_empty() {
            return wrong("id", "a rule has no `id`".to_owned());
        }
        if kind.is_empty() {
            return wrong("kind", "a rule has no `kind`".to_owned());
        }
        if !is_name(id) {
            return wrong("id", format!("`id` is `{id}`, but must be {NAME}"));
        }
        if !ids.insert(id) {
            return wrong("id", format!("two rules have the `id` `{id}`"));
        }
        if !is_name(kind) || kind.contains('-') {
            let name = "lowercase letters, digits and `_`";
            return wrong("kind", format!("`kind` is `{kind}`, but must be {name}"));
        }
        if rule.keywords.is_empty() {
            return wrong("keywords", format!("rule `{id}` has no `keywords`"));
        }
        if rule.keywords.iter().any(String::is_empty) {
            return wrong("keywords", format!("a keyword of rule `{id}` is empty"));
        }
        let place = |field| move |problem| (Some(number), field, problem);
        if let Some(regex) = &rule.regex {
            let compiled =
                compile(regex, &format!("`regex` of rule `{id}`")).map_err(place("regex"))?;
            if compiled.is_match(b"") {
                return wrong(
                    "regex",
                    format!("`regex` of rule `{id}` matches the empty text"),
                );
            }
        }
        for regex in &rule.allow {
            compile(regex, &format!("a regex in `allow` of rule `{id}`"))
                .map_err(place("allow"))?;
        }
    }
    for regex in &rules.allow.patterns {
        compile(regex, "a regex in `allow.patterns`")
            .map_err(|problem| (None, "patterns", problem))?;
    }
    Ok(())
}

/// Returns an error of the parser with the field that was most likely meant.
fn with_suggestion(message: &str) -> String {
    let message = message.trim_end();
    let wrong = message
        .strip_prefix("unknown field `")
        .and_then(|rest| rest.split('`').next());
    match wrong {
        Some(wrong) => format!(
            "unknown field `{wrong}`{}",
            did_you_mean(wrong, FIELDS.into_iter())
        ),
        None => message.replace('\n', " "),
    }
}

const NAME: &str = "lowercase letters, digits, `-` and `_`";

fn is_name(name: &str) -> bool {
    let is_of_name =
        |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    !name.is_empty() && name.chars().all(is_of_name)
}

/// Compiles a regex as the scrubber does: without Unicode classes. The error calls it `name`.
fn compile(regex: &str, name: &str) -> Result<Regex, String> {
    let compiled = RegexBuilder::new(regex).unicode(false).build();
    compiled.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => format!("{name} is too large"),
        error => {
            // The lines above the last one repeat the regex.
            let message = error.to_string();
            let last = message.lines().last().unwrap_or_default();
            let reason = last.strip_prefix("error: ").unwrap_or(last);
            format!("{name} is not valid: {reason}")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<UserRules, String> {
        parse(Path::new("scrub.toml"), text).map_err(|error| error.to_string())
    }

    const RULE: &str = r#"
[[rule]]
id = "acme-token"
kind = "acme_token"
description = "Tokens of the deployment service"
keywords = ["acme_"]
regex = 'acme_[0-9a-f]{32}'
"#;

    #[test]
    fn rules_and_exceptions_are_read() {
        let text = format!("{RULE}\n[allow]\nvalues = [\"EXAMPLE-KEY\"]\npatterns = ['^test_']\n");
        let rules = read(&text).unwrap();
        assert_eq!(rules.rules.len(), 1);
        assert_eq!(rules.rules[0].id, "acme-token");
        assert_eq!(rules.rules[0].keywords, ["acme_"]);
        assert_eq!(rules.allow.values, ["EXAMPLE-KEY"]);
        assert_eq!(rules.allow.patterns, ["^test_"]);
    }

    #[test]
    fn empty_file_has_no_rules() {
        assert_eq!(read("").unwrap().rules.len(), 0);
        assert_eq!(read("# nothing yet\n").unwrap().rules.len(), 0);
    }

    #[test]
    fn errors_name_line_and_field() {
        for (edited, message) in [
            (
                RULE.replace("regex = 'acme", "regexp = 'acme"),
                "scrub.toml:7: unknown field `regexp`; did you mean `regex`?",
            ),
            (
                RULE.replace("[[rule]]", "[[rules]]"),
                "scrub.toml:2: unknown field `rules`; did you mean `rule`?",
            ),
            (
                RULE.replace("id = \"acme-token\"", ""),
                "scrub.toml:2: a rule has no `id`",
            ),
            (
                RULE.replace("keywords = [\"acme_\"]", ""),
                "scrub.toml:2: rule `acme-token` has no `keywords`",
            ),
            (
                RULE.replace("{32}'", "{32'"),
                "scrub.toml:7: `regex` of rule `acme-token` is not valid: unclosed counted \
                 repetition",
            ),
            (
                RULE.replace("acme_[0-9a-f]{32}", "[0-9a-f]*"),
                "scrub.toml:7: `regex` of rule `acme-token` matches the empty text",
            ),
            (
                RULE.replace("\"acme_\"", "\"\""),
                "scrub.toml:6: a keyword of rule `acme-token` is empty",
            ),
            (
                RULE.replace("\"acme-token\"", "\"Acme Token\""),
                "scrub.toml:3: `id` is `Acme Token`, but must be lowercase letters, digits, `-` \
                 and `_`",
            ),
            (
                RULE.repeat(2),
                "scrub.toml:10: two rules have the `id` `acme-token`",
            ),
            (
                "[allow]\npatterns = ['ok', '(']\n".to_owned(),
                "scrub.toml:2: a regex in `allow.patterns` is not valid: unclosed group",
            ),
        ] {
            assert_eq!(read(&edited).unwrap_err(), message, "{edited}");
        }
    }

    #[test]
    fn broken_toml_names_its_line() {
        let error = read("\n[[rule]\n").unwrap_err();
        assert!(error.starts_with("scrub.toml:2: "), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }
}
