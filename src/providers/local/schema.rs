//! A tighter schema of an answer for a small model: short strings, few items, plain numbers, known
//! labels.
//!
//! Everything that the tight schema allows, the original allows too, so the prompt stays true and
//! the answer is validated like any other. Without limits a small model repeats itself up to the
//! output limit; with free whitespace it loops on newlines.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

/// The characters per token of any answer, even a degenerate one: `n` characters fit `n / 2`
/// tokens.
const CHARACTERS_A_TOKEN: u64 = 2;
/// The longest word, which stops a small model that writes random characters.
const LONGEST_WORD: u64 = 24;
/// The shortest limit of a string, regardless of the output limit.
pub(super) const SHORTEST: u64 = 40;

/// Answers to the result fit `room` tokens and name only experts of the prompt.
pub fn tighten(schema: &Value, prompt: &str, room: u64) -> Value {
    let (labels, ids) = (labels(prompt), ids(prompt));
    let own = own_label(prompt);
    // For a prompt in Latin script, the answer may not change to another.
    let latin = !prompt
        .chars()
        .any(|letter| letter.is_alphabetic() && letter > '\u{24f}');
    let mut limits = Limits {
        labels: &labels,
        ids: &ids,
        own: own.as_deref(),
        latin,
        scale: 100,
    };
    loop {
        let mut tight = schema.clone();
        narrow(&mut tight, "", &limits);
        if limits.scale <= 20 || longest(&tight) <= room.saturating_mul(CHARACTERS_A_TOKEN) {
            if let Value::Object(root) = &mut tight {
                let guidance = json!({"whitespace_flexible": false});
                root.insert("x-guidance".to_owned(), guidance);
            }
            return tight;
        }
        limits.scale -= 20;
    }
}

struct Limits<'a> {
    labels: &'a BTreeSet<String>,
    ids: &'a [String],
    /// The label of the answering expert.
    own: Option<&'a str>,
    /// Whether the prompt has only Latin letters.
    latin: bool,
    /// The percentage of the usual lengths.
    scale: u64,
}

impl Limits<'_> {
    fn length(&self, field: &str) -> u64 {
        let usual = match field {
            "personas" | "pair" => 40,
            "topic" | "option" => 80,
            "priority_order" | "would_change_it" => 120,
            "key_points" | "evidence" | "unresolved" | "claim" | "quote" | "viewpoint" => 220,
            "pros" | "cons" | "best_when" => 200,
            "rationale" | "summary" | "recommendation" => 600,
            _ => 300,
        };
        (usual * self.scale / 100).max(SHORTEST)
    }

    fn items(&self, field: &str) -> (u64, u64) {
        // For a small output limit, a menu has fewer options rather than hardly any text.
        let one_more = u64::from(self.scale > 40);
        match field {
            "key_points" => (2, 4),
            "priority_order" | "supporting_agents" | "viewpoints" | "assumed"
            | "open_questions" => (1, 3),
            // A menu has at least two options.
            "recommendations" => (2, 2 + one_more),
            "pros" | "cons" => (1, 1 + one_more),
            "dissent" => (0, 1 + one_more),
            "personas" | "comparisons" => (1, 6),
            // Otherwise a small model prefers the empty list, and there is no debate.
            "evidence" => (1, 1 + one_more),
            "consensus_points" | "tensions" => (1, 1 + u64::from(self.scale > 20)),
            "challenges" | "rebuttals" => (1, 2),
            _ => (0, 2),
        }
    }
}

/// `field` is the name of the property that it, or the array around it, belongs to.
fn narrow(node: &mut Value, field: &str, limits: &Limits<'_>) {
    let Value::Object(map) = node else { return };
    map.remove("description");
    match map.get("type").and_then(Value::as_str) {
        Some("string") if !map.contains_key("enum") => narrow_string(map, field, limits),
        Some("number") => {
            // With only a bound, a small model writes endless digits; with 0 and 1 allowed, it
            // writes nothing else.
            let steps: Vec<Value> = (1u32..20)
                .map(|step| json!(f64::from(step * 5) / 100.0))
                .collect();
            map.insert("enum".to_owned(), Value::Array(steps));
        }
        Some("array") => {
            let (least, most) = limits.items(field);
            map.insert("minItems".to_owned(), json!(least));
            map.insert("maxItems".to_owned(), json!(most));
            if let Some(items) = map.get_mut("items") {
                narrow(items, field, limits);
            }
        }
        Some("object") => {
            if let Some(Value::Object(properties)) = map.get_mut("properties") {
                for (name, property) in properties.iter_mut() {
                    narrow(property, name, limits);
                }
            }
        }
        _ => {}
    }
}

