//! What plans take over from a stored record.
//!
//! A rejudgement is the judge's work on its answers, in which no expert is asked. A follow-up takes
//! material for its prompts and, unless the request names another, the panel and its judge. The
//! settings do not replace that panel, which knows the conversation. What ran wholly on the user's
//! own servers stays there, unless the user names another panel.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::OptionFuture;

use crate::config::settings::{Repository, Settings};
use crate::consultation::anonymity::labels::Labels;
use crate::consultation::anonymity::relabel::Relabelling;
use crate::consultation::plan::Plan;
use crate::consultation::plan::options::{DebateOptions, PriorAnswers};
use crate::consultation::policy::consent::ConsentMode;
use crate::consultation::policy::mode::Mode;
use crate::consultation::prompt::prior_consultation::{PriorConsultation, PriorPosition};
use crate::domain::answer::artifact::{CrossExam, Independent, Verdict};
use crate::domain::ids::{ConsultationId, ModelRef, SeatId};
use crate::domain::model::{program, vendors};
use crate::domain::panel::{Panel, Seat};
use crate::domain::record::stored_record::{StoredAgent, StoredModel, StoredRecord};
use crate::error::{Error, whole};
use crate::providers::catalog::ModelCatalog;
use crate::setup::context::earlier::EarlierContext;
use crate::setup::helper;
use crate::setup::local_servers::LocalServerSet;
use crate::setup::local_servers::search::ServerSearch;
use crate::setup::panel::context::SelectionContext;
use crate::setup::panel::spec::PanelSpec;
use crate::setup::panel::{self, SelectedPanel};
use crate::setup::programs::consent::ProgramConsent;
use crate::setup::request::{PanelRequest, QuestionRequest, TemplateRequest};

use super::Planner;
use super::template::{PlanTemplate, PreparedPlan};

/// Makes a plan of a stored record, in which only the judge is asked. The panel of the request names
/// the judge, if any; its material and its limits are those of the plan. The context and the
/// consultation that the question follows up are as the experts knew them.
pub async fn prepare(
    planner: &Planner<'_>,
    record: &StoredRecord,
    request: &TemplateRequest,
    context: EarlierContext,
    follows_up: Option<Box<PriorConsultation>>,
) -> Result<(PlanTemplate, PreparedPlan), Error> {
    let sources = &planner.sources;
    let seats = seats(record);
    let judge = named(request.panel.judge.as_deref(), record, &sources.settings);
    let candidates = candidates(judge, record, &seats, &sources.catalog);
    let search = ServerSearch::new(&sources.settings, &sources.access_list)?;
    let servers = LocalServerSet::for_models(candidates.iter(), search).await;
    let selection = planner.selection_context(&servers);
    let mut judging = Panel {
        seats: Vec::new(),
        judges: judges(judge, record, &seats, &selection)?,
    };
    let file = planner.embedded_file(&mut judging, request).await?;
    let mut debate = debate(record);
    debate.follows_up = follows_up;
    helper::assign(&mut debate, &judging, &selection);
    if was_private(record, &selection) {
        // Only the judge that the user names sees the answers.
        debate.helper = debate.helper.and_then(|_| judging.judges.first().cloned());
    }
    let mut notices = vec![format!(
        "the answers of {} are judged again: no expert is asked, and their order changes",
        record.id
    )];
    let judge = judging.judges.first();
    notices.extend(judge.and_then(|judge| sources.catalog.notices(judge, sources.now)));
    let judges = judging.judges;
    let asked = (Panel { seats, judges }, debate, BTreeMap::new());
    let template = planner.complete(request, asked, notices, &servers, file);
    let template = template.await?;
    let mut prepared = template.plan(QuestionRequest {
        question: record.question.clone(),
        sources: context.sources,
        project: context.project,
    })?;
    reorder(&mut prepared.plan, record);
    Ok((template, prepared))
}

