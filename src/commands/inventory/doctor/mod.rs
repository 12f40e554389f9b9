//! `conclave doctor`: checks what works, and says how to fix what does not.
//!
//! Checks are free: vendors are only asked for their lists of models. `--deep` makes one small call
//! to each, after consent to the cost. All calls are made at once, and each has a time limit.

mod host;
mod programs;
mod vendors;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{OptionFuture, join, join_all, join3};

use crate::commands::face::consent::ConsentRequest;
use crate::commands::flags::{JsonFlags, consent_mode};
use crate::commands::{App, block_on};
use crate::config::keys::commands::KeyCommands;
use crate::config::paths::Home;
use crate::config::settings::Settings;
use crate::consultation::policy::consent::{ConsentMode, Gate};
use crate::consultation::policy::estimate::{Consent, Estimate};
use crate::consultation::protocol::answer::{AnswerForm, AnswerKind};
use crate::consultation::protocol::call::{Ask, FailureClass, Prompt};
use crate::domain::cost::money::{Cost, MicroUsd};
use crate::domain::cost::pricing::PriceList;
use crate::domain::cost::tokens::{Usage, estimate_tokens};
use crate::domain::ids::{CallId, ModelRef, ProviderId};
use crate::domain::model::vendors::name;
use crate::domain::time::Timestamp;
use crate::engine::clock::Clock;
use crate::engine::ports::{Delta, Provider};
use crate::error::Error;
use crate::providers::catalog::{Model, ModelCatalog};
use crate::providers::discovery::{Condition, Server};
use crate::providers::http::{Http, Timeouts};
use crate::providers::remote::Remote;
use crate::providers::wire::Endpoint;
use crate::session::batch::RunCeiling;
use crate::setup::local_servers::search::{self, ServerSearch, all_kinds};
use crate::setup::panel::context::LOG_IN;
use crate::setup::programs::ProgramList;
use crate::setup::provider_access::{self, ProviderAccess};
use crate::setup::settings::check_certificates;
use crate::terminal::output::printer::Printer;
use crate::terminal::prompt::StdinUse;
use crate::terminal::tables::doctor::{Check, CheckStatus, DoctorReport, TrialCall, screen};

const SCHEMA_VERSION: &str = "1.0";

/// A vendor that accepts no connection within this time, or has not answered within `ANSWER`,
/// counts as unreachable.
const CONNECT: Duration = Duration::from_secs(2);
const ANSWER: Duration = Duration::from_secs(5);

/// A command that prints no key within this time waits for a person; a run may wait longer.
const KEY: Duration = Duration::from_secs(4);

/// Check what works here and show how to fix what does not
#[derive(Clone, Debug, clap::Args)]
#[command(mut_arg("json", |arg| arg.help("Write JSON; its schema is schemas/doctor.schema.json")))]
#[command(after_help = "\
Checks the home and its files, prices, keys, vendors, local servers, programs that can sit in a \
seat, the embedded model and proxies.

Exit codes:
  0    at least one model can answer a question
  1    no model can, or a setting is broken
  3    you did not agree to the cost of --deep

Without --deep, nothing is spent: vendors are asked only for their lists of models, programs \
for their version and whether you are logged in. \
No API key is ever shown.")]
pub struct Args {
    #[command(flatten)]
    json: JsonFlags,

    /// Also make one small call to each provider with a key, after showing the maximum cost
    #[arg(long)]
    deep: bool,

    /// Agree to the cost of --deep in advance
    #[arg(short, long, requires = "deep")]
    yes: bool,
}

