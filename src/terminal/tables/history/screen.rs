//! The list of past consultations on a screen.
//!
//! Columns where they fit, fewer of them on a terminal of 80 columns; on a narrow one a few lines
//! for each consultation. In a pipe, each is one line with everything in full, whose columns are
//! always the same.

use console::truncate_str;
use jiff::tz::TimeZone;

use crate::domain::outcome::AnswerOutcome;
use crate::domain::time::Timestamp;

use super::{confidence, cost, painted};
use crate::domain::history::{History, HistoryRow, RunStatus};
use crate::terminal::output::format::{LOCAL_QUALITY, count};
use crate::terminal::output::style::Paint;
use crate::terminal::output::wrap::fit;
use crate::terminal::tables::columns::columns;
use crate::text::clean::one_line;

/// From this width on every column fits beside a question.
const WIDE: usize = 100;

/// Below this width too little of a question fits beside other columns.
const NARROW: usize = 64;

/// A longer piece without a blank is cut where the line ends.
const LONGEST_WORD: usize = 24;

/// Marks a consultation of the embedded model; [`below`] explains it.
const LOCAL: &str = "local";

/// Marks a question that follows up an earlier consultation; [`below`] explains it.
const FOLLOW_UP: &str = "↳";

/// Returns the screen for a terminal of this width; `None` does not wrap.
pub fn screen(
    history: &History,
    now: Timestamp,
    zone: &TimeZone,
    width: Option<usize>,
    paint: Paint,
) -> String {
    let entries = history.consultations.as_slice();
    let Some(width) = width else {
        let rows: Vec<_> = entries.iter().map(plain).collect();
        let lines = columns(&rows, ..0).into_iter();
        return lines.map(|line| line + "\n").collect();
    };
    if width < NARROW {
        return entries
            .iter()
            .map(|entry| block(entry, &age(entry.timestamp, now, zone), width, paint))
            .collect();
    }
    let is_wide = width >= WIDE;
    let (heads, figures): (&[&str], _) = if is_wide {
        (&["ID", "BEGAN", "STATE", "CONF", "COST", "QUESTION"], 3..5)
    } else {
        (&["ID", "BEGAN", "RESULT", "COST", "QUESTION"], 3..4)
    };
    let mut rows: Vec<Vec<String>> = vec![heads.iter().map(|head| paint.dim(head)).collect()];
    for entry in entries {
        let age = age(entry.timestamp, now, zone);
        let mut row = vec![paint.bold(&entry.short_id), paint.dim(&age)];
        if is_wide {
            row.push(status_words(entry, paint));
            row.push(confidence(entry).unwrap_or_default());
        } else {
            row.push(result(entry, paint));
        }
        row.push(cost(entry).unwrap_or_default());
        row.push(question(entry));
        rows.push(row);
    }
    let lines = columns(&rows, figures);
    lines
        .iter()
        .map(|line| cut(line, width - 1) + "\n")
        .collect()
}

/// Returns the hints beneath the list.
pub fn below(history: &History, width: usize) -> Vec<String> {
    let shown = history.consultations.len();
    let total = usize::try_from(history.total).unwrap_or(usize::MAX);
    let mut lines = Vec::new();
    if shown < total {
        let total = count(total, "consultation");
        lines.push(format!(
            "The newest {shown} of {total}; more with -n N or --all"
        ));
    }
    if let Some(entry) = history.consultations.iter().find(|entry| entry.resumable) {
        let id = &entry.short_id;
        lines.push(format!(
            "Resume an unfinished consultation: `conclave resume {id}`"
        ));
    }
    if history
        .consultations
        .iter()
        .any(|entry| entry.demonstration)
    {
        lines.push(format!("{LOCAL}: {LOCAL_QUALITY}"));
    }
    let mut entries = history.consultations.iter();
    if entries.any(|entry| entry.follow_up_of.is_some()) {
        lines.push(format!("{FOLLOW_UP} follows up an earlier consultation"));
    }
    lines.iter().map(|line| fit(line, Some(width))).collect()
}

/// `completed, wrong, local`: the state, the grade, and the mark of the embedded model.
fn status_words(entry: &HistoryRow, paint: Paint) -> String {
    words(entry, painted(entry.run_status, paint), paint).join(", ")
}

/// State and confidence in one cell: only a completed consultation has a confidence.
fn result(entry: &HistoryRow, paint: Paint) -> String {
    match confidence(entry) {
        Some(confidence) if entry.run_status == RunStatus::Completed => {
            words(entry, confidence, paint).join(" ")
        }
        Some(_) | None => status_words(entry, paint),
    }
}

