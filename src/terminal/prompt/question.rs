//! A question that one key answers: what is at stake, the question itself, and its keys.

use console::measure_text_width;

use super::keyboard::Key;
use crate::terminal::output::style::Paint;
use crate::terminal::output::wrap::fit;

/// One key, and the answer it gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::terminal) struct KeyChoice<A> {
    /// A lowercase letter.
    pub(in crate::terminal) key: char,
    /// What the question says of the key behind its letter; yes and no need nothing.
    pub(in crate::terminal) label: Option<String>,
    /// What is shown once the key was pressed.
    pub(in crate::terminal) word: &'static str,
    pub(in crate::terminal) answer: A,
}

/// A question that one key answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::terminal) struct KeyQuestion<A> {
    /// What is at stake, above the question. Longer lines are wrapped.
    pub(in crate::terminal) lines: Vec<String>,
    pub(in crate::terminal) question: String,
    pub(in crate::terminal) choices: Vec<KeyChoice<A>>,
    /// The key that Enter stands for.
    pub(in crate::terminal) default: char,
    /// The key that Esc stands for: the answer that does no harm.
    pub(in crate::terminal) safe: char,
    pub(in crate::terminal) trace: QuestionTrace,
}

/// What stays on the screen once the question is answered. One that is withdrawn leaves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::terminal) enum QuestionTrace {
    /// All of it, with the answer.
    Whole,
    Nothing,
}

impl<A> KeyChoice<A> {
    /// The key is the first letter of the word, which the question names.
    pub(in crate::terminal) fn plain(word: &'static str, answer: A) -> Self {
        Self {
            key: word.chars().next().unwrap_or_default(),
            label: None,
            word,
            answer,
        }
    }

    pub(in crate::terminal) fn named(word: &'static str, label: String, answer: A) -> Self {
        Self {
            label: Some(label),
            ..Self::plain(word, answer)
        }
    }
}

impl<A> KeyQuestion<A> {
    /// Ends with a blank, behind which the answer appears.
    pub(in crate::terminal) fn text(&self, width: usize, paint: Paint) -> String {
        let bold = |text: &str| {
            let lines: Vec<String> = text.lines().map(|line| paint.bold(line)).collect();
            lines.join("\n")
        };
        let (question, keys) = (&self.question, &self.keys());
        let mut text = String::new();
        for line in &self.lines {
            text.extend([&fit(line, Some(width)), "\n"]);
        }
        if measure_text_width(question) + measure_text_width(keys) + 2 < width {
            text.extend([&bold(question), " ", keys]);
        } else {
            // The keys stay together.
            text.extend([&bold(&fit(question, Some(width))), "\n  ", keys]);
        }
        text + " "
    }

    /// `[Y/n/a = always below $1.00]`: the key of Enter is a capital letter.
    pub(in crate::terminal) fn keys(&self) -> String {
        let names: Vec<String> = self
            .choices
            .iter()
            .map(|choice| self.name(choice))
            .collect();
        let labelled = self.choices.iter().filter(|choice| choice.label.is_some());
        let separator = if labelled.count() > 1 { ", " } else { "/" };
        format!("[{}]", names.join(separator))
    }

    /// The keys in words, for a key without a meaning.
    pub(in crate::terminal) fn legend(&self) -> String {
        let keys: Vec<String> = self
            .choices
            .iter()
            .map(|choice| {
                let meaning = choice.label.as_deref().unwrap_or(choice.word);
                format!("{} = {meaning}", choice.key)
            })
            .collect();
        format!(
            "Press one of these keys: {} (Enter: {}, Esc: {})",
            keys.join(", "),
            self.default,
            self.safe
        )
    }

