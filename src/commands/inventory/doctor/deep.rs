//! `--deep`: one small call to each provider with a key, after consent. Any response after the
//! request was accepted is good enough: a thinking model may use up the small token limit without
//! an answer.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;

use crate::commands::runtime::block_on;
use crate::consultation::protocol::answer::{AnswerForm, AnswerKind};
use crate::consultation::protocol::call::{Ask, FailureClass, Prompt};
use crate::domain::ids::{CallId, ModelRef};
use crate::domain::money::{Cost, MicroUsd};
use crate::domain::pricing::PriceList;
use crate::domain::time::Timestamp;
use crate::domain::tokens::{Usage, estimate_tokens};
use crate::domain::vendors::name;
use crate::engine::clock::Clock;
use crate::engine::ports::Confirmation;
use crate::engine::ports::{Delta, Provider};
use crate::error::{Error, Exit};
use crate::providers::catalog::{Model, ModelCatalog};
use crate::providers::http::{Http, Timeouts};
use crate::providers::remote::Remote;
use crate::terminal::output::printer::Printer;
use crate::terminal::prompt::{StdinUse, ask_yes_no, can_ask};
use crate::terminal::tables::doctor::TrialCall;

use super::Target;

/// Most tokens of an answer. Some servers refuse fewer than 16.
const MAX_OUTPUT_TOKENS: u64 = 256;

/// A call that takes longer is cancelled.
const LIMIT: Duration = Duration::from_secs(60);

/// Most repetitions of a call in another form after the last one was refused.
const FORMS: u32 = 3;

/// A call to be made.
#[derive(Debug)]
pub(super) struct PlannedCall {
    ask: Ask,
    /// Its maximum cost.
    most: Cost,
    prices: Arc<PriceList>,
}

/// Plans one call for each provider with a key: to the first of its default models that has not
/// retired.
pub(super) fn trials(
    keyed: &[Target<'_>],
    catalog: &ModelCatalog,
    now: Timestamp,
) -> Vec<PlannedCall> {
    let today = now.day();
    let prices = Arc::new(catalog.prices(now));
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
        PlannedCall {
            most: prices.cost(&ask.model, &usage),
            ask,
            prices: Arc::clone(&prices),
        }
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

/// Asks for consent to the cost.
pub(super) fn agree(planned: &[PlannedCall], yes: bool, printer: &Printer) -> Result<(), Error> {
    if planned.is_empty() {
        printer.note("`--deep`: no provider has both a key and a known model, so no call is made");
        return Ok(());
    }
    let most: Cost = planned.iter().map(|planned| planned.most).sum();
    let models = planned.iter().map(|planned| planned.ask.model.to_string());
    let unpriced = if most.lower_bound {
        " and the calls without a known price"
    } else {
        ""
    };
    let announcement = format!(
        "--deep makes one small call each to {}: at most {:.4}{unpriced} in all.",
        models.collect::<Vec<_>>().join(", "),
        most.known
    );
    let confirmed = if yes {
        printer.note(&announcement);
        Confirmation::Yes
    } else if can_ask(printer, StdinUse::Free) {
        let lines = vec![announcement.clone()];
        block_on(ask_yes_no(printer, lines, "Make them?"))?
    } else {
        Confirmation::NoPerson
    };
    match confirmed {
        Confirmation::Yes => Ok(()),
        Confirmation::No => Err(Error::new(Exit::Declined, "no call was made")),
        Confirmation::NoPerson => {
            let message = format!("{announcement} There is no terminal to ask on");
            Err(Error::new(Exit::Declined, message).hint("agree to the cost with `--yes`"))
        }
    }
}

/// Makes the calls, all at once.
pub(super) async fn try_all(
    planned: Vec<PlannedCall>,
    keyed: &[Target<'_>],
    catalog: &ModelCatalog,
    clock: &Clock,
) -> Vec<TrialCall> {
    if planned.is_empty() {
        return Vec::new();
    }
    let http = Arc::new(Http::new(Timeouts {
        connect: super::CONNECT,
        first_byte: LIMIT,
        idle: LIMIT,
    }));
    let catalog = Arc::new(catalog.clone());
    let tried = planned.iter().filter_map(|planned| {
        let asked = &planned.ask.model.provider;
        let target = keyed.iter().find(|target| target.access.id == *asked)?;
        let (endpoint, catalog) = (target.endpoint.clone(), Arc::clone(&catalog));
        let provider = Remote::new(target.access.dialect, endpoint, catalog, Arc::clone(&http));
        Some(async move { attempt(planned, &provider, clock).await })
    });
    join_all(tried).await
}

async fn attempt(planned: &PlannedCall, provider: &dyn Provider, clock: &Clock) -> TrialCall {
    let (ask, prices) = (&planned.ask, &planned.prices);
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
            let by_table = || {
                let asked = &ask.model;
                let mut served = asked.clone();
                served.model = reply.served_model.unwrap_or(served.model);
                let is_priced = prices.price(&served).is_some();
                prices.cost(if is_priced { &served } else { asked }, &reply.usage)
            };
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
