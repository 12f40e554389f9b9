//! From the arguments of a tool to a plan that is ready to run.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::host::Host;
use crate::commands::consult::follow_up::{self, FollowUp};
use crate::consultation::plan::ControlRequest;
use crate::consultation::plan::options::Rounds;
use crate::consultation::policy::consent::{ConsentMode, Gate};
use crate::consultation::policy::estimate::Estimate;
use crate::consultation::policy::mode::Mode;
use crate::context::sources::error::SourcesError;
use crate::context::sources::{SourceSize, SourceText};
use crate::domain::context::SourceKind;
use crate::domain::cost::money::MicroUsd;
use crate::engine::host;
use crate::error::{Error, Exit};
use crate::setup::context::earlier::EarlierContext;
use crate::setup::context::sources::{ContextRequest, ReadSources, StdinRequest, read_sources};
use crate::setup::plan::Planner;
use crate::setup::plan::template::{PlanTemplate, PreparedPlan};
use crate::setup::request::{DebateRequest, PanelRequest, QuestionRequest, TemplateRequest};

/// The arguments of `consult`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConsultArguments {
    question: String,
    #[serde(default)]
    context: String,
    #[serde(default)]
    pub(super) files: Vec<PathBuf>,
    mode: Option<Mode>,
    rounds: Option<Rounds>,
    #[serde(default)]
    quick: bool,
    #[serde(default)]
    personas: Vec<String>,
    max_cost: Option<f64>,
    follow_up: Option<String>,
    /// The folders that the client works in.
    #[serde(skip)]
    pub(super) roots: Vec<PathBuf>,
}

impl ConsultArguments {
    pub(super) fn of_personas(personas: Vec<String>) -> Self {
        Self {
            personas,
            ..Self::default()
        }
    }
}

/// A consultation that can begin, and what its cost needs.
#[derive(Debug)]
pub(super) struct PreparedConsultation {
    pub(super) template: PlanTemplate,
    pub(super) prepared: PreparedPlan,
    pub(super) estimate: Estimate,
    pub(super) gate: Gate,
}

impl Host {
    /// Reads, plans and estimates. It blocks.
    pub(super) fn prepare(
        &self,
        arguments: ConsultArguments,
        dry_run: bool,
    ) -> Result<PreparedConsultation, Error> {
        if arguments.question.trim().is_empty() && !dry_run {
            return Err(Error::usage("`question` is empty"));
        }
        if arguments.quick && arguments.rounds.is_some() {
            return Err(Error::usage("`quick` and `rounds` exclude each other"));
        }
        let max_cost = arguments.max_cost.map(|usd| {
            MicroUsd::from_usd(usd)
                .ok_or_else(|| Error::usage("`max_cost` is no amount of dollars"))
        });
        let max_cost = max_cost.transpose()?;
        let own = self.folders.iter().filter(|_| !arguments.files.is_empty());
        let folders: Vec<&PathBuf> = own.chain(&arguments.roots).collect();
        let files = arguments.files.iter().map(|path| allowed(path, &folders));
        let earlier = match &arguments.follow_up {
            Some(name) => follow_up::load_named(name, &self.home)?,
            None => FollowUp::default(),
        };
        let request = ContextRequest {
            files: files.collect::<Result<_, _>>()?,
            // The protocol is on standard input.
            stdin: StdinRequest::Taken,
            limits: SourceSize::LIMIT,
            ..ContextRequest::default()
        };
        let face = &*self.face;
        let ReadSources {
            mut texts, project, ..
        } = read_sources(&request, &self.environment, face).map_err(for_models)?;
        if !arguments.context.trim().is_empty() {
            texts.push(SourceText {
                kind: SourceKind::Stdin,
                name: "context".to_owned(),
                text: arguments.context,
            });
        }
        let EarlierContext { sources, project } = earlier.context.followed_by(texts, project);
        let rounds = arguments
            .rounds
            .or(arguments.quick.then_some(Rounds::QUICK));
        let personas = arguments.personas;
        let request = TemplateRequest {
            follows_up: earlier.record,
            panel: PanelRequest {
                personas: (!personas.is_empty()).then(|| personas.join(",")),
                ..PanelRequest::default()
            },
            debate: DebateRequest {
                mode: arguments.mode,
                rounds,
                ..DebateRequest::default()
            },
            control: ControlRequest {
                max_cost,
                ..ControlRequest::new(ConsentMode::NonInteractive)
            },
            dry_run,
            notices: earlier.notices,
            ..TemplateRequest::default()
        };
        let planner = Planner::new(&self.environment, face, self.clock.now())?;
        let runtime = host::runtime().map_err(Error::failed)?;
        let template = runtime.block_on(planner.template(request))?;
        let prepared = template.plan(QuestionRequest {
            question: arguments.question,
            sources,
            project,
        })?;
        let estimate = prepared.plan.estimate()?;
        let control = &prepared.plan.control;
        // That of the call is consent to what is below it; that of the server is a limit alone.
        let decide = |ceiling| control.consent.decide(&estimate, ceiling);
        let gate = decide(control.max_cost);
        let mut ceilings = control.max_cost.into_iter().chain(self.left());
        let is_above = |ceiling: &MicroUsd| decide(Some(*ceiling)) == Gate::AboveCeiling;
        if let Some(ceiling) = ceilings.find(is_above) {
            return Err(Error::new(
                Exit::Ceiling,
                format!("the ceiling of {ceiling:.2} does not pay for this consultation"),
            )
            .hint(format!(
                "the estimate is {:.2}; ask with `quick`, with less context, or with a higher \
                 `max_cost`, if the server's own `--max-cost` allows it",
                estimate.cost
            )));
        }
        Ok(PreparedConsultation {
            template,
            prepared,
            estimate,
            gate,
        })
    }
}

/// With what a terminal shows beside the error, and without its flags.
fn for_models(error: Error) -> Error {
    match error.source().downcast_ref() {
        Some(SourcesError::Paths(paths)) => {
            let paths: Vec<String> = paths.iter().map(ToString::to_string).collect();
            Error::usage(format!("{error}: {}", paths.join("; ")))
        }
        Some(SourcesError::Limits { .. }) => {
            Error::usage(error.to_string()).hint("send less context")
        }
        None => error,
    }
}

/// Returns a file or folder as it is resolved, if it lies in a folder that may be read.
fn allowed(path: &Path, folders: &[&PathBuf]) -> Result<PathBuf, Error> {
    if folders.is_empty() {
        return Err(Error::usage("this server reads no files").hint(
            "give the text itself as `context`; a person can allow a folder: `conclave mcp \
             --folder DIR`",
        ));
    }
    let resolved = folders.iter().map(|it| fs::canonicalize(it.join(path)));
    let resolved: Vec<PathBuf> = resolved.filter_map(Result::ok).collect();
    let is_inside = |path: &&PathBuf| folders.iter().any(|folder| path.starts_with(folder));
    if let Some(inside) = resolved.iter().find(is_inside) {
        return Ok(inside.clone());
    }
    let shown = path.display();
    if resolved.is_empty() {
        return Err(Error::usage(format!("`{shown}` does not exist")));
    }
    let folders: Vec<_> = folders.iter().map(|it| it.display().to_string()).collect();
    Err(Error::usage(format!(
        "`{shown}` is outside of the folders that this server may read"
    ))
    .hint(format!("those are: {}", folders.join(", "))))
}
