//! A provider over HTTP, as the driver sees it: one codec per dialect, common HTTP, and the known
//! request form of each model.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use secrecy::SecretString;

use crate::consultation::policy::health::TOO_SLOW;
use crate::consultation::protocol::call::{Ask, Failure, FailureClass, Outcome, Reply};
use crate::domain::cost::money::MicroUsd;
use crate::engine::ports::{BoxFuture, OnDelta, Provider};

use super::catalog::ModelCatalog;
use super::chatgpt::sign_in::SignIn;
use super::dialects::decoder::Decoder;
use super::errors::wording::TABLES;
use super::form::{self, Adjustment, Form, Parameters, Refusal, Structure};
use super::http::Http;
use super::model_list;
use super::wire::sse::Framing;
use super::wire::{Endpoint, HeaderText, HttpRequest, address};
use crate::domain::model::dialect::{CacheKeyPlace, Dialect, Quirks, Routing, TokensField};
use crate::providers::dialects::{anthropic, gemini, ollama, openai, responses};

/// The time limit of a check. It exceeds the limit for a healthy provider by enough that the delay
/// shows.
const CHECK: Duration = TOO_SLOW.saturating_add(Duration::from_millis(500));

/// One provider's models.
#[derive(Debug)]
pub struct Remote {
    dialect: Dialect,
    endpoint: Endpoint,
    catalog: Arc<ModelCatalog>,
    http: Arc<Http>,
    parameters: Parameters,
    /// Gives each call its token, in place of the endpoint's key.
    sign_in: Option<SignIn>,
    /// The adjusted form of each model, by its name. A model without refusals is not here.
    forms: Mutex<BTreeMap<String, Form>>,
}

impl Remote {
    pub fn new(
        dialect: Dialect,
        endpoint: Endpoint,
        catalog: Arc<ModelCatalog>,
        http: Arc<Http>,
    ) -> Self {
        Self {
            dialect,
            endpoint,
            catalog,
            http,
            parameters: Parameters::default(),
            sign_in: None,
            forms: Mutex::default(),
        }
    }

    #[must_use]
    pub fn with_parameters(self, parameters: Parameters) -> Self {
        Self { parameters, ..self }
    }

    #[must_use]
    pub fn with_sign_in(self, sign_in: Option<SignIn>) -> Self {
        Self { sign_in, ..self }
    }

    /// `refused` is the token that was refused.
    async fn endpoint(&self, refused: Option<&SecretString>) -> Result<Endpoint, Failure> {
        let mut endpoint = self.endpoint.clone();
        if let Some(sign_in) = &self.sign_in {
            endpoint.account = sign_in.account(refused).await?;
        }
        Ok(endpoint)
    }

    pub fn codec(&self, ask: &Ask) -> (HttpRequest, Decoder) {
        self.codec_in(ask, &self.form(ask), &self.endpoint)
    }

    fn codec_in(&self, ask: &Ask, form: &Form, endpoint: &Endpoint) -> (HttpRequest, Decoder) {
        let model = &ask.model.model;
        let form = &form.for_call(ask, self.dialect);
        let (path, mut body) = match self.dialect {
            Dialect::Anthropic => ("/v1/messages".to_owned(), anthropic::body(ask, form)),
            Dialect::OpenAi(quirks) => (
                "/chat/completions".to_owned(),
                openai::body(ask, form, quirks),
            ),
            Dialect::Responses => ("/responses".to_owned(), responses::body(ask, form)),
            Dialect::Gemini => (gemini::path(model), gemini::body(ask, form)),
            Dialect::Ollama => ("/api/chat".to_owned(), ollama::body(ask, form)),
        };
        form.complete(&mut body, self.parameters.of(model));
        let Endpoint { base_url, account } = endpoint;
        let decoder = Decoder::new(self.dialect, ask, account, &body);
        let mut headers = account.headers(self.dialect);
        if self.quirks().routing == Routing::AmongProviders {
            headers.push(("x-openrouter-title", HeaderText::Plain("conclave")));
        }
        if let (CacheKeyPlace::Header(name), Some(key)) = (self.quirks().cache_key, &ask.cache_key)
        {
            // A digest of the user's text is hidden like a key.
            headers.push((name, HeaderText::Secret(key.clone().into())));
        }
        let framing = if self.dialect == Dialect::Ollama {
            Framing::Lines
        } else {
            Framing::Events
        };
        let request = HttpRequest {
            url: address(base_url, &path),
            headers,
            body,
            framing,
        };
        (request, decoder)
    }

