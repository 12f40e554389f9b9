//! The user's own rules and exceptions for the masking of secrets, from `scrub.toml` in the home.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;
use toml::Spanned;

use crate::config::paths::{Home, read_optional};
use crate::context::scrub::Scrubber;
use crate::context::scrub::rules::{RuleError, UserRules};
use crate::domain::names::did_you_mean;
use crate::error::{Error, whole};
use crate::files::SizeLimit;

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
const FIELDS: [&str; 16] = [
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
    "masks",
    "keeps",
    "values",
    "patterns",
];

/// The places of what can be wrong in a file of the right form.
#[derive(Deserialize)]
struct RuleFile {
    #[serde(default)]
    rule: Vec<Spanned<FileRule>>,
    #[serde(default)]
    allow: FileAllow,
}

#[derive(Deserialize)]
struct FileRule {
    id: Option<Spanned<String>>,
    kind: Option<Spanned<String>>,
    #[serde(default)]
    keywords: Vec<Spanned<String>>,
    regex: Option<Spanned<String>>,
    #[serde(default)]
    allow: Vec<Spanned<String>>,
}

#[derive(Default, Deserialize)]
struct FileAllow {
    #[serde(default)]
    patterns: Vec<Spanned<String>>,
}

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
    let at = |span: Option<Range<usize>>, problem: String| RuleFileError {
        file: file.to_owned(),
        line: span.and_then(|span| Some(text.get(..span.start)?.matches('\n').count() + 1)),
        problem,
    };
    let rules = UserRules::parse(text).map_err(|error| match error {
        RuleError::Toml(error) => at(error.span(), with_suggestion(error.message())),
        error => at(None, whole(&error)),
    })?;
    let places: RuleFile =
        toml::from_str(text).map_err(|error| at(error.span(), error.message().to_owned()))?;
    check(&places).map_err(|(span, problem)| at(Some(span), problem))?;
    // The scrubber knows best what it can use.
    Scrubber::new(&rules, &[]).map_err(|error| at(None, whole(&error)))?;
    Ok(rules)
}

/// Checks the values; an error has its place.
fn check(file: &RuleFile) -> Result<(), (Range<usize>, String)> {
    let mut ids = BTreeSet::new();
    for rule in &file.rule {
        let table = rule.span();
        let rule = rule.get_ref();
        let lacks = |field: &str| (table.clone(), format!("a rule has no `{field}`"));
        let id = rule.id.as_ref().ok_or_else(|| lacks("id"))?;
        let kind = rule.kind.as_ref().ok_or_else(|| lacks("kind"))?;
        if !is_name(id.get_ref()) {
            let problem = format!("`id` is `{}`, but must be {NAME}", id.get_ref());
            return Err((id.span(), problem));
        }
        if !ids.insert(id.get_ref()) {
            return Err((
                id.span(),
                format!("two rules have the `id` `{}`", id.get_ref()),
            ));
        }
        if !is_name(kind.get_ref()) || kind.get_ref().contains('-') {
            let problem = format!(
                "`kind` is `{}`, but must be lowercase letters, digits and `_`",
                kind.get_ref()
            );
            return Err((kind.span(), problem));
        }
        let id = id.get_ref();
        if rule.keywords.is_empty() {
            return Err((table, format!("rule `{id}` has no `keywords`")));
        }
        if let Some(empty) = rule.keywords.iter().find(|word| word.get_ref().is_empty()) {
            return Err((empty.span(), format!("a keyword of rule `{id}` is empty")));
        }
        if let Some(regex) = &rule.regex {
            let compiled = compile(regex, &format!("`regex` of rule `{id}`"))?;
            if compiled.is_match(b"") {
                let problem = format!("`regex` of rule `{id}` matches the empty text");
                return Err((regex.span(), problem));
            }
        }
        for regex in &rule.allow {
            compile(regex, &format!("a regex in `allow` of rule `{id}`"))?;
        }
    }
    for regex in &file.allow.patterns {
        compile(regex, "a regex in `allow.patterns`")?;
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
fn compile(regex: &Spanned<String>, name: &str) -> Result<Regex, (Range<usize>, String)> {
    let compiled = RegexBuilder::new(regex.get_ref()).unicode(false).build();
    compiled.map_err(|error| {
        let problem = match error {
            regex::Error::CompiledTooBig(_) => format!("{name} is too large"),
            error => {
                // The lines above the last one repeat the regex.
                let message = error.to_string();
                let last = message.lines().last().unwrap_or_default();
                let reason = last.strip_prefix("error: ").unwrap_or(last);
                format!("{name} is not valid: {reason}")
            }
        };
        (regex.span(), problem)
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
