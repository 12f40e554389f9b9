//! Reasons why the agent could not work at all, in the agent program's own words: never prose that
//! speaks of such things.

use std::sync::LazyLock;

use super::LONGEST_UNMASKED;
use crate::agent_loop::response::{AgentResponse, ProgramErrorKind};
use crate::agent_loop::text::{Message, TABLES, WordRow, has_word, rows};
use crate::stopping::exit_check::evidence::{Obstacle, ObstacleKind};
use crate::text::clean::shortened_unmasked;
use crate::text::pattern::Pattern;

/// A longer message is the agent's, not the program's.
const LONGEST_MESSAGE: usize = 300;
/// The same, of a message that shows the JSON of the service, and of a program's whole log.
const LONGEST_WITH_JSON: usize = 800;
const LONGEST_LOG: usize = 800;

/// What the programs report; see the file.
static REPORTS: LazyLock<Vec<WordRow<ObstacleKind>>> =
    LazyLock::new(|| rows(include_str!("obstacles.toml")));

/// How a program begins the report of a failure.
static FAILURE: Pattern = Pattern::new(r"(?i)^(?:api |stream |execution )?error");

pub(super) fn read(response: &AgentResponse, message: &Message) -> Option<Obstacle> {
    if let Some(error) = &response.program_error {
        let code = error.code.as_deref().unwrap_or_default();
        let words = Some(error.message.as_str()).filter(|words| !words.is_empty());
        let words = words.unwrap_or(code);
        let kind = match error.kind {
            ProgramErrorKind::Authentication => Some(ObstacleKind::Authentication),
            ProgramErrorKind::Quota => Some(ObstacleKind::Quota),
            ProgramErrorKind::Other => kind_of(words),
            ProgramErrorKind::RunLimit => None,
        };
        if let Some(kind) = kind {
            return Some(obstacle(kind, words));
        }
    }
    let text = message.text.trim();
    let kind = program_message(text);
    kind.map(|kind| obstacle(kind, text))
        .or_else(|| denial(response, text))
}

/// Returns whether a whole message is the program's own report of a failure, and not the agent's.
pub(super) fn is_program_failure(message: &Message) -> bool {
    let text = message.text.trim();
    is_program_text(text) && FAILURE.is_in(text)
}