fn judges(
    named: Option<&str>,
    record: &StoredRecord,
    seats: &[Seat],
    context: &SelectionContext<'_>,
) -> Result<Vec<ModelRef>, Error> {
    if let Some(names) = named {
        return names.split(',').map(|name| context.model(name)).collect();
    }
    let usual = if was_private(record, context) {
        let models = seats.iter().map(|seat| seat.model.clone());
        let own = models.filter(|model| context.is_own_server(&model.provider));
        own.collect()
    } else {
        context.default_judges(seats)
    };
    let judges = record.judge().into_iter().chain(usual);
    let mut judges: Vec<ModelRef> = judges.chain(context.embedded.clone()).collect();
    let mut met = BTreeSet::new();
    judges.retain(|judge| {
        context.check_provider(&judge.provider).is_ok() && met.insert(judge.clone())
    });
    // The embedded model judges only when no other model is left.
    if judges.iter().any(|judge| !judge.provider.is_local()) {
        judges.retain(|judge| !judge.provider.is_local() || record.judge().as_ref() == Some(judge));
    }
    if judges.is_empty() {
        let error = Error::usage("no model of this consultation can be asked now");
        return Err(error.hint("name a judge with `conclave history rejudge ID --judge MODEL`"));
    }
    Ok(judges)
}

fn candidates(
    named: Option<&str>,
    record: &StoredRecord,
    seats: &[Seat],
    catalog: &ModelCatalog,
) -> Vec<ModelRef> {
    let listed = named.into_iter().flat_map(|names| names.split(','));
    let named = listed.filter_map(|name| catalog.resolve(name.trim()).ok());
    let seated = seats.iter().map(|seat| seat.model.clone());
    named.chain(record.judge()).chain(seated).collect()
}

/// The setting is for panels that are asked: the judge of the consultation comes before it.
fn named<'a>(
    flag: Option<&'a str>,
    record: &StoredRecord,
    settings: &'a Settings,
) -> Option<&'a str> {
    let is_open = record.judge().is_none() && record.agents.is_empty();
    flag.or(settings.judge.as_deref().filter(|_| is_open))
}

/// Returns whether every expert and the judge ran on the user's own servers.
pub(super) fn was_private(record: &StoredRecord, context: &SelectionContext<'_>) -> bool {
    let experts = record
        .agents
        .iter()
        .filter_map(|agent| record.model_of(agent));
    let mut asked = experts.chain(record.judge()).peekable();
    asked.peek().is_some()
        && asked.all(|ModelRef { provider, .. }| {
            // An unknown provider was one: only the settings can add providers.
            let is_vendor = vendors::find(provider.as_str()).is_some();
            context.is_own_server(&provider)
                || !is_vendor && program::of_vendor(&provider).is_none()
        })
}

/// Draws of a new order of experts. With two experts every other draw differs.
const DRAWS: u64 = 64;

/// No expert is asked, so the personas need no prompts.
pub(super) fn seats(record: &StoredRecord) -> Vec<Seat> {
    let seat = |id: &SeatId, name: &str, model: Option<ModelRef>| {
        let model = model.unwrap_or_else(|| ModelRef::new("unknown", "unknown"));
        Seat::named(id.as_str(), name, model)
    };
    let seat_of = |agent: &StoredAgent| seat(&agent.id, &agent.name, record.model_of(agent));
    let mut seats: Vec<Seat> = record.agents.iter().map(seat_of).collect();
    for held in record.independents() {
        if seats.iter().all(|seat| seat.id != held.agent_id) {
            seats.push(seat(&held.agent_id, held.agent_id.as_str(), None));
        }
    }
    seats
}

fn debate(record: &StoredRecord) -> DebateOptions {
    let mut modes = Mode::ALL.into_iter();
    let mode = modes.find(|mode| record.mode.as_deref() == Some(mode.strategy().name));
    let prior_answers = PriorAnswers {
        from: record
            .consultation_id()
            .unwrap_or_else(|| ConsultationId::from_unique(&record.id)),
        independents: record.independents().cloned().collect(),
        // What the earlier judge answered is no answer of the new one.
        cross_exam: record.cross_exam().map(|record| CrossExam {
            provisional_answer: None,
            ..record.clone()
        }),
        verdict: answer(record),
    };
    DebateOptions {
        mode: mode.unwrap_or_default(),
        prior_answers: Some(Box::new(prior_answers)),
        ..DebateOptions::default()
    }
}

