//! Filters earlier rounds for the prompts of later ones: lists are cut to their most important
//! items, the most important first.
//!
//! | round | of the synthesis | of the cross-examination |
//! |---|---|---|
//! | 2 | (it sees Round 1, whole) | |
//! | 3, experts and merging judge | 3 points of consensus by confidence, 2 tensions by severity | |
//! | 4 | the same | 5 challenges by severity, the 5 longest rebuttals: length is the best countable measure of substance |
//!
//! Always complete: every expert's own answer and position, the order of priority, unresolved
//! points, and prose that was saved because an answer could not be read. Nothing is rewritten, so
//! the result is still an artifact of its kind.
//!
//! The tokens saved are measured: the prompt is rendered both ways, and the difference counted.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use crate::domain::answer::artifact::{CrossExam, Synthesis};
use crate::domain::answer::confidence::Confidence;

use super::PromptError;
use crate::consultation::protocol::call::Prompt;

/// The amount of earlier rounds in the prompts of later ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptMaterial {
    /// The strongest points, tensions, challenges and rebuttals.
    #[default]
    Filtered,
    /// Everything.
    Whole,
}

const CONSENSUS_POINTS: usize = 3;
const TENSIONS: usize = 2;
const CHALLENGES: usize = 5;
const REBUTTALS: usize = 5;

/// A rendered prompt, with the tokens that filtering saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RenderedPrompt {
    pub prompt: Prompt,
    /// Estimated tokens saved by filtering.
    pub tokens_saved: u64,
}

impl From<Prompt> for RenderedPrompt {
    /// A prompt from which nothing is filtered.
    fn from(prompt: Prompt) -> Self {
        Self {
            prompt,
            tokens_saved: 0,
        }
    }
}

impl PromptMaterial {
    pub fn of(self, found: &Synthesis, examined: &CrossExam) -> (Synthesis, CrossExam) {
        match self {
            Self::Filtered => (synthesis(found), cross_exam(examined)),
            Self::Whole => (found.clone(), examined.clone()),
        }
    }

    /// Renders a prompt that quotes Rounds 2 and 3, and counts what filtering them saves.
    pub fn render(
        self,
        found: &Synthesis,
        examined: &CrossExam,
        render: impl Fn(&Synthesis, &CrossExam) -> Result<Prompt, PromptError>,
    ) -> Result<RenderedPrompt, PromptError> {
        let (kept_found, kept_examined) = self.of(found, examined);
        let prompt = render(&kept_found, &kept_examined)?;
        let tokens = |prompt: &Prompt| prompt.tokens().expected;
        let tokens_saved = if kept_found == *found && kept_examined == *examined {
            0
        } else {
            tokens(&render(found, examined)?).saturating_sub(tokens(&prompt))
        };
        Ok(RenderedPrompt {
            prompt,
            tokens_saved,
        })
    }
}

fn synthesis(whole: &Synthesis) -> Synthesis {
    // A point without a stated confidence comes last.
    let stated = |confidence: Option<Confidence>| confidence.map_or(-1.0, Confidence::value);
    let mut consensus_points = whole.consensus_points.clone();
    consensus_points
        .sort_by(|one, other| stated(other.confidence).total_cmp(&stated(one.confidence)));
    consensus_points.truncate(CONSENSUS_POINTS);
    let tensions = heaviest(&whole.tensions, TENSIONS, |tension| tension.severity);
    Synthesis {
        consensus_points,
        tensions,
        ..whole.clone()
    }
}

fn cross_exam(whole: &CrossExam) -> CrossExam {
    CrossExam {
        challenges: heaviest(&whole.challenges, CHALLENGES, |challenge| {
            challenge.severity
        }),
        rebuttals: heaviest(&whole.rebuttals, REBUTTALS, |rebuttal| {
            rebuttal.rebuttal.trim().chars().count()
        }),
        ..whole.clone()
    }
}

