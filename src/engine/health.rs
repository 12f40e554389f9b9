//! The providers of a run, asked at no cost how they are: just after the first call, and from then
//! on every half minute until the run ends.
//!
//! What their calls bring is taken into account too. What it means is policy; nothing is decided
//! here. A provider that cannot be asked for nothing, such as the embedded model, stays unknown. A
//! check that panics is its provider's last.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use crate::consultation::event::HealthUpdate;
use crate::consultation::policy::health::{Health, HealthStatus, Sign, none_healthy};
use crate::consultation::protocol::Input;
use crate::consultation::protocol::call::{Failure, Outcome};
use crate::domain::ids::ProviderId;

use super::driver::Providers;
use super::ports::Provider;

/// From the beginning of one check of a provider to that of the next.
pub const EVERY: Duration = Duration::from_secs(30);

/// From the first call to the first checks: their connections do not get in the way of the calls
/// that go out together. Nothing that looks at health, such as the choice of a backup, happens so
/// early.
pub const FIRST: Duration = Duration::from_millis(100);

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
    Ended {
        result: Result<(), Failure>,
        took: Duration,
    },
}

impl Monitor {
    pub(super) fn new() -> Self {
        let (tell, hear) = mpsc::unbounded_channel();
        Self {
            checks: JoinSet::new(),
            known: BTreeMap::new(),
            tell,
            hear,
            begun: false,
        }
    }

