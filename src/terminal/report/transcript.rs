//! The report of a consultation from its transcript, finished or not.

use std::fmt::Write as _;

use crate::consultation::event::{PanelSelection, StateName};
use crate::consultation::transcript::Transcript;
use crate::consultation::transcript::summary::{Concern, Status};
use crate::domain::artifact::{Revision, Source};
use crate::domain::ids::AgentId;
use crate::domain::panel::Seat;
use crate::domain::stored_record::StoredPersonaSelection;

use super::{debate_value, second_verdict, sections};
use crate::terminal::markdown::escape::{block, inline};
use crate::terminal::output::format::{
    LOCAL_QUALITY, amount, calibrated_words, model_address, model_name, seat_name, seconds,
    thousands,
};

/// Writes the report of a consultation, finished or not.
pub fn report(transcript: &Transcript) -> String {
    let mut sections = Vec::new();
    sections.extend(status_notice(transcript));
    sections.push("# Consultation Summary".to_owned());
    sections.push(head(transcript));
    sections.extend(
        transcript
            .second_pass
            .as_ref()
            .and_then(second_verdict::doubt),
    );
    sections.push(consensus(transcript));
    sections.extend(evidence(transcript));
    sections.extend(perspectives(transcript));
    sections.extend(changes(transcript));
    sections.extend(concerns(transcript));
    sections.extend(dissent(transcript));
    sections.extend(debate_value::section(
        &transcript.debate_value(),
        &|agent| name(transcript, agent),
    ));
    sections.push(format!("---\n{}", foot(transcript)));
    sections.join("\n\n") + "\n"
}

/// The notice above everything else: how the result falls short of the panel.
fn status_notice(transcript: &Transcript) -> Option<String> {
    let mut notice = match transcript.status() {
        Status::Complete => return None,
        Status::Degraded => {
            "> ⚠️ **Degraded result:** this is less than the panel promised.".to_owned()
        }
        Status::Aborted => match &transcript.abort {
            Some(abort) => format!(
                "> 🛑 **Aborted in {}:** {}",
                abort.during,
                inline(&abort.message)
            ),
            None => "> 🛑 **Aborted**".to_owned(),
        },
        Status::Incomplete => {
            format!(
                "> 🛑 **Incomplete:** the log ends in {}; the consultation was interrupted or is \
                 still running.",
                transcript.state
            )
        }
    };
    if transcript.status() != Status::Degraded {
        notice.push_str("\n>\n> The finished part follows. It is not a verdict.");
    }
    let degradations = transcript.degradations();
    if !degradations.is_empty() {
        notice.push_str("\n>");
    }
    for degradation in degradations {
        let _ = write!(notice, "\n> - {}", inline(&degradation));
    }
    Some(notice)
}

fn head(transcript: &Transcript) -> String {
    let question = sections::question(&transcript.terms.question);
    let confidence = sections::confidence_of(transcript.verdict(), transcript.confidence());
    let panel = &transcript.terms.panel;
    let seats: Vec<String> = panel
        .seats
        .iter()
        .map(|seat| format!("{} ({})", seat_name(panel, seat), transcript.player(seat)))
        .collect();
    let local = panel
        .seats
        .iter()
        .any(|seat| transcript.player(seat).provider.is_local());
    let quality = if local {
        format!(" — {LOCAL_QUALITY}")
    } else {
        String::new()
    };
    let calibrated = calibrated(transcript).unwrap_or_default();
    let prior = transcript
        .terms
        .plan
        .as_ref()
        .and_then(|plan| plan.debate.prior_answers.as_ref());
    let rejudged = prior
        .map(|prior| {
            second_verdict::rejudged_line(prior.from.as_str(), transcript.rejudged.as_ref())
        })
        .unwrap_or_default();
    let twice = transcript
        .second_pass
        .as_ref()
        .map(|second| second_verdict::line(second, transcript.judge()))
        .unwrap_or_default();
    let selection = transcript.persona_selection.clone();
    let selection = selection.map(
        |PanelSelection {
             task_type,
             reason,
             chosen_by,
             notes,
             ..
         }| StoredPersonaSelection {
            task_type,
            reason,
            chosen_by,
            notes,
        },
    );
    let selection = selection
        .as_ref()
        .map(sections::personas)
        .unwrap_or_default();
    format!(
        "{question}\n**Confidence:** {confidence}  \n{calibrated}{twice}{rejudged}**Judge:** {}  \n\
         **Panel:** {}{quality}{selection}{}",
        inline(&judge(transcript)),
        inline(&seats.join(", ")),
        served(transcript)
    )
}

/// Returns the calibrated probability of an answer composed from the synthesis. A verdict of the
/// judge has none.
fn calibrated(transcript: &Transcript) -> Option<String> {
    transcript
        .verdict()
        .filter(|verdict| verdict.composed_from == Some(Source::Synthesis))?;
    Some(format!(
        "**Calibrated:** {}  \n",
        calibrated_words(&transcript.calibrated()?)
    ))
}

/// Lists the models that other models answered for.
fn served(transcript: &Transcript) -> String {
    let items = transcript.served_otherwise();
    let items: Vec<String> = items
        .into_iter()
        .map(|(asked, served)| format!("{asked} was answered by {served}"))
        .collect();
    if items.is_empty() {
        String::new()
    } else {
        format!("  \n**Served:** {}", inline(&items.join(", ")))
    }
}

