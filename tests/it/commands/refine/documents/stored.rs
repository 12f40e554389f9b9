//! The documents that are stored as files.

use super::{Case, Move, refined};

/// The headings of most documents.
const HEADINGS: [&str; 3] = [
    "## High Confidence",
    "## Medium Confidence",
    "## Open Questions",
];

fn front_matter() -> Case {
    Case {
        text: include_str!("../../../data/refine/front_matter.md").to_owned(),
        headings: HEADINGS,
        moves: [
            Move::same("- Refunds go through the ledger.\n"),
            Move::same("- Where are the keys kept?\n"),
            Move::same("- How long is a refund pending?\n"),
        ],
        deferred: "Which currency is it?",
        added: &[],
        is_loose: false,
    }
}

fn windows_paths() -> Case {
    Case {
        text: include_str!("../../../data/refine/windows_paths.md").to_owned(),
        headings: HEADINGS,
        moves: [
            Move::same("- Logs are in C:\\ProgramData\\App\\logs\\.\n"),
            Move::same("- Is C:\\Users\\me\\[draft]\\notes.txt read?\n"),
            Move::same("- Who cleans C:\\Temp\\new\\table?\n"),
        ],
        deferred: "May \\\\?\\C:\\very",
        added: &[],
        is_loose: false,
    }
}

#[test]
fn foreign_front_matter_and_its_comments_stay() {
    let case = front_matter();
    let result = refined(&case.text);
    case.check_result(&result);
    assert!(
        result.contains("\n    target: 0.9   # by hand\n"),
        "{result}"
    );
}

#[test]
fn plain_document_without_its_last_section_and_line_ending_stays() {
    Case {
        text: include_str!("../../../data/refine/plain.md").to_owned(),
        headings: ["High confidence", "## Medium Confidence", "Open questions:"],
        moves: [
            Move {
                from: "* Tokens are signed.\n",
                to: "- Tokens are signed.\n",
            },
            Move::same("* How long do sessions last?\n"),
            Move::same("* Which store is used?\n"),
        ],
        deferred: "Who may end a session?",
        added: &["## Medium Confidence\n\n\n"],
        is_loose: false,
    }
    .check();
}

#[test]
fn nested_lists_move_whole_and_stay_whole() {
    Case {
        text: include_str!("../../../data/refine/nested_lists.md").to_owned(),
        headings: [
            "## 1. High-Confidence Claims (2)",
            "## 2. Medium Confidence (1)",
            "## 3. Open Questions (4)",
        ],
        moves: [
            Move {
                from: "1. The index is rebuilt at night.\n\n   - It takes an hour.\n     1. First \
                       the titles.\n     2. Then the bodies.\n\n   A second paragraph.\n\n",
                to: "* The index is rebuilt at night.\n\n  - It takes an hour.\n    1. First the \
                     titles.\n    2. Then the bodies.\n\n  A second paragraph.\n",
            },
            Move {
                from: "- How is stemming done?\n  - [ ] English\n  - [x] German\n    - with \
                       compounds\n      - of any length\n",
                to: "\n3. How is stemming done?\n   - [ ] English\n   - [x] German\n     - with \
                     compounds\n       - of any length\n",
            },
            Move {
                from: "- Which fields are searched?\n\t- a tab indents this\n",
                to: "\n4. Which fields are searched?\n     - a tab indents this\n",
            },
        ],
        deferred: "Who edits the stop words?",
        added: &[],
        is_loose: false,
    }
    .check();
}

