//! Tests of `providers`: the fields of each request, the reading of every shape of reply, and the
//! handling of failures over HTTP.

mod adjustments;
mod adversity;
mod caching;
mod calls;
mod cancellation;
mod dialects;
mod errors;
mod failures;
mod free_requests;
mod many;
mod programs;
mod replies;
mod requests;

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use conclave::consultation::protocol::answer::{AnswerForm, AnswerKind};
use conclave::consultation::protocol::call::{Ask, Failure, Outcome, Prompt, Reply};
use conclave::domain::ids::{CallId, ModelRef};
use conclave::domain::model::dialect::{Dialect, Quirks};
use conclave::domain::model::vendors;
use conclave::engine::ports::{Delta, Provider};
use conclave::providers::catalog::ModelCatalog;
use conclave::providers::http::{Http, Timeouts};
use conclave::providers::remote::Remote;
use conclave::providers::wire::sse;
use conclave::providers::wire::{Account, End, Endpoint, HeaderText, HttpRequest, Scheme};

use secrecy::ExposeSecret;
use serde_json::{Value, json};

use crate::support::provider_server::{ProviderServer, Vendor, listed_model};
use crate::support::timeout::in_time;

/// A key that must never be seen anywhere but in its header.
const KEY: &str = "sk-very-secret-0123456789";

/// Read once, because most tests make many clients.
static CATALOG: LazyLock<Arc<ModelCatalog>> = LazyLock::new(|| Arc::new(ModelCatalog::builtin()));

/// The vendors with a format of their own.
const VENDORS: [Vendor; 3] = [Vendor::Anthropic, Vendor::OpenAi, Vendor::Google];

fn header<'a>(request: &'a HttpRequest, name: &str) -> Option<&'a str> {
    let (_, value) = request.headers.iter().find(|(other, _)| *other == name)?;
    Some(match value {
        HeaderText::Plain(text) => *text,
        HeaderText::Secret(text) => text.expose_secret(),
    })
}

fn ask(vendor: Vendor, model: &str) -> Ask {
    let prompt = Prompt {
        persona: "You are P.".into(),
        protocol: "Rules.".into(),
        shared: "Question?".into(),
        task: "Answer.".into(),
        ..Prompt::default()
    };
    Ask {
        call: CallId(1),
        model: ModelRef::new(vendor.id(), model),
        prompt,
        answer: AnswerKind::Independent,
        max_output_tokens: 16_384,
        cache_key: None,
        form: AnswerForm::Plain,
    }
}

/// A request to the vendor's usual model.
fn usual(vendor: Vendor) -> Ask {
    ask(vendor, listed_model(vendor))
}

/// Returns a request to OpenAI with these fields beside those that every request has.
fn openai_request(fields: &Value) -> Value {
    let mut request = json!({
        "model": "gpt-6.1-sol",
        "max_completion_tokens": 16384,
        "stream": true,
        "stream_options": {"include_usage": true},
    });
    for (name, value) in fields.as_object().unwrap() {
        request[name] = value.clone();
    }
    request
}

fn cloud_at(vendor: Vendor, url: &str) -> Remote {
    cloud_with(vendor, url, silent_for(Duration::from_secs(30)))
}

/// Timeouts that allow this much silence at every stage of a response.
fn silent_for(silence: Duration) -> Timeouts {
    Timeouts {
        connect: Duration::from_secs(5),
        first_byte: silence,
        idle: silence,
    }
}

fn cloud_with(vendor: Vendor, url: &str, timeouts: Timeouts) -> Remote {
    let base_url = url.to_owned() + &vendor.base_path();
    let origin = vendor.variable_names().map_or_else(
        || "the settings".to_owned(),
        |(_, variable)| format!("`{variable}`"),
    );
    let account = Account {
        key: Some(KEY.into()),
        origin,
        scheme: Scheme::Usual,
        is_word: false,
    };
    let dialect = vendors::find(vendor.id())
        .map_or(Dialect::OpenAi(Quirks::COMPATIBLE), |vendor| vendor.dialect);
    Remote::new(
        dialect,
        Endpoint { base_url, account },
        Arc::clone(&CATALOG),
        Arc::new(Http::new(timeouts)),
    )
}

fn cloud(vendor: Vendor, server: &ProviderServer) -> Remote {
    cloud_at(vendor, &server.url())
}

/// Waits until the server has seen the end of every request.
async fn settled(server: &ProviderServer) {
    server
        .sees("every connection is closed or done", |server| {
            let requests = server.requests();
            requests.iter().all(|request| request.finished.is_some())
        })
        .await;
}

/// Makes a call and collects its deltas.
async fn call(cloud: &Remote, ask: &Ask) -> (Outcome, Vec<Delta>) {
    let mut deltas = Vec::new();
    let mut on = |delta| deltas.push(delta);
    let outcome = in_time("the end of the call", cloud.ask(ask, &mut on)).await;
    (outcome, deltas)
}

async fn failed(remote: &Remote, ask: &Ask) -> Failure {
    call(remote, ask).await.0.unwrap_err()
}

/// The failure of a request to the vendor's usual model.
async fn failure(vendor: Vendor, server: &ProviderServer) -> Failure {
    failed(&cloud(vendor, server), &usual(vendor)).await
}

/// The reply to a request to the vendor's usual model.
async fn reply(vendor: Vendor, server: &ProviderServer) -> Reply {
    call(&cloud(vendor, server), &usual(vendor))
        .await
        .0
        .unwrap()
}

/// Returns a provider by its name in the table of vendors.
fn remote(provider: &str, base_url: &str) -> Remote {
    remote_that(vendors::find(provider).unwrap().dialect, base_url)
}

fn remote_that(dialect: Dialect, base_url: &str) -> Remote {
    remote_with(dialect, base_url, Some(KEY), Scheme::Usual)
}

fn remote_with(dialect: Dialect, base_url: &str, key: Option<&str>, scheme: Scheme) -> Remote {
    let endpoint = Endpoint {
        base_url: base_url.to_owned(),
        account: Account {
            key: key.map(Into::into),
            origin: "`SOME_API_KEY`".into(),
            scheme,
            is_word: false,
        },
    };
    let (catalog, http) = (Arc::clone(&CATALOG), Arc::new(Http::default()));
    Remote::new(dialect, endpoint, catalog, http)
}

fn ask_of(provider: &str, model: &str) -> Ask {
    Ask {
        model: ModelRef::new(provider, model),
        ..ask(Vendor::OpenAi, model)
    }
}

fn body(remote: &Remote, ask: &Ask) -> Value {
    remote.codec(ask).0.body
}

/// The body of a request to a provider.
fn body_of(provider: &str, model: &str) -> Value {
    body(&remote(provider, "http://h/v1"), &ask_of(provider, model))
}

/// Feeds a vendor's events to its decoder, without any network.
fn decode(vendor: Vendor, events: &[&str]) -> Outcome {
    fed(
        &cloud_at(vendor, "http://127.0.0.1:9"),
        &usual(vendor),
        events,
    )
}

/// The same for a provider by its name.
fn decode_of(provider: &str, events: &[&str]) -> Outcome {
    fed(
        &remote(provider, "http://127.0.0.1:9"),
        &ask_of(provider, "m"),
        events,
    )
}

fn fed(remote: &Remote, ask: &Ask, events: &[&str]) -> Outcome {
    let (_, mut decoder) = remote.codec(ask);
    for data in events {
        let event = sse::Event {
            name: String::new(),
            data: (*data).to_owned(),
        };
        if decoder.event(&event, &mut |_| {}).is_break() {
            break;
        }
    }
    decoder.finish(End::Closed)
}
