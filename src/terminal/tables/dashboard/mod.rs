//! The dashboard of `consult-stats`: statistics as a person reads them. Pure.
//!
//! `sections`, `models` and `targets` choose the figures, `layout` places them, `line` wraps and
//! colours them; `sparkline`, `span`, `numbers` and `charset` are the small parts. A missing figure
//! is left out or `n/a`, a cost with an unknown part is a lower bound, and a share of nothing is
//! not shown.

mod sections;
mod models;
mod targets;
mod sparkline;
mod layout;
mod line;
pub(super) mod span;
mod numbers;
pub mod charset;

pub use self::layout::{Border, Canvas};

use crate::domain::ids::ProviderId;
use crate::domain::statistics::{Range, Span, Statistics, UsageNumbers};

use self::layout::FrameLayout;
use self::line::StyledLine;
use self::numbers::thousands_of;
use self::span::{days, from_to, month, within};
use crate::terminal::output::format::count;

/// Draws the statistics of a span that has some; `name_of` returns the display name of a provider.
pub fn dashboard(
    statistics: &Statistics,
    name_of: fn(&ProviderId) -> &str,
    canvas: Canvas,
) -> String {
    let layout = FrameLayout::of(canvas);
    let sections = [
        Some(sections::usage(statistics)),
        Some(sections::performance(statistics)),
        Some(sections::cost(statistics, name_of)),
        Some(sections::quality(statistics)),
        sections::debate(&statistics.debate_value),
        sections::early_termination(statistics),
    ];
    let whole = [
        sparkline::days(&statistics.per_day, layout.room(), canvas.charset),
        models::models(&statistics.models, layout.room(), canvas.charset),
    ];
    let mut blocks = vec![vec![title(statistics)]];
    blocks.extend(layout.blocks(&sections.into_iter().flatten().collect::<Vec<_>>()));
    blocks.extend(whole.into_iter().flatten().map(|section| vec![section]));
    format!(
        "{}\n{}",
        layout.drawn(&blocks),
        layout.below(&targets::targets(statistics, canvas.charset))
    )
}

/// Returns what is shown for a span without consultations; `elsewhere` counts those outside it.
pub fn nothing(range: &Range, elsewhere: &UsageNumbers, canvas: Canvas) -> String {
    let empty = canvas.charset.before("📭", "");
    let lines = match elsewhere.date_range.start.zip(elsewhere.date_range.end) {
        Some((first, last)) if elsewhere.total > 0 => vec![
            StyledLine::plain(format!("{empty}No consultations found {}.", within(range))),
            StyledLine::empty(),
            StyledLine::plain(format!(
                "Outside of it there {}, {}:",
                are(elsewhere.total),
                from_to(first, last)
            )),
            StyledLine::command("conclave consult-stats --all-time"),
        ],
        Some(_) | None => vec![
            StyledLine::plain(format!("{empty}No consultations found.")),
            StyledLine::empty(),
            StyledLine::plain("Run your first consultation:"),
            StyledLine::command("conclave consult \"Your question here\""),
        ],
    };
    FrameLayout::of(canvas).below(&lines)
}

fn title(statistics: &Statistics) -> Vec<StyledLine> {
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
    vec![
        StyledLine::heading("LLM Conclave Consult Stats"),
        StyledLine::quiet(format!("{span} ({time_zone})")),
    ]
}

/// `is 1 consultation`, `are 1,200 consultations`.
fn are(number: u64) -> String {
    if number == 1 {
        format!("is {}", count(1, "consultation"))
    } else {
        format!("are {}", thousands_of(number, "consultation"))
    }
}
