//! Progress that is stated in numbers: `4 of 16 tasks`, `80% complete`.

use crate::agent_loop::text::tables::TABLES;
use crate::text::pattern::Pattern;
use crate::text::word_list::WordList;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatedProgress {
    Part,
    All,
}

/// `4 of the 16 tasks are done`, with the words behind the numbers; `80% complete`
static PROGRESS: Pattern = Pattern::prepared("", |_| {
    let number = TABLES.small_numbers.join("|");
    format!(
        r"\b(?:(?P<done>\d+|{number}) ?(?:/|\b(?:out of|of|von|sur|de|из)\b) ?(?:(?:the|my|all|den|las) )?(?P<all>\d+|{number})\b(?P<names>(?: [\w'-]+){{0,5}})|(?P<percent>\d+)% (?P<what>\w+))"
    )
});

/// Reads the progress that a sentence in lower case states in numbers.
pub(super) fn progress(sentence: &str) -> Option<StatedProgress> {
    let mut words = sentence.split(|c: char| !c.is_alphanumeric());
    if words.any(|word| TABLES.not_progress.has(word)) {
        return None;
    }
    PROGRESS.all(sentence).find_map(|found| {
        let text = |name| found.name(name).map_or("", |found| found.as_str());
        if text("done").is_empty() {
            let percent: u64 = text("percent").parse().ok()?;
            // All of what is not said: the coverage, a file, the plan.
            let is_part = percent < 100 && TABLES.counted_done.has(text("what"));
            return is_part.then_some(StatedProgress::Part);
        }
        let (done, all) = (number(text("done"))?, number(text("all"))?);
        let has = |list: &WordList, most| {
            text("names")
                .split(' ')
                .take(most)
                .any(|word| list.has(word))
        };
        let is_done = has(&TABLES.counted_done, 6);
        if done > all || all == 0 || !is_done && !has(&TABLES.counted, 3) {
            return None;
        }
        match (done == all, is_done) {
            (true, true) => Some(StatedProgress::All),
            (true, false) => None,
            // `Task 2 of 5` numbers a task; `2 of 5 tasks` counts them.
            (false, _) => Some(StatedProgress::Part),
        }
    })
}

fn number(text: &str) -> Option<usize> {
    let named = TABLES.small_numbers.iter().position(|name| name == text);
    text.parse().ok().or_else(|| Some(named? + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_a_count_of_things_or_a_share_that_is_done() {
        for (sentence, expected) in [
            ("4 of 16 tasks complete", Some(StatedProgress::Part)),
            ("4/16 tasks", Some(StatedProgress::Part)),
            ("progress: 4 out of 16 done", Some(StatedProgress::Part)),
            ("completed 3 of the 5 steps", Some(StatedProgress::Part)),
            ("about 80% complete", Some(StatedProgress::Part)),
            ("3 von 7 aufgaben erledigt", Some(StatedProgress::Part)),
            ("16/16 tasks are complete", Some(StatedProgress::All)),
            ("5 of 5 tasks done", Some(StatedProgress::All)),
            ("16/16 tests pass", None),
            ("4 of 16 tests fail", None),
            ("on 2026/11/21 it was done", None),
            ("confidence 7/10", None),
            ("100% complete", None),
            ("if 4 of 5 tasks are done", None),
            ("at least 80% complete", None),
            (
                "two of three tasks are complete",
                Some(StatedProgress::Part),
            ),
            ("one of the tasks is complete", None),
            ("no numbers", None),
        ] {
            assert_eq!(progress(sentence), expected, "{sentence}");
        }
    }
}
