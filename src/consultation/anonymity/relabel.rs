//! Rewrites artifacts from one set of labels to another: `Expert A` can be one seat where a text
//! was written and another where it is shown.
//!
//! Seats in separate fields need no rewriting: they are mapped back when an answer is read. Labels
//! inside sentences would name the wrong expert.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::domain::answer::artifact::Synthesis;

use super::labels::Labels;
use super::mentions::mentions;
use super::texts::edit_texts;

/// A mapping from one set of labels to another.
#[derive(Clone, Copy, Debug)]
pub struct Relabelling<'a> {
    pub from: &'a Labels,
    pub into: &'a Labels,
}

impl Relabelling<'_> {
    pub fn text(&self, text: &str) -> String {
        let (mut relabelled, mut done) = (String::with_capacity(text.len()), 0);
        let mentions = mentions(text, self.from);
        for (letters, seat) in mentions.into_iter().flat_map(|mention| mention.labels) {
            relabelled.push_str(text.get(done..letters.start).unwrap_or_default());
            relabelled.push_str(&self.into.letters_of(seat).unwrap_or_default());
            done = letters.end;
        }
        relabelled.push_str(text.get(done..).unwrap_or_default());
        relabelled
    }

    /// Sorts its lists by label too: the order inside a list can also bias a judge.
    pub fn synthesis(&self, synthesis: Synthesis) -> Synthesis {
        let mut synthesis = self.rewrite(synthesis);
        for point in &mut synthesis.consensus_points {
            self.sort(&mut point.supporting_agents, |agent| agent);
        }
        for tension in &mut synthesis.tensions {
            self.sort(&mut tension.viewpoints, |view| &view.agent);
        }
        synthesis
    }

    pub fn rewrite<T: Serialize + DeserializeOwned>(&self, mut answer: T) -> T {
        edit_texts(&mut answer, &mut |text| *text = self.text(text));
        answer
    }

    /// Names that are not on the panel come last.
    fn sort<T>(&self, items: &mut [T], agent: impl Fn(&T) -> &String) {
        items.sort_by_key(|item| {
            self.into
                .resolve(agent(item))
                .map_or(usize::MAX, |seat| self.into.rank(&seat))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::answer::artifact::{ConsensusPoint, Tension, Viewpoint};
    use crate::domain::ids::ModelRef;
    use crate::domain::panel::Seat;

    fn labels() -> Labels {
        let seat = |id| Seat::named(id, id, ModelRef::new("scripted", "m"));
        Labels::draw(&["one", "two", "three"].map(seat), 7)
    }

    fn reversed(text: &str) -> String {
        let (from, into) = (labels(), labels().reversed());
        Relabelling {
            from: &from,
            into: &into,
        }
        .text(text)
    }

    #[test]
    fn a_label_inside_a_sentence_still_names_the_same_expert() {
        for (said, becomes) in [
            ("Expert A is right.", "Expert C is right."),
            (
                "As expert_C said, **Expert B** and Expert A's view",
                "As expert_A said, **Expert B** and Expert C's view",
            ),
            (
                "Experts A and C; experts A, B, and C",
                "Experts C and A; experts C, B, and A",
            ),
            ("EXPERT A/B", "EXPERT C/B"),
            ("Expert A", "Expert C"),
            ("專家 Expert A。", "專家 Expert C。"),
        ] {
            assert_eq!(reversed(said), becomes);
            assert_eq!(reversed(becomes), said, "and back");
        }
    }

    #[test]
    fn other_text_stays_unchanged() {
        for text in [
            "",
            "Plan A",
            "an expert Apple user",
            "Expert D",
            "the expert a panel needs",
            "Inexpert A",
            "expertise A",
            "Expert  A",
            "Expert",
        ] {
            assert_eq!(reversed(text), text);
        }
    }

    #[test]
    fn the_order_of_names_is_reversed() {
        let (from, into) = (labels(), labels().reversed());
        let named: Vec<String> = from.order.iter().map(ToString::to_string).collect();
        let views = named.iter().map(|agent| Viewpoint {
            agent: agent.clone(),
            viewpoint: String::new(),
        });
        let point = ConsensusPoint {
            point: "Expert A leads".into(),
            supporting_agents: named.iter().cloned().chain(["stranger".into()]).collect(),
            ..ConsensusPoint::default()
        };
        let tension = Tension {
            viewpoints: views.collect(),
            ..Tension::default()
        };
        let found = Synthesis {
            consensus_points: vec![point],
            tensions: vec![tension],
            ..Synthesis::default()
        };
        let turned = Relabelling {
            from: &from,
            into: &into,
        }
        .synthesis(found);
        let mut backwards: Vec<String> = named.iter().rev().cloned().collect();
        let views: Vec<String> = turned.tensions[0]
            .viewpoints
            .iter()
            .map(|view| view.agent.clone())
            .collect();
        let expected = (backwards.clone(), "Expert C leads");
        assert_eq!((views, turned.consensus_points[0].point.as_str()), expected);
        backwards.push("stranger".to_owned());
        assert_eq!(turned.consensus_points[0].supporting_agents, backwards);
    }
}
