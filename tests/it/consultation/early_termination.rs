//! Ends before the last round: offered, declined, decided without anybody, wanted from the start.
//! Each with its states, its calls and what is kept.

use std::time::Duration;

use conclave::consultation::event::{
    AbortReason, AgentEvent, Answer, DecidedBy, EarlyTermination, Event, StateEvent, StateName,
};
use conclave::consultation::plan::mode::Mode;
use conclave::consultation::plan::options::{DebateOptions, JudgePasses, Rounds};
use conclave::consultation::plan::{Control, Plan};
use conclave::consultation::policy::consent::ConsentMode;
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::{Ask, FailureClass, Outcome};
use conclave::consultation::protocol::{Input, Question};
use conclave::consultation::transcript::Transcript;
use conclave::domain::artifact::Source;
use conclave::domain::confidence::Confidence;
use conclave::domain::ids::{AgentId, ModelRef};
use conclave::domain::money::{Cost, MicroUsd};
use conclave::domain::tokens::estimate_tokens;
use conclave::records::record::record;
use conclave::stopping::early_termination::{EarlyStop, Policy};
use serde_json::{Value, json};

use crate::support::script::{Player, failure, good, plan, reply};

/// Judged at 0.90, ended early by these rules.
fn early(policy: Policy, consent_mode: ConsentMode, threshold: f64) -> Plan {
    let plan = plan();
    let early_termination = EarlyStop {
        policy,
        threshold: Confidence::new(threshold).unwrap(),
        ..EarlyStop::usual()
    };
    let mut control = Control {
        early_termination,
        ..plan.control
    };
    control.consent.consent_mode = consent_mode;
    Plan { control, ..plan }
}

/// What the judge finds: points with these confidences, all held by these experts, and these
/// tensions.
fn synthesis(confidences: &[f64], supporters: &[&str], tensions: &[&str]) -> Outcome {
    let points: Vec<Value> = confidences
        .iter()
        .map(|confidence| json!({"point": format!("Point of {confidence}."), "supporting_agents": supporters, "confidence": confidence}))
        .collect();
    let tension = |severity: &&str| json!({"topic": format!("A {severity} one"), "viewpoints": [{"agent": "Expert B", "viewpoint": "No."}], "severity": severity});
    let tensions: Vec<Value> = tensions.iter().map(tension).collect();
    reply(
        &json!({"consensus_points": points, "tensions": tensions, "priority_order": ["Cost"]})
            .to_string(),
    )
}

const ALL: [&str; 3] = ["Expert A", "Expert B", "Expert C"];

/// Distinct answers, so that nobody is a rubber stamp.
fn world(found: &Outcome) -> impl FnMut(&Ask) -> Outcome + use<> {
    let found = found.clone();
    move |ask| match ask.answer {
        AnswerKind::Synthesis => found.clone(),
        _ => good(ask),
    }
}

/// Goes on until the offer is made.
fn offered(plan: Plan, found: &Outcome) -> Player {
    let mut player = Player::started(plan);
    let mut world = world(found);
    while player.question.is_none() {
        let ask = player
            .open
            .first()
            .expect("a call is open until the question")
            .clone();
        player.pass(Duration::from_millis(100));
        player.answer(0, world(&ask));
    }
    player
}

fn offer(player: &Player) -> EarlyTermination {
    match &player.question {
        Some(Question::EarlyTermination { findings }) => (**findings).clone(),
        other => panic!("no offer: {other:?}"),
    }
}

fn finished(plan: Plan, found: &Outcome) -> Player {
    let mut player = Player::started(plan);
    player.finish(world(found));
    player
}

fn states(player: &Player) -> Vec<StateName> {
    player
        .log
        .iter()
        .filter_map(|envelope| {
            if let Event::State(StateEvent::Changed { to, .. }) = envelope.event {
                Some(to)
            } else {
                None
            }
        })
        .collect()
}

fn told(player: &Player) -> Transcript {
    Transcript::fold(&player.log).unwrap()
}

/// Calls by round.
fn calls(player: &Player) -> [usize; 4] {
    let transcript = told(player);
    [1, 2, 3, 4].map(|round| {
        transcript
            .calls
            .iter()
            .filter(|call| call.round_number == round)
            .count()
    })
}

