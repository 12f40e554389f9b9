//! Every prompt that a consultation can send: of all modes, sizes, rounds and agents, with the
//! repair prompts.

use conclave::consultation::anonymity::labels::Labels;
use conclave::consultation::policy::mode::Mode;
use conclave::consultation::prompt::{Pair, PromptError, Prompter, Size, Templates};
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::Prompt;
use conclave::consultation::reading::problem::{Problem, ProblemSeverity};
use conclave::domain::answer::artifact::{CrossExam, Independent, Revision, Synthesis};
use conclave::domain::ids::{ModelRef, SeatId};
use conclave::domain::panel::{Persona, Seat};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::support::script::personas;

pub(super) const QUESTION: &str = "Should we move billing from PostgreSQL to DynamoDB?";

/// A prompt and its recipient.
pub(super) struct Rendered {
    pub(super) mode: Mode,
    pub(super) size: Size,
    pub(super) kind: AnswerKind,
    /// `None` for the judge and the helper.
    pub(super) seat: Option<Seat>,
    pub(super) is_repair: bool,
    pub(super) prompt: Prompt,
}

impl Rendered {
    /// Returns a name for failed checks.
    pub(super) fn name(&self) -> String {
        let to = self
            .seat
            .as_ref()
            .map_or("the judge or the helper", |seat| seat.id.as_str());
        let repair = if self.is_repair { ", repair" } else { "" };
        format!(
            "{:?} {:?} {} to {to}{repair}",
            self.mode,
            self.size,
            self.kind.name()
        )
    }
}

/// Returns the text of each member; the id of the judge is `judge`.
pub(super) type Words<'a> = &'a dyn Fn(&str) -> String;

/// Experts with ids, personas, vendors and models whose names occur nowhere else.
pub(super) fn distinctive_seats() -> Vec<Seat> {
    let rows = "\
        zeta-seat | quorzel | Quorzel Vant | umbrageous | xanthic | xan-opus-91
        kappa-seat | brimwick | Brimwick Doss | crepuscular | ollivander | ollie-12-sol
        psi-seat | thrandle | Thrandle Moe | lambent | gorgonzo | gorgon-7-pro";
    let seat = |row: &str| {
        let fields: Vec<&str> = row.split('|').map(str::trim).collect();
        let [id, persona, name, look, provider, model] = fields[..] else {
            panic!("{row}")
        };
        let persona = Persona {
            id: persona.to_owned(),
            name: name.to_owned(),
            prompt: format!(
                "You are {name}. You look at everything with {look} eyes.\n\n\
                 Second thoughts of {name}."
            ),
            brief: format!("You are {name}, short of {look}."),
            aliases: vec![format!("{persona}-alias")],
        };
        Seat {
            id: SeatId::new(id),
            persona,
            model: ModelRef::new(provider, model),
        }
    };
    rows.lines().map(seat).collect()
}

/// Returns everything that names an expert or its model.
pub(super) fn names(seat: &Seat) -> Vec<String> {
    let Persona {
        id,
        name,
        prompt,
        brief,
        aliases,
    } = &seat.persona;
    let first = name.split(' ').next().unwrap();
    let (_, look) = prompt.split_once("with ").unwrap();
    let (look, _) = look.split_once(' ').unwrap();
    [
        seat.id.as_str(),
        id,
        name,
        first,
        prompt,
        brief,
        look,
        seat.model.provider.as_str(),
        seat.model.model.as_str(),
    ]
    .into_iter()
    .chain(aliases.iter().map(String::as_str))
    .map(str::to_lowercase)
    .collect()
}

/// Returns every prompt of a consultation with these texts.
pub(super) fn all(templates: &Templates, seats: &[Seat], say: Words<'_>) -> Vec<Rendered> {
    let sizes = [Size::Full, Size::Small];
    Mode::ALL
        .into_iter()
        .flat_map(|mode| sizes.map(|size| (mode, size)))
        .flat_map(|(mode, size)| prompts_of(templates, seats, mode, size, say))
        .collect()
}

/// Returns every prompt of a panel with distinctive names whose members all say this.
pub(super) fn all_saying(text: &str) -> Vec<Rendered> {
    all(&Templates::builtin(), &distinctive_seats(), &|_| {
        text.to_owned()
    })
}

