//! The document as context of its consultations: whole, or its headings and items if it is very
//! long.

use crate::refinement::document::{SectionKind, SpecDocument};
use crate::text::clean::one_line;

/// The most bytes of a document that goes whole.
const WHOLE: usize = 200 * 1024;
/// The most characters of an item, and of its notes, of a document that does not go whole.
const ITEM_LENGTH: usize = 1_000;

/// A document as a source of context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentSource {
    /// Its name among the sources.
    pub name: String,
    pub text: String,
    /// What is left out; `None` for a whole document.
    pub notice: Option<String>,
}

pub fn document_source(name: &str, document: &SpecDocument) -> DocumentSource {
    within(name, document, WHOLE)
}

fn within(name: &str, document: &SpecDocument, limit: usize) -> DocumentSource {
    let whole = document.text();
    if whole.len() <= limit {
        return DocumentSource {
            name: name.to_owned(),
            text: whole.to_owned(),
            notice: None,
        };
    }
    let items = SectionKind::ALL.into_iter().flat_map(|section| {
        let heading = format!("\n## {}\n", section.heading());
        let items = document.items(section).iter();
        std::iter::once(heading).chain(items.map(|item| {
            let tags = item.tags.iter().map(|tag| tag.written());
            let text = whole_or_none(&item.text);
            let notes = whole_or_none(&item.notes);
            let notes = if notes.is_empty() {
                notes
            } else {
                format!("({notes})")
            };
            let words = tags.chain([text.as_str(), notes.as_str()]);
            let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
            format!("- {}", words.join(" "))
        }))
    });
    let headings = document
        .headings()
        .map(|heading| heading.trim_end().to_owned());
    let first = "This document is long: these are its headings, and the items of its sections.\n";
    let lines = std::iter::once(first.to_owned())
        .chain(headings)
        .chain(items);
    DocumentSource {
        name: name.to_owned(),
        text: joined_within(lines, limit),
        notice: Some(format!(
            "`{name}` has {} KiB: models get its headings and the items of its sections",
            whole.len() / 1024
        )),
    }
}

/// A very long one is left out and not cut: what is left of a secret may no longer look like one,
/// and would not be masked.
fn whole_or_none(text: &str) -> String {
    if text.len() > ITEM_LENGTH {
        return format!("[{} characters are left out]", text.chars().count());
    }
    one_line(text)
}

fn joined_within(lines: impl Iterator<Item = String>, limit: usize) -> String {
    const REST: &str = "[the rest is left out]\n";
    let mut text = String::new();
    for line in lines {
        if text.len() + line.len() + REST.len() + 1 > limit {
            text.push_str(REST);
            break;
        }
        text.push_str(&line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = "# Shop

Long words of introduction that nothing else repeats, and which go on for a line or two so that
the whole is longer than the list of its headings and of its items.

## High Confidence
- Tokens are signed.
  - by the auth service

```
# no heading
```

## Open Questions
- [BLOCKER] Who pays?
";

    fn document() -> SpecDocument {
        SpecDocument::parse(DOCUMENT).unwrap()
    }

    #[test]
    fn a_document_goes_whole_as_context() {
        let source = document_source("SPEC.md", &document());
        assert_eq!(source.name, "SPEC.md");
        assert_eq!(source.text, DOCUMENT);
        assert_eq!(source.notice, None);
    }

    #[test]
    fn of_a_very_long_document_go_headings_and_items() {
        let source = within("SPEC.md", &document(), 260);
        assert!(source.text.len() <= 260);
        let expected = "# Shop\n## High Confidence\n## Open Questions\n";
        assert!(source.text.contains(expected));
        assert!(
            source
                .text
                .contains("- Tokens are signed. (- by the auth service)"),
            "{}",
            source.text
        );
        assert!(!source.text.contains("introduction"));
        assert!(!source.text.contains("no heading"));
        assert!(source.notice.unwrap().starts_with("`SPEC.md` has 0 KiB"));
    }

    #[test]
    fn what_does_not_fit_is_left_out_visibly() {
        let source = within("SPEC.md", &document(), 130);
        assert!(source.text.len() <= 130);
        assert!(source.text.ends_with("[the rest is left out]\n"));
    }
}
