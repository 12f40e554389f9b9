//! Whether an item names a source: a consultation, an address, a path, or a reference in
//! parentheses.

use crate::refinement::words::TABLES;

/// Returns true if the source of an item names where it is from.
pub(super) fn names_source(text: &str) -> bool {
    text.contains("http://")
        || text.contains("https://")
        || text
            .split(is_separator)
            .any(|word| is_consultation(word) || is_path(word))
        || parentheses(text).any(is_reference)
}

fn is_separator(c: char) -> bool {
    c.is_whitespace() || "()[]{}<>\"'`,;*|“”‘’".contains(c)
}

fn is_consultation(word: &str) -> bool {
    word.strip_prefix("consult-")
        .is_some_and(|id| id.len() >= 8 && id.chars().take(8).all(|c| c.is_ascii_alphanumeric()))
}

/// A path has a separator, and begins like one or ends with the name of a file: `and/or` is none.
fn is_path(word: &str) -> bool {
    let Some((folder, name)) = word.rsplit_once(['/', '\\']) else {
        return false;
    };
    let begins_like_path = ["./", "../", "~/", ".\\", "..\\"]
        .into_iter()
        .any(|start| word.starts_with(start))
        || is_drive(folder);
    let name = name.split(['#', ':', '?']).next().unwrap_or(name);
    let ends_with_file = name.rsplit_once('.').is_some_and(|(stem, ending)| {
        let is_ending = (1..=8).contains(&ending.len())
            && ending.chars().all(|c| c.is_ascii_alphanumeric())
            && ending.chars().any(|c| c.is_ascii_alphabetic());
        is_ending && !stem.is_empty()
    });
    begins_like_path || ends_with_file
}

fn is_drive(folder: &str) -> bool {
    let mut letters = folder.chars();
    letters.next().is_some_and(|c| c.is_ascii_alphabetic()) && letters.next() == Some(':')
}

/// Returns what stands in parentheses, without that of nested ones.
fn parentheses(text: &str) -> impl Iterator<Item = &str> {
    text.split('(')
        .skip(1)
        .filter_map(|rest| rest.split_once(')').map(|(inner, _)| inner))
}

fn is_reference(inner: &str) -> bool {
    let inner = inner.trim().to_lowercase();
    let begins_like_reference = TABLES.references.iter().any(|start| {
        inner.strip_prefix(start.as_str()).is_some_and(|rest| {
            let is_word = start.ends_with(char::is_alphabetic);
            !(is_word && rest.starts_with(|c: char| c.is_lowercase() && start != "ref"))
        })
    });
    begins_like_reference || is_author_and_year(&inner)
}

/// `smith 2020`, `smith et al., 2020b`: letters, then a year.
fn is_author_and_year(inner: &str) -> bool {
    let Some((author, year)) = inner.rsplit_once([' ', ',']) else {
        return false;
    };
    let digits: String = year.chars().take_while(char::is_ascii_digit).collect();
    let is_year = digits.len() == 4 && (digits.starts_with("19") || digits.starts_with("20"));
    let is_name = author
        .chars()
        .all(|c| c.is_alphabetic() || " ,.&-'’".contains(c));
    is_year && year.len() <= 5 && is_name && author.chars().any(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::names_source;

    #[test]
    fn sources_are_consultations_addresses_paths_and_references() {
        for text in [
            "A — ANSWER — consult-01jd8z0000aaaa, 86 %",
            "see https://a.b",
            "in `src/main.rs:42`",
            "C:\\Users\\me\\notes.txt says so",
            "./run",
            "(RFC 9110)",
            "(see the minutes)",
            "(§4.2)",
            "(Smith et al., 2020)",
            "(refs: a)",
            "(#123)",
            "docs/spec.md#goals",
        ] {
            assert!(names_source(text), "{text}");
        }
    }

    #[test]
    fn words_and_amounts_name_no_source() {
        for text in [
            "read and/or write",
            "TCP/IP, 24/7",
            "takes (5 ms)",
            "in 2020",
            "(maybe)",
            "a (b)",
            "1/2.5 of it",
            "consult-ants",
            "(permanent)",
        ] {
            assert!(!names_source(text), "{text}");
        }
    }
}
