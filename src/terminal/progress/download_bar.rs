//! The progress of a model's download, on stderr: a bar of bytes on a terminal, a few plain lines
//! elsewhere.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shows one download. Dropping it clears the bar.
#[derive(Debug)]
pub struct DownloadBar {
    bar: ProgressBar,
    told: String,
}

impl DownloadBar {
    /// A bar on stderr; it draws nothing when stderr is no terminal.
    pub fn on_stderr() -> Self {
        Self::drawn_to(ProgressDrawTarget::stderr())
    }

    /// A bar that is drawn elsewhere, or nowhere.
    pub fn drawn_to(target: ProgressDrawTarget) -> Self {
        let bar = ProgressBar::with_draw_target(None, target);
        let style = ProgressStyle::with_template(
            "{msg} {wide_bar} {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec} {eta}",
        );
        bar.set_style(
            style
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .progress_chars("=> "),
        );
        Self {
            bar,
            told: String::new(),
        }
    }

    /// Says what is going on, before the bar. The same words twice are said once.
    ///
    /// Returns them the first time where there is no terminal to draw on, for the caller to print
    /// as a line.
    pub fn say(&mut self, what: &str) -> Option<String> {
        if self.told == what {
            return None;
        }
        what.clone_into(&mut self.told);
        self.bar.set_message(what.to_owned());
        self.bar.is_hidden().then(|| what.to_owned())
    }

    /// Moves the bar.
    pub fn at(&self, done: u64, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(done);
    }
}

impl Drop for DownloadBar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_terminal_each_step_is_one_line() {
        let mut bar = DownloadBar::drawn_to(ProgressDrawTarget::hidden());
        assert_eq!(
            bar.say("asking the model hub"),
            Some("asking the model hub".to_owned())
        );
        bar.at(1, 2);
        assert_eq!(
            (bar.say("asking the model hub"), bar.say("checking")),
            (None, Some("checking".to_owned()))
        );
    }
}
