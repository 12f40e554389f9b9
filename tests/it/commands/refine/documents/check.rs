//! Takes what the tool owns out of a document and its result, by lines and without a parser of
//! Markdown, and compares the rest.

use super::{Case, Move, NEW_QUESTION};

/// The keys of the tool in the front matter.
const KEYS: [&str; 7] = [
    "iteration",
    "questions_stable_count",
    "open_questions_count",
    "high_confidence_ratio",
    "last_decision",
    "rule",
    "questions",
];

impl Case {
    #[track_caller]
    pub(super) fn check_result(&self, result: &str) {
        assert_eq!(
            result.ends_with(['\n', '\r']),
            self.text.ends_with(['\n', '\r']),
            "{result}"
        );
        self.check_places(result);
        let mut before = self.text.clone();
        let mut after = without_own_front_matter(result, &before);
        before = without_own_keys(&before);
        after = self.without_added_lines(&after);
        after = without(
            &after,
            &format!("[DEFERRED] {}", self.deferred),
            self.deferred,
        );
        for Move { from, to } in &self.moves {
            before = without_lines(&before, &self.ended(from));
            after = without_lines(&after, &self.ended(to));
        }
        for added in self.added {
            after = without_lines(&after, &self.ended(added));
        }
        assert_eq!(after.trim_end_matches('\n'), before.trim_end_matches('\n'));
        assert_eq!(has_bare_line_feed(result), has_bare_line_feed(&self.text));
    }

    /// Checks that each item has arrived below its heading, with its note right after it.
    fn check_places(&self, result: &str) {
        let [claim, first, second] = self.moves;
        let [high, medium, open] = self.headings;
        for (moved, heading, note) in [
            (claim, medium, "Contradicted: "),
            (first, high, "Answer: "),
            (second, high, "Answer: "),
        ] {
            let lines = self.ended(moved.to.trim_start_matches('\n'));
            let lines = lines.trim_end_matches(['\n', '\r']);
            let (above, below) = result
                .split_once(lines)
                .unwrap_or_else(|| panic!("{lines:?} is not in\n{result}"));
            let nearest = above
                .lines()
                .rfind(|line| [high, medium, open].contains(line));
            assert_eq!(nearest, Some(heading), "{lines:?} in\n{result}");
            let mut next = below.lines().skip(1).filter(|line| !line.trim().is_empty());
            let next = next.next().unwrap_or_default();
            assert!(next.contains(note), "{next:?} after {lines:?}");
        }
        let new: Vec<&str> = result.lines().filter(is_new_question).collect();
        assert_eq!(new.len(), 1, "{result}");
        assert_eq!(result.matches("Deferred: ").count(), 1, "{result}");
    }

    /// Takes out the notes of consultations and the new question.
    fn without_added_lines(&self, text: &str) -> String {
        let mut kept: Vec<&str> = Vec::new();
        for line in text.split_inclusive('\n') {
            if is_new_question(&line) {
                if self.is_loose {
                    assert_eq!(kept.pop().map(str::trim), Some(""), "{text}");
                }
            } else if !is_note(line) {
                kept.push(line);
            }
        }
        kept.concat()
    }

    /// Returns lines with the line ending of the document.
    fn ended(&self, lines: &str) -> String {
        if self.text.contains("\r\n") {
            lines.replace('\n', "\r\n")
        } else {
            lines.to_owned()
        }
    }
}

#[track_caller]
fn without(text: &str, part: &str, instead: &str) -> String {
    assert_eq!(text.matches(part).count(), 1, "{part:?} in\n{text}");
    text.replace(part, instead)
}

/// Takes out lines that stand there once.
#[track_caller]
fn without_lines(text: &str, lines: &str) -> String {
    let starts: Vec<usize> = text
        .match_indices(lines)
        .map(|(at, _)| at)
        .filter(|at| *at == 0 || text[..*at].ends_with('\n'))
        .collect();
    assert_eq!(starts.len(), 1, "{lines:?} in\n{text}");
    format!("{}{}", &text[..starts[0]], &text[starts[0] + lines.len()..])
}

/// Whether a line is a note: what was found, and at its end where it is from.
fn is_note(line: &str) -> bool {
    let labels = ["Answer: ", "Deferred: ", "Contradicted: "];
    let has_label = labels.into_iter().any(|label| line.contains(label));
    has_label && line.contains("consult-") && line.trim_end().ends_with(')')
}

fn is_new_question(line: &&str) -> bool {
    line.replace('\\', "")
        .contains(&NEW_QUESTION.replace('\\', ""))
}

/// Takes a front matter that is new out of a result, or else the tool's keys.
fn without_own_front_matter(result: &str, original: &str) -> String {
    let start = if result.starts_with('\u{feff}') { 3 } else { 0 };
    if original[start..].starts_with("---") {
        return without_own_keys(result);
    }
    let (mark, result) = result.split_at(start);
    let mut fences = 0;
    let mut lines = result.split_inclusive('\n');
    while fences < 2 {
        let line = lines.next().expect("the front matter ends").trim_end();
        fences += usize::from(line == "---");
        let key = line.trim_start().split(':').next().unwrap_or_default();
        assert!(
            line == "---" || key == "convergence" || KEYS.contains(&key),
            "{line}"
        );
    }
    assert_eq!(lines.next().map(str::trim_end), Some(""));
    mark.to_owned() + &lines.collect::<String>()
}

/// Takes the tool's keys below `convergence:` out of a front matter.
fn without_own_keys(text: &str) -> String {
    let mut is_in_section = false;
    let mut is_in_front_matter = text.starts_with("---");
    let lines = text.split_inclusive('\n').enumerate();
    lines
        .filter(|(number, line)| {
            is_in_front_matter &= *number == 0 || !["---", "..."].contains(&line.trim_end());
            let is_indented = line.starts_with(' ');
            if is_in_front_matter && !is_indented {
                is_in_section = line.trim_end() == "convergence:";
            }
            let key = line.trim_start().split(':').next().unwrap_or_default();
            !(is_in_front_matter && is_in_section && is_indented && KEYS.contains(&key))
        })
        .map(|(_, line)| line)
        .collect()
}

fn has_bare_line_feed(text: &str) -> bool {
    text.replace("\r\n", "").contains('\n')
}