fn words(entry: &HistoryRow, first: String, paint: Paint) -> Vec<String> {
    let outcome = entry
        .outcome
        .as_ref()
        .map(|grade| outcome_word(grade.outcome, paint));
    let local = entry.demonstration.then(|| LOCAL.to_owned());
    [Some(first), outcome, local]
        .into_iter()
        .flatten()
        .collect()
}

fn outcome_word(outcome: AnswerOutcome, paint: Paint) -> String {
    match outcome {
        AnswerOutcome::Right => paint.green(outcome.name()),
        AnswerOutcome::Wrong => paint.red(outcome.name()),
        AnswerOutcome::Mixed => paint.yellow(outcome.name()),
    }
}

/// A line for programs: id, time, state, grade, confidence, cost, question; `-` where there is
/// none.
fn plain(entry: &HistoryRow) -> Vec<String> {
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let quality = if entry.demonstration {
        format!(" ({LOCAL_QUALITY})")
    } else {
        String::new()
    };
    vec![
        entry.consultation_id.to_string(),
        entry.timestamp.to_string(),
        entry.run_status.name().to_owned(),
        or_none(
            entry
                .outcome
                .as_ref()
                .map(|grade| grade.outcome.name().to_owned()),
        ),
        or_none(confidence(entry)),
        or_none(cost(entry).map(|cost| cost.replace(' ', ""))),
        one_line(&entry.question) + &quality,
    ]
}

/// The question on one line, with the mark of a follow-up.
fn question(entry: &HistoryRow) -> String {
    let question = one_line(&entry.question);
    match entry.follow_up_of {
        Some(_) => format!("{FOLLOW_UP} {question}"),
        None => question,
    }
}

/// The lines of a narrow terminal, and an empty one.
fn block(entry: &HistoryRow, age: &str, width: usize, paint: Paint) -> String {
    let question = cut(&question(entry), width.saturating_sub(3));
    let facts: Vec<String> = [
        Some(status_words(entry, paint)),
        confidence(entry),
        cost(entry),
    ]
    .into_iter()
    .flatten()
    .collect();
    let facts = fit(&format!("  {}", facts.join(" · ")), Some(width));
    format!(
        "{}  {}\n  {question}\n{facts}\n\n",
        paint.bold(&entry.short_id),
        paint.dim(age)
    )
}

/// Cuts the text to a width after a word, or within a very long one, and marks the cut.
fn cut(text: &str, width: usize) -> String {
    let cut = truncate_str(text, width, "…");
    match cut.rsplit_once(' ') {
        Some((words, rest)) if cut.len() != text.len() && rest.chars().count() <= LONGEST_WORD => {
            words.trim_end().to_owned() + "…"
        }
        Some(_) | None => cut.into_owned(),
    }
}

/// `just now`, `3 min ago`, `5 h ago`, `2 days ago`; after a week the date in the user's time zone.
fn age(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let (minute, hour, day) = (60, 3_600, 86_400);
    match now.since(at).as_secs() {
        passed if passed < minute && at <= now => "just now".to_owned(),
        passed if (minute..hour).contains(&passed) => format!("{} min ago", passed / minute),
        passed if (hour..day).contains(&passed) => format!("{} h ago", passed / hour),
        passed if (day..7 * day).contains(&passed) => {
            format!("{} ago", count(passed / day, "day"))
        }
        _ => date(at, zone),
    }
}

