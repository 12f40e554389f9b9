//! Spans of days in words.

use jiff::civil::Date;

use crate::domain::record::statistics::{Range, Span};

/// `in the last 7 days`; `None` for all time.
pub(in crate::terminal::tables) fn within(range: &Range) -> Option<String> {
    let (since, until) = match range.span {
        Span::Week => return Some("in the last 7 days".to_owned()),
        Span::Month(day) => return Some(format!("in {}", month(day))),
        Span::Days { since, until } => (since, until),
        Span::AllTime => (None, None),
    };
    match (since, until) {
        (Some(since), Some(until)) if since == until => Some(format!("on {since}")),
        (Some(since), Some(until)) => Some(format!("from {}", from_to(since, until))),
        (Some(since), None) => Some(format!("since {since}")),
        (None, Some(until)) => Some(format!("until {until}")),
        (None, None) => None,
    }
}

pub(super) fn days(since: Option<Date>, until: Option<Date>) -> String {
    match (since, until) {
        (Some(since), Some(until)) => from_to(since, until),
        (Some(since), None) => format!("Since {since}"),
        (None, Some(until)) => format!("Until {until}"),
        (None, None) => "All time".to_owned(),
    }
}

pub(super) fn from_to(first: Date, last: Date) -> String {
    if first == last {
        first.to_string()
    } else {
        format!("{first} to {last}")
    }
}

/// `November 2026`.
pub(super) fn month(day: Date) -> String {
    day.strftime("%B %Y").to_string()
}
