//! The providers of a run, asked at no cost how they are: at the first call, and from then on every half minute until the run ends.
//!
//! What their calls bring is taken into account too. What it means is policy; nothing is decided here. A provider that cannot be asked for
//! nothing, such as the embedded model, stays unknown. A check that panics is its provider's last.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use crate::consultation::call::{Failure, Outcome};
use crate::consultation::event::HealthUpdate;
use crate::consultation::policy::health::{Health, HealthStatus, Sign, none_healthy};
use crate::consultation::protocol::Input;
use crate::domain::ids::ProviderId;

use super::driver::Providers;
use super::ports::Provider;

/// From the beginning of one check of a provider to that of the next.
pub const EVERY: Duration = Duration::from_secs(30);

/// Asks the providers of one run.
#[derive(Debug)]
pub(super) struct Monitor {
    /// One task a provider, dropped with the run.
    checks: JoinSet<()>,
    known: BTreeMap<ProviderId, Known>,
    tell: mpsc::UnboundedSender<(ProviderId, News)>,
    hear: mpsc::UnboundedReceiver<(ProviderId, News)>,
    begun: bool,
}

/// A provider that can be asked.
#[derive(Debug, Default)]
struct Known {
    health: Health,
    /// The status that the machine knows.
    told: HealthStatus,
}

/// What a check has to say.
#[derive(Debug)]
enum News {
    Began,
    Ended { result: Result<(), Failure>, took: Duration },
}

impl Monitor {
    pub(super) fn new() -> Self {
        let (tell, hear) = mpsc::unbounded_channel();
        Self { checks: JoinSet::new(), known: BTreeMap::new(), tell, hear, begun: false }
    }

    /// Begins to ask all that can be asked. Once: any further time changes nothing.
    pub(super) fn begin(&mut self, providers: &Providers) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        for (id, provider) in providers {
            // The future that shows that there is a check does nothing before it is polled.
            if provider.check().is_some() {
                self.known.insert(id.clone(), Known::default());
                self.checks.spawn(check_again_and_again(id.clone(), Arc::clone(provider), self.tell.clone()));
            }
        }
    }

    /// The next thing that a check tells the machine; never returns while there is none.
    pub(super) async fn next(&mut self) -> Input {
        loop {
            match self.hear.recv().await {
                Some((provider, News::Began)) => return Input::HealthCheckStarted { provider },
                Some((provider, News::Ended { result, took })) => {
                    let sign = sign(&result);
                    if let Some(changed) = sign.and_then(|sign| self.take(&provider, sign, Some(took))) {
                        return changed;
                    }
                }
                // There is a sender in `self`.
                None => std::future::pending().await,
            }
        }
    }

    /// Takes what a call brought.
    pub(super) fn called(&mut self, provider: &ProviderId, outcome: &Outcome) -> Option<Input> {
        self.take(provider, sign(outcome)?, None)
    }

    /// Drops all checks and waits until they are gone.
    pub(super) async fn shut_down(mut self) {
        self.checks.shutdown().await;
    }

    fn take(&mut self, provider: &ProviderId, sign: Sign, check: Option<Duration>) -> Option<Input> {
        let Known { health, told } = self.known.get_mut(provider)?;
        health.take(sign, check);
        let status = health.status();
        if std::mem::replace(told, status) == status {
            return None;
        }
        let update = HealthUpdate {
            provider: provider.clone(),
            status,
            latency_ms: health.latency().map(|latency| u64::try_from(latency.as_millis()).unwrap_or(u64::MAX)),
            error_rate: health.error_rate(),
            consecutive_failures: health.consecutive_failures(),
            none_healthy: none_healthy(self.known.values().map(|known| &known.health)),
        };
        Some(Input::HealthChanged(update))
    }
}

fn sign<T>(result: &Result<T, Failure>) -> Option<Sign> {
    match result {
        Ok(_) => Some(Sign::Well),
        Err(failure) => Sign::of(failure.class),
    }
}

/// A receiver that is gone means that the run is over, and this task is about to be dropped.
async fn check_again_and_again(id: ProviderId, provider: Arc<dyn Provider>, tell: mpsc::UnboundedSender<(ProviderId, News)>) {
    let tell = |news| drop(tell.send((id.clone(), news)));
    loop {
        let began = Instant::now();
        let Some(check) = provider.check() else { return };
        tell(News::Began);
        let result = check.await;
        tell(News::Ended { result, took: began.elapsed() });
        sleep_until(began + EVERY).await;
    }
}
