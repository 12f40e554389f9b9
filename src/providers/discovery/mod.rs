//! Discovery of model servers on the user's own machine, and of the models that they serve.
//!
//! Each address gets a few concurrent GETs with a time limit; a server that does not answer in time
//! counts as absent. The kind of a server follows from its answers alone (`answers`), so another
//! program on a usual port is ignored. The caller chooses the addresses.

mod addresses;
mod answers;
mod served_models;

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::join_all;
use serde::Serialize;

use crate::domain::model::vendors::LocalServerKind;

use super::clients::is_own_network;
use super::http::{GetRequest, Http, Timeouts};
use super::wire::Account;

pub use addresses::{Address, AddressError, usual};
pub use served_models::is_ollamas_cloud;

/// The time limit for accepting a connection.
const CONNECT: Duration = Duration::from_secs(1);
/// The time limit for the whole discovery.
const WHOLE: Duration = Duration::from_secs(2);

fn paths(kind: LocalServerKind) -> &'static [&'static str] {
    match kind {
        LocalServerKind::Ollama => &["/api/version", "/api/tags", "/api/ps"],
        LocalServerKind::LlamaCpp => &["/v1/models", "/health", "/props"],
        LocalServerKind::LmStudio => &["/v1/models", "/api/v0/models"],
        LocalServerKind::Vllm => &["/v1/models"],
    }
}

/// A server that answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    pub kind: LocalServerKind,
    /// Host and port: `127.0.0.1:11434`.
    pub authority: String,
    /// For requests, without a trailing slash; with the version if the kind's dialect has one.
    pub base_url: String,
    pub version: Option<String>,
    pub condition: Condition,
    /// Whether it is on the user's own machine or network.
    pub on_own_network: bool,
    /// The models that can chat, in the server's order.
    pub models: Vec<ServedModel>,
}

/// Whether a server can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    Ready,
    /// It is still loading its model.
    Loading,
    /// It requires a key.
    Locked,
}

/// A model that a server offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ServedModel {
    pub id: String,
    /// The number of parameters, if the server reports it.
    pub parameters: Option<u64>,
    /// The largest number of tokens of prompt and answer together, if the server reports it.
    pub context: Option<u64>,
    /// Whether it is in memory and can answer at once.
    pub loaded: bool,
    /// Whether it runs on this server rather than at a vendor behind it. If so, no data leaves and
    /// no call is billed.
    #[serde(rename = "free")]
    pub runs_here: bool,
}

impl Server {
    /// Of those that run here a loaded one, else the first.
    pub fn preferred(&self) -> Option<&ServedModel> {
        let here = || {
            self.models
                .iter()
                .filter(|model| model.runs_here && self.condition == Condition::Ready)
        };
        here().find(|model| model.loaded).or_else(|| here().next())
    }

    /// Also without its tag `:latest`.
    pub fn serves(&self, id: &str) -> Option<&ServedModel> {
        let called = |name: &str| self.models.iter().find(|model| model.id == name);
        called(id).or_else(|| called(&format!("{id}:latest")))
    }

    /// Returns whether calls to this model stay on the user's own network and cost nothing.
    pub fn runs_here(&self, id: &str) -> bool {
        let unlisted =
            self.on_own_network && !(self.kind == LocalServerKind::Ollama && is_ollamas_cloud(id));
        self.serves(id).map_or(unlisted, |model| model.runs_here)
    }
}

/// Returns those that answered, in order.
pub async fn look(addresses: &[Address]) -> Vec<Server> {
    let http = Http::new(Timeouts {
        connect: CONNECT,
        first_byte: WHOLE,
        idle: WHOLE,
    });
    let found = join_all(addresses.iter().map(|address| look_at(&http, address))).await;
    found.into_iter().flatten().collect()
}

async fn look_at(http: &Http, address: &Address) -> Option<Server> {
    let anonymous = Account::default();
    let paths: BTreeSet<&'static str> = LocalServerKind::ALL
        .into_iter()
        .filter(|kind| address.expected.is_none_or(|expected| expected == *kind))
        .flat_map(|kind| paths(kind).iter().copied())
        .collect();
    let asked = paths.iter().map(|path| {
        let request = GetRequest::new(format!("{}{path}", address.root), Vec::new());
        let anonymous = &anonymous;
        async move { Some((*path, http.get(&request, anonymous, WHOLE).await.ok()?)) }
    });
    let answers: Vec<_> = join_all(asked).await.into_iter().flatten().collect();
    answers::read(address, &answers)
}
