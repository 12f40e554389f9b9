//! Numbers in prose: confidence that the agent states, and progress such as `4 of 16 tasks`.

use std::sync::LazyLock;

use regex::Captures;

use crate::agent_loop::text::{Block, TABLES, has_word, sentences};
use crate::text::clean::words;
use crate::text::pattern::Pattern;
use crate::text::word_list::WordList;

/// `85%`, `0.85`, `8/10`, `8 out of 10`
const NUMBER: &str =
    r"(?P<number>\d+(?:[.,]\d+)?)(?: ?(?P<percent>%)|(?: ?/ ?| out of )(?P<scale>5|10|100)\b)?";

/// How a sentence states a confidence.
struct StatedForm {
    pattern: Pattern,
    is_label: bool,
    /// The agent has to speak of itself.
    is_own: bool,
}

static FORMS: LazyLock<[StatedForm; 4]> = LazyLock::new(|| {
    let any = |words: &WordList| words.join("|");
    let nouns = any(TABLES.list("confidence_nouns"));
    let adjectives = any(TABLES.list("confidence_adjectives"));
    let own = any(TABLES.list("confidence_own"));
    let between = any(TABLES.list("confidence_between"));
    let denial = r"(?P<denial>\b(?:not|never|nicht|pas|no|\w+n't) (?:\S+ ){0,2})";
    let before = format!(r"(?:{denial}|^|[^\d.,/]){NUMBER} ?(?:[^\s\d]\S* )?");
    let label = format!(r"(?:^|[^\w\s] *|\b(?:{own}) )(?:{nouns})\b");
    let between = format!(r"(?:\s|\b(?:{between})\b|[:：=(~≈–—*|\u{{fffc}}-])*?");
    let behind = format!(r"\b(?:{adjectives}) ?[(:~] ?{NUMBER}");
    let form = |pattern: String, is_label, is_own| StatedForm {
        pattern: Pattern::from(pattern),
        is_label,
        is_own,
    };
    [
        // `my confidence in the fix is about 85`
        form(format!("{label}{between}{NUMBER}"), true, false),
        // `I say it with 85% confidence`
        form(format!(r"{before}(?:{nouns})\b"), false, true),
        form(format!(r"{before}(?:{adjectives})\b"), false, false),
        // `confident (85%)`
        form(behind, false, false),
    ]
});

/// Returns the last confidence that the prose states, in percent.
pub(super) fn read(blocks: &[&Block]) -> Option<u8> {
    let has_digits = |block: &&&Block| block.prose.contains(|c: char| c.is_ascii_digit());
    let mut last = None;
    for block in blocks.iter().filter(has_digits) {
        let lower = block.prose.to_lowercase().replace('’', "'");
        for sentence in sentences(&lower) {
            if !sentence.is_question {
                last = of_sentence(sentence.text).or(last);
            }
        }
    }
    last
}

fn of_sentence(sentence: &str) -> Option<u8> {
    let has = |list| has_word(sentence, TABLES.list(list));
    let is_stated = has("confidence_nouns") || has("confidence_adjectives");
    if !is_stated || has("confidence_of_others") {
        return None;
    }
    let speaks = has("confidence_speakers");
    let forms = FORMS.iter().filter(|form| speaks || !form.is_own);
    let stated = forms.flat_map(|form| {
        form.pattern
            .all(sentence)
            .filter_map(|found| Some((found.get(0)?.end(), value(&found, form.is_label)?)))
    });
    stated.max_by_key(|(end, _)| *end).map(|(_, value)| value)
}

/// Without a sign of its scale, a whole number counts only after a label, and above 10: up to there
/// its scale is unknown.
fn value(found: &Captures<'_>, is_label: bool) -> Option<u8> {
    if found.name("denial").is_some() {
        return None;
    }
    let written = found.name("number")?.as_str().replace(',', ".");
    let number: f64 = written.parse().ok()?;
    let scale = found.name("scale");
    let scale: Option<f64> = scale.and_then(|scale| scale.as_str().parse().ok());
    let percent = match scale {
        Some(scale) => (number * 100.0 / scale).floor(),
        None if found.name("percent").is_some() => number.round(),
        None if written.contains('.') && number < 2.0 => (number * 100.0).round(),
        None if is_label && !written.contains('.') && number > 10.0 => number,
        None => return None,
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number from 0 to 100"
    )]
    (0.0..=100.0).contains(&percent).then_some(percent as u8)
}

