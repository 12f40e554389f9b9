//! The user at the terminal: the questions, the reading of the answers, and the end of the input.

use std::io::{self, BufReader, Write};
use std::sync::Mutex;
use std::time::Duration;

use conclave::consultation::event::{Answer, StillWaiting, Substitution, WhySubstituted};
use conclave::consultation::machine::{Question, SubstitutionOffer};
use conclave::consultation::policy::consent::{ConsentMode, ConsentRule, Month};
use conclave::consultation::policy::estimate::{CallEstimate, Estimate, GateReason};
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::domain::cost::money::{Cost, MicroUsd};
use conclave::domain::ids::{AgentId, ModelRef};
use conclave::engine::ports::Person;
use conclave::terminal::output::printer::Verbosity;
use conclave::terminal::prompt::keyboard::Keyboard;
use conclave::terminal::prompt::person::TerminalPerson;
use futures_util::future::join;

use super::printer::CapturedPrinter;
use crate::support::timeout::in_time;

/// The answer to a question, the screen, and the saved amounts.
#[derive(Debug, PartialEq)]
struct QuestionReport {
    answer: Answer,
    screen: String,
    saved: Vec<MicroUsd>,
}

fn consent_rule() -> ConsentRule {
    ConsentRule {
        always_allow_under: MicroUsd(500_000),
        consent_mode: ConsentMode::Interactive,
        month: Some(Month {
            budget: MicroUsd(5_000_000),
            spent: Cost::exactly(MicroUsd(4_900_000)),
        }),
        asks_first_cost: false,
    }
}

async fn ask(question: &Question, typed: &'static str) -> QuestionReport {
    let captured = CapturedPrinter::new(Verbosity::Normal, Some(80));
    let saved = Mutex::new(Vec::new());
    let save = |amount| {
        saved.lock().unwrap().push(amount);
        Ok("config.json".to_owned())
    };
    let person = TerminalPerson {
        printer: captured.printer.clone(),
        keyboard: Keyboard::reading(BufReader::new(typed.as_bytes())),
        save_threshold: &save,
        consent_rule: consent_rule(),
        ceiling: None,
    };
    // Failures that come together are one question: the person waits a second for others.
    let second = async {
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(1)).await;
        tokio::time::resume();
    };
    let (answer, ()) = join(in_time("the answer", person.ask(question)), second).await;
    QuestionReport {
        answer,
        screen: captured.err(),
        saved: saved.lock().unwrap().clone(),
    }
}

fn consent(why: &[GateReason]) -> Question {
    let cost = |micro| Cost::exactly(MicroUsd(micro));
    let estimate = Estimate {
        low: cost(210_000),
        cost: cost(450_000),
        high: cost(900_000),
        calls: vec![CallEstimate {
            round_number: 1,
            agent_id: AgentId::from("security"),
            answer: AnswerKind::Independent,
            model: ModelRef::new("openai", "gpt-6.1-sol"),
            input_tokens: 100,
            output_tokens: 500,
            cost: cost(450_000),
            low: cost(210_000),
            high: cost(900_000),
            least_reserve: cost(900_000),
        }],
        ..Estimate::default()
    };
    Question::Consent {
        estimate,
        why: why.to_vec(),
    }
}

fn pulse() -> Question {
    Question::Pulse {
        waiting: vec![StillWaiting {
            agent_id: AgentId::from("security"),
            name: "Security Expert".to_owned(),
            elapsed_ms: 72_000,
        }],
        may_go_on_without: true,
    }
}

fn substitution() -> Question {
    Question::Substitution {
        offers: vec![SubstitutionOffer {
            name: "Pragmatist".to_owned(),
            offered: Substitution {
                agent_id: AgentId::from("pragmatic"),
                round_number: 1,
                original: ModelRef::new("google", "gemini-3-pro"),
                substitute: ModelRef::new("xai", "grok-4.7"),
                reason: WhySubstituted::Timeout,
                message: "no answer within 120 s".to_owned(),
            },
        }],
    }
}