/// Names the judge, or says why there is no verdict.
fn judge(transcript: &Transcript) -> String {
    let (Some(judge), Some(first)) = (transcript.judge(), transcript.terms.panel.judges.first())
    else {
        return "none".to_owned();
    };
    let calls = || {
        transcript
            .calls
            .iter()
            .filter(|call| call.agent_id == AgentId::Judge)
    };
    let judge_name = model_address(judge);
    if calls().next().is_none() {
        format!("{judge_name} (was not asked)")
    } else if calls().all(|call| call.error.is_some()) {
        format!("{judge_name} (gave no answer)")
    } else if judge != first {
        format!("{judge_name}, taking over from {first}")
    } else {
        judge_name
    }
}

fn consensus(transcript: &Transcript) -> String {
    match transcript.verdict() {
        Some(verdict) => sections::verdict(verdict),
        None => format!("## Consensus\n\n{}", without_verdict(transcript)),
    }
}

/// Returns what is shown without a verdict: the points of agreement, or a pointer to the positions.
fn without_verdict(transcript: &Transcript) -> String {
    let why = if transcript.state == StateName::Complete {
        "No verdict was asked for"
    } else {
        "No verdict was reached"
    };
    let Some(synthesis) = transcript.synthesis() else {
        return match transcript.independents().next() {
            Some(_) => format!("_{why}: the positions stand side by side below._"),
            None => format!("_{why}, and no expert has answered._"),
        };
    };
    let mut text = format!("_{why}. The judge's points of agreement from Round 2:_");
    if !synthesis.prose_excerpt.trim().is_empty() {
        let _ = write!(text, "\n\n{}", block(&synthesis.prose_excerpt));
    }
    let mut separator = "\n\n";
    for point in &synthesis.consensus_points {
        let stated = point
            .confidence
            .map(|confidence| format!(" ({confidence})"))
            .unwrap_or_default();
        let _ = write!(text, "{separator}- {}{stated}", inline(&point.point));
        separator = "\n";
    }
    text
}

fn evidence(transcript: &Transcript) -> Option<String> {
    sections::evidence(&transcript.verdict()?.evidence, &|agent| {
        name(transcript, agent)
    })
}

fn perspectives(transcript: &Transcript) -> Option<String> {
    let seats = transcript.terms.panel.seats.iter();
    let items: Vec<String> = seats
        .filter_map(|seat| perspective(transcript, seat))
        .collect();
    (!items.is_empty()).then(|| format!("## Agent Perspectives\n\n{}", items.join("\n\n")))
}

/// One expert's own answer, or the reason why there is none; `None` for a seat that was never
/// asked.
fn perspective(transcript: &Transcript, seat: &Seat) -> Option<String> {
    let panel = &transcript.terms.panel;
    let heading = format!(
        "### {} ({})",
        inline(&seat_name(panel, seat)),
        inline(&model_name(transcript.player(seat)))
    );
    let held = transcript
        .independents()
        .find(|independent| independent.agent_id == seat.id);
    let failed = transcript
        .failures
        .iter()
        .find(|failure| failure.agent_id == seat.id && failure.round_number == 1);
    match (held, failed) {
        (Some(held), _) => Some(format!("{heading}\n\n{}", sections::opinion(held))),
        (None, Some(failed)) => Some(format!(
            "{heading}\n\n_No answer:_ {}",
            inline(&failed.error.message)
        )),
        (None, None) => None,
    }
}

fn changes(transcript: &Transcript) -> Option<String> {
    let revisions: Vec<&Revision> = transcript.revisions().collect();
    let before = |revision: &Revision| {
        transcript
            .independents()
            .find(|held| held.agent_id == revision.agent_id)
            .and_then(|held| held.confidence)
    };
    sections::changes(&revisions, &before, &|agent| name(transcript, agent))
}

fn concerns(transcript: &Transcript) -> Option<String> {
    let item = |concern: Concern| {
        let weight = concern
            .severity
            .map(|severity| format!("{}, ", sections::severity_word(severity)))
            .unwrap_or_default();
        let by = concern
            .raised_by
            .map(|agent| inline(transcript.agent_name(&agent)))
            .unwrap_or_default();
        let note = match (by.is_empty(), weight.is_empty()) {
            (false, _) => format!(" ({weight}{by})"),
            (true, false) => format!(" ({})", weight.trim_end_matches(", ")),
            (true, true) => " (unresolved)".to_owned(),
        };
        format!("- {}{note}", inline(&concern.text))
    };
    let items: Vec<String> = transcript.concerns().into_iter().map(item).collect();
    (!items.is_empty()).then(|| format!("## Concerns Raised\n\n{}", items.join("\n")))
}

fn dissent(transcript: &Transcript) -> Option<String> {
    sections::dissent(&transcript.verdict()?.dissent, &|agent| {
        name(transcript, agent)
    })
}

fn name(transcript: &Transcript, agent: &str) -> String {
    inline(transcript.agent_name(agent))
}

fn foot(transcript: &Transcript) -> String {
    let total = transcript.total();
    let duration = seconds(transcript.duration);
    let saved = saved(transcript).unwrap_or_default();
    format!(
        "**Cost:** {} | **Duration:** {duration} | **Tokens:** {}{saved}",
        amount(total.cost),
        thousands(total.tokens.total())
    )
}

fn saved(transcript: &Transcript) -> Option<String> {
    let efficiency = transcript.token_efficiency();
    let share = efficiency
        .efficiency_percentage
        .filter(|_| efficiency.tokens_saved_via_filtering > 0)?;
    Some(format!(
        " (about {} more, {share}%, saved by filtering)",
        thousands(efficiency.tokens_saved_via_filtering)
    ))
}
