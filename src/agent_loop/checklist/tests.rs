//! Plans, one a row, with what counts in them.

use proptest::prelude::*;

use super::read;
use crate::stopping::exit_check::evidence::Checklist;

/// Returns completed, open, cancelled and open blockers.
fn counts(plan: &str) -> Option<[u64; 4]> {
    let list = read(plan)?;
    let total = [list.completed, list.open, list.cancelled];
    Some([total[0], total[1], total[2], list.open_blockers])
}

#[test]
fn task_items_of_every_form_count() {
    for (plan, expected) in [
        ("- [ ] a\n- [x] b\n- [X] c", [2, 1, 0, 0]),
        ("* [ ] a\n* [x] b", [1, 1, 0, 0]),
        ("+ [ ] a\n+ [x] b", [1, 1, 0, 0]),
        ("1. [ ] a\n2. [x] b\n10) [x] c", [2, 1, 0, 0]),
        (
            "- [ ] a\n  - [x] b\n    1. [x] c\n       * [ ] d",
            [2, 2, 0, 0],
        ),
        ("-\t[x] a\n-   [ ] b", [1, 1, 0, 0]),
        ("   - [x] indented by three", [1, 0, 0, 0]),
        ("- plain\n  - [x] below a plain item", [1, 0, 0, 0]),
        (
            "- [x] loose\n\n- [ ] list\n\n  with a paragraph",
            [1, 1, 0, 0],
        ),
        (
            "- [x] **bold**, `code` and [a link](http://x)",
            [1, 0, 0, 0],
        ),
        ("- [ ] `code only`", [0, 1, 0, 0]),
        ("- [-] a\n- [~] b\n- [x] c", [1, 0, 2, 0]),
        (
            "- [ ] ~~dropped~~\n- [ ] kept ~~word~~\n- [x] ~~done~~",
            [2 - 1, 1, 1, 0],
        ),
        ("- [ ] ~~dropped~~ (not needed)\n- [x] b", [1, 0, 1, 0]),
        (
            "- [-] parent\n  - [ ] child\n  - [x] done child",
            [1, 0, 2, 0],
        ),
        (
            "- [/] begun\n- [>] postponed\n- [!] important",
            [0, 3, 0, 0],
        ),
        ("- ☐ a\n- ☑ b", [1, 1, 0, 0]),
        ("- [✓] a\n- [✔] b\n- [ ] c", [2, 1, 0, 0]),
        ("- [ ] a\r\n- [x] b\r\n", [1, 1, 0, 0]),
        ("\u{feff}- [x] a", [1, 0, 0, 0]),
        ("# Title\n\nText\n- [x] after text", [1, 0, 0, 0]),
        ("<details>\n\n- [x] a\n\n</details>", [1, 0, 0, 0]),
        ("---\ntitle: plan\n---\n- [x] a", [1, 0, 0, 0]),
    ] {
        assert_eq!(counts(plan), Some(expected), "{plan:?}");
    }
}

#[test]
fn what_only_looks_like_a_task_item_does_not_count() {
    for plan in [
        "",
        "- a\n- b",
        "- [link](http://x)",
        "- [ ](http://x)",
        "- [x](http://x) is a link",
        "- [x]: http://x",
        "- [2026-01-29] a date",
        "- [1] a footnote",
        "- [a] b",
        "- []",
        "- [] a",
        "- [ ]",
        "- [ ] \n- [x]   ",
        "- [x]no blank",
        "[ ] no bullet",
        "text - [ ] in the middle",
        "- \\[ ] escaped",
        "```\n- [ ] a\n```",
        "~~~markdown\n- [x] a\n~~~",
        "    - [ ] indented code",
        "-     [ ] code in an item",
        "> - [ ] a quote\n> - [x] b",
        "<!--\n- [ ] a comment\n-->",
        "<!-- - [ ] a -->",
        "| a | b |\n|---|---|\n| [ ] | [x] |",
        "| ☐ | ✅ |\n|---|---|\n| ☐ | ☑ |",
        "- ✅ a note",
        "```\n- [ ] an unclosed fence\n- [x] b",
    ] {
        assert_eq!(counts(plan), None, "{plan:?}");
    }
}

