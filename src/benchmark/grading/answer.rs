//! The answer of a consultation, and the answers that its experts and stages gave on the way.

use crate::benchmark::matching::{AnswerKey, FinalAnswer};
use crate::benchmark::result::{ExpertResult, GradedAnswer, StageResults};
use crate::domain::answer::artifact::{Independent, Revision};
use crate::domain::answer::confidence::Confidence;
use crate::domain::cost::money::Cost;
use crate::domain::ids::{AgentId, ModelRef, SeatId};
use crate::domain::record::stored_record::{Completion, StoredAgent, StoredRecord};
use crate::stopping::share;

use crate::consultation::analysis::final_text::FinalText;
use crate::consultation::transcript::no_answer::{NoAnswer, no_answer};

/// The answer of a consultation, compared with a case's expected ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConsultationAnswer {
    /// The whole text that states it, for a grader.
    pub text: String,
    /// `None` if a model decides; see [`Self::decide`].
    pub answer: Option<GradedAnswer>,
    /// The confidence that the answer states, from 0 to 1.
    pub confidence: Option<f64>,
    /// The calibrated probability that the panel's leading point is right.
    pub calibrated: Option<f64>,
    /// The share of the experts that support the leading point, from 0 to 1. After one round, the
    /// share that gave the answer; `None` for a single expert.
    pub agreement: Option<f64>,
    /// Whether the consultation ended after Round 2 because the experts agree.
    pub early_termination: bool,
    /// The estimated cost that an early stop saved.
    pub saved: Option<Cost>,
    /// Whether a model of demonstration quality stated the confidence.
    pub demonstration: bool,
    pub stages: StageResults,
    pub experts: Vec<ExpertResult>,
}

impl ConsultationAnswer {
    /// The decision says nothing of the stages before the answer.
    pub fn decide(&mut self, is_right: bool) {
        self.answer = Some(GradedAnswer {
            text: self.text.clone(),
            is_right,
            error_rate: None,
        });
        self.stages.verdict = Some(is_right);
    }
}

/// The reason if it has none.
pub fn grade(key: &AnswerKey, record: &StoredRecord) -> Result<ConsultationAnswer, NoAnswer> {
    if record.completion() != Completion::Completed {
        return Err(no_answer(record));
    }
    let agents = record.agents.iter();
    let experts = agents.filter_map(|agent| Expert::read(key, record, agent));
    let experts: Vec<Expert<'_>> = experts.collect();
    let held = experts.iter().filter(|expert| expert.first.is_some());
    let held: Vec<&Expert<'_>> = held.collect();
    let votes: Vec<Option<&FinalAnswer>> =
        held.iter().map(|expert| expert.before.as_ref()).collect();
    let final_text = if record.is_judged() {
        FinalText::of_judge(record).map(|text| (text, None))
    } else {
        of_first_round(key, &held, &votes)
    };
    let Some((text, agreement)) = final_text else {
        return Err(no_answer(record));
    };
    let answer = key.grade_with(text.text, text.more);
    Ok(ConsultationAnswer {
        stages: StageResults {
            vote: vote(key, &votes),
            synthesis: synthesis(key, record),
            revised_vote: revised_vote(key, &experts),
            verdict: answer.as_ref().map(|answer| answer.is_right),
        },
        text: text.text.to_owned(),
        answer,
        confidence: text.confidence.map(Confidence::value),
        calibrated: record.calibrated_confidence,
        agreement: record.agreement.or(agreement),
        early_termination: record.early_termination,
        saved: record.cost_saved(),
        demonstration: text.is_demonstration(),
        experts: experts.iter().map(|expert| expert.result(key)).collect(),
    })
}

/// Returns the answer of the only expert, or the one that most experts gave, the first seat's among
/// equals, with the share that gave it. Without a comparable answer, the first expert's words.
fn of_first_round<'a>(
    key: &AnswerKey,
    held: &[&Expert<'a>],
    votes: &[Option<&FinalAnswer>],
) -> Option<(FinalText<'a>, Option<f64>)> {
    let majority = plurality(key, votes);
    let speaker = held.get(majority.first().copied().unwrap_or_default())?;
    let agreement = share(majority.len() as u64, held.len() as u64);
    let agreement = agreement.filter(|_| held.len() > 1 && !majority.is_empty());
    let text = FinalText::of_expert(speaker.first?, speaker.model.clone());
    Some((text, agreement))
}

/// An expert with its answers.
struct Expert<'a> {
    seat: &'a SeatId,
    model: ModelRef,
    cost: Option<Cost>,
    first: Option<&'a Independent>,
    before: Option<FinalAnswer>,
    revision: Option<&'a Revision>,
    /// Its last answer; that of Round 1 without a revision.
    after: Option<FinalAnswer>,
}

