//! The scrubber of texts that no plan has: with the user's own rules and exceptions, from
//! `scrub.toml` in the home, and the keys in the environment.

use std::error::Error as _;
use std::sync::OnceLock;

use secrecy::SecretString;

use crate::config::endpoints::{self, EndpointEntry};
use crate::config::env::Environment;
use crate::config::paths::{Home, read_optional};
use crate::error::{Error, whole};
use crate::files::SizeLimit;
use crate::providers::chatgpt::sign_in;
use crate::scrub::Scrubber;
use crate::scrub::rules::{RuleError, UserRules};
use crate::setup::settings;

/// Returns the scrubber of `consult`.
///
/// # Errors
///
/// When the user's settings or rules for secrets cannot be used.
pub fn load(environment: &Environment) -> Result<Scrubber, Error> {
    let (mut rules, mut endpoints) = (UserRules::default(), Vec::new());
    // Without a home there are no own rules.
    if let Ok(home) = Home::find(environment) {
        rules = load_rules(&home)?;
        endpoints = settings::load_own(&home, environment)?.endpoints;
    }
    let own_keys = own_keys(&endpoints, environment);
    Scrubber::new(&rules, &own_keys).map_err(Error::usage)
}

/// The keys in the environment, and the tokens of a sign-in.
pub fn own_keys(entries: &[EndpointEntry], environment: &Environment) -> Vec<SecretString> {
    let mut keys = endpoints::keys_in_variables(entries, environment);
    let file = Home::find(environment).map(|home| home.sign_in_file());
    keys.extend(sign_in::secrets(&file.unwrap_or_default()));
    keys
}

/// The user's settings and rules may be what a message is about: they do not count if they cannot
/// be used.
pub fn of_messages(environment: &Environment) -> impl Fn(&str) -> String + Send + Sync + use<> {
    let (environment, scrubber) = (environment.clone(), OnceLock::new());
    move |message| {
        let own_keys = || own_keys(&[], &environment);
        let built_in = || Scrubber::new(&UserRules::default(), &own_keys());
        let scrubber = scrubber.get_or_init(|| load(&environment).or_else(|_| built_in()).ok());
        let mut message = message.to_owned();
        if let Some(scrubber) = scrubber {
            scrubber.mask(vec![&mut message]);
        }
        message
    }
}

/// Empty if there is no file.
pub fn load_rules(home: &Home) -> Result<UserRules, Error> {
    let path = home.scrub_file();
    let file = path.display();
    let unusable = |problem: String| {
        Error::usage(format!("{file}{problem}")).hint(format!("fix or remove {file}"))
    };
    let text = read_optional(&path, SizeLimit::SETTINGS)
        .map_err(|error| unusable(format!(": {error}")))?;
    match text {
        None => Ok(UserRules::default()),
        Some(text) => parse(&text).map_err(unusable),
    }
}

/// An error begins with the line, if there is one: `:7: unknown field`.
fn parse(text: &str) -> Result<UserRules, String> {
    let rules = UserRules::parse(text).map_err(|error| match error {
        RuleError::Toml(error) => {
            let before = error.span().and_then(|span| text.get(..span.start));
            let line = before.map(|before| format!(":{}", before.matches('\n').count() + 1));
            let problem = error.message().trim_end().replace('\n', " ");
            format!("{}: {problem}", line.unwrap_or_default())
        }
        error => format!(": {}", whole(&error)),
    })?;
    Scrubber::new(&rules, &[]).map_err(|error| {
        // The cause of a regex draws the place in several lines.
        let cause = error.source().map(ToString::to_string).unwrap_or_default();
        let reason = cause.lines().last().unwrap_or_default();
        match reason.strip_prefix("error: ").unwrap_or(reason) {
            "" => format!(": {error}"),
            reason => format!(": {error}: {reason}"),
        }
    })?;
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_that_quotes_the_command_line_holds_no_secret() {
        let key = "correct horse battery 1";
        let environment = Environment::of([("OPENAI_API_KEY", key)]);
        let mask = of_messages(&environment);
        let message = mask(&format!("no command `{key}`"));
        assert_eq!(message, "no command `[REDACTED_API_KEY]`");
    }

    fn read(text: &str) -> Result<UserRules, String> {
        parse(text).map_err(|error| format!("scrub.toml{error}"))
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
        assert_eq!(read("# nothing yet\n").unwrap().rules.len(), 0);
    }

    #[test]
    fn errors_name_the_rule_and_what_is_wrong() {
        for (edited, message) in [
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
