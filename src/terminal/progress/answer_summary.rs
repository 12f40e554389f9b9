//! What an agent's answer brings, in a few lines: who and when, then its main point. Pure.

use console::{measure_text_width, truncate_str};

use crate::consultation::anonymity::labels::Labels;
use crate::consultation::anonymity::names::with_names;
use crate::consultation::anonymity::texts::edit_texts;
use crate::domain::answer::artifact::{
    Artifact, Content, CrossExam, Independent, Revision, Synthesis,
};
use crate::domain::answer::confidence::Confidence;
use crate::domain::ids::AgentId;

use crate::terminal::markdown::plain::plain;
use crate::terminal::output::format::count;
use crate::terminal::output::style::Paint;
use crate::terminal::output::wrap::{cut_line, fitted_row, wrap_options};

/// The width of the lines in a pipe or a log.
const USUAL_WIDTH: usize = 120;

/// An answer in a few words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AnswerSummary {
    pub(super) agent: AgentId,
    /// The most important first.
    facts: Vec<String>,
    /// Empty where the answer is shown elsewhere.
    point: String,
}

impl AnswerSummary {
    /// Summarizes an answer with the names of the experts instead of their labels. `name` returns
    /// the name of a seat. `None` for answers that people do not read.
    pub(super) fn new(
        artifact: &Artifact,
        labels: Option<&Labels>,
        name: &dyn Fn(&str) -> String,
    ) -> Option<Self> {
        let mut content = artifact.content.clone();
        if let Some(labels) = labels {
            edit_texts(&mut content, &mut |text| *text = with_names(text, labels));
        }
        match &content {
            Content::Independent(answer) => Some(Self::of_independent(answer)),
            Content::Synthesis(synthesis) => Some(Self::of_synthesis(synthesis, name)),
            Content::Revision(revision) => Some(Self::of_revision(revision)),
            Content::CrossExam(record) => Some(Self::of_cross_exam(record)),
            // The report says the rest of it.
            Content::Verdict(verdict) => Some(Self {
                agent: AgentId::Judge,
                facts: if verdict.is_menu() {
                    vec![count(verdict.recommendations.len(), "option")]
                } else {
                    in_percent(verdict.confidence)
                },
                point: String::new(),
            }),
            Content::Comparison(_) | Content::PersonaSelection(_) => None,
        }
    }

    fn of_independent(answer: &Independent) -> Self {
        let texts = [&answer.position, &answer.prose_excerpt, &answer.rationale];
        let texts = texts.map(|text| plain(text));
        Self {
            agent: AgentId::from(&answer.agent_id),
            facts: in_percent(answer.confidence),
            point: texts
                .into_iter()
                .find(|text| !text.is_empty())
                .unwrap_or_default(),
        }
    }

    fn of_synthesis(synthesis: &Synthesis, name: &dyn Fn(&str) -> String) -> Self {
        let prose = &synthesis.prose_excerpt;
        let tensions = number_of(synthesis.tensions.len(), "open tension", prose);
        let point = match (synthesis.leading(), synthesis.tensions.first()) {
            (Some(leading), _) => {
                let supporters = leading.supporting_agents.iter();
                let names: Vec<String> = supporters.map(|agent| name(agent)).collect();
                let text = plain(&leading.point);
                let confidence = in_percent(leading.confidence).pop();
                let confidence = confidence.map(|percent| format!(" ({percent})"));
                let confidence = confidence.unwrap_or_default();
                // The point matters more than a third name, which would push it off the line.
                let by = match names.len() {
                    0 => String::new(),
                    1 | 2 => format!(" by {}", names.join(", ")),
                    number => format!(" by {number} experts"),
                };
                format!("Agreed{by}{confidence}: {text}")
            }
            (None, Some(tension)) => format!("Open: {}", plain(&tension.topic)),
            (None, None) => plain(&synthesis.prose_excerpt),
        };
        Self {
            agent: AgentId::Judge,
            facts: tensions.into_iter().collect(),
            point,
        }
    }

    /// Whether it changed its mind is not known before the comparison.
    fn of_revision(revision: &Revision) -> Self {
        Self {
            agent: AgentId::from(&revision.agent_id),
            facts: in_percent(revision.revised_confidence),
            point: plain(&revision.revised_position),
        }
    }

    fn of_cross_exam(record: &CrossExam) -> Self {
        let open = number_of(record.unresolved.len(), "open point", &record.prose_excerpt);
        let point = match record.unresolved.first() {
            Some(unresolved) => format!("Open: {}", plain(unresolved)),
            None => plain(&record.prose_excerpt),
        };
        Self {
            agent: AgentId::Judge,
            facts: open.into_iter().collect(),
            point,
        }
    }

