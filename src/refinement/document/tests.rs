//! Documents and their edits.

use std::collections::BTreeMap;

use super::*;
use crate::stopping::convergence::QuestionKey;

const SPEC: &str = "# Spec

Intro.

## High Confidence

- The store is local
  - seen in src/store.rs

## Medium Confidence

1. Clients retry
2. Clients back off

## Open Questions (3)

- [ ] [NEW] How long are logs kept?
- Who owns *the*
  keys? [BLOCKER]

  - asked in May
- [DEFERRED] Which colour?

## Appendix

- not an item
";

fn parse(text: &str) -> SpecDocument {
    SpecDocument::parse(text).unwrap()
}

fn item<'d>(document: &'d SpecDocument, words: &str) -> &'d SpecItem {
    document.find(&QuestionKey::of(words)).unwrap()
}

#[test]
fn items_have_their_words_tags_notes_and_places() {
    let document = parse(SPEC);
    let keys = item(&document, "Who owns the keys");
    assert_eq!(keys.section, SectionKind::Open);
    assert_eq!(keys.tags, [Tag::Blocker]);
    assert_eq!(keys.notes, "- asked in May");
    assert_eq!(item(&document, "How long are logs kept").tags, [Tag::New]);
    assert!(item(&document, "The store is local").has_source);
    assert_eq!(document.items(SectionKind::Medium).len(), 2);
    assert_eq!(document.items(SectionKind::Open).len(), 3);
}

#[test]
fn moved_item_takes_the_form_of_its_new_list() {
    let document = parse(SPEC);
    let mut editor = DocumentEditor::new(&document);
    editor.move_item(
        item(&document, "How long are logs kept"),
        SectionKind::High,
        "Answer: 30 days",
    );
    editor.move_item(
        item(&document, "Who owns the keys"),
        SectionKind::Medium,
        "Answer: ops",
    );
    editor.note(item(&document, "Which colour"), "nothing new");
    editor.add_item(SectionKind::Open, "# What about backups?", &[Tag::New]);
    assert_eq!(
        editor.finish(),
        "# Spec

Intro.

## High Confidence

- The store is local
  - seen in src/store.rs
- [x] How long are logs kept?
  - Answer: 30 days

## Medium Confidence

1. Clients retry
2. Clients back off
3. Who owns *the*
   keys?

   - asked in May
   - Answer: ops

## Open Questions (3)

- [DEFERRED] Which colour?
  - nothing new
- [NEW] \\# What about backups?

## Appendix

- not an item
"
    );
}

#[test]
fn document_without_a_last_line_ending_stays_without_one() {
    let text = "## High Confidence

* A

## Open Questions

* B?
* C?";
    let document = parse(text);
    let edited = |edit: &dyn Fn(&mut DocumentEditor<'_>, &SpecItem)| {
        let mut editor = DocumentEditor::new(&document);
        edit(&mut editor, item(&document, "C"));
        editor.finish()
    };
    let (kept, _) = text.split_once("* C?").unwrap();
    let (start, open) = kept.split_once("\n## Open").unwrap();
    let add = |editor: &mut DocumentEditor<'_>| editor.add_item(SectionKind::Open, "D?", &[]);
    assert_eq!(edited(&|editor, _| add(editor)), format!("{text}\n* D?"));
    let expected = format!("{text}\n  - n");
    assert_eq!(edited(&|editor, last| editor.note(last, "n")), expected);
    assert_eq!(
        edited(&|editor, last| {
            editor.note(last, "n");
            add(editor);
        }),
        format!("{text}\n  - n\n* D?")
    );
    assert_eq!(
        edited(&|editor, last| {
            editor.move_item(last, SectionKind::High, "n");
            add(editor);
        }),
        format!("{start}* C?\n  - n\n\n## Open{open}* D?")
    );
}

#[test]
fn paragraphs_that_ask_are_known_by_their_lines() {
    let text = "---
title: a
---
# Which spec?

## Open Questions

See http://a/?q=1 and `x?y`.
The rest is here.

Where are the **keys
kept?**

[BLOCKER] Decide the region

- Who pays?

  And when?

> A quote?

### Later

什么时候？

## Annex

Is this one?
";
    for text in [text.to_owned(), text.replace('\n', "\r\n")] {
        let lines: Vec<usize> = parse(&text).unlisted_questions().collect();
        assert_eq!(lines, [11, 14, 24]);
    }
}

#[test]
fn emptied_list_leaves_one_blank_line() {
    let text = "## High Confidence\n\n- A\n\n## Open Questions\n\n- B?\n- C?\n\n## Annex\n";
    for text in [text.to_owned(), text.replace('\n', "\r\n")] {
        let document = parse(&text);
        let mut editor = DocumentEditor::new(&document);
        for words in ["B", "C"] {
            editor.move_item(item(&document, words), SectionKind::High, "n");
        }
        let result = editor.finish().replace("\r\n", "\n");
        let (_, open) = result.split_once("## Open").unwrap();
        assert_eq!(open, " Questions\n\n## Annex\n");
        let mut editor = DocumentEditor::new(&document);
        editor.move_item(item(&document, "A"), SectionKind::Open, "n");
        editor.add_item(SectionKind::High, "D", &[]);
        let result = editor.finish().replace("\r\n", "\n");
        assert!(result.starts_with("## High Confidence\n\n- D\n\n## Open"));
    }
}