pub(crate) fn run(args: &Args, app: App<'_>) -> Result<(), Error> {
    let (environment, printer) = (app.environment, app.printer);
    check_certificates(environment)?;
    let clock = app.clock;
    let home = Home::find(environment);
    let known_home = home.as_ref().ok();
    let (settings, settings_check) = host::settings(known_home, environment);
    let (models, models_check) = host::models(known_home);
    let access_list = provider_access::all(&settings, environment);
    let (keyed, keyless) = targets(&access_list, printer);
    let mut trials = Vec::new();
    if args.deep {
        trials = planned_calls(&keyed, &models, clock.now());
        agree(&trials, args.yes, printer)?;
    }

    let scrub_check = host::scrub_rules(known_home);
    let mut checks = vec![host::home(&home).of("home", "home")];
    checks.extend(settings_check.map(|check| check.of("config", "settings")));
    checks.extend(models_check.map(|check| check.of("models", "models")));
    checks.extend(scrub_check.map(|check| check.of("scrub", "secrets")));
    checks.push(host::prices(&models, clock.now()).of("prices", "prices"));
    // Any of these errors stops a run, whatever else works.
    let is_broken = |check: &Check| check.status == CheckStatus::Error;
    let is_refused = checks.iter().any(is_broken);

    let now = clock.now();
    let programs = known_home.map(|home| ProgramList::load(&settings, environment, home));
    let ask_programs = OptionFuture::from(programs.as_ref().map(programs::check));
    let (found, trials, of_programs) = block_on(join3(
        free_checks(&keyed, keyless, &settings, &access_list, &models, now),
        try_all(trials, &keyed, &models, &clock),
        ask_programs,
    ))?;
    let of_programs = of_programs.unwrap_or_default();
    let failed = |id: &ProviderId| {
        let mut failed = trials.iter().filter(|trial| !trial.answered);
        failed.any(|trial| trial.provider == id.as_str())
    };
    let embedded = host::embedded(known_home, &settings, environment);
    let is_fine = |check: &Check| check.status == CheckStatus::Ok;
    let can_answer = !is_refused
        && (found.answering.iter().any(|id| !failed(id))
            || found
                .servers
                .iter()
                .any(|server| server.preferred().is_some())
            || of_programs.iter().any(is_fine)
            || is_fine(&embedded));
    checks.extend(found.checks);
    checks.extend(of_programs);
    checks.push(embedded.of("embedded", "embedded"));
    checks.push(host::proxies(environment).of("proxies", "proxies"));
    let report = DoctorReport {
        schema_version: SCHEMA_VERSION,
        can_answer,
        checks,
        trials,
    };
    app.print(args.json.is_json(), &report, |width, paint| {
        screen(&report, width, paint)
    })?;
    if can_answer {
        return Ok(());
    }
    Err(if is_refused {
        Error::failed("fix the items marked ✗ first")
    } else {
        Error::failed("no model can answer a question")
            .hint("set a key, such as `ANTHROPIC_API_KEY`, `OPENAI_API_KEY` or `GEMINI_API_KEY`")
            .hint(LOG_IN)
            .hint("or start a local server, such as Ollama")
    })
}

/// What free requests show of vendors and local servers.
#[derive(Debug)]
pub(crate) struct FreeChecks {
    pub(crate) checks: Vec<Check>,
    /// The vendors whose models would answer.
    pub(crate) answering: BTreeSet<ProviderId>,
    pub(crate) servers: Vec<Server>,
}

/// By free requests, all at once.
pub(crate) async fn check_for_free(
    settings: &Settings,
    access_list: &[ProviderAccess],
    models: &ModelCatalog,
    now: Timestamp,
    printer: &Printer,
) -> FreeChecks {
    let (keyed, keyless) = targets(access_list, printer);
    free_checks(&keyed, keyless, settings, access_list, models, now).await
}

async fn free_checks(
    keyed: &[Target<'_>],
    keyless: Vec<Check>,
    settings: &Settings,
    access_list: &[ProviderAccess],
    models: &ModelCatalog,
    now: Timestamp,
) -> FreeChecks {
    let search = ServerSearch::new(settings, access_list);
    // Each call has a shorter limit of its own.
    let http = Http::new(Timeouts {
        connect: CONNECT,
        first_byte: ANSWER * 2,
        idle: ANSWER * 2,
    });
    let kinds = all_kinds();
    let find = async {
        match &search {
            Ok(search) => search::find(search, &kinds).await,
            Err(_) => Vec::new(),
        }
    };
    let checks = keyed.iter();
    let checks = checks.map(|target| vendors::check(target, &http, models, now));
    let (mut checks, servers) = join(join_all(checks), find).await;
    let answers = |(target, check): (&Target<'_>, &Check)| {
        (check.status != CheckStatus::Error).then(|| target.access.id.clone())
    };
    let answering = keyed.iter().zip(&checks).filter_map(answers).collect();
    checks.extend(keyless);
    checks.extend(vendors::without_key(access_list));
    checks.extend(server_checks(&search, &servers));
    FreeChecks {
        checks,
        answering,
        servers,
    }
}

/// A provider with a key, as checks and calls need it.
#[derive(Debug)]
struct Target<'a> {
    access: &'a ProviderAccess,
    endpoint: Endpoint,
}

