//! Users' own templates. Each is filled with sample consultations when it is loaded, so that errors
//! show before any round has been paid for.

use crate::consultation::anonymity::labels::Labels;
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::policy::mode::Mode;
use crate::consultation::prompt::prior_consultation::{PriorConsultation, PriorPosition};
use crate::consultation::prompt::{PERSONAS, PromptError, Size, Templates, question_templates};
use crate::domain::artifact::problem::{Problem, ProblemSeverity};
use crate::domain::confidence::Confidence;
use crate::domain::context::{Context, ContextText, ProjectStance};
use crate::domain::ids::{ConsultationId, ModelRef};
use crate::domain::panel::{Panel, Seat};

use super::options::{DebateAnalysis, DebateOptions, JudgePasses};
use super::preview::{Places, planned_calls};
use super::{Control, ModelTerms, Plan};

const QUESTION: &str = "Is this the question?";

const PRIOR_QUESTION: &str = "Was this the earlier question?";

impl Templates {
    /// Replaces a template with the user's text, or adds a persona. Refuses a template that cannot
    /// be filled or that leaves out the question.
    pub fn override_with(&mut self, name: &str, text: &str) -> Result<(), PromptError> {
        let is_persona = name.starts_with(PERSONAS);
        if !self.contains(name) && !is_persona {
            return Err(PromptError::Unknown(name.to_owned()));
        }
        let candidate = self.with(name, text);
        candidate.check(name)?;
        if !is_persona {
            fill_all(&candidate)?;
            question_templates::check(&candidate)?;
        }
        *self = candidate;
        Ok(())
    }
}

/// Fills every prompt of every mode in both sizes, for panels of one and of two seats.
fn fill_all(templates: &Templates) -> Result<(), PromptError> {
    for mode in Mode::ALL {
        for size in [Size::Full, Size::Small] {
            for seats in [&["one"][..], &["one", "two"]] {
                fill(sample(templates, mode, size, seats))?;
            }
        }
    }
    Ok(())
}

/// Fills every prompt of a plan with and without an earlier consultation, and the first with every
/// kind of context. Checks that they contain the question.
fn fill(mut plan: Plan) -> Result<(), PromptError> {
    let labels = plan.labels();
    let seat = plan.panel.seats.first().cloned();
    for context in contexts() {
        plan.context = Some(Box::new(context));
        if let Some(seat) = &seat {
            plan.prompter(&labels, &seat.model).independent(seat)?;
        }
    }
    plan.context = None;
    check_prompts(&plan, QUESTION, "the question: `{{ question }}`")?;
    plan.debate.follows_up = seat.map(|seat| Box::new(prior(&labels, &seat)));
    check_prompts(&plan, QUESTION, "the question: `{{ question }}`")?;
    let what = "the earlier consultation: `{{ prior.text }}`";
    check_prompts(&plan, PRIOR_QUESTION, what)
}

/// Fills every prompt of a plan and those of repairs. `what` describes the text that each must
/// contain.
fn check_prompts(plan: &Plan, text: &str, what: &'static str) -> Result<(), PromptError> {
    let labels = plan.labels();
    let problem = Problem::new(ProblemSeverity::Error, "position", "is missing");
    for call in planned_calls(plan, Places::Marked)? {
        let prompter = plan.prompter(&labels, &call.model);
        prompter.repair(&call.prompt, "text", std::slice::from_ref(&problem))?;
        prompter.repair(&call.prompt, "", &[Problem::cut_off()])?;
        if !call.prompt.shared.contains(text) {
            let name = prompter.shared_template().to_owned();
            return Err(PromptError::Lacks { name, what });
        }
    }
    Ok(())
}

/// Returns the plan of a consultation that asks for every kind of answer.
fn sample(templates: &Templates, mode: Mode, size: Size, seats: &[&str]) -> Plan {
    let model = ModelRef::new("none", "none");
    let seats: Vec<Seat> = seats.iter().map(|id| seat(id, &model)).collect();
    let debate = DebateOptions {
        mode,
        judge_passes: JudgePasses::Twice,
        helper: Some(model.clone()),
        debate_analysis: DebateAnalysis::On,
        selectable_personas: seats.iter().map(|seat| seat.persona.clone()).collect(),
        ..DebateOptions::default()
    };
    let panel = Panel {
        seats,
        judges: vec![model.clone()],
    };
    let control = Control::usual(ConsentMode::NonInteractive);
    let terms = ModelTerms {
        size,
        ..ModelTerms::default()
    };
    Plan {
        debate,
        models: [(model, terms)].into(),
        templates: templates.clone(),
        ..Plan::new(
            ConsultationId::from_unique("sample"),
            QUESTION,
            panel,
            control,
        )
    }
}

/// Returns contexts with and without text, for each stance.
fn contexts() -> Vec<Context> {
    let stances = [
        None,
        Some(ProjectStance::Brownfield),
        Some(ProjectStance::Greenfield),
    ];
    let context = |stance, text: &str| Context {
        stance,
        stack: vec!["Framework: none".to_owned()],
        text: ContextText::from(text.to_owned()),
        ..Context::default()
    };
    stances
        .into_iter()
        .flat_map(|stance| ["a text", ""].map(|text| context(stance, text)))
        .collect()
}

fn seat(id: &str, model: &ModelRef) -> Seat {
    let mut seat = Seat::named(id, id, model.clone());
    "You are an expert.".clone_into(&mut seat.persona.prompt);
    seat
}

fn prior(labels: &Labels, seat: &Seat) -> PriorConsultation {
    PriorConsultation {
        id: ConsultationId::from_unique("earlier"),
        question: PRIOR_QUESTION.to_owned(),
        labels: labels.clone(),
        positions: vec![PriorPosition {
            agent_id: seat.id.clone(),
            position: "a position".to_owned(),
            confidence: Confidence::new(0.7),
        }],
        verdict: None,
    }
}
