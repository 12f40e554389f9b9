//! What a stream can show: whether it is a terminal, how wide it is, and whether it gets colour.

use super::style::Paint;

/// The environment variables that decide about colour and animation. They are read elsewhere and
/// interpreted here.
#[derive(Clone, Copy, Debug, Default)]
pub struct TerminalEnv<'a> {
    /// `NO_COLOR`: any value but the empty one.
    pub no_color: Option<&'a str>,
    /// `CLICOLOR_FORCE`: any value but the empty one and `0`. `NO_COLOR` wins over it.
    pub clicolor_force: Option<&'a str>,
    /// `TERM`: `dumb`, or none on Unix, means neither colour nor animation.
    pub term: Option<&'a str>,
}

/// The properties of one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamTraits {
    pub is_terminal: bool,
    /// Lines can be redrawn.
    pub is_animated: bool,
    /// The terminal may know synchronized updates, and ignores them if not.
    pub is_synchronized: bool,
    pub paint: Paint,
    /// The present columns. Meaningful on a terminal only.
    pub width: usize,
}

impl StreamTraits {
    pub fn new(is_terminal: bool, width: Option<u16>, env: &TerminalEnv<'_>) -> Self {
        // Terminals all set `TERM`; a stream without it is some other kind of device.
        let dumb = env
            .term
            .is_none_or(|term| term.is_empty() || term == "dumb");
        let refused = env.no_color.is_some_and(|value| !value.is_empty());
        let forced = env
            .clicolor_force
            .is_some_and(|value| !value.is_empty() && value != "0");
        let coloured = !refused && (forced || (is_terminal && !dumb));
        Self {
            is_terminal,
            is_animated: is_terminal && !dumb,
            // The console of Linux shows some sequences that it does not know.
            is_synchronized: is_terminal && !dumb && env.term != Some("linux"),
            paint: if coloured {
                Paint::Colour
            } else {
                Paint::Plain
            },
            width: width.map_or(80, usize::from).max(1),
        }
    }
}

pub(super) fn columns(terminal: &console::Term) -> Option<u16> {
    terminal.size_checked().map(|(_, columns)| columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paint(is_terminal: bool, env: TerminalEnv<'_>) -> Paint {
        StreamTraits::new(is_terminal, None, &env).paint
    }

    #[test]
    fn colour_follows_the_terminal_and_the_variables() {
        let usual = TerminalEnv {
            term: Some("xterm"),
            ..TerminalEnv::default()
        };
        let no = |value| TerminalEnv {
            no_color: Some(value),
            ..usual
        };
        let force = |value| TerminalEnv {
            clicolor_force: Some(value),
            ..usual
        };
        assert_eq!(
            [true, false].map(|terminal| paint(terminal, usual)),
            [Paint::Colour, Paint::Plain]
        );
        assert_eq!(
            ["1", "0", ""].map(|value| paint(true, no(value))),
            [Paint::Plain, Paint::Plain, Paint::Colour]
        );
        assert_eq!(
            ["1", "0", ""].map(|value| paint(false, force(value))),
            [Paint::Colour, Paint::Plain, Paint::Plain]
        );
        let dumb = TerminalEnv {
            term: Some("dumb"),
            ..TerminalEnv::default()
        };
        let face = StreamTraits::new(true, Some(40), &dumb);
        assert_eq!(face.paint, Paint::Plain);
        assert!(!face.is_animated);
        assert_eq!(face.width, 40);
        assert_eq!(
            paint(
                false,
                TerminalEnv {
                    no_color: Some("1"),
                    ..force("1")
                }
            ),
            Paint::Plain
        );
    }
}