/// Warns before keys go out without encryption; the report repeats it.
fn targets<'a>(
    access_list: &'a [ProviderAccess],
    printer: &Printer,
) -> (Vec<Target<'a>>, Vec<Check>) {
    let commands = KeyCommands::with_time_limit(KEY);
    let (mut targets, mut keyless) = (Vec::new(), Vec::new());
    for access in access_list.iter().filter(|access| access.is_selectable()) {
        match access.endpoint(&commands) {
            Ok(endpoint) => {
                if let Some(warning) = access.unencrypted_key() {
                    printer.warning(&format!("Warning: {warning}"));
                }
                targets.push(Target { access, endpoint });
            }
            Err(error) => {
                let id = format!("provider.{}", access.id);
                keyless.push(host::broken(&error).of(id, name(&access.id)));
            }
        }
    }
    (targets, keyless)
}

fn server_checks(search: &Result<ServerSearch, Error>, found: &[Server]) -> Vec<Check> {
    let check = match search {
        Err(error) => host::broken(error),
        Ok(_) if !found.is_empty() => return found.iter().map(server_check).collect(),
        Ok(search) if search.is_off() => Check::new(CheckStatus::Note, "not searched for", ""),
        Ok(search) => {
            let message = format!("none answers at {}", search.shown(&all_kinds()));
            Check::new(CheckStatus::Note, message, "")
        }
    };
    vec![check.of("local_servers", "local servers")]
}

fn server_check(server: &Server) -> Check {
    let provider = server.kind.provider();
    let warning = |message: &str, fix| (CheckStatus::Warning, message.to_owned(), fix);
    let (status, message, fix) = match (server.condition, server.models.as_slice()) {
        (Condition::Loading, _) => warning(", still loading its model", "try again in a moment"),
        (Condition::Locked, _) => warning(", needs a key", "start it without one"),
        (Condition::Ready, []) => warning(", has no chat model", "load one in the server"),
        (Condition::Ready, models) => {
            let ids = models.iter().take(3).map(|model| model.id.as_str());
            let ids = ids.collect::<Vec<_>>().join(", ");
            let more = match models.len().saturating_sub(3) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            (CheckStatus::Ok, format!(": {ids}{more}"), "")
        }
    };
    let message = format!("at {}{message}", server.authority);
    Check::new(status, message, fix).of(format!("server.{provider}"), name(&provider))
}

/// Most tokens of an answer. Some servers refuse fewer than 16.
const MAX_OUTPUT_TOKENS: u64 = 256;

/// A call that takes longer is cancelled.
const LIMIT: Duration = Duration::from_secs(60);

/// Most repetitions of a call in another form after the last one was refused.
const FORMS: u32 = 3;

/// A call to be made, and its maximum cost.
type TestCall = (Ask, Cost);

/// Each goes to the provider's first default model that has not retired.
fn planned_calls(keyed: &[Target<'_>], catalog: &ModelCatalog, now: Timestamp) -> Vec<TestCall> {
    let today = now.day();
    let prices = catalog.prices(now);
    let model = |target: &Target<'_>| {
        let mut models = catalog.defaults(&target.access.id).into_iter();
        models.find(|model| !model.has_retired_by(today))
    };
    let planned = |model: &Model| {
        let ask = ask(model.to_ref());
        let sent = ask.prompt.tokens().expected
            + estimate_tokens(&ask.answer.schema(ask.form).to_string());
        // Vendors add tokens of their own to prompts and schemas: twice the estimate covers them.
        let usage = Usage {
            input: sent.saturating_mul(2),
            output: MAX_OUTPUT_TOKENS,
            ..Usage::default()
        };
        let most = prices.cost(&ask.model, &usage);
        (ask, most)
    };
    keyed.iter().filter_map(model).map(planned).collect()
}

fn ask(model: ModelRef) -> Ask {
    let prompt = Prompt {
        protocol: "This is a test of the connection. Keep every text to one word.".to_owned(),
        shared: "Question: does this work?".to_owned(),
        task: "Confirmation in the form that is asked for.".to_owned(),
        ..Prompt::default()
    };
    Ask {
        call: CallId(1),
        model,
        prompt,
        answer: AnswerKind::Independent,
        form: AnswerForm::Plain,
        max_output_tokens: MAX_OUTPUT_TOKENS,
        cache_key: None,
    }
}