fn unmet(findings: &EarlyTermination) -> Vec<String> {
    findings
        .evaluation
        .unmet_guards()
        .map(|rule| rule.name.clone())
        .collect()
}

use StateName::{
    AwaitingConsent, Complete, CrossExam, Estimating, Independent, Synthesis, Verdict,
};

const EARLY: [StateName; 5] = [
    Estimating,
    AwaitingConsent,
    Independent,
    Synthesis,
    Complete,
];
const WHOLE: [StateName; 7] = [
    Estimating,
    AwaitingConsent,
    Independent,
    Synthesis,
    CrossExam,
    Verdict,
    Complete,
];

#[test]
fn accepted_offer_ends_after_round_2_with_a_composed_verdict() {
    let mut player = offered(
        early(Policy::Ask, ConsentMode::Interactive, 0.90),
        &synthesis(&[0.88, 0.96], &ALL, &["medium"]),
    );
    let findings = offer(&player);
    assert_eq!(findings.confidence.unwrap().to_string(), "92%");
    assert_eq!(unmet(&findings), [""; 0]);
    assert_eq!(findings.rounds_skipped, 2);
    player.give(Input::Answered(Answer::Yes));
    assert_eq!(states(&player), EARLY);
    assert_eq!(calls(&player), [3, 1, 0, 0]);
    let transcript = told(&player);
    let verdict = transcript.verdict().unwrap();
    assert_eq!(verdict.recommendation, "Point of 0.96.");
    assert_eq!(verdict.composed_from, Some(Source::Synthesis));
    assert_eq!(verdict.confidence, Confidence::new(0.92));
    let written = record(&transcript);
    assert_eq!(written["early_termination"], true);
    assert_eq!(
        written["early_termination_reason"],
        "high_confidence_after_synthesis"
    );
    assert_eq!(written["rounds_completed"], 2);
    assert_eq!(written["completed_rounds"], json!([1, 2]));
    assert_eq!(written["rounds_skipped"], 2);
    assert_eq!(written["confidence"], 0.92);
    assert_eq!(written["status"], "complete");
    assert_eq!(written["actual_cost"], json!(4.0 * 0.0012));
    assert_eq!(written["early_termination_evaluation"]["by"], "person");
    assert!(written["estimated_cost_saved"].as_f64().unwrap() > 0.0);
    assert_eq!(
        written["evidence"],
        json!(["Point of 0.88.", "Point of 0.96."])
    );
    assert_eq!(written["dissent"][0]["concern"], json!("A medium one"));
    insta::assert_snapshot!("an_early_end", player.log_text());
}

#[test]
fn declined_offer_runs_all_rounds_and_is_recorded() {
    let mut player = offered(
        early(Policy::Ask, ConsentMode::Interactive, 0.90),
        &synthesis(&[0.95], &ALL, &[]),
    );
    player.give(Input::Answered(Answer::No));
    assert_eq!(player.finish(good), Complete);
    assert_eq!(states(&player), WHOLE);
    assert_eq!(calls(&player), [3, 1, 4, 1]);
    let written = record(&told(&player));
    assert_eq!(written["early_termination"], false);
    assert_eq!(written["early_termination_reason"], Value::Null);
    assert_eq!(written["rounds_completed"], 4);
    assert_eq!(written["rounds_skipped"], 0);
    assert_eq!(written["estimated_cost_saved"], Value::Null);
    assert_eq!(written["early_termination_evaluation"]["ended"], false);
}

#[test]
fn threshold_is_met_at_equality_and_not_just_below() {
    for (confidences, threshold, is_met) in [
        (&[0.95, 0.85][..], 0.90, true),
        (&[0.9, 0.8], 0.85, true),
        (&[0.7, 0.8, 0.9], 0.8, true),
        (&[0.9, 0.8], 0.850_001, false),
        (&[0.1], 0.0, true),
        (&[1.0], 1.0, true),
    ] {
        let player = finished(
            early(Policy::Auto, ConsentMode::NonInteractive, threshold),
            &synthesis(confidences, &ALL, &[]),
        );
        assert_eq!(
            told(&player).early_end.unwrap().ended,
            is_met,
            "{confidences:?} at {threshold}"
        );
    }
}