#[tokio::test]
async fn the_cost_gate_accepts_a_key_and_explains_its_keys_once() {
    let gate = consent(&[GateReason::Cost]);
    for (typed, answer) in [
        ("\n", Answer::Yes),
        ("Y", Answer::Yes),
        ("n", Answer::No),
        ("n\n", Answer::No),
        ("yes\n", Answer::Yes),
        ("\u{1b}", Answer::No),
    ] {
        assert_eq!(ask(&gate, typed).await.answer, answer, "{typed:?}");
    }
    let report = ask(&gate, "maybe\n\u{1b}[A?\nn").await;
    assert_eq!(report.answer, Answer::No);
    insta::assert_snapshot!(report.screen, @r#"
    1 call in 1 round: 1 expert, with openai:gpt-6.1-sol
    You are asked because the cost is not below $0.50 (`always_allow_under`).
    About $0.45, at most $0.90. Go on? [Y/n/a = always below $1.00] 
    Press one of these keys: y = yes, n = no, a = always below $1.00 (Enter: y,
      Esc: n)
    About $0.45, at most $0.90. Go on? [Y/n/a = always below $1.00] no
    "#);
}

#[tokio::test]
async fn always_is_not_offered_when_no_threshold_would_help() {
    let report = ask(
        &consent(&[GateReason::MonthlyBudget, GateReason::LargeContext]),
        "a\ny",
    )
    .await;
    assert_eq!(report.answer, Answer::Yes);
    assert_eq!(report.saved, vec![]);
    assert!(
        report.screen.ends_with("Go on? [Y/n] yes\n"),
        "{}",
        report.screen
    );
}

#[tokio::test]
async fn choosing_to_wait_is_confirmed() {
    let report = ask(&pulse(), "\n").await;
    assert_eq!(report.answer, Answer::Yes);
    let screen = "⏱️ Still waiting on Security Expert (72s elapsed).\n\
                  Wait, go on without it, or stop? [W/g/s] wait\n\
                  ⏳ Continuing...\n";
    assert_eq!(report.screen, screen);
    for (typed, answer) in [("g", Answer::GoOnWithout), ("s", Answer::No)] {
        let report = ask(&pulse(), typed).await;
        assert_eq!(report.answer, answer, "{typed:?}");
        assert!(!report.screen.contains("Continuing"), "{typed:?}");
    }
}

#[tokio::test]
async fn a_substitution_is_accepted_refused_or_ends_the_run() {
    for (typed, answer) in [("\n", Answer::Yes), ("n", Answer::No), ("f", Answer::Fail)] {
        assert_eq!(
            ask(&substitution(), typed).await.answer,
            answer,
            "{typed:?}"
        );
    }
}

#[tokio::test]
async fn end_of_input_is_no_answer_and_ends_the_line() {
    for question in [consent(&[GateReason::Cost]), pulse(), substitution()] {
        let report = ask(&question, "").await;
        assert_eq!(report.answer, Answer::Gone);
        assert!(report.screen.ends_with("] \n"), "{:?}", report.screen);
    }
    let report = ask(&consent(&[GateReason::Cost]), "x\u{4}").await;
    assert_eq!(report.answer, Answer::Gone, "nothing is spent");
    assert_eq!(report.saved, vec![], "no amount is saved");
}

#[tokio::test]
async fn a_withdrawn_question_ends_its_line_and_takes_no_later_answer() {
    let captured = CapturedPrinter::new(Verbosity::Normal, Some(80));
    let (reader, mut writer) = io::pipe().unwrap();
    let save = |_| Ok(String::new());
    let person = TerminalPerson {
        printer: captured.printer.clone(),
        keyboard: Keyboard::reading(BufReader::new(reader)),
        save_threshold: &save,
        consent_rule: consent_rule(),
        ceiling: None,
    };
    let withdrawn = pulse();
    tokio::select! {
        biased;
        answer = person.ask(&withdrawn) => panic!("{answer:?}"),
        () = tokio::task::yield_now() => {}
    }
    assert!(
        captured.err().ends_with("or stop? [W/g/s] \n"),
        "{:?}",
        captured.err()
    );
    let question = pulse();
    let mut asking = person.ask(&question);
    tokio::select! {
        biased;
        answer = &mut asking => panic!("{answer:?}"),
        () = tokio::task::yield_now() => {}
    }
    captured.printer.note("meanwhile");
    writer.write_all(b"s").unwrap();
    assert_eq!(in_time("the answer", asking).await, Answer::No);
    let end = "[W/g/s] \nmeanwhile\nWait, go on without it, or stop? [W/g/s] stop\n";
    assert!(
        captured.err().ends_with(end),
        "a note appears above the question: {:?}",
        captured.err()
    );
}
