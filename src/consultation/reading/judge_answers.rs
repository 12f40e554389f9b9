//! Reads the judge's answers: synthesis, cross-examination and verdict.

use crate::domain::artifact::{
    ConsensusPoint, CrossExam, Dissent, Evidence, Synthesis, Tension, Verdict, Viewpoint,
};

use super::agents::{agent, agents};
use super::fields::{self, Fields};
use super::reader::Reader;
use super::text::optional;
use super::values::{confidence, severity};

/// The confidence below which a verdict must state dissent.
const DOUBT: f64 = 0.70;

impl Reader<'_> {
    pub(super) fn synthesis(&mut self, fields: &mut Fields) -> Synthesis {
        let points = fields.take(fields::CONSENSUS_POINTS, &mut self.notes);
        let tensions = fields.take(fields::TENSIONS, &mut self.notes);
        if points.is_none() && tensions.is_none() {
            self.notes
                .fatal("", "there is neither `consensus_points` nor `tensions`");
        }
        Synthesis {
            consensus_points: self.each(
                points,
                fields,
                fields::CONSENSUS_POINTS,
                fields::POINT,
                Self::consensus_point,
            ),
            tensions: self.each(
                tensions,
                fields,
                fields::TENSIONS,
                fields::TOPIC,
                Self::tension,
            ),
            priority_order: self.texts(fields, fields::PRIORITY_ORDER),
            prose_excerpt: String::new(),
        }
    }

    fn consensus_point(&mut self, mut item: Fields) -> Option<ConsensusPoint> {
        let supporting_agents = item.take(fields::SUPPORTING_AGENTS, &mut self.notes);
        let stated = item.take(fields::CONFIDENCE, &mut self.notes);
        let point = self.main(&mut item, fields::POINT)?;
        let at = item.at(fields::SUPPORTING_AGENTS);
        let supporting_agents = agents(supporting_agents, &at, self.labels, &mut self.notes);
        let known = |agent: &String| self.labels.resolve(agent).is_some();
        if supporting_agents.len() == 1
            && supporting_agents.iter().all(known)
            && self.labels.order().len() > 1
        {
            self.notes.flagged(at, "one expert alone is no consensus");
        }
        let confidence = confidence(stated, &item.at(fields::CONFIDENCE), &mut self.notes);
        item.end(&mut self.notes);
        Some(ConsensusPoint {
            point,
            supporting_agents,
            confidence,
        })
    }

    fn tension(&mut self, mut item: Fields) -> Option<Tension> {
        let views = item.take(fields::VIEWPOINTS, &mut self.notes);
        let weight = item.take(fields::SEVERITY, &mut self.notes);
        let topic = self.main(&mut item, fields::TOPIC)?;
        let viewpoints = self.each_by_agent(
            views,
            &item,
            fields::VIEWPOINTS,
            fields::VIEWPOINT,
            |agent, viewpoint| Viewpoint { agent, viewpoint },
        );
        let severity = severity(weight, &item.at(fields::SEVERITY), &mut self.notes);
        item.end(&mut self.notes);
        Some(Tension {
            topic,
            viewpoints,
            severity,
        })
    }

    pub(super) fn cross_exam(&mut self, fields: &mut Fields) -> CrossExam {
        let challenges = fields.take(fields::CHALLENGES, &mut self.notes);
        let challenges = self.each(
            challenges,
            fields,
            fields::CHALLENGES,
            fields::CHALLENGE,
            |reader, item| reader.challenge(item, None),
        );
        let rebuttals = self.rebuttals(fields);
        let unresolved = self.texts(fields, fields::UNRESOLVED);
        CrossExam {
            challenges,
            rebuttals,
            unresolved,
            positions: Vec::new(),
            prose_excerpt: String::new(),
        }
    }

    pub(super) fn verdict(&mut self, fields: &mut Fields) -> Verdict {
        let recommendation = self.essential(fields, fields::RECOMMENDATION);
        let summary = self.optional(fields, fields::SUMMARY);
        let (evidence, dissent) = self.grounds(fields);
        let stated = fields.take(fields::CONFIDENCE, &mut self.notes);
        let confidence = confidence(stated, &fields.at(fields::CONFIDENCE), &mut self.notes);
        if dissent.is_empty() && confidence.is_some_and(|stated| stated.value() < DOUBT) {
            self.notes
                .flagged("dissent", "is empty although the confidence is below 0.70");
        }
        Verdict {
            recommendation,
            confidence,
            evidence,
            dissent,
            summary,
            recommendations: Vec::new(),
            composed_from: None,
        }
    }

    /// Reads the evidence for a verdict and the remaining dissent.
    pub(super) fn grounds(&mut self, fields: &mut Fields) -> (Vec<Evidence>, Vec<Dissent>) {
        let evidence = fields
            .take(fields::EVIDENCE, &mut self.notes)
            .map(|value| self.by_agent(value, "evidence", fields::CLAIM));
        let evidence = self.each(
            evidence,
            fields,
            fields::EVIDENCE,
            fields::CLAIM,
            Self::evidence,
        );
        let dissent = fields
            .take(fields::DISSENT, &mut self.notes)
            .map(|value| self.by_agent(value, "dissent", fields::CONCERN));
        let dissent = self.each(
            dissent,
            fields,
            fields::DISSENT,
            fields::CONCERN,
            Self::dissent,
        );
        (evidence, dissent)
    }

    fn evidence(&mut self, mut item: Fields) -> Option<Evidence> {
        let from = item.take(fields::AGENT, &mut self.notes);
        let quote = item.take(fields::QUOTE, &mut self.notes);
        let claim = self.main(&mut item, fields::CLAIM)?;
        let agent = agent(from, &item.at(fields::AGENT), self.labels, &mut self.notes);
        let quote = optional(quote, &item.at(fields::QUOTE), &mut self.notes);
        item.end(&mut self.notes);
        Some(Evidence {
            claim,
            agent,
            quote,
        })
    }

    fn dissent(&mut self, mut item: Fields) -> Option<Dissent> {
        let from = item.take(fields::AGENT, &mut self.notes);
        let weight = item.take(fields::SEVERITY, &mut self.notes);
        let concern = self.main(&mut item, fields::CONCERN)?;
        let agent = agent(from, &item.at(fields::AGENT), self.labels, &mut self.notes);
        let severity = severity(weight, &item.at(fields::SEVERITY), &mut self.notes);
        item.end(&mut self.notes);
        Some(Dissent {
            agent,
            concern,
            severity,
        })
    }
}
