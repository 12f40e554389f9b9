//! Turns the helper's selection of personas for the question into a panel.
//!
//! Invariant: every seat is filled, whether or not the helper gave a usable answer, and each keeps
//! its model.

use crate::domain::answer::artifact::PersonaSelection;
use crate::domain::ids::SeatId;
use crate::domain::panel::{Panel, Persona, bare, seated};

use crate::consultation::anonymity::labels::Labels;
use crate::consultation::event::PanelSelection;
use crate::consultation::plan::Plan;

/// Separators between a name and its explanation: `security: you think of attacks`.
const EXPLAINS: [&str; 6] = ["(", "[", ":", " - ", " – ", " — "];

/// Fills the seats of a plan: first with the known personas that the helper selected, then with
/// those of the provisional panel, then with any others. `Err` is the reason why there is no
/// selection.
pub(crate) fn select(plan: &Plan, answer: Result<PersonaSelection, String>) -> PanelSelection {
    let mut filling = Filling {
        personas: &plan.debate.selectable_personas,
        seats: plan.panel.seats.len(),
        chosen: Vec::new(),
        notes: Vec::new(),
    };
    let helper = plan.debate.helper.clone();
    let (answer, chosen_by) = match answer {
        Ok(answer) => {
            filling.take(&answer.personas);
            let chosen_by = helper.filter(|_| !filling.chosen.is_empty());
            (answer, chosen_by)
        }
        Err(why) => {
            filling.notes.push(why);
            (PersonaSelection::default(), None)
        }
    };
    let usual = usual(plan);
    filling.fill_up(&usual);
    let Filling { chosen, notes, .. } = filling;
    let models = plan.panel.seats.iter().map(|seat| seat.model.clone());
    let panel = Panel {
        seats: seated(chosen.into_iter().zip(models)),
        judges: plan.panel.judges.clone(),
    };
    let expert_order = Labels::draw(&panel.seats, plan.seed).order.clone();
    PanelSelection {
        panel,
        expert_order,
        task_type: answer.task_type,
        reason: answer.reason,
        chosen_by,
        notes,
    }
}

/// Each new seat takes over the fallbacks and terms of the seat at its index.
pub(crate) fn reseat(plan: &mut Plan, panel: Panel) {
    let now: Vec<SeatId> = panel.seats.iter().map(|seat| seat.id.clone()).collect();
    let before = plan.panel.seats.iter().map(|seat| &seat.id);
    let moved = before
        .zip(now)
        .filter_map(|(before, now)| Some((now, plan.fallbacks.get(before)?.clone())));
    plan.fallbacks = moved.collect();
    plan.panel = panel;
}

/// Returns the personas of the provisional panel, each once. A persona that sits twice has a number
/// in its name, which is removed.
fn usual(plan: &Plan) -> Vec<Persona> {
    let mut usual: Vec<Persona> = Vec::new();
    for seat in &plan.panel.seats {
        let known = plan
            .debate
            .selectable_personas
            .iter()
            .find(|persona| persona.id == seat.persona.id);
        if usual.iter().all(|persona| persona.id != seat.persona.id) {
            usual.push(known.unwrap_or(&seat.persona).clone());
        }
    }
    usual
}

struct Filling<'a> {
    personas: &'a [Persona],
    seats: usize,
    chosen: Vec<Persona>,
    notes: Vec<String>,
}

impl Filling<'_> {
    fn take(&mut self, names: &[String]) {
        for name in names {
            match find(self.personas, name) {
                None => self.notes.push(format!("no persona is called `{name}`")),
                Some(persona) if self.has(persona) => {
                    self.notes.push(format!("`{}` was named twice", persona.id));
                }
                // The last seat is the least needed.
                Some(_) if self.chosen.len() >= self.seats => {}
                Some(persona) => self.chosen.push(persona.clone()),
            }
        }
    }

    fn fill_up(&mut self, usual: &[Persona]) {
        let named = self.chosen.len();
        for persona in usual.iter().chain(self.personas) {
            if self.chosen.len() < self.seats && !self.has(persona) {
                self.chosen.push(persona.clone());
            }
        }
        // More seats than there are personas.
        let all = self.chosen.clone();
        let missing = self.seats.saturating_sub(all.len());
        self.chosen.extend(all.into_iter().cycle().take(missing));
        if (1..self.seats).contains(&named) {
            let added: Vec<&str> = self
                .chosen
                .iter()
                .skip(named)
                .map(|persona| persona.name.as_str())
                .collect();
            self.notes.push(format!(
                "only {named} of {} were selected; default personas added: {}",
                self.seats,
                added.join(", ")
            ));
        } else if named == 0 {
            self.notes.push("the default personas are used".to_owned());
        }
    }

    fn has(&self, persona: &Persona) -> bool {
        self.chosen.iter().any(|chosen| chosen.id == persona.id)
    }
}

/// By id, name or alias, in any spelling and with or without an explanation.
fn find<'a>(personas: &'a [Persona], text: &str) -> Option<&'a Persona> {
    let called = |name: &str| personas.iter().find(|persona| persona.is_called(name));
    let before = |mark: &&str| text.split_once(mark).map(|(name, _)| name);
    let explained = || EXPLAINS.iter().filter_map(before).find_map(called);
    // `the skeptic`, `performance expert`
    let bare = bare(text);
    let without_article = || bare.strip_prefix("the").and_then(called);
    let without_title = || {
        ["expert", "engineer", "specialist"]
            .iter()
            .find_map(|title| called(bare.strip_suffix(title)?))
    };
    called(text)
        .or_else(explained)
        .or_else(without_article)
        .or_else(without_title)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consultation::prompt::Templates;

    #[test]
    fn a_persona_is_found_in_any_spelling() {
        let templates = Templates::builtin();
        let personas: Vec<Persona> = templates
            .persona_files()
            .map(|(_, persona)| persona)
            .collect();
        for (text, id) in [
            ("security", "security"),
            ("Security Expert", "security"),
            ("security_expert", "security"),
            ("INFOSEC", "security"),
            ("the Skeptic", "skeptic"),
            ("Devil's Advocate", "skeptic"),
            ("performance expert", "performance"),
            ("accessibility (for blind users)", "accessibility"),
            ("testing: you think of how it breaks", "testing"),
            ("devops – it has to run", "devops"),
            ("`pragmatic`", "pragmatic"),
            ("architecture specialist", "architecture"),
        ] {
            assert_eq!(
                find(&personas, text).map(|persona| persona.id.as_str()),
                Some(id),
                "{text}"
            );
        }
        for text in [
            "",
            "expert",
            "the",
            "lawyer",
            "security and testing",
            "()",
            ":",
        ] {
            assert_eq!(
                find(&personas, text).map(|persona| persona.id.as_str()),
                None,
                "{text}"
            );
        }
    }
}
