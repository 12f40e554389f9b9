//! A local server that plays every vendor: it uses their wire formats, records the requests and
//! answers by a script.
//!
//! Without a script it sends a valid answer to every schema, so that a whole consultation works. It
//! runs on its own thread and stops when it is dropped. Nothing here depends on the crate under
//! test: the formats follow the vendors' documentation independently. Free requests (lists of
//! models, key checks) are answered and recorded separately from paid ones.

mod chat;
mod damage;
mod errors;
mod exchange;
mod free;
mod http;
mod prefix_cache;
mod script;
pub(crate) mod sign_in;
mod valid_answer;
mod vendor;
mod wait;
mod wire;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use serde_json::Value;
use tokio::sync::watch;

pub(crate) use damage::Damage;
pub(crate) use free::name as listed_model;
pub(crate) use prefix_cache::MeasuredPrompt;
pub(crate) use script::{Answer, On};
pub(crate) use sign_in::{Fault, SignInService};
pub(crate) use valid_answer::valid_answer;
pub(crate) use vendor::Vendor;
pub(crate) use wait::Hold;
pub(crate) use wire::stream_of;

use super::server_thread::ServerThread;
use prefix_cache::PrefixCaches;

/// The server. Dropping it closes its port and every connection.
#[derive(Debug)]
pub(crate) struct ProviderServer {
    thread: ServerThread,
    shared: Arc<Mutex<Shared>>,
}

#[derive(Debug, Default)]
struct Shared {
    rules: Vec<Rule>,
    requests: Vec<RecordedRequest>,
    free_rules: Vec<Rule>,
    free_requests: Vec<RecordedRequest>,
    caches: PrefixCaches,
    sign_in: SignInService,
    /// Changes whenever a request arrives or ends.
    changes: watch::Sender<()>,
}

/// A request and the state of its response.
#[derive(Clone, Debug)]
pub(crate) struct RecordedRequest {
    pub(crate) vendor: Option<Vendor>,
    pub(crate) model: String,
    pub(crate) path_and_query: String,
    /// Names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Value,
    pub(crate) arrived: Instant,
    /// When the whole response was sent or the client disconnected.
    pub(crate) finished: Option<Instant>,
    /// Whether the whole response was sent.
    pub(crate) complete: bool,
    /// The sent bytes of the response body.
    pub(crate) sent: u64,
}

#[derive(Clone, Debug)]
struct Rule {
    on: On,
    answer: Answer,
    matched: usize,
}

impl Rule {
    fn new(on: On, answer: Answer) -> Self {
        Self {
            on,
            answer,
            matched: 0,
        }
    }
}

impl ProviderServer {
    /// Starts a server on a free port of this machine.
    pub(crate) fn start() -> Self {
        let shared = Arc::new(Mutex::new(Shared::default()));
        let state = Arc::clone(&shared);
        let thread = ServerThread::start(move |listener| http::serve(listener, state));
        Self { thread, shared }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.thread.address
    }

    /// `http://127.0.0.1:PORT`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.thread.address)
    }

    /// Returns the base URL of a vendor, as users write it.
    pub(crate) fn base_url(&self, vendor: Vendor) -> String {
        self.url() + &vendor.base_path()
    }

    /// Returns the variables that point the binary to this server, with keys for the three vendors
    /// of the default panel.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        self.variables_of(&[Vendor::Anthropic, Vendor::OpenAi, Vendor::Google])
    }

    /// Returns the variables for all vendors with a key, each with its own key.
    pub(crate) fn all_variables(&self) -> Vec<(&'static str, String)> {
        self.variables_of(&Vendor::CLOUD)
    }

    fn variables_of(&self, vendors: &[Vendor]) -> Vec<(&'static str, String)> {
        let named = vendors
            .iter()
            .filter_map(|vendor| Some((vendor, vendor.variable_names()?)));
        named
            .flat_map(|(vendor, (url, key))| [(url, self.base_url(*vendor)), (key, vendor.key())])
            .collect()
    }

    /// Sets the answer to matching requests. The last matching rule wins.
    pub(crate) fn on(&self, on: On, answer: Answer) {
        lock(&self.shared).rules.push(Rule::new(on, answer));
    }

    /// Sets the answer to matching free requests. The last matching rule wins.
    pub(crate) fn on_free(&self, on: On, answer: Answer) {
        lock(&self.shared).free_rules.push(Rule::new(on, answer));
    }

    /// Changes or reads the sign-in with ChatGPT.
    pub(crate) fn sign_in<T>(&self, look: impl FnOnce(&mut SignInService) -> T) -> T {
        look(&mut lock(&self.shared).sign_in)
    }

    /// Counts the tokens of prompts from now on, and reports what the vendors' caches hold of them.
    pub(crate) fn cache_prompts(&self) {
        lock(&self.shared).caches.turn_on(true);
    }

    /// Counts the tokens of prompts from now on, as if no vendor had a cache.
    pub(crate) fn count_prompts_without_caches(&self) {
        lock(&self.shared).caches.turn_on(false);
    }

    /// Returns the counts of all prompts, in the order of arrival.
    pub(crate) fn measured_prompts(&self) -> Vec<MeasuredPrompt> {
        lock(&self.shared).caches.measured()
    }

    /// Returns the free requests, in the order of arrival.
    pub(crate) fn free_requests(&self) -> Vec<RecordedRequest> {
        lock(&self.shared).free_requests.clone()
    }

    /// Returns the requests to models, in the order of arrival.
    pub(crate) fn requests(&self) -> Vec<RecordedRequest> {
        lock(&self.shared).requests.clone()
    }

    /// Returns the requests to the models of one vendor, in the order of arrival.
    pub(crate) fn requests_to(&self, vendor: Vendor) -> Vec<RecordedRequest> {
        let mut requests = self.requests();
        requests.retain(|request| request.vendor == Some(vendor));
        requests
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the server measures the arrival and end of requests"
)]
fn now() -> Instant {
    Instant::now()
}

impl Shared {
    fn choose(&mut self, vendor: Vendor, model: &str, body: &Value) -> Option<Answer> {
        choice(&mut self.rules, vendor, model, body)
    }

    fn choose_free(&mut self, vendor: Vendor) -> Option<Answer> {
        choice(&mut self.free_rules, vendor, "", &Value::Null)
    }
}

fn choice(rules: &mut [Rule], vendor: Vendor, model: &str, body: &Value) -> Option<Answer> {
    let mut answer = None;
    for rule in rules {
        if rule.on.matches(vendor, model, body) {
            rule.matched += 1;
            if rule.on.nth.is_none_or(|nth| nth == rule.matched) {
                answer = Some(rule.answer.clone());
            }
        }
    }
    answer
}
