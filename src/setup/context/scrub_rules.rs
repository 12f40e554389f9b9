//! The user's own rules and exceptions for the masking of secrets, from `scrub.toml` in the home.

use std::error::Error as _;
use std::path::{Path, PathBuf};

use crate::config::paths::{Home, read_optional};
use crate::error::{Error, whole};
use crate::files::SizeLimit;
use crate::scrub::Scrubber;
use crate::scrub::rules::{RuleError, UserRules};

/// A file of rules that cannot be used, with the place of the error in it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}: {problem}", file.display(), line.map(|line| format!(":{line}")).unwrap_or_default())]
pub struct RuleFileError {
    file: PathBuf,
    /// From 1.
    line: Option<usize>,
    problem: String,
}

/// Loads the rules; none if there is no file.
pub fn load(home: &Home) -> Result<UserRules, Error> {
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
            at(line, error.message().trim_end().replace('\n', " "))
        }
        error => at(None, whole(&error)),
    })?;
    Scrubber::new(&rules, &[]).map_err(|error| {
        // The cause of a regex draws the place in several lines.
        let cause = error.source().map(ToString::to_string).unwrap_or_default();
        let reason = cause.lines().last().unwrap_or_default();
        let reason = reason.strip_prefix("error: ").unwrap_or(reason);
        at(
            None,
            format!(
                "{error}{}{reason}",
                if reason.is_empty() { "" } else { ": " }
            ),
        )
    })?;
    Ok(rules)
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
    fn errors_name_the_rule_and_what_is_wrong() {
        for (edited, message) in [
            (
                RULE.replace("regex = 'acme", "regexp = 'acme"),
                "scrub.toml:7: unknown field `regexp`, expected one of `id`, `kind`, `description`, \
                 `keywords`, `regex`, `before`, `after`, `ignore_case`, `entropy`, `names`, `allow`",
            ),
            (
                RULE.replace("[[rule]]", "[[rules]]"),
                "scrub.toml:2: unknown field `rules`, expected `rule` or `allow`",
            ),
            (
                RULE.replace("id = \"acme-token\"", ""),
                "scrub.toml: rule 1 needs an `id` that no other rule of the file has: lowercase letters, digits, \
                 `-` and `_`",
            ),
            (
                RULE.replace("keywords = [\"acme_\"]", ""),
                "scrub.toml: rule `acme-token` has no `keywords`, or an empty one",
            ),
            (
                RULE.replace("{32}'", "{32'"),
                "scrub.toml: rule `acme-token` has an invalid regex: unclosed counted repetition",
            ),
            (
                RULE.replace("acme_[0-9a-f]{32}", "[0-9a-f]*"),
                "scrub.toml: the regex of rule `acme-token` matches the empty text",
            ),
            (
                RULE.replace("\"acme_\"", "\"\""),
                "scrub.toml: rule `acme-token` has no `keywords`, or an empty one",
            ),
            (
                RULE.replace("\"acme-token\"", "\"Acme Token\""),
                "scrub.toml: rule 1 needs an `id` that no other rule of the file has: lowercase \
                 letters, digits, `-` and `_`",
            ),
            (
                RULE.repeat(2),
                "scrub.toml: rule 2 needs an `id` that no other rule of the file has: lowercase \
                 letters, digits, `-` and `_`",
            ),
            (
                "[allow]\npatterns = ['ok', '(']\n".to_owned(),
                "scrub.toml: an allowed pattern is an invalid regex: unclosed group",
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
