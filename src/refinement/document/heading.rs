//! Which headings begin the sections: matched by their words, whatever their numbering, case,
//! punctuation and remarks.

use super::item::SectionKind;
use crate::refinement::words::TABLES;

/// What a heading says about the list entries below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeadingMeaning {
    /// They are items of this section.
    Section(SectionKind),
    /// They are not worked on.
    Over,
    /// They belong to the section that the heading stands in.
    Other,
}

/// Reads a heading.
pub(super) fn meaning(heading: &str) -> HeadingMeaning {
    if words(heading).iter().any(|word| TABLES.over.has(word)) {
        return HeadingMeaning::Over;
    }
    let name = without_prefix(heading);
    let end = name.find(['(', '[', '{', ':', '：', '（', '—', '–', '|']);
    let name = name.get(..end.unwrap_or(name.len())).unwrap_or(name);
    let name = name.split(" - ").next().unwrap_or(name);
    section_named(&words(name)).map_or(HeadingMeaning::Other, HeadingMeaning::Section)
}

/// Returns a heading without its numbering and the words before the name of a section.
fn without_prefix(heading: &str) -> &str {
    let mut name = heading;
    loop {
        name = name.trim_start_matches(|c: char| !c.is_alphabetic());
        let end = name.find(|c: char| !c.is_alphanumeric());
        let Some((word, rest)) = end.and_then(|end| name.split_at_checked(end)) else {
            return name;
        };
        let is_letter = word.chars().count() == 1;
        if !is_letter && !TABLES.before_heading.has(word.to_lowercase().as_str()) {
            return name;
        }
        name = rest;
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

fn section_named(words: &[String]) -> Option<SectionKind> {
    let (name, after) = words.split_at_checked(2)?;
    let [first, second] = name else { return None };
    let kind = match (first.as_str(), second.as_str()) {
        ("high", "confidence") => SectionKind::High,
        ("medium", "confidence") => SectionKind::Medium,
        ("open", "question" | "questions") => SectionKind::Open,
        _ => return None,
    };
    let is_number = |word: &str| word.chars().all(char::is_numeric) || word.chars().count() == 1;
    after
        .iter()
        .map(String::as_str)
        .take_while(|word| !TABLES.remarks.has(word))
        .all(|word| is_number(word) || TABLES.after_heading.has(word))
        .then_some(kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_headings_match_by_their_words() {
        for heading in [
            "Open Questions",
            "open questions:",
            "Open Questions (7)",
            "3. Open-Questions",
            "OPEN QUESTION",
            "❓ Open Questions",
            "2.1) Open questions — for the team",
            "Section 4: Open Questions",
            "Remaining open questions",
            "Open questions for the vendor",
            "Open Questions and Risks",
            "Open questions [3 left]",
            "A. Open_questions",
        ] {
            assert_eq!(
                meaning(heading),
                HeadingMeaning::Section(SectionKind::Open),
                "{heading}"
            );
        }
        for heading in [
            "### 3. High-Confidence claims",
            "High confidence",
            "Claims of high confidence",
        ] {
            assert_eq!(
                meaning(heading),
                HeadingMeaning::Section(SectionKind::High),
                "{heading}"
            );
        }
        let medium = HeadingMeaning::Section(SectionKind::Medium);
        assert_eq!(meaning("Medium Confidence Items"), medium);
    }

    #[test]
    fn headings_of_other_things_do_not_match() {
        for heading in [
            "High confidence intervals",
            "Open",
            "Questions",
            "Reopen questions",
            "Highlights",
            "How open questions arise",
            "High confidence ratio",
            "",
            "—",
        ] {
            assert_eq!(meaning(heading), HeadingMeaning::Other, "{heading}");
        }
        for heading in [
            "Open Questions (resolved)",
            "Answered open questions",
            "Closed",
        ] {
            assert_eq!(meaning(heading), HeadingMeaning::Over, "{heading}");
        }
    }
}