fn agree(planned: &[TestCall], yes: bool, printer: &Printer) -> Result<(), Error> {
    if planned.is_empty() {
        printer.note("`--deep`: no provider has both a key and a known model, so no call is made");
        return Ok(());
    }
    let most: Cost = planned.iter().map(|(_, most)| *most).sum();
    let models = planned.iter().map(|(ask, _)| ask.model.to_string());
    let at_most = match (most.is_unknown(), most.lower_bound, most.known) {
        (true, ..) => most.to_string(),
        (_, true, most) => format!("at most {most} and the calls without a known price in all"),
        (_, false, most) => format!("at most {most} in all"),
    };
    let models = models.collect::<Vec<_>>().join(", ");
    printer.note(&format!(
        "--deep makes one small call each to {models}: {at_most}."
    ));
    let gate = match consent_mode(yes, printer, StdinUse::Free) {
        ConsentMode::PreApproved => Gate::Pass(Consent::Flag),
        ConsentMode::Interactive => Gate::Ask(Vec::new()),
        ConsentMode::NonInteractive => Gate::Refuse(Vec::new()),
    };
    // Nothing but the maximum is estimated.
    let nothing = Cost {
        known: MicroUsd::ZERO,
        ..most
    };
    let estimate = Estimate {
        cost: nothing,
        low: nothing,
        high: most,
        ..Estimate::default()
    };
    let request = ConsentRequest {
        estimate: &estimate,
        rule: None,
        ceiling: RunCeiling::default(),
        command: "conclave doctor --deep ",
        declined: "no call was made",
    };
    request.agree(&gate, printer).map(drop)
}

async fn try_all(
    planned: Vec<TestCall>,
    keyed: &[Target<'_>],
    catalog: &ModelCatalog,
    clock: &Clock,
) -> Vec<TrialCall> {
    let http = Arc::new(Http::new(Timeouts {
        connect: CONNECT,
        first_byte: LIMIT,
        idle: LIMIT,
    }));
    let prices = &catalog.prices(clock.now());
    let catalog = Arc::new(catalog.clone());
    let tried = planned.iter().filter_map(|(ask, _)| {
        let asked = &ask.model.provider;
        let target = keyed.iter().find(|target| target.access.id == *asked)?;
        let (endpoint, catalog) = (target.endpoint.clone(), Arc::clone(&catalog));
        let provider = Remote::new(target.access.dialect, endpoint, catalog, Arc::clone(&http))
            .with_sign_in(target.access.sign_in().cloned());
        Some(async move { attempt(ask, &provider, prices, clock).await })
    });
    join_all(tried).await
}

async fn attempt(
    ask: &Ask,
    provider: &dyn Provider,
    prices: &PriceList,
    clock: &Clock,
) -> TrialCall {
    let begun = clock.now();
    let mut connected = false;
    let mut on = |delta: Delta| connected |= delta == Delta::Connected;
    let asking = async {
        let mut refusals = 0;
        loop {
            let outcome = provider.ask(ask, &mut on).await;
            // A refused form costs nothing, and the provider uses another one from then on.
            match &outcome {
                Err(failure) if failure.class == FailureClass::Unsupported && refusals < FORMS => {
                    refusals += 1;
                }
                Ok(_) | Err(_) => return outcome,
            }
        }
    };
    let outcome = tokio::time::timeout(LIMIT, asking).await;
    let latency = clock.now().since(begun);
    let (cost, message) = match outcome {
        Ok(Ok(reply)) => {
            let by_table = || prices.cost(&ask.model, &reply.usage);
            let cost = reply.reported_cost.map_or_else(by_table, Cost::exactly);
            (cost, "answered".to_owned())
        }
        Ok(Err(failure)) => {
            let cost = match &failure.usage {
                Some(usage) => prices.cost(&ask.model, usage),
                None if connected => Cost::at_least(MicroUsd::ZERO),
                None => Cost::FREE,
            };
            let message = if connected {
                format!("answered, with an error: {}", failure.message)
            } else {
                failure.message
            };
            (cost, message)
        }
        Err(_) => (
            Cost::at_least(MicroUsd::ZERO),
            format!("no answer within {} s", LIMIT.as_secs()),
        ),
    };
    TrialCall {
        provider: ask.model.provider.to_string(),
        name: name(&ask.model.provider).to_owned(),
        model: ask.model.to_string(),
        answered: connected,
        latency_ms: u64::try_from(latency.as_millis()).unwrap_or(u64::MAX),
        cost_usd: cost.known.usd(),
        cost_is_lower_bound: cost.lower_bound,
        message,
    }
}
