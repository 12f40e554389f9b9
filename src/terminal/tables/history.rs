//! The list of past consultations as `conclave history` shows it: fewer columns on a terminal of 80
//! columns; on a narrow one a few lines for each consultation. In a pipe, each is one line with
//! everything in full, whose columns are always the same.

use jiff::tz::TimeZone;

use crate::domain::ids::ConsultationId;
use crate::domain::names::stored_name;
use crate::domain::record::history::{History, HistoryRow};
use crate::domain::record::outcome::AnswerOutcome;
use crate::domain::record::stored_record::Completion;
use crate::domain::time::Timestamp;
use crate::terminal::document::{self, Line, Part, Table, Tail, nested_list};
use crate::terminal::output::format::{LOCAL_QUALITY, count, dollars};
use crate::terminal::output::style::{Paint, Tone};
use crate::terminal::output::wrap::fit;
use crate::text::clean::{one_line, shortened};

/// From this width on every column fits beside a question.
const WIDE: usize = 100;

/// Marks a consultation of the embedded model; [`below`] explains it.
const LOCAL: &str = "local";

/// Marks a question that follows up an earlier consultation; [`below`] explains it.
const FOLLOW_UP: &str = "↳";

/// Marks answers that were judged again; [`below`] explains it.
const REJUDGED: &str = "↺";

/// In characters, on a page.
const LONGEST_QUESTION: usize = 200;
const LONGEST_ANSWER: usize = 240;

/// In bytes: a shorter first paragraph says nothing of what is asked.
const GREETING: usize = 16;

/// `None` does not wrap.
pub fn screen(
    history: &History,
    now: Timestamp,
    zone: &TimeZone,
    width: Option<usize>,
    paint: Paint,
) -> String {
    let entries = history.consultations.iter();
    let Some(columns) = width else {
        let table = Table::of(7, &[""; 7], entries.map(plain));
        return document::screen(table.as_slice(), None, paint);
    };
    let is_wide = columns >= WIDE;
    let rows = entries.map(|entry| {
        let mut row = vec![
            Line::toned(Tone::Strong, &entry.short_id),
            Line::toned(Tone::Quiet, age(entry.timestamp, now, zone)),
        ];
        if is_wide {
            row.push(status(entry));
            row.push(confidence(entry).unwrap_or_default().into());
        } else {
            row.push(result(entry));
        }
        row.push(cost(entry).unwrap_or_default().into());
        let mark = match (&entry.follow_up_of, &entry.rejudged_from) {
            (Some(_), _) => FOLLOW_UP,
            (None, Some(_)) => REJUDGED,
            (None, None) => "",
        };
        let question = [mark, &entry.question].join(" ");
        row.push(one_line(&question).into());
        row
    });
    let heads: &[&'static str] = if is_wide {
        &["ID", "BEGAN", "STATE", "CONF", "COST", "QUESTION"]
    } else {
        &["ID", "BEGAN", "RESULT", "COST", "QUESTION"]
    };
    let table = Table::with_tail(Tail::Cut, 3, heads, rows);
    document::screen(table.as_slice(), width, paint)
}

/// The entries as a page lists them: question, answer, and what there is to know of both.
pub fn listed(entries: &[HistoryRow], now: Timestamp, zone: &TimeZone) -> Option<Part> {
    let item = |entry: &HistoryRow| {
        let link = link_to(&entry.consultation_id, &entry.question);
        let answer = entry.recommendation.as_deref();
        let answer = answer.map(|answer| begun(answer, LONGEST_ANSWER));
        let facts = [
            Some(age(entry.timestamp, now, zone).into()),
            Some(status(entry)),
            confidence(entry).map(Line::from),
            cost(entry).map(Line::from),
            entry.mode.as_ref().map(Line::foreign),
            entry.follow_up_of.as_ref().map(|_| "a follow-up".into()),
            entry.rejudged_from.as_ref().map(|_| "judged again".into()),
        ];
        let facts = Line::joined(facts.into_iter().flatten(), " · ");
        [Some(link), answer, Some(facts)]
            .into_iter()
            .flatten()
            .collect()
    };
    nested_list(entries.iter().map(item))
}

/// The beginning of a question, which leads to the page of its consultation.
pub fn link_to(id: &ConsultationId, question: &str) -> Line {
    Line::link(format!("/c/{id}"), begun(question, LONGEST_QUESTION))
}

