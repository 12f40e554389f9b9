//! `conclave doctor`: what works here, and what to do about what does not.
//!
//! Looking costs nothing: vendors are asked for their lists of models only. `--deep` makes one
//! small call each, after it has said what that may cost. All calls are made at once, and each has
//! a limit.

mod deep;
mod here;
mod vendors;

use std::time::Duration;

use crate::config::env::Environment;
use crate::config::key_commands::KeyCommands;
use crate::config::paths::Home;
use crate::domain::dialect::Dialect;
use crate::domain::ids::ProviderId;
use crate::domain::vendors::name;
use crate::engine::clock::Clock;
use crate::error::{Error, whole};
use crate::providers::discovery::{Condition, Server};
use crate::providers::http::{Http, Timeouts};
use crate::providers::wire::Endpoint;
use crate::setup::embedded_model;
use crate::setup::local_servers;
use crate::setup::local_servers::{Where, all_kinds};
use crate::setup::provider_access;
use crate::setup::provider_access::Reach;
use crate::terminal::output::printer::Printer;
use crate::terminal::prompt;
use crate::terminal::prompt::StdinUse;
use crate::terminal::tables::doctor::{Check, CheckStatus, DoctorReport, screen};

/// The version of the JSON.
const SCHEMA_VERSION: &str = "1.0";

/// A vendor that does not accept a connection by then, or has not answered whole by `ANSWER`,
/// counts as not reached.
const CONNECT: Duration = Duration::from_secs(2);
const ANSWER: Duration = Duration::from_secs(5);

/// A command that has not printed its key by then waits for someone, and may do so when it is
/// needed.
const KEY: Duration = Duration::from_secs(4);

/// Look at what works here, and say how to mend what does not
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
It looks at the home and its files, prices, keys, vendors, local servers, the embedded model,
the terminal and proxies.

Exit codes:
  0    something here can answer a question
  1    nothing can
  3    --deep was not agreed to

Without --deep nothing is spent: vendors are only asked for their lists of models.
No key is ever shown.")]
pub struct Args {
    /// Write JSON; its schema is schemas/doctor.schema.json
    #[arg(long)]
    json: bool,

    /// Also make one small call to each provider with a key, after saying what that costs at most
    #[arg(long)]
    deep: bool,

    /// Agree to the cost of --deep in advance
    #[arg(short, long, requires = "deep")]
    yes: bool,
}

pub(crate) fn run(args: &Args, environment: &Environment, printer: &Printer) -> Result<(), Error> {
    let clock = Clock::system();
    let home = Home::find(environment);
    let settings = here::settings(home.as_ref().ok(), environment);
    let models = here::models(home.as_ref().ok());
    let reached = provider_access::all(&settings.value, environment);
    let (keyed, keyless) = targets(&reached);
    let trials = if args.deep {
        deep::trials(&keyed, &models.value, clock.now())
    } else {
        Vec::new()
    };
    if args.deep {
        deep::agree(
            &trials,
            args.yes,
            prompt::can_ask(printer, StdinUse::Free),
            printer,
        )?;
    }

    let mut checks = vec![here::home(&home)];
    checks.extend(settings.check);
    checks.extend(models.check);
    checks.push(here::prices(&models.value, clock.now()));
    // A run would be refused for any of these, whoever could answer.
    let is_refused = checks
        .iter()
        .any(|check| check.status == CheckStatus::Error);

    let place = Where::set(&settings.value, &reached);
    // Each call has a limit of its own, which comes first.
    let http = Http::new(Timeouts {
        connect: CONNECT,
        idle: ANSWER * 2,
    });
    let (found, found_servers, tried) = embedded_model::block_on(async {
        let kinds = all_kinds();
        let look = async {
            match &place {
                Ok(place) => local_servers::look(place, &kinds).await,
                Err(_) => Vec::new(),
            }
        };
        futures_util::future::join3(
            vendors::check_all(&keyed, &http, &models.value, clock.now()),
            look,
            deep::try_all(trials, &keyed, &models.value, &clock),
        )
        .await
    })?;

    let failed = |id: &str| {
        tried
            .iter()
            .any(|trial| trial.provider == id && !trial.answered)
    };
    let vendor_answers = found
        .iter()
        .any(|found| found.answers && !failed(found.provider.as_str()));
    checks.extend(found.into_iter().map(|found| found.check));
    checks.extend(keyless);
    checks.extend(vendors::without_key(&reached));
    let server_answers = found_servers
        .iter()
        .any(|server| server.preferred().is_some());
    checks.extend(server_checks(&place, &found_servers));
    let embedded = here::embedded(home.as_ref().ok(), &settings.value, environment);
    let embedded_answers = embedded.status == CheckStatus::Ok;
    checks.push(embedded);
    checks.push(here::terminal(printer, environment));
    checks.push(here::proxies(environment));

    let can_answer = !is_refused && (vendor_answers || server_answers || embedded_answers);
    let findings = DoctorReport {
        schema_version: SCHEMA_VERSION,
        can_answer,
        checks,
        trials: tried,
    };
    tell(&findings, args.json, printer)?;
    if can_answer {
        return Ok(());
    }
    Err(if is_refused {
        Error::failed("no question can be asked before what is marked ✗ is mended")
    } else {
        Error::failed("nothing here can answer a question")
            .hint("set a key, such as ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY")
            .hint("or start a local server, such as Ollama")
    })
}

