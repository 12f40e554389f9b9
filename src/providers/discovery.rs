//! Model servers on the user's own machine: which are there, and which models they serve.
//!
//! A look is a handful of GETs, all at once, each bounded; whatever does not answer in time is not
//! there. The kind of a server is decided by its answers alone (`answers`), so a stranger on a
//! usual port is passed over. Which addresses are looked at is the caller's decision.

mod addresses;
mod answers;
mod model_names;
mod served_models;

use std::time::Duration;

use futures_util::future::join_all;

use crate::domain::vendors::LocalServerKind;

use super::clients::is_own_network;
use super::http::{GetRequest, Http, Timeouts};
use super::wire::{Account, Scheme};

pub use addresses::{Address, AddressError, usual};
pub use served_models::is_ollamas_cloud;

/// A server that does not accept a connection by then is not running.
const CONNECT: Duration = Duration::from_secs(1);
/// The whole look takes no longer.
const WHOLE: Duration = Duration::from_secs(2);

/// What a look asks a server of this kind. Only the answers show whether it is one.
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
    /// Where it was found: `127.0.0.1:11434`.
    pub authority: String,
    /// For requests, without a trailing slash; it includes the version where the kind's dialect
    /// wants one.
    pub base_url: String,
    pub version: Option<String>,
    pub condition: Condition,
    /// It is on the user's own machine or network.
    pub on_own_network: bool,
    /// The models that can chat, in the server's order.
    pub models: Vec<ServedModel>,
}

/// Whether a server can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Ready,
    /// It is still loading its model.
    Loading,
    /// It wants a key, which is not known here.
    Locked,
}

/// A model that a server offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServedModel {
    pub id: String,
    /// Most tokens of prompt and answer together, where the server says.
    pub context: Option<u64>,
    /// How many parameters it has, where the server says.
    pub parameters: Option<u64>,
    /// It is in memory, and answers at once.
    pub loaded: bool,
    /// It runs here, not at some vendor's behind the server: nothing leaves, and nothing is billed.
    pub runs_here: bool,
}

impl Server {
    /// The model that a run which names none takes: one that runs here, and of those one that is
    /// loaded, else the first.
    pub fn preferred(&self) -> Option<&ServedModel> {
        let here = || {
            self.models
                .iter()
                .filter(|model| model.runs_here && self.condition == Condition::Ready)
        };
        here().find(|model| model.loaded).or_else(|| here().next())
    }

    /// What it serves under this name. The tag that a user may leave out is put behind it.
    pub fn serves(&self, id: &str) -> Option<&ServedModel> {
        let called = |name: &str| self.models.iter().find(|model| model.id == name);
        called(id).or_else(|| called(&format!("{id}:latest")))
    }

    /// True when what is asked of this model stays on the user's own network, and costs nothing.
    pub fn runs_here(&self, id: &str) -> bool {
        let unlisted =
            self.on_own_network && !(self.kind == LocalServerKind::Ollama && is_ollamas_cloud(id));
        self.serves(id).map_or(unlisted, |model| model.runs_here)
    }
}

/// Looks at all these addresses at once. In their order, those that answered.
pub async fn look(addresses: &[Address]) -> Vec<Server> {
    let http = Http::new(Timeouts {
        connect: CONNECT,
        idle: WHOLE,
    });
    let found = join_all(addresses.iter().map(|address| look_at(&http, address))).await;
    found.into_iter().flatten().collect()
}

async fn look_at(http: &Http, address: &Address) -> Option<Server> {
    let anonymous = Account {
        key: None,
        origin: String::new(),
        scheme: Scheme::Usual,
    };
    let expected = address
        .expected
        .map_or_else(|| LocalServerKind::ALL.to_vec(), |kind| vec![kind]);
    let mut paths: Vec<&'static str> = expected
        .into_iter()
        .flat_map(|kind| paths(kind).iter().copied())
        .collect();
    paths.sort_unstable();
    paths.dedup();
    let asked = paths.iter().map(|path| {
        let request = GetRequest {
            url: format!("{}{path}", address.root),
            headers: Vec::new(),
        };
        let anonymous = &anonymous;
        async move { Some((*path, http.get(&request, anonymous, WHOLE).await.ok()?)) }
    });
    let answers = answers::Answers::new(join_all(asked).await.into_iter().flatten());
    let read = answers::read(&answers)?;
    let on_own_network = is_own_network(address.host());
    let mut models = read.models;
    for model in &mut models {
        model.runs_here &= on_own_network;
    }
    Some(Server {
        kind: read.kind,
        authority: address.authority().to_owned(),
        base_url: format!("{}{}", address.root, read.kind.vendor().version_path()),
        version: read.version,
        condition: read.condition,
        on_own_network,
        models,
    })
}
