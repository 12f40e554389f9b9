//! What a program says of itself: its version, and whether the user is logged in. Pure.

use serde_json::Value;

use crate::domain::model::key_detection::hide_keys;
use crate::domain::model::program::AnswerReader;
use crate::text::clean::{one_line, shortened};
use crate::text::pattern::Pattern;

/// The answer to a check that spends nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramStatus {
    /// As the program writes it: `2.1.330`.
    pub version: Option<String>,
    pub login: Login,
    /// It runs in the user's own folder of Codex, which its login belongs to.
    pub keeps_home: bool,
}

/// Whether a user is logged in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Login {
    /// The program has no check, or it does not work: why.
    #[default]
    Unknown,
    /// With the name of the plan, where the program says it: `max_5x`, `ChatGPT`.
    Plan(Option<String>),
    /// With something that is billed by use, such as an API key: what.
    Billed(String),
    No,
}

/// What a command wrote before it ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Report {
    /// `None` after a signal.
    pub exit_code: Option<i32>,
    pub output: String,
    pub errors: String,
}

/// The longest name of a plan.
const MAX_NAME_CHARS: usize = 40;

/// Returns the first number of a report.
pub(super) fn version(report: &Report) -> Option<String> {
    static NUMBER: Pattern = Pattern::new(r"(?:^|[\s(])v?([0-9]+(?:\.[0-9]+)*)");
    let number = NUMBER.all(&report.output).next()?.get(1)?;
    Some(shortened(number.as_str(), MAX_NAME_CHARS))
}

/// Reads the report of a program's check.
pub(super) fn login(reader: AnswerReader, report: &Report) -> Login {
    match (reader, report.exit_code) {
        (AnswerReader::ClaudeCode, _) => claude(&report.output),
        (AnswerReader::Codex, _) => codex(&format!("{}\n{}", report.output, report.errors)),
        (_, Some(0)) => Login::Plan(None),
        (_, Some(_)) => Login::No,
        (_, None) => Login::Unknown,
    }
}

fn claude(output: &str) -> Login {
    let json = output.find('{').and_then(|start| output.get(start..));
    let Some(status) = json.and_then(|json| serde_json::from_str::<Value>(json.trim()).ok()) else {
        return Login::Unknown;
    };
    let safe = |word: &str| shortened(&hide_keys(&one_line(word)), MAX_NAME_CHARS);
    let word = |field: &str| status.get(field).and_then(Value::as_str).map(safe);
    let vendor = word("apiProvider").filter(|vendor| !vendor.eq_ignore_ascii_case("firstParty"));
    let is_logged_in = status.get("loggedIn").and_then(Value::as_bool);
    match (is_logged_in, word("authMethod"), vendor) {
        (Some(false), ..) => Login::No,
        (Some(true), _, Some(vendor)) => Login::Billed(vendor),
        (Some(true), Some(method), None) if method != "claude.ai" && method != "oauth_token" => {
            Login::Billed(method)
        }
        (Some(true), ..) => Login::Plan(word("planTier").or_else(|| word("subscriptionType"))),
        (None, ..) => Login::Unknown,
    }
}

/// The text of a login with a key has a part of it.
fn codex(text: &str) -> Login {
    const BY_USE: &str = "an API key";
    match text {
        _ if text.contains("Not logged in") => Login::No,
        _ if text.contains("Logged in using ChatGPT") => Login::Plan(Some("ChatGPT".to_owned())),
        _ if text.contains(BY_USE) => Login::Billed(BY_USE.to_owned()),
        _ if text.contains("access token") => Login::Plan(None),
        _ => Login::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report(exit_code: i32, output: &str, errors: &str) -> Report {
        Report {
            exit_code: Some(exit_code),
            output: output.to_owned(),
            errors: errors.to_owned(),
        }
    }

    #[test]
    fn version_is_the_first_number() {
        for (output, expected) in [
            ("2.1.330 (Claude Code)\n", Some("2.1.330")),
            ("codex-cli 0.169.0-alpha.3", Some("0.169.0")),
            ("tool (v3.2.)", Some("3.2")),
            ("gpt4 tool", None),
            ("", None),
        ] {
            assert_eq!(
                version(&report(0, output, "")).as_deref(),
                expected,
                "{output}"
            );
        }
    }

    #[test]
    fn logins_of_claude_code_are_plans_or_billed() {
        let plan = |name: &str| Login::Plan(Some(name.to_owned()));
        let billed = |what: &str| Login::Billed(what.to_owned());
        let max = json!({"loggedIn": true, "authMethod": "claude.ai", "apiProvider": "firstParty",
            "subscriptionType": "max", "planTier": "max_5x"});
        let key = json!({"loggedIn": true, "authMethod": "api_key", "apiProvider": "firstParty"});
        let cloud =
            json!({"loggedIn": true, "authMethod": "third_party", "apiProvider": "bedrock"});
        for (output, expected) in [
            (max.to_string(), plan("max_5x")),
            (format!("warning\n{max:#}\n"), plan("max_5x")),
            (
                json!({"loggedIn": true, "authMethod": "oauth_token", "subscriptionType": "pro"})
                    .to_string(),
                plan("pro"),
            ),
            (json!({"loggedIn": true}).to_string(), Login::Plan(None)),
            (key.to_string(), billed("api_key")),
            (cloud.to_string(), billed("bedrock")),
            (
                json!({"loggedIn": false, "authMethod": "none"}).to_string(),
                Login::No,
            ),
            ("error: unknown command `auth`".to_owned(), Login::Unknown),
        ] {
            let read = login(AnswerReader::ClaudeCode, &report(1, &output, ""));
            assert_eq!(read, expected, "{output}");
        }
    }

    #[test]
    fn logins_of_codex_never_show_a_key() {
        for (errors, expected) in [
            (
                "Logged in using ChatGPT\n",
                Login::Plan(Some("ChatGPT".to_owned())),
            ),
            (
                "Logged in using an API key - sk-proj-***ABCDE",
                Login::Billed("an API key".to_owned()),
            ),
            ("Logged in using a personal access token", Login::Plan(None)),
            ("Not logged in", Login::No),
            ("error: unrecognized subcommand", Login::Unknown),
        ] {
            assert_eq!(login(AnswerReader::Codex, &report(1, "", errors)), expected);
        }
    }

    #[test]
    fn other_checks_are_read_by_their_exit_code() {
        assert_eq!(
            login(AnswerReader::Text, &report(0, "", "")),
            Login::Plan(None)
        );
        assert_eq!(login(AnswerReader::Text, &report(3, "", "")), Login::No);
        assert_eq!(
            login(AnswerReader::Text, &Report::default()),
            Login::Unknown
        );
    }
}
