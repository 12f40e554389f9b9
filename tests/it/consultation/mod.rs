//! The machine: scenarios with their exact logs, invariants under random scripts, and resuming at
//! any point.

mod scenarios;
mod properties;
mod resume;
mod contradictions;
mod control;
mod persona_selection;
mod early_termination;
mod comparison;
pub(crate) mod debate_value;
mod second_verdict;
mod seat_names;
mod estimates;
mod context;

/// What nearly every test of the machine uses.
pub(crate) mod prelude {
    pub(crate) use std::time::Duration;

    pub(crate) use conclave::consultation::event::{
        AbortReason, Answer, CallEvent, CallStarted, Envelope, Event, Purpose, StateName,
    };
    pub(crate) use conclave::consultation::machine::Input;
    pub(crate) use conclave::consultation::plan::options::DebateOptions;
    pub(crate) use conclave::consultation::plan::{ModelTerms, OutputTokens, Plan};
    pub(crate) use conclave::consultation::policy::consent::ConsentMode;
    pub(crate) use conclave::consultation::policy::substitution::OnFailure;
    pub(crate) use conclave::consultation::protocol::answer::AnswerKind;
    pub(crate) use conclave::consultation::protocol::call::{
        Ask, FailureClass, Outcome, StopReason,
    };
    pub(crate) use conclave::consultation::transcript::Transcript;
    pub(crate) use conclave::domain::cost::money::{Cost, MicroUsd};
    pub(crate) use conclave::domain::ids::{AgentId, ModelRef, SeatId};

    pub(crate) use crate::support::record_json;
    pub(crate) use crate::support::script::{
        Player, failure, failure_with_hint, good, good_text, plan, reply, stopped,
    };

    /// Expects short answers, whose token limit stays high.
    pub(crate) fn expect_short_answers(mut plan: Plan) -> Plan {
        let expected_output = OutputTokens {
            low: 50,
            expected: 100,
            high: 200,
        };
        let terms = ModelTerms {
            expected_output,
            ..ModelTerms::default()
        };
        let models = plan.panel.seats.iter().map(|seat| seat.model.clone());
        plan.models = models.map(|model| (model, terms)).collect();
        plan
    }

    /// Returns the transcript of a player's log.
    pub(crate) fn fold(player: &Player) -> Transcript {
        Transcript::fold(&player.log).unwrap()
    }

    #[track_caller]
    pub(crate) fn assert_logged(player: &Player, line: &str) {
        let log = player.log_text();
        assert!(log.contains(line), "{log}");
    }

    /// Returns the calls that have started.
    pub(crate) fn started(log: &[Envelope]) -> impl Iterator<Item = &CallStarted> {
        log.iter().filter_map(|envelope| match &envelope.event {
            Event::Call(CallEvent::Started(call)) => Some(call),
            _ => None,
        })
    }

    /// Returns the place of the first open call of this kind.
    pub(crate) fn place(player: &Player, is: impl Fn(&Ask) -> bool) -> Option<usize> {
        player.open.iter().position(is)
    }

    /// Gives valid answers until a state is reached.
    pub(crate) fn play_to(player: &mut Player, state: StateName) {
        while player.machine.state() != state {
            let ask = player.open[0].clone();
            player.answer(0, good(&ask));
        }
    }

    /// Lets time pass until the end.
    pub(crate) fn fire_to_the_end(player: &mut Player) {
        while !player.machine.state().is_terminal() {
            assert!(player.fire());
        }
    }

    pub(crate) fn is_at(ask: &Ask, provider: &str) -> bool {
        ask.model.provider.as_str() == provider
    }

    pub(crate) fn no_such_model() -> Outcome {
        failure(FailureClass::ModelMissing, "no such model")
    }

    pub(crate) fn bad_key() -> Outcome {
        failure(FailureClass::Auth, "bad key")
    }

    pub(crate) fn helper_calls(player: &Player) -> usize {
        let helper = |call: &&CallStarted| call.agent_id == AgentId::Helper;
        started(&player.log).filter(helper).count()
    }

    /// Returns who is asked by the open calls, in order.
    pub(crate) fn agents(player: &Player) -> Vec<String> {
        let open = player.open.iter();
        open.map(|ask| agent_of(&player.log, ask).to_string())
            .collect()
    }

    pub(crate) fn agent_of(log: &[Envelope], ask: &Ask) -> AgentId {
        let mut calls = started(log);
        let call = calls.find(|call| call.call == ask.call);
        call.unwrap().agent_id.clone()
    }
}