/// `85`, `85%`, `0.85`, `8/10`.
pub(super) fn percent(field: &str) -> Option<u8> {
    static VALUE: Pattern = Pattern::prepared("", |_| format!(r"^\W*?{NUMBER}"));
    VALUE.all(field).find_map(|found| value(&found, true))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatedProgress {
    Part,
    All,
}

/// `4 of the 16 tasks are done`, with the words behind the numbers; `80% complete`
static PROGRESS: Pattern = Pattern::prepared("", |_| {
    let number = TABLES.list("small_numbers").join("|");
    format!(
        r"\b(?:(?P<done>\d+|{number}) ?(?:/|\b(?:out of|of|von|sur|de|из)\b) ?(?:(?:the|my|all|den|las) )?(?P<all>\d+|{number})\b(?P<names>(?: [\w'-]+){{0,5}})|(?P<percent>\d+)% (?P<what>\w+))"
    )
});

pub(super) fn progress(sentence: &str) -> Option<StatedProgress> {
    if words(sentence).any(|word| TABLES.list("not_progress").has(word)) {
        return None;
    }
    PROGRESS.all(sentence).find_map(|found| {
        let text = |name| found.name(name).map_or("", |found| found.as_str());
        if text("done").is_empty() {
            let percent: u64 = text("percent").parse().ok()?;
            // All of what is not said: the coverage, a file, the plan.
            let is_part = percent < 100 && TABLES.list("counted_done").has(text("what"));
            return is_part.then_some(StatedProgress::Part);
        }
        let (done, all) = (number(text("done"))?, number(text("all"))?);
        let has = |list: &WordList, most| {
            text("names")
                .split(' ')
                .take(most)
                .any(|word| list.has(word))
        };
        let is_done = has(TABLES.list("counted_done"), 6);
        if done > all || all == 0 || !is_done && !has(TABLES.list("counted"), 3) {
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
    let mut known = TABLES.list("small_numbers").iter();
    let named = known.position(|name| name == text);
    text.parse().ok().or_else(|| Some(named? + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent_loop::text::Message;

    #[test]
    fn stated_confidence_is_the_last_number_of_the_agent_itself() {
        for (message, expected) in [
            ("Confidence: 85%", Some(85)),
            ("**Confidence:** 85%", Some(85)),
            ("- Confidence: ~85 %", Some(85)),
            ("Confidence level: 85/100", Some(85)),
            ("confidence 0.6", Some(60)),
            ("Confidence: 0.855", Some(86)),
            ("Confidence = 0,6", Some(60)),
            ("Confidence: 60", Some(60)),
            ("Confidence: 8/10", Some(80)),
            ("Confidence in the fix: 70%", Some(70)),
            ("My confidence is about 65%.", Some(65)),
            ("My overall confidence in this change is 40%.", Some(40)),
            ("I'm 60% sure.", Some(60)),
            ("I'm 60% confident that it works.", Some(60)),
            ("I am about 90% certain.", Some(90)),
            ("7/10 confident", Some(70)),
            ("I'd say 7 out of 10 confident.", Some(70)),
            ("I'm confident (95%).", Some(95)),
            ("I can say with 60% confidence that it works.", Some(60)),
            ("Confidence: 40%\n\nLater: confidence: 90%", Some(90)),
            ("Confidence: 100%", Some(100)),
            ("Confidence: 0%", Some(0)),
            ("Meine Zuversicht: 70%", Some(70)),
            ("Ich bin zu 80% sicher.", Some(80)),
            ("Confiance : 75 %", Some(75)),
            // Not the agent's confidence, or not a number of it.
            ("", None),
            ("The 95% confidence interval is wide.", None),
            ("A confidence threshold of 70% is used.", None),
            ("The minimum confidence is 70%.", None),
            ("The classifier's prediction has confidence 0.93.", None),
            ("If confidence is below 70%, stop.", None),
            ("Test coverage is 85%.", None),
            ("Confidence: high", None),
            ("Confidence: 5", None),
            ("Confidence: 150%", None),
            ("Confidence: 3.5", None),
            ("I'm not 100% sure.", None),
            ("How sure are you, 60%?", None),
            ("`Confidence: 85%`", None),
            ("> Confidence: 85%", None),
            ("```\nConfidence: 85%\n```", None),
            ("I am confident. All 42 tests pass.", None),
            ("I made sure that 42 tests pass.", None),
        ] {
            let message_read = Message::read(message, None);
            let blocks: Vec<&Block> = message_read.blocks.iter().collect();
            assert_eq!(read(&blocks), expected, "{message}");
        }
    }

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
