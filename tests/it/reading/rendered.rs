//! Every prompt that a consultation can send: of all modes, sizes, rounds and agents, with the
//! repair prompts.

use conclave::consultation::anonymity::labels::Labels;
use conclave::consultation::policy::mode::Mode;
use conclave::consultation::prompt::{Pair, Prompter, Size, Templates};
use conclave::consultation::protocol::answer::AnswerKind;
use conclave::consultation::protocol::call::Prompt;
use conclave::consultation::reading::problem::{Problem, ProblemSeverity};
use conclave::domain::artifact::{
    Because, Challenge, ConsensusPoint, CrossExam, Independent, Rebuttal, Revision, Severity,
    Synthesis, Tension, Viewpoint,
};
use conclave::domain::confidence::Confidence;
use conclave::domain::ids::{ModelRef, SeatId};
use conclave::domain::panel::{Persona, Seat};

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
    let seat =
        |id: &str, persona: &str, name: &str, look: &str, provider: &str, model: &str| Seat {
            id: SeatId::new(id),
            persona: Persona {
                id: persona.to_owned(),
                name: name.to_owned(),
                prompt: format!(
                    "You are {name}. You look at everything with {look} eyes.\n\n\
                     Second thoughts of {name}."
                ),
                brief: format!("You are {name}, short of {look}."),
                aliases: vec![format!("{persona}-alias")],
            },
            model: ModelRef::new(provider, model),
        };
    vec![
        seat(
            "zeta-seat",
            "quorzel",
            "Quorzel Vant",
            "umbrageous",
            "xanthic",
            "xan-opus-91",
        ),
        seat(
            "kappa-seat",
            "brimwick",
            "Brimwick Doss",
            "crepuscular",
            "ollivander",
            "ollie-12-sol",
        ),
        seat(
            "psi-seat",
            "thrandle",
            "Thrandle Moe",
            "lambent",
            "gorgonzo",
            "gorgon-7-pro",
        ),
    ]
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
    let look = prompt
        .split_once("with ")
        .unwrap()
        .1
        .split_once(' ')
        .unwrap()
        .0;
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
        templates,
        labels: &labels,
        question: QUESTION,
        prior: None,
        context: None,
        size,
        mode,
    };
    let answers: Vec<Independent> = seats
        .iter()
        .map(|seat| answer(seat.id.as_str(), &say(seat.id.as_str())))
        .collect();
    let revisions: Vec<Revision> = seats
        .iter()
        .map(|seat| revision(seat.id.as_str(), seats, &say(seat.id.as_str())))
        .collect();
    let (synthesis_answer, record) = (
        synthesis(seats, &say("judge")),
        cross_exam(&revisions, &say("judge")),
    );
    let pairs = seats.iter().map(|seat| Pair {
        label: labels.label(&seat.id),
        before: say(seat.id.as_str()),
        after: say(seat.id.as_str()),
    });
    let pairs: Vec<Pair> = pairs.collect();
    let mut sent = vec![
        (
            AnswerKind::PersonaSelection,
            None,
            prompter.persona_selection(&personas(templates), 2),
        ),
        (AnswerKind::Synthesis, None, prompter.synthesis(&answers)),
        (
            AnswerKind::CrossExam,
            None,
            prompter.cross_exam(&revisions, &synthesis_answer),
        ),
        (AnswerKind::Comparison, None, prompter.comparison(&pairs)),
        (
            AnswerKind::Consistency,
            None,
            prompter.comparison(&[Pair {
                label: "Verdict".into(),
                before: say("judge"),
                after: say("judge"),
            }]),
        ),
        (
            mode.strategy().verdict,
            None,
            prompter.verdict(&answers, &synthesis_answer, &record),
        ),
    ];
    for (seat, own) in seats.iter().zip(&answers) {
        sent.push((
            AnswerKind::Independent,
            Some(seat.clone()),
            prompter.independent(seat),
        ));
        sent.push((
            AnswerKind::Revision,
            Some(seat.clone()),
            prompter.revision(seat, own, &synthesis_answer),
        ));
    }
    let problem = Problem::new(ProblemSeverity::Error, "position", "is missing or empty");
    let with_repair = |(kind, seat, prompt): (AnswerKind, Option<Seat>, Result<Prompt, _>)| {
        let prompt: Prompt =
            prompt.unwrap_or_else(|error: conclave::consultation::prompt::PromptError| {
                panic!("{}: {error}", kind.name())
            });
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

pub(super) fn answer(id: &str, position: &str) -> Independent {
    Independent {
        agent_id: SeatId::new(id),
        position: position.into(),
        key_points: vec!["one point".into(), position.into()],
        rationale: position.into(),
        confidence: Confidence::new(0.7),
        prose_excerpt: String::new(),
        findings: None,
    }
}

/// Returns a synthesis in which the first and the last seat agree, while the second seat and an
/// unknown agent differ.
pub(super) fn synthesis(seats: &[Seat], text: &str) -> Synthesis {
    let id = |at: usize| seats[at].id.as_str().to_owned();
    let view = |agent: String| Viewpoint {
        agent,
        viewpoint: text.into(),
    };
    Synthesis {
        consensus_points: vec![ConsensusPoint {
            point: text.into(),
            supporting_agents: vec![id(0), id(seats.len() - 1)],
            confidence: Confidence::new(0.8),
        }],
        tensions: vec![Tension {
            topic: text.into(),
            viewpoints: vec![view(id(1)), view("a stranger".into())],
            severity: Severity::High,
        }],
        priority_order: vec![text.into()],
        prose_excerpt: String::new(),
        findings: None,
    }
}

fn revision(id: &str, seats: &[Seat], text: &str) -> Revision {
    let other = |at: usize| seats[at].id.as_str().to_owned();
    Revision {
        agent_id: SeatId::new(id),
        challenges: vec![Challenge {
            challenger: id.into(),
            target_agent: other(1),
            challenge: text.into(),
            evidence: vec![text.into(), "a measurement".into()],
            severity: Severity::High,
        }],
        rebuttals: vec![Rebuttal {
            agent: other(2),
            rebuttal: text.into(),
        }],
        revised_position: text.into(),
        revised_confidence: None,
        changed: Some(true),
        because_of: vec![Because {
            agent: other(0),
            argument: text.into(),
        }],
    }
}

fn cross_exam(positions: &[Revision], text: &str) -> CrossExam {
    CrossExam {
        challenges: positions
            .iter()
            .flat_map(|position| position.challenges.clone())
            .collect(),
        rebuttals: positions
            .iter()
            .flat_map(|position| position.rebuttals.clone())
            .collect(),
        unresolved: vec![text.into()],
        positions: positions.to_vec(),
        prose_excerpt: String::new(),
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