/// The first paragraph, unless it is a mere greeting: in those behind it, batches say what form an
/// answer has.
fn begun(text: &str, most: usize) -> Line {
    let mut paragraphs = text.trim().split("\n\n");
    let first = paragraphs.next().filter(|first| first.len() >= GREETING);
    Line::foreign(shortened(&one_line(first.unwrap_or(text)), most))
}

pub fn below(history: &History, width: usize) -> Vec<String> {
    let shown = history.consultations.len();
    let total = usize::try_from(history.total).unwrap_or(usize::MAX);
    let mut lines = Vec::new();
    let has = |is: fn(&HistoryRow) -> bool| history.consultations.iter().any(is);
    if shown < total {
        let total = count(total, "consultation");
        lines.push(format!(
            "The newest {shown} of {total}; more with -n N or --all"
        ));
    }
    if history.left_out > 0 {
        let left_out = history.left_out;
        lines.push(format!(
            "{left_out} that made no call left out; list them with --all"
        ));
    }
    if let Some(entry) = history.consultations.iter().find(|entry| entry.resumable) {
        let id = &entry.short_id;
        lines.push(format!(
            "Resume an unfinished consultation: `conclave resume {id}`"
        ));
    }
    if has(|entry| entry.demonstration) {
        lines.push(format!("{LOCAL}: {LOCAL_QUALITY}"));
    }
    if has(|entry| entry.follow_up_of.is_some()) {
        lines.push(format!("{FOLLOW_UP} follows up an earlier consultation"));
    }
    if has(|entry| entry.rejudged_from.is_some()) {
        lines.push(format!(
            "{REJUDGED} judges the answers of an earlier consultation again"
        ));
    }
    lines.iter().map(|line| fit(line, Some(width))).collect()
}

/// `completed, wrong, local`: the state, the grade, and the mark of the embedded model.
fn status(entry: &HistoryRow) -> Line {
    let tone = match entry.run_status {
        Completion::Completed => Tone::Plain,
        Completion::Declined => Tone::Quiet,
        Completion::Aborted | Completion::Unfinished => Tone::Warning,
        Completion::Running => Tone::Key,
    };
    words(
        entry,
        Line::toned(tone, stored_name(&entry.run_status)),
        ", ",
    )
}

/// State and confidence in one cell: only a completed consultation has a confidence.
fn result(entry: &HistoryRow) -> Line {
    match confidence(entry) {
        Some(confidence) if entry.run_status == Completion::Completed => {
            words(entry, confidence.into(), " ")
        }
        Some(_) | None => status(entry),
    }
}

fn words(entry: &HistoryRow, first: Line, separator: &'static str) -> Line {
    let outcome = entry.outcome.as_ref().map(|grade| {
        let tone = match grade.outcome {
            AnswerOutcome::Right => Tone::Good,
            AnswerOutcome::Wrong => Tone::Bad,
            AnswerOutcome::Mixed => Tone::Warning,
        };
        Line::toned(tone, grade.outcome.name())
    });
    let local = entry.demonstration.then(|| LOCAL.into());
    Line::joined(
        [Some(first), outcome, local].into_iter().flatten(),
        separator,
    )
}

fn confidence(row: &HistoryRow) -> Option<String> {
    let confidence = row.confidence?;
    Some(format!("{:.0}%", confidence * 100.0))
}

fn cost(row: &HistoryRow) -> Option<String> {
    let cost = row.cost.and_then(|cost| cost.cost())?;
    // The price, or what an interrupted run has spent.
    Some(if cost.is_unknown() {
        "unknown".to_owned()
    } else {
        dollars(cost)
    })
}

/// A line for programs: id, time, state, grade, confidence, cost, question; `-` where there is
/// none.
fn plain(entry: &HistoryRow) -> Vec<String> {
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let outcome = entry.outcome.as_ref();
    let quality = if entry.demonstration {
        format!(" ({LOCAL_QUALITY})")
    } else {
        String::new()
    };
    vec![
        entry.consultation_id.to_string(),
        entry.timestamp.to_string(),
        stored_name(&entry.run_status),
        or_none(outcome.map(|grade| grade.outcome.name().to_owned())),
        or_none(confidence(entry)),
        or_none(cost(entry).map(|cost| cost.replace(' ', ""))),
        one_line(&entry.question) + &quality,
    ]
}

