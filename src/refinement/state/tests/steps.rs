//! What a loop does next.

use crate::domain::ids::ConsultationId;
use crate::domain::steps;
use crate::refinement::batches::QuestionBatch;
use crate::refinement::event::{
    BatchFinished, BatchStarted, Extraction, RefinementEventKind, StopCause, TextHash,
};
use crate::refinement::state::{BatchRecord, LoopPhase, NextStep};
use crate::stopping::convergence::QuestionKey;

use super::player::{DOCUMENT, Player, next_step, spend};

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

/// What is taken over and asked next.
fn asked(player: &Player) -> (Vec<&BatchRecord>, Vec<QuestionBatch>) {
    match next_step(player) {
        NextStep::Ask {
            left_over, batches, ..
        } => (left_over, batches),
        other => panic!("nothing is asked: {other:?}"),
    }
}

fn plain() -> Player {
    Player::new("# Store\n\nPlain.\n", 1, 1)
}

/// Plays until the first consultation about questions has begun.
fn asking() -> Player {
    let mut player = Player::new(DOCUMENT, 1, 1);
    until(&mut player, is_batch_start);
    player
}

/// Plays until the first iteration is merged.
fn merged() -> Player {
    let mut player = Player::new(DOCUMENT, 1, 1);
    until(&mut player, is_merge);
    player
}

fn stopped(cause: StopCause) -> RefinementEventKind {
    let message = "stopped".to_owned();
    RefinementEventKind::Stopped { cause, message }
}

fn started(player: &Player) -> ConsultationId {
    let batches = &player.current().open_iteration().unwrap().batches;
    batches.last().unwrap().consultation.clone()
}

#[test]
fn questions_of_an_iteration_are_asked_once() {
    let player = asking();
    let (_, batches) = asked(&player);
    let expected = ["question 4", "question 5", "question 6", "question 7"];
    assert_eq!(keys(&batches), expected);
}

#[test]
fn a_consultation_of_a_dead_process_is_taken_over() {
    let mut player = asking();
    let id = started(&player);
    player.resume();
    assert_eq!(asked(&player).0[0].consultation, id);
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
    let mut player = asking();
    let consultation = started(&player);
    player.record(RefinementEventKind::ConsultationCutOff {
        consultation: consultation.clone(),
        spend: spend(),
    });
    player.record(stopped(StopCause::Interrupt));
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
    let (left_over, batches) = asked(&player);
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
    assert_eq!(next_step(&player), NextStep::Integrate { iteration: 1 });
    player.step();
    let RefinementEventKind::Integrated(merge) = &player.log.last().unwrap().kind else {
        panic!("{:?}", player.log.last());
    };
    assert_eq!(merge.measure.unanswered, 4, "they are not unchanged");
}

#[test]
fn a_merge_that_a_dead_process_did_not_write_is_written() {
    let mut player = merged();
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
    let mut player = merged();
    player.record(stopped(StopCause::DocumentChanged));
    player.file = DOCUMENT.replace("- Question 1?", "- Question 8?");
    let spent = player.current().spend().calls;
    player.resume();
    player.step();
    let restarted = RefinementEventKind::IterationStarted {
        iteration: 1,
        document: TextHash::of(&player.file),
    };
    assert_eq!(player.log.last().unwrap().kind, restarted);
    assert_eq!(keys(&asked(&player).1), ["question 8"]);
    until(&mut player, is_merge);
    assert_eq!(player.current().spend().calls, spent + 4);
    player.step();
    let file = &player.file;
    assert!(file.contains("yes to Question 2?"), "{file}");
    assert!(!file.contains("yes to Question 1?"), "{file}");
}

#[test]
fn an_edit_after_a_kill_before_the_write_is_recognised() {
    let mut player = merged();
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
    let mut player = plain();
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
    let phase = &player.current().phase;
    let is_stopped = |cause| matches!(phase, LoopPhase::Stopped { cause: of, .. } if *of == cause);
    assert!(is_stopped(StopCause::NoAnswer), "{phase:?}");
    player.resume();
    let left_over = Some(player.current().extractions[0].consultation.clone());
    assert_eq!(next_step(&player), NextStep::Extract { left_over });
}

#[test]
fn an_extraction_of_another_text_is_of_no_use() {
    let mut player = plain();
    player.step();
    player.step();
    let of_text = TextHash::of(&player.file);
    assert!(player.current().extraction(&of_text).is_some());
    player.file = "# Store\n\nOther words.\n".to_owned();
    assert_eq!(next_step(&player), NextStep::Extract { left_over: None });
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
    let mut player = plain();
    until(&mut player, is_batch_end);
    player.file = "# Store\n\nOther words.\n".to_owned();
    let expected = NextStep::StartIteration { iteration: 1 };
    assert_eq!(next_step(&player), expected);
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
        let _ = next_step(&player);
    };
    steps::assert_linear(work, 60, "questions");
}
