//! Renders prompts from the templates in `prompts/`: one function for each kind of answer.
//!
//! Invariants: every prompt contains the question, and every expert's prompt its persona; an expert
//! appears to the judge and to other experts only under its label; text from agents occurs only
//! between the lines of a `Fence` that it cannot contain, and the question between tags that
//! neither it nor a quoted earlier consultation nor the context can contain; prompts of experts and
//! judges begin with the context, the same to the byte in all of them.

pub mod filter;
pub mod fence;
mod material;
mod templates;
mod overrides;
mod context;
pub mod prior_consultation;

use minijinja::value::{Serde, Value};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::domain::answer::artifact::{CrossExam, Independent, Revision, Synthesis};
use crate::domain::panel::{Persona, Seat};
use crate::text::clean::one_line;

use super::anonymity::labels::Labels;
use super::policy::mode::{Headings, Mode};
use super::protocol::answer::AnswerKind;
use super::protocol::call::Prompt;
use super::reading::problem::{Problem, ProblemSeverity};

pub use context::{PromptContext, RenderedContexts};
pub use templates::PromptError;
pub use templates::{
    CONTEXT, PromptUsed, REFINE_EXTRACTION, REFINE_QUESTIONS, SMALL_CONTEXT, Templates,
};

use fence::Fence;
use prior_consultation::PriorConsultation;

/// The folder of the helper model's templates.
pub const HELPER_FOLDER: &str = "helper";

/// The templates that quote an earlier consultation, for a model of each size.
pub const FOLLOW_UP: &str = "follow_up";
pub const SMALL_FOLLOW_UP: &str = "small/follow_up";

/// The variant of a prompt that a model gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Size {
    #[default]
    Full,
    /// Short and plain, for the embedded model.
    Small,
}

impl Size {
    fn template(self, folder: &str, file: &str) -> String {
        match self {
            Self::Full => format!("{folder}/{file}"),
            Self::Small => format!("{folder}/small/{file}"),
        }
    }

    fn persona(self, persona: &Persona) -> String {
        let prompt = persona.prompt.trim();
        match self {
            Self::Full => prompt,
            Self::Small if persona.brief.is_empty() => {
                prompt.split("\n\n").next().unwrap_or(prompt)
            }
            Self::Small => &persona.brief,
        }
        .to_owned()
    }
}

/// Fills prompts for one consultation and one size of model.
#[derive(Clone, Copy, Debug)]
pub struct Prompter<'a> {
    pub templates: &'a Templates,
    pub labels: &'a Labels,
    pub question: &'a str,
    /// The earlier consultation that the question follows up; every prompt quotes it.
    pub prior: Option<&'a PriorConsultation>,
    /// The context of the question; prompts of experts and judges begin with it.
    pub context: Option<PromptContext<'a>>,
    pub size: Size,
    pub mode: Mode,
}

/// Two texts of one expert or judge to compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    pub label: String,
    pub before: String,
    pub after: String,
}

impl Pair {
    pub(super) fn verdicts(before: String, after: String) -> Self {
        Self {
            label: "Verdict".to_owned(),
            before,
            after,
        }
    }
}

