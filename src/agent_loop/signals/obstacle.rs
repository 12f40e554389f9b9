//! Reasons why the agent could not work at all, in the agent program's own words: never prose that
//! speaks of such things.

use std::sync::LazyLock;

use serde::Deserialize;

use super::LONGEST_UNMASKED;
use crate::agent_loop::response::{AgentResponse, ProgramErrorKind};
use crate::agent_loop::text::tables::tables;
use crate::agent_loop::text::{Message, has_word};
use crate::stopping::exit_check::evidence::{Obstacle, ObstacleKind};

/// A longer message is the agent's, not the program's.
const LONGEST_MESSAGE: usize = 300;
/// The same, of a message that shows the JSON of the service.
const LONGEST_WITH_JSON: usize = 800;

/// What the programs report; see the file.
static REPORTS: LazyLock<Vec<Report>> = LazyLock::new(|| {
    let table: Table = toml::from_str(include_str!("obstacles.toml")).unwrap_or_default();
    table.obstacle
});

#[derive(Debug, Default, Deserialize)]
struct Table {
    obstacle: Vec<Report>,
}

/// A report of an obstacle.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Report {
    kind: ObstacleKind,
    /// All occur, in lower case.
    parts: Vec<String>,
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "shows what the parts come from")
    )]
    example: String,
}

/// Words of an agent that speaks: then the message is not the program's.
const SPEAKER: [&str; 7] = ["i", "i've", "i'll", "i'm", "we", "we've", "my"];

/// Returns the obstacle of a turn.
pub(super) fn read(response: &AgentResponse, message: &Message) -> Option<Obstacle> {
    if let Some(error) = &response.program_error {
        let words = if error.message.is_empty() {
            error.code.as_deref().unwrap_or_default()
        } else {
            &error.message
        };
        let kind = match error.kind {
            ProgramErrorKind::Authentication => Some(ObstacleKind::Authentication),
            ProgramErrorKind::Quota => Some(ObstacleKind::Quota),
            ProgramErrorKind::RateLimit | ProgramErrorKind::Other => kind_of(words),
            ProgramErrorKind::RunLimit => None,
        };
        if let Some(kind) = kind {
            return Some(obstacle(kind, words));
        }
    }
    let text = message.text.trim();
    if let Some(kind) = program_message(text) {
        return Some(obstacle(kind, text));
    }
    denial(response, text)
}

/// Returns whether a whole message is the program's own report of a failure, and not the agent's.
pub(super) fn is_program_failure(message: &Message) -> bool {
    let text = message.text.trim();
    is_program_text(text) && {
        let lower = text.to_lowercase();
        ["api error", "error", "stream error", "execution error"]
            .iter()
            .any(|mark| lower.starts_with(mark))
    }
}

fn obstacle(kind: ObstacleKind, text: &str) -> Obstacle {
    Obstacle {
        kind,
        message: text.chars().take(LONGEST_UNMASKED).collect(),
    }
}

fn program_message(text: &str) -> Option<ObstacleKind> {
    // Claude Code ends a text with this line, which has a time that no prose has.
    let last = text.rsplit('\n').next().unwrap_or_default().trim();
    let limit = last.strip_prefix("Claude AI usage limit reached|");
    if limit.is_some_and(|time| time.chars().all(|c| c.is_ascii_digit())) {
        return Some(ObstacleKind::Quota);
    }
    if let Some(kind) = kind_of_beginning(text) {
        return Some(kind);
    }
    if is_program_text(text) {
        return kind_of(text);
    }
    // The last line of a log of the program, in which the agent says nothing.
    let is_log = is_short(text) && !has_word(text, &SPEAKER);
    let is_error = ["Error: ", "ERROR: ", "API Error: "]
        .iter()
        .any(|mark| last.starts_with(mark));
    (is_log && is_error && is_program_text(last)).then(|| kind_of(last))?
}

fn is_short(text: &str) -> bool {
    let longest = if text.contains("{\"") {
        LONGEST_WITH_JSON
    } else {
        LONGEST_MESSAGE
    };
    text.chars().count() <= longest
}

/// Whether a text is as short and as plain as a program's message.
fn is_program_text(text: &str) -> bool {
    if text.is_empty() || !is_short(text) || text.contains("\n\n") {
        return false;
    }
    !has_word(text, &SPEAKER) && !has_word(text, &tables().work)
}

fn kind_of(text: &str) -> Option<ObstacleKind> {
    let lower = text.to_lowercase().replace('’', "'");
    if tables().transient.iter().any(|word| lower.contains(word)) || waits_seconds(&lower) {
        return None;
    }
    let found = REPORTS
        .iter()
        .find(|report| report.parts.iter().all(|part| lower.contains(part)));
    found.map(|report| report.kind)
}

