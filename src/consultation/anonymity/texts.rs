//! The texts of answers in which a model can name the experts. Answers of Round 1 have none: no
//! expert has seen another one.

use crate::domain::artifact::{
    Challenge, Comparison, Content, CrossExam, Rebuttal, Revision, Synthesis, Verdict,
};

/// An answer whose texts can be edited in place, the names of agents included.
pub trait EditTexts {
    fn edit_texts(&mut self, edit: &mut dyn FnMut(&mut String));
}

impl EditTexts for Content {
    fn edit_texts(&mut self, edit: &mut dyn FnMut(&mut String)) {
        match self {
            Self::Independent(_) | Self::PersonaSelection(_) => {}
            Self::Synthesis(synthesis) => synthesis.edit_texts(edit),
            Self::Revision(revision) => revision.edit_texts(edit),
            Self::CrossExam(cross_exam) => cross_exam.edit_texts(edit),
            Self::Verdict(verdict) => verdict.edit_texts(edit),
            Self::Comparison(comparison) => comparison.edit_texts(edit),
        }
    }
}

impl EditTexts for Synthesis {
    fn edit_texts(&mut self, edit: &mut dyn FnMut(&mut String)) {
        for point in &mut self.consensus_points {
            edit(&mut point.point);
            point.supporting_agents.iter_mut().for_each(&mut *edit);
        }
        for tension in &mut self.tensions {
            edit(&mut tension.topic);
            for view in &mut tension.viewpoints {
                edit(&mut view.agent);
                edit(&mut view.viewpoint);
            }
        }
        self.priority_order.iter_mut().for_each(&mut *edit);
        edit(&mut self.prose_excerpt);
        if let Some(findings) = &mut self.findings {
            findings.edit_texts(edit);
        }
    }
}

impl EditTexts for Revision {
    fn edit_texts(&mut self, edit: &mut dyn FnMut(&mut String)) {
        edit(&mut self.revised_position);
        for because in &mut self.because_of {
            edit(&mut because.agent);
            edit(&mut because.argument);
        }
        edit_exchange(&mut self.challenges, &mut self.rebuttals, edit);
    }
}

impl EditTexts for CrossExam {
    fn edit_texts(&mut self, edit: &mut dyn FnMut(&mut String)) {
        for position in &mut self.positions {
            position.edit_texts(edit);
        }
        edit_exchange(&mut self.challenges, &mut self.rebuttals, edit);
        self.unresolved.iter_mut().for_each(&mut *edit);
        edit(&mut self.prose_excerpt);
    }
}

fn edit_exchange(
    challenges: &mut [Challenge],
    rebuttals: &mut [Rebuttal],
    edit: &mut dyn FnMut(&mut String),
) {
    for challenge in challenges {
        edit(&mut challenge.challenger);
        edit(&mut challenge.target_agent);
        edit(&mut challenge.challenge);
        challenge.evidence.iter_mut().for_each(&mut *edit);
    }
    for rebuttal in rebuttals {
        edit(&mut rebuttal.agent);
        edit(&mut rebuttal.rebuttal);
    }
}

impl EditTexts for Verdict {
    fn edit_texts(&mut self, edit: &mut dyn FnMut(&mut String)) {
        edit(&mut self.recommendation);
        edit(&mut self.summary);
        for evidence in &mut self.evidence {
            edit(&mut evidence.claim);
            edit(&mut evidence.agent);
            edit(&mut evidence.quote);
        }
        for dissent in &mut self.dissent {
            edit(&mut dissent.agent);
            edit(&mut dissent.concern);
        }
        for choice in &mut self.recommendations {
            edit(&mut choice.option);
            edit(&mut choice.description);
            edit(&mut choice.best_when);
            choice.pros.iter_mut().for_each(&mut *edit);
            choice.cons.iter_mut().for_each(&mut *edit);
        }
        if let Some(findings) = &mut self.findings {
            findings.edit_texts(edit);
        }
    }
}

impl EditTexts for Comparison {
    fn edit_texts(&mut self, edit: &mut dyn FnMut(&mut String)) {
        for pair in &mut self.comparisons {
            edit(&mut pair.reasoning);
        }
        self.key_insights.iter_mut().for_each(&mut *edit);
    }
}