impl Prompter<'_> {
    pub fn independent(&self, seat: &Seat) -> Result<Prompt, PromptError> {
        self.fill(AnswerKind::Independent, Some(seat), &[], &[])
    }

    /// The answers appear in the order of their labels.
    pub fn synthesis(&self, answers: &[Independent]) -> Result<Prompt, PromptError> {
        self.fill(AnswerKind::Synthesis, None, &self.answers(answers), &[])
    }

    /// Renders the prompt of Round 3 for an expert: challenges, rebuttals and a revised position.
    pub fn revision(
        &self,
        seat: &Seat,
        own: &Independent,
        synthesis: &Synthesis,
    ) -> Result<Prompt, PromptError> {
        let texts = [
            ("own", material::independent(own, self.headings())),
            ("synthesis", self.found(synthesis)),
        ];
        self.fill(AnswerKind::Revision, Some(seat), &[], &texts)
    }

    /// Renders the prompt of Round 3 for the judge, which merges the cross-examination.
    pub fn cross_exam(
        &self,
        revisions: &[Revision],
        synthesis: &Synthesis,
    ) -> Result<Prompt, PromptError> {
        let experts = self.by_label(revisions.iter().map(|said| {
            (
                &said.agent_id,
                material::revision(said, self.labels, self.headings()),
            )
        }));
        self.fill(
            AnswerKind::CrossExam,
            None,
            &experts,
            &[("synthesis", self.found(synthesis))],
        )
    }

    pub fn verdict(
        &self,
        answers: &[Independent],
        synthesis: &Synthesis,
        cross_exam: &CrossExam,
    ) -> Result<Prompt, PromptError> {
        let record = material::cross_exam(cross_exam, self.labels, self.headings());
        let texts = [("synthesis", self.found(synthesis)), ("cross_exam", record)];
        self.fill(
            self.mode.strategy().verdict,
            None,
            &self.answers(answers),
            &texts,
        )
    }

    /// Renders the prompt for the helper's selection of this many personas, before Round 1.
    pub fn persona_selection(
        &self,
        personas: &[Persona],
        seats: usize,
    ) -> Result<Prompt, PromptError> {
        let fence = Fence::around([self.question]);
        let personas: Vec<_> = personas
            .iter()
            .map(|persona| {
                let brief = one_line(&Size::Small.persona(persona));
                json!({ "id": persona.id, "brief": brief })
            })
            .collect();
        self.render(
            AnswerKind::PersonaSelection,
            None,
            &fence,
            json!({ "personas": personas, "seats": seats }),
        )
    }

    /// Renders the prompt for the helper's comparison of each pair of texts, after Round 3.
    pub fn comparison(&self, pairs: &[Pair]) -> Result<Prompt, PromptError> {
        let fence = Fence::around(
            pairs
                .iter()
                .flat_map(|pair| [pair.before.as_str(), pair.after.as_str()])
                .chain([self.question]),
        );
        let pairs: Vec<_> = pairs
            .iter()
            .map(|pair| {
                json!({
                    "label": pair.label,
                    "before": fence.enclose(&pair.before),
                    "after": fence.enclose(&pair.after),
                })
            })
            .collect();
        self.render(
            AnswerKind::Comparison,
            None,
            &fence,
            json!({ "pairs": pairs }),
        )
    }

    /// Renders the prompt for the repair of an unusable answer: the same prompt, so that the cache
    /// still applies, then the problems and the answer itself. An answer that was cut off is not
    /// shown, because the model would copy it up to the cut; nor is a refusal, because the model
    /// would stand by it.
    pub fn repair(
        &self,
        original: &Prompt,
        answer: &str,
        problems: &[Problem],
    ) -> Result<Prompt, PromptError> {
        let useless = problems
            .iter()
            .any(|problem| problem.is_cut_off() || problem.is_refusal());
        let answer = if useless {
            String::new()
        } else {
            material::bounded(answer)
        };
        let fence = Fence::around([
            answer.as_str(),
            original.shared.as_str(),
            original.task.as_str(),
        ]);
        let wrong = problems
            .iter()
            .filter(|problem| problem.severity > ProblemSeverity::Repaired);
        let problems: Vec<String> = wrong.map(material::problem).collect();
        let answer = if answer.is_empty() {
            answer
        } else {
            fence.enclose(&answer)
        };
        let ask = self.templates.compiled("repair")?.fill(
            "repair",
            &Value::from(Serde(
                serde_json::json!({ "problems": problems, "answer": answer }),
            )),
        )?;
        Ok(Prompt {
            task: format!("{}\n\n{ask}", original.task.trim_end()),
            ..original.clone()
        })
    }

    fn answers(&self, answers: &[Independent]) -> Vec<(String, String)> {
        self.by_label(
            answers
                .iter()
                .map(|said| (&said.agent_id, material::independent(said, self.headings()))),
        )
    }

    fn found(&self, synthesis: &Synthesis) -> String {
        material::synthesis(synthesis, self.labels, self.headings())
    }

    fn headings(&self) -> &'static Headings {
        &self.mode.strategy().headings
    }

    fn by_label<'b>(
        &self,
        said: impl Iterator<Item = (&'b crate::domain::ids::SeatId, String)>,
    ) -> Vec<(String, String)> {
        let mut said: Vec<_> = said.collect();
        said.sort_by_key(|(seat, _)| self.labels.rank(seat));
        said.into_iter()
            .map(|(seat, text)| (self.labels.label(seat), text))
            .collect()
    }

    fn fill(
        &self,
        kind: AnswerKind,
        seat: Option<&Seat>,
        experts: &[(String, String)],
        texts: &[(&str, String)],
    ) -> Result<Prompt, PromptError> {
        let material = experts
            .iter()
            .map(|(_, text)| text.as_str())
            .chain(texts.iter().map(|(_, text)| text.as_str()));
        let fence = Fence::around(material.chain([self.question]));
        let experts: Vec<_> = experts
            .iter()
            .map(|(label, text)| json!({ "label": label, "answer": fence.enclose(text) }))
            .collect();
        let mut values = json!({ "experts": experts });
        if let Some(values) = values.as_object_mut() {
            values.extend(
                texts
                    .iter()
                    .map(|(name, text)| ((*name).to_owned(), fence.enclose(text).into())),
            );
        }
        self.render(kind, seat, &fence, values)
    }

    fn render(
        &self,
        kind: AnswerKind,
        seat: Option<&Seat>,
        fence: &Fence,
        mut values: serde_json::Value,
    ) -> Result<Prompt, PromptError> {
        let context = self
            .context
            .filter(|_| !kind.is_for_helper())
            .map(|context| context.blocks(self.templates, self.size))
            .transpose()?;
        if let Some(values) = values.as_object_mut() {
            values.insert("question".to_owned(), self.question.into());
            let prior = self.prior_text();
            let beside = [self.question].into_iter().chain(prior.as_deref());
            let tag = match context.as_ref().filter(|blocks| blocks.has_question_tag) {
                Some(blocks) => Fence::unique_question_tag(beside.chain([blocks.text.sha256()])),
                None => Fence::question_tag(beside),
            };
            values.insert("question_tag".to_owned(), tag.into());
            values.extend(prior.map(|text| ("prior".to_owned(), self.quoted(&text))));
            values.insert(
                "fence".to_owned(),
                json!({ "open": fence.open(), "close": fence.close() }),
            );
            values.extend(
                seat.map(|seat| ("own_label".to_owned(), self.labels.label(&seat.id).into())),
            );
        }
        let values = Value::from(Serde(values));
        let name = self.template(kind);
        let templates = self.templates.compiled(&name)?;
        let (preamble, context) = context
            .map(|blocks| (blocks.preamble, blocks.text))
            .unwrap_or_default();
        Ok(Prompt {
            preamble,
            context,
            persona: seat
                .map(|seat| self.size.persona(&seat.persona))
                .unwrap_or_default(),
            protocol: templates.fill(&templates::protocol(&name), &values)?,
            shared: templates.fill(self.shared_template(), &values)?,
            task: templates.fill(&templates::task(&name), &values)?,
        })
    }

    /// The earlier experts have their labels of this consultation; experts who are not on the panel
    /// have the labels after them.
    fn prior_text(&self) -> Option<String> {
        let prior = self.prior?;
        let labels = self.labels.followed_by(&prior.labels);
        Some(material::prior(prior, &labels, self.size))
    }

    /// Returns the earlier consultation between the lines of a fence of its own, which is the same
    /// in every round: what comes first in all prompts stays in the caches of providers.
    fn quoted(&self, prior: &str) -> serde_json::Value {
        let fence = Fence::around([prior, self.question]);
        json!({ "open": fence.open(), "close": fence.close(), "text": fence.enclose(prior) })
    }

    pub(super) fn shared_template(&self) -> &'static str {
        match (self.prior, self.size) {
            (None, _) => "question",
            (Some(_), Size::Full) => FOLLOW_UP,
            (Some(_), Size::Small) => SMALL_FOLLOW_UP,
        }
    }

    fn template(&self, kind: AnswerKind) -> String {
        let (folder, file) = match kind {
            AnswerKind::PersonaSelection => (HELPER_FOLDER, "persona_selection"),
            AnswerKind::Comparison | AnswerKind::Consistency => (HELPER_FOLDER, "comparison"),
            AnswerKind::Verdict | AnswerKind::Menu => (self.mode.strategy().name, "verdict"),
            AnswerKind::Independent
            | AnswerKind::Synthesis
            | AnswerKind::Revision
            | AnswerKind::CrossExam => (self.mode.strategy().name, kind.name()),
        };
        self.size.template(folder, file)
    }
}