fn narrow_string(map: &mut Map<String, Value>, field: &str, limits: &Limits<'_>) {
    let names_an_expert = matches!(
        field,
        "agent" | "challenger" | "target_agent" | "supporting_agents"
    );
    if names_an_expert && !limits.labels.is_empty() {
        // No expert answers itself, or is moved by itself.
        let mut known: Vec<&str> = limits
            .labels
            .iter()
            .map(String::as_str)
            .filter(|label| Some(*label) != limits.own)
            .collect();
        if known.is_empty() {
            known.extend(limits.own);
        }
        if field == "target_agent" {
            known.push("consensus");
        }
        map.insert("enum".to_owned(), json!(known));
    } else if field == "personas" && !limits.ids.is_empty() {
        map.insert("enum".to_owned(), json!(limits.ids));
    } else {
        // Words, a letter first. No quotes, escapes or control characters inside: the first quote
        // ends the string, so a small model finds its end.
        let pattern = if limits.latin {
            let (first, next) = (
                "[A-Za-z\u{c0}-\u{24f}]",
                "[!#-Z^-z|~\u{a1}-\u{24f}\u{2010}-\u{2026}\u{20ac}]",
            );
            format!(
                "^{first}{next}{{0,{}}}( {next}{{1,{LONGEST_WORD}}})*$",
                LONGEST_WORD - 1
            )
        } else {
            // Not every script has spaces between words.
            r#"^\p{L}[^\x00-\x1F\x7F"\\{}\[\]]*$"#.to_owned()
        };
        let longest = if names_an_expert {
            30
        } else {
            limits.length(field)
        };
        let shortest = if names_an_expert || longest <= 80 {
            2
        } else {
            20
        };
        map.insert("pattern".to_owned(), json!(pattern));
        map.insert("minLength".to_owned(), json!(shortest));
        map.insert("maxLength".to_owned(), json!(longest));
    }
}

/// The lines of the longest run count.
fn ids(text: &str) -> Vec<String> {
    let is_id = |id: &str| {
        !id.is_empty()
            && id
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-')
    };
    let mut runs: Vec<Vec<String>> = vec![Vec::new()];
    for line in text.lines() {
        match (
            line.split_once(": ").filter(|(id, _)| is_id(id)),
            runs.last_mut(),
        ) {
            (Some((id, _)), Some(run)) => run.push(id.to_owned()),
            (Some(_) | None, _) => runs.push(Vec::new()),
        }
    }
    runs.into_iter().max_by_key(Vec::len).unwrap_or_default()
}

fn own_label(prompt: &str) -> Option<String> {
    let (_, after) = prompt.split_once("You are Expert ")?;
    let (letter, _) = after.split_once('.')?;
    labels(&format!("Expert {letter}")).pop_first()
}

/// `Expert A`, `Expert B`.
fn labels(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, word) in text.match_indices("Expert ") {
        let mut letters = text.get(at + word.len()..).unwrap_or_default().chars();
        if let (Some(letter @ 'A'..='Z'), next) = (letters.next(), letters.next())
            && !next.is_some_and(char::is_alphanumeric)
        {
            found.insert(format!("Expert {letter}"));
        }
    }
    found
}