#[test]
fn synthesis_without_consensus_has_zero_confidence_and_continues() {
    let player = finished(
        early(Policy::Auto, ConsentMode::NonInteractive, 0.90),
        &synthesis(&[], &ALL, &["low"]),
    );
    let decision = told(&player).early_end.unwrap();
    assert!(!decision.ended);
    assert_eq!(decision.by, DecidedBy::Threshold);
    assert_eq!(decision.findings.confidence, Confidence::new(0.0));
    assert_eq!(states(&player), WHOLE);
    assert_eq!(calls(&player), [3, 1, 4, 1]);
}

/// Plays a case that one guard objects to: unattended it goes on, and a person is told and may end
/// it all the same.
fn objected(
    plan: &dyn Fn(ConsentMode) -> Plan,
    answers: &dyn Fn(&Ask) -> Outcome,
    guards: &[&str],
) {
    let mut player = Player::started(plan(ConsentMode::NonInteractive));
    player.finish(answers);
    let decision = told(&player).early_end.unwrap();
    assert!(!decision.ended);
    assert_eq!(decision.by, DecidedBy::Guards);
    assert_eq!(unmet(&decision.findings), guards);
    assert_eq!(states(&player), WHOLE);
    let mut player = Player::started(plan(ConsentMode::Interactive));
    while player.question.is_none() {
        let ask = player
            .open
            .first()
            .expect("a call is open until the question")
            .clone();
        player.answer(0, answers(&ask));
    }
    assert_eq!(unmet(&offer(&player)), guards);
    let before = told(&player).calls.len();
    player.give(Input::Answered(Answer::Yes));
    assert_eq!(states(&player), EARLY);
    assert_eq!(told(&player).calls.len(), before);
}

fn strong(ask: &Ask) -> Outcome {
    world(&synthesis(&[0.95], &ALL, &[]))(ask)
}

#[test]
fn single_remaining_answer_triggers_guards() {
    let answers = |ask: &Ask| {
        let fails =
            ask.answer == AnswerKind::Independent && ask.model.provider.as_str() != "anthropic";
        if fails {
            failure(FailureClass::Auth, "bad key")
        } else {
            strong(ask)
        }
    };
    objected(
        &|consent_mode| early(Policy::Ask, consent_mode, 0.90),
        &answers,
        &["answers", "families", "troubled_seats"],
    );
}

#[test]
fn one_model_family_triggers_the_families_guard() {
    let one_family = |consent_mode| {
        let mut plan = early(Policy::Ask, consent_mode, 0.90);
        for (at, seat) in plan.panel.seats.iter_mut().enumerate() {
            seat.model = ModelRef::new("anthropic", format!("claude-{at}"));
            let price = plan.prices.0.values().next().copied().unwrap();
            plan.prices.0.insert(seat.model.clone(), price);
        }
        plan
    };
    objected(&one_family, &strong, &["families"]);
}

#[test]
fn failed_or_degraded_seat_triggers_the_troubled_seats_guard() {
    let failed = |ask: &Ask| {
        let fails =
            ask.answer == AnswerKind::Independent && ask.model.provider.as_str() == "google";
        if fails {
            failure(FailureClass::Auth, "bad key")
        } else {
            strong(ask)
        }
    };
    objected(
        &|consent_mode| early(Policy::Ask, consent_mode, 0.90),
        &failed,
        &["troubled_seats"],
    );
    let unread = |ask: &Ask| {
        let prose =
            ask.answer == AnswerKind::Independent && ask.model.provider.as_str() == "google";
        if prose {
            reply("I would stay.")
        } else {
            strong(ask)
        }
    };
    objected(
        &|consent_mode| early(Policy::Ask, consent_mode, 0.90),
        &unread,
        &["troubled_seats"],
    );
}

#[test]
fn partly_supported_point_triggers_the_support_guard() {
    let two = |ask: &Ask| world(&synthesis(&[0.95], &["Expert A", "Expert C"], &[]))(ask);
    objected(
        &|consent_mode| early(Policy::Ask, consent_mode, 0.90),
        &two,
        &["support"],
    );
}

