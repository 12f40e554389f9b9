//! `conclave history rejudge`: the judge's work on answers that are there, done again. A
//! consultation of its own, in which no expert is asked; what changed against the earlier one is
//! the answer.

mod prior_answers;
mod judges;

use serde_json::{Value, json};

use crate::commands::consult::flags::{ControlFlags, FailureChoice, OutputFlags, dollars};
use crate::config::env::Environment;
use crate::consultation::Consultation;
use crate::consultation::prompt::filter::PromptMaterial;
use crate::consultation::transcript::Transcript;
use crate::domain::money::{Cost, MicroUsd};
use crate::domain::panel::Panel;
use crate::domain::rejudgement::{Changes, Judgement, Rejudgement};
use crate::engine::clock::Clock;
use crate::engine::driver::RunStart;
use crate::error::Error;
use crate::records::stored;
use crate::session::finish;
use crate::session::finish::Keeping;
use crate::session::run;
use crate::session::run::Run;
use crate::session::write_answer::Answer;
use crate::setup::embedded_model::LocalModels;
use crate::setup::helper;
use crate::setup::local_servers::{Servers, Where};
use crate::setup::panel::Choices;
use crate::setup::personas::PersonaRegistry;
use crate::setup::plan::{Draft, Ground, Ready, obtain};
use crate::terminal::output::printer::Verbosity;
use crate::terminal::prompt::keyboard::StdinUse;
use crate::terminal::report::rejudge;

use super::{Past, SCHEMA_VERSION, reading};

/// Judge the answers of a consultation anew, and show what changes
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Only the judge is asked, twice: for Round 2 and for Round 4. The experts' answers are those of then, in another order.

Examples:
  conclave history rejudge last
  conclave history rejudge 01m7zh45 --judge claude-opus-5-5
  conclave history rejudge 01m7zh45 --yes --format json | jq .held.consistent")]
pub(super) struct Args {
    /// The consultation: its id, a beginning of it, one of its files, or `last`
    id: String,

    /// Who judges, and after it the models that stand in for it, separated by commas [default: who
    /// judged then]
    #[arg(long, value_name = "MODEL[,FALLBACK…]")]
    judge: Option<String>,

    /// Keep nothing of this consultation in the home
    #[arg(short, long)]
    no_log: bool,

    /// Agree to the cost, and to every other question, in advance
    #[arg(short, long, help_heading = "Control")]
    yes: bool,

    /// Make no call that could bring the cost above this
    #[arg(long, value_name = "USD", value_parser = dollars, help_heading = "Control")]
    max_cost: Option<MicroUsd>,

    /// What to do when a model fails for good
    #[arg(long, value_name = "WHAT", value_enum, help_heading = "Control")]
    on_failure: Option<FailureChoice>,

    /// End when a round takes longer than this
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Control")]
    max_wait: Option<u64>,

    #[command(flatten)]
    output: OutputFlags,
}

impl Args {
    pub(super) fn verbosity(&self) -> Verbosity {
        self.output.verbosity()
    }

    fn control(&self) -> ControlFlags {
        ControlFlags {
            yes: self.yes,
            max_cost: self.max_cost,
            on_failure: self.on_failure,
            hedge_after: None,
            max_wait: self.max_wait,
            strict: false,
            early_stop: None,
            confidence_threshold: None,
        }
    }
}