impl<'a> Expert<'a> {
    fn read(key: &AnswerKey, record: &'a StoredRecord, agent: &'a StoredAgent) -> Option<Self> {
        let first = record.independent(&agent.id);
        let before = first.and_then(|held| key.extract_with(&held.position, &held.rationale));
        let revisions = record.positions_of_round_3();
        let mut revisions = revisions.into_iter();
        let revision = revisions.find(|revision| revision.agent_id == agent.id);
        let stated = revision.and_then(|revision| key.extract(&revision.revised_position));
        // "I keep my position" states no answer, but means the first one.
        let stands = revision.is_none_or(|revision| revision.changed != Some(true));
        Some(Self {
            seat: &agent.id,
            model: model(record, agent)?,
            cost: record.cost_of(Some(1), Some(&AgentId::from(&agent.id))),
            first,
            after: stated.or_else(|| before.clone().filter(|_| stands)),
            before,
            revision,
        })
    }

    fn result(&self, key: &AnswerKey) -> ExpertResult {
        let (stated, revision) = (self.first.and_then(|held| held.confidence), self.revision);
        ExpertResult {
            seat: self.seat.clone(),
            model: self.model.clone(),
            before: self.first.and_then(|_| is_right(key, self.before.as_ref())),
            after: revision.and_then(|_| is_right(key, self.after.as_ref())),
            confidence: stated.map(Confidence::value),
            cost: self.cost,
        }
    }
}

/// Words without a comparable answer are wrong. `None` if a model decides.
fn is_right(key: &AnswerKey, answer: Option<&FinalAnswer>) -> Option<bool> {
    match answer {
        Some(answer) => key.is_right(answer),
        None => (!key.needs_grader()).then_some(false),
    }
}

fn model(record: &StoredRecord, agent: &StoredAgent) -> Option<ModelRef> {
    let called = record.agent_rounds().find_map(|(round, work)| {
        let is_meant = round == 1 && work.agent_id.seat() == Some(&agent.id);
        work.model.clone().filter(|_| is_meant)
    });
    called.or_else(|| record.model_of(agent))
}

/// Returns the places of the answer that was given most often, the first one's among equals.
fn plurality(key: &AnswerKey, answers: &[Option<&FinalAnswer>]) -> Vec<usize> {
    let mut groups: Vec<(&FinalAnswer, Vec<usize>)> = Vec::new();
    for (place, answer) in answers.iter().enumerate() {
        let Some(answer) = answer else {
            continue;
        };
        match groups.iter_mut().find(|(of, _)| key.is_same(of, answer)) {
            Some((_, places)) => places.push(place),
            None => groups.push((answer, vec![place])),
        }
    }
    // Of equals, the last is the greatest.
    let groups = groups.into_iter().rev();
    let largest = groups.max_by_key(|(_, places)| places.len());
    largest.map(|(_, places)| places).unwrap_or_default()
}

/// Whether the answer with the most votes is right. Votes without a comparable answer do not
/// count; if there is no other, the vote is wrong. `None` without votes, or if a model decides.
fn vote(key: &AnswerKey, votes: &[Option<&FinalAnswer>]) -> Option<bool> {
    if votes.is_empty() {
        return None;
    }
    let place = plurality(key, votes).first().copied();
    let answer = place.and_then(|place| votes.get(place).copied().flatten());
    is_right(key, answer)
}

/// `None` if Round 3 was not held.
fn revised_vote(key: &AnswerKey, experts: &[Expert<'_>]) -> Option<bool> {
    if experts.iter().all(|expert| expert.revision.is_none()) {
        return None;
    }
    let is_voter = |expert: &&Expert<'_>| expert.first.is_some() || expert.revision.is_some();
    let voters = experts.iter().filter(is_voter);
    let after: Vec<Option<&FinalAnswer>> = voters.map(|expert| expert.after.as_ref()).collect();
    vote(key, &after)
}

/// Whether the leading point of Round 2 is right, which the calibrated probability speaks of, or the
/// judge's own words if it only gave prose. `None` if there is neither, or if it states no answer:
/// the judge is asked for points of agreement there, and not for an answer.
fn synthesis(key: &AnswerKey, record: &StoredRecord) -> Option<bool> {
    let synthesis = record.synthesis()?;
    let point = synthesis.leading().map(|point| &point.point);
    let text = point.unwrap_or(&synthesis.prose_excerpt);
    if text.trim().is_empty() {
        return None;
    }
    key.extract(text).and_then(|answer| key.is_right(&answer))
}