    /// Begins to ask all that can be asked, behind what goes out now. Once: any further time
    /// changes nothing.
    pub(super) fn begin(&mut self, providers: &Providers) {
        if std::mem::replace(&mut self.begun, true) {
            return;
        }
        for (id, provider) in providers {
            // The future that shows that there is a check does nothing before it is polled.
            if provider.check().is_some() {
                self.known.insert(id.clone(), Known::default());
                self.checks.spawn(check_again_and_again(
                    id.clone(),
                    Arc::clone(provider),
                    self.tell.clone(),
                ));
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
                    if let Some(changed) =
                        sign.and_then(|sign| self.take(&provider, sign, Some(took)))
                    {
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

    fn take(
        &mut self,
        provider: &ProviderId,
        sign: Sign,
        check: Option<Duration>,
    ) -> Option<Input> {
        let Known { health, told } = self.known.get_mut(provider)?;
        health.take(sign, check);
        let status = health.status();
        if std::mem::replace(told, status) == status {
            return None;
        }
        let update = HealthUpdate {
            provider: provider.clone(),
            status,
            latency_ms: health
                .latency()
                .map(|latency| u64::try_from(latency.as_millis()).unwrap_or(u64::MAX)),
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
async fn check_again_and_again(
    id: ProviderId,
    provider: Arc<dyn Provider>,
    tell: mpsc::UnboundedSender<(ProviderId, News)>,
) {
    let tell = |news| drop(tell.send((id.clone(), news)));
    sleep(FIRST).await;
    loop {
        let began = Instant::now();
        let Some(check) = provider.check() else {
            return;
        };
        tell(News::Began);
        let result = check.await;
        tell(News::Ended {
            result,
            took: began.elapsed(),
        });
        sleep_until(began + EVERY).await;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    use super::*;
    use crate::consultation::protocol::call::{Ask, FailureClass};
    use crate::engine::ports::{BoxFuture, Delta};

    const SECOND: Duration = Duration::from_secs(1);

    /// What the nth check brings, counted from 1, and how long it takes.
    type Script = fn(usize) -> (Duration, Result<(), FailureClass>);

    #[derive(Debug)]
    struct Checked {
        script: Option<Script>,
        began: Mutex<Vec<Instant>>,
    }

    impl Provider for Checked {
        fn ask<'a>(
            &'a self,
            _: &'a Ask,
            _: &'a mut (dyn FnMut(Delta) + Send),
        ) -> BoxFuture<'a, Outcome> {
            unreachable!("a check asks nothing that costs")
        }

        fn check(&self) -> Option<BoxFuture<'_, Result<(), Failure>>> {
            let script = self.script?;
            Some(Box::pin(async move {
                let nth = {
                    let mut began = self.began.lock().unwrap();
                    began.push(Instant::now());
                    began.len()
                };
                let (takes, result) = script(nth);
                sleep(takes).await;
                result.map_err(|class| Failure::new(class, "no"))
            }))
        }
    }

    fn providers(scripts: &[(&str, Option<Script>)]) -> Providers {
        let provider = |(name, script): &(&str, Option<Script>)| {
            let provider: Arc<dyn Provider> = Arc::new(Checked {
                script: *script,
                began: Mutex::default(),
            });
            (ProviderId::new(*name), provider)
        };
        scripts.iter().map(provider).collect::<BTreeMap<_, _>>()
    }

    /// What the machine hears until this moment: when, counted from the first checks, of whom, and
    /// what.
    async fn heard(scripts: &[(&str, Option<Script>)], until: Duration) -> Vec<String> {
        let began = Instant::now() + FIRST;
        let mut monitor = Monitor::new();
        monitor.begin(&providers(scripts));
        let mut heard = Vec::new();
        while let Ok(input) = tokio::time::timeout_at(began + until, monitor.next()).await {
            let at = began.elapsed().as_secs_f64();
            heard.push(match input {
                Input::HealthCheckStarted { provider } => format!("{at} {provider} ?"),
                Input::HealthChanged(update) => {
                    let none = if update.none_healthy { ", none healthy" } else { "" };
                    let HealthUpdate { provider, status, latency_ms, error_rate, consecutive_failures, .. } = update;
                    format!("{at} {provider} {status:?} {latency_ms:?} {error_rate} {consecutive_failures}{none}")
                }
                other => panic!("{other:?}"),
            });
        }
        monitor.shut_down().await;
        heard
    }

    #[tokio::test(start_paused = true)]
    async fn a_provider_is_checked_every_half_minute_and_what_changes_is_told() {
        let script: Script = |nth| match nth {
            1 | 2 => (SECOND, Ok(())),
            3 => (4 * SECOND, Ok(())),
            4 => (SECOND, Ok(())),
            5..=7 => (Duration::from_millis(10_500), Err(FailureClass::Transport)),
            _ => (SECOND, Ok(())),
        };
        let expected = [
            "0 a ?",
            "1 a Healthy Some(1000) 0 0",
            "30 a ?",
            "60 a ?",
            "64 a Degraded Some(4000) 0 0, none healthy",
            "90 a ?",
            "91 a Healthy Some(1000) 0 0",
            "120 a ?",
            "130.5 a Unhealthy Some(10500) 0.2 1, none healthy",
            "150 a ?",
            "180 a ?",
            "210 a ?",
            "211 a Degraded Some(1000) 0.38 0, none healthy",
        ];
        assert_eq!(heard(&[("a", Some(script))], 220 * SECOND).await, expected);
    }

    #[tokio::test(start_paused = true)]
    async fn all_are_checked_at_once_and_none_is_healthy_only_when_all_have_been() {
        let slow: Script = |_| (5 * SECOND, Ok(()));
        let refused: Script = |_| (SECOND, Err(FailureClass::Auth));
        let hangs: Script = |nth| {
            if nth == 1 {
                (8 * SECOND, Err(FailureClass::RateLimit))
            } else {
                (3_600 * SECOND, Ok(()))
            }
        };
        let mut told = heard(
            &[
                ("hangs", Some(hangs)),
                ("local", None),
                ("refused", Some(refused)),
                ("slow", Some(slow)),
            ],
            62 * SECOND,
        )
        .await;
        let mut expected = [
            "0 hangs ?",
            "0 refused ?",
            "0 slow ?",
            "1 refused Degraded None 1 1",
            "5 slow Degraded Some(5000) 0 0",
            "8 hangs Degraded Some(8000) 0 0, none healthy",
            "30 hangs ?",
            "30 refused ?",
            "30 slow ?",
            "60 refused ?",
            "60 slow ?",
            "61 refused Unhealthy None 1 3, none healthy",
        ];
        // What happens at the same moment has no order.
        told.sort();
        expected.sort_unstable();
        assert_eq!(
            told, expected,
            "and one that hangs is not asked again before it has answered"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn what_calls_bring_counts_for_who_can_be_checked() {
        let good: Script = |_| (SECOND, Ok(()));
        let mut monitor = Monitor::new();
        monitor.begin(&providers(&[("a", Some(good)), ("local", None)]));
        let [a, local] = ["a", "local"].map(ProviderId::new);
        let failed = |class| Err(Failure::new(class, "no"));
        assert_eq!(
            monitor.called(&a, &failed(FailureClass::Timeout)),
            None,
            "it has not been checked yet"
        );
        monitor.next().await;
        let Input::HealthChanged(update) = monitor.next().await else {
            panic!("it was checked")
        };
        assert_eq!(
            (update.status, update.error_rate.to_bits()),
            (HealthStatus::Degraded, 0.5_f64.to_bits())
        );
        for class in [
            FailureClass::Internal,
            FailureClass::Overload,
            FailureClass::BadRequest,
            FailureClass::Overload,
            FailureClass::Overload,
        ] {
            assert_eq!(monitor.called(&a, &failed(class)), None, "{class:?}");
        }
        let Some(Input::HealthChanged(update)) =
            monitor.called(&a, &failed(FailureClass::Interrupted))
        else {
            panic!("the third in a row")
        };
        assert_eq!(
            (
                update.status,
                update.latency_ms,
                update.consecutive_failures
            ),
            (HealthStatus::Unhealthy, Some(1_000), 3)
        );
        for _ in 0..4 {
            assert_eq!(
                monitor.called(&local, &failed(FailureClass::Transport)),
                None
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_check_that_panics_harms_nobody_else() {
        let panics: Script = |_| panic!("a bug in a codec");
        let good: Script = |_| (SECOND, Ok(()));
        let told = heard(&[("bad", Some(panics)), ("good", Some(good))], 31 * SECOND).await;
        assert_eq!(
            told,
            [
                "0 bad ?",
                "0 good ?",
                "1 good Healthy Some(1000) 0 0",
                "30 good ?"
            ]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn beginning_twice_checks_once() {
        let good: Script = |_| (SECOND, Ok(()));
        let providers = providers(&[("a", Some(good))]);
        let mut monitor = Monitor::new();
        monitor.begin(&providers);
        monitor.begin(&providers);
        monitor.next().await;
        assert!(
            matches!(monitor.next().await, Input::HealthChanged(_)),
            "not a second check"
        );
    }
}