#[test]
fn severe_tension_triggers_the_high_tensions_guard() {
    let tense = |ask: &Ask| world(&synthesis(&[0.95], &ALL, &["low", "high"]))(ask);
    objected(
        &|consent_mode| early(Policy::Ask, consent_mode, 0.90),
        &tense,
        &["high_tensions"],
    );
}

#[test]
fn identical_confident_answers_trigger_the_rubber_stamp_guard() {
    let same = |ask: &Ask| {
        match ask.answer {
        AnswerKind::Independent => reply(
            &json!({"position": "Use OAuth with short lived tokens and rotate the keys every day.", "key_points": ["Tokens can be revoked at once."],
                "rationale": "Revocation decides it.", "confidence": 0.9})
            .to_string(),
        ),
        _ => strong(ask),
    }
    };
    objected(
        &|consent_mode| early(Policy::Ask, consent_mode, 0.90),
        &same,
        &["rubber_stamp"],
    );
}

#[test]
fn auto_policy_and_unattended_runs_end_early_without_a_question() {
    for (policy, consent_mode) in [
        (Policy::Ask, ConsentMode::NonInteractive),
        (Policy::Ask, ConsentMode::PreApproved),
        (Policy::Auto, ConsentMode::NonInteractive),
        (Policy::Auto, ConsentMode::PreApproved),
        (Policy::Auto, ConsentMode::Interactive),
    ] {
        let player = finished(
            early(policy, consent_mode, 0.90),
            &synthesis(&[0.95], &ALL, &["low"]),
        );
        let decision = told(&player).early_end.unwrap();
        assert!(decision.ended, "{policy:?} {consent_mode:?}");
        assert_eq!(
            decision.by,
            DecidedBy::Guards,
            "{policy:?} {consent_mode:?}"
        );
        assert_eq!(states(&player), EARLY, "{policy:?} {consent_mode:?}");
        assert_eq!(calls(&player), [3, 1, 0, 0], "{policy:?} {consent_mode:?}");
    }
}

#[test]
fn never_policy_runs_all_rounds_and_records_no_decision() {
    let player = finished(
        early(Policy::Never, ConsentMode::Interactive, 0.0),
        &synthesis(&[1.0], &ALL, &[]),
    );
    assert_eq!(states(&player), WHOLE);
    assert_eq!(calls(&player), [3, 1, 4, 1]);
    assert_eq!(told(&player).early_end, None);
}

#[test]
fn guards_decide_when_the_user_is_gone() {
    for (severity, ends) in [("low", true), ("high", false)] {
        let mut player = offered(
            early(Policy::Ask, ConsentMode::Interactive, 0.90),
            &synthesis(&[0.95], &ALL, &[severity]),
        );
        player.give(Input::Answered(Answer::Gone));
        let decision = told(&player).early_end.unwrap();
        assert_eq!(decision.ended, ends);
        assert_eq!(decision.by, DecidedBy::NobodyThere);
        player.finish(good);
    }
}

#[test]
fn explore_mode_never_ends_early() {
    let mut plan = early(Policy::Auto, ConsentMode::NonInteractive, 0.0);
    plan.debate.mode = Mode::Explore;
    let player = finished(plan, &synthesis(&[1.0], &ALL, &[]));
    assert_eq!(states(&player), WHOLE);
    assert_eq!(calls(&player), [3, 1, 4, 1]);
    let transcript = told(&player);
    assert!(transcript.early_end.is_none());
    assert!(transcript.calibrated().is_none());
    assert_eq!(transcript.verdict().unwrap().recommendations.len(), 2);
}

/// How many rounds are wanted; the states, the calls by round and the source of the answer that
/// come of it.
type Wanted<'a> = (u8, &'a [StateName], [usize; 4], Option<Source>);

