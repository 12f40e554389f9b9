//! Whatever a document holds and whatever is edited: nothing of the document is lost or read as
//! something else, and every item is where it belongs.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use pulldown_cmark::{Event, Parser};

use super::outline::{BlockContent, DIALECT, outline};
use super::shape::is_inline;
use super::*;

/// Blocks of all kinds. `@` is a number of its own.
const BLOCKS: [&str; 72] = [
    "## High Confidence",
    "### 2. Medium confidence",
    "## Medium Confidence",
    "Open Questions (7)\n---",
    "## Open Questions",
    "# Open questions:",
    "**Open questions**",
    "Unresolved questions:",
    "**Other @**",
    "Text @:",
    "**Resolved** (@)",
    "- ~~entry @~~\n- entry x@\n  - Resolved: text",
    "- entry @ (resolved)\n- Decided: entry x@",
    "## Other @",
    "### Sub @",
    "Title @\n===",
    "- entry @",
    "- entry @\n- entry x@",
    "- entry @\n- entry x@",
    "- entry @\n\n- entry x@\n\n- entry y@",
    "* entry @\n* entry x@",
    "+ entry @\nlazy @",
    "1. entry @\n2. entry x@",
    "1. entry @\n1. entry x@",
    "9. entry @\n10. entry x@",
    "3) entry @\n4) entry x@",
    "-   entry @\n\n    second paragraph\n-   entry x@",
    "-\tentry @\n\t- nested @\n-\tentry x@",
    "- [ ] entry @\n- [x] entry x@ [NEW]",
    "- [NEW] entry @\n  - nested\n    1. deeper @\n- **[DEFERRED]** entry x@",
    "- [BLOCKER] [NEW] entry @ [DEFERRED]",
    " - entry @\n  - entry x@\n   - entry y@",
    "  - entry @\n  - entry x@",
    "- entry @\n  ```\n  - [ ] code @\n  ```\n- entry x@",
    "- entry @\n\n      code @\n- entry x@",
    "- entry @\n  ```\n  open @",
    "-     code @\n- entry x@",
    "- ```\n  code @\n  ```\ntext @",
    "- # heading @\n  text\n- entry x@",
    "- entry @\n\n  | a | b |\n  |---|---|\n  | @ | - |\n- entry x@",
    "- entry @\n  > quote\n  > - nested @\nlazy",
    "- entry @\n\n  [ref@]: http://a.b\n- entry x@",
    "-\n  entry @\n- entry x@",
    "-\n- entry @",
    "- <div>\n  html @\n- entry x@",
    "- - entry @\n  - nested\n- entry x@",
    "- entry @\n  <!-- open @",
    "- entry @\n***\n- entry x@",
    "- 问题 @ 是什么\n- ما هو @\n- e\u{301}te\u{301} @",
    "- C:\\Users\\me\\notes@.txt \\",
    "123456789. entry @\n     - lazy\n",
    "- entry @\n  - nested\n\n\n  - loose @",
    "1. entry @\n\n   - nested\n   - nested @\n2. entry x@",
    "1. entry @\n\n  paragraph @",
    "- entry @ [NEW] # words @",
    "- [NEW] # words @",
    "- [NEW]\n  words @",
    "text @",
    "text @\nmore",
    "text @  \nafter a hard break",
    "  text @",
    "    code @",
    "```\n- [ ] code @\n## Open Questions\n```",
    "~~~ text\ncode @",
    "| a | b |\n|---|---|\n| @ | - no |",
    "> quote @\n> ## Open Questions\n> - no entry",
    "> quote @\nlazy",
    "<div>\n- no entry @\n</div>",
    "<!-- comment @\n- no entry\n-->",
    "[link@]: http://a.b/@",
    "[^@]: note @\n\n    - no entry",
    "---",
];

/// Text of models that tries to be more than text.
const HOSTILE: &str = r"(\PC|[a-z ]{3}|[\n\t#>`~<\-=*_\[\]():!|\\+0-9]|```|<!--|<div>|-->|\[a\]: b|\[NEW\]|\[DEFERRED\]|\*\*\[BLOCKER\]\*\*|\[ \] |- |1\. |---|\[\^a\]: |\|-\|-\||    |&nbsp;|!\[a\]\(b\)|<b>){0,20}";