#[test]
fn emptied_list_at_the_end_leaves_no_blank_line() {
    let document = parse("## Open Questions\n\n- B?\n");
    let mut editor = DocumentEditor::new(&document);
    editor.move_item(item(&document, "B"), SectionKind::High, "n");
    let expected = "## High Confidence\n\n- B?\n  - n\n\n## Open Questions\n";
    assert_eq!(editor.finish(), expected);
}

#[test]
fn entry_takes_the_place_of_a_last_one_with_a_blank_line() {
    let document =
        parse("## High Confidence\n\n- A\n\n## Open Questions\n\n- B?\n\n- C?\n\nEnd.\n");
    let mut editor = DocumentEditor::new(&document);
    editor.move_item(item(&document, "C"), SectionKind::High, "n");
    editor.add_item(SectionKind::Open, "D?", &[]);
    assert_eq!(
        editor.finish(),
        "## High Confidence\n\n- A\n- C?\n  - n\n\n## Open Questions\n\n- B?\n\n- D?\n\nEnd.\n"
    );
}

#[test]
fn item_that_moves_changes_its_tags_and_checkbox() {
    let text = "## Medium Confidence

- [X] [BLOCKER] A
- [ ] B

## Open Questions

1) [ ] **[BLOCKER]** C? [DEFERRED] [NEW]
2) [ ] D?
3) E [ ] F?
";
    let document = parse(text);
    let mut editor = DocumentEditor::new(&document);
    for (words, to) in [
        ("A", SectionKind::Open),
        ("B", SectionKind::High),
        ("C", SectionKind::High),
        ("D", SectionKind::Medium),
        ("E F", SectionKind::Medium),
    ] {
        editor.move_item(item(&document, words), to, "n");
    }
    assert_eq!(
        editor.finish(),
        "## High Confidence

- [ ] B
  - n
- [x] C?
  - n

## Medium Confidence

- [x] D?
  - n
- E [ ] F?
  - n

## Open Questions

1) [ ] [BLOCKER] A
   - n
"
    );
}

#[test]
fn headings_that_ask_list_their_answers() {
    let open = "## Open questions\n\n";
    for (text, items, lines) in [
        ("### Which database?\n\n- Postgres\n- MySQL\n", 0, vec![3]),
        ("- When?\n\n### Which one?\n\nA text.\n", 1, vec![5]),
        ("### Which one? (asked in May)\n\n- A\n", 0, vec![3]),
        ("### Storage?\n\n- Which one?\n", 1, vec![]),
        ("### Storage\n\n- Which one\n", 1, vec![]),
        (
            "### Later\n\n- Retention?\n\n## Which one?\n\n- A\n",
            1,
            vec![],
        ),
    ] {
        let document = parse(&format!("{open}{text}"));
        assert_eq!(document.items(SectionKind::Open).len(), items, "{text}");
        let unlisted: Vec<usize> = document.unlisted_questions().collect();
        assert_eq!(unlisted, lines, "{text}");
    }
}

/// Checks each row of a table of `cases.toml`, with the name of its list.
fn check_rows(table: &str, is_right: impl Fn(&str, &str) -> bool) {
    type Tables = BTreeMap<String, BTreeMap<String, Vec<String>>>;
    let tables: Tables = toml::from_str(include_str!("cases.toml")).unwrap();
    let lists = tables[table].iter();
    let rows = lists.flat_map(|(name, rows)| rows.iter().map(move |row| (name, row)));
    let wrong: Vec<_> = rows.filter(|(name, row)| !is_right(name, row)).collect();
    assert!(wrong.is_empty(), "{}: {wrong:#?}", wrong.len());
}

/// Returns how many items of high and medium confidence and open questions there are.
fn counts(text: &str) -> [usize; 3] {
    SectionKind::ALL.map(|kind| parse(text).items(kind).len())
}

#[test]
fn headings_name_open_questions_and_claims_in_many_words() {
    check_rows("headings", |name, heading| {
        let is_written = heading.starts_with(['#', '*', '_']) || heading.ends_with(':');
        let mark = if is_written || heading.contains('\n') {
            ""
        } else {
            "## "
        };
        let text = format!("# A\n\n{mark}{heading}\n\n- Which one?\n- And who owns it?\n");
        counts(&text) == ["high", "medium", "open"].map(|kind| if kind == name { 2 } else { 0 })
    });
}

#[test]
fn entries_that_are_settled_or_deferred_in_words_are_not_open() {
    check_rows("entries", |name, entry| {
        let text = format!("## Open Questions\n\n- {entry}\n");
        counts(&text) == [0, 0, usize::from(name == "asked")]
    });
}

#[test]
fn lists_of_questions_below_other_headings_are_named() {
    check_rows("lists", |_, row| {
        let (text, expected) = row.split_once("=> ").unwrap_or((row, ""));
        let document = parse(text);
        let found = document.unread_questions();
        let found = found.map(|(line, heading, count)| format!("{line}: {heading} has {count}"));
        found.collect::<Vec<_>>().join("; ") == expected
    });
}
