//! What a person sees on a narrow terminal without colours and on a wide one with them. Tests of
//! the renderers try the widths between.

use crate::support::binary::Conclave;
use crate::support::pty::Terminal;
use crate::support::screen::Screen;

const SAMPLES: [(u16, Colours); 2] = [(50, Colours::Off), (120, Colours::On)];

/// Whether a terminal gets colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Colours {
    Off,
    On,
}

impl Colours {
    pub(crate) fn apply(self, conclave: Conclave) -> Conclave {
        let conclave = conclave.variable("TERM", "xterm-256color");
        match self {
            Self::Off => conclave.variable("NO_COLOR", "1"),
            Self::On => conclave.without("NO_COLOR"),
        }
    }

    pub(crate) fn look(self, screen: &Screen) -> String {
        match self {
            Self::Off => screen.contents(),
            Self::On => screen.styled(),
        }
    }
}

/// Returns what is shown on both terminals, each beneath its title.
pub(crate) fn on_both(shown: impl Fn(u16, Colours) -> String + Sync) -> String {
    let screens = std::thread::scope(|scope| {
        let shown = &shown;
        SAMPLES
            .map(|(columns, colours)| scope.spawn(move || shown(columns, colours)))
            .map(|screen| screen.join().unwrap())
    });
    let [narrow, wide] = screens;
    format!("=== 50 columns\n{narrow}\n\n=== 120 columns, in colour\n{wide}\n")
}

/// Returns the screens from the line that begins with `first` on, once a question is asked. The
/// digits of amounts are replaced, because prices change. Ctrl-C ends each run.
pub(crate) fn question_on_both<T>(
    first: &str,
    start: impl Fn(u16, Colours) -> (T, Terminal) + Sync,
) -> String {
    on_both(|columns, colours| {
        let (_held, mut terminal) = start(columns, colours);
        terminal.wait_until("a question is asked", |screen| {
            let contents = screen.contents().to_lowercase();
            contents.contains("[y/n") && contents.ends_with(']')
        });
        let text = terminal.look(|screen| colours.look(screen));
        terminal.type_in("\x03");
        terminal.end();
        let lines: Vec<&str> = text
            .lines()
            .skip_while(|line| !line.starts_with(first))
            .collect();
        without_amounts(&lines.join("\n"))
    })
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
