//! The person at the terminal: asks the questions of a consultation and takes the answers.

use std::time::Duration;

use crate::consultation::event::{Answer, StillWaiting};
use crate::consultation::machine::{Question, SubstitutionOffer};
use crate::consultation::policy::consent::ConsentRule;
use crate::consultation::policy::estimate::{Estimate, GateReason};
use crate::domain::cost::money::MicroUsd;
use crate::engine::ports::{BoxFuture, Person};

use super::keyboard::{InputError, Keyboard};
use super::question::KeyQuestion;
use super::questions::threshold::NO_AMOUNT;
use super::questions::{consent, early_termination, pulse, substitution, threshold};
use super::{ask, ask_line};
use crate::terminal::output::printer::Printer;

/// Saves the amount below which consultations are approved automatically. Returns where it was
/// saved, or why it could not be.
pub type SaveThreshold<'a> = dyn Fn(MicroUsd) -> Result<String, String> + Send + Sync + 'a;

/// Failures with one cause, such as a missing network, come within this time.
const FAILURES_COME_TOGETHER: Duration = Duration::from_secs(1);

/// A person at the controlling terminal.
pub struct TerminalPerson<'a> {
    pub printer: Printer,
    pub keyboard: Keyboard,
    pub save_threshold: &'a SaveThreshold<'a>,
    pub consent_rule: ConsentRule,
    /// What is left under the ceiling.
    pub ceiling: Option<MicroUsd>,
}

impl std::fmt::Debug for TerminalPerson<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TerminalPerson").finish_non_exhaustive()
    }
}

impl TerminalPerson<'_> {
    async fn consent(&self, estimate: &Estimate, why: &[GateReason]) -> Answer {
        let question = consent::question(estimate, why, &self.consent_rule, self.ceiling);
        match self.answer(&question).await {
            Answer::Always(suggested) => self.always(suggested).await,
            answer => answer,
        }
    }

    /// Asks for the amount and saves it. If it cannot be saved, this consultation is still
    /// approved; without an amount it is not.
    async fn always(&self, suggested: MicroUsd) -> Answer {
        let suggested = threshold::typed(suggested);
        let read = |line: &str| threshold::read(line).ok_or_else(|| NO_AMOUNT.to_owned());
        let (printer, keyboard) = (&self.printer, &self.keyboard);
        let asked = ask_line(printer, keyboard, threshold::QUESTION, &suggested, read);
        let amount = match asked.await {
            Ok(amount) => amount,
            Err(InputError::InputEnded) => return Answer::No,
            Err(InputError::NoTerminal) => return Answer::Gone,
        };
        match (self.save_threshold)(amount) {
            Ok(place) => {
                self.printer.note(&threshold::saved(amount, &place));
                Answer::Always(amount)
            }
            Err(why) => {
                self.printer.warning(&threshold::not_saved(&why));
                Answer::Yes
            }
        }
    }

    async fn pulse(&self, waiting: &[StillWaiting], may_go_on_without: bool) -> Answer {
        let question = pulse::question(waiting, may_go_on_without);
        let answer = self.answer(&question).await;
        if answer == Answer::Yes {
            self.printer.note("⏳ Continuing...");
        }
        answer
    }

    /// Asks once the failures that come together have come: one that withdraws or changes the
    /// question within that time leaves nothing on the screen.
    async fn substitution(&self, offers: &[SubstitutionOffer]) -> Answer {
        tokio::time::sleep(FAILURES_COME_TOGETHER).await;
        self.answer(&substitution::question(offers)).await
    }

    async fn answer(&self, question: &KeyQuestion<Answer>) -> Answer {
        let answer = ask(&self.printer, &self.keyboard, question).await;
        // The input has ended, or there is no terminal.
        answer.unwrap_or(Answer::Gone)
    }
}

impl Person for TerminalPerson<'_> {
    fn ask<'b>(&'b self, question: &'b Question) -> BoxFuture<'b, Answer> {
        Box::pin(async move {
            match question {
                Question::Consent { estimate, why } => self.consent(estimate, why).await,
                Question::EarlyTermination {
                    findings,
                    synthesis,
                } => {
                    let question = early_termination::question(findings, synthesis);
                    self.answer(&question).await
                }
                Question::Pulse {
                    waiting,
                    may_go_on_without,
                } => self.pulse(waiting, *may_go_on_without).await,
                Question::Substitution { offers } => self.substitution(offers).await,
            }
        })
    }
}