    fn quirks(&self) -> Quirks {
        match self.dialect {
            Dialect::OpenAi(quirks) => quirks,
            Dialect::Anthropic | Dialect::Responses | Dialect::Gemini | Dialect::Ollama => {
                Quirks::COMPATIBLE
            }
        }
    }

    fn form(&self, ask: &Ask) -> Form {
        let forms = self.forms.lock().unwrap_or_else(PoisonError::into_inner);
        let known = forms.get(&ask.model.model).cloned();
        known.unwrap_or_else(|| self.first_form(ask))
    }

    fn first_form(&self, ask: &Ask) -> Form {
        let model = self.catalog.find(&ask.model);
        let best = match model {
            Some(model) if !model.supports_response_schema => Structure::Prompt,
            Some(_) | None => Structure::Schema,
        };
        let refused = self.sign_in.iter().map(|_| &TABLES.refused_within_plan);
        let quirks = self.quirks();
        let form = Form::new(best.max(self.dialect.best_structure()), quirks);
        let elsewhere = quirks
            .own_host
            .is_some_and(|home| !self.endpoint.is_at(home));
        Form {
            json_mode: self.dialect.json_mode(),
            tokens_field: if elsewhere && model.is_none() {
                TokensField::MaxTokens
            } else {
                form.tokens_field
            },
            context: model.and_then(|model| model.context),
            left_out: refused.flat_map(|plan| plan.iter().cloned()).collect(),
            ..form
        }
    }

    /// `sent` is the form of the call, `parts` are the paths of its body.
    fn learn(
        &self,
        ask: &Ask,
        sent: &Form,
        parts: &[String],
        failure: Failure,
        fields: Vec<String>,
    ) -> Failure {
        if !failure.partial.is_empty() {
            // The answer had begun, so the request was accepted.
            return failure;
        }
        let refusal = Refusal {
            class: failure.class,
            words: failure.message.clone(),
            fields,
        };
        let adjustment =
            sent.for_call(ask, self.dialect)
                .adjustment(self.dialect, ask, parts, &refusal);
        let mut forms = self.forms.lock().unwrap_or_else(PoisonError::into_inner);
        let again = match &adjustment {
            Some(Adjustment::PromptTooLong) => {
                return Failure {
                    class: FailureClass::Context,
                    ..failure
                };
            }
            Some(adjustment) => {
                // Calls are concurrent: another may have adjusted the form since this one was sent.
                forms
                    .entry(ask.model.model.clone())
                    .or_insert_with(|| sent.clone())
                    .learn(ask, &refusal, adjustment);
                adjustment.to_string()
            }
            None if failure.class == FailureClass::BadRequest
                && forms
                    .get(&ask.model.model)
                    .is_some_and(|known| known != sent) =>
            {
                "in the form that other calls have found".to_owned()
            }
            None => return failure,
        };
        Failure {
            class: FailureClass::Unsupported,
            message: format!("{}; asking again {again}", failure.message),
            ..failure
        }
    }
}

impl Provider for Remote {
    fn ask<'a>(&'a self, ask: &'a Ask, on: OnDelta<'a>) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let form = self.form(ask);
            let mut endpoint = self.endpoint(None).await?;
            let mut may_renew = self.sign_in.is_some();
            loop {
                let (request, decoder) = self.codec_in(ask, &form, &endpoint);
                let (parts, account) = (form::parts(&request.body), &endpoint.account);
                let (outcome, named) = self.http.call(request, decoder, account, on).await;
                let learn = |failure| self.learn(ask, &form, &parts, failure, named);
                let is_refused = matches!(&outcome, Err(it) if it.class == FailureClass::Auth);
                if std::mem::take(&mut may_renew) && is_refused {
                    endpoint = self.endpoint(account.key.as_ref()).await?;
                    continue;
                }
                let plan = self.sign_in.as_ref().map(SignIn::plan_use);
                return outcome.map(|reply| Reply { plan, ..reply }).map_err(learn);
            }
        })
    }
    fn check(&self) -> Option<BoxFuture<'_, Result<(), Failure>>> {
        Some(Box::pin(async move {
            let endpoint = self.endpoint(None).await?;
            let account = &endpoint.account;
            let request = model_list::health_request(self.dialect, &endpoint);
            let got = self.http.get(&request, account, CHECK).await?;
            // Of the response only a used-up key matters.
            let budget = model_list::key_budget(&got.success(account)?);
            match budget.and_then(|budget| budget.remaining) {
                Some(left) if left == MicroUsd::ZERO => Err(Failure::new(
                    FailureClass::Billing,
                    "the key's limit is used up",
                )),
                Some(_) | None => Ok(()),
            }
        }))
    }
}
