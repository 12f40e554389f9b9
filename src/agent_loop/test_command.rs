//! The tests of the project: a command of the shell, its result, and the end of its output.

use std::io;
use std::process::Command;
use std::time::Duration;

use crate::domain::time::Timestamp;
use crate::stopping::exit_check::evidence::{TestResult, TestRun};
use crate::text::clean::{clean, shortened, token_at};

use crate::files::process::{self, IsInterrupted, OutputPart, ProcessEnd};

/// The time limit on a command without one of its own.
pub const TIME_LIMIT: Duration = Duration::from_secs(600);

/// The lines of the output that are kept, and their characters.
const LINES: usize = 20;
const LINE_LENGTH: usize = 300;

/// The end of the output that stays in memory.
const OUTPUT: OutputPart = OutputPart::Last(64 * 1024);

const TIMED_OUT: &str = "⚠ The tests were ended at their time limit, and count as failed";
const UNSTARTABLE: &str =
    "⚠ The command of the tests was not found or cannot be run; the tests count as failed";

/// The result of the tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedTests {
    /// Without the last lines, which are those of [`Self::output`] once its secrets are masked.
    pub result: TestResult,
    /// What a person has to know of the way they ended.
    pub warning: Option<&'static str>,
    /// The end of what it printed, as a terminal would show it.
    pub output: String,
}

/// The reason why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum TestError {
    #[error("the tests cannot be run: `sh` cannot be started")]
    Shell(#[source] io::Error),
    #[error("the tests were interrupted")]
    Interrupted,
}

/// `passed`, `failed`, or that of a command of the shell, whose success is theirs. It runs in the
/// current folder, and nothing that it writes goes anywhere else.
pub fn result(
    tests: &str,
    time_limit: Duration,
    now: &dyn Fn() -> Timestamp,
    is_interrupted: IsInterrupted<'_>,
) -> Result<FinishedTests, TestError> {
    if matches!(tests, "passed" | "failed") {
        let passed = tests == "passed";
        return Ok(FinishedTests {
            result: TestResult { passed, run: None },
            warning: None,
            output: String::new(),
        });
    }
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(tests);
    let began = now();
    let (end, output) =
        process::run_merged(shell, time_limit, OUTPUT, is_interrupted).map_err(TestError::Shell)?;
    let (passed, exit_status, warning) = match end {
        ProcessEnd::Interrupted => return Err(TestError::Interrupted),
        ProcessEnd::TimedOut => (false, None, Some(TIMED_OUT)),
        ProcessEnd::Exited(status) => match status.code() {
            // By these the shell says that it could not run a command.
            code @ Some(126 | 127) => (false, code, Some(UNSTARTABLE)),
            code => (status.success(), code, None),
        },
    };
    let run = TestRun {
        command: tests.to_owned(),
        exit_status,
        duration_ms: now().ms_since(began),
        last_lines: Vec::new(),
    };
    Ok(FinishedTests {
        output: visible(&output.bytes, output.is_cut),
        result: TestResult {
            passed,
            run: Some(run),
        },
        warning,
    })
}

/// As a terminal would show them, without styles.
fn visible(output: &[u8], is_cut: bool) -> String {
    let text = String::from_utf8_lossy(output);
    // The first line of a cut output is a part of one, and so is the first word of its only line.
    let text = match text.split_once('\n') {
        Some((_, rest)) if is_cut => rest,
        None if is_cut => text.get(token_at(&text, 0).end..).unwrap_or_default(),
        Some(_) | None => &text,
    };
    let lines: Vec<String> = text
        .lines()
        .map(visible_line)
        .filter(|line| !line.is_empty())
        .collect();
    lines.join("\n")
}

/// Drops what a progress bar overwrote.
fn visible_line(line: &str) -> String {
    let line = line.trim_end().rsplit('\r').next().unwrap_or_default();
    let line = clean(&console::strip_ansi_codes(line));
    line.trim_end().to_owned()
}

/// Secrets have to be masked in the output before: a cut can leave a piece of one that no rule
/// recognises.
pub fn last_lines(output: &str) -> Vec<String> {
    let lines: Vec<&str> = output.lines().collect();
    let first = lines.len().saturating_sub(LINES);
    let last = lines.iter().skip(first);
    last.map(|line| shortened(line, LINE_LENGTH)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn not_interrupted() -> IsInterrupted<'static> {
        &|| false
    }

    fn finished(command: &str) -> FinishedTests {
        result(command, TIME_LIMIT, &|| Timestamp(0), not_interrupted()).unwrap()
    }

    fn last_lines_of(command: &str) -> Vec<String> {
        last_lines(&finished(command).output)
    }

    #[test]
    fn known_results_run_nothing() {
        for (text, passed) in [("passed", true), ("failed", false)] {
            let finished = finished(text);
            assert_eq!(finished.result, TestResult { passed, run: None });
        }
    }

    #[test]
    fn success_of_the_command_is_that_of_the_tests() {
        let passing = finished("true").result;
        assert!(passing.passed);
        assert_eq!(passing.run.unwrap().exit_status, Some(0));
        let failing = finished("echo 2 failed; exit 101");
        assert!(!failing.result.passed);
        assert_eq!(failing.output, "2 failed");
        let run = failing.result.run.unwrap();
        assert_eq!(run.exit_status, Some(101));
        assert_eq!(run.command, "echo 2 failed; exit 101");
    }

    #[test]
    fn command_that_a_signal_ends_has_failed_without_a_status() {
        let result = finished("kill -SEGV $$").result;
        assert!(!result.passed);
        assert_eq!(result.run.unwrap().exit_status, None);
    }

    #[test]
    fn command_that_cannot_be_found_is_said_to_be_so() {
        let finished = finished("no-such-program-anywhere --all");
        assert_eq!(finished.warning, Some(UNSTARTABLE));
        assert!(!finished.result.passed);
    }

    #[test]
    fn last_lines_of_both_outputs_are_kept() {
        let lines = last_lines_of("for i in $(seq 100); do echo line $i >&2; done; echo; echo end");
        assert_eq!(lines.len(), LINES);
        assert_eq!(lines[0], "line 82");
        assert_eq!(lines[LINES - 1], "end");
    }

    #[test]
    fn lines_look_as_on_a_terminal_without_styles() {
        let lines = last_lines_of(r"printf '10%%\r50%%\r100%%\n\033[1;31mred\033[0m \302\n'");
        assert_eq!(lines, ["100%", "red \u{fffd}"]);
    }

    #[test]
    fn endless_lines_are_cut() {
        let lines = last_lines_of("head -c 300000 /dev/zero | tr '\\0' x; echo; echo end");
        assert_eq!(lines, ["end"], "the long line has no beginning");
        let lines = last_lines_of("head -c 1000 /dev/zero | tr '\\0' x");
        assert_eq!(lines[0].chars().count(), LINE_LENGTH + 1);
    }

    #[test]
    fn command_is_killed_at_its_time_limit() {
        let command = "echo begun; exec sleep 60";
        let now = &|| Timestamp(0);
        let finished = result(command, Duration::ZERO, now, not_interrupted()).unwrap();
        assert_eq!(finished.warning, Some(TIMED_OUT));
        assert!(!finished.result.passed);
        assert_eq!(finished.result.run.unwrap().exit_status, None);
    }

    #[test]
    fn interrupted_command_has_no_result() {
        let error = result("sleep 60", TIME_LIMIT, &|| Timestamp(0), &|| true).unwrap_err();
        assert_eq!(error.to_string(), "the tests were interrupted");
    }
}