pub(super) fn run(args: &Args, environment: &Environment, past: &Past<'_>) -> Result<(), Error> {
    if let Some(output) = &args.output.output {
        finish::check_output(output)?;
    }
    let found = past.find(&args.id)?;
    let before = reading::read(&past.logs, &found)?.record;
    if before.independents.is_empty() || before.question.trim().is_empty() {
        let error = Error::usage(format!(
            "{} has no answers that could be judged: no expert had answered in Round 1",
            found.id
        ));
        return Err(error.hint(format!(
            "ask the panel again: conclave history show {}",
            found.id
        )));
    }
    let (clock, control) = (Clock::system(), args.control());
    let consent_mode = run::consent_mode(&control, past.printer, StdinUse::Free);
    let ground = Ground::find(environment, consent_mode, clock.now())?;
    let Ground {
        home,
        settings,
        catalog,
        templates,
        reached,
        ..
    } = &ground;
    let seats = prior_answers::seats(&before);
    let personas = PersonaRegistry::of(templates, settings)?;
    let local_models = LocalModels::new(environment, settings, home, past.printer);
    let local = local_models.default_model()?;
    let judge = judges::named(args.judge.as_deref(), &before, settings);
    let candidates = judges::candidates(judge, &before, &seats, catalog);
    let servers = Servers::for_models(candidates.iter(), Where::set(settings, reached)?)?;
    let choices = Choices {
        catalog,
        personas: &personas,
        reached,
        local,
        servers: &servers,
        now: clock.now(),
    };
    let mut judging = Panel {
        seats: Vec::new(),
        judges: judges::judges(judge, &before, &seats, &choices)?,
    };
    let found_local = obtain(&mut judging, &local_models, consent_mode)?;
    let mut debate = prior_answers::debate(&before);
    helper::appoint(&mut debate, &judging, &choices);
    if judges::was_kept_close(&before, &choices) {
        // Whoever is named to judge gets to see it, and nobody else.
        debate.helper = debate.helper.and_then(|_| judging.judges.first().cloned());
    }
    let mut notices = vec![format!(
        "the answers of {} are judged anew: no expert is asked, and their order is drawn anew",
        before.id
    )];
    notices.extend(
        judging
            .judges
            .iter()
            .take(1)
            .filter_map(|judge| choices.catalog.notices(judge, clock.now())),
    );

    let draft = Draft {
        question: before.question.clone(),
        panel: Panel {
            seats,
            judges: judging.judges,
        },
        debate,
        fallbacks: std::collections::BTreeMap::new(),
        material: if args.output.verbose {
            PromptMaterial::Whole
        } else {
            PromptMaterial::Filtered
        },
        notices,
    };
    let mut setup = ground.assemble(draft, &servers, Ready::ToAsk(found_local), &control)?;
    prior_answers::reorder(&mut setup.plan, &before);

    let present = |transcript: &Transcript| {
        let told = Rejudgement::of(&before, &stored::of_transcript(transcript));
        Answer {
            markdown: rejudge::markdown(&told),
            json: to_json(&told),
        }
    };
    let run =
        Run::prepare(&setup.home, environment, &args.output, past.printer)?.presenting(&present);
    let keeping = if args.no_log {
        Keeping::Nothing
    } else {
        Keeping::open(&setup.home, &setup.plan.id, past.printer)
    };
    run.carry_out(
        (Consultation::new(setup.plan), RunStart::New),
        clock,
        &setup.providers,
        Vec::new(),
        keeping,
    )
}

/// The JSON, which has a published schema: `schemas/rejudge.schema.json`.
fn to_json(told: &Rejudgement) -> Value {
    let side = |side: &Judgement| {
        json!({
            "consultation_id": side.consultation_id,
            "judge": side.judge,
            "confidence": side.confidence,
            "recommendation": side.recommendation,
            "options": side.options,
            "expert_order": side.expert_order,
        })
    };
    let changes = |changes: &Changes| json!({ "new": changes.new, "gone": changes.gone, "kept": changes.kept });
    let money = |cost: Cost| json!({ "usd": cost.known.usd(), "micro_usd": cost.known, "lower_bound": cost.lower_bound });
    json!({
        "schema_version": SCHEMA_VERSION,
        "question": told.question,
        "before": side(&told.before),
        "after": side(&told.after),
        "held": told.held,
        "consensus_points": changes(&told.consensus_points),
        "tensions": changes(&told.tensions),
        "cost": told.cost.map(money),
    })
}