    /// A key alone or with Enter, or a choice's whole word; `None` for keys without a meaning here.
    pub(in crate::terminal) fn answered_by(&self, keys: &[Key]) -> Option<&KeyChoice<A>> {
        match keys {
            [key] | [key @ Key::Character(_), Key::Enter] => self.chosen(*key),
            [keys @ .., Key::Enter] => self.answered_by(keys),
            keys => {
                let is_typed = |choice: &&KeyChoice<A>| {
                    let letters = choice.word.chars().map(Key::Character);
                    letters.eq(keys.iter().copied())
                };
                self.choices.iter().find(is_typed)
            }
        }
    }

    /// `None` for a key without a meaning here.
    fn chosen(&self, key: Key) -> Option<&KeyChoice<A>> {
        let letter = match key {
            Key::Character(letter) => letter.to_ascii_lowercase(),
            Key::Enter => self.default,
            Key::Escape => self.safe,
            Key::Backspace | Key::Other => return None,
        };
        self.choices.iter().find(|choice| choice.key == letter)
    }

    fn name(&self, choice: &KeyChoice<A>) -> String {
        let letter = if choice.key == self.default {
            choice.key.to_ascii_uppercase()
        } else {
            choice.key
        };
        match &choice.label {
            Some(label) => format!("{letter} = {label}"),
            None => letter.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> KeyQuestion<u8> {
        KeyQuestion {
            lines: vec!["9 calls to three models, four rounds".to_owned()],
            question: "About $0.28, at most $0.96. Go on?".to_owned(),
            choices: vec![
                KeyChoice::plain("yes", 1),
                KeyChoice::plain("no", 2),
                KeyChoice::named("always", "always below $1.00".to_owned(), 3),
            ],
            default: 'y',
            safe: 'n',
            trace: QuestionTrace::Whole,
        }
    }

    #[test]
    fn question_names_its_keys_and_is_wrapped() {
        assert_eq!(
            question().text(80, Paint::PLAIN),
            "9 calls to three models, four rounds\n\
             About $0.28, at most $0.96. Go on? [Y/n/a = always below $1.00] "
        );
        assert_eq!(
            question().text(40, Paint::PLAIN),
            "9 calls to three models, four rounds\n\
             About $0.28, at most $0.96. Go on?\n  [Y/n/a = always below $1.00] "
        );
        assert_eq!(
            question().legend(),
            "Press one of these keys: y = yes, n = no, a = always below $1.00 (Enter: y, Esc: n)"
        );
    }

    #[test]
    fn letters_enter_and_escape_choose_and_other_keys_do_not() {
        let question = question();
        let answer = |key| question.answered_by(&[key]).map(|choice| choice.answer);
        assert_eq!(answer(Key::Character('a')), Some(3));
        assert_eq!(answer(Key::Character('N')), Some(2));
        assert_eq!(answer(Key::Enter), Some(1));
        assert_eq!(answer(Key::Escape), Some(2));
        assert_eq!(answer(Key::Character('x')), None);
        assert_eq!(answer(Key::Other), None);
    }

    #[test]
    fn no_letter_of_a_word_chooses_unless_the_word_is_a_choice() {
        let question = question();
        for (typed, expected) in [
            ("maybe", None),
            ("maybe\n", None),
            ("nyes", None),
            ("aa", None),
            ("x\n", None),
            ("a\n", Some(3)),
            ("yes", Some(1)),
            ("no\n", Some(2)),
        ] {
            let keys = typed.chars().map(|letter| match letter {
                '\n' => Key::Enter,
                letter => Key::Character(letter),
            });
            let chosen = question.answered_by(&keys.collect::<Vec<_>>());
            assert_eq!(chosen.map(|choice| choice.answer), expected, "{typed}");
        }
    }

    #[test]
    fn several_labels_are_separated_by_commas() {
        let pulse = KeyQuestion {
            choices: vec![
                KeyChoice::named("wait", "wait".to_owned(), 1),
                KeyChoice::named("go", "go on without them".to_owned(), 2),
                KeyChoice::named("stop", "stop".to_owned(), 3),
            ],
            default: 'w',
            safe: 'w',
            ..question()
        };
        assert_eq!(pulse.keys(), "[W = wait, g = go on without them, s = stop]");
    }
}