fn documents() -> impl Strategy<Value = String> {
    let block = (0..BLOCKS.len(), 0..4usize);
    let blocks = proptest::collection::vec(block, 1..14);
    (blocks, 0..4usize, 0..6usize).prop_map(|(blocks, start, form)| {
        let mut text = String::from(["", "# Spec\n\n", "## Open Questions\n", "\n"][start]);
        for (number, (block, gap)) in blocks.into_iter().enumerate() {
            text.push_str(&BLOCKS[block].replace('@', &format!("n{number}")));
            text.push_str(["\n", "\n\n", "\n\n", "\n\n\n"][gap]);
        }
        match form {
            0 => text.replace('\n', "\r\n"),
            1 => text.trim_end().to_owned(),
            2 => format!("\u{feff}{text}"),
            3 => format!("---\ntitle: a\n---\n{text}"),
            _ => text,
        }
    })
}

/// One edit: what is done, with which item, in which section, with which text.
type Step = (u8, usize, usize, String);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec((0..6u8, 0..40usize, 0..3usize, HOSTILE), 0..6)
}

/// The leaves of a document as a reader sees them: the words of each text, and each piece of code
/// or HTML. Tags and separators do not count.
fn leaves(text: &str) -> Vec<String> {
    let body = SpecDocument::parse(text).map_or(0, |document| document.body);
    let body = text.get(body..).unwrap();
    let mut leaves = vec![String::new()];
    for event in Parser::new_ext(body, DIALECT) {
        match &event {
            Event::Text(piece) | Event::Code(piece) => leaves.last_mut().unwrap().push_str(piece),
            Event::Html(piece) | Event::InlineHtml(piece) => {
                leaves.last_mut().unwrap().push_str(piece);
            }
            Event::SoftBreak | Event::HardBreak => leaves.last_mut().unwrap().push('\n'),
            Event::Start(_) | Event::End(_) if !is_inline(&event) => leaves.push(String::new()),
            _ => {}
        }
    }
    let mut leaves: Vec<String> = leaves
        .iter()
        .map(|leaf| without_tags(leaf))
        .filter(|leaf| leaf != "<!-- -->")
        // What ends HTML that was left open is new.
        .map(|leaf| leaf.replace("-->", "").trim_end().to_owned())
        .filter(|leaf| !leaf.is_empty())
        .collect();
    leaves.sort_unstable();
    leaves
}