/// Items of equal weight keep their order.
fn heaviest<T: Clone, W: Ord>(items: &[T], most: usize, weight: impl Fn(&T) -> W) -> Vec<T> {
    let mut ranked = items.to_vec();
    ranked.sort_by_key(|item| Reverse(weight(item)));
    ranked.truncate(most);
    ranked
}

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    use crate::consultation::anonymity::labels::Labels;
    use crate::consultation::policy::mode::Mode;
    use crate::consultation::prompt::{Prompter, Size, Templates};
    use crate::domain::answer::artifact::{Artifact, Content, Independent, Revision};
    use crate::domain::ids::{ModelRef, SeatId};
    use crate::domain::panel::Seat;
    use crate::domain::time::Timestamp;

    use super::*;

    fn artifact<A: DeserializeOwned>(fields: Value) -> A {
        serde_json::from_value(fields).unwrap()
    }

    fn long_synthesis() -> Synthesis {
        let point = |text: &str, confidence: Option<f64>| json!({"point": text, "supporting_agents": ["one"], "confidence": confidence});
        let tension = |topic: &str, severity: &str| {
            let view = json!({"agent": "one", "viewpoint": format!("a view of {topic}")});
            json!({"topic": topic, "viewpoints": [view], "severity": severity})
        };
        artifact(json!({
            "consensus_points": [
                point("none", None),
                point("half", Some(0.5)),
                point("zero", Some(0.0)),
                point("sure", Some(0.9)),
                point("half too", Some(0.5)),
            ],
            "tensions": [
                tension("small", "low"),
                tension("middling", "medium"),
                tension("grave", "high"),
            ],
            "priority_order": ["grave", "middling", "small", "none"],
            "prose_excerpt": "All that could be kept. ".repeat(50),
        }))
    }

    fn challenge(text: &str, severity: &str) -> Value {
        json!({
            "challenger": "one",
            "target_agent": "two",
            "challenge": text,
            "evidence": ["a fact"],
            "severity": severity,
        })
    }

    fn long_cross_exam() -> CrossExam {
        let rebuttal = |text: &str| json!({"agent": "two", "rebuttal": text});
        let open_points: Vec<String> = (0..9)
            .map(|number| format!("open point {number}"))
            .collect();
        artifact(json!({
            "challenges": [
                challenge("a", "low"),
                challenge("b", "high"),
                challenge("c", "medium"),
                challenge("d", "low"),
                challenge("e", "high"),
                challenge("f", "medium"),
                challenge("g", "low"),
            ],
            "rebuttals": [
                rebuttal("no"),
                rebuttal("it holds"),
                rebuttal("yes"),
                rebuttal("because of that   "),
                rebuttal("é é é é é"),
                rebuttal("n"),
                rebuttal("      m      "),
            ],
            "unresolved": open_points,
            "positions": [position("one"), position("two")],
            "prose_excerpt": "As it was said. ".repeat(50),
        }))
    }

    fn position(agent: &str) -> Revision {
        let challenges = (0..9).map(|number| challenge(&number.to_string(), "low"));
        artifact(json!({
            "agent_id": agent,
            "challenges": challenges.collect::<Vec<_>>(),
            "revised_position": "stay",
            "changed": false,
        }))
    }

    fn own() -> Independent {
        Independent {
            agent_id: SeatId::new("one"),
            position: "stay".to_owned(),
            key_points: (0..9).map(|number| format!("key point {number}")).collect(),
            rationale: "it works".to_owned(),
            ..Independent::default()
        }
    }

    fn texts<T>(items: &[T], text: impl Fn(&T) -> &String) -> Vec<&String> {
        items.iter().map(text).collect()
    }

    #[test]
    fn synthesis_keeps_the_surest_points_and_the_gravest_tensions() {
        let (whole, kept) = (long_synthesis(), synthesis(&long_synthesis()));
        let points = texts(&kept.consensus_points, |point| &point.point);
        assert_eq!(points, ["sure", "half", "half too"]);
        let topics = texts(&kept.tensions, |tension| &tension.topic);
        assert_eq!(topics, ["grave", "middling"]);
        assert_eq!(kept.tensions[0].viewpoints, whole.tensions[2].viewpoints);
        assert_eq!(kept.priority_order, whole.priority_order);
        assert_eq!(kept.prose_excerpt, whole.prose_excerpt);
    }

    #[test]
    fn points_without_a_confidence_come_last() {
        let few = Synthesis {
            consensus_points: long_synthesis().consensus_points[..3].to_vec(),
            ..Synthesis::default()
        };
        let kept = synthesis(&few);
        let points = texts(&kept.consensus_points, |point| &point.point);
        assert_eq!(points, ["half", "zero", "none"]);
    }

    #[test]
    fn cross_exam_keeps_the_gravest_challenges_and_longest_rebuttals() {
        let (whole, kept) = (long_cross_exam(), cross_exam(&long_cross_exam()));
        let challenges = texts(&kept.challenges, |challenge| &challenge.challenge);
        assert_eq!(challenges, ["b", "e", "c", "f", "a"]);
        let rebuttals = texts(&kept.rebuttals, |rebuttal| &rebuttal.rebuttal);
        let longest = ["because of that   ", "é é é é é", "it holds", "yes", "no"];
        assert_eq!(rebuttals, longest);
        assert_eq!(kept.unresolved, whole.unresolved);
        assert_eq!(kept.positions, whole.positions);
        assert_eq!(kept.prose_excerpt, whole.prose_excerpt);
    }

    #[test]
    fn filtered_artifacts_are_valid_and_filtering_is_idempotent() {
        let (found, examined) = (synthesis(&long_synthesis()), cross_exam(&long_cross_exam()));
        assert_eq!(synthesis(&found), found);
        assert_eq!(cross_exam(&examined), examined);
        for content in [Content::Synthesis(found), Content::CrossExam(examined)] {
            let artifact = Artifact::stamp(content, Timestamp(0), false);
            let stored = serde_json::to_value(&artifact).unwrap();
            let read: Artifact = serde_json::from_value(stored).unwrap();
            assert_eq!(read, artifact);
        }
    }

    /// Returns the three prompts of later rounds, in both sizes.
    fn prompts(
        material: PromptMaterial,
        found: &Synthesis,
        examined: &CrossExam,
    ) -> Vec<RenderedPrompt> {
        let seats = ["one", "two"].map(|id| {
            let mut seat = Seat::named(id, id, ModelRef::new("p", "m"));
            "You doubt.".clone_into(&mut seat.persona.prompt);
            seat
        });
        let (templates, labels) = (Templates::builtin(), Labels::draw(&seats, 1));
        let sizes = [Size::Full, Size::Small].into_iter();
        let shown = sizes.flat_map(|size| {
            let prompter = Prompter {
                templates: &templates,
                labels: &labels,
                question: "Stay?",
                prior: None,
                context: None,
                size,
                mode: Mode::Converge,
            };
            [
                material.render(found, examined, |found, _| {
                    prompter.revision(&seats[0], &own(), found)
                }),
                material.render(found, examined, |found, _| {
                    prompter.cross_exam(&[position("one"), position("two")], found)
                }),
                material.render(found, examined, |found, examined| {
                    prompter.verdict(&[own()], found, examined)
                }),
            ]
            .map(Result::unwrap)
        });
        shown.collect()
    }

    #[test]
    fn saved_tokens_are_the_difference_to_the_whole_prompt() {
        let (found, examined) = (long_synthesis(), long_cross_exam());
        let tokens = |shown: &RenderedPrompt| shown.prompt.tokens().expected;
        for (filtered, whole) in prompts(PromptMaterial::Filtered, &found, &examined)
            .iter()
            .zip(&prompts(PromptMaterial::Whole, &found, &examined))
        {
            assert!(filtered.tokens_saved > 0);
            assert_eq!(whole.tokens_saved, 0);
            assert_eq!(tokens(filtered) + filtered.tokens_saved, tokens(whole));
            assert!(whole.prompt.task.contains("a view of small"));
            assert!(!filtered.prompt.task.contains("a view of small"));
        }
    }

    #[test]
    fn experts_see_their_whole_answer_and_the_judge_every_open_point() {
        let shown = prompts(
            PromptMaterial::Filtered,
            &long_synthesis(),
            &long_cross_exam(),
        );
        let tasks = texts(&shown, |shown| &shown.prompt.task);
        assert!(tasks[0].contains("key point 8"));
        assert!(tasks[2].contains("key point 8"));
        assert!(tasks[2].contains("open point 8"));
    }

    #[test]
    fn unfiltered_prompts_save_nothing() {
        for shown in prompts(
            PromptMaterial::Filtered,
            &Synthesis::default(),
            &CrossExam::default(),
        ) {
            assert_eq!(shown.tokens_saved, 0);
        }
    }
}