#[test]
fn requested_number_of_rounds_is_run_and_sets_the_verdict_source() {
    let rounds = |number| Plan {
        debate: DebateOptions {
            rounds: Rounds::new(number).unwrap(),
            ..DebateOptions::default()
        },
        ..early(Policy::Auto, ConsentMode::NonInteractive, 0.0)
    };
    let cases: [Wanted<'_>; 3] = [
        (
            1,
            &[Estimating, AwaitingConsent, Independent, Complete],
            [3, 0, 0, 0],
            None,
        ),
        (2, &EARLY, [3, 1, 0, 0], Some(Source::Synthesis)),
        (4, &WHOLE, [3, 1, 4, 1], None),
    ];
    for (number, sequence, counted, source) in cases {
        // One point is held by two of three: the guards are in the way of an early end.
        let player = finished(
            rounds(number),
            &synthesis(&[0.95], &["Expert A", "Expert B"], &["medium"]),
        );
        assert_eq!(states(&player), sequence, "{number} rounds");
        assert_eq!(calls(&player), counted, "{number} rounds");
        let transcript = told(&player);
        assert_eq!(
            transcript
                .verdict()
                .and_then(|verdict| verdict.composed_from),
            source,
            "{number} rounds"
        );
        assert_eq!(transcript.verdict().is_none(), number == 1);
        assert_eq!(transcript.planned_rounds(), number);
        assert_eq!(
            transcript.estimate.as_ref().unwrap().calls.len(),
            transcript.calls.len(),
            "what was held is what was estimated"
        );
        assert_eq!(
            record(&transcript)["early_termination"],
            json!(false),
            "fewer rounds were wanted from the start"
        );
    }
}

#[test]
fn three_rounds_compose_the_verdict_from_the_cross_exam() {
    let plan = Plan {
        debate: DebateOptions {
            rounds: Rounds::new(3).unwrap(),
            ..DebateOptions::default()
        },
        ..early(Policy::Ask, ConsentMode::NonInteractive, 0.99)
    };
    let player = finished(plan, &synthesis(&[0.8, 0.9], &ALL, &["high"]));
    assert_eq!(
        states(&player),
        [
            Estimating,
            AwaitingConsent,
            Independent,
            Synthesis,
            CrossExam,
            Complete
        ]
    );
    assert_eq!(calls(&player), [3, 1, 4, 0]);
    let transcript = told(&player);
    let verdict = transcript.verdict().unwrap();
    assert_eq!(verdict.recommendation, "Point of 0.9.");
    assert_eq!(verdict.composed_from, Some(Source::CrossExam));
    let dissent: Vec<&str> = verdict
        .dissent
        .iter()
        .map(|dissent| dissent.concern.as_str())
        .collect();
    assert_eq!(dissent, ["Effort", "No threat model."]);
    assert_eq!(
        transcript
            .early_end
            .as_ref()
            .unwrap()
            .findings
            .rounds_skipped,
        1
    );
}

#[test]
fn composed_menu_has_one_option_per_expert() {
    let debate = DebateOptions {
        mode: Mode::Explore,
        rounds: Rounds::new(2).unwrap(),
        ..DebateOptions::default()
    };
    let player = finished(
        Plan {
            debate,
            ..early(Policy::Ask, ConsentMode::NonInteractive, 0.9)
        },
        &synthesis(&[0.8], &ALL, &["low"]),
    );
    let transcript = told(&player);
    let verdict = transcript.verdict().unwrap();
    assert_eq!(verdict.recommendations.len(), 3);
    assert_eq!(verdict.confidence, None);
    assert_eq!(verdict.composed_from, Some(Source::Synthesis));
    let first = &verdict.recommendations[0];
    assert_eq!(first.option, "Use OAuth.");
    assert_eq!(first.description, "Revocation decides it.");
    assert_eq!(first.pros.len(), 0);
    assert_eq!(first.confidence, Confidence::new(0.8));
}

#[test]
fn estimated_saving_matches_the_cost_of_the_skipped_rounds() {
    let found = synthesis(&[0.95], &ALL, &[]);
    let saved = |plan: Plan| {
        told(&finished(plan, &found))
            .early_end
            .unwrap()
            .findings
            .estimated_cost_saved
    };
    let mut held = 0;
    let mut player = Player::started(early(Policy::Never, ConsentMode::NonInteractive, 0.9));
    let mut answers = world(&found);
    player.finish(|ask| {
        if ask.answer.round() > 2 {
            // A dollar a million tokens in and two out, of which every answer of this world is 100.
            held += estimate_tokens(&ask.prompt.text()) + 2 * 100;
        }
        answers(ask)
    });
    let once = saved(early(Policy::Auto, ConsentMode::NonInteractive, 1.0));
    assert!(
        !once.lower_bound && once.known.0.abs_diff(held) < held / 5,
        "{once:?} of {held}"
    );
    let mut twice = early(Policy::Auto, ConsentMode::NonInteractive, 1.0);
    twice.debate.judge_passes = JudgePasses::Twice;
    assert!(
        saved(twice).known > once.known,
        "a second pass of the judge is saved too"
    );
}

