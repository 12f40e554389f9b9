//! Elements that several sections use. Foreign text has a writing direction of its own. What wraps
//! other markup is left out if that is empty.

use maud::{Markup, html};

use crate::domain::artifact::Severity;
use crate::domain::confidence::Confidence;
use crate::domain::time::Timestamp;
use crate::domain::words::stated;

use super::marks::marked;

/// Renders foreign text inline.
pub(super) fn inline(text: impl AsRef<str>) -> Markup {
    html! { bdi { (text.as_ref().trim()) } }
}

/// Renders foreign texts inline, with commas between them.
pub(super) fn joined<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Markup {
    html! {
        @for (at, text) in texts.into_iter().enumerate() { @if at > 0 { ", " } (inline(text)) }
    }
}

/// Renders what a model says, with its marks, in a line of ours.
pub(super) fn said(text: &str) -> Markup {
    html! { span.said dir="auto" { (marked(text.trim())) } }
}

/// Renders foreign text as a block with its line breaks. Empty text is marked as such.
pub(super) fn block(text: &str) -> Markup {
    let text = text.trim_matches('\n').trim_end();
    if text.is_empty() {
        return html! { p.quiet { "(empty answer)" } };
    }
    // Not `pre`: a parser drops the line break behind that tag.
    html! { div.said dir="auto" { (marked(text)) } }
}

/// Renders foreign text as a block; nothing for blank text.
pub(super) fn block_unless_blank(text: &str) -> Markup {
    html! { @if !text.trim().is_empty() { (block(text)) } }
}

/// Renders foreign texts as items of a list.
pub(super) fn items<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Markup {
    html! { @for text in texts { li.said dir="auto" { (marked(text.as_ref().trim())) } } }
}

pub(super) fn list(items: &Markup) -> Markup {
    html! { @if !items.0.is_empty() { ul { (items) } } }
}

pub(super) fn section(title: &str, body: &Markup) -> Markup {
    html! { @if !body.0.is_empty() { section { h2 { (title) } (body) } } }
}

pub(super) fn subsection(title: &str, body: &Markup) -> Markup {
    html! { @if !body.0.is_empty() { h3 { (title) } (body) } }
}

/// Renders a value of this program behind its label.
pub(super) fn labelled(label: &str, value: &str) -> Markup {
    html! { span.label { (label) } " " strong { (value) } }
}

pub(super) fn confidence(confidence: Option<Confidence>) -> Markup {
    html! { p.stated { (labelled("Confidence", &stated(confidence))) } }
}

/// Renders a severity as a word, not by colour alone.
pub(super) fn severity(severity: Severity) -> Markup {
    match severity {
        Severity::Low => html! { span.weight { "low" } },
        Severity::Medium => html! { span.weight { "medium" } },
        Severity::High => html! { span.weight.high { "high" } },
    }
}

/// Renders a moment to the minute, with the exact time for programs.
pub(super) fn moment(at: Timestamp) -> Markup {
    let exact = at.to_string();
    let Some((day, time)) = exact.split_once('T') else {
        return html! { (exact) };
    };
    html! { time datetime=(exact) { (day) " " (time.get(..5).unwrap_or(time)) " UTC" } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moment_beyond_the_calendar_is_shown_in_milliseconds() {
        assert_eq!(
            moment(Timestamp(0)).into_string(),
            "<time datetime=\"1970-01-01T00:00:00.000Z\">1970-01-01 00:00 UTC</time>"
        );
        assert_eq!(
            moment(Timestamp(i64::MAX)).into_string(),
            "9223372036854775807 ms"
        );
    }
}
