//! Spans of days in words.

use jiff::civil::Date;

use crate::domain::statistics::{Range, Span};

/// Returns the range as a phrase: `in the last 7 days`.
pub(in crate::terminal::tables) fn within(range: &Range) -> String {
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
