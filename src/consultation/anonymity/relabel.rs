//! Rewrites artifacts from one set of labels to another: `Expert A` can be one seat where a text
//! was written and another where it is shown.
//!
//! Seats in separate fields need no rewriting: they are mapped back when an answer is read. Labels
//! inside sentences would name the wrong expert.

use std::ops::Range;

use crate::domain::artifact::{CrossExam, Synthesis, Verdict};

use super::labels::Labels;

/// The word before a label.
const TITLE: &str = "expert";

const BEFORE_A_LABEL: [&str; 4] = [" ", "\u{a0}", "_", "-"];

/// Separators between labels, as in `Experts A, B and C`.
const BETWEEN_LABELS: [&str; 8] = [", and ", ", or ", ", ", " and ", " or ", " & ", "/", " / "];

/// A mapping from one set of labels to another.
#[derive(Clone, Copy, Debug)]
pub struct Relabelling<'a> {
    pub from: &'a Labels,
    pub into: &'a Labels,
}

impl Relabelling<'_> {
    /// Returns a text with every label replaced.
    pub fn text(&self, text: &str) -> String {
        let lower = text.to_ascii_lowercase();
        let (mut translated, mut done) = (String::with_capacity(text.len()), 0);
        while let Some(found) = lower.get(done..).and_then(|rest| rest.find(TITLE)) {
            let (title, mut end) = (done + found, done + found + TITLE.len());
            let begins_a_word = !text
                .get(..title)
                .and_then(|before| before.chars().next_back())
                .is_some_and(char::is_alphanumeric);
            translated.push_str(text.get(done..end).unwrap_or_default());
            done = end;
            if !begins_a_word {
                continue;
            }
            if lower.get(end..).is_some_and(|rest| rest.starts_with('s')) {
                end += 1;
            }
            let mut separators = BEFORE_A_LABEL.as_slice();
            while let Some((label, letters)) = text
                .get(end..)
                .and_then(|rest| self.label(rest, separators))
            {
                let label = end + label.start..end + label.end;
                translated.push_str(text.get(done..label.start).unwrap_or_default());
                translated.push_str(&letters);
                (done, end, separators) = (label.end, label.end, BETWEEN_LABELS.as_slice());
            }
        }
        translated.push_str(text.get(done..).unwrap_or_default());
        translated
    }

    /// Returns the range of a label at the beginning of a text, after a separator, and its
    /// replacement.
    fn label(&self, text: &str, separators: &[&str]) -> Option<(Range<usize>, String)> {
        let start = separators
            .iter()
            .find(|separator| text.starts_with(**separator))?
            .len();
        let rest = text.get(start..)?;
        let length = rest
            .find(|c: char| !c.is_ascii_uppercase())
            .unwrap_or(rest.len());
        let is_whole = rest
            .get(length..)?
            .chars()
            .next()
            .is_none_or(|next| !next.is_alphanumeric());
        let seat = self
            .from
            .lettered(rest.get(..length).filter(|_| is_whole)?)?;
        Some((start..start + length, self.into.letters_of(seat)?))
    }

    fn texts(&self, texts: &mut [String]) {
        for text in texts {
            self.put(text);
        }
    }

    fn put(&self, text: &mut String) {
        *text = self.text(text);
    }

    /// Rewrites a synthesis and sorts its lists by label: the order inside a list can also bias a
    /// judge.
    pub fn synthesis(&self, mut found: Synthesis) -> Synthesis {
        for point in &mut found.consensus_points {
            self.put(&mut point.point);
            self.texts(&mut point.supporting_agents);
            self.sort(&mut point.supporting_agents, |agent| agent);
        }
        for tension in &mut found.tensions {
            self.put(&mut tension.topic);
            for view in &mut tension.viewpoints {
                self.put(&mut view.agent);
                self.put(&mut view.viewpoint);
            }
            self.sort(&mut tension.viewpoints, |view| &view.agent);
        }
        self.texts(&mut found.priority_order);
        self.put(&mut found.prose_excerpt);
        found
    }

    pub fn cross_exam(&self, mut record: CrossExam) -> CrossExam {
        let own = record.positions.iter_mut();
        let (challenges, rebuttals): (Vec<_>, Vec<_>) = own
            .map(|said| {
                self.put(&mut said.revised_position);
                for reason in &mut said.because_of {
                    self.put(&mut reason.agent);
                    self.put(&mut reason.argument);
                }
                (&mut said.challenges, &mut said.rebuttals)
            })
            .unzip();
        for raised in challenges
            .into_iter()
            .flatten()
            .chain(&mut record.challenges)
        {
            self.put(&mut raised.challenger);
            self.put(&mut raised.target_agent);
            self.put(&mut raised.challenge);
            self.texts(&mut raised.evidence);
        }
        for answer in rebuttals.into_iter().flatten().chain(&mut record.rebuttals) {
            self.put(&mut answer.agent);
            self.put(&mut answer.rebuttal);
        }
        self.texts(&mut record.unresolved);
        self.put(&mut record.prose_excerpt);
        record
    }

    pub fn verdict(&self, mut said: Verdict) -> Verdict {
        self.put(&mut said.recommendation);
        self.put(&mut said.summary);
        for ground in &mut said.evidence {
            self.put(&mut ground.claim);
            self.put(&mut ground.agent);
            self.put(&mut ground.quote);
        }
        for against in &mut said.dissent {
            self.put(&mut against.agent);
            self.put(&mut against.concern);
        }
        for choice in &mut said.recommendations {
            for text in [
                &mut choice.option,
                &mut choice.description,
                &mut choice.best_when,
            ] {
                self.put(text);
            }
            self.texts(&mut choice.pros);
            self.texts(&mut choice.cons);
        }
        said
    }

    /// Sorts items by label; names that are not on the panel come last.
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
    use crate::domain::artifact::{ConsensusPoint, Severity, Tension, Viewpoint};
    use crate::domain::ids::{ModelRef, SeatId};
    use crate::domain::panel::{Persona, Seat};

    fn labels() -> Labels {
        let seat = |id: &str| Seat {
            id: SeatId::new(id),
            persona: Persona {
                id: id.into(),
                name: id.into(),
                prompt: String::new(),
                brief: String::new(),
                aliases: Vec::new(),
            },
            model: ModelRef::new("scripted", "m"),
        };
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
        let named: Vec<String> = from.order().iter().map(ToString::to_string).collect();
        let views = named.iter().map(|agent| Viewpoint {
            agent: agent.clone(),
            viewpoint: String::new(),
        });
        let found = Synthesis {
            consensus_points: vec![ConsensusPoint {
                point: "Expert A leads".into(),
                supporting_agents: named.iter().cloned().chain(["stranger".into()]).collect(),
                confidence: None,
            }],
            tensions: vec![Tension {
                topic: "Pace".into(),
                viewpoints: views.collect(),
                severity: Severity::Low,
            }],
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
        assert_eq!(
            (views, turned.consensus_points[0].point.as_str()),
            (backwards.clone(), "Expert C leads")
        );
        backwards.push("stranger".to_owned());
        assert_eq!(turned.consensus_points[0].supporting_agents, backwards);
    }
}
