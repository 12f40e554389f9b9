//! What a loop does next.

use crate::domain::ids::ConsultationId;
use crate::domain::steps;
use crate::refinement::batches::QuestionBatch;
use crate::refinement::event::{
    BatchFinished, BatchStarted, Extraction, RefinementEventKind, StopCause, TextHash,
};
use crate::refinement::state::{LoopPhase, NextStep};
use crate::stopping::convergence::QuestionKey;

use super::player::{DOCUMENT, Player, spend};

fn keys(batches: &[QuestionBatch]) -> Vec<&str> {
    let questions = batches.iter().flat_map(|batch| &batch.questions);
    questions.map(|(key, _)| key.as_str()).collect()
}

/// Plays up to the first event that `is_last` recognises.
fn until(player: &mut Player, is_last: impl Fn(&RefinementEventKind) -> bool) {
    while !player.log.last().is_some_and(|event| is_last(&event.kind)) {
        assert!(player.step(), "the loop rests before the event");
    }
}

fn is_merge(kind: &RefinementEventKind) -> bool {
    matches!(kind, RefinementEventKind::Integrated(_))
}

fn is_batch_start(kind: &RefinementEventKind) -> bool {
    matches!(kind, RefinementEventKind::BatchStarted(_))
}

fn is_batch_end(kind: &RefinementEventKind) -> bool {
    matches!(kind, RefinementEventKind::BatchFinished(_))
}

fn no_answer(consultation: &ConsultationId) -> RefinementEventKind {
    RefinementEventKind::BatchFinished(Box::new(BatchFinished {
        consultation: consultation.clone(),
        findings: None,
        spend: spend(),
        error: Some("the judge failed".to_owned()),
    }))
}

fn started(player: &Player) -> ConsultationId {
    let batches = &player.current().open_iteration().unwrap().batches;
    batches.last().unwrap().consultation.clone()
}

#[test]
fn questions_of_an_iteration_are_asked_once() {
    let mut player = Player::new(DOCUMENT, 1, 1);
    until(&mut player, is_batch_start);
    let (_, now) = player.now();
    let NextStep::Ask { batches, .. } = player.current().next_step(&now) else {
        panic!("other questions are due");
    };
    let expected = ["question 4", "question 5", "question 6", "question 7"];
    assert_eq!(keys(&batches), expected);
}

#[test]
fn a_consultation_of_a_dead_process_is_taken_over() {
    let mut player = Player::new(DOCUMENT, 1, 1);
    until(&mut player, is_batch_start);
    let id = started(&player);
    player.resume();
    let (_, now) = player.now();
    let NextStep::Ask { left_over, .. } = player.current().next_step(&now) else {
        panic!("it is not left over");
    };
    let left_over: Vec<_> = left_over.iter().map(|batch| &batch.consultation).collect();
    assert_eq!(left_over, [&id]);
    assert_eq!(player.current().left_over(), [&id]);
}

#[test]
fn a_consultation_that_cannot_be_taken_over_is_repeated() {
    let mut player = Player::new(DOCUMENT, 3, 1);
    until(&mut player, is_batch_start);
    player.resume();
    let batch = player.current().open_iteration().unwrap().batches[0]
        .about
        .clone();
    player.record(RefinementEventKind::BatchStarted(Box::new(BatchStarted {
        iteration: 1,
        consultation: ConsultationId::from_unique("other"),
        batch,
    })));
    assert!(player.current().left_over().is_empty());
    player.play();
    assert_eq!(player.current().phase, LoopPhase::Ended);
}

#[test]
fn a_cut_off_consultation_has_its_cost_and_can_be_taken_over() {
    let mut player = Player::new(DOCUMENT, 1, 1);
    until(&mut player, is_batch_start);
    let consultation = started(&player);
    player.record(RefinementEventKind::ConsultationCutOff {
        consultation: consultation.clone(),
        spend: spend(),
    });
    player.record(RefinementEventKind::Stopped {
        cause: StopCause::Interrupt,
        message: "interrupted".to_owned(),
    });
    assert_eq!(player.current().spend(), spend());
    assert!(!player.step(), "a stopped loop works");
    player.resume();
    assert_eq!(player.current().left_over(), [&consultation]);
}

#[test]
fn consultations_without_an_answer_are_taken_over_after_a_resume() {
    let mut player = Player::new(DOCUMENT, 1, 1);
    for _ in 0..3 {
        until(&mut player, is_batch_start);
        let consultation = started(&player);
        player.record(no_answer(&consultation));
    }
    player.play();
    let LoopPhase::Stopped { cause, message } = player.current().phase.clone() else {
        panic!("it works without an answer");
    };
    assert_eq!(cause, StopCause::NoAnswer);
    assert_eq!(message, "the judge failed");
    player.resume();
    let (_, now) = player.now();
    let NextStep::Ask {
        left_over, batches, ..
    } = player.current().next_step(&now)
    else {
        panic!("nothing is asked again");
    };
    assert_eq!(batches, []);
    for record in &left_over {
        let failure = player.current().failure(&record.consultation);
        assert_eq!(failure, Some("the judge failed"));
    }
    let asked = left_over.iter().map(|record| record.about.clone());
    assert_eq!(keys(&asked.collect::<Vec<_>>()).len(), 7);
}

