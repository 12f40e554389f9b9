//! What a question looks like on terminals of several widths, with colours and without.

use std::fmt::Write as _;

use super::screen::Screen;
use crate::support::binary::Conclave;
use crate::support::pty::Terminal;

/// Whether the terminal gets colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QuestionPaint {
    Colour,
    Plain,
}

impl QuestionPaint {
    pub(crate) fn apply(self, conclave: Conclave) -> Conclave {
        let conclave = conclave.variable("TERM", "xterm-256color");
        match self {
            Self::Colour => conclave.without("NO_COLOR"),
            Self::Plain => conclave.variable("NO_COLOR", "1"),
        }
    }
}

/// Returns the screen from the line that begins with `first` on, once a question is asked, at 50,
/// 80, 120 and 200 columns. The digits of amounts are replaced, because prices change. Ctrl-C ends
/// each run.
pub(crate) fn at_every_width<T>(
    first: &str,
    start: impl Fn(u16, QuestionPaint) -> (T, Terminal),
) -> String {
    let mut shown = String::new();
    for columns in [50, 80, 120, 200] {
        let look = |paint: QuestionPaint, look: fn(&Screen) -> String| {
            let (_held, mut terminal) = start(columns, paint);
            terminal.wait_until("a question is asked", |screen| {
                let contents = screen.contents().to_lowercase();
                contents.contains("[y/n") && contents.ends_with(']')
            });
            let text = terminal.look(look);
            terminal.type_in("\x03");
            terminal.end();
            let lines = text
                .lines()
                .skip_while(|line| !line.starts_with(first))
                .collect::<Vec<_>>();
            without_amounts(&lines.join("\n"))
        };
        let styled = look(QuestionPaint::Colour, Screen::styled);
        let plain = look(QuestionPaint::Plain, Screen::styled);
        let _ = writeln!(shown, "{columns} columns:\n{styled}\n");
        let unstyled = styled.replace("{bold}", "").replace("{/}", "");
        assert_eq!(plain, unstyled, "without colours, at {columns} columns");
    }
    shown
}

/// Replaces the digits behind a `$`.
fn without_amounts(text: &str) -> String {
    let mut is_amount = false;
    let replace = |letter: char| {
        is_amount = letter == '$' || is_amount && (letter.is_ascii_digit() || letter == '.');
        if is_amount && letter.is_ascii_digit() {
            '#'
        } else {
            letter
        }
    };
    text.chars().map(replace).collect()
}
