//! The texts that a consultation sends beside the prompts of this program, one by one, and the
//! masking of secrets in all of them at once.
//!
//! The models' answers of the same run are not among them: they quote what was masked before.

use std::borrow::Cow;

use crate::consultation::anonymity::texts::{edit_strings, edit_texts};
use crate::consultation::plan::options::DebateOptions;
use crate::context::sources::SourceText;
use crate::domain::context::{ScrubbingReport, SourceKind};
use crate::domain::panel::{Panel, Persona};
use crate::scrub::{Finding, OutgoingText, Scrubbed, Scrubber};
use crate::setup::context::sources::ProjectTerms;

/// The name of the project among the sources.
const PROJECT: &str = "project";

/// Edits a text in place; the first argument names its source for people.
pub type EditSource<'a> = dyn FnMut(&str, &mut String) + 'a;

/// The result of masking; by default, of none.
#[derive(Debug, Default)]
pub struct MaskingOutcome {
    pub report: ScrubbingReport,
    pub findings: Vec<Finding>,
}

/// `visit` runs twice, and must visit the same texts in the same order.
pub fn mask(scrubber: &Scrubber, mut visit: impl FnMut(&mut EditSource<'_>)) -> MaskingOutcome {
    let mut originals: Vec<(String, String)> = Vec::new();
    visit(&mut |source, text| originals.push((source.to_owned(), text.clone())));
    let outgoing: Vec<OutgoingText<'_>> = originals
        .iter()
        .map(|(source, text)| OutgoingText { source, text })
        .collect();
    let Scrubbed {
        texts,
        report,
        findings,
    } = scrubber.scrub(&outgoing);
    let mut results = texts.into_iter();
    visit(&mut |_, text| {
        if let Some(Cow::Owned(masked)) = results.next() {
            *text = masked;
        }
    });
    MaskingOutcome { report, findings }
}

pub fn edit_source(source: &mut SourceText, edit: &mut EditSource<'_>) {
    let name = match source.kind {
        SourceKind::Project => PROJECT.to_owned(),
        SourceKind::Stdin => "stdin".to_owned(),
        SourceKind::File => source.name.clone(),
    };
    edit(&name, &mut source.name);
    edit(&name, &mut source.text);
}

/// Versions can be addresses with credentials.
pub fn edit_project(project: &mut ProjectTerms, edit: &mut EditSource<'_>) {
    for line in &mut project.stack {
        edit(PROJECT, line);
    }
    let Some(context) = &mut project.context else {
        return;
    };
    if let Some(version) = &mut context.framework_version {
        edit(PROJECT, version);
    }
    for value in context.tech_stack.values_mut() {
        edit_strings(value, &[], &mut |text| edit(PROJECT, text));
    }
}

/// Visits what a debate takes over from earlier consultations, which may have been stored unmasked.
pub fn edit_debate(debate: &mut DebateOptions, edit: &mut EditSource<'_>) {
    if let Some(prior) = &mut debate.follows_up {
        let id = prior.id.to_string();
        edit(&id, &mut prior.question);
        for held in &mut prior.positions {
            edit(&id, &mut held.position);
        }
        edit_texts(&mut prior.verdict, &mut |text| edit(&id, text));
    }
    if let Some(prior) = &mut debate.prior_answers {
        let id = prior.from.to_string();
        let edit = &mut |text: &mut String| edit(&id, text);
        edit_texts(&mut prior.independents, edit);
        edit_texts(&mut prior.cross_exam, edit);
        edit_texts(&mut prior.verdict, edit);
    }
    for persona in &mut debate.selectable_personas {
        edit_persona(persona, edit);
    }
}

pub fn edit_panel(panel: &mut Panel, edit: &mut EditSource<'_>) {
    for seat in &mut panel.seats {
        edit_persona(&mut seat.persona, edit);
    }
}

fn edit_persona(persona: &mut Persona, edit: &mut EditSource<'_>) {
    let source = format!("persona {}", persona.id);
    edit(&source, &mut persona.prompt);
    edit(&source, &mut persona.brief);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use secrecy::SecretString;

    use super::*;
    use crate::config::settings::Settings;
    use crate::consultation::anonymity::labels::Labels;
    use crate::consultation::plan::options::PriorAnswers;
    use crate::consultation::prompt::Templates;
    use crate::consultation::prompt::prior_consultation::{PriorConsultation, PriorPosition};
    use crate::domain::answer::artifact::{
        Challenge, CrossExam, Dissent, Evidence, Independent, MenuOption, Rebuttal, Revision,
        Verdict,
    };
    use crate::domain::ids::{ConsultationId, ModelRef, SeatId};
    use crate::domain::panel::Seat;
    use crate::scrub::rules::UserRules;
    use crate::setup::personas::PersonaRegistry;

    const KEY: &str = "correct horse battery 1";

    fn scrubber() -> Scrubber {
        Scrubber::new(&UserRules::default(), &[SecretString::from(KEY)]).unwrap()
    }

    fn text() -> String {
        format!("before {KEY} behind")
    }

    fn verdict() -> Verdict {
        Verdict {
            recommendation: text(),
            evidence: vec![Evidence {
                claim: text(),
                agent: "Expert A".to_owned(),
                quote: text(),
            }],
            dissent: vec![Dissent {
                concern: text(),
                ..Dissent::default()
            }],
            summary: text(),
            recommendations: vec![MenuOption {
                option: text(),
                description: text(),
                pros: vec![text()],
                cons: vec![text()],
                best_when: text(),
                ..MenuOption::default()
            }],
            ..Verdict::default()
        }
    }

    fn debate() -> DebateOptions {
        let seats = [Seat::named("one", "One", ModelRef::new("scripted", "m"))];
        let prior = PriorConsultation {
            id: ConsultationId::from_unique("1"),
            question: text(),
            labels: Labels::draw(&seats, 0),
            positions: vec![PriorPosition {
                agent_id: SeatId::new("one"),
                position: text(),
                confidence: None,
            }],
            verdict: Some(verdict()),
        };
        let revision = Revision {
            challenges: vec![Challenge {
                challenge: text(),
                evidence: vec![text()],
                ..Challenge::default()
            }],
            revised_position: text(),
            ..Revision::default()
        };
        let answers = PriorAnswers {
            from: ConsultationId::from_unique("2"),
            independents: vec![Independent {
                position: text(),
                key_points: vec![text()],
                rationale: text(),
                prose_excerpt: text(),
                ..Independent::default()
            }],
            cross_exam: Some(CrossExam {
                rebuttals: vec![Rebuttal {
                    rebuttal: text(),
                    ..Rebuttal::default()
                }],
                unresolved: vec![text()],
                positions: vec![revision],
                prose_excerpt: text(),
                ..CrossExam::default()
            }),
            verdict: Some(verdict()),
        };
        DebateOptions {
            follows_up: Some(Box::new(prior)),
            prior_answers: Some(Box::new(answers)),
            ..DebateOptions::default()
        }
    }

    #[test]
    fn everything_taken_over_from_earlier_consultations_is_masked() {
        let mut debate = debate();
        let masked = mask(&scrubber(), |edit| edit_debate(&mut debate, edit));
        let json = serde_json::to_string(&debate).unwrap();
        assert!(!json.contains(KEY), "{json}");
        let expected = json.matches("before [REDACTED_API_KEY] behind").count();
        assert_eq!(masked.findings.len(), expected);
        assert!(masked.report.by_source.contains_key("consult-1"));
        assert!(masked.report.by_source.contains_key("consult-2"));
    }

    #[test]
    fn built_in_personas_and_prompts_hold_no_secret() {
        let templates = Templates::builtin();
        let registry = PersonaRegistry::new(&templates, &Settings::default()).unwrap();
        let mut personas = registry.personas();
        let masked = mask(&scrubber(), |edit| {
            for persona in &mut personas {
                edit_persona(persona, edit);
            }
        });
        assert_eq!(masked.findings, []);
        assert_eq!(personas, registry.personas());
    }

    proptest! {
        #[test]
        fn texts_come_back_in_their_places_and_only_secrets_change(
            texts in prop::collection::vec("(KEY|[a-z \n]){0,20}", 0..8)
        ) {
            let mut masked: Vec<String> =
                texts.iter().map(|text| text.replace("KEY", KEY)).collect();
            mask(&scrubber(), |edit| {
                for text in &mut masked {
                    edit("text", text);
                }
            });
            let expected: Vec<String> =
                texts.iter().map(|text| text.replace("KEY", "[REDACTED_API_KEY]")).collect();
            prop_assert_eq!(masked, expected);
        }
    }
}