fn obstacle(kind: ObstacleKind, text: &str) -> Obstacle {
    Obstacle {
        kind,
        message: shortened_unmasked(text, LONGEST_UNMASKED),
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
    // One of the last lines of a log of the program, in which the agent says nothing.
    let is_error = |line: &&str| {
        ["Error: ", "ERROR: ", "API Error: ", "litellm."]
            .iter()
            .any(|mark| line.starts_with(mark))
    };
    let error = text.lines().rev().take(3).find(is_error)?.trim();
    let is_short_log = text.chars().nth(LONGEST_LOG).is_none();
    let is_log = is_short_log && !has_word(text, TABLES.list("speakers"));
    // The JSON of the service has words of its own.
    let words = error.split('{').next().unwrap_or_default();
    (is_log && is_program_text(words)).then(|| kind_of(error))?
}

fn is_short(text: &str) -> bool {
    let has_json = text.contains("{\"");
    let longest = if has_json {
        LONGEST_WITH_JSON
    } else {
        LONGEST_MESSAGE
    };
    text.chars().nth(longest).is_none()
}

fn is_program_text(text: &str) -> bool {
    !text.is_empty() && is_short(text) && !text.contains("\n\n") && !is_of_agent(text)
}

fn is_of_agent(text: &str) -> bool {
    has_word(text, TABLES.list("speakers")) || has_word(text, TABLES.list("work"))
}

/// All of its parts occur.
fn describes(row: &WordRow<ObstacleKind>, lower: &str) -> bool {
    row.words.split(" … ").all(|part| lower.contains(part))
}

fn lower(text: &str) -> String {
    text.to_lowercase().replace('’', "'")
}

fn kind_of(text: &str) -> Option<ObstacleKind> {
    let lower = lower(text);
    if TABLES.list("transient").are_in(&lower) || waits_seconds(&lower) {
        return None;
    }
    let found = REPORTS.iter().find(|row| describes(row, &lower));
    found.map(|row| row.means)
}

/// Words to the user are not a sentence of an agent.
fn kind_of_beginning(text: &str) -> Option<ObstacleKind> {
    static MARKS: Pattern = Pattern::new(r"^(?:(?:api |stream )?error:\s*)+");
    if !is_short(text) {
        return None;
    }
    let lower = lower(text);
    let start = MARKS.replace_in(&lower, "");
    let sentence = start.split(['.', '\n']).next().unwrap_or_default();
    let is_to_user = sentence.starts_with("you ") || sentence.starts_with("you'");
    if !is_to_user && is_of_agent(sentence) || waits_seconds(&lower) {
        return None;
    }
    let begins = |row: &&WordRow<ObstacleKind>| {
        let first = row.words.split(" … ").next();
        first.is_some_and(|part| sentence.starts_with(part)) && describes(row, sentence)
    };
    REPORTS.iter().find(begins).map(|row| row.means)
}

/// `try again in 1.2s`.
fn waits_seconds(lower: &str) -> bool {
    static SECONDS: Pattern = Pattern::new(r"(?:try again|retry) in [\d. ]*(?:s\.|s |s$|ms|sec)");
    SECONDS.is_in(lower)
}

/// A refused tool call is an obstacle if the turn ended for it: the agent says nothing else, or
/// asks for the permission and names no other way.
fn denial(response: &AgentResponse, text: &str) -> Option<Obstacle> {
    let denial = response.denials.last()?;
    let lower = text.to_lowercase();
    let is_about_it = TABLES.list("denials").are_in(&lower)
        && !TABLES.list("other_ways").are_in(&lower)
        && text.chars().nth(3 * LONGEST_MESSAGE).is_none();
    (text.is_empty() || is_about_it).then(|| {
        let target = denial.target.as_deref().unwrap_or_default();
        let message = format!("{} was refused: {target}", denial.tool);
        obstacle(
            ObstacleKind::Permission,
            message.trim_end_matches([':', ' ']),
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
        for (expected, messages) in [
            (
                ObstacleKind::Quota,
                &[
                    "Claude AI usage limit reached|1700000000",
                    "I began.\n\nClaude AI usage limit reached|1700000000",
                    "You’ve hit your limit · resets 3am",
                    "5-hour limit reached ∙ resets 3pm",
                    "Credit balance is too low",
                    "API Error: 429 {\"type\":\"rate_limit_error\"}",
                    "429 Too Many Requests",
                    "exceeded your current quota, please check your plan",
                    "stream error: exceeded retry limit, last status: 429 Too Many Requests",
                ][..],
            ),
            (
                ObstacleKind::Authentication,
                &[
                    "Invalid API key · Please run /login",
                    "API Error: 401 authentication_error",
                    "Aider v0.86.1\nMain model: gpt-5\nGit repo: .git with 88 files\n\
                     litellm.AuthenticationError: AuthenticationError: OpenAIException - \
                     {\"error\":{\"message\":\"No auth credentials found\",\"code\":401}}\n\
                     The API provider is not able to authenticate you. Check your API key.",
                ],
            ),
            (
                ObstacleKind::Permission,
                &[
                    "Claude requested permissions to write to a.rs",
                    "| Bash cargo test\nError: The user rejected permission to use this tool.",
                ],
            ),
        ] {
            for message in messages {
                assert_eq!(of_message(message), Some(expected), "{message}");
            }
        }
    }

    #[test]
    fn every_report_is_known_by_its_example() {
        assert!(REPORTS.len() > 60);
        for report in REPORTS.iter() {
            assert_eq!(kind_of(&report.example), Some(report.means), "{report:?}");
            assert!(describes(report, &lower(&report.example)), "{report:?}");
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
            let reported = reporting(ProgramErrorKind::Other, message);
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
            "Retries added.\nError: 429 Too Many Requests is handled now.",
        ] {
            assert_eq!(of_message(message), None, "{message}");
        }
        let long = format!("{} rate limit exceeded", "word ".repeat(100));
        assert_eq!(of_message(&long), None);
    }

    /// Returns a response with an error of the program itself.
    fn reporting(kind: ProgramErrorKind, message: &str) -> AgentResponse {
        AgentResponse {
            program_error: Some(ProgramError {
                kind,
                code: None,
                message: message.to_owned(),
            }),
            ..AgentResponse::default()
        }
    }

    #[test]
    fn fields_of_the_program_are_obstacles() {
        use ProgramErrorKind::{Authentication, Other, Quota, RunLimit};
        for (error, message, expected) in [
            (Quota, "", Some(ObstacleKind::Quota)),
            (Authentication, "no", Some(ObstacleKind::Authentication)),
            (RunLimit, "usage limit reached", None),
            (Other, "stream error: timeout", None),
        ] {
            assert_eq!(kind(&reporting(error, message)), expected, "{message}");
        }
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
        for (message, expected) in [
            ("", Some(ObstacleKind::Permission)),
            (
                "I need permission to run the command.",
                Some(ObstacleKind::Permission),
            ),
            (
                "The permission to use Bash was denied, so I have not run the migration.",
                Some(ObstacleKind::Permission),
            ),
            (
                "I couldn't write there: edits were not permitted, so I used another folder.",
                None,
            ),
            (
                "I deleted the files one by one. All tasks are complete.",
                None,
            ),
        ] {
            assert_eq!(kind(&with(message)), expected, "{message}");
        }
    }
}
