//! A provider that is reached over HTTP, as the driver sees it: one codec a dialect, one HTTP for all.

use std::sync::Arc;

use crate::consultation::call::{Ask, Outcome};
use crate::engine::ports::{BoxFuture, Delta, Provider};

use super::anthropic::{self, AnthropicDecoder};
use super::catalog::Catalog;
use super::dialect::{Dialect, Quirks};
use super::form::{Form, Structure};
use super::gemini::{self, GeminiDecoder};
use super::http::Http;
use super::openai::{self, OpenAiDecoder};
use super::wire::{Decoder, Endpoint, HttpRequest};

/// One provider's models.
#[derive(Debug)]
pub struct Remote {
    dialect: Dialect,
    endpoint: Endpoint,
    catalog: Arc<Catalog>,
    http: Arc<Http>,
}

impl Remote {
    pub fn new(dialect: Dialect, endpoint: Endpoint, catalog: Arc<Catalog>, http: Arc<Http>) -> Self {
        Self { dialect, endpoint, catalog, http }
    }

    /// The request and the reader of its answer.
    pub fn codec(&self, ask: &Ask) -> (HttpRequest, Box<dyn Decoder>) {
        let structure = match self.catalog.find(&ask.model) {
            Some(model) if !model.supports_response_schema => Structure::Prompt,
            Some(_) | None => Structure::Schema,
        };
        let account = &self.endpoint.account;
        match self.dialect {
            Dialect::Anthropic => {
                let form = Form::new(structure, Quirks::COMPATIBLE);
                (anthropic::encode(ask, &self.endpoint, &form), Box::new(AnthropicDecoder::new(ask, account)))
            }
            Dialect::OpenAi(quirks) => {
                let form = Form::new(structure, quirks);
                (openai::encode(ask, &self.endpoint, &form), Box::new(OpenAiDecoder::new(ask, account)))
            }
            Dialect::Gemini => {
                let form = Form::new(structure, Quirks::COMPATIBLE);
                (gemini::encode(ask, &self.endpoint, &form), Box::new(GeminiDecoder::new(ask, account)))
            }
            Dialect::Ollama => todo!(),
        }
    }
}

impl Provider for Remote {
    fn ask<'a>(&'a self, ask: &'a Ask, on: &'a mut (dyn FnMut(Delta) + Send)) -> BoxFuture<'a, Outcome> {
        let (request, decoder) = self.codec(ask);
        Box::pin(self.http.call(request, decoder, &self.endpoint.account, on))
    }
}
