//! A local server that plays every vendor: it speaks their wire formats, records what it is asked
//! and answers by a script.
//!
//! Without a script it answers every schema validly, so that a whole consultation works. It runs on
//! a thread of its own and stops when it is dropped. Nothing here depends on the crate under test:
//! what it sends is written down a second time, from the vendors' documentation. Free requests (a
//! list of models, a look at a key) are answered and recorded apart from those that would cost
//! money.

mod chat;
mod damage;
mod errors;
mod exchange;
mod free;
mod http;
mod sample;
mod script;
mod vendor;
mod waiting;
mod wire;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::Instant;

use serde_json::Value;
use tokio::sync::{oneshot, watch};

pub(crate) use damage::Damage;
pub(crate) use free::name as listed_model;
pub(crate) use script::{Answer, On};
pub(crate) use vendor::Vendor;
pub(crate) use wire::stream_of;

/// The server. Dropping it closes its port and every connection.
#[derive(Debug)]
pub(crate) struct ProviderServer {
    address: SocketAddr,
    shared: Arc<Mutex<Shared>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    rules: Vec<Rule>,
    requests: Vec<Recorded>,
    free_rules: Vec<Rule>,
    free_requests: Vec<Recorded>,
    /// Rings whenever a request arrives or ends.
    bell: watch::Sender<()>,
}

/// A request as it arrived, and what became of it.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    pub(crate) vendor: Option<Vendor>,
    pub(crate) model: String,
    pub(crate) path_and_query: String,
    /// Names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Value,
    pub(crate) arrived: Instant,
    /// When the answer was sent whole, or the client had closed the connection.
    pub(crate) finished: Option<Instant>,
    /// The answer was sent whole.
    pub(crate) complete: bool,
    /// How many bytes of the answer's body were taken off the server's hands.
    pub(crate) sent: u64,
}

#[derive(Clone, Debug)]
struct Rule {
    on: On,
    answer: Answer,
    seen: usize,
}

impl ProviderServer {
    /// Starts a server on a free port of this machine.
    pub(crate) fn start() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Mutex::new(Shared::default()));
        let (stop, stopped) = oneshot::channel::<()>();
        let state = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                tokio::select! {
                    () = http::serve(listener, state) => {}
                    _ = stopped => {}
                }
            });
            // Dropping the runtime drops every connection, also those that stall.
        });
        Self {
            address,
            shared,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// `http://127.0.0.1:PORT`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The base URL of a vendor, as its users write it.
    pub(crate) fn base_url(&self, vendor: Vendor) -> String {
        self.url() + &vendor.base_path()
    }

    /// The variables that send a compiled binary here, with keys for the three vendors that a panel
    /// is filled with first.
    pub(crate) fn variables(&self) -> Vec<(&'static str, String)> {
        self.variables_of(&[Vendor::Anthropic, Vendor::OpenAi, Vendor::Google])
    }

    /// The same for every vendor that wants a key, each with one of its own.
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

    /// Answers matching requests so. The last rule that matches decides.
    pub(crate) fn on(&self, on: On, answer: Answer) {
        lock(&self.shared).rules.push(Rule {
            on,
            answer,
            seen: 0,
        });
    }

    /// Answers matching free requests so, whatever they ask for. The last rule that matches
    /// decides.
    pub(crate) fn on_free(&self, on: On, answer: Answer) {
        lock(&self.shared).free_rules.push(Rule {
            on,
            answer,
            seen: 0,
        });
    }

    /// The free requests, in the order of arrival.
    pub(crate) fn free_requests(&self) -> Vec<Recorded> {
        lock(&self.shared).free_requests.clone()
    }

    /// Everything that was asked of a model, in the order of arrival.
    pub(crate) fn requests(&self) -> Vec<Recorded> {
        lock(&self.shared).requests.clone()
    }
}

impl Drop for ProviderServer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[expect(
    clippy::disallowed_methods,
    reason = "arrival and end of requests are measured on the server's side"
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
    let mut chosen = None;
    for rule in rules {
        if rule.on.matches(vendor, model, body) {
            rule.seen += 1;
            if rule.on.nth.is_none_or(|nth| nth == rule.seen) {
                chosen = Some(rule.answer.clone());
            }
        }
    }
    chosen
}
