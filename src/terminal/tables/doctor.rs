//! The report of `conclave doctor`: plain data, which is also its JSON, and its screen: one line
//! for each check, with its fix beneath.

use std::iter;
use std::time::Duration;

use serde::Serialize;

use crate::domain::cost::money::{Cost, MicroUsd};
use crate::terminal::document::{self, Fact, Line, Part};
use crate::terminal::output::format::seconds;
use crate::terminal::output::style::{Paint, Tone};

/// All checks and trial calls.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DoctorReport {
    #[cfg_attr(test, schemars(extend("const" = "1.0")))]
    pub schema_version: &'static str,
    /// True if a question asked now would find a model; decides the exit code.
    pub can_answer: bool,
    pub checks: Vec<Check>,
    /// The calls that were made; empty without `--deep`.
    pub trials: Vec<TrialCall>,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Check {
    /// Stays the same between versions: `home`, `config`, `provider.anthropic`.
    pub id: String,
    /// For display: `Anthropic`.
    pub subject: String,
    pub status: CheckStatus,
    pub message: String,
    /// The fix.
    pub fix: Option<String>,
}

/// The result of a check, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    Ok,
    /// Neither good nor bad: something optional is absent.
    Note,
    Warning,
    Error,
}

/// One small call that tests whether a model answers.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TrialCall {
    pub provider: String,
    pub name: String,
    pub model: String,
    /// The server accepted the call; the text of the answer does not matter.
    pub answered: bool,
    pub latency_ms: u64,
    /// In dollars, as far as known.
    #[cfg_attr(test, schemars(range(min = 0)))]
    pub cost_usd: f64,
    /// The cost may be higher.
    pub cost_is_lower_bound: bool,
    /// The reply, or the error.
    pub message: String,
}

impl Check {
    /// An empty fix is none.
    pub fn new(status: CheckStatus, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            id: String::new(),
            subject: String::new(),
            status,
            message: message.into(),
            fix: Some(fix.into()).filter(|fix| !fix.is_empty()),
        }
    }

    #[must_use]
    pub fn of(self, id: impl Into<String>, subject: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            subject: subject.into(),
            ..self
        }
    }
}

impl TrialCall {
    fn check(&self) -> Check {
        let status = if self.answered {
            CheckStatus::Ok
        } else {
            CheckStatus::Error
        };
        let time = seconds(Duration::from_millis(self.latency_ms));
        let cost = Cost {
            known: MicroUsd::from_usd(self.cost_usd).unwrap_or_default(),
            lower_bound: self.cost_is_lower_bound,
            by_plan: false,
        };
        let message = format!("{}: {} ({time}, {cost:.6})", self.model, self.message);
        Check::new(status, message, "").of(&self.provider, &self.name)
    }
}

/// `None` does not wrap.
pub fn screen(report: &DoctorReport, width: Option<usize>, paint: Paint) -> String {
    let trials = report.trials.iter().map(TrialCall::check);
    let checks: Vec<Check> = report.checks.iter().cloned().chain(trials).collect();
    let verdict = if report.can_answer {
        Line::toned(Tone::Good, "Ready to answer.")
    } else {
        Line::toned(Tone::Bad, "No model can answer now.")
    };
    let parts = [check_facts(&checks), Part::Paragraph(verdict)];
    document::screen(&parts, width, paint)
}

pub fn check_lines(checks: &[Check], width: Option<usize>, paint: Paint) -> String {
    document::screen(&[check_facts(checks)], width, paint)
}

fn check_facts(checks: &[Check]) -> Part {
    let facts = checks.iter().map(|check| {
        let (mark, words) = match check.status {
            CheckStatus::Ok => (Line::toned(Tone::Good, "✓"), Tone::Plain),
            CheckStatus::Note => (Line::toned(Tone::Quiet, "·"), Tone::Quiet),
            CheckStatus::Warning => (Line::toned(Tone::Warning, "!"), Tone::Plain),
            CheckStatus::Error => (Line::toned(Tone::Bad, "✗"), Tone::Plain),
        };
        let subject = Line::toned(words, &check.subject);
        let fix = check.fix.iter().map(|fix| {
            let arrow = Line::toned(Tone::Key, "→").and(" ", []);
            arrow.then(fix.clone())
        });
        Fact {
            label: mark.and(" ", []).then(subject),
            values: iter::once(Line::toned(words, &check.message))
                .chain(fix)
                .collect(),
            most_lines: None,
        }
    });
    Part::Facts(facts.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use console::measure_text_width;

    #[test]
    fn schema_is_published() {
        crate::schema::check::<DoctorReport>("doctor", "What `conclave doctor --json` prints");
    }

    #[test]
    fn every_check_has_a_line_with_its_fix_beneath() {
        let checks = vec![
            Check::new(CheckStatus::Ok, "/home/u/.llm-conclave", "").of("home", "home"),
            Check::new(
                CheckStatus::Error,
                "the key was refused",
                "check `XAI_API_KEY`",
            )
            .of("provider.xai", "xAI"),
            Check::new(CheckStatus::Note, "none for Mistral", "").of("keys", "keys"),
        ];
        let trial = TrialCall {
            provider: "openai".into(),
            name: "OpenAI".into(),
            model: "openai:gpt-6.1-sol".into(),
            answered: true,
            latency_ms: 1_234,
            cost_usd: 0.0021,
            cost_is_lower_bound: false,
            message: "answered".into(),
        };
        let report = DoctorReport {
            schema_version: "1.0",
            can_answer: true,
            checks,
            trials: vec![trial],
        };
        assert_eq!(
            screen(&report, None, Paint::PLAIN),
            "\
✓ home    /home/u/.llm-conclave
✗ xAI     the key was refused
          → check `XAI_API_KEY`
· keys    none for Mistral
✓ OpenAI  openai:gpt-6.1-sol: answered (1.2s, $0.002100)

Ready to answer.
"
        );
        for width in [12, 20, 30, 40, 80] {
            let narrow = screen(&report, Some(width), Paint::PLAIN);
            let longest_word = 24;
            assert!(
                narrow
                    .lines()
                    .all(|line| measure_text_width(line) <= width.max(longest_word + 10)),
                "{width}: {narrow}"
            );
        }
    }
}