/// Returns the verdict, or the provisional answer in its form.
fn answer(record: &StoredRecord) -> Option<Verdict> {
    let given = record.provisional_answer().map(|(_, given)| Verdict {
        recommendation: given.answer.clone(),
        confidence: given.confidence,
        ..Verdict::default()
    });
    record.verdict().cloned().or(given)
}

/// Changes the order in which the judge reads the experts, and moves what was said of their old
/// labels to the new ones.
fn reorder(plan: &mut Plan, record: &StoredRecord) {
    let then = Labels::in_order(&record.expert_order, &plan.panel.seats);
    for _ in 0..DRAWS {
        let is_same = |then: &Labels| then.order == plan.labels().order;
        if !then.as_ref().is_some_and(is_same) {
            break;
        }
        plan.seed = plan.seed.wrapping_add(1);
    }
    let now = plan.labels();
    let (Some(then), Some(prior_answers)) = (then, &mut plan.debate.prior_answers) else {
        return;
    };
    let relabelling = Relabelling {
        from: &then,
        into: &now,
    };
    let cross_exam = prior_answers.cross_exam.take();
    prior_answers.cross_exam = cross_exam.map(|record| relabelling.rewrite(record));
    let verdict = prior_answers.verdict.take();
    prior_answers.verdict = verdict.map(|verdict| relabelling.rewrite(verdict));
}

/// `None` if it has neither an answer nor a position.
pub fn prior(record: &StoredRecord) -> Option<PriorConsultation> {
    let seats = seats(record);
    let revisions = record.positions_of_round_3();
    let position = |first: &Independent| {
        let mut last = revisions
            .iter()
            .filter(|held| held.agent_id == first.agent_id);
        let last = last
            .next()
            .filter(|held| !held.revised_position.trim().is_empty());
        PriorPosition {
            agent_id: first.agent_id.clone(),
            position: last
                .map_or(&first.position, |held| &held.revised_position)
                .clone(),
            confidence: last
                .and_then(|held| held.revised_confidence)
                .or(first.confidence),
        }
    };
    let positions: Vec<PriorPosition> = record.independents().map(position).collect();
    let verdict = answer(record).map(|verdict| Verdict {
        evidence: Vec::new(),
        summary: String::new(),
        ..verdict
    });
    let is_empty = positions.is_empty() && verdict.is_none();
    (!is_empty).then(|| PriorConsultation {
        id: record
            .consultation_id()
            .unwrap_or_else(|| ConsultationId::from_unique(&record.id)),
        question: record.question.clone(),
        // A record without labels names its experts.
        labels: Labels::in_order(&record.expert_order, &seats)
            .unwrap_or_else(|| Labels::draw(&seats, 0)),
        positions,
        verdict,
    })
}

/// A panel, what it was selected by, and the servers that it needs.
#[derive(Debug)]
pub(super) struct PanelChoice {
    pub(super) spec: PanelSpec,
    pub(super) servers: LocalServerSet,
    pub(super) selected: SelectedPanel,
}

