//! The report of `conclave doctor`: plain data, which is also its JSON, and its screen: one line
//! for each check, with its fix beneath.

use console::measure_text_width;
use serde::Serialize;

use crate::terminal::markdown::escape::one_line;
use crate::terminal::output::format::seconds;
use crate::terminal::output::style::Paint;

/// All checks and trial calls.
#[derive(Clone, Debug, Serialize)]
pub struct DoctorReport {
    pub schema_version: &'static str,
    /// True if a question asked now would find a model.
    pub can_answer: bool,
    pub checks: Vec<Check>,
    /// The calls that were made; empty without `--deep`.
    pub trials: Vec<TrialCall>,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Stable: `home`, `config`, `provider.anthropic`.
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
pub struct TrialCall {
    pub provider: String,
    pub name: String,
    pub model: String,
    /// The server accepted the call; the text of the answer does not matter.
    pub answered: bool,
    pub latency_ms: u64,
    /// In dollars, as far as known.
    pub cost_usd: f64,
    /// The cost may be higher.
    pub cost_is_lower_bound: bool,
    /// The reply, or the error.
    pub message: String,
}

impl Check {
    pub fn new(
        id: impl Into<String>,
        subject: impl Into<String>,
        status: CheckStatus,
        message: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            subject: subject.into(),
            status,
            message: message.into(),
            fix: None,
        }
    }

    /// Adds the fix.
    #[must_use]
    pub fn fix(self, fix: impl Into<String>) -> Self {
        Self {
            fix: Some(fix.into()),
            ..self
        }
    }
}

/// Returns the screen for a terminal of this width; `None` does not wrap.
pub fn screen(report: &DoctorReport, width: Option<usize>, paint: Paint) -> String {
    let names = report
        .checks
        .iter()
        .map(|check| &check.subject)
        .chain(report.trials.iter().map(|trial| &trial.name));
    let widest = names
        .map(|name| measure_text_width(name))
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    let mut line = |status: CheckStatus, subject: &str, message: &str, fix: Option<&str>| {
        let mark = match status {
            CheckStatus::Ok => paint.green("✓"),
            CheckStatus::Note => paint.dim("·"),
            CheckStatus::Warning => paint.yellow("!"),
            CheckStatus::Error => paint.red("✗"),
        };
        let gap = " ".repeat(widest.saturating_sub(measure_text_width(subject)) + 2);
        let under = if width.is_none_or(|width| widest + 4 + 24 <= width) {
            widest + 4
        } else {
            4
        };
        let quiet = |words: &str| {
            if status == CheckStatus::Note {
                paint.dim(words)
            } else {
                words.to_owned()
            }
        };
        // Only the message is filled: the gap before it is no place to break at.
        let head = format!("{mark} {}{gap}", quiet(subject));
        text.push_str(&filled(&head, &quiet(&one_line(message)), under, width));
        if let Some(fix) = fix {
            let head = format!("{}{} ", " ".repeat(under), paint.cyan("→"));
            text.push_str(&filled(&head, &one_line(fix), under + 2, width));
        }
    };
    for check in &report.checks {
        line(
            check.status,
            &check.subject,
            &check.message,
            check.fix.as_deref(),
        );
    }
    for trial in &report.trials {
        let status = if trial.answered {
            CheckStatus::Ok
        } else {
            CheckStatus::Error
        };
        let time = seconds(std::time::Duration::from_millis(trial.latency_ms));
        let about = if trial.cost_is_lower_bound {
            "≥ "
        } else {
            ""
        };
        line(
            status,
            &trial.name,
            &format!(
                "{}: {} ({time}, {about}${:.6})",
                trial.model, trial.message, trial.cost_usd
            ),
            None,
        );
    }
    text.push('\n');
    let verdict = if report.can_answer {
        paint.green("Ready to answer.")
    } else {
        paint.red("No model can answer now.")
    };
    text.push_str(&verdict);
    text.push('\n');
    text
}

/// Returns a head and a message after it, continued `under` columns from the left.
fn filled(head: &str, message: &str, under: usize, width: Option<usize>) -> String {
    let Some(width) = width else {
        return format!("{head}{message}\n");
    };
    let indent = " ".repeat(under);
    let options = textwrap::Options::new(width.max(under + 8))
        .initial_indent(head)
        .subsequent_indent(&indent);
    textwrap::fill(
        message,
        options.word_splitter(textwrap::WordSplitter::NoHyphenation),
    ) + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_check_has_a_line_with_its_fix_beneath() {
        let checks = vec![
            Check::new("home", "home", CheckStatus::Ok, "/home/u/.llm-conclave"),
            Check::new(
                "provider.xai",
                "xAI",
                CheckStatus::Error,
                "the key was refused",
            )
            .fix("check `XAI_API_KEY`"),
            Check::new("keys", "keys", CheckStatus::Note, "none for Mistral"),
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
            screen(&report, None, Paint::Plain),
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
            let narrow = screen(&report, Some(width), Paint::Plain);
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
