//! The dashboard of `consult-stats`: statistics as a person reads them. Pure.
//!
//! `sections` and `targets` choose the figures, `frame` places them; `span` and `numbers` are the
//! small parts. A missing figure is left out or `n/a`, a cost with an unknown part is a lower
//! bound, and a share of nothing is not shown.

mod sections;
mod targets;
mod frame;
pub(super) mod span;
mod numbers;
mod page;

pub use self::frame::{Border, Canvas};
pub use self::page::page;

use crate::domain::ids::ProviderId;
use crate::domain::record::statistics::{Range, Span, Statistics, UsageNumbers};

use self::frame::SectionFrame;
use self::numbers::thousands_of;
use self::span::{days, from_to, month, within};
use crate::terminal::document::{Line, Part, paragraph};
use crate::terminal::output::format::count;
use crate::terminal::output::style::Tone;

/// `name_of` returns the display name of a provider.
pub fn dashboard(
    statistics: &Statistics,
    name_of: fn(&ProviderId) -> &str,
    canvas: Canvas,
) -> String {
    let frame = SectionFrame::of(canvas);
    let sections = [
        Some(sections::usage(statistics)),
        Some(sections::performance(statistics)),
        Some(sections::cost(statistics, name_of)),
        Some(sections::quality(statistics)),
        sections::debate(&statistics.debate_value),
        sections::early_termination(statistics),
    ];
    let whole = [
        sections::per_day(&statistics.per_day, frame.room()),
        sections::models(&statistics.models),
    ];
    let sections: Vec<Vec<Part>> = sections.into_iter().flatten().collect();
    let mut blocks = vec![vec![title(statistics)]];
    blocks.extend(frame.blocks(&sections));
    blocks.extend(whole.into_iter().flatten().map(|section| vec![section]));
    let targets = frame.below(&targets::targets(statistics));
    format!("{}\n{targets}", frame.drawn(&blocks))
}

/// `elsewhere` counts those outside it.
pub fn nothing(range: &Range, elsewhere: &UsageNumbers, canvas: Canvas) -> String {
    SectionFrame::of(canvas).below(&nothing_parts(range, elsewhere))
}

fn nothing_parts(range: &Range, elsewhere: &UsageNumbers) -> [Part; 2] {
    let dates = elsewhere.date_range.start.zip(elsewhere.date_range.end);
    let (first, what, command) = match dates {
        Some((first, last)) if elsewhere.total > 0 => (
            paragraph(
                "📭 No consultations found {}.",
                [&within(range).unwrap_or("at all".to_owned())],
            ),
            format!(
                "Outside of it there {}, {}",
                are(elsewhere.total),
                from_to(first, last)
            ),
            "conclave consult-stats --all-time",
        ),
        Some(_) | None => (
            paragraph("📭 No consultations found.", []),
            "Run your first consultation".to_owned(),
            "conclave consult \"Your question here\"",
        ),
    };
    [first, Part::Next(vec![(command.to_owned(), what)])]
}

fn title(statistics: &Statistics) -> Vec<Part> {
    vec![
        Part::Heading(1, "LLM Conclave Consult Stats".into()),
        Part::Paragraph(Line::toned(Tone::Quiet, covered(statistics))),
    ]
}

/// `Last 7 days, 2026-11-20 – 2026-11-26 (UTC)`.
fn covered(statistics: &Statistics) -> String {
    let Range { time_zone, .. } = &statistics.range;
    let dates = statistics.usage.date_range;
    let span = match statistics.range.span {
        Span::Week => match (statistics.per_day.first(), statistics.per_day.last()) {
            (Some(first), Some(last)) => format!("Last 7 days, {}", from_to(first.date, last.date)),
            (Some(_), None) | (None, _) => "Last 7 days".to_owned(),
        },
        Span::Month(day) => month(day),
        Span::Days { since, until } => days(since, until),
        Span::AllTime => match dates.start.zip(dates.end) {
            Some((first, last)) => format!("All time, {}", from_to(first, last)),
            None => "All time".to_owned(),
        },
    };
    format!("{span} ({time_zone})")
}

/// `is 1 consultation`, `are 1,200 consultations`.
fn are(number: u64) -> String {
    if number == 1 {
        format!("is {}", count(1, "consultation"))
    } else {
        format!("are {}", thousands_of(number, "consultation"))
    }
}
