//! A phrase that was found, with what the words around it do to it.

use super::Meaning;

/// A phrase in a sentence.
#[derive(Clone, Copy, Debug)]
pub(in crate::agent_loop::signals) struct PhraseMatch {
    pub(in crate::agent_loop::signals) meaning: Meaning,
    pub(in crate::agent_loop::signals) context: MatchContext,
}

/// What the words around a phrase do to it.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::agent_loop::signals) struct MatchContext {
    /// `Not all of it is done.`
    pub(in crate::agent_loop::signals) is_denied: bool,
    /// `Once everything is done`
    pub(in crate::agent_loop::signals) is_conditional: bool,
    /// `Everything should be done.`
    pub(in crate::agent_loop::signals) is_modal: bool,
    /// `Everything is done except the tests.`
    pub(in crate::agent_loop::signals) has_exception: bool,
    /// `All tasks of phase 1 are complete.`
    pub(in crate::agent_loop::signals) is_of_part: bool,
    /// `I fixed what was still failing.`
    pub(in crate::agent_loop::signals) is_resolved: bool,
}
