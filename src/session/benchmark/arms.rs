//! Who answers and who grades: a template of plans for each arm, and one for the grader.

use crate::benchmark::case::CaseId;
use crate::benchmark::run::{Arm, ArmTerms, RunOptions, RunTerms};
use crate::consultation::plan::options::{DebateAnalysis, JudgePasses, Rounds};
use crate::consultation::plan::{ControlRequest, Plan};
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::policy::hedging::HedgeAfter;
use crate::consultation::policy::substitution::OnFailure;
use crate::domain::panel::Seat;
use crate::error::Error;
use crate::setup::plan::Planner;
use crate::setup::plan::template::PlanTemplate;
use crate::setup::request::{DebateRequest, PanelRequest, TemplateRequest};
use crate::stopping::early_termination::Policy;

use super::request::BenchmarkRequest;

/// The round that gives an answer without a debate.
const ONE_ROUND: u8 = 1;

/// The templates of a run.
#[derive(Debug)]
pub struct ArmTemplates {
    arms: Vec<(ArmTerms, PlanTemplate)>,
    /// `None` if no case needs a model that grades.
    grader: Option<PlanTemplate>,
}

/// Prepares the templates.
#[derive(Clone, Copy, Debug)]
pub struct ArmPlanner<'a> {
    pub planner: &'a Planner<'a>,
    pub consent_mode: ConsentMode,
    pub dry_run: bool,
    /// A case that a model grades.
    pub judged: Option<&'a CaseId>,
}

impl ArmPlanner<'_> {
    /// Prepares a new run.
    ///
    /// # Errors
    ///
    /// When a model cannot be asked, or no model grades cases that need one.
    pub async fn prepare(&self, request: &BenchmarkRequest) -> Result<ArmTemplates, Error> {
        let options = &request.options;
        let mut arms = Vec::new();
        let mut single = request.single.clone();
        if request.arms().contains(&Arm::Panel) {
            let panel = request.panel.clone();
            let template = self.template(panel, request.rounds, options).await?;
            if request.compare && single.is_none() {
                let judge = template.common.panel.judges.first();
                single = judge.map(ToString::to_string);
            }
            arms.push((arm_terms(Arm::Panel, &template.common), template));
        }
        if request.arms().contains(&Arm::Single) {
            let model = single.ok_or_else(|| {
                Error::usage("the panel has no judge that could answer alone")
                    .hint("name a model with `--single MODEL`")
            })?;
            let template = self.alone(&model, options).await?;
            arms.push((arm_terms(Arm::Single, &template.common), template));
        }
        Ok(ArmTemplates {
            arms,
            grader: self.grader(options).await?,
        })
    }

    /// Prepares the same arms again, for a resumed run.
    ///
    /// # Errors
    ///
    /// When a model can no longer be asked, or the panel would be another.
    pub async fn prepare_resumed(&self, terms: &RunTerms) -> Result<ArmTemplates, Error> {
        let mut arms = Vec::new();
        for arm in &terms.arms {
            let panel = panel_request(arm, terms.options.selects_personas);
            let rounds = Rounds::new(arm.rounds);
            let template = self.template(panel, rounds, &terms.options).await?;
            let today = arm_terms(arm.arm, &template.common);
            if today.seats != arm.seats {
                return Err(Error::usage(format!(
                    "the {} would change: {} instead of {}",
                    arm.arm.name(),
                    today.seats.join(","),
                    arm.seats.join(",")
                ))
                .hint("restore the personas and the models that the run began with"));
            }
            arms.push((arm.clone(), template));
        }
        Ok(ArmTemplates {
            arms,
            grader: self.grader(&terms.options).await?,
        })
    }

    async fn grader(&self, options: &RunOptions) -> Result<Option<PlanTemplate>, Error> {
        let Some(case) = self.judged else {
            return Ok(None);
        };
        let model = options.grader.as_deref().ok_or_else(|| {
            let error = format!("only a model can compare the answer of case `{case}`");
            Error::usage(error).hint(
                "name it with `--grader MODEL`, or as `grader` in the manifest, or say with \
                 `match` how answers are compared",
            )
        })?;
        self.alone(model, options).await.map(Some)
    }

    async fn alone(&self, model: &str, options: &RunOptions) -> Result<PlanTemplate, Error> {
        let options = RunOptions {
            mode: None,
            judge_passes: None,
            selects_personas: false,
            ..options.clone()
        };
        self.template(PanelRequest::alone(model), Rounds::new(ONE_ROUND), &options)
            .await
    }

    async fn template(
        &self,
        panel: PanelRequest,
        rounds: Option<Rounds>,
        options: &RunOptions,
    ) -> Result<PlanTemplate, Error> {
        let request = TemplateRequest {
            unmasked: options.unmasked,
            panel,
            no_fallbacks: !has_fallbacks(options),
            debate: DebateRequest {
                mode: options.mode,
                rounds,
                judge_passes: options
                    .judge_passes
                    .and_then(|passes| JudgePasses::of_number(passes.into())),
                // Whether positions changed follows from the answers, which are graded.
                analysis: Some(DebateAnalysis::Off),
            },
            control: control(options, self.consent_mode),
            dry_run: self.dry_run,
            ..TemplateRequest::default()
        };
        self.planner.template(request).await
    }
}

