//! The panel and the other terms of a consultation.

use conclave::consultation::event::Started;
use conclave::consultation::prompt::PromptUsed;
use conclave::domain::ids::{ModelRef, SeatId};
use conclave::domain::panel::{Panel, Persona, Seat};
use fastrand::Rng;

use super::{Length, text};

/// Provider, model, and the price of a thousand tokens in micro-dollars; `None` if it is unknown.
pub(super) const MODELS: [(&str, &str, Option<u64>); 9] = [
    ("anthropic", "claude-sonnet-5-5", Some(9_000)),
    ("anthropic", "claude-haiku-4-5", Some(1_500)),
    ("openai", "gpt-6.1-sol", Some(7_000)),
    ("google", "gemini-3-pro", Some(4_000)),
    ("google", "gemini-3.8-flash", Some(700)),
    ("mistral", "mistral-large", Some(3_000)),
    ("openrouter", "vendor/name:free", None),
    ("local", "qwen3-0.6b", Some(0)),
    ("xai", "grok-4.7", Some(5_000)),
];

const PERSONAS: [(&str, &str); 5] = [
    ("security", "Security Expert"),
    ("architecture", "Architect"),
    ("pragmatic", "Pragmatist"),
    ("performance", "Performance Engineer"),
    ("user", "User Advocate"),
];

/// Draws a model.
pub(super) fn model(rng: &mut Rng) -> ModelRef {
    let (provider, model, _) = MODELS[rng.usize(..MODELS.len())];
    ModelRef::new(provider, model)
}

/// Draws a panel and the other terms of a consultation.
pub(super) fn terms(rng: &mut Rng, mode: &str, length: Length) -> Started {
    let seats = if length == Length::Short {
        rng.usize(1..3)
    } else {
        rng.usize(2..5)
    };
    // One in twenty panels has only the embedded model.
    let local = rng.u8(..20) == 0;
    let draw = |rng: &mut Rng| {
        if local {
            ModelRef::new("local", "qwen3-0.6b")
        } else {
            model(rng)
        }
    };
    let first = rng.usize(..PERSONAS.len());
    let seats: Vec<Seat> = (0..seats)
        .map(|nth| {
            let (id, name) = PERSONAS[(first + nth) % PERSONAS.len()];
            let persona = Persona {
                id: id.to_owned(),
                name: name.to_owned(),
                prompt: String::new(),
                brief: String::new(),
                aliases: Vec::new(),
            };
            Seat {
                id: SeatId::new(id),
                persona,
                model: draw(rng),
            }
        })
        .collect();
    let panel = Panel {
        seats,
        judges: vec![draw(rng), draw(rng)],
    };
    let prompt = |kind: &str| PromptUsed {
        name: format!("{mode}/{kind}"),
        version: "v1.0".to_owned(),
        sha256: "ab".repeat(32),
    };
    Started {
        question: text::question(rng),
        mode: mode.to_owned(),
        expert_order: panel
            .seats
            .iter()
            .rev()
            .map(|seat| seat.id.clone())
            .collect(),
        panel,
        seed: rng.u64(..1 << 53),
        prompts: [
            "independent",
            "synthesis",
            "revision",
            "cross_exam",
            "verdict",
        ]
        .map(prompt)
        .into(),
        tool_version: "0.1.0".to_owned(),
        notices: vec![],
        plan: None,
    }
}