fn without_tags(text: &str) -> String {
    let mut text = text.trim().to_owned();
    for tag in ["[NEW]", "[DEFERRED]", "[BLOCKER]"] {
        text = text.replace(&format!("**{tag}**"), "").replace(tag, "");
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Lines without what an edit may change: tags, markers, white space at both ends, and blank lines.
fn solid_lines(text: &str) -> Vec<String> {
    text.trim_start_matches('\u{feff}')
        .lines()
        .map(|line| {
            let is_marker = |c: char| c.is_ascii_digit() || "-*+.) \\".contains(c);
            without_tags(line).trim_start_matches(is_marker).to_owned()
        })
        .filter(|line| !line.is_empty())
        .collect()
}

fn is_in_order(part: &[String], whole: &[String]) -> Result<(), String> {
    let mut rest = whole.iter();
    for line in part {
        if !rest.any(|other| other == line) {
            return Err(line.clone());
        }
    }
    Ok(())
}

/// Where an item is, its key, its tags, and whether its checkbox is ticked.
type PlacedKey = (SectionKind, String, Vec<Tag>, Option<bool>);

fn contents(document: &SpecDocument) -> Vec<PlacedKey> {
    let mut contents: Vec<_> = SectionKind::ALL
        .into_iter()
        .flat_map(|section| document.items(section))
        .map(|item| {
            let mut tags = item.tags.clone();
            tags.sort_unstable();
            tags.dedup();
            let check = is_ticked(document, item);
            (item.section, item.key.as_str().to_owned(), tags, check)
        })
        .collect();
    contents.sort();
    contents
}

/// Whether the checkbox of an item is ticked; `None` if it has none.
fn is_ticked(document: &SpecDocument, item: &SpecItem) -> Option<bool> {
    let entries = document.blocks.iter().flat_map(TopBlock::entries);
    let mut entries = entries.filter(|entry| entry.range == item.range);
    let at = entries.next()?.text.check?;
    Some(document.text.get(at..)?.starts_with(['x', 'X']))
}

/// Whether the checkbox of an item is ticked in another section.
fn is_ticked_in(section: SectionKind, document: &SpecDocument, item: &SpecItem) -> Option<bool> {
    let is_question = |section| section == SectionKind::Open;
    let has_changed = is_question(section) != is_question(item.section);
    is_ticked(document, item).map(|before| {
        if has_changed {
            !is_question(section)
        } else {
            before
        }
    })
}

/// What is expected of each item, by its beginning: its section, tags and notes.
type Model = BTreeMap<usize, (SectionKind, Vec<Tag>, Vec<String>)>;

/// The sections and words of added items.
type Added = Vec<(SectionKind, String)>;

/// Edits the document step by step, and says what is expected of it.
fn edit(items: &[&SpecItem], steps: &[Step], editor: &mut DocumentEditor<'_>) -> (Model, Added) {
    let of = |item: &&SpecItem| (item.range.start, (item.section, item.tags.clone(), vec![]));
    let mut model: Model = items.iter().map(of).collect();
    let mut added = Vec::new();
    for (action, at, section, words) in steps {
        let section = SectionKind::ALL[*section];
        if *action == 5 || items.is_empty() {
            editor.add_item(section, words, &[Tag::New]);
            added.push((section, words.clone()));
            continue;
        }
        let item = items[at % items.len()];
        let (place, tags, notes) = model.get_mut(&item.range.start).unwrap();
        match action {
            0 | 1 => {
                editor.move_item(item, section, words);
                *place = section;
                let moves_up = item.section == SectionKind::Open && section != SectionKind::Open;
                tags.retain(|tag| *tag == Tag::Blocker && !moves_up);
                notes.push(words.clone());
            }
            2 => {
                editor.note(item, words);
                notes.push(words.clone());
            }
            3 => {
                editor.set_tag(item, Tag::Deferred);
                tags.push(Tag::Deferred);
            }
            _ => {
                editor.clear_tag(item, Tag::New);
                tags.retain(|tag| *tag != Tag::New);
            }
        }
    }
    // Words without an item in them add none.
    added.retain(|(section, words)| !alone(*section, words).items(*section).is_empty());
    (model, added)
}

/// Returns a document of one item.
fn alone(section: SectionKind, words: &str) -> SpecDocument {
    let entry = super::escape::entry_text(words);
    SpecDocument::parse(&format!("## {}\n\n- {entry}\n", section.heading())).unwrap()
}

fn edit_and_check(text: &str, steps: &[Step]) -> Result<String, TestCaseError> {
    let Ok(document) = SpecDocument::parse(text) else {
        return Ok(text.to_owned());
    };
    let sections = SectionKind::ALL.into_iter();
    let items: Vec<&SpecItem> = sections.flat_map(|kind| document.items(kind)).collect();
    let mut editor = DocumentEditor::new(&document);
    let (model, added) = edit(&items, steps, &mut editor);
    let entry = ConvergenceEntry {
        iteration: 7,
        last_decision: "continue".to_owned(),
        ..ConvergenceEntry::default()
    };
    let result = front_matter::with_entry(&editor.finish(), &entry).unwrap();
    let again = SpecDocument::parse(&result).unwrap();
    prop_assert_eq!(result.starts_with('\u{feff}'), text.starts_with('\u{feff}'));
    prop_assert_eq!(again.front_matter(), Some(&entry));

    // Every item is where it belongs, and there is no other one.
    let mut expected: Vec<_> = items
        .iter()
        .map(|item| {
            let (section, mut tags, _) = model[&item.range.start].clone();
            tags.sort_unstable();
            tags.dedup();
            let check = is_ticked_in(section, &document, item);
            (section, item.key.as_str().to_owned(), tags, check)
        })
        .collect();
    for (section, words) in &added {
        for item in alone(*section, words).items(*section) {
            prop_assert_eq!(&item.tags, &vec![]);
            let key = item.key.as_str().to_owned();
            expected.push((*section, key, vec![Tag::New], None));
        }
    }
    expected.sort();
    prop_assert_eq!(contents(&again), expected, "{:?}\n{:?}", text, result);

    check_lines(text, &result, &items, &model)?;
    check_untouched(text, &result, &items, steps)?;

    // A reader sees what was there, the notes, what was added, and new headings.
    let mut expected = leaves(text);
    let notes = model.values().flat_map(|(_, _, notes)| notes);
    for words in notes.chain(added.iter().map(|(_, words)| words)) {
        let source = format!("- {}\n", super::escape::entry_text(words));
        expected.extend(leaves(&source));
    }
    let headings = |document: &SpecDocument| document.sections.headings.len();
    prop_assert!(headings(&again) >= headings(&document));
    prop_assert!(headings(&again) - headings(&document) <= 3);
    for heading in &again.sections.headings {
        if document.sections.first(heading.kind).is_none() {
            expected.push(heading.kind.heading().to_owned());
        }
    }
    expected.sort_unstable();
    prop_assert_eq!(leaves(&result), expected, "{:?}\n{:?}", text, result);
    Ok(result)
}

/// Checks that the text of the document is there, in order, and that what moved is there too.
fn check_lines(
    text: &str,
    result: &str,
    items: &[&SpecItem],
    model: &Model,
) -> Result<(), TestCaseError> {
    let mut kept = text.to_owned();
    let mut moved = Vec::new();
    for item in from_the_end(items) {
        if model[&item.range.start].0 != item.section {
            let whole = text.get(item.range.clone()).unwrap();
            moved.extend(solid_lines(whole).into_iter().skip(1));
            kept.replace_range(item.range.clone(), "");
        }
    }
    let lines = solid_lines(result);
    if let Err(line) = is_in_order(&solid_lines(&kept), &lines) {
        let lost = format!("lost {line:?} of {text:?}\n{result:?}");
        return Err(TestCaseError::fail(lost));
    }
    for line in moved {
        let is_there = lines.contains(&line);
        prop_assert!(is_there, "lost {:?} of {:?}\n{:?}", line, text, result);
    }
    Ok(())
}

/// Checks that what is outside of items, and items that no step edits, stay byte for byte.
fn check_untouched(
    text: &str,
    result: &str,
    items: &[&SpecItem],
    steps: &[Step],
) -> Result<(), TestCaseError> {
    let steps = steps
        .iter()
        .filter(|(action, ..)| *action != 5 && !items.is_empty());
    let edited = steps.map(|(_, at, ..)| items[at % items.len()].range.start);
    let edited: BTreeSet<usize> = edited.collect();
    let mut outside = text.to_owned();
    for item in from_the_end(items) {
        let whole = text.get(item.range.clone()).unwrap().trim_end();
        let is_kept = edited.contains(&item.range.start) || result.contains(whole);
        prop_assert!(is_kept, "{:?} is not in {:?}", whole, result);
        outside.replace_range(item.range.clone(), "");
    }
    let exact = |text: &str| -> Vec<String> {
        let lines = text.trim_start_matches('\u{feff}').lines();
        let lines = lines.filter(|line| !line.trim().is_empty());
        lines.map(str::to_owned).collect()
    };
    if let Err(line) = is_in_order(&exact(&outside), &exact(result)) {
        let changed = format!("{line:?} has changed: {text:?}\n{result:?}");
        return Err(TestCaseError::fail(changed));
    }
    Ok(())
}

/// Returns the items from the end of the document, so that removing one moves none of the next.
fn from_the_end<'d>(items: &[&'d SpecItem]) -> Vec<&'d SpecItem> {
    let mut items = items.to_vec();
    items.sort_unstable_by_key(|item| Reverse(item.range.start));
    items
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn edits_lose_nothing_and_change_nothing_else(
        text in documents(),
        rounds in proptest::collection::vec(steps(), 3),
    ) {
        let mut text = text;
        for steps in rounds {
            text = edit_and_check(&text, &steps)?;
        }
    }

    #[test]
    fn any_text_can_be_read_and_edited(
        text in r"(\PC|[\n\r\t #>`~<\-=*_\[\]():!|\\+0-9]|## Open Questions\n|\n- |```|<!--|\u{0}|\u{feff}){0,60}",
        words in HOSTILE,
    ) {
        let Ok(document) = SpecDocument::parse(&text) else {
            return Ok(());
        };
        let mut editor = DocumentEditor::new(&document);
        for item in document.items(SectionKind::Open) {
            editor.move_item(item, SectionKind::High, &words);
        }
        editor.add_item(SectionKind::Medium, &words, &[]);
        SpecDocument::parse(&editor.finish()).unwrap();
    }

    #[test]
    fn text_of_models_is_one_line_of_one_entry(words in HOSTILE) {
        let source = format!("- {}\n- next\n", super::escape::entry_text(&words));
        let blocks = outline(&source, 0);
        prop_assert_eq!(blocks.len(), 1);
        prop_assert!(matches!(
            &blocks[0].content,
            BlockContent::List(entries) if entries.len() == 2
        ), "{:?}", source);
    }
}