/// A provider with a key, as far as looking at it and trying it need.
#[derive(Debug)]
struct Target {
    id: ProviderId,
    dialect: Dialect,
    endpoint: Endpoint,
    /// It is reached where the vendor has it, not at a gateway.
    is_at_home: bool,
}

/// The providers that are looked at, and those whose key should be there and cannot be had.
fn targets(reached: &[Reach]) -> (Vec<Target>, Vec<Check>) {
    let chosen: Vec<&Reach> = reached
        .iter()
        .filter(|reach| reach.is_chosen_unasked())
        .collect();
    // Commands that print keys are run at once, and each by itself, so that one that hangs holds up
    // no other.
    let endpoints: Vec<_> = std::thread::scope(|scope| {
        let get =
            |reach| scope.spawn(move || Reach::endpoint(reach, &KeyCommands::with_patience(KEY)));
        let asked: Vec<_> = chosen.iter().copied().map(get).collect();
        asked
            .into_iter()
            .map(|asked| {
                asked
                    .join()
                    .unwrap_or_else(|_| Err(Error::failed("its key cannot be got")))
            })
            .collect()
    });
    let (mut targets, mut keyless) = (Vec::new(), Vec::new());
    for (reach, endpoint) in chosen.into_iter().zip(endpoints) {
        match endpoint {
            Ok(endpoint) => targets.push(Target {
                id: reach.id.clone(),
                dialect: reach.dialect,
                endpoint,
                is_at_home: reach.is_at_home(),
            }),
            Err(error) => {
                let broken = Check::new(
                    format!("provider.{}", reach.id),
                    name(&reach.id),
                    CheckStatus::Error,
                    whole(error.source()),
                );
                keyless.push(broken.fix(error.hints().join("; ")));
            }
        }
    }
    (targets, keyless)
}

fn tell(findings: &DoctorReport, json: bool, printer: &Printer) -> Result<(), Error> {
    let text = if json {
        serde_json::to_string_pretty(findings).map_err(Error::failed)? + "\n"
    } else {
        let face = printer.out_traits();
        screen(findings, face.is_terminal.then_some(face.width), face.paint)
    };
    printer.result(&text).map_err(Error::failed)
}

fn server_checks(place: &Result<Where, Error>, found: &[Server]) -> Vec<Check> {
    let check =
        |status, message: String| Check::new("local_servers", "local servers", status, message);
    let place = match place {
        Ok(place) => place,
        Err(error) => {
            return vec![
                check(CheckStatus::Error, error.to_string()).fix(error.hints().join("; ")),
            ];
        }
    };
    if found.is_empty() {
        let looked = place.told(&all_kinds());
        let message = if looked.is_empty() {
            "not looked for".to_owned()
        } else {
            format!("none answers at {looked}")
        };
        return vec![check(CheckStatus::Note, message)];
    }
    found.iter().map(server_check).collect()
}

fn server_check(server: &Server) -> Check {
    let provider = server.kind.provider();
    let check = |status, message: String| {
        Check::new(
            format!("server.{provider}"),
            name(&provider),
            status,
            message,
        )
    };
    let at = &server.authority;
    match (server.condition, server.models.as_slice()) {
        (Condition::Loading, _) => check(
            CheckStatus::Warning,
            format!("at {at}, still loading its model"),
        )
        .fix("try again in a moment"),
        (Condition::Locked, _) => {
            check(CheckStatus::Warning, format!("at {at}, wants a key")).fix("start it without one")
        }
        (Condition::Ready, []) => check(
            CheckStatus::Warning,
            format!("at {at}, has no model that can chat"),
        )
        .fix("load one in the server"),
        (Condition::Ready, models) => {
            let ids: Vec<&str> = models
                .iter()
                .take(3)
                .map(|model| model.id.as_str())
                .collect();
            let more = models.len().saturating_sub(ids.len());
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            check(
                CheckStatus::Ok,
                format!("at {at}: {}{more}", ids.join(", ")),
            )
        }
    }
}
