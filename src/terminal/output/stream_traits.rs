//! What a stream can show: whether it is a terminal, how wide it is, and whether it gets colour.

use super::style::Paint;
use crate::terminal::charset::Charset;

/// Returns the value of an environment variable. These decide: `NO_COLOR`, with any value but the
/// empty one; `CLICOLOR_FORCE`, with any value but that and `0`, over which `NO_COLOR` wins; `TERM`,
/// of which `dumb`, or none on Unix, means neither colour nor animation; and the locale.
pub type Variable<'a> = &'a dyn Fn(&str) -> Option<&'a str>;

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
    pub fn new(is_terminal: bool, width: Option<u16>, variable: Variable<'_>) -> Self {
        let [term, no_color, force] = ["TERM", "NO_COLOR", "CLICOLOR_FORCE"].map(variable);
        // As the C library reads them.
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .into_iter()
            .find_map(variable);
        // Terminals all set `TERM`; a stream without it is some other kind of device.
        let dumb = term.is_none_or(|term| term.is_empty() || term == "dumb");
        let refused = no_color.is_some_and(|value| !value.is_empty());
        let forced = force.is_some_and(|value| !value.is_empty() && value != "0");
        let coloured = !refused && (forced || (is_terminal && !dumb));
        Self {
            is_terminal,
            is_animated: is_terminal && !dumb,
            // The console of Linux shows some sequences that it does not know.
            is_synchronized: is_terminal && !dumb && term != Some("linux"),
            paint: Paint {
                has_colour: coloured,
                charset: Charset::of_locale(locale),
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

    fn traits(is_terminal: bool, variables: &[(&str, &str)]) -> StreamTraits {
        StreamTraits::new(is_terminal, Some(40), &|name| {
            let mut variables = variables.iter();
            variables.find_map(|(variable, value)| (*variable == name).then_some(*value))
        })
    }

    #[test]
    fn colour_follows_the_terminal_and_the_variables() {
        let (term, force) = (("TERM", "xterm"), ("CLICOLOR_FORCE", "1"));
        for (is_terminal, variables, has_colour) in [
            (true, &[term][..], true),
            (false, &[term], false),
            (true, &[term, ("NO_COLOR", "1")], false),
            (true, &[term, ("NO_COLOR", "0")], false),
            (true, &[term, ("NO_COLOR", "")], true),
            (false, &[term, force], true),
            (false, &[term, ("CLICOLOR_FORCE", "0")], false),
            (false, &[term, ("CLICOLOR_FORCE", "")], false),
            (false, &[force, ("NO_COLOR", "1")], false),
            (true, &[("TERM", "dumb")], false),
        ] {
            let paint = traits(is_terminal, variables).paint;
            assert_eq!(paint.has_colour, has_colour, "{variables:?}");
        }
        let dumb = traits(true, &[("TERM", "dumb")]);
        assert!(!dumb.is_animated);
        assert_eq!(dumb.width, 40);
    }

    #[test]
    fn first_variable_of_the_locale_decides() {
        for (variables, charset) in [
            (&[][..], Charset::Ascii),
            (&[("LANG", "C.UTF-8")], Charset::Unicode),
            (&[("LANG", "C.UTF-8"), ("LC_ALL", "C")], Charset::Ascii),
            (
                &[("LANG", "C"), ("LC_CTYPE", "de_DE.utf8")],
                Charset::Unicode,
            ),
        ] {
            let paint = traits(false, variables).paint;
            assert_eq!(paint.charset, charset, "{variables:?}");
        }
    }
}
