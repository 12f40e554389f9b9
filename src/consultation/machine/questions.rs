//! Questions to the person, asked one after the other.

use std::collections::VecDeque;

use super::Effect;
use super::emitter::Emitter;
use crate::consultation::event::{EarlyTermination, StillWaiting, Substitution};
use crate::consultation::policy::estimate::{Estimate, GateReason};
use crate::domain::answer::artifact::Synthesis;

/// A question to the person.
#[derive(Clone, Debug, PartialEq)]
pub enum Question {
    /// Whether to proceed at this estimate: yes, no or always. No answer is a no.
    Consent {
        estimate: Estimate,
        why: Vec<GateReason>,
    },
    /// Whether to keep waiting: yes, no, or, if the other answers are enough, without these agents.
    /// No answer is a yes.
    Pulse {
        waiting: Vec<StillWaiting>,
        may_go_on_without: bool,
    },
    /// Whether to end here, since the experts agree: yes or no. No answer leaves it to the guards.
    EarlyTermination {
        findings: Box<EarlyTermination>,
        /// What they agree on and where they differ, with the seats' names.
        synthesis: Box<Synthesis>,
    },
    /// Whether other models may take over for all agents whose models have failed: yes, no or
    /// fail. No answer is a yes.
    Substitution { offers: Vec<SubstitutionOffer> },
}

/// A model that may take over for one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubstitutionOffer {
    pub name: String,
    pub offered: Substitution,
}

/// The open question, and those that wait for its answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Questions {
    open: Option<Question>,
    waiting: VecDeque<Question>,
}

impl Questions {
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Asks the person, or queues the question behind the open one.
    pub(crate) fn ask(&mut self, emitter: &mut Emitter<'_>, question: Question) {
        if self.open.is_some() {
            self.waiting.push_back(question);
        } else {
            emitter.push(Effect::Question(Box::new(question.clone())));
            self.open = Some(question);
        }
    }

    /// Asks about these substitutions, or changes the question about others to one about these.
    /// Without any, the question is withdrawn.
    pub(crate) fn ask_about_substitutions(
        &mut self,
        emitter: &mut Emitter<'_>,
        offers: Vec<SubstitutionOffer>,
    ) {
        if offers.is_empty() {
            self.withdraw(emitter, is_substitution);
            return;
        }
        let question = Question::Substitution { offers };
        let mut asked = self.open.iter().chain(&self.waiting);
        if asked.any(|asked| *asked == question) {
            return;
        }
        if self.open.take_if(|open| is_substitution(open)).is_some() {
            emitter.push(Effect::Withdraw);
            self.ask(emitter, question);
        } else if let Some(waiting) = self.waiting.iter_mut().find(|next| is_substitution(next)) {
            *waiting = question;
        } else {
            self.ask(emitter, question);
        }
    }

    /// Returns the question that was answered, and asks the next one.
    pub(crate) fn answered(&mut self, emitter: &mut Emitter<'_>) -> Option<Question> {
        let answered = self.open.take()?;
        self.ask_next(emitter);
        Some(answered)
    }

    /// Returns true if one of them was open.
    pub(crate) fn withdraw(
        &mut self,
        emitter: &mut Emitter<'_>,
        is_void: impl Fn(&Question) -> bool,
    ) -> bool {
        self.waiting.retain(|question| !is_void(question));
        let was_open = self.open.take_if(|question| is_void(question)).is_some();
        if was_open {
            emitter.push(Effect::Withdraw);
            self.ask_next(emitter);
        }
        was_open
    }

    fn ask_next(&mut self, emitter: &mut Emitter<'_>) {
        if let Some(next) = self.waiting.pop_front() {
            self.ask(emitter, next);
        }
    }
}

fn is_substitution(question: &Question) -> bool {
    matches!(question, Question::Substitution { .. })
}
