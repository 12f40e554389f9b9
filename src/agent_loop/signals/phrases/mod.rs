//! Phrases, as data: what they mean, in eight languages, and how they are matched.
//!
//! One file a language. The words are those that agents end their turns with; a phrase is matched by
//! whole words, or by its characters in languages that are written without blanks.

mod phrase_match;
mod pattern;
mod lexicon;
mod unspaced;
mod english;
mod german;
mod french;
mod spanish;
mod portuguese;
mod russian;
mod chinese;
mod japanese;

pub(super) use lexicon::Lexicon;
pub(super) use phrase_match::PhraseMatch;

/// What a phrase means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// All of the work is done: `all tasks are complete`, `nothing is left to do`.
    AllDone,
    /// The one thing that was asked for is done: `the implementation is complete`.
    WholeDone,
    /// Work remains: `is not done yet`.
    Open,
    /// What the agent does next: `next I will`. A later claim shows that it was done.
    Intention,
    /// A request to the person: `please confirm`.
    Request,
    /// Words of a question to the person: `which … do you prefer`.
    Address,
    /// More work is offered, which is a question only as long as work is open: `shall I also`.
    Offer,
    /// A courtesy: `let me know if you need anything else`.
    Courtesy,
    /// The agent decides itself: `I'll go with`, `in the meantime`.
    Proceeds,
    /// The sentence speaks of what may be done: `optional`, `nice to have`.
    Optional,
}

/// The words of one language.
pub(super) struct Language {
    /// Deny what follows in the clause: `not`, `nearly`.
    pub(super) negators: &'static [&'static str],
    /// Make what follows in the sentence conditional: `once`, `until`.
    pub(super) conditions: &'static [&'static str],
    /// Make a claim that follows one of the future, of a wish or of others: `should`, `says`.
    pub(super) modals: &'static [&'static str],
    /// Restrict a claim before them: `except`.
    pub(super) exceptions: &'static [&'static str],
    /// Things that are part of the work: `phase`.
    pub(super) parts: &'static [&'static str],
    /// Take back what was open in the same clause: `fixed the remaining …`.
    pub(super) resolutions: &'static [&'static str],
    /// See the module `pattern`.
    pub(super) phrases: &'static [(Meaning, &'static [&'static str])],
    /// Whether words are divided by blanks. Without, phrases are matched by their characters.
    pub(super) has_blanks: bool,
}

pub(super) const LANGUAGES: [&Language; 8] = [
    &english::ENGLISH,
    &german::GERMAN,
    &french::FRENCH,
    &spanish::SPANISH,
    &portuguese::PORTUGUESE,
    &russian::RUSSIAN,
    &chinese::CHINESE,
    &japanese::JAPANESE,
];
