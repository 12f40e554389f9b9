//! The player's part in its process: requests and permits of the provider pool, what the pool
//! learns from an earlier run, and notices between the consultations of a process.

use std::collections::BTreeMap;
use std::time::Duration;

use conclave::consultation::event::{
    CallEvent, CallFinished, CallStarted, ConsultationEvent, Envelope, Event, ProviderEvent,
};
use conclave::consultation::machine::Input;
use conclave::consultation::protocol::call::{Failure, Outcome};
use conclave::consultation::protocol::request::{CallRequest, RequestKey, RequestOption};
use conclave::domain::cost::money::Cost;
use conclave::domain::ids::{CallId, ProviderId};
use conclave::domain::time::Timestamp;
use conclave::engine::dispatcher::pool::{Decision, QueuedRequest};

use super::super::reply;
use super::{Notice, Player};

impl Player {
    /// Lets the pool learn what it knew when an earlier run of this process came to this event.
    pub(super) fn relearn(&mut self, envelope: &Envelope) {
        match &envelope.event {
            Event::Call(CallEvent::Started(CallStarted {
                call,
                model,
                agent_id,
                ..
            })) => {
                // It was admitted once, whatever the number of calls in flight is now.
                let queued = QueuedRequest {
                    member: self.member,
                    limits: BTreeMap::from([(model.provider.clone(), u32::MAX)]),
                    budgets: Vec::new(),
                    request: CallRequest {
                        key: RequestKey::Hedge {
                            agent: agent_id.clone(),
                        },
                        options: vec![RequestOption {
                            provider: model.provider.clone(),
                            worst_case: Cost::FREE,
                            least: Cost::FREE,
                        }],
                        beyond_month: false,
                    },
                };
                let decision = self.pool.request(queued, envelope.at);
                let permit = decision.expect("a hedge never waits").expect("it went out");
                self.permits.insert(*call, permit);
            }
            Event::Call(CallEvent::Finished(finished)) => {
                let permit = self.permits.remove(&finished.call).expect("it had started");
                let counts = !finished.answer.is_for_helper();
                let outcome = outcome_of(finished);
                self.pool.finish(&permit, &outcome, counts, envelope.at);
            }
            Event::Call(CallEvent::Cancelled { call, .. }) => self.forget(*call, envelope.at),
            Event::Consultation(ConsultationEvent::Resumed(resumed)) => {
                for call in &resumed.lost_calls {
                    self.forget(*call, envelope.at);
                }
            }
            _ => {}
        }
    }

    pub(super) fn forget(&mut self, call: CallId, now: Timestamp) {
        if let Some(permit) = self.permits.remove(&call) {
            self.pool.abandon(&permit, now);
        }
    }

    /// Gives what another consultation of the process has passed on.
    pub fn give_notice(&mut self, notice: Notice) {
        match notice {
            Notice::Decided(member, key, decision) => {
                assert_eq!(member, self.member, "a decision for this consultation");
                self.expect_decision(key, decision);
            }
            Notice::Learned(update) => {
                self.inputs
                    .push_back((Input::ProviderChanged(update), None));
            }
        }
        self.work_off();
    }

    pub(super) fn take_updates(&mut self) -> Vec<ProviderEvent> {
        let updates = self.pool.take_updates();
        self.for_others
            .extend(updates.iter().cloned().map(Notice::Learned));
        updates
    }

    pub(super) fn expect_decision(&mut self, key: RequestKey, decision: Decision) {
        self.inputs.push_back(match decision {
            Ok(permit) => {
                let input = Input::Admitted {
                    key,
                    provider: permit.provider.clone(),
                    granted: permit.granted(),
                };
                (input, Some(permit))
            }
            Err(reason) => (Input::NotAdmitted { key, reason }, None),
        });
    }

    pub(super) fn request(&mut self, request: CallRequest) {
        let key = request.key.clone();
        let plan = self.machine.plan();
        let providers = request.options.iter().map(|option| option.provider.clone());
        let queued = QueuedRequest {
            member: self.member,
            limits: providers
                .map(|id| (id.clone(), plan.in_flight(&id)))
                .collect(),
            budgets: self.budgets.clone(),
            request,
        };
        if let Some(decision) = self.pool.request(queued, self.now) {
            self.expect_decision(key, decision);
        }
    }

    pub(super) fn begin(&mut self, call: CallId, provider: &ProviderId) {
        let permit = self.permit.take().expect("no call goes out without one");
        assert_eq!(permit.provider, *provider, "a permit is for one provider");
        self.permits.insert(call, permit);
    }
}

/// What a call brought, as far as it says something about its provider.
fn outcome_of(finished: &CallFinished) -> Outcome {
    match &finished.error {
        None => reply(&finished.text),
        Some(error) => Err(Failure {
            retry_after: error.retry_after_ms.map(Duration::from_millis),
            ..Failure::new(error.class, error.message.clone())
        }),
    }
}
