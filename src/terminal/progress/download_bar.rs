//! The progress of a model download on stderr: a bar of bytes on a terminal, a few plain lines
//! elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

use crate::terminal::markdown::escape::one_line;

/// Shows one download. Dropping it clears the bar.
#[derive(Debug)]
pub struct DownloadBar {
    bar: ProgressBar,
}

impl DownloadBar {
    /// Draws on stderr, and nothing if stderr is not a terminal.
    pub fn on_stderr() -> Self {
        Self::drawn_to(ProgressDrawTarget::stderr())
    }

    /// Draws on another target, or nowhere.
    pub fn drawn_to(target: ProgressDrawTarget) -> Self {
        let bar = ProgressBar::with_draw_target(None, target).with_finish(ProgressFinish::AndClear);
        let style = ProgressStyle::with_template(
            "{msg} {wide_bar} {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec} {eta}",
        );
        bar.set_style(
            style
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .progress_chars("=> "),
        );
        Self { bar }
    }

    /// Shows the current step before the bar. Repeating a step does nothing.
    ///
    /// Returns the step the first time where there is no terminal, for the caller to print as a
    /// line.
    pub fn say(&self, what: &str) -> Option<String> {
        let what = one_line(what);
        if self.bar.message() == what {
            return None;
        }
        self.bar.set_message(what.clone());
        self.bar.is_hidden().then_some(what)
    }

    /// Moves the bar.
    pub fn at(&self, done: u64, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(done);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_step_is_one_line_without_a_terminal() {
        let bar = DownloadBar::drawn_to(ProgressDrawTarget::hidden());
        assert_eq!(
            bar.say("asking the model hub"),
            Some("asking the model hub".to_owned())
        );
        bar.at(1, 2);
        assert_eq!(bar.say("asking the model hub"), None);
        assert_eq!(bar.say("checking"), Some("checking".to_owned()));
    }
}
