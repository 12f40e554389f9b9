//! The person at the terminal: asks the questions of a consultation and takes the answers.

use crate::consultation::event::{Answer, Substitution};
use crate::consultation::policy::consent::Month;
use crate::consultation::policy::estimate::{Estimate, GateReason};
use crate::consultation::protocol::Question;
use crate::domain::ids::{ModelRef, ProviderId};
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
        f.debug_struct("AtTerminal")
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
        let choices = consent::choices(why);
        match self
            .choose(&consent::question(estimate, why, self.month), choices)
            .await
        {
            Ok(PromptChoice::Yes) => Answer::Yes,
            Ok(PromptChoice::No) => Answer::No,
            Ok(PromptChoice::Always) => self.always(estimate).await,
            Ok(PromptChoice::Fail) => Answer::Fail,
            Err(PromptError::InputEnded | PromptError::NoTerminal) => Answer::Gone,
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

    async fn pulse(&self, question: &str) -> Answer {
        let answer = self.yes_no_fail(question, PromptChoices::YES_NO).await;
        if answer == Answer::Yes {
            self.printer.note("⏳ Continuing...");
        }
        answer
    }

    async fn yes_no_fail(&self, question: &str, choices: PromptChoices) -> Answer {
        match self.choose(question, choices).await {
            Ok(PromptChoice::Yes | PromptChoice::Always) => Answer::Yes,
            Ok(PromptChoice::No) => Answer::No,
            Ok(PromptChoice::Fail) => Answer::Fail,
            Err(PromptError::InputEnded | PromptError::NoTerminal) => Answer::Gone,
        }
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

    fn vendor(&self, model: &ModelRef) -> String {
        (self.vendor_name)(&model.provider)
    }
}

impl Person for TerminalPerson<'_> {
    fn ask<'b>(&'b self, question: &'b Question) -> BoxFuture<'b, Answer> {
        match question {
            Question::Consent { estimate, why } => Box::pin(self.consent(estimate, why)),
            Question::EarlyTermination { findings } => Box::pin(async move {
                self.yes_no_fail(
                    &early_termination::question(findings),
                    PromptChoices::YES_NO,
                )
                .await
            }),
            Question::Pulse { waiting } => {
                Box::pin(async move { self.pulse(&pulse::question(waiting)).await })
            }
            Question::Substitution {
                name,
                offered:
                    Substitution {
                        original,
                        substitute,
                        reason,
                        message,
                        ..
                    },
            } => {
                let vendors = (self.vendor(original), self.vendor(substitute));
                let (original, substitute) = (
                    (vendors.0.as_str(), original),
                    (vendors.1.as_str(), substitute),
                );
                let words = substitution::question(name, original, substitute, reason, message);
                Box::pin(async move { self.yes_no_fail(&words, PromptChoices::YES_NO_FAIL).await })
            }
        }
    }
}
