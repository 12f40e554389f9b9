//! The answers that a question accepts, as letters and words. An empty line chooses the one in a
//! capital letter.

/// One answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::terminal) enum PromptChoice {
    Yes,
    No,
    Always,
    Fail,
    Wait,
    GoOn,
    Stop,
}

/// The answers of one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::terminal) struct PromptChoices {
    all: &'static [PromptChoice],
    /// The answer of an empty line.
    usual: PromptChoice,
}

impl PromptChoices {
    pub(in crate::terminal) const YES_NO: Self = Self {
        all: &[PromptChoice::Yes, PromptChoice::No],
        usual: PromptChoice::Yes,
    };
    pub(in crate::terminal) const YES_NO_ALWAYS: Self = Self {
        all: &[PromptChoice::Yes, PromptChoice::No, PromptChoice::Always],
        usual: PromptChoice::Yes,
    };
    pub(in crate::terminal) const YES_NO_FAIL: Self = Self {
        all: &[PromptChoice::Yes, PromptChoice::No, PromptChoice::Fail],
        usual: PromptChoice::Yes,
    };
    /// Whether to keep waiting, where the other answers are not enough.
    pub(in crate::terminal) const WAIT_STOP: Self = Self {
        all: &[PromptChoice::Wait, PromptChoice::Stop],
        usual: PromptChoice::Wait,
    };
    /// Whether to keep waiting, where the other answers are enough.
    pub(in crate::terminal) const WAIT_GO_STOP: Self = Self {
        all: &[PromptChoice::Wait, PromptChoice::GoOn, PromptChoice::Stop],
        usual: PromptChoice::Wait,
    };
    /// For actions that cannot be undone.
    pub(in crate::terminal) const NO_UNLESS_YES: Self = Self {
        all: &[PromptChoice::Yes, PromptChoice::No],
        usual: PromptChoice::No,
    };

    /// `[Y/n/Always]`, as a question ends.
    pub(in crate::terminal) fn prompt(self) -> String {
        let mut names = Vec::new();
        for choice in self.all {
            let name = choice.name();
            let (first, rest) = name.split_at(1);
            // Whole words are capitalized too.
            names.push(if *choice == self.usual || !rest.is_empty() {
                first.to_uppercase() + rest
            } else {
                name.to_owned()
            });
        }
        format!("[{}]", names.join("/"))
    }

    /// The reply to a line that is none of them.
    pub(in crate::terminal) fn again(self) -> String {
        let words: Vec<&str> = self.all.iter().map(|choice| choice.name()).collect();
        match words.split_last() {
            Some((last, others)) => format!("Please answer {} or {last}: ", others.join(", ")),
            None => String::new(),
        }
    }

    pub(in crate::terminal) fn read(self, line: &str) -> Option<PromptChoice> {
        let typed = line.trim().to_lowercase();
        if typed.is_empty() {
            return Some(self.usual);
        }
        let is_typed = |choice: &PromptChoice| {
            let is_word =
                |word: &str| typed == word || typed.len() == 1 && word.starts_with(&typed);
            is_word(choice.word()) || choice.other_word().is_some_and(is_word)
        };
        self.all.iter().copied().find(is_typed)
    }
}

impl PromptChoice {
    /// The word that is accepted, and so is its first letter.
    fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Always => "always",
            Self::Fail => "fail",
            Self::Wait => "wait",
            Self::GoOn => "go",
            Self::Stop => "stop",
        }
    }

    /// A word that is accepted too, where the question is whether to keep waiting.
    fn other_word(self) -> Option<&'static str> {
        match self {
            Self::Wait => Some("yes"),
            Self::Stop => Some("no"),
            Self::Yes | Self::No | Self::Always | Self::Fail | Self::GoOn => None,
        }
    }

    /// The form in which a question names it.
    fn name(self) -> &'static str {
        match self {
            Self::Yes => "y",
            Self::No => "n",
            Self::Fail => "f",
            Self::Wait => "w",
            Self::GoOn => "g",
            Self::Stop => "s",
            Self::Always => self.word(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_words_and_an_empty_line_are_answers() {
        let read = |line| PromptChoices::YES_NO_FAIL.read(line);
        assert_eq!(
            [read("\n"), read(" Y \n"), read("yes")],
            [Some(PromptChoice::Yes); 3]
        );
        assert_eq!(read("NO\n"), Some(PromptChoice::No));
        assert_eq!(read("f"), Some(PromptChoice::Fail));
        assert_eq!(read("Fail\n"), Some(PromptChoice::Fail));
        assert_eq!(
            ["\n", "y"].map(|line| PromptChoices::NO_UNLESS_YES.read(line)),
            [Some(PromptChoice::No), Some(PromptChoice::Yes)]
        );
        assert_eq!(read("maybe"), None);
        assert_eq!(read("always"), None);
        assert_eq!(PromptChoices::YES_NO.read("f"), None);
    }

    #[test]
    fn yes_and_no_answer_whether_to_keep_waiting() {
        let read = |line| PromptChoices::WAIT_GO_STOP.read(line);
        assert_eq!(
            ["", "w", "wait", "y"].map(read),
            [Some(PromptChoice::Wait); 4]
        );
        assert_eq!(["g", "go"].map(read), [Some(PromptChoice::GoOn); 2]);
        assert_eq!(["s", "stop", "no"].map(read), [Some(PromptChoice::Stop); 3]);
        assert_eq!(PromptChoices::WAIT_STOP.read("g"), None);
    }

    #[test]
    fn question_names_its_answers() {
        assert_eq!(PromptChoices::YES_NO.prompt(), "[Y/n]");
        assert_eq!(
            PromptChoices::YES_NO_ALWAYS.prompt(),
            "[Y/n/Always]".to_owned()
        );
        assert_eq!(PromptChoices::NO_UNLESS_YES.prompt(), "[y/N]");
        assert_eq!(PromptChoices::YES_NO.again(), "Please answer y or n: ");
        assert_eq!(
            PromptChoices::YES_NO_FAIL.again(),
            "Please answer y, n or f: "
        );
    }
}