/// Returns the obstacle that a message begins with, whatever follows its first sentence. What is
/// said to the user is no sentence of an agent, whatever words it has.
fn kind_of_beginning(text: &str) -> Option<ObstacleKind> {
    let lower = text.to_lowercase().replace('’', "'");
    let mut start = lower.as_str();
    while let Some(after) = ["error:", "api error:", "stream error:"]
        .iter()
        .find_map(|mark| start.strip_prefix(mark))
    {
        start = after.trim_start();
    }
    let sentence = start.split(['.', '\n']).next().unwrap_or_default();
    let is_plain = sentence.starts_with("you ")
        || sentence.starts_with("you'")
        || !has_word(sentence, &SPEAKER) && !has_word(sentence, &tables().work);
    if !is_plain || !is_short(text) || waits_seconds(&lower) {
        return None;
    }
    let begins = |report: &&Report| {
        let first = report.parts.first();
        first.is_some_and(|part| sentence.starts_with(part.as_str()))
            && report.parts.iter().all(|part| sentence.contains(part))
    };
    REPORTS.iter().find(begins).map(|report| report.kind)
}

/// Whether a message asks to wait for seconds only: `try again in 1.2s`.
fn waits_seconds(lower: &str) -> bool {
    let Some((_, wait)) = lower
        .split_once("try again in ")
        .or_else(|| lower.split_once("retry in "))
    else {
        return false;
    };
    let unit = wait.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ' '));
    ["s.", "ms", "s ", "sec"]
        .iter()
        .any(|second| unit.starts_with(second))
        || unit == "s"
}

/// Words of an agent that found another way after a refused tool call.
const OTHER_WAYS: [&str; 7] = [
    "instead",
    "so i ",
    "worked around",
    "workaround",
    "another way",
    "without it",
    "alternative",
];

