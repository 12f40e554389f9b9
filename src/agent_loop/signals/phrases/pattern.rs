//! Patterns of words.
//!
//! | element | matches |
//! |---|---|
//! | `a\|b` | one of the words |
//! | `?a\|b` | one of the words, or nothing |
//! | `~3` | up to three words, none of which denies or names a part |
//! | `#` | a number, in digits or as a word |
//! | `!` | a word that denies |
//! | `<code>` | inline code or quoted words, as one of the words |
//! | `:` | a colon |
//! | `^`, `$` | the beginning and the end of a clause |

/// The number of a word in the lexicon.
pub(super) type WordId = u16;

/// What a word is besides a part of phrases. A bit stands for a language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WordClass {
    pub(super) negator: u8,
    pub(super) condition: u8,
    pub(super) modal: u8,
    pub(super) exception: u8,
    pub(super) part: u8,
    pub(super) resolution: u8,
    pub(super) is_number: bool,
    pub(super) is_divider: bool,
}

#[derive(Debug)]
pub(super) enum Element {
    Word { words: Vec<WordId>, optional: bool },
    Gap(usize),
    Number,
    Negator,
    Colon,
    ClauseStart,
    ClauseEnd,
}

/// What a pattern sees of a token. A number, inline code and quoted words are words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    Word(WordId, WordClass),
    Colon,
    /// Every other mark. All marks divide clauses.
    Mark,
}

impl Symbol {
    pub(super) fn id(self) -> Option<WordId> {
        match self {
            Self::Word(id, _) => Some(id),
            Self::Colon | Self::Mark => None,
        }
    }

    pub(super) fn class(self) -> WordClass {
        match self {
            Self::Word(_, class) => class,
            Self::Colon | Self::Mark => WordClass::default(),
        }
    }

    pub(super) fn divides_clauses(self) -> bool {
        match self {
            Self::Word(_, class) => class.is_divider,
            Self::Colon | Self::Mark => true,
        }
    }
}

/// Returns the end of the match of a pattern of a language that begins at `at`.
pub(super) fn match_at(
    pattern: &[Element],
    symbols: &[Symbol],
    at: usize,
    language: usize,
) -> Option<usize> {
    let Some((element, rest)) = pattern.split_first() else {
        return Some(at);
    };
    let symbol = symbols.get(at).copied();
    let class = symbol.map(Symbol::class).unwrap_or_default();
    let (matches, width) = match element {
        Element::Word { words, optional } => {
            let is_word = symbol
                .and_then(Symbol::id)
                .is_some_and(|id| words.contains(&id));
            if *optional {
                let taken = is_word.then(|| match_at(rest, symbols, at + 1, language));
                return taken
                    .flatten()
                    .or_else(|| match_at(rest, symbols, at, language));
            }
            (is_word, 1)
        }
        Element::Gap(most) => {
            let gap = symbols.get(at..).unwrap_or_default();
            let words = gap.iter().take_while(|symbol| {
                let class = symbol.class();
                symbol.id().is_some() && (class.negator | class.part) & (1 << language) == 0
            });
            let most = words.take(*most).count();
            return (0..=most).find_map(|gap| match_at(rest, symbols, at + gap, language));
        }
        Element::Number => (class.is_number, 1),
        Element::Negator => (class.negator & (1 << language) != 0, 1),
        Element::Colon => (symbol == Some(Symbol::Colon), 1),
        Element::ClauseStart => {
            let before = at.checked_sub(1).and_then(|before| symbols.get(before));
            (before.is_none_or(|before| before.divides_clauses()), 0)
        }
        Element::ClauseEnd => (symbol.is_none_or(Symbol::divides_clauses), 0),
    };
    matches
        .then(|| match_at(rest, symbols, at + width, language))
        .flatten()
}
