//! A running consultation of any process, followed by its journal, for a page. Pure.

use crate::consultation::event::{AgentEvent, ConsultationEvent, Envelope, Event, RoundEvent};
use crate::consultation::transcript::Transcript;
use crate::domain::ids::AgentId;
use crate::domain::time::Timestamp;

use super::facts::RunFacts;
use super::live_view::LiveView;
use super::messages::time_in_run;
use crate::terminal::document::{Line, Part, Table};
use crate::terminal::output::format::seconds;
use crate::terminal::report::running_parts;
use crate::text::clean::one_line;

/// What the events tell so far.
#[derive(Debug)]
pub struct FollowedRun {
    facts: RunFacts,
    view: LiveView,
    /// `None` before the first event.
    transcript: Option<Transcript>,
    /// The agents of this round.
    seats: Vec<AskedSeat>,
    pub has_ended: bool,
}

/// An agent that was asked.
#[derive(Debug)]
struct AskedSeat {
    agent: AgentId,
    name: String,
    model: String,
    /// With the time that it took.
    answered: Option<String>,
}

impl Default for FollowedRun {
    fn default() -> Self {
        Self {
            facts: RunFacts::default(),
            view: LiveView::of_journal(),
            transcript: None,
            seats: Vec::new(),
            has_ended: false,
        }
    }
}

impl FollowedRun {
    pub fn learn(&mut self, envelope: &Envelope) {
        match &mut self.transcript {
            Some(transcript) => transcript.take(envelope),
            None => self.transcript = Transcript::fold([envelope]),
        }
        self.facts.learn(envelope);
        let elapsed = self.facts.elapsed(envelope.at);
        self.view.leave_out(self.facts.waited_for_person);
        self.view.follow(&envelope.event, elapsed);
        match &envelope.event {
            Event::Round(RoundEvent::Started { .. }) => {
                let view = &self.view;
                self.seats
                    .retain(|seat| view.activity(&seat.agent, elapsed).is_some());
            }
            Event::Agent(AgentEvent::Thinking {
                agent_id,
                name,
                model,
                ..
            }) => {
                self.seats.retain(|seat| seat.agent != *agent_id);
                self.seats.push(AskedSeat {
                    agent: agent_id.clone(),
                    name: one_line(name),
                    model: model.model.clone(),
                    answered: None,
                });
            }
            Event::Agent(AgentEvent::Completed {
                agent_id,
                duration_ms,
                ..
            }) => {
                let mut seats = self.seats.iter_mut();
                if let Some(seat) = seats.find(|seat| seat.agent == *agent_id) {
                    seat.answered = Some(seconds(time_in_run(*duration_ms, elapsed)));
                }
            }
            Event::Consultation(
                ConsultationEvent::Completed { .. } | ConsultationEvent::Aborted(_),
            ) => self.has_ended = true,
            Event::Consultation(ConsultationEvent::Resumed(_)) => self.has_ended = false,
            _ => {}
        }
    }

    /// Empty before the first event.
    pub fn question(&self) -> &str {
        let transcript = self.transcript.as_ref();
        transcript.map_or("", |transcript| &transcript.terms.question)
    }

    /// The round, who has answered, the time, and the cost beside the estimate.
    pub fn words(&self, now: Timestamp) -> String {
        let asked = self.seats.len();
        let answered = self.seats.iter().filter(|seat| seat.answered.is_some());
        let words = self.view.run_words(now.since(self.facts.started_at));
        match asked {
            0 | 1 => words,
            _ => format!("{words} · {} of {asked} answered", answered.count()),
        }
    }

    pub fn page(&self, now: Timestamp) -> Vec<Part> {
        let Some(transcript) = &self.transcript else {
            return Vec::new();
        };
        let since_start = now.since(self.facts.started_at);
        let seats = self.seats.iter().map(|seat| {
            let activity = || self.view.activity(&seat.agent, since_start);
            let answered = seat.answered.as_ref();
            let [model, doing] = answered
                .map(|took| [seat.model.clone(), format!("answered in {took}")])
                .or_else(activity)
                .unwrap_or_else(|| [seat.model.clone(), "-".to_owned()]);
            vec![seat.name.clone(), model, doing]
        });
        let seats = Table::of(3, &["Seat", "Model", "Now"], seats);
        let words = Part::Paragraph(Line::from(self.words(now)));
        let progress = std::iter::once(words).chain(seats);
        running_parts(&transcript.stored_record(), progress)
    }
}