#[test]
fn tables_stay_and_those_of_items_move() {
    Case {
        text: include_str!("../../../data/refine/tables.md").to_owned(),
        headings: HEADINGS,
        moves: [
            Move {
                from: "- Limits reset at midnight UTC.\n\n  | Zone | Offset |\n  |------|--------|\n  | \
                       CET  | +1     |\n\n",
                to: "- Limits reset at midnight UTC.\n\n  | Zone | Offset |\n  |------|--------|\n  | \
                     CET  | +1     |\n",
            },
            Move {
                from: "- What is the limit of a team?\n\n  | Plan | Limit |\n  |------|-------|\n  | \
                       team | ?     |\n\n",
                to: "\n- What is the limit of a team?\n\n  | Plan | Limit |\n  |------|-------|\n  | \
                     team | ?     |\n",
            },
            Move {
                from: "- Is the limit shared?\n\n",
                to: "\n- Is the limit shared?\n",
            },
        ],
        deferred: "Who can raise it?",
        added: &[],
        is_loose: true,
    }
    .check();
}

#[test]
fn code_that_looks_like_items_and_headings_is_code() {
    Case {
        text: include_str!("../../../data/refine/code_fences.md").to_owned(),
        headings: [
            "## High Confidence (so far)",
            "## Medium Confidence (so far)",
            "## Open Questions (so far)",
        ],
        moves: [
            Move {
                from: "- [x] Builds are cached.\n\n  ```sh\n  - [ ] no entry\n  ## Open \
                       Questions\n  make   all\t# a tab before this\n  ```\n\n",
                to: "- [x] Builds are cached.\n\n  ```sh\n  - [ ] no entry\n  ## Open \
                     Questions\n  make   all\t# a tab before this\n  ```\n",
            },
            Move {
                from: "- [ ] Where do artifacts go?\n\n  ````\n  ```\n  - [ ] [DEFERRED] no \
                       entry\n  ```\n  ````\n\n",
                to: "\n- [x] Where do artifacts go?\n\n  ````\n  ```\n  - [ ] [DEFERRED] no \
                     entry\n  ```\n  ````\n",
            },
            Move {
                from: "- [ ] Which runner is used?\n\n",
                to: "\n- [x] Which runner is used?\n",
            },
        ],
        deferred: "Who pays for it?",
        added: &[],
        is_loose: true,
    }
    .check();
}

#[test]
fn backslashes_of_windows_paths_stay() {
    windows_paths().check();
}

#[test]
fn windows_line_endings_stay() {
    for mut case in [front_matter(), windows_paths()] {
        case.text = case.text.replace('\n', "\r\n");
        case.check();
    }
}

#[test]
fn byte_order_mark_stays_first() {
    let mut case = windows_paths();
    case.text.insert(0, '\u{feff}');
    case.check();
}

#[test]
fn other_scripts_and_combining_marks_stay() {
    Case {
        text: include_str!("../../../data/refine/scripts.md").to_owned(),
        headings: HEADINGS,
        moves: [
            Move::same("- 退款经过账本服务。\n"),
            Move::same("- 密钥保存在哪里？\n"),
            Move::same("- كم يبقى الاسترداد معلقًا؟\n"),
        ],
        deferred: "Wie heißt",
        added: &[],
        is_loose: false,
    }
    .check();
}

#[test]
fn html_and_what_it_hides_stay() {
    Case {
        text: include_str!("../../../data/refine/html.md").to_owned(),
        headings: HEADINGS,
        moves: [
            Move::same("- Pages are static.\n  <!-- - no note -->\n"),
            Move::same("- Which host serves <a href=\"x\">them</a>?\n"),
            Move {
                from: "- How are they built?\n  <details>\n  - no note\n  </details>\n",
                to: "- How are they built?\n  <details>\n  - no note\n  </details>\n\n",
            },
        ],
        deferred: "Who writes them?",
        added: &[],
        is_loose: false,
    }
    .check();
}

#[test]
fn duplicate_headings_stay_where_they_are() {
    Case {
        text: include_str!("../../../data/refine/duplicate_headings.md").to_owned(),
        headings: HEADINGS,
        moves: [
            Move::same("- Phase one is done.\n"),
            Move::same("- When does phase two end?\n"),
            Move::same("- Who leads phase three?\n"),
        ],
        deferred: "Where is the annex kept?",
        added: &[],
        is_loose: false,
    }
    .check();
}
