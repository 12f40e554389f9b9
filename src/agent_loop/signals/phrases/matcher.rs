//! Finds phrases in a sentence. Letters of languages without blanks are words of their own, so that
//! one way of matching serves all languages.
//!
//! | element | matches |
//! |---|---|
//! | `a\|b` | one of the words |
//! | `?a\|b` | one of the words, or nothing |
//! | `~3` | up to three words, none of which denies, names a part, or excepts one from a claim |
//! | `#` | a number but 0, in digits or as a word |
//! | `!` | a word that denies, of those of the language |
//! | `<code>` | inline code or quoted words, as one of the words |
//! | `:`, `,` | a colon, a comma |
//! | `^`, `$` | the beginning and the end of a clause |

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use super::{LANGUAGES, Language, PhraseMatch, Sense};
use crate::agent_loop::text::{TABLES, Token, TokenKind, tokens};
use crate::text::word_list::WordList;

/// The tokens of the parts in which a longer sentence, such as a list without full stops, is read:
/// the context of each phrase is searched, so the time grows with the square of this.
const LONGEST: usize = 200;

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
    let languages = LANGUAGES.iter();
    for (language, row) in languages.flat_map(|it| it.rows.iter().map(move |row| (it, row))) {
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
    phrases
});

/// The first words of the first optional elements, and of the element after them.
fn first_words(elements: &[Element]) -> Vec<&'static str> {
    let mut first = Vec::new();
    for element in elements {
        if let Element::Words { words, is_optional } = element {
            first.extend(words.iter().map(|word| match *word {
                "#" | "<code>" => word,
                _ => tokens(word).first().map_or(*word, name),
            }));
            if !is_optional {
                break;
            }
        }
    }
    first.sort_unstable();
    first.dedup();
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

/// Empty for any other mark.
fn name<'a>(token: &Token<'a>) -> &'a str {
    match token.kind {
        TokenKind::Word => token.text,
        TokenKind::Number if token.text == "0" => "0",
        TokenKind::Number => "#",
        TokenKind::Placeholder => "<code>",
        TokenKind::Mark(':' | '：') => ":",
        TokenKind::Mark(',' | '，' | '、') => ",",
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

/// Returns the place after a word that begins at a place, as one token or as one a letter.
fn after_word(word: &str, tokens: &[Token<'_>], mut at: usize) -> Option<usize> {
    let mut rest = word;
    while !rest.is_empty() {
        let name = tokens.get(at).map(name).filter(|name| !name.is_empty())?;
        (rest, at) = (rest.strip_prefix(name)?, at + 1);
    }
    Some(at)
}

/// The places at which one of the words begins.
fn places(words: &WordList, tokens: &[Token<'_>]) -> impl Iterator<Item = usize> {
    let begins = |at: &usize| words.iter().any(|it| after_word(it, tokens, *at).is_some());
    (0..tokens.len()).filter(begins)
}

fn are_in(words: &WordList, tokens: &[Token<'_>]) -> bool {
    places(words, tokens).next().is_some()
}

/// `sentence` is in lower case, with straight apostrophes.
pub(in crate::agent_loop::signals) fn matches(sentence: &str) -> Vec<PhraseMatch> {
    let mut matches = Vec::new();
    for (part, tokens) in tokens(sentence).chunks(LONGEST).enumerate() {
        for (start, token) in tokens.iter().enumerate() {
            for phrase in PHRASES.get(name(token)).into_iter().flatten() {
                let end = phrase.end(&phrase.elements, tokens, start);
                let found = end.map(|end| phrase.in_context(tokens, start, end));
                matches.extend(found.map(|found| PhraseMatch {
                    at: found.at + part * LONGEST,
                    ..found
                }));
            }
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
                let mut ends = words.iter().filter_map(|word| after_word(word, tokens, at));
                let after = ends.find_map(|end| self.end(rest, tokens, end));
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
                        && !self.is_excepted_by(token)
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

    /// `Everything on the list but the parser is done.`
    fn is_excepted_by(&self, token: &Token<'_>) -> bool {
        let is_claim = matches!(self.meaning, Sense::AllDone | Sense::WholeDone);
        is_claim && self.language.exceptions.has(token.text)
    }

    fn in_context(&self, tokens: &[Token<'_>], start: usize, end: usize) -> PhraseMatch {
        let language = self.language;
        let (before, rest) = tokens.split_at_checked(start).unwrap_or_default();
        let (own, after) = rest.split_at_checked(end - start).unwrap_or_default();
        let clause = before.rsplit(divides_clauses).next().unwrap_or_default();
        let statement = before.rsplit(divides_statements).next().unwrap_or_default();
        let statement_after = after.split(divides_statements).next().unwrap_or_default();
        let clause_after = statement_after.split(divides_clauses);
        let clause_after = clause_after.into_iter().next().unwrap_or_default();
        let is_zero = |token: &Token<'_>| matches!(token.text, "0" | "zero");
        let denies = |token: &Token<'_>| is_zero(token) || language.negators.has(token.text);
        let is = |tokens: &[Token<'_>], at: usize, list: &str| {
            tokens
                .get(at)
                .is_some_and(|it| TABLES.list(list).has(it.text))
        };
        // `Remaining: none`
        let is_label = own.last().map(name) == Some(":");
        PhraseMatch {
            meaning: self.meaning,
            at: start,
            is_denied: own.first().is_some_and(is_zero)
                || is_label && after.first().is_some_and(denies)
                || clause.iter().any(is_zero)
                || are_in(&language.negators, clause),
            is_modal: are_in(&language.modals, clause),
            is_resolved: are_in(&language.resolutions, clause),
            // `A stub until the service exists` is one now.
            is_conditional: are_in(&language.conditions, statement)
                || are_in(&language.displays, statement)
                || places(&language.conditions, clause_after)
                    .any(|at| self.meaning != Sense::Lack || !is(clause_after, at, "spans")),
            // `Done but the tests` excepts them; `done, but the tests fail` says something else.
            has_exception: are_in(&language.exceptions_before, before)
                || places(&language.exceptions, statement_after)
                    .any(|at| at == 0 || !is(statement_after, at, "clause_dividers")),
            is_of_part: are_in(&language.parts, before)
                || places(&language.parts, clause_after).any(|at| at < NEAR),
        }
    }
}
