//! The answers that a question takes, in the letters and words in which they are typed. An empty line is a yes.

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Yes,
    No,
    Always,
    Fail,
}

/// What can be chosen from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choices(&'static [Choice]);

impl Choices {
    pub(super) const YES_NO: Self = Self(&[Choice::Yes, Choice::No]);
    pub(super) const YES_NO_ALWAYS: Self = Self(&[Choice::Yes, Choice::No, Choice::Always]);
    pub(super) const YES_NO_FAIL: Self = Self(&[Choice::Yes, Choice::No, Choice::Fail]);

    /// `[Y/n/Always]`, as a question ends.
    pub(super) fn prompt(self) -> String {
        let names: Vec<&str> = self.0.iter().map(|choice| choice.in_prompt()).collect();
        format!("[{}]", names.join("/"))
    }

    /// What is said to a line that is none of them.
    pub(super) fn again(self) -> String {
        let words: Vec<&str> = self.0.iter().map(|choice| choice.shortest()).collect();
        match words.split_last() {
            Some((last, others)) => format!("Please answer {} or {last}: ", others.join(", ")),
            None => String::new(),
        }
    }

    pub(super) fn read(self, line: &str) -> Option<Choice> {
        let typed = line.trim().to_lowercase();
        if typed.is_empty() {
            return Some(Choice::Yes);
        }
        self.0.iter().copied().find(|choice| choice.words().contains(&typed.as_str()))
    }
}

impl Choice {
    fn words(self) -> [&'static str; 2] {
        match self {
            Self::Yes => ["y", "yes"],
            Self::No => ["n", "no"],
            Self::Always => ["a", "always"],
            Self::Fail => ["f", "fail"],
        }
    }

    fn in_prompt(self) -> &'static str {
        match self {
            Self::Yes => "Y",
            Self::No => "n",
            Self::Always => "Always",
            Self::Fail => "Fail",
        }
    }

    fn shortest(self) -> &'static str {
        match self {
            Self::Yes => "y",
            Self::No => "n",
            Self::Always => "always",
            Self::Fail => "fail",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_letter_or_a_word_and_an_empty_line_is_a_yes() {
        let read = |line| Choices::YES_NO_FAIL.read(line);
        assert_eq!([read("\n"), read(" Y \n"), read("yes")], [Some(Choice::Yes); 3]);
        assert_eq!((read("NO\n"), read("f"), read("Fail\n")), (Some(Choice::No), Some(Choice::Fail), Some(Choice::Fail)));
        assert_eq!((read("maybe"), read("always"), Choices::YES_NO.read("f")), (None, None, None));
    }

    #[test]
    fn a_question_names_what_it_takes() {
        assert_eq!((Choices::YES_NO.prompt(), Choices::YES_NO_ALWAYS.prompt()), ("[Y/n]".to_owned(), "[Y/n/Always]".to_owned()));
        assert_eq!(Choices::YES_NO.again(), "Please answer y or n: ");
        assert_eq!(Choices::YES_NO_FAIL.again(), "Please answer y, n or fail: ");
    }
}