/// A refused tool call is an obstacle if the turn ended for it: the agent says nothing else, or asks
/// for the permission and names no other way.
fn denial(response: &AgentResponse, text: &str) -> Option<Obstacle> {
    let denial = response.denials.last()?;
    let lower = text.to_lowercase();
    let mentions = [
        "permission",
        "approv",
        "allow",
        "grant",
        "denied",
        "not authorized",
    ]
    .iter()
    .any(|word| lower.contains(word));
    let found_another_way = OTHER_WAYS.iter().any(|words| lower.contains(words));
    let is_about_it = mentions && !found_another_way && text.chars().count() <= 3 * LONGEST_MESSAGE;
    let ended = text.is_empty() || is_about_it;
    ended.then(|| {
        let target = denial.target.as_deref().unwrap_or_default();
        obstacle(
            ObstacleKind::Permission,
            format!("{} was refused: {target}", denial.tool).trim_end_matches([':', ' ']),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent_loop::response::{Denial, ProgramError};

    fn kind(response: &AgentResponse) -> Option<ObstacleKind> {
        let message = Message::read(&response.last_message, None);
        read(response, &message).map(|obstacle| obstacle.kind)
    }

    fn of_message(message: &str) -> Option<ObstacleKind> {
        kind(&AgentResponse {
            last_message: message.to_owned(),
            ..AgentResponse::default()
        })
    }

    #[test]
    fn messages_of_the_program_itself_are_obstacles() {
        for (message, expected) in [
            (
                "Claude AI usage limit reached|1700000000",
                ObstacleKind::Quota,
            ),
            (
                "I began.\n\nClaude AI usage limit reached|1700000000",
                ObstacleKind::Quota,
            ),
            (
                "You've hit your usage limit. Upgrade to Pro or try again in 3 days.",
                ObstacleKind::Quota,
            ),
            ("You’ve hit your limit · resets 3am", ObstacleKind::Quota),
            ("5-hour limit reached ∙ resets 3pm", ObstacleKind::Quota),
            (
                "Invalid API key · Please run /login",
                ObstacleKind::Authentication,
            ),
            ("Credit balance is too low", ObstacleKind::Quota),
            (
                "API Error: 429 {\"type\":\"rate_limit_error\"}",
                ObstacleKind::Quota,
            ),
            ("429 Too Many Requests", ObstacleKind::Quota),
            (
                "API Error: 401 authentication_error",
                ObstacleKind::Authentication,
            ),
            (
                "exceeded your current quota, please check your plan",
                ObstacleKind::Quota,
            ),
            (
                "Claude requested permissions to write to a.rs",
                ObstacleKind::Permission,
            ),
            (
                "| Bash cargo test\nError: The user rejected permission to use this tool.",
                ObstacleKind::Permission,
            ),
            (
                "stream error: exceeded retry limit, last status: 429 Too Many Requests",
                ObstacleKind::Quota,
            ),
        ] {
            assert_eq!(of_message(message), Some(expected), "{message}");
        }
    }

    #[test]
    fn every_report_is_known_by_its_example() {
        assert!(REPORTS.len() > 60);
        for report in REPORTS.iter() {
            assert_eq!(kind_of(&report.example), Some(report.kind), "{report:?}");
            let lower = report.example.to_lowercase();
            let has_parts = report.parts.iter().all(|part| lower.contains(part));
            assert!(has_parts, "{report:?}");
        }
    }

    #[test]
    fn a_message_that_begins_with_an_obstacle_is_one_whatever_follows() {
        for message in [
            "You've hit your usage limit. Switch to another model now, or try again at 3:00 PM.",
            "You've hit your usage limit. To get more access now, send a request to your admin or \
             try again at 3:00 PM.",
            "You’ve hit your usage limit for this model. When it resets, I return to my task.",
            "You hit your spend cap set in your workspace. If more is needed, ask now.",
            "Weekly limit reached. The tests are updated when it ends.",
        ] {
            assert_eq!(of_message(message), Some(ObstacleKind::Quota), "{message}");
            let logged = format!("ERROR: {message}");
            assert_eq!(of_message(&logged), Some(ObstacleKind::Quota), "{logged}");
            let error = ProgramError {
                kind: ProgramErrorKind::Other,
                code: None,
                message: message.to_owned(),
            };
            let reported = AgentResponse {
                program_error: Some(error),
                ..AgentResponse::default()
            };
            assert_eq!(kind(&reported), Some(ObstacleKind::Quota), "{message}");
        }
        for message in [
            "Rate limit exceeded is now returned as 429 by the client.",
            "Not logged in users now see the form.",
            "Rate limit reached. Please try again in 2s.",
        ] {
            assert_eq!(of_message(message), None, "{message}");
        }
    }

    #[test]
    fn prose_about_limits_and_failures_that_pass_are_none() {
        for message in [
            "",
            "I fixed the rate limit exceeded error in the client.",
            "Added a test for 429 Too Many Requests.",
            "The client now retries when the usage limit reached message comes.",
            "The login page says invalid API key when the key is wrong.",
            "API Error: 529 overloaded_error",
            "API Error: 500 Internal server error",
            "Request timed out.",
            "Rate limit reached for gpt-5. Please try again in 1.225s.",
            "429 Too Many Requests, try again in 20 seconds",
            "All tasks are complete.",
            "Which API key should I use?",
            "I ran it and got:\nError: invalid API key",
        ] {
            assert_eq!(of_message(message), None, "{message}");
        }
        let long = format!("{} rate limit exceeded", "word ".repeat(100));
        assert_eq!(of_message(&long), None);
    }

    #[test]
    fn fields_of_the_program_are_obstacles() {
        let with = |kind, message: &str| AgentResponse {
            program_error: Some(ProgramError {
                kind,
                code: None,
                message: message.to_owned(),
            }),
            ..AgentResponse::default()
        };
        assert_eq!(
            kind(&with(ProgramErrorKind::Quota, "")),
            Some(ObstacleKind::Quota)
        );
        assert_eq!(
            kind(&with(ProgramErrorKind::Authentication, "no")),
            Some(ObstacleKind::Authentication)
        );
        assert_eq!(
            kind(&with(ProgramErrorKind::RunLimit, "usage limit reached")),
            None
        );
        assert_eq!(
            kind(&with(
                ProgramErrorKind::Other,
                "you have hit your usage limit"
            )),
            Some(ObstacleKind::Quota)
        );
        assert_eq!(
            kind(&with(ProgramErrorKind::Other, "stream error: timeout")),
            None
        );
    }

    #[test]
    fn a_denial_is_an_obstacle_only_if_the_turn_ended_for_it() {
        let with = |message: &str| AgentResponse {
            last_message: message.to_owned(),
            denials: vec![Denial {
                tool: "Bash".to_owned(),
                target: Some("rm -rf build".to_owned()),
            }],
            ..AgentResponse::default()
        };
        assert_eq!(kind(&with("")), Some(ObstacleKind::Permission));
        assert_eq!(
            kind(&with("I need permission to run the command.")),
            Some(ObstacleKind::Permission)
        );
        assert_eq!(
            kind(&with(
                "I deleted the files one by one. All tasks are complete."
            )),
            None
        );
    }
}