    /// Returns the lines, narrower than the terminal: `✔ Security Expert  8.2s · 82%` with the facts
    /// that fit, and the point in two lines at most.
    pub(super) fn lines(&self, name: &str, took: &str, width: usize, paint: Paint) -> Vec<String> {
        let width = width.saturating_sub(1).max(8);
        let head = format!("{} {}  ", paint.green("✔"), paint.bold(name));
        let room = width.saturating_sub(measure_text_width(&head));
        let all = self.facts(took);
        // The time says the least.
        let row = if self.facts.is_empty() || measure_text_width(&all) <= room {
            all
        } else {
            fitted_row(&self.facts, room)
        };
        let title = head + &row;
        let mut lines = vec![truncate_str(title.trim_end(), width, "…").into_owned()];
        let room = width.saturating_sub(2);
        let wrapped = textwrap::wrap(&self.point, wrap_options(room + 1, &self.point));
        if let Some((first, rest)) = wrapped.split_first()
            && !first.is_empty()
        {
            lines.push(format!("  {first}"));
            if !rest.is_empty() {
                lines.push(format!("  {}", cut_line(&rest.join(" "), room)));
            }
        }
        lines
    }

    /// For a pipe or a log: `✅ Security Expert completed (8.2s) · 82%`, and the point.
    pub(super) fn plain_lines(&self, name: &str, took: &str) -> Vec<String> {
        let facts = self.facts(&format!("({took})"));
        let mut lines = vec![format!("✅ {name} completed {facts}")];
        if !self.point.is_empty() {
            lines.push(format!("  {}", cut_line(&self.point, USUAL_WIDTH - 2)));
        }
        lines
    }

    fn facts(&self, took: &str) -> String {
        [&[took.to_owned()], self.facts.as_slice()]
            .concat()
            .join(" · ")
    }
}

/// Counts what a judge leaves open. Of an answer that could be read only as prose, nothing is
/// known.
fn number_of(number: usize, what: &str, prose: &str) -> Option<String> {
    match number {
        0 if !prose.is_empty() => None,
        0 => Some(format!("no {what}")),
        number => Some(count(number, what)),
    }
}

