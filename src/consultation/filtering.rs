//! stub
use super::call::Prompt;
use super::plan::Material;
use super::prompt::{PromptError, Prompter};
use crate::domain::artifact::{CrossExam, Independent, Revision, Synthesis};
use crate::domain::panel::Seat;
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    pub prompt: Prompt,
    pub tokens_saved: u64,
}
impl Shown {
    pub fn whole(prompt: Prompt) -> Self {
        Self { prompt, tokens_saved: 0 }
    }
}
pub fn revision(prompter: &Prompter<'_>, _: Material, seat: &Seat, own: &Independent, found: &Synthesis) -> Result<Shown, PromptError> {
    prompter.revision(seat, own, found).map(Shown::whole)
}
pub fn cross_examination(prompter: &Prompter<'_>, _: Material, revisions: &[Revision], found: &Synthesis) -> Result<Shown, PromptError> {
    prompter.cross_exam(revisions, found).map(Shown::whole)
}
pub fn verdict(prompter: &Prompter<'_>, _: Material, i: &[Independent], s: &Synthesis, c: &CrossExam) -> Result<Shown, PromptError> {
    prompter.verdict(i, s, c).map(Shown::whole)
}