impl Planner<'_> {
    /// The panel of the earlier consultation, unless the request names another, else the panel of
    /// request and settings.
    pub(super) async fn choose(&self, request: &TemplateRequest) -> Result<PanelChoice, Error> {
        let panel = &request.panel;
        let earlier = request.follows_up.as_deref();
        let earlier = earlier
            .filter(|_| panel.names_no_seats())
            .and_then(|record| Some((record, spec_of(record, panel)?)));
        let consent = self.consent(request);
        let Some((record, spec)) = earlier else {
            return self.usual(panel, consent).await;
        };
        match self.select(spec, consent).await {
            Ok(mut choice) => {
                if panel.judge.is_none() {
                    let context = self.selection_context(&choice.servers);
                    lead_with_judge(&mut choice.selected, record, &context);
                }
                Ok(choice)
            }
            Err(error) => {
                let none = LocalServerSet::none();
                let context = self.selection_context(&none);
                if was_private(record, &context) {
                    let why = "ran on your own servers: to show it to others, name them with";
                    return Err(error.hint(format!("{} {why} `--panel`", record.id)));
                }
                let mut choice = self.usual(panel, consent).await?;
                let (id, cause) = (&record.id, whole(error.source()));
                let notice = format!(
                    "the panel of {id} cannot be asked; the usual panel answers instead: {cause}"
                );
                choice.selected.notices.insert(0, notice);
                Ok(choice)
            }
        }
    }

    /// Of request and settings. What a repository names goes only to providers that the user's own
    /// settings would ask, or that are the user's own servers; programs are none.
    async fn usual(
        &self,
        request: &PanelRequest,
        consent: ProgramConsent<'_>,
    ) -> Result<PanelChoice, Error> {
        let sources = &self.sources;
        let spec = |settings| PanelSpec::new(request, settings, &sources.personas);
        let choice = self.select(spec(&sources.settings)?, consent).await?;
        let Some(Repository { file, own }) = &sources.settings.repository else {
            return Ok(choice);
        };
        // Nothing is asked about a panel that is only compared.
        let consent = ProgramConsent {
            mode: ConsentMode::NonInteractive,
            ..consent
        };
        let own = match spec(own) {
            Ok(spec) => self.select(spec, consent).await.ok(),
            Err(_) => None,
        };
        let own = own.map_or_else(Vec::new, |own| {
            own.selected.panel.models().cloned().collect()
        });
        let context = self.selection_context(&choice.servers);
        let is_other = |model: &&ModelRef| {
            let mut own = own.iter().map(|own| &own.provider);
            let is_own =
                context.is_own_server(&model.provider) && !context.is_program(&model.provider);
            !is_own && own.all(|own| *own != model.provider)
        };
        let other = choice.selected.panel.models().find(is_other).cloned();
        other.map_or(Ok(choice), |model| {
            let file = file.shown();
            let file = file.display();
            let why = "and your own settings do not ask that provider";
            Err(Error::usage(format!("{file} names `{model}`, {why}"))
                .hint("name a panel yourself with `--panel`"))
        })
    }

    async fn select(
        &self,
        spec: PanelSpec,
        consent: ProgramConsent<'_>,
    ) -> Result<PanelChoice, Error> {
        let (sources, access_list) = (&self.sources, &self.sources.access_list);
        let search = ServerSearch::new(&sources.settings, access_list)?;
        let is_needed = spec.needs_keyless(access_list);
        let programs = OptionFuture::from(is_needed.then(|| consent.offer())).await;
        let usual_programs = programs.unwrap_or_default();
        let servers = spec.find_servers(access_list, &usual_programs, search);
        let servers = servers.await;
        let context = SelectionContext {
            usual_programs: &usual_programs,
            ..self.selection_context(&servers)
        };
        let selected = panel::select(&spec, &context)?;
        Ok(PanelChoice {
            spec,
            servers,
            selected,
        })
    }
}

/// `None` if it does not have all of it.
fn spec_of(record: &StoredRecord, request: &PanelRequest) -> Option<PanelSpec> {
    let seat = |agent: &StoredAgent| {
        let (persona, model) = (agent.persona.as_deref()?, agent.chosen_model()?);
        Some(format!("{persona}={model}"))
    };
    let seats: Option<Vec<String>> = record.agents.iter().map(seat).collect();
    Some(PanelSpec {
        panel: Some(seats.filter(|seats| !seats.is_empty())?.join(",")),
        judge: request.judge.clone(),
        ..PanelSpec::default()
    })
}

/// Puts the earlier judge before the usual ones, if it can be asked.
fn lead_with_judge(
    selected: &mut SelectedPanel,
    record: &StoredRecord,
    context: &SelectionContext<'_>,
) {
    let planned = record.panel.judges.first().and_then(StoredModel::model_ref);
    let Some(judge) = planned.or_else(|| record.judge()) else {
        return;
    };
    if context.check_provider(&judge.provider).is_err() {
        let notice = format!("{judge}, the judge of {}, cannot be asked now", record.id);
        selected.notices.insert(0, notice);
        return;
    }
    let judges = &mut selected.panel.judges;
    judges.insert(0, judge);
    let mut met = BTreeSet::new();
    judges.retain(|judge| met.insert(judge.clone()));
}
