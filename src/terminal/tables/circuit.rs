//! The report of `conclave circuit`: plain data, which is also its JSON, and its screen.

use jiff::tz::TimeZone;
use serde::Serialize;

use super::doctor::{Check, CheckStatus, check_lines};
use crate::domain::time::Timestamp;
use crate::stopping::exit_check::breaker::BreakerState;
use crate::stopping::exit_check::run::LoopRunId;
use crate::stopping::exit_check::run_state::LoopRun;
use crate::terminal::output::format::{local_moment, span};
use crate::terminal::output::style::Paint;

/// The circuit of one run at one moment: `open` decides the exit code of `conclave circuit status`,
/// 12.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CircuitReport {
    #[cfg_attr(test, schemars(extend("const" = "1.0")))]
    pub schema_version: &'static str,
    /// `None` before the first turn.
    pub run: Option<LoopRunId>,
    #[serde(flatten)]
    pub circuit: BreakerState,
}

pub fn state_of(run: Option<&LoopRun>, now: Timestamp) -> BreakerState {
    run.map_or_else(BreakerState::default, |run| run.breaker.state(now))
}

pub(super) fn check(circuit: &BreakerState, now: Timestamp, zone: &TimeZone) -> Check {
    let at = |at: Timestamp| local_moment(at, now, zone);
    let (status, message, fix) = match circuit {
        BreakerState::Closed {
            no_progress_turns,
            same_error_turns,
            ..
        } => (
            CheckStatus::Ok,
            format!(
                "closed; turns in a row: {no_progress_turns} without progress, {same_error_turns} \
                 with the same error"
            ),
            String::new(),
        ),
        BreakerState::Open { since, until, why } => {
            let (since, end, left) = (at(*since), at(*until), span(until.since(now)));
            let fix = format!(
                "see what happened with `conclave exit-check history`; wait until {end}, in {left}, \
                 then the next turn is a probe; or close the circuit with `conclave circuit reset`"
            );
            (
                CheckStatus::Error,
                format!("open since {since}: {why}"),
                fix,
            )
        }
        BreakerState::HalfOpen {
            since,
            probe_until,
            why,
        } => {
            let fix = match probe_until {
                None => {
                    "the next turn is a probe: with progress the circuit closes, without progress \
                     it opens again"
                        .to_owned()
                }
                Some(until) => format!(
                    "a probe is out until {}; record its outcome with `conclave circuit record \
                     --progress` or `--no-progress`",
                    at(*until)
                ),
            };
            let message = format!("half-open since {}: {why}", at(*since));
            (CheckStatus::Warning, message, fix)
        }
    };
    Check::new(status, message, fix).of("circuit", "circuit")
}

/// `None` does not wrap.
pub fn screen(
    report: &CircuitReport,
    now: Timestamp,
    zone: &TimeZone,
    width: Option<usize>,
    paint: Paint,
) -> String {
    let run = report
        .run
        .as_ref()
        .map_or_else(|| "no turn yet".to_owned(), ToString::to_string);
    let checks = [
        check(&report.circuit, now, zone),
        Check::new(CheckStatus::Note, run, "").of("run", "run"),
    ];
    check_lines(&checks, width, paint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stopping::exit_check::breaker::TripReason;

    #[test]
    fn schema_is_published() {
        let title =
            "What `conclave circuit status --json` prints; `record` and `reset` print it too";
        crate::schema::check::<CircuitReport>("circuit", title);
    }

    const HALF_PAST_TEN: Timestamp = Timestamp(1_795_257_000_000);

    fn at(minutes: i64) -> Timestamp {
        Timestamp(HALF_PAST_TEN.0 + minutes * 60_000)
    }

    fn shown(state: Option<BreakerState>) -> String {
        let report = CircuitReport {
            schema_version: "1.0",
            run: state.as_ref().map(|_| LoopRunId("build".into())),
            circuit: state.unwrap_or_else(|| state_of(None, at(0))),
        };
        screen(&report, at(0), &TimeZone::UTC, None, Paint::PLAIN)
    }

    #[test]
    fn a_closed_circuit_shows_what_it_counts() {
        let state = BreakerState::Closed {
            since: Some(at(-5)),
            no_progress_turns: 2,
            same_error_turns: 1,
        };
        assert_eq!(
            shown(Some(state)),
            "✓ circuit  closed; turns in a row: 2 without progress, 1 with the same error\n\
             · run      build\n"
        );
        assert_eq!(
            shown(None),
            "✓ circuit  closed; turns in a row: 0 without progress, 0 with the same error\n\
             · run      no turn yet\n"
        );
    }

    #[test]
    fn an_open_circuit_says_why_and_what_to_do() {
        let state = BreakerState::Open {
            since: at(-2),
            until: at(28),
            why: TripReason::NoProgress { turns: 3 },
        };
        assert_eq!(
            shown(Some(state)),
            "✗ circuit  open since 10:28: 3 turns in a row made no progress\n           \
             → see what happened with `conclave exit-check history`; wait until 10:58, in 28 min, \
             then the next turn is a probe; or close the circuit with `conclave circuit reset`\n\
             · run      build\n"
        );
    }

    #[test]
    fn a_half_open_circuit_says_what_the_next_turn_does() {
        let state = |probe_until| BreakerState::HalfOpen {
            since: at(-1_000),
            probe_until,
            why: TripReason::ProbeFailed,
        };
        let free = shown(Some(state(None)));
        assert!(
            free.contains("half-open since 2026-11-20 17:50: the probe turn made no progress"),
            "{free}"
        );
        assert!(
            free.contains("→ the next turn is a probe: with progress the circuit closes"),
            "{free}"
        );
        let taken = shown(Some(state(Some(at(60)))));
        assert!(
            taken.contains("→ a probe is out until 11:30; record its"),
            "{taken}"
        );
    }
}
