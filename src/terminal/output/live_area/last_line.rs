//! Tracks the last line of standard error, so that new text neither continues it nor scrolls an
//! open question out of sight.

/// Before text that continues after other text interrupted it.
const INDENT: &str = "     ";

/// The state of the last line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::terminal) enum LastLine {
    /// It ended with a newline.
    #[default]
    Ended,
    /// Text is still being written.
    Open,
    /// Other text ended it while text was being written.
    Interrupted,
    /// A question is open; its answer is typed behind this prompt.
    Question(String),
}

impl LastLine {
    /// Returns what to write so that these whole lines stand on lines of their own. An open
    /// question is repeated below them.
    pub(in crate::terminal) fn apart(&mut self, text: &str) -> String {
        if text.is_empty() {
            return String::new();
        }
        match self {
            Self::Ended | Self::Interrupted => text.to_owned(),
            Self::Open => {
                *self = Self::Interrupted;
                format!("\n{text}")
            }
            Self::Question(prompt) => format!("\n{text}{prompt}"),
        }
    }

    /// Returns what to write so that `text` continues the text being written. An open question is
    /// repeated below it.
    pub(in crate::terminal) fn continued(&mut self, text: &str) -> String {
        if text.is_empty() {
            return String::new();
        }
        match self {
            Self::Question(_) if text.ends_with('\n') => self.apart(text),
            Self::Question(_) => self.apart(&format!("{text}\n")),
            Self::Ended | Self::Open | Self::Interrupted => {
                let end = if text.ends_with('\n') {
                    Self::Ended
                } else {
                    Self::Open
                };
                match (std::mem::replace(self, end), text.strip_prefix('\n')) {
                    // Its line has ended already.
                    (Self::Interrupted, Some(rest)) => rest.to_owned(),
                    (Self::Interrupted, None) => {
                        format!("{INDENT}{}", text.trim_start_matches(' '))
                    }
                    (Self::Ended | Self::Open | Self::Question(_), _) => text.to_owned(),
                }
            }
        }
    }

    /// Asks a question, in place of an open one.
    pub(in crate::terminal) fn ask(&mut self, question: &str) -> String {
        let before = self.close();
        let prompt = question.rsplit('\n').next().unwrap_or_default().to_owned();
        *self = Self::Question(prompt);
        format!("{before}{question}")
    }

    pub(in crate::terminal) fn is_whole(&self) -> bool {
        match self {
            Self::Ended | Self::Interrupted => true,
            Self::Open | Self::Question(_) => false,
        }
    }

    /// Empty without one.
    pub(in crate::terminal) fn prompt(&self) -> &str {
        match self {
            Self::Question(prompt) => prompt,
            Self::Ended | Self::Open | Self::Interrupted => "",
        }
    }

    /// Marks the open question as answered; the caller ends its line.
    pub(in crate::terminal) fn answered(&mut self) {
        if matches!(self, Self::Question(_)) {
            *self = Self::Ended;
        }
    }

    pub(in crate::terminal) fn close(&mut self) -> &'static str {
        match std::mem::take(self) {
            Self::Ended | Self::Interrupted => "",
            Self::Open | Self::Question(_) => "\n",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_printed_during_a_question_appears_above_it() {
        let mut last = LastLine::default();
        let mut screen = last.ask("Agent failed.\nGo on? [Y/n] ");
        screen += &last.apart("news\n");
        screen += &last.apart("two\nlines\n");
        last.answered();
        screen += "y\n";
        screen += &last.apart("done\n");
        assert_eq!(
            screen,
            "Agent failed.\nGo on? [Y/n] \nnews\nGo on? [Y/n] \ntwo\nlines\nGo on? [Y/n] y\ndone\n"
        );
    }

    #[test]
    fn withdrawn_question_ends_its_line_once() {
        let mut last = LastLine::default();
        last.ask("Go on? ");
        assert_eq!(last.close(), "\n");
        assert_eq!(last.close(), "");
        assert_eq!(last.apart("done\n"), "done\n");
    }

    #[test]
    fn streamed_text_continues_after_other_lines() {
        let mut last = LastLine::default();
        let mut screen = last.continued("one ");
        screen += &last.continued("two");
        screen += &last.apart("news\n");
        screen += &last.continued(" three");
        screen += &last.apart("more\n");
        screen += &last.continued("\n");
        screen += &last.apart("done\n");
        screen += &last.continued("four");
        screen += &last.ask("Go on? ");
        screen += &last.continued("five");
        assert_eq!(
            screen,
            "one two\nnews\n     three\nmore\ndone\nfour\nGo on? \nfive\nGo on? "
        );
    }
}