#[test]
fn optional_sections_and_items_do_not_count() {
    for heading in [
        "Optional",
        "Nice to have",
        "Nice-to-Have 🎁",
        "Future Enhancements",
        "Out of scope",
        "Backlog",
        "Later",
        "Phase 5: Optional improvements",
        "4. Polish (optional)",
    ] {
        let plan = format!("## Tasks\n- [x] a\n## {heading}\n- [ ] b");
        assert_eq!(counts(&plan), Some([1, 0, 0, 0]), "{plan:?}");
    }
    for (plan, expected) in [
        (
            "## Tasks\n- [x] a\n## Optional\n### Part\n- [ ] b\n## Must\n- [ ] c",
            [1, 1, 0, 0],
        ),
        (
            "## Tasks\n- [x] a\n\n**Optional:**\n\n- [ ] b\n\n**Required:**\n\n- [ ] c",
            [1, 1, 0, 0],
        ),
        ("- [x] a\n\nNice to have:\n- [ ] b", [1, 0, 0, 0]),
        (
            "- [x] a\n- [ ] b (optional)\n- [ ] c [optional]",
            [1, 0, 0, 0],
        ),
        (
            "- [x] a\n- [ ] Optional: b\n- [ ] **Optional**: c",
            [1, 0, 0, 0],
        ),
        (
            "- [x] a\n- [ ] extras (nice to have)\n  - [ ] child",
            [1, 0, 0, 0],
        ),
        ("- [x] a\n- Optional\n  - [ ] child", [1, 0, 0, 0]),
        // What is counted although the words occur.
        ("# Backlog\n- [x] a\n- [ ] b", [1, 1, 0, 0]),
        ("# Plan\n## Optional chaining\n- [ ] b", [0, 1, 0, 0]),
        ("# Plan\n## Future trait\n- [ ] b", [0, 1, 0, 0]),
        ("# Plan\n## Not optional\n- [ ] b", [0, 1, 0, 0]),
        ("- [ ] make the argument optional", [0, 1, 0, 0]),
        ("- [ ] parse optional: fields", [0, 1, 0, 0]),
        ("- [ ] a call (see later chapters of x)", [0, 1, 0, 0]),
    ] {
        assert_eq!(counts(plan), Some(expected), "{plan:?}");
    }
}

#[test]
fn open_blockers_are_counted() {
    for (item, blockers) in [
        ("[BLOCKER] fix the build", 1),
        ("fix the build (blocker)", 1),
        ("🚫 fix the build", 1),
        ("**BLOCKER:** fix the build", 1),
        ("fix the ad blocker", 0),
        ("a non-blocking call", 0),
        ("fix it [non-blocker]", 0),
    ] {
        for (mark, expected) in [(' ', [0, 1, 0, blockers]), ('x', [1, 0, 0, 0])] {
            let plan = format!("- [{mark}] {item}");
            assert_eq!(counts(&plan), Some(expected), "{plan}");
        }
    }
}

#[test]
fn a_plan_without_items_that_count_is_unknown() {
    assert_eq!(read("## Optional\n- [ ] a\n- [x] b"), None);
    assert_eq!(read("- [-] a"), None);
}

fn completed_set(plan: &str) -> String {
    read(plan).unwrap().completed_set
}

#[test]
fn completed_set_changes_with_what_is_completed_alone() {
    let set = completed_set("- [x] Write the *parser*\n- [ ] b\n- [ ] c");
    let same = [
        "- [ ] b\n- [ ] c\n- [X] write the parser.",
        "* [x] Write  the\n  parser\n* [ ] other words\n* [ ] c\n* [ ] d",
        "1. [ ] parent\n   1. [x] Write the parser\n\n      Notes below it.",
        "- [x] Write the parser\n  - a note\n- [ ] x",
    ];
    for plan in same {
        assert_eq!(completed_set(plan), set, "{plan:?}");
    }
    let different = [
        "- [ ] Write the parser\n- [ ] b",
        "- [x] Write the parser\n- [x] b",
        "- [x] Write the lexer\n- [ ] b",
        "- [x] Write the parser\n- [x] Write the parser",
    ];
    for plan in different {
        assert_ne!(completed_set(plan), set, "{plan:?}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read(plan in "(?s)(- |\\* |1\\. |  |\\[[ xX~-]\\] |~~|`|```\n|> |<!--|#{1,3} |Optional|\\PC|\n|\r\n){0,60}") {
        let _ = read(&plan);
    }

    #[test]
    fn line_ends_change_nothing(items in proptest::collection::vec("(- \\[[ x]\\] \\w{1,8}|## Optional|## Must|text|)", 0..12)) {
        prop_assert_eq!(read(&items.join("\n")), read(&items.join("\r\n")));
    }

    #[test]
    fn items_are_counted_as_they_are_marked(marks in proptest::collection::vec(any::<bool>(), 1..40)) {
        let plan: String = marks
            .iter()
            .map(|done| if *done { "- [x] a\n" } else { "- [ ] a\n" })
            .collect();
        let list: Checklist = read(&plan).unwrap();
        prop_assert_eq!(list.total(), marks.len() as u64);
        prop_assert_eq!(list.completed, marks.iter().filter(|done| **done).count() as u64);
    }
}