/// Returns the characters of the longest answer that the tight schema allows, including
/// punctuation.
fn longest(node: &Value) -> u64 {
    let number = |key: &str| node.get(key).and_then(Value::as_u64).unwrap_or(0);
    let length = |text: &str| u64::try_from(text.len()).unwrap_or(u64::MAX);
    if let Some(options) = node.get("enum").and_then(Value::as_array) {
        let lengths = options.iter().map(|option| length(&option.to_string()));
        return lengths.max().unwrap_or(0);
    }
    match node.get("type").and_then(Value::as_str) {
        Some("string") => 2 + number("maxLength"),
        Some("array") => {
            let item = 2 + node.get("items").map_or(0, longest);
            2 + number("maxItems").saturating_mul(item)
        }
        Some("object") => {
            let properties = node.get("properties").and_then(Value::as_object);
            let entries = properties.into_iter().flatten();
            2 + entries
                .map(|(name, property)| length(name) + 6 + longest(property))
                .sum::<u64>()
        }
        _ => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consultation::protocol::answer::{AnswerForm, AnswerKind};

    fn tight(kind: AnswerKind, prompt: &str, room: u64) -> Value {
        tighten(&kind.schema(AnswerForm::Plain), prompt, room)
    }

    fn challenged_in(prompt: &str) -> Value {
        let schema = tight(AnswerKind::Revision, prompt, 1024);
        schema["properties"]["challenges"]["items"]["properties"]["target_agent"]["enum"].clone()
    }

    #[test]
    fn every_answer_that_fits_the_tight_schema_ends_within_its_room() {
        for kind in AnswerKind::ALL {
            for room in [700, 1024, 4096] {
                assert!(
                    longest(&tight(kind, "Expert A, Expert B", room)) <= room * CHARACTERS_A_TOKEN,
                    "{} in {room}",
                    kind.name()
                );
            }
        }
    }

    #[test]
    fn experts_are_named_by_the_labels_of_the_prompt() {
        let challenged = challenged_in("Expert B said so. Expert A, too. Expert Advice is none.");
        assert_eq!(challenged, json!(["Expert A", "Expert B", "consensus"]));
    }

    #[test]
    fn personas_are_chosen_out_of_those_that_the_prompt_lists() {
        let prompt = "Question:\nnote: this is none.\n\nThe experts:\n\n\
            security: You think of attacks.\nhebrew_linguist: You read.\n\nChoose 2.";
        let schema = tight(AnswerKind::PersonaSelection, prompt, 1024);
        assert_eq!(
            schema["properties"]["personas"]["items"]["enum"],
            json!(["security", "hebrew_linguist"])
        );
    }

    #[test]
    fn an_expert_is_not_offered_its_own_label() {
        assert_eq!(
            challenged_in("You are Expert B.\n\nExpert A and Expert B agree."),
            json!(["Expert A", "consensus"])
        );
        assert_eq!(
            challenged_in("You are Expert B. No other expert answered."),
            json!(["Expert B", "consensus"])
        );
    }

    #[test]
    fn a_menu_has_more_than_one_option_and_each_has_both_sides() {
        let schema = tight(AnswerKind::Menu, "", 1024);
        let menu = &schema["properties"]["recommendations"];
        assert_eq!(menu["minItems"], 2);
        for side in ["pros", "cons"] {
            assert_eq!(menu["items"]["properties"][side]["minItems"], 1);
        }
    }

    #[test]
    fn confidences_are_few_and_between_nought_and_one() {
        let schema = tight(AnswerKind::Independent, "", 1024);
        let steps = schema["properties"]["confidence"]["enum"]
            .as_array()
            .unwrap();
        assert_eq!(steps.len(), 19);
        assert_eq!(steps[0], 0.05);
        assert_eq!(steps[18], 0.95);
    }

    #[test]
    fn the_tight_schema_allows_no_more_than_the_original() {
        let (original, tight) = (
            AnswerKind::Independent.schema(AnswerForm::Plain),
            tight(AnswerKind::Independent, "Was nun?", 1024),
        );
        let original = jsonschema::validator_for(&original).unwrap();
        let tight = jsonschema::validator_for(&tight).unwrap();
        let point = "Größe zählt: it is cheap – and it is quick.";
        let mut answer = json!({
            "position": point,
            "key_points": [point, point],
            "rationale": point,
            "confidence": 0.65,
        });
        assert!(tight.is_valid(&answer) && original.is_valid(&answer));
        for odd in [
            "51.6",
            "short",
            "a \"quoted\" word in a sentence",
            "two lines\nin one sentence, no less",
            "half of it 刷新 in another script",
        ] {
            answer["position"] = json!(odd);
            assert!(
                !tight.is_valid(&answer) && original.is_valid(&answer),
                "{odd}"
            );
        }
    }

    #[test]
    fn whitespace_is_not_left_to_the_model() {
        let schema = tight(AnswerKind::Verdict, "", 1024);
        assert_eq!(schema["x-guidance"]["whitespace_flexible"], false);
    }
}
