//! The dashboard of `consult-stats`: statistics as a person reads them. Pure.
//!
//! `sections` and `models` say what is told, `progress` how far it is to the targets, `layout`
//! where it stands, `line` how it is wrapped and coloured; `sparkline`, `numbers` and `charset` are
//! the small parts. What is missing is left out or `n/a`, a cost of which something is unknown is a
//! lower bound, and a share of nothing is not shown.

pub mod charset;
mod layout;
mod line;
mod models;
mod numbers;
mod progress;
mod sections;
mod sparkline;

use jiff::civil::Date;

use crate::domain::ids::ProviderId;
use crate::domain::statistics::{Range, Span, Statistics, UsageNumbers};

use self::charset::Charset;
use self::layout::{Block, Layout};
use self::line::{Line, Tone};
use self::numbers::thousands_of;
use crate::terminal::output::format::count;
use crate::terminal::output::style::Paint;

/// What it is drawn on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Canvas {
    /// Columns.
    pub width: usize,
    pub paint: Paint,
    pub charset: Charset,
    pub border: Border,
}

/// Whether sections stand in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Border {
    /// Where the canvas is wide enough for one.
    Frame,
    /// As a file or another program reads best: sections below one another, set apart by an empty
    /// line.
    None,
}

/// Draws the statistics of a span in which there is something; `name_of` is what people call a
/// provider.
pub fn dashboard(
    statistics: &Statistics,
    name_of: fn(&ProviderId) -> &str,
    canvas: Canvas,
) -> String {
    let layout = Layout::of(canvas);
    let pairs = [
        Some(sections::usage(statistics)),
        Some(sections::performance(statistics)),
        Some(sections::cost(statistics, name_of)),
        Some(sections::quality(statistics)),
        sections::debate(&statistics.debate),
        sections::early_ends(statistics),
    ];
    let mut blocks = vec![Block::Whole(title(statistics))];
    blocks.extend(layout.paired(pairs.into_iter().flatten().collect()));
    blocks
        .extend(sparkline::days(&statistics.days, layout.room(), canvas.charset).map(Block::Whole));
    blocks.extend(
        models::models(&statistics.models, layout.room(), canvas.charset).map(Block::Whole),
    );
    format!(
        "{}\n{}",
        layout.drawn(&blocks),
        layout.below(&progress::progress(statistics, canvas.charset))
    )
}

/// What stands in the dashboard's place when there is nothing in the span; `elsewhere` is what
/// there is outside it.
pub fn nothing(range: &Range, elsewhere: &UsageNumbers, canvas: Canvas) -> String {
    let empty = canvas.charset.before("📭", "");
    let lines = match elsewhere.first_and_last {
        Some((first, last)) if elsewhere.total > 0 => vec![
            Line::plain(format!("{empty}No consultations found {}.", within(range))),
            Line::empty(),
            Line::plain(format!(
                "Outside of it there {}, {}:",
                are(elsewhere.total),
                from_to(first, last)
            )),
            Line::command("conclave consult-stats --all-time"),
        ],
        Some(_) | None => vec![
            Line::plain(format!("{empty}No consultations found.")),
            Line::empty(),
            Line::plain("Run your first consultation:"),
            Line::command("conclave consult \"Your question here\""),
        ],
    };
    Layout::of(canvas).below(&lines)
}

fn title(statistics: &Statistics) -> Vec<Line> {
    let Range { time_zone, .. } = &statistics.range;
    let span = match statistics.range.span {
        Span::Week => match (statistics.days.first(), statistics.days.last()) {
            (Some(first), Some(last)) => format!("Last 7 days, {}", from_to(first.date, last.date)),
            (Some(_), None) | (None, _) => "Last 7 days".to_owned(),
        },
        Span::Month(day) => month(day),
        Span::Days { since, until } => days(since, until),
        Span::AllTime => match statistics.usage.first_and_last {
            Some((first, last)) => format!("All time, {}", from_to(first, last)),
            None => "All time".to_owned(),
        },
    };
    vec![
        Line::heading("LLM Conclave Consult Stats"),
        Line::quiet(format!("{span} ({time_zone})")),
    ]
}

/// The range in a sentence.
pub(in crate::terminal) fn within(range: &Range) -> String {
    match range.span {
        Span::Week => "in the last 7 days".to_owned(),
        Span::Month(day) => format!("in {}", month(day)),
        Span::Days {
            since: Some(since),
            until: Some(until),
        } if since == until => format!("on {since}"),
        Span::Days {
            since: Some(since),
            until: Some(until),
        } => format!("from {}", from_to(since, until)),
        Span::Days {
            since: Some(since),
            until: None,
        } => format!("since {since}"),
        Span::Days {
            since: None,
            until: Some(until),
        } => format!("until {until}"),
        Span::Days {
            since: None,
            until: None,
        }
        | Span::AllTime => "at all".to_owned(),
    }
}

fn days(since: Option<Date>, until: Option<Date>) -> String {
    match (since, until) {
        (Some(since), Some(until)) => from_to(since, until),
        (Some(since), None) => format!("Since {since}"),
        (None, Some(until)) => format!("Until {until}"),
        (None, None) => "All time".to_owned(),
    }
}

fn from_to(first: Date, last: Date) -> String {
    if first == last {
        first.to_string()
    } else {
        format!("{first} to {last}")
    }
}

/// `November 2026`.
fn month(day: Date) -> String {
    day.strftime("%B %Y").to_string()
}

/// `is 1 consultation`, `are 1,200 consultations`.
fn are(number: u64) -> String {
    if number == 1 {
        format!("is {}", count(1, "consultation"))
    } else {
        format!("are {}", thousands_of(number, "consultation"))
    }
}

/// A section: its heading and what is below it.
fn section(heading: &str, items: impl IntoIterator<Item = Line>) -> Vec<Line> {
    std::iter::once(Line::heading(heading))
        .chain(items)
        .collect()
}

/// A figure that stands out as far as it matters.
fn figure(label: &str, value: impl Into<String>, tone: Tone) -> Line {
    Line::item(label, value.into(), tone)
}
