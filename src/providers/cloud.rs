//! The vendors in the cloud, as the driver sees them: one codec each, one HTTP for all.

use std::sync::Arc;

use crate::consultation::call::{Ask, Outcome};
use crate::domain::ids::ProviderId;
use crate::engine::ports::{BoxFuture, Delta, Provider};

use super::anthropic::{self, AnthropicDecoder};
use super::catalog::Catalog;
use super::gemini::{self, GeminiDecoder};
use super::http::Http;
use super::openai::{self, OpenAiDecoder};
use super::wire::{Decoder, Endpoint, HttpRequest, Structure};

/// A vendor with an API of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Vendor {
    Anthropic,
    OpenAi,
    Google,
}

impl Vendor {
    pub const ALL: [Self; 3] = [Self::Anthropic, Self::OpenAi, Self::Google];

    /// Its name before the colon of a model: `anthropic`, `openai`, `google`.
    pub fn id(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Google => "google",
        }
    }

    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "Anthropic",
            Self::OpenAi => "OpenAI",
            Self::Google => "Google",
        }
    }

    /// The vendor of this name, unless there is none.
    pub fn of(provider: &ProviderId) -> Option<Self> {
        Self::ALL.into_iter().find(|vendor| vendor.id() == provider.as_str())
    }
}

/// One vendor's models.
#[derive(Debug)]
pub struct Cloud {
    vendor: Vendor,
    endpoint: Endpoint,
    catalog: Arc<Catalog>,
    http: Arc<Http>,
}

impl Cloud {
    pub fn new(vendor: Vendor, endpoint: Endpoint, catalog: Arc<Catalog>, http: Arc<Http>) -> Self {
        Self { vendor, endpoint, catalog, http }
    }

    /// The request and the reader of its answer.
    pub fn codec(&self, ask: &Ask) -> (HttpRequest, Box<dyn Decoder>) {
        let structure = match self.catalog.find(&ask.model) {
            Some(model) if !model.supports_response_schema => Structure::Prompt,
            Some(_) | None => Structure::Schema,
        };
        let account = &self.endpoint.account;
        match self.vendor {
            Vendor::Anthropic => (anthropic::encode(ask, &self.endpoint, structure), Box::new(AnthropicDecoder::new(ask, account))),
            Vendor::OpenAi => (openai::encode(ask, &self.endpoint, structure), Box::new(OpenAiDecoder::new(ask, account))),
            Vendor::Google => (gemini::encode(ask, &self.endpoint, structure), Box::new(GeminiDecoder::new(ask, account))),
        }
    }
}

impl Provider for Cloud {
    fn ask<'a>(&'a self, ask: &'a Ask, on: &'a mut (dyn FnMut(Delta) + Send)) -> BoxFuture<'a, Outcome> {
        let (request, decoder) = self.codec(ask);
        Box::pin(self.http.call(request, decoder, &self.endpoint.account, on))
    }
}