impl ArmTemplates {
    pub fn terms(&self) -> Vec<ArmTerms> {
        self.arms.iter().map(|(terms, _)| terms.clone()).collect()
    }

    /// `None` if it does not take part.
    pub fn of(&self, arm: Arm) -> Option<&PlanTemplate> {
        let mut arms = self.arms.iter();
        arms.find_map(|(terms, template)| (terms.arm == arm).then_some(template))
    }

    pub fn templates(&self) -> impl Iterator<Item = &PlanTemplate> {
        let arms = self.arms.iter().map(|(_, template)| template);
        arms.chain(&self.grader)
    }

    pub fn grader(&self) -> Option<&PlanTemplate> {
        self.grader.as_ref()
    }

    pub fn selects_personas(&self) -> bool {
        let panel = self.of(Arm::Panel);
        panel.is_some_and(|panel| !panel.common.debate.selectable_personas.is_empty())
    }
}

/// Returns the limits of each consultation.
///
/// Only the panel that is measured may answer: without a flag, no other model takes over, and none
/// is asked beside a slow one. No consultation asks a person, because many run at once.
pub fn control(options: &RunOptions, consent_mode: ConsentMode) -> ControlRequest {
    let asked = &options.control;
    ControlRequest {
        consent_mode,
        max_cost: None,
        on_failure: asked.on_failure.or(Some(OnFailure::Fail)),
        hedge_after: asked.hedge_after.or(Some(HedgeAfter::Off)),
        early_termination: asked.early_termination.or(Some(Policy::Auto)),
        ..asked.clone()
    }
}

fn has_fallbacks(options: &RunOptions) -> bool {
    let takes_over = matches!(
        options.control.on_failure,
        Some(OnFailure::Substitute | OnFailure::Ask)
    );
    takes_over || matches!(options.control.hedge_after, Some(HedgeAfter::After(_)))
}

pub fn arm_terms(arm: Arm, plan: &Plan) -> ArmTerms {
    let seat = |seat: &Seat| format!("{}={}", seat.persona.id, seat.model);
    let rounds = plan.debate.rounds.number();
    let judges: Vec<String> = plan.panel.judges.iter().map(ToString::to_string).collect();
    ArmTerms {
        arm,
        seats: plan.panel.seats.iter().map(seat).collect(),
        judge: (rounds > ONE_ROUND).then(|| judges.join(",")),
        rounds,
    }
}

fn panel_request(arm: &ArmTerms, selects_personas: bool) -> PanelRequest {
    let models = arm.seats.iter().filter_map(|seat| seat.split_once('='));
    let models: Vec<String> = models.map(|(_, model)| model.to_owned()).collect();
    // A panel that holds no second round has a judge who is never asked.
    let judge = arm.judge.clone().or_else(|| models.first().cloned());
    if selects_personas && arm.arm == Arm::Panel {
        return PanelRequest {
            panel: None,
            personas: Some("auto".to_owned()),
            models,
            judge,
        };
    }
    PanelRequest {
        panel: Some(arm.seats.join(",")),
        personas: None,
        models: Vec::new(),
        judge,
    }
}
