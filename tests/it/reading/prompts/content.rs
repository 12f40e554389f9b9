//! What each prompt contains.

use std::collections::BTreeSet;

use conclave::consultation::policy::mode::Mode;
use conclave::consultation::prompt::{Prompter, Size, Templates};
use conclave::consultation::protocol::answer::{AnswerForm, AnswerKind};
use conclave::consultation::protocol::call::Prompt;
use conclave::consultation::reading::keep_prose;
use conclave::consultation::reading::problem::{Problem, ProblemSeverity};
use conclave::domain::answer::artifact::Content;
use conclave::domain::ids::AgentId;
use serde_json::Value;

use crate::reading::panel::{labels, seats};
use crate::reading::rendered::{QUESTION, all_saying, answer, prompter};

fn modes_and_sizes() -> impl Iterator<Item = (Mode, Size)> {
    let modes = Mode::ALL.into_iter();
    modes.flat_map(|mode| [(mode, Size::Full), (mode, Size::Small)])
}

#[test]
fn every_mode_and_size_has_a_prompt_for_every_answer_kind() {
    let rendered_kinds: BTreeSet<(Mode, Size, AnswerKind)> = all_saying("Stay.")
        .iter()
        .map(|one| (one.mode, one.size, one.kind))
        .collect();
    for (mode, size) in modes_and_sizes() {
        let kinds: Vec<AnswerKind> = AnswerKind::ALL
            .into_iter()
            .filter(|kind| rendered_kinds.contains(&(mode, size, *kind)))
            .collect();
        let expected = AnswerKind::ALL.len() - 1;
        assert_eq!(kinds.len(), expected, "{mode:?} {size:?}: {kinds:?}");
        assert!(kinds.contains(&mode.strategy().verdict), "{mode:?}");
    }
}

#[test]
fn every_prompt_contains_the_question_and_the_experts_persona() {
    for one in all_saying("Stay.") {
        let prompt = one.name();
        assert_eq!(one.prompt.shared.matches(QUESTION).count(), 1, "{prompt}");
        let persona = one.seat.as_ref().map(|seat| match one.size {
            Size::Full => seat.persona.prompt.clone(),
            Size::Small => seat.persona.brief.clone(),
        });
        let expected = persona.unwrap_or_default();
        assert_eq!(one.prompt.persona, expected, "{prompt}");
        assert!(one.prompt.text().contains(&one.prompt.persona), "{prompt}");
    }
}

fn properties(schema: &Value, names: &mut Vec<String>) {
    if let Some(members) = schema.get("properties").and_then(Value::as_object) {
        names.extend(members.keys().cloned());
        members
            .values()
            .for_each(|member| properties(member, names));
    }
    if let Some(items) = schema.get("items") {
        properties(items, names);
    }
}

#[test]
fn every_protocol_asks_for_json_and_names_every_schema_field() {
    for one in all_saying("Stay.") {
        let prompt = one.name();
        assert!(one.prompt.protocol.contains("JSON object"), "{prompt}");
        let mut names = Vec::new();
        properties(&one.kind.schema(AnswerForm::Plain), &mut names);
        for name in names {
            assert!(
                one.prompt.protocol.contains(&format!("\"{name}\"")),
                "{prompt} does not say what `{name}` is"
            );
        }
    }
}

#[test]
fn stable_prompt_parts_do_not_depend_on_answers() {
    let others = all_saying("Move, and soon.");
    for (one, other) in all_saying("Stay.").iter().zip(&others) {
        let prompt = one.name();
        let stable = |prompt: &Prompt| {
            [&prompt.protocol, &prompt.shared, &prompt.persona].map(String::clone)
        };
        assert_eq!(stable(&one.prompt), stable(&other.prompt), "{prompt}");
    }
}

#[test]
fn prose_answer_is_shown_as_prose() {
    let (templates, labels) = (Templates::builtin(), labels());
    let prompter = prompter(&templates, &labels, Mode::Converge);
    let prose = |kind, text| keep_prose(kind, text, &AgentId::from("security"));
    let Content::Independent(own) = prose(AnswerKind::Independent, "I say: stay.") else {
        panic!()
    };
    let Content::Synthesis(synthesis) = prose(AnswerKind::Synthesis, "They agree, mostly.") else {
        panic!()
    };
    let Content::CrossExam(record) = prose(AnswerKind::CrossExam, "No objection stood.") else {
        panic!()
    };
    let task = prompter.verdict(&[own], &synthesis, &record).unwrap().task;
    for prose in [
        "\nI say: stay.\n",
        "\nThey agree, mostly.\n",
        "\nNo objection stood.\n",
    ] {
        assert!(task.contains(prose), "{task}");
    }
    assert!(
        !task.contains("- none") && !task.contains("Position:"),
        "{task}"
    );
}

#[test]
fn repair_prompt_adds_the_answer_and_its_problems() {
    let (templates, labels) = (Templates::builtin(), labels());
    let prompter = prompter(&templates, &labels, Mode::Converge);
    let original = prompter.independent(&seats()[0]).unwrap();
    let problem = Problem::new(ProblemSeverity::Error, "position", "is missing or empty");
    let repair = prompter
        .repair(&original, "I would stay.", &[problem])
        .unwrap();
    assert!(repair.task.starts_with(&original.task));
    assert!(repair.text().contains(QUESTION));
    for part in ["- position: is missing or empty", "\nI would stay.\n"] {
        assert!(repair.task.contains(part), "{}", repair.task);
    }
    assert_eq!(repair.persona, original.persona);
    assert_eq!(repair.protocol, original.protocol);
    let repair = prompter
        .repair(&original, "{\"position\": \"I wou", &[Problem::cut_off()])
        .unwrap();
    assert!(
        !repair.task.contains("I wou") && repair.task.contains("cut off"),
        "{}",
        repair.task
    );
    let repair = prompter
        .repair(&original, "I'm sorry, no.", &[Problem::refusal()])
        .unwrap();
    assert!(
        !repair.task.contains("sorry") && repair.task.contains("Give your answer now"),
        "{}",
        repair.task
    );
}

#[test]
fn single_expert_is_not_asked_for_agreement() {
    let (templates, labels) = (Templates::builtin(), labels());
    for (mode, size) in modes_and_sizes() {
        let prompter = Prompter {
            size,
            ..prompter(&templates, &labels, mode)
        };
        let alone = prompter.synthesis(&[answer("security", "Stay.")]).unwrap();
        assert!(alone.protocol.contains("Only one expert answered"));
    }
}