fn in_percent(confidence: Option<Confidence>) -> Vec<String> {
    confidence.iter().map(ToString::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::answer::artifact::{Because, ConsensusPoint, Severity, Tension};
    use crate::domain::ids::{ModelRef, SeatId};
    use crate::domain::panel::Seat;
    use crate::domain::time::Timestamp;

    const POSITION: &str = "Use **OAuth 2.1** with PKCE; JWT only as the access-token format, \
        never as a session. Rotate refresh tokens on every use. Keep the lifetime below ten minutes \
        where a token cannot be revoked.";

    fn seats() -> Vec<Seat> {
        let seat = |(id, name)| Seat::named(id, name, ModelRef::new("scripted", "m"));
        [
            ("security", "Security Expert"),
            ("architecture", "Architect"),
        ]
        .map(seat)
        .to_vec()
    }

    fn summary(content: Content) -> AnswerSummary {
        let seats = seats();
        let order: Vec<SeatId> = seats.iter().map(|seat| seat.id.clone()).collect();
        let labels = Labels::in_order(&order, &seats).unwrap();
        let name = |agent: &str| {
            let seat = seats.iter().find(|seat| seat.id.as_str() == agent);
            seat.map_or_else(|| agent.to_owned(), |seat| seat.name().to_owned())
        };
        let artifact = Artifact::stamp(content, Timestamp(0), false);
        AnswerSummary::new(&artifact, Some(&labels), &name).unwrap()
    }

    fn shown(content: Content, name: &str, width: usize) -> String {
        let lines = summary(content).lines(name, "8.2s", width, Paint::PLAIN);
        for line in &lines {
            assert!(measure_text_width(line) < width, "{width}: {line}");
        }
        assert!(lines.len() <= 3, "{lines:?}");
        lines.join("\n")
    }

    fn independent(position: &str) -> Content {
        Content::Independent(Independent {
            agent_id: SeatId::new("security"),
            position: position.to_owned(),
            confidence: Confidence::new(0.82),
            ..Independent::default()
        })
    }

    fn revision(changed: Option<bool>) -> Content {
        Content::Revision(Revision {
            agent_id: SeatId::new("architecture"),
            changed,
            revised_position: "Opaque tokens, as Expert A says.".to_owned(),
            revised_confidence: Confidence::new(0.7),
            because_of: vec![Because {
                agent: "security".to_owned(),
                argument: "A signed token cannot be revoked, which Expert A showed.".to_owned(),
            }],
            ..Revision::default()
        })
    }

    #[test]
    fn position_is_shown_in_two_lines_below_the_name() {
        let at = |width| shown(independent(POSITION), "Security Expert", width);
        insta::assert_snapshot!(at(50), @r"
        ✔ Security Expert  8.2s · 82%
          Use OAuth 2.1 with PKCE; JWT only as the
          access-token format, never as a session.…
        ");
        insta::assert_snapshot!(at(80), @r"
        ✔ Security Expert  8.2s · 82%
          Use OAuth 2.1 with PKCE; JWT only as the access-token format, never as a
          session. Rotate refresh tokens on every use. Keep the lifetime below ten…
        ");
        let piped = summary(independent(POSITION));
        let piped = piped.plain_lines("Security Expert", "8.2s");
        assert_eq!(piped.len(), 2, "{piped:?}");
    }

    #[test]
    fn synthesis_shows_the_strongest_agreement_and_counts_tensions() {
        let point = |point: &str, confidence| ConsensusPoint {
            point: point.to_owned(),
            supporting_agents: vec!["security".to_owned(), "architecture".to_owned()],
            confidence: Confidence::new(confidence),
        };
        let tension = Tension {
            topic: "Token lifetime".to_owned(),
            viewpoints: vec![],
            severity: Severity::High,
        };
        let synthesis = Synthesis {
            consensus_points: vec![
                point("Log every use.", 0.6),
                point("PKCE, as Expert B says.", 0.9),
            ],
            tensions: vec![tension.clone(), tension],
            ..Synthesis::default()
        };
        insta::assert_snapshot!(shown(Content::Synthesis(synthesis.clone()), "Judge", 100), @r"
        ✔ Judge  8.2s · 2 open tensions
          Agreed by Security Expert, Architect (90%): PKCE, as Architect says.
        ");
        let mut by_three = synthesis.clone();
        by_three.consensus_points[1]
            .supporting_agents
            .push("pragmatic".to_owned());
        insta::assert_snapshot!(shown(Content::Synthesis(by_three), "Judge", 100), @r"
        ✔ Judge  8.2s · 2 open tensions
          Agreed by 3 experts (90%): PKCE, as Architect says.
        ");
        let apart = Synthesis {
            consensus_points: vec![],
            ..synthesis
        };
        insta::assert_snapshot!(shown(Content::Synthesis(apart), "Judge", 50), @r"
        ✔ Judge  8.2s · 2 open tensions
          Open: Token lifetime
        ");
    }

    #[test]
    fn judges_prose_is_not_said_to_leave_nothing_open() {
        let synthesis = Synthesis {
            prose_excerpt: "They mostly agree.".to_owned(),
            ..Synthesis::default()
        };
        insta::assert_snapshot!(shown(Content::Synthesis(synthesis), "Judge", 100), @r"
        ✔ Judge  8.2s
          They mostly agree.
        ");
        let record = CrossExam {
            prose_excerpt: "It stays open.".to_owned(),
            ..CrossExam::default()
        };
        insta::assert_snapshot!(shown(Content::CrossExam(record), "Judge", 100), @r"
        ✔ Judge  8.2s
          It stays open.
        ");
    }

    #[test]
    fn revision_says_nothing_of_a_change_that_was_not_compared() {
        for changed in [Some(true), Some(false), None] {
            insta::allow_duplicates! {
                insta::assert_snapshot!(shown(revision(changed), "Architect", 80), @r"
                ✔ Architect  8.2s · 70%
                  Opaque tokens, as Security Expert says.
                ");
            }
        }
        // What does not fit is left out.
        insta::assert_snapshot!(shown(revision(None), "A very long name", 30), @r"
        ✔ A very long name  70%
          Opaque tokens, as Security
          Expert says.
        ");
    }

    #[test]
    fn hostile_text_stays_on_its_line() {
        let hostile = "# Use\u{1b}[2J it\n\n✔ Judge  faked\n```\nopen\n```\n";
        let shown = shown(independent(hostile), "Security Expert", 120);
        assert_eq!(shown.lines().count(), 2);
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
    }

    #[test]
    fn text_without_blanks_is_cut_between_characters() {
        let text = "長い答えはどこで切ればよいのでしょうか".repeat(6);
        shown(independent(&text), "Security Expert", 50);
    }
}
