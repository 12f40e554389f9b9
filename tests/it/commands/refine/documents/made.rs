//! The document that is too long to be stored.

use std::fmt::Write;

use super::{Case, Move};

#[test]
fn document_of_a_megabyte_stays() {
    let mut text = "# Long\n\n".to_owned();
    write_chapters(&mut text, "front");
    text.push_str(
        "## High Confidence\n\n+ Chapters are numbered.\n+ Chapters are short.\n\n\
         ## Medium Confidence\n\n+ Chapters are final.\n\n\
         ## Open Questions\n\n+ Who reads them?\n+ Who prints them?\n+ Who signs them?\n\
         + Who binds them?\n\n",
    );
    write_chapters(&mut text, "back");
    assert!(text.len() >= 1_000_000, "{}", text.len());
    Case {
        text,
        headings: [
            "## High Confidence",
            "## Medium Confidence",
            "## Open Questions",
        ],
        moves: [
            Move::same("+ Chapters are numbered.\n"),
            Move::same("+ Who reads them?\n"),
            Move::same("+ Who prints them?\n"),
        ],
        deferred: "Who signs them?",
        added: &[],
        is_loose: false,
    }
    .check();
}

/// Writes half a megabyte of chapters: text, lists, tables and code.
fn write_chapters(text: &mut String, part: &str) {
    let words = "Words that say the same again and again, with *marks* and `code`. ".repeat(28);
    for number in 0..280 {
        writeln!(
            text,
            "## Chapter {number} of the {part}\n\n{words}\n\n- one  \n  - two\n\n| a | b |\n|---|---|\n\
             | {number} | - |\n\n```\n- [ ] no entry\n```\n"
        )
        .unwrap();
    }
}
