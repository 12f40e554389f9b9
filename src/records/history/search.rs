//! Parses a user's search text into a query of the index.
//!
//! Invariant: nothing that is typed is an operator: words and phrases go into the query as quoted
//! text.

use crate::text::clean::is_unspaced;

/// A search in questions and recommendations: all terms must occur, in any order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// Words and phrases, as an expression of the full-text index; `None` without any.
    pub(super) words: Option<String>,
    /// Text without words that the index knows, such as `🦀`, or in a script without blanks between
    /// words: found by reading every text.
    pub(super) pieces: Vec<String>,
    /// All terms, in lower case.
    terms: Vec<String>,
}

/// A search text without a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the search has no words")]
pub struct EmptySearchError;

impl Search {
    /// Parses words, and phrases in double quotes. An unquoted last word matches as a prefix.
    pub fn parse(text: &str) -> Result<Self, EmptySearchError> {
        let (mut words, mut pieces) = (Vec::new(), Vec::new());
        let terms = terms(text);
        let all = terms.iter().map(|term| term.text.to_lowercase()).collect();
        let last = terms.len().saturating_sub(1);
        for (at, Term { text, quoted }) in terms.into_iter().enumerate() {
            if text.contains(is_unspaced) || !text.contains(char::is_alphanumeric) {
                if !pieces.contains(&text) {
                    pieces.push(text);
                }
                continue;
            }
            let begins = at == last && !quoted && text.ends_with(char::is_alphanumeric);
            let word = format!(
                "\"{}\"{}",
                text.replace('"', "\"\""),
                if begins { "*" } else { "" }
            );
            if !words.contains(&word) {
                words.push(word);
            }
        }
        if !words.is_empty() {
            // A dash between words is not a search term.
            pieces.retain(|piece| !piece.chars().all(|c| c.is_ascii_punctuation()));
        }
        if words.is_empty() && pieces.is_empty() {
            return Err(EmptySearchError);
        }
        Ok(Self {
            words: (!words.is_empty()).then(|| words.join(" ")),
            pieces,
            terms: all,
        })
    }

    /// Returns whether a text that is not in the index contains all terms.
    pub fn matches(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        self.terms.iter().all(|term| text.contains(term))
    }
}

struct Term {
    text: String,
    quoted: bool,
}

/// The end closes an open quote.
fn terms(text: &str) -> Vec<Term> {
    let mut terms = Vec::new();
    for (at, part) in text.split('"').enumerate() {
        if at % 2 == 1 {
            terms.push(Term {
                text: part.split_whitespace().collect::<Vec<_>>().join(" "),
                quoted: true,
            });
        } else {
            terms.extend(part.split_whitespace().map(|word| Term {
                text: word.to_owned(),
                quoted: false,
            }));
        }
    }
    terms.retain(|term| !term.text.is_empty());
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Option<String> {
        Search::parse(text).unwrap().words
    }

    #[test]
    fn words_are_quoted_and_the_last_one_is_a_prefix() {
        for (typed, asked) in [
            ("oauth", "\"oauth\"*"),
            ("oauth jwt", "\"oauth\" \"jwt\"*"),
            ("\"session cookies\" jw", "\"session cookies\" \"jw\"*"),
            ("jwt \"session  cookies\"", "\"jwt\" \"session cookies\""),
            (
                "a AND b OR NOT c",
                "\"a\" \"AND\" \"b\" \"OR\" \"NOT\" \"c\"*",
            ),
            ("NEAR(a b)", "\"NEAR(a\" \"b)\""),
            ("question:x* ^y", "\"question:x*\" \"^y\"*"),
            ("\"not closed", "\"not closed\""),
            ("c++", "\"c++\""),
            ("same same same", "\"same\" \"same\"*"),
        ] {
            assert_eq!(words(typed).as_deref(), Some(asked), "{typed}");
        }
    }

    #[test]
    fn text_without_words_is_searched_literally() {
        let parts = |text: &str| {
            Search::parse(text)
                .map(|search| (search.words, search.pieces))
                .unwrap()
        };
        assert_eq!(
            parts("🦀 - rust"),
            (Some("\"rust\"*".to_owned()), vec!["🦀".to_owned()])
        );
        assert_eq!(parts("*"), (None, vec!["*".to_owned()]));
        assert_eq!(parts("認証"), (None, vec!["認証".to_owned()]));
    }

    #[test]
    fn empty_text_is_not_a_search() {
        for text in ["", "  \n", "\"\"", "\" \" \""] {
            assert_eq!(Search::parse(text), Err(EmptySearchError), "{text:?}");
        }
    }
}
