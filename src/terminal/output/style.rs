//! Colour as a decision already made: without it, every function returns its text unchanged.

use console::Style;

/// The colour mode of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    Colour,
    Plain,
}

impl Paint {
    pub fn bold(self, text: &str) -> String {
        self.with(Style::new().bold(), text)
    }

    pub fn dim(self, text: &str) -> String {
        self.with(Style::new().dim(), text)
    }

    pub fn italic(self, text: &str) -> String {
        self.with(Style::new().italic(), text)
    }

    pub fn red(self, text: &str) -> String {
        self.with(Style::new().red(), text)
    }

    pub fn yellow(self, text: &str) -> String {
        self.with(Style::new().yellow(), text)
    }

    pub fn green(self, text: &str) -> String {
        self.with(Style::new().green(), text)
    }

    pub fn cyan(self, text: &str) -> String {
        self.with(Style::new().cyan(), text)
    }

    /// A heading that stands out from bold text.
    pub fn heading(self, text: &str) -> String {
        self.with(Style::new().bold().cyan(), text)
    }

    fn with(self, style: Style, text: &str) -> String {
        match self {
            Self::Colour if !text.is_empty() => {
                style.force_styling(true).apply_to(text).to_string()
            }
            Self::Colour | Self::Plain => text.to_owned(),
        }
    }
}