#[test]
fn unpriced_model_makes_the_saving_a_lower_bound() {
    let mut plan = early(Policy::Auto, ConsentMode::PreApproved, 0.9);
    plan.prices
        .0
        .remove(&ModelRef::new("google", "gemini-4-argon"));
    let saved: Cost = told(&finished(plan, &synthesis(&[0.95], &ALL, &[])))
        .early_end
        .unwrap()
        .findings
        .estimated_cost_saved;
    assert!(saved.lower_bound && saved.known > MicroUsd::ZERO);
}

#[test]
fn resume_repeats_an_interrupted_offer_unless_the_policy_is_never() {
    let found = synthesis(&[0.95], &ALL, &[]);
    let mut player = offered(early(Policy::Ask, ConsentMode::Interactive, 0.90), &found);
    player.give(Input::Interrupted);
    assert_eq!(player.machine.state(), StateName::Aborted);
    let mut again = Player::resumed(&player.log, Duration::from_secs(60), None).unwrap();
    assert_eq!(offer(&again).confidence, Confidence::new(0.95));
    again.give(Input::Answered(Answer::Yes));
    assert_eq!(again.machine.state(), Complete);
    assert_eq!(calls(&again), [3, 1, 0, 0]);
    let control = again.machine.plan().control.clone();
    let never = Control {
        early_termination: EarlyStop {
            policy: Policy::Never,
            ..control.early_termination.clone()
        },
        ..control
    };
    let mut on = Player::resumed(&player.log, Duration::from_secs(60), Some(never)).unwrap();
    assert_eq!(on.finish(good), Complete);
    assert_eq!(calls(&on), [3, 1, 4, 1]);
}

#[test]
fn resume_after_any_event_ends_early_with_the_same_verdict() {
    let found = synthesis(&[0.95], &ALL, &["low"]);
    let whole = finished(
        early(Policy::Auto, ConsentMode::NonInteractive, 0.90),
        &found,
    );
    for cut in 1..whole.log.len() {
        let mut player = Player::resumed(&whole.log[..cut], Duration::from_secs(5), None).unwrap();
        player.finish(world(&found));
        assert_eq!(player.machine.state(), Complete, "cut after {cut}");
        assert_eq!(
            told(&player).verdict(),
            told(&whole).verdict(),
            "cut after {cut}"
        );
        assert_eq!(calls(&player)[2..], [0, 0], "cut after {cut}");
    }
}

#[test]
fn abort_in_round_2_makes_no_offer_and_starts_no_round() {
    let mut plan = early(Policy::Ask, ConsentMode::Interactive, 0.90);
    plan.control.strict = true;
    let mut player = Player::started(plan);
    let end = player.finish(|ask| {
        if ask.answer == AnswerKind::Synthesis {
            reply("They agree.")
        } else {
            good(ask)
        }
    });
    let transcript = told(&player);
    assert_eq!(end, StateName::Aborted);
    assert_eq!(
        transcript.abort.as_ref().unwrap().reason,
        AbortReason::Strict
    );
    assert_eq!(transcript.abort.unwrap().during, Synthesis);
    assert_eq!(transcript.early_end, None);
    assert!(player.log.iter().all(|envelope| !matches!(
        &envelope.event,
        Event::Agent(AgentEvent::Thinking {
            round_number: 3,
            ..
        })
    )));
}

#[test]
fn second_answer_to_the_offer_changes_nothing() {
    let mut player = offered(
        early(Policy::Ask, ConsentMode::Interactive, 0.90),
        &synthesis(&[0.95], &ALL, &[]),
    );
    player.give(Input::Answered(Answer::No));
    let before = player.log.len();
    player.give(Input::Answered(Answer::Yes));
    assert_eq!(player.log.len(), before);
    assert_eq!(player.machine.state(), CrossExam);
    let judged = told(&player)
        .calls
        .iter()
        .filter(|call| call.agent_id == AgentId::Judge)
        .count();
    assert_eq!(judged, 1);
}