/// Returns the date in the user's time zone.
pub fn date(at: Timestamp, zone: &TimeZone) -> String {
    let moment = jiff::Timestamp::from_millisecond(at.0);
    moment.map_or_else(
        |_| at.date(),
        |moment| moment.to_zoned(zone.clone()).date().to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::history::EntryOutcome;
    use crate::domain::ids::ConsultationId;
    use crate::domain::money::{Cost, MicroUsd};
    use console::measure_text_width;

    const NOW: Timestamp = Timestamp(1_795_249_800_000);

    fn entry(
        short_id: &str,
        ago_seconds: i64,
        question: &str,
        run_status: RunStatus,
    ) -> HistoryRow {
        let at = Timestamp(NOW.0 - ago_seconds * 1_000);
        HistoryRow {
            short_id: short_id.to_owned(),
            ..HistoryRow::started(
                ConsultationId::from_unique(&format!("{short_id}zzzz")),
                at,
                question.to_owned(),
                None,
                run_status,
            )
        }
    }

    fn history() -> History {
        let completed =
            |short_id: &str, ago: i64, outcome: Option<AnswerOutcome>, cost: Cost| HistoryRow {
                confidence: Some(0.854),
                cost: Some(cost.into()),
                outcome: outcome.map(|outcome| EntryOutcome {
                    outcome,
                    note: None,
                }),
                ..entry(
                    short_id,
                    ago,
                    "Should a small team start with a monorepo,\n or is it too early for that, \
                     given what we know?",
                    RunStatus::Completed,
                )
            };
        let aborted = HistoryRow {
            cost: Some(Cost::FREE.into()),
            ..entry(
                "01k9zzzz",
                86_400,
                "短い質問ですか、それとも長い質問ですか、それともとても長い質問ですか？",
                RunStatus::Aborted,
            )
        };
        let consultations = vec![
            entry(
                "01kb2222",
                3,
                "Is this \u{1b}[2Jone running?",
                RunStatus::Running,
            ),
            completed(
                "01kb1111",
                3 * 60,
                Some(AnswerOutcome::Wrong),
                Cost::exactly(MicroUsd(142_000)),
            ),
            entry(
                "01kazzzz9x",
                5 * 3_600,
                "Was it killed?",
                RunStatus::Unfinished,
            ),
            aborted,
            completed(
                "01k8zzzz",
                40 * 86_400,
                None,
                Cost::at_least(MicroUsd(12_340_000)),
            ),
        ];
        History {
            schema_version: "1.0",
            total: 5,
            consultations,
        }
    }

    fn shown(width: Option<usize>) -> String {
        screen(&history(), NOW, &TimeZone::UTC, width, Paint::Plain)
    }

    #[test]
    fn list_fits_every_width_with_the_same_facts() {
        insta::assert_snapshot!([40, 80, 120].map(|width| shown(Some(width))).join("\n"));
        for width in [30, 40, 63, 64, 80, 99, 100, 160] {
            let text = shown(Some(width));
            assert!(
                text.lines().all(|line| measure_text_width(line) <= width),
                "{width}: {text}"
            );
            for word in [
                "01kb1111",
                "running",
                "unfinished",
                "aborted",
                "85%",
                "wrong",
                "$0.14",
                "≥ $12.34",
                "3 min ago",
                "2026-10-12",
            ] {
                assert!(text.contains(word), "{width}: `{word}` in {text}");
            }
        }
    }

    #[test]
    fn embedded_model_is_marked_beside_the_state_and_explained_below() {
        let mut history = history();
        history.consultations[1].demonstration = true;
        for (width, mark) in [
            (120, "completed, wrong, local"),
            (80, "85% wrong local"),
            (40, "completed, wrong, local"),
        ] {
            let text = screen(&history, NOW, &TimeZone::UTC, Some(width), Paint::Plain);
            assert!(text.contains(mark), "{text}");
        }
        let explained = below(&history, 80);
        assert!(
            explained.contains(&"local: local model, demonstration quality".to_owned()),
            "{explained:?}"
        );
    }

    #[test]
    fn pipe_gets_every_column_uncut() {
        insta::assert_snapshot!(shown(None));
    }

    #[test]
    fn colours_change_only_the_colour() {
        for width in [40, 80, 120] {
            let coloured = screen(&history(), NOW, &TimeZone::UTC, Some(width), Paint::Colour);
            assert_eq!(console::strip_ansi_codes(&coloured), shown(Some(width)));
        }
    }

    #[test]
    fn age_becomes_a_local_date_after_a_week() {
        let berlin = TimeZone::fixed(jiff::tz::offset(1));
        let ages = [
            -5,
            0,
            59,
            60,
            3_599,
            3_600,
            86_399,
            86_400,
            2 * 86_400,
            7 * 86_400 - 1,
            7 * 86_400,
        ];
        let shown_ages = ages.map(|seconds| age(Timestamp(NOW.0 - seconds * 1_000), NOW, &berlin));
        assert_eq!(
            shown_ages,
            [
                "2026-11-21",
                "just now",
                "just now",
                "1 min ago",
                "59 min ago",
                "1 h ago",
                "23 h ago",
                "1 day ago",
                "2 days ago",
                "6 days ago",
                "2026-11-14"
            ]
        );
        assert_eq!(
            date(Timestamp(1_795_303_800_000), &berlin),
            "2026-11-22",
            "half past midnight there"
        );
    }
}