/// `just now`, `3 min ago`, `5 h ago`, `2 days ago`; after a week the date in the user's time zone.
pub fn age(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
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

/// In the user's time zone.
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
    use crate::domain::cost::money::{Cost, MicroUsd};
    use crate::domain::ids::ConsultationId;
    use crate::domain::record::history::EntryOutcome;
    use console::measure_text_width;

    const NOW: Timestamp = Timestamp(1_795_249_800_000);

    fn entry(
        short_id: &str,
        ago_seconds: i64,
        question: &str,
        run_status: Completion,
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
        let completed = |short_id: &str, ago: i64, cost: Cost| HistoryRow {
            confidence: Some(0.854),
            cost: Some(cost.into()),
            ..entry(
                short_id,
                ago,
                "Should a small team start with a monorepo,\n or is it too early for that, given \
                 what we know?",
                Completion::Completed,
            )
        };
        let running = "Is this \u{1b}[2Jone running?";
        let long = "短い質問ですか、それとも長い質問ですか、それともとても長い質問ですか？";
        let known = Cost::exactly(MicroUsd(142_000));
        let unknown = Cost::at_least(MicroUsd(12_340_000));
        let mut consultations = vec![
            entry("01kb2222", 3, running, Completion::Running),
            completed("01kb1111", 3 * 60, known),
            entry(
                "01kazzzz9x",
                5 * 3_600,
                "Was it killed?",
                Completion::Unfinished,
            ),
            entry("01k9zzzz", 86_400, long, Completion::Aborted),
            completed("01k8zzzz", 40 * 86_400, unknown),
        ];
        consultations[1].outcome = Some(EntryOutcome {
            outcome: AnswerOutcome::Wrong,
            note: None,
        });
        consultations[3].cost = Some(Cost::FREE.into());
        History {
            schema_version: "1.0",
            total: 5,
            left_out: 0,
            consultations,
        }
    }

    #[test]
    fn page_lists_questions_by_their_first_paragraph() {
        for (question, listed) in [
            (
                "Which one of?\nOf both.\n\nEnd with ANSWER.",
                "Which one of? Of both.",
            ),
            ("\n\nHello,\n\nwhich of both?", "Hello, which of both?"),
            ("Which?", "Which?"),
            ("", ""),
        ] {
            let line = document::screen(
                &[Part::Paragraph(begun(question, LONGEST_QUESTION))],
                None,
                Paint::PLAIN,
            );
            assert_eq!(line.trim_end(), listed);
        }
    }

    fn shown(width: Option<usize>) -> String {
        screen(&history(), NOW, &TimeZone::UTC, width, Paint::PLAIN)
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
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
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
                assert!(words.contains(word), "{width}: `{word}` in {text}");
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
            (40, "85% wrong local"),
        ] {
            let text = screen(&history, NOW, &TimeZone::UTC, Some(width), Paint::PLAIN);
            let words: Vec<&str> = text.split_whitespace().collect();
            assert!(words.join(" ").contains(mark), "{text}");
        }
        let explained = below(&history, 80);
        assert!(
            explained.contains(&"local: local model, demonstration quality".to_owned()),
            "{explained:?}"
        );
    }

    #[test]
    fn confidence_stands_for_the_state_of_a_completed_consultation_only() {
        let mut history = history();
        history.consultations[3].confidence = Some(0.5);
        let text = screen(&history, NOW, &TimeZone::UTC, Some(80), Paint::PLAIN);
        assert!(text.contains("aborted") && !text.contains("50%"), "{text}");
    }

    #[test]
    fn pipe_gets_every_column_uncut() {
        insta::assert_snapshot!(shown(None));
    }

    #[test]
    fn colours_change_only_the_colour() {
        for width in [40, 80, 120] {
            let coloured = screen(&history(), NOW, &TimeZone::UTC, Some(width), Paint::COLOUR);
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

    #[test]
    fn answers_judged_again_are_marked_and_runs_left_out_are_counted() {
        let mut history = history();
        history.consultations.truncate(2);
        history.consultations[1].rejudged_from = Some("consult-01k9".to_owned());
        history.left_out = 3;
        let text = screen(&history, NOW, &TimeZone::UTC, Some(100), Paint::PLAIN);
        let row = text.lines().last().unwrap();
        assert!(row.contains("↺ Should a small team"), "{text}");
        let below = below(&history, 100);
        for line in [
            "3 that made no call left out; list them with --all",
            "↺ judges the answers of an earlier consultation again",
        ] {
            assert!(below.iter().any(|shown| shown == line), "{below:?}");
        }
    }
}
