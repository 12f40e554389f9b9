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
        let names: Vec<&str> = self
            .all
            .iter()
            .map(|choice| choice.in_prompt(self.usual))
            .collect();
        format!("[{}]", names.join("/"))
    }

    /// The reply to a line that is none of them.
    pub(in crate::terminal) fn again(self) -> String {
        let words: Vec<&str> = self.all.iter().map(|choice| choice.shortest()).collect();
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
        self.all
            .iter()
            .copied()
            .find(|choice| choice.words().contains(&typed.as_str()))
    }
}

impl PromptChoice {
    fn words(self) -> [&'static str; 2] {
        match self {
            Self::Yes => ["y", "yes"],
            Self::No => ["n", "no"],
            Self::Always => ["a", "always"],
            Self::Fail => ["f", "fail"],
        }
    }

    fn in_prompt(self, usual: Self) -> &'static str {
        match self {
            Self::Yes if usual == Self::Yes => "Y",
            Self::Yes => "y",
            Self::No if usual == Self::No => "N",
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
