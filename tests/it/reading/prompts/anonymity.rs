//! Labels instead of names.

use conclave::consultation::anonymity::labels::Labels;
use conclave::consultation::policy::mode::Mode;
use conclave::consultation::prompt::Templates;
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::domain::ids::SeatId;

use crate::reading::panel::{labels, seats};
use crate::reading::rendered::{all_saying, answer, distinctive_seats, names, prompter, synthesis};

#[test]
fn prompts_show_other_experts_only_by_label() {
    let experts = distinctive_seats();
    for one in all_saying("Stay.") {
        let prompt = one.name();
        let text = one.prompt.text().to_lowercase();
        for other in experts
            .iter()
            .filter(|other| one.seat.as_ref().is_none_or(|seat| seat.id != other.id))
        {
            for name in names(other) {
                assert!(!text.contains(&name), "{prompt} shows `{name}`");
            }
        }
        // An expert sees its own persona, but neither its seat nor its model.
        for own in one.seat.iter().flat_map(|seat| {
            [
                seat.id.as_str(),
                seat.model.provider.as_str(),
                seat.model.model.as_str(),
            ]
        }) {
            assert!(!text.contains(own), "{prompt} shows `{own}`");
        }
        for tag in ["{{", "{%"] {
            assert!(!text.contains(tag), "{prompt}");
        }
    }
}

#[test]
fn templates_name_no_vendor_model_or_persona() {
    let vendors = [
        "anthropic",
        "openai",
        "google",
        "claude",
        "gpt",
        "gemini",
        "a seat",
        "seat_id",
        "vendor",
    ];
    let personas = ["security", "architect", "pragmati"];
    for one in all_saying("Stay.") {
        let prompt = one.name();
        let parts = [
            one.prompt.protocol.as_str(),
            &one.prompt.shared,
            &one.prompt.task,
        ];
        let text = parts.concat().to_lowercase();
        // The prompt of persona selection lists the personas.
        let personas = personas
            .iter()
            .filter(|_| one.kind != AnswerKind::PersonaSelection);
        for secret in vendors.iter().chain(personas) {
            assert!(!text.contains(secret), "{prompt} shows `{secret}`");
        }
    }
}

#[test]
fn experts_appear_in_drawn_order_and_learn_their_own_label() {
    let (templates, labels, seats) = (Templates::builtin(), labels(), seats());
    let prompter = prompter(&templates, &labels, Mode::Converge);
    let answers = [
        answer("security", "says C"),
        answer("architecture", "says B"),
        answer("pragmatic", "says A"),
    ];
    let task = prompter.synthesis(&answers).unwrap().task;
    let places: Vec<usize> = [
        "Expert A answered",
        "says A",
        "Expert B answered",
        "says B",
        "Expert C answered",
        "says C",
    ]
    .iter()
    .map(|text| task.find(text).unwrap())
    .collect();
    assert!(places.is_sorted(), "{task}");
    let task = prompter
        .revision(&seats[1], &answers[1], &synthesis(&seats, "Stay."))
        .unwrap()
        .task;
    assert!(
        task.contains("You are Expert B.") && task.contains("says B") && !task.contains("says A"),
        "{task}"
    );
    assert!(
        task.contains("[Expert C, Expert A; confidence 0.80]")
            && task.contains("a stranger: Stay."),
        "{task}"
    );
}

#[test]
fn labels_depend_only_on_the_seed() {
    assert_eq!(Labels::draw(&seats(), 3), labels());
    let expected = ["pragmatic", "architecture", "security"].map(SeatId::new);
    assert_eq!(labels().order, expected);
}
