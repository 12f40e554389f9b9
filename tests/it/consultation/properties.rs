//! Random scripts: the invariants hold (the player checks them after every input), each run ends,
//! its log folds back to its outcome, and a machine stored and restored at any point ends as the
//! uninterrupted one.

use conclave::consultation::plan::options::{DebateAnalysis, JudgePasses, Rounds};
use conclave::consultation::policy::hedging::HedgeRule;
use conclave::consultation::policy::mode::Mode;
use conclave::consultation::prompt::Templates;
use conclave::consultation::protocol::call::Reply;
use conclave::domain::cost::tokens::Usage;
use conclave::records::stored::read;
use conclave::stopping::early_termination::{Policy, TerminationRule};
use conclave::terminal::report::report;
use proptest::prelude::*;

use crate::consultation::prelude::*;
use crate::support::script::{crowd, paid_by_plan, personas, with_fallback};

/// The next input of a script.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Answer { at: usize, how: How },
    FirstToken { at: usize },
    Fire,
    Pass { ms: u64 },
    Answered(Answer),
    Interrupt,
    Nonsense,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum How {
    Good,
    /// A valid answer with this many output tokens.
    Long(u64),
    Garbage,
    Empty,
    CutOff,
    Refused,
    Odd,
    Fails(FailureClass),
    /// A failure with a retry hint in milliseconds.
    Hints(FailureClass, u64),
}

