//! Phrases of languages with blanks between words.
//!
//! | element | matches |
//! |---|---|
//! | `a\|b` | one of the words |
//! | `?a\|b` | one of the words, or nothing |
//! | `~3` | up to three words, none of which denies or names a part |
//! | `#` | a number but 0, in digits or as a word |
//! | `!` | a word that denies, of those of the language |
//! | `<code>` | inline code or quoted words, as one of the words |
//! | `:` | a colon |
//! | `^`, `$` | the beginning and the end of a clause |

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use super::{LANGUAGES, Language, PhraseMatch, Sense};
use crate::agent_loop::text::{TABLES, Token, TokenKind, tokens};
use crate::text::word_list::WordList;

/// The words after a phrase in which a part limits it.
const NEAR: usize = 6;

struct Phrase {
    language: &'static Language,
    meaning: Sense,
    elements: Vec<Element>,
}

enum Element {
    Words {
        words: Vec<&'static str>,
        is_optional: bool,
    },
    Gap(usize),
    ClauseStart,
    ClauseEnd,
}

/// The phrases by the words that they may begin with.
static PHRASES: LazyLock<HashMap<&'static str, Vec<Arc<Phrase>>>> = LazyLock::new(|| {
    let mut phrases: HashMap<_, Vec<_>> = HashMap::with_capacity(1024);
    for language in LANGUAGES.iter().filter(|language| language.has_blanks) {
        for row in &language.rows {
            let parts = row.words.split_whitespace();
            let phrase = Arc::new(Phrase {
                language,
                meaning: row.means,
                elements: parts.map(|part| Element::read(part, language)).collect(),
            });
            for word in first_words(&phrase.elements) {
                phrases.entry(word).or_default().push(Arc::clone(&phrase));
            }
        }
    }
    phrases
});

/// The words of the first optional elements, and of the element after them.
fn first_words(elements: &[Element]) -> Vec<&'static str> {
    let mut first = Vec::new();
    for element in elements {
        if let Element::Words { words, is_optional } = element {
            first.extend(words);
            if !is_optional {
                break;
            }
        }
    }
    first
}

impl Element {
    fn read(part: &'static str, language: &'static Language) -> Self {
        let of_list = |list: &'static WordList| list.iter().map(String::as_str).collect();
        let expanded = |word: &'static str| match word {
            "#" => of_list(TABLES.list("numbers")),
            "!" => of_list(&language.negators),
            _ => vec![word],
        };
        let words = match part {
            "^" => return Self::ClauseStart,
            "$" => return Self::ClauseEnd,
            _ => match part.strip_prefix('~') {
                Some(most) => return Self::Gap(most.parse().unwrap_or_default()),
                None => part.trim_start_matches('?').split('|'),
            },
        };
        Self::Words {
            words: words.flat_map(expanded).collect(),
            is_optional: part.starts_with('?'),
        }
    }
}

fn name<'a>(token: &Token<'a>) -> &'a str {
    match token.kind {
        TokenKind::Word => token.text,
        TokenKind::Number if token.text == "0" => "0",
        TokenKind::Number => "#",
        TokenKind::Placeholder => "<code>",
        TokenKind::Mark(':' | '：') => ":",
        TokenKind::Mark(_) => "",
    }
}

fn divides_clauses(token: &Token<'_>) -> bool {
    matches!(token.kind, TokenKind::Mark(_)) || TABLES.list("clause_dividers").has(token.text)
}

fn divides_statements(token: &Token<'_>) -> bool {
    matches!(
        token.kind,
        TokenKind::Mark(';' | ':' | '—' | '–' | '：' | '；' | '.' | '!')
    )
}

pub(super) fn matches(sentence: &str) -> Vec<PhraseMatch> {
    let mut matches = Vec::new();
    let tokens = tokens(sentence);
    for (start, token) in tokens.iter().enumerate() {
        for phrase in PHRASES.get(name(token)).into_iter().flatten() {
            let end = phrase.end(&phrase.elements, &tokens, start);
            matches.extend(end.map(|end| phrase.in_context(&tokens, start, end)));
        }
    }
    matches
}

impl Phrase {
    fn end(&self, elements: &[Element], tokens: &[Token<'_>], at: usize) -> Option<usize> {
        let Some((element, rest)) = elements.split_first() else {
            return Some(at);
        };
        let is_here = match element {
            Element::Words { words, is_optional } => {
                let token = tokens.get(at).filter(|token| words.contains(&name(token)));
                let after = token.and_then(|_| self.end(rest, tokens, at + 1));
                if after.is_some() {
                    return after;
                }
                *is_optional
            }
            Element::Gap(most) => {
                let can_be_between = |token: &&Token<'_>| {
                    !matches!(token.kind, TokenKind::Mark(_))
                        && !self.language.negators.has(token.text)
                        && !self.language.parts.has(token.text)
                };
                let between = tokens.iter().skip(at).take(*most);
                let longest = between.take_while(can_be_between).count();
                return (0..=longest).find_map(|gap| self.end(rest, tokens, at + gap));
            }
            Element::ClauseStart => at == 0 || tokens.get(at - 1).is_some_and(divides_clauses),
            Element::ClauseEnd => tokens.get(at).is_none_or(divides_clauses),
        };
        is_here.then(|| self.end(rest, tokens, at)).flatten()
    }

    fn in_context(&self, tokens: &[Token<'_>], start: usize, end: usize) -> PhraseMatch {
        let before = tokens.get(..start).unwrap_or_default();
        let after = tokens.get(end..).unwrap_or_default();
        let language = self.language;
        let is_zero = |token: &Token<'_>| matches!(token.text, "0" | "zero");
        let denies = |token: &Token<'_>| is_zero(token) || language.negators.has(token.text);
        // `Remaining: none`
        let last = tokens.get(..end).and_then(<[_]>::last);
        let is_label = last.map(name) == Some(":");
        let mut found = PhraseMatch {
            meaning: self.meaning,
            at: start,
            is_denied: tokens.get(start).is_some_and(is_zero)
                || is_label && after.first().is_some_and(denies),
            is_conditional: false,
            is_modal: false,
            has_exception: false,
            is_of_part: false,
            is_resolved: false,
        };
        let (mut in_clause, mut in_statement) = (true, true);
        for token in before.iter().rev() {
            in_clause &= !divides_clauses(token);
            in_statement &= !divides_statements(token);
            found.is_denied |= in_clause && denies(token);
            found.is_modal |= in_clause && language.modals.has(token.text);
            found.is_resolved |= in_clause && language.resolutions.has(token.text);
            found.is_conditional |= in_statement
                && (language.conditions.has(token.text) || language.displays.has(token.text));
            found.is_of_part |= language.parts.has(token.text);
        }
        in_clause = true;
        let statement = after.iter().take_while(|token| !divides_statements(token));
        for (distance, token) in statement.enumerate() {
            in_clause &= !divides_clauses(token);
            // `Done but the tests` excepts them; `done, but the tests fail` says something else.
            found.has_exception |= language.exceptions.has(token.text)
                && (distance == 0 || !TABLES.list("clause_dividers").has(token.text));
            // `A stub until the service exists` is one now.
            let is_now = self.meaning == Sense::Lack && TABLES.list("spans").has(token.text);
            found.is_conditional |= in_clause && language.conditions.has(token.text) && !is_now;
            found.is_of_part |= in_clause && distance < NEAR && language.parts.has(token.text);
        }
        found
    }
}
