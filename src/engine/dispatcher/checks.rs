//! Checks of the providers' health, at no cost: just after the first call, and from then on every
//! half minute as long as a consultation runs.
//!
//! A provider that has no free check, such as the embedded model, stays unknown. A check that
//! panics is its provider's last.

use std::collections::BTreeSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use crate::consultation::machine::Input;
use crate::consultation::policy::health::Signal;
use crate::consultation::protocol::call::Failure;
use crate::domain::ids::ProviderId;
use crate::engine::ports::{Provider, Providers};

use super::{Dispatcher, Shared};

/// From the beginning of one check of a provider to that of the next.
pub const INTERVAL: Duration = Duration::from_secs(30);

/// From the first call to the first checks: their connections do not get in the way of the calls
/// that go out together. Nothing that looks at health, such as the choice of a fallback, happens so
/// early.
pub const FIRST: Duration = Duration::from_millis(100);

/// The checks under way, one task a provider.
#[derive(Debug, Default)]
pub(super) struct Checks {
    tasks: JoinSet<()>,
    providers: BTreeSet<ProviderId>,
}

impl Checks {
    pub(super) fn can_check(&self, provider: &ProviderId) -> bool {
        self.providers.contains(provider)
    }

    /// The tasks are to be shut down.
    pub(super) fn stop(&mut self) -> JoinSet<()> {
        self.providers.clear();
        std::mem::take(&mut self.tasks)
    }
}

impl Dispatcher {
    /// Begins to check every provider that can be checked, behind the calls that go out now. A
    /// provider that is checked already is left as it is.
    pub fn begin_checks(&self, providers: &Providers) {
        self.with(|state| {
            for (id, provider) in providers {
                // The future that shows that there is a check does nothing before it is polled.
                if !state.checks.can_check(id) && provider.check().is_some() {
                    state.checks.providers.insert(id.clone());
                    let weak = Arc::downgrade(&self.0);
                    let check = check_repeatedly(id.clone(), Arc::clone(provider), weak);
                    state.checks.tasks.spawn(check);
                }
            }
        });
    }

    fn check_started(&self, provider: &ProviderId) {
        let input = |provider| Input::HealthCheckStarted { provider };
        self.with(|state| state.broadcast(provider, None, |_, _| provider.clone(), input));
    }
}

/// `None` for a failure of this program.
pub(super) fn signal<T>(result: &Result<T, Failure>) -> Option<Signal> {
    match result {
        Ok(_) => Some(Signal::Healthy),
        Err(failure) => failure.class.meaning().signal,
    }
}

/// Ends by itself when the dispatcher is gone.
async fn check_repeatedly(id: ProviderId, provider: Arc<dyn Provider>, shared: Weak<Shared>) {
    sleep(FIRST).await;
    loop {
        let began = Instant::now();
        let Some(check) = provider.check() else {
            return;
        };
        let Some(dispatcher) = shared.upgrade().map(Dispatcher) else {
            return;
        };
        dispatcher.check_started(&id);
        drop(dispatcher);
        let result = check.await;
        let Some(dispatcher) = shared.upgrade().map(Dispatcher) else {
            return;
        };
        if let Some(signal) = signal(&result) {
            dispatcher.with(|state| state.signal(&id, signal, Some(began.elapsed()), None));
        }
        drop(dispatcher);
        sleep_until(began + INTERVAL).await;
    }
}
