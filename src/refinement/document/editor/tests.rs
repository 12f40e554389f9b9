//! The plainest form of an edit is the one that is used, byte by byte.

use crate::refinement::document::{DocumentEditor, SectionKind, SpecDocument, SpecItem};
use crate::stopping::convergence::QuestionKey;

/// Returns the text after an edit of the item with these words.
fn edited(
    text: &str,
    words: &str,
    edit: impl FnOnce(&mut DocumentEditor<'_>, &SpecItem),
) -> String {
    let document = SpecDocument::parse(text).unwrap();
    let mut editor = DocumentEditor::new(&document);
    let item = document.find(&QuestionKey::of(words)).unwrap();
    edit(&mut editor, item);
    editor.finish()
}

/// Returns the text after an item has moved to High Confidence, without its front part.
fn after_move(text: &str, words: &str) -> String {
    let text = format!("## High Confidence\n\n- A\n\n{text}");
    let result = edited(&text, words, |editor, item| {
        editor.move_item(item, SectionKind::High, "");
    });
    let (_, rest) = result.split_once("\n\n## Open").unwrap();
    format!("## Open{rest}")
}

#[test]
fn rest_of_a_list_stays_a_list() {
    let rest = after_move("## Open Questions\n\nThese:\n1. B?\n2. C?\n", "B");
    assert_eq!(rest, "## Open Questions\n\nThese:\n\n2. C?\n");
    let rest = after_move("## Open Questions\n\n- B?\n\n- C?\n\nEnd.\n", "C");
    assert_eq!(rest, "## Open Questions\n\n- B?\n\nEnd.\n");
}

#[test]
fn lines_around_an_emptied_list_stay_apart() {
    let rest = after_move("## Open Questions\n\nOne:\n- B?\n---\n", "B");
    assert_eq!(rest, "## Open Questions\n\nOne:\n\n---\n");
    let rest = after_move("## Open Questions\n- B?\n\n## Annex\n", "B");
    assert_eq!(rest, "## Open Questions\n\n## Annex\n");
}

#[test]
fn first_section_follows_a_byte_order_mark() {
    let text = "\u{feff}## Open Questions\n\n- B?\n- C?\n";
    let result = edited(text, "B", |editor, item| {
        editor.move_item(item, SectionKind::High, "");
    });
    let expected = "\u{feff}## High Confidence\n\n- B?\n\n## Open Questions\n\n- C?\n";
    assert_eq!(result, expected);
}

#[test]
fn section_of_a_text_without_blocks_follows_mark_and_front_matter() {
    for beginning in ["\u{feff}", "---\ntitle: a\n---\n"] {
        let text = format!("{beginning}\n[a]: https://a.b\n");
        let document = SpecDocument::parse(&text).unwrap();
        let mut editor = DocumentEditor::new(&document);
        editor.add_item(SectionKind::Open, "B?", &[]);
        let result = editor.finish();
        assert!(result.starts_with(beginning), "{result}");
        let document = SpecDocument::parse(&result).unwrap();
        assert_eq!(document.items(SectionKind::Open).len(), 1, "{result}");
    }
}

#[test]
fn section_between_thematic_breaks_becomes_no_front_matter() {
    for mark in ["", "\u{feff}"] {
        let text = format!("{mark}---\n## Open Questions\n- B?\n\n---\n\n## High Confidence\n");
        let result = edited(&text, "B", |editor, item| {
            editor.move_item(item, SectionKind::High, "");
        });
        let kept = format!("{mark}\n---\n");
        assert!(result.starts_with(&kept), "{result}");
        let document = SpecDocument::parse(&result).unwrap();
        assert_eq!(document.items(SectionKind::High).len(), 1, "{result}");
        let headings = result.matches("## Open Questions").count();
        assert_eq!(headings, 1, "{result}");
        assert!(
            document.sections.first(SectionKind::Open).is_some(),
            "{result}"
        );
    }
}

#[test]
fn notes_keep_the_form_of_the_notes_before() {
    let text = "## Open Questions\n\n- B?\n  - one\n\n  - two\n";
    let result = edited(text, "B", |editor, item| editor.note(item, "three"));
    assert_eq!(result, format!("{text}\n  - three\n"));
}

#[test]
fn code_behind_tabs_keeps_its_columns() {
    let text = "## High Confidence\n\n1. A\n\n## Open Questions\n\n- B?\n\n\t\tcode\n- C?\n";
    let result = edited(text, "B", |editor, item| {
        editor.move_item(item, SectionKind::High, "");
    });
    assert!(result.contains("\n- B?\n\n\t\tcode\n"), "{result}");
}

#[test]
fn item_that_keeps_its_own_form_gets_a_list_of_its_own() {
    let text = "## High Confidence\n\n-   A\n\n## Open Questions\n\n- B?\n\n\t\tcode\n- C?\n";
    let result = edited(text, "B", |editor, item| {
        editor.move_item(item, SectionKind::High, "");
    });
    let expected =
        "## High Confidence\n\n-   A\n\n<!-- -->\n\n- B?\n\n\t\tcode\n\n<!-- -->\n\n## Open";
    assert!(result.starts_with(expected), "{result}");
}

#[test]
fn whatever_is_written_has_the_line_endings_of_the_document() {
    let text =
        "## High Confidence\n\n- A\n\n## Open Questions\n\n- B?\n- C?\n".replace('\n', "\r\n");
    let result = edited(&text, "B", |editor, item| {
        editor.move_item(item, SectionKind::Medium, "why");
        editor.add_item(SectionKind::Open, "D?", &[]);
    });
    assert!(result.contains("- B?\r\n  - why\r\n"), "{result:?}");
    assert!(!result.replace("\r\n", "").contains('\n'), "{result:?}");
}

#[test]
fn lists_around_an_emptied_one_stay_two() {
    let rest = after_move("## Open Questions\n\n- B?\n\n* C?\n\n- D?\n", "C");
    assert!(rest.contains("<!-- -->"), "{rest}");
    let lists = |text: &str| -> Vec<String> {
        let words = text.split("<!-- -->").map(str::trim);
        words.map(ToOwned::to_owned).collect()
    };
    assert_eq!(lists(&rest)[0], "## Open Questions\n\n- B?");
    assert_eq!(lists(&rest).last().unwrap(), "- D?");
}
