//! The person at the terminal: asks the questions of a consultation and takes the answers.

use std::time::Duration;

use crate::consultation::event::{Answer, StillWaiting};
use crate::consultation::policy::consent::Month;
use crate::consultation::policy::estimate::{Estimate, GateReason};
use crate::consultation::protocol::{Question, SubstitutionOffer};
use crate::domain::ids::ProviderId;
use crate::domain::money::MicroUsd;
use crate::engine::ports::{BoxFuture, Person};

use super::choices::{PromptChoice, PromptChoices};
use super::keyboard::Keyboard;
use super::questions::{consent, early_termination, pulse, substitution, threshold};
use super::{PromptError, ask};
use crate::terminal::output::printer::Printer;
use crate::terminal::output::wrap::fit;

/// Saves the amount below which consultations are approved automatically. Returns where it was
/// saved, or why it could not be.
pub type SaveThreshold<'a> = dyn Fn(MicroUsd) -> Result<String, String> + Send + Sync + 'a;

/// Returns the display name of a provider.
pub type VendorName<'a> = dyn Fn(&ProviderId) -> String + Send + Sync + 'a;

/// Failures with one cause, such as a missing network, come within this time.
const FAILURES_COME_TOGETHER: Duration = Duration::from_secs(1);

/// A person at the controlling terminal.
pub struct TerminalPerson<'a> {
    printer: Printer,
    keyboard: Keyboard,
    save_threshold: &'a SaveThreshold<'a>,
    vendor_name: &'a VendorName<'a>,
    month: Option<Month>,
}

impl std::fmt::Debug for TerminalPerson<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TerminalPerson")
            .field("keyboard", &self.keyboard)
            .finish_non_exhaustive()
    }
}

impl<'a> TerminalPerson<'a> {
    pub fn new(
        printer: Printer,
        keyboard: Keyboard,
        save_threshold: &'a SaveThreshold<'a>,
        vendor_name: &'a VendorName<'a>,
        month: Option<Month>,
    ) -> Self {
        Self {
            printer,
            keyboard,
            save_threshold,
            vendor_name,
            month,
        }
    }

    async fn consent(&self, estimate: &Estimate, why: &[GateReason]) -> Answer {
        let question = consent::question(estimate, why, self.month);
        let chosen = self.choose(&question, consent::choices(why)).await;
        if chosen == Ok(PromptChoice::Always) {
            self.always(estimate).await
        } else {
            to_answer(chosen)
        }
    }

    /// Asks for the amount and saves it. If it cannot be saved, this consultation is still
    /// approved.
    async fn always(&self, estimate: &Estimate) -> Answer {
        let suggested = threshold::suggestion(estimate);
        let read = |line: &str| threshold::read(line, suggested);
        let asked = ask(
            &self.printer,
            &self.keyboard,
            &threshold::question(suggested),
            threshold::NO_AMOUNT,
            read,
        )
        .await;
        let Ok(amount) = asked else {
            return Answer::Gone;
        };
        match (self.save_threshold)(amount) {
            Ok(place) => {
                self.printer
                    .note(&self.fit(&threshold::saved(amount, &place)));
                Answer::Always(amount)
            }
            Err(why) => {
                self.printer.warning(&self.fit(&threshold::not_saved(&why)));
                Answer::Yes
            }
        }
    }

    async fn pulse(&self, waiting: &[StillWaiting], choices: PromptChoices) -> Answer {
        let question = pulse::question(waiting, choices);
        let answer = to_answer(self.choose(&question, choices).await);
        if answer == Answer::Yes {
            self.printer.note("⏳ Continuing...");
        }
        answer
    }

    /// Asks once the failures that come together have come: one that withdraws or changes the
    /// question within that time leaves nothing on the screen.
    async fn substitution(&self, offers: &[SubstitutionOffer]) -> Answer {
        tokio::time::sleep(FAILURES_COME_TOGETHER).await;
        let question = substitution::question(offers, self.vendor_name);
        to_answer(self.choose(&question, PromptChoices::YES_NO_FAIL).await)
    }

    async fn choose(
        &self,
        question: &str,
        choices: PromptChoices,
    ) -> Result<PromptChoice, PromptError> {
        ask(
            &self.printer,
            &self.keyboard,
            &self.fit(question),
            &choices.again(),
            |line| choices.read(line),
        )
        .await
    }

    /// Wraps the lines to the terminal; the blank after a prompt stays.
    fn fit(&self, text: &str) -> String {
        let width = self.printer.err_traits().width;
        let fitted: Vec<String> = text
            .split('\n')
            .map(|line| fit(line, Some(width)))
            .collect();
        let end = if text.ends_with(' ') { " " } else { "" };
        format!("{}{end}", fitted.join("\n").trim_end())
    }
}

fn to_answer(chosen: Result<PromptChoice, PromptError>) -> Answer {
    match chosen {
        Ok(PromptChoice::Yes | PromptChoice::Always | PromptChoice::Wait) => Answer::Yes,
        Ok(PromptChoice::No | PromptChoice::Stop) => Answer::No,
        Ok(PromptChoice::GoOn) => Answer::GoOnWithout,
        Ok(PromptChoice::Fail) => Answer::Fail,
        Err(PromptError::InputEnded | PromptError::NoTerminal) => Answer::Gone,
    }
}

impl Person for TerminalPerson<'_> {
    fn ask<'b>(&'b self, question: &'b Question) -> BoxFuture<'b, Answer> {
        Box::pin(async move {
            match question {
                Question::Consent { estimate, why } => self.consent(estimate, why).await,
                Question::EarlyTermination { findings } => {
                    let words = early_termination::question(findings);
                    to_answer(self.choose(&words, PromptChoices::YES_NO).await)
                }
                Question::Pulse {
                    waiting,
                    may_go_on_without,
                } => {
                    let choices = if *may_go_on_without {
                        PromptChoices::WAIT_GO_STOP
                    } else {
                        PromptChoices::WAIT_STOP
                    };
                    self.pulse(waiting, choices).await
                }
                Question::Substitution { offers } => self.substitution(offers).await,
            }
        })
    }
}
