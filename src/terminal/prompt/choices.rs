//! The answers that a question accepts, as letters and words. An empty line chooses the one in a
//! capital letter.

/// One answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::terminal) enum PromptChoice {
    Yes,
    No,
    Always,
    Fail,
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
            let word = choice.word();
            typed == word || typed.len() == 1 && word.starts_with(&typed)
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
        }
    }

    /// The form in which a question names it.
    fn name(self) -> &'static str {
        match self {
            Self::Yes => "y",
            Self::No => "n",
            Self::Always | Self::Fail => self.word(),
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
            "Please answer y, n or fail: "
        );
    }
}
