//! Redacts the key in streamed text, even if it is split between pieces.
//!
//! Invariant: the text passed on, in order, is [`Account::redact`] of the text received; only a
//! possible beginning of the key is held back.

use crate::engine::ports::{Delta, OnDelta};

use super::Account;

/// Passes on the deltas of one call.
pub(crate) struct DeltaRedactor<'a> {
    account: &'a Account,
    /// The end of the text so far that may be the beginning of the key.
    held: String,
    on: OnDelta<'a>,
}

impl<'a> DeltaRedactor<'a> {
    pub(crate) fn new(account: &'a Account, on: OnDelta<'a>) -> Self {
        Self {
            account,
            held: String::new(),
            on,
        }
    }

    /// A piece that is held back entirely becomes an empty one, because it is still progress.
    pub(crate) fn push(&mut self, delta: Delta) {
        let redacted = match delta {
            Delta::Text(piece) => Delta::Text(self.redacted(&piece)),
            other => other,
        };
        (self.on)(redacted);
    }

    /// Passes on the held text at the end of the stream.
    pub(crate) fn finish(self) {
        if !self.held.is_empty() {
            (self.on)(Delta::Text(self.account.redact_end(&self.held).to_owned()));
        }
    }

    fn redacted(&mut self, piece: &str) -> String {
        let text = std::mem::take(&mut self.held) + piece;
        let (passed, held) = self.account.redact_beginning(&text);
        self.held = held;
        passed
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::BLOT;
    use super::super::Scheme;
    use super::*;

    fn account(key: Option<&str>) -> Account {
        Account {
            key: key.map(Into::into),
            origin: "`KEY`".to_owned(),
            scheme: Scheme::Usual,
            is_word: false,
        }
    }

    /// Returns the text that is passed on for these pieces.
    fn passed_on(account: &Account, pieces: &[String]) -> Vec<String> {
        let mut heard = Vec::new();
        let mut on = |delta| {
            if let Delta::Text(text) = delta {
                heard.push(text);
            }
        };
        let mut redactor = DeltaRedactor::new(account, &mut on);
        for piece in pieces {
            redactor.push(Delta::Text(piece.clone()));
        }
        redactor.finish();
        heard
    }

    /// Splits a text where a bit is set.
    fn cut(text: &str, places: u64) -> Vec<String> {
        let mut pieces = Vec::new();
        for (nth, character) in text.chars().enumerate() {
            if nth == 0 || places >> nth & 1 == 1 {
                pieces.push(String::new());
            }
            pieces.last_mut().unwrap().push(character);
        }
        pieces
    }

    #[test]
    fn however_a_text_is_cut_its_pieces_are_the_redacted_text() {
        for (key, text) in [
            ("abcab", "xabcabcab"),
            ("aa", "aaaba"),
            ("k世k", "k世k世k世"),
            ("abab", "aabababa"),
            ("", "ab"),
            ("[key]", "[[key]y]"),
        ] {
            let account = account(Some(key));
            for places in 0..1 << text.chars().count() {
                let pieces = cut(text, places);
                assert_eq!(
                    passed_on(&account, &pieces).concat(),
                    account.redact(text),
                    "{key} in {pieces:?}"
                );
            }
        }
    }

    proptest! {
        #[test]
        fn no_key_passes_and_nothing_is_lost(
            key in "[ab世]{1,6}",
            parts in
                prop::collection::vec(prop_oneof![Just(None), "[ab世c]{0,4}".prop_map(Some)], 0..8),
            places in any::<u64>(),
        ) {
            let text: String = parts
                .iter()
                .map(|part| part.as_deref().unwrap_or(&key))
                .collect();
            let account = account(Some(&key));
            let heard = passed_on(&account, &cut(&text, places)).concat();
            prop_assert_eq!(&heard, &account.redact(&text));
            prop_assert!(!heard.replace(BLOT, "\n").contains(&key));
        }
    }

    #[test]
    fn only_what_may_begin_a_key_is_held_back_and_it_still_is_a_sign_of_life() {
        let account = account(Some("sk-123"));
        let pieces = ["Your key is s", "k-", "12", "4; no s", "k-123!", "sk"].map(str::to_owned);
        assert_eq!(
            passed_on(&account, &pieces),
            ["Your key is ", "", "", "sk-124; no ", "[key]!", "", "sk"]
        );
    }

    #[test]
    fn without_a_key_every_piece_passes_as_it_comes() {
        let pieces = ["s", "k-", ""].map(str::to_owned);
        assert_eq!(passed_on(&account(None), &pieces), pieces);
    }

    #[test]
    fn a_word_in_place_of_a_key_stays_in_answers() {
        let account = Account {
            is_word: true,
            ..account(Some("none"))
        };
        let pieces = ["There is no", "ne."].map(str::to_owned);
        assert_eq!(passed_on(&account, &pieces), pieces);
        assert_eq!(account.redact("none"), "none");
    }
}
