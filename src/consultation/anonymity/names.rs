//! Replaces labels in models' texts by the names of the seats, for people: a reader never learns
//! who `Expert B` is. Models get labels, and the journal has the text as it was written.

use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag};

use super::labels::Labels;
use super::mentions::{Mention, begins_title, mentions, titles};
use crate::domain::ids::SeatId;
use crate::domain::panel::unique_name;

/// Longer text behind a title belongs to no label.
const LONGEST_MENTION: usize = 64;

/// Code stays as it is, unless it is nothing but a label.
pub fn with_names(text: &str, labels: &Labels) -> String {
    let mentions = mentions(text, labels);
    let code = if mentions.is_empty() {
        Vec::new()
    } else {
        code(text)
    };
    let is_in_code = |start: usize| {
        // The places are in order and apart from each other.
        let next = code.partition_point(|range| range.end <= start);
        code.get(next)
            .filter(|range| range.contains(&start))
            .and_then(|range| text.get(range.clone()))
            .is_some_and(|code| labels.resolve(code).is_none())
    };
    let (mut named, mut done) = (String::with_capacity(text.len()), 0);
    for Mention { start, labels: run } in mentions {
        if is_in_code(start) || is_within_name(text, start, labels) {
            continue;
        }
        for (at, (letters, seat)) in run.into_iter().enumerate() {
            // The title goes; the words between the labels stay.
            let unchanged = done..if at == 0 { start } else { letters.start };
            named.push_str(text.get(unchanged).unwrap_or_default());
            named.push_str(&display_name(seat, labels));
            done = letters.end;
        }
    }
    named.push_str(text.get(done..).unwrap_or_default());
    named
}

fn display_name(seat: &SeatId, labels: &Labels) -> String {
    let names = || labels.names.iter().map(String::as_str);
    let name = names().nth(labels.rank(seat));
    name.map_or_else(|| seat.to_string(), |name| unique_name(seat, name, names()))
}

/// True for the title in `Security Expert`.
fn is_within_name(text: &str, start: usize, labels: &Labels) -> bool {
    let begins_with = |at: usize, name: &str| {
        let there = text.get(at..at + name.len());
        there.is_some_and(|there| there.eq_ignore_ascii_case(name))
    };
    labels.names.iter().any(|name| {
        titles(name)
            .into_iter()
            .filter_map(|offset| start.checked_sub(offset))
            .any(|at| begins_with(at, name))
    })
}

fn code(text: &str) -> Vec<Range<usize>> {
    Parser::new(text)
        .into_offset_iter()
        .filter(|(event, _)| matches!(event, Event::Code(_) | Event::Start(Tag::CodeBlock(_))))
        .map(|(_, range)| range)
        .collect()
}

/// Returns a text that is still being written with names, as far as they are certain: a label can
/// be cut anywhere, so the end is held back while it may be one.
pub fn with_names_so_far(text: &str, labels: &Labels) -> String {
    let end = text.len();
    let mut titles = titles(text).into_iter();
    let title = titles.find(|title| end - title < LONGEST_MENTION);
    let certain = title.unwrap_or_else(|| {
        let before_word = text.char_indices().rfind(|(_, c)| !c.is_alphanumeric());
        let word = before_word.map_or(0, |(at, c)| at + c.len_utf8());
        let may_become_title = begins_title(text.get(word..).unwrap_or_default());
        if may_become_title { word } else { end }
    });
    with_names(text.get(..certain).unwrap_or_default(), labels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ids::ModelRef;
    use crate::domain::panel::Seat;

    fn labels(names: &[&str]) -> Labels {
        let seat = |(at, name): (usize, &&str)| {
            Seat::named(&format!("seat-{at}"), name, ModelRef::new("scripted", "m"))
        };
        let seats: Vec<Seat> = names.iter().enumerate().map(seat).collect();
        let order: Vec<SeatId> = seats.iter().map(|seat| seat.id.clone()).collect();
        Labels::in_order(&order, &seats).unwrap()
    }

    fn three() -> Labels {
        labels(&["Security Expert", "Architect", "Pragmatist"])
    }

    const NAMED: [(&str, &str); 12] = [
        ("Expert B doubts it.", "Architect doubts it."),
        ("Expert B's doubt", "Architect's doubt"),
        (
            "as expert C and EXPERT-A say",
            "as Pragmatist and Security Expert say",
        ),
        ("**Expert B**: no", "**Architect**: no"),
        (
            "Experts A and B agree",
            "Security Expert and Architect agree",
        ),
        (
            "experts A, B, and C",
            "Security Expert, Architect, and Pragmatist",
        ),
        ("Expert B/C", "Architect/Pragmatist"),
        ("Experts A, B and D", "Security Expert, Architect and D"),
        ("專家 Expert B。", "專家 Architect。"),
        ("a quote: `Expert B`", "a quote: `Architect`"),
        ("`let a = 1;` says Expert B", "`let a = 1;` says Architect"),
        ("a lone ` and Expert B", "a lone ` and Architect"),
    ];

    #[test]
    fn label_in_a_sentence_becomes_the_name_of_its_seat() {
        for (text, named) in NAMED {
            assert_eq!(with_names(text, &three()), named);
        }
    }

    #[test]
    fn naming_a_named_text_changes_nothing() {
        for (_, named) in NAMED {
            assert_eq!(with_names(named, &three()), named);
        }
        let twice = "Security Expert B tests"; // from `Expert A B tests`
        assert_eq!(with_names(twice, &three()), twice);
        let own = labels(&["Expert B", "Architect"]);
        assert_eq!(with_names("Expert A", &own), "Expert B");
        assert_eq!(with_names("Expert B", &own), "Expert B");
    }

    #[test]
    fn text_without_a_label_of_the_run_stays_unchanged() {
        for text in [
            "",
            "Expert",
            "Expert Backend",
            "Expert D and Expert BB",
            "the expert a panel needs",
            "Inexpert A",
            "Plan A",
            "Security Expert A/B tests",
            "set `owner = Expert B` first",
            "```yaml\nowner: Expert B\n```",
            "see below\n\n    owner: Expert B\n",
        ] {
            assert_eq!(with_names(text, &three()), text);
        }
    }

    #[test]
    fn seats_of_one_name_are_distinguished_by_id() {
        let twins = labels(&["Critic", "Critic"]);
        let expected = "Critic [seat-0] and Critic [seat-1]";
        assert_eq!(with_names("Experts A and B", &twins), expected);
    }

    #[test]
    fn label_that_is_cut_off_is_never_shown() {
        for (text, named) in NAMED
            .into_iter()
            .chain([("Security Expert A/B tests", "Security Expert A/B tests")])
        {
            for (end, _) in text.char_indices() {
                let so_far = with_names_so_far(text.split_at(end).0, &three());
                assert!(named.starts_with(&so_far), "{so_far}");
            }
        }
    }

    #[test]
    fn no_more_is_held_back_than_a_possible_label() {
        let so_far = |text: &str| with_names_so_far(text, &three());
        assert_eq!(so_far("It is an ex"), "It is an ");
        assert_eq!(so_far("It is an example"), "It is an example");
        assert_eq!(so_far("An example of Expert"), "An example of ");
        let long = "Expert judgement that takes some time to explain, to one and to all";
        assert_eq!(so_far(long), long);
    }
}