fn prompts_of(
    templates: &Templates,
    seats: &[Seat],
    mode: Mode,
    size: Size,
    say: Words<'_>,
) -> Vec<Rendered> {
    let labels = Labels::draw(seats, 3);
    let prompter = Prompter {
        size,
        ..prompter(templates, &labels, mode)
    };
    let (mut answers, mut revisions, mut pairs) = (Vec::new(), Vec::new(), Vec::new());
    for seat in seats {
        let (id, said) = (seat.id.as_str(), say(seat.id.as_str()));
        answers.push(answer(id, &said));
        revisions.push(revision(id, seats, &said));
        pairs.push(pair(&labels.label(&seat.id), &said));
    }
    let synthesis = synthesis(seats, &say("judge"));
    let record = cross_exam(&revisions, &say("judge"));
    let verdicts = [pair("Verdict", &say("judge"))];
    let select = prompter.persona_selection(&personas(templates), 2);
    let merge = prompter.cross_exam(&revisions, &synthesis);
    let judge = prompter.verdict(&answers, &synthesis, &record);
    let mut sent = vec![
        (AnswerKind::PersonaSelection, None, select),
        (AnswerKind::Synthesis, None, prompter.synthesis(&answers)),
        (AnswerKind::CrossExam, None, merge),
        (AnswerKind::Comparison, None, prompter.comparison(&pairs)),
        (
            AnswerKind::Consistency,
            None,
            prompter.comparison(&verdicts),
        ),
        (mode.strategy().verdict, None, judge),
    ];
    for (seat, own) in seats.iter().zip(&answers) {
        let to = || Some(seat.clone());
        sent.push((AnswerKind::Independent, to(), prompter.independent(seat)));
        let revision = prompter.revision(seat, own, &synthesis);
        sent.push((AnswerKind::Revision, to(), revision));
    }
    let problem = Problem::new(ProblemSeverity::Error, "position", "is missing or empty");
    let with_repair = |(kind, seat, prompt): (AnswerKind, Option<Seat>, Result<Prompt, _>)| {
        let prompt = prompt.unwrap_or_else(|error: PromptError| panic!("{}: {error}", kind.name()));
        let text = say(seat.as_ref().map_or("judge", |seat| seat.id.as_str()));
        let repair = prompter
            .repair(&prompt, &text, std::slice::from_ref(&problem))
            .unwrap();
        let rendered = |is_repair, prompt| Rendered {
            mode,
            size,
            kind,
            seat: seat.clone(),
            is_repair,
            prompt,
        };
        [rendered(false, prompt), rendered(true, repair)]
    };
    sent.into_iter().flat_map(with_repair).collect()
}

fn pair(label: &str, said: &str) -> Pair {
    Pair {
        label: label.to_owned(),
        before: said.to_owned(),
        after: said.to_owned(),
    }
}

fn artifact<A: DeserializeOwned>(fields: Value) -> A {
    serde_json::from_value(fields).unwrap()
}

pub(super) fn answer(id: &str, position: &str) -> Independent {
    artifact(json!({
        "agent_id": id,
        "position": position,
        "key_points": ["one point", position],
        "rationale": position,
        "confidence": 0.7,
    }))
}

/// Returns a synthesis in which the first and the last seat agree, while the second seat and an
/// unknown agent differ.
pub(super) fn synthesis(seats: &[Seat], text: &str) -> Synthesis {
    let id = |at: usize| seats[at].id.as_str();
    artifact(json!({
        "consensus_points": [{
            "point": text,
            "supporting_agents": [id(0), id(seats.len() - 1)],
            "confidence": 0.8,
        }],
        "tensions": [{
            "topic": text,
            "viewpoints": [
                {"agent": id(1), "viewpoint": text},
                {"agent": "a stranger", "viewpoint": text},
            ],
            "severity": "high",
        }],
        "priority_order": [text],
    }))
}

fn revision(id: &str, seats: &[Seat], text: &str) -> Revision {
    let other = |at: usize| seats[at].id.as_str();
    artifact(json!({
        "agent_id": id,
        "challenges": [{
            "challenger": id,
            "target_agent": other(1),
            "challenge": text,
            "evidence": [text, "a measurement"],
            "severity": "high",
        }],
        "rebuttals": [{"agent": other(2), "rebuttal": text}],
        "revised_position": text,
        "changed": true,
        "because_of": [{"agent": other(0), "argument": text}],
    }))
}

fn cross_exam(positions: &[Revision], text: &str) -> CrossExam {
    let of_all = positions.iter();
    CrossExam {
        challenges: of_all
            .clone()
            .flat_map(|of| of.challenges.clone())
            .collect(),
        rebuttals: of_all.flat_map(|of| of.rebuttals.clone()).collect(),
        unresolved: vec![text.into()],
        positions: positions.to_vec(),
        ..CrossExam::default()
    }
}

/// Returns a prompter for the full prompts of a mode.
pub(super) fn prompter<'a>(
    templates: &'a Templates,
    labels: &'a Labels,
    mode: Mode,
) -> Prompter<'a> {
    Prompter {
        templates,
        labels,
        question: QUESTION,
        prior: None,
        context: None,
        size: Size::Full,
        mode,
    }
}