fn how() -> impl Strategy<Value = How> {
    use FailureClass::{
        Auth, Context, Empty, Internal, Interrupted, Overload, Quota, RateLimit, Transport,
        Unsupported,
    };
    let classes = vec![
        Auth,
        Context,
        Empty,
        Internal,
        Interrupted,
        Overload,
        Quota,
        RateLimit,
        Transport,
        Unsupported,
    ];
    prop_oneof![
        8 => Just(How::Good),
        6 => (0..16_000u64).prop_map(How::Long),
        2 => Just(How::Garbage),
        1 => Just(How::Empty),
        1 => Just(How::CutOff),
        1 => Just(How::Refused),
        1 => Just(How::Odd),
        4 => prop::sample::select(classes).prop_map(How::Fails),
        2 => (prop::sample::select(vec![RateLimit, Overload, Quota]), 0..60_000u64)
            .prop_map(|(class, ms)| How::Hints(class, ms)),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    use Answer::{Fail, GoOnWithout, Gone, No, Yes};
    step_of(how(), vec![Yes, No, Fail, GoOnWithout, Gone])
}

/// A step that answers calls and questions in these ways.
pub(super) fn step_of(
    how: impl Strategy<Value = How>,
    answers: Vec<Answer>,
) -> impl Strategy<Value = Step> {
    prop_oneof![
        30 => (0..8usize, how).prop_map(|(at, how)| Step::Answer { at, how }),
        6 => (0..8usize).prop_map(|at| Step::FirstToken { at }),
        8 => Just(Step::Fire),
        4 => (0..20_000u64).prop_map(|ms| Step::Pass { ms }),
        4 => prop::sample::select(answers).prop_map(Step::Answered),
        1 => Just(Step::Interrupt),
        1 => Just(Step::Nonsense),
    ]
}

pub(super) fn play(player: &mut Player, step: &Step) {
    let pick =
        |player: &Player, at: usize| (!player.open.is_empty()).then(|| at % player.open.len());
    match step {
        Step::Answer { at, how } => {
            if let Some(at) = pick(player, *at) {
                let kind = player.open[at].answer;
                player.answer(at, outcome(*how, good_text(kind)));
            }
        }
        Step::FirstToken { at } => {
            if let Some(at) = pick(player, *at) {
                let call = player.open[at].call;
                player.give(Input::FirstToken { call });
            }
        }
        Step::Fire => drop(player.fire()),
        Step::Pass { ms } => player.pass(Duration::from_millis(*ms)),
        Step::Answered(answer) => player.give(Input::Answered(*answer)),
        Step::Interrupt => player.give(Input::Interrupted),
        Step::Nonsense => player.give(Input::Start),
    }
}

fn outcome(how: How, good: &str) -> Outcome {
    match how {
        How::Good => reply(good),
        How::Long(output) => reply(good).map(|reply| Reply {
            usage: Usage {
                output,
                ..reply.usage
            },
            ..reply
        }),
        How::Garbage => reply("Well, it depends."),
        How::Empty => reply(""),
        How::CutOff => stopped(good.split_at(good.len() / 2).0, StopReason::Length),
        How::Refused => stopped("", StopReason::Refused(String::new())),
        How::Odd => stopped(good, StopReason::Other("odd".into())),
        How::Fails(class) => failure(class, "it failed"),
        How::Hints(class, ms) => failure_with_hint(class, "slow down", Duration::from_millis(ms)),
    }
}

/// The settings of a script.
#[derive(Clone, Debug)]
struct Terms {
    crowded: bool,
    asks_first: bool,
    /// There are fallbacks and hedges, and the user is asked about them.
    eventful: bool,
    max_cost: Option<u64>,
    /// A plan pays for the calls to one vendor, for no more than these.
    max_calls: Option<u32>,
    debate: DebateOptions,
    early_termination: Policy,
}

/// Either mode, any number of rounds, one or two passes of the judge, and with or without a helper
/// for each of its tasks.
pub(super) fn debate() -> impl Strategy<Value = DebateOptions> {
    let choices = (
        any::<bool>(),
        1..=4u8,
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
    );
    choices.prop_map(
        |(explores, rounds, twice, has_helper, compares, selects_personas)| DebateOptions {
            mode: if explores {
                Mode::Explore
            } else {
                Mode::Converge
            },
            rounds: Rounds::new(rounds).expect("1 to 4"),
            judge_passes: if twice {
                JudgePasses::Twice
            } else {
                JudgePasses::Once
            },
            helper: has_helper.then(|| ModelRef::new("google", "gemini-4-argon")),
            debate_analysis: if compares {
                DebateAnalysis::On
            } else {
                DebateAnalysis::Off
            },
            selectable_personas: if selects_personas {
                personas(&Templates::builtin())
            } else {
                Vec::new()
            },
            follows_up: None,
            prior_answers: None,
        },
    )
}

fn terms() -> impl Strategy<Value = Terms> {
    let debates = prop_oneof![Just(DebateOptions::default()), debate()];
    let policies = prop::sample::select(vec![Policy::Ask, Policy::Auto, Policy::Never]);
    let control = (
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        prop::option::of(60_000..300_000u64),
        prop::option::of(1..9u32),
    );
    (control, debates, policies).prop_map(
        |((crowded, asks_first, eventful, max_cost, max_calls), debate, early_termination)| Terms {
            crowded,
            asks_first,
            eventful,
            max_cost,
            max_calls,
            debate,
            early_termination,
        },
    )
}

fn started(terms: &Terms) -> Player {
    let mut plan = if terms.crowded { crowd(9) } else { plan() };
    plan.control.consent.always_allow_under =
        MicroUsd(if terms.asks_first { 0 } else { 10_000_000 });
    plan.control.max_cost = terms.max_cost.map(MicroUsd);
    if let Some(max_calls) = terms.max_calls {
        plan.control.max_calls = max_calls;
        plan = paid_by_plan(plan, "anthropic");
    }
    plan.debate = terms.debate.clone();
    plan.control.early_termination = TerminationRule {
        policy: terms.early_termination,
        ..TerminationRule::usual()
    };
    if terms.eventful {
        plan.control.hedge = HedgeRule::default();
        plan.control.pulse = Some(Duration::from_secs(60));
        plan.control.on_failure = OnFailure::Ask;
        let spare = ModelRef::new("xai", "grok-4.7");
        let price = *plan.prices.0.values().next().expect("a price");
        plan.prices.0.insert(spare.clone(), price);
        plan = with_fallback(plan, &spare);
    }
    Player::started(plan)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_script_keeps_the_invariants_and_can_be_finished(
        terms in terms(),
        steps in prop::collection::vec(step(), 0..60),
    ) {
        let mut player = started(&terms);
        for step in &steps {
            play(&mut player, step);
        }
        player.finish(good);

        let transcript = Transcript::fold(&player.log).expect("a log folds");
        prop_assert_eq!(transcript.state, player.machine.state());
        let cost: Cost = transcript.calls.iter().map(|call| call.cost).sum();
        prop_assert_eq!(transcript.total().cost.known, cost.known);
        let spend = transcript.spend_by(|_, _, model| model.provider.clone()).into_values();
        let by_provider: Cost = spend.map(|spend| spend.cost).sum();
        prop_assert_eq!(by_provider, transcript.total().cost);
        // Every answer here costs less than its worst case, so the ceiling holds.
        if let Some(max_cost) = terms.max_cost {
            prop_assert!(cost.known <= MicroUsd(max_cost), "{} of {max_cost}", cost.known.0);
        }
        if let Some(max_calls) = terms.max_calls {
            let calls = crate::consultation::prelude::started(&player.log);
            let by_plan = calls.filter(|call| call.model.provider.as_str() == "anthropic");
            let by_plan = by_plan.count();
            prop_assert!(by_plan <= max_calls as usize, "{by_plan} of {max_calls}");
        }
    }

    #[test]
    fn log_written_as_lines_reads_back_equal(
        terms in terms(),
        steps in prop::collection::vec(step(), 0..40),
    ) {
        let mut player = started(&terms);
        for step in &steps {
            play(&mut player, step);
        }
        for envelope in &player.log {
            let line = serde_json::to_string(envelope).expect("an event is JSON");
            let read: Envelope = serde_json::from_str(&line).expect("a line is an event");
            prop_assert_eq!(&read, envelope);
        }
    }
    #[test]
    fn stored_report_equals_the_printed_one(
        terms in terms(),
        steps in prop::collection::vec(step(), 0..60),
        is_finished in any::<bool>(),
    ) {
        let mut player = started(&terms);
        for step in &steps {
            play(&mut player, step);
        }
        if is_finished {
            player.finish(good);
        }
        let record = Transcript::fold(&player.log).expect("a log folds").stored_record();
        let bytes = serde_json::to_vec(&record).expect("a record is JSON");
        let stored = read(&bytes).expect("a record is read");
        prop_assert_eq!(&stored, &record);
        prop_assert_eq!(report(&stored), report(&record));
    }
}