#[test]
fn one_answer_of_three_is_merged() {
    let mut player = Player::new(DOCUMENT, 1, 1);
    until(&mut player, is_batch_end);
    for _ in 0..2 {
        until(&mut player, is_batch_start);
        let consultation = started(&player);
        player.record(no_answer(&consultation));
    }
    let (_, now) = player.now();
    let step = player.current().next_step(&now);
    assert_eq!(step, NextStep::Integrate { iteration: 1 });
}

#[test]
fn a_merge_that_a_dead_process_did_not_write_is_written() {
    let mut player = Player::new(DOCUMENT, 1, 1);
    until(&mut player, is_merge);
    assert_eq!(player.file, DOCUMENT);
    assert_eq!(player.current().changes().count(), 0, "it counts unwritten");
    player.resume();
    player.step();
    assert_ne!(player.file, DOCUMENT);
    player.step();
    let written = TextHash::of(&player.file);
    assert_eq!(player.current().last_written(), Some(&written));
    assert_eq!(player.state.last_written(), Some(&written));
}

#[test]
fn findings_survive_the_edit_of_a_person_before_the_merge_is_written() {
    let mut player = Player::new(DOCUMENT, 1, 1);
    until(&mut player, is_merge);
    player.record(RefinementEventKind::Stopped {
        cause: StopCause::DocumentChanged,
        message: "the document was changed".to_owned(),
    });
    player.file = DOCUMENT.replace("- Question 1?", "- Question 8?");
    let spent = player.current().spend().calls;
    player.resume();
    player.step();
    let restarted = RefinementEventKind::IterationStarted {
        iteration: 1,
        document: TextHash::of(&player.file),
    };
    assert_eq!(player.log.last().unwrap().kind, restarted);
    let (_, now) = player.now();
    let NextStep::Ask { batches, .. } = player.current().next_step(&now) else {
        panic!("the new question is not asked");
    };
    assert_eq!(keys(&batches), ["question 8"]);
    until(&mut player, is_merge);
    assert_eq!(player.current().spend().calls, spent + 4);
    player.step();
    assert!(
        player.file.contains("yes to Question 2?"),
        "{}",
        player.file
    );
    assert!(
        !player.file.contains("yes to Question 1?"),
        "{}",
        player.file
    );
}

#[test]
fn an_edit_after_a_kill_before_the_write_is_recognised() {
    let mut player = Player::new(DOCUMENT, 1, 1);
    until(&mut player, is_merge);
    player.file = DOCUMENT.replace("# Store", "# Shop");
    player.resume();
    player.step();
    until(&mut player, is_merge);
    player.play();
    assert!(player.file.contains("# Shop"), "{}", player.file);
    assert_eq!(player.current().phase, LoopPhase::Ended);
}

#[test]
fn an_extraction_without_an_answer_stops_and_is_taken_over() {
    let mut player = Player::new("# Store\n\nPlain.\n", 1, 1);
    player.step();
    let consultation = player.current().extractions[0].consultation.clone();
    player.record(RefinementEventKind::ExtractionFinished(Box::new(
        Extraction {
            consultation,
            high: Vec::new(),
            medium: Vec::new(),
            open: Vec::new(),
            spend: spend(),
            error: Some("no line is readable".to_owned()),
        },
    )));
    player.play();
    assert!(matches!(
        &player.current().phase,
        LoopPhase::Stopped {
            cause: StopCause::NoAnswer,
            ..
        }
    ));
    player.resume();
    let (_, now) = player.now();
    let left_over = Some(player.current().extractions[0].consultation.clone());
    let step = player.current().next_step(&now);
    assert_eq!(step, NextStep::Extract { left_over });
}

#[test]
fn an_extraction_of_another_text_is_of_no_use() {
    let mut player = Player::new("# Store\n\nPlain.\n", 1, 1);
    player.step();
    player.step();
    assert!(
        player
            .current()
            .extraction(&TextHash::of(&player.file))
            .is_some()
    );
    player.file = "# Store\n\nOther words.\n".to_owned();
    let (_, now) = player.now();
    let step = player.current().next_step(&now);
    assert_eq!(step, NextStep::Extract { left_over: None });
}

#[test]
fn asked_and_changed_questions_are_known() {
    let mut player = Player::new(DOCUMENT, 1, 1);
    player.play();
    let known = player.current().known_questions();
    for question in ["Question 1?", "Question 7?", "Question 9?"] {
        assert!(known.contains(&QuestionKey::of(question)), "{question}");
    }
}

#[test]
fn answers_to_extracted_questions_survive_an_edit() {
    let mut player = Player::new("# Store\n\nPlain.\n", 1, 1);
    until(&mut player, is_batch_end);
    player.file = "# Store\n\nOther words.\n".to_owned();
    let (_, now) = player.now();
    let step = player.current().next_step(&now);
    assert_eq!(step, NextStep::StartIteration { iteration: 1 });
    player.play();
    assert_eq!(player.current().extractions.len(), 1);
    let answer = "yes to Question 1?";
    assert!(player.file.contains(answer), "{}", player.file);
}

#[test]
fn next_step_takes_steps_by_the_number_of_questions() {
    let work = |questions: usize| {
        let items: Vec<String> = (0..questions)
            .map(|number| format!("- Question {number}?\n"))
            .collect();
        let items = items.concat();
        let mut player = Player::new(&format!("## Open Questions\n\n{items}"), questions, 1);
        until(&mut player, is_batch_start);
        let (_, now) = player.now();
        let _ = player.current().next_step(&now);
    };
    steps::assert_linear(work, 60, "questions");
}
