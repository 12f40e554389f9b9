//! A person can undo each change with the texts of the log.

use proptest::prelude::*;

use crate::refinement::change::ChangeKind;

use super::*;

/// Undoes a change as a person does: the text after it goes, and the text before it comes back to
/// its place in the original.
fn undone(text: &str, change: &ItemChange, original: &str) -> String {
    match (&change.before, &change.after) {
        (None, Some(after)) => replaced(text, after, ""),
        (Some(before), Some(after)) => match change.kind {
            ChangeKind::Moved { .. } => {
                let text = replaced(text, after, "");
                // The line above it in the original shows the place.
                let (above, _) = original.split_once(before.as_str()).unwrap();
                let line = above.trim_end().lines().next_back().unwrap();
                replaced(&text, &format!("{line}\n"), &format!("{line}\n{before}"))
            }
            ChangeKind::Deferred | ChangeKind::Kept => replaced(text, after, before),
            ChangeKind::Added { .. } | ChangeKind::Dropped => panic!("it has a text before"),
        },
        (_, None) => text.to_owned(),
    }
}

/// Blank lines around a list that was empty meanwhile are a matter of layout.
fn lines(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.is_empty()).collect()
}

fn replaced(text: &str, old: &str, new: &str) -> String {
    assert_eq!(text.matches(old).count(), 1, "{old:?} in {text}");
    text.replacen(old, new, 1)
}

fn finding(choice: u8, question: &str) -> PanelFinding {
    match choice % 4 {
        0 => answered(question, "an answer"),
        1 => deferred(question, "a reason"),
        2 => still_open(question, "no data"),
        _ => new(&format!("{question} And why?")),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_change_can_be_undone_by_hand(
        choices in prop::array::uniform3(0..4u8),
        confidence in prop::sample::select(vec![0.5, 0.9]),
        contradicts: bool,
    ) {
        let questions = ["Which database?", "Who pays?", "Which cache?"];
        let mut findings: Vec<PanelFinding> = choices
            .into_iter()
            .zip(questions)
            .map(|(choice, question)| finding(choice, question))
            .collect();
        if contradicts {
            findings.push(contradicted("One region is enough", "no"));
        }
        let merge = merged(DOCUMENT, &[of("a", Some(confidence), findings)]);
        let mut text = merge.text;
        for change in &merge.changes {
            text = undone(&text, change, DOCUMENT);
        }
        prop_assert_eq!(lines(&text), lines(DOCUMENT));
    }
}
