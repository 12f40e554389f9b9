//! What the prose says: claims, open work, questions, assurance.

use super::fraction::{StatedProgress, progress};
use super::phrases::{Lexicon, Meaning, PhraseMatch};
use crate::agent_loop::checklist::is_optional_label;
use crate::agent_loop::text::tables::tables;
use crate::agent_loop::text::{Block, BlockKind, Sentence, sentences};
use crate::stopping::exit_check::evidence::Words;

/// The paragraphs at the end in which a question still stands.
const TAIL_PARAGRAPHS: usize = 4;

/// Reads the prose of a message. With an explicit signal of completion, offers of more work are
/// courtesies, as they are after a claim.
pub(super) fn read(blocks: &[&Block], lexicon: &Lexicon, is_explicitly_done: bool) -> Words {
    let statements = statements(blocks, lexicon);
    let claims = statements.iter().rposition(|statement| statement.is_claim);
    let claims_completion = claims.is_some();
    let admits_open_work = statements.iter().enumerate().any(|(at, statement)| {
        statement.is_open || statement.is_intention && claims.is_none_or(|claim| at > claim)
    });
    Words {
        claims_completion,
        admits_open_work,
        asks_person: ends_with_prompt(blocks)
            || asks_person(&statements, claims_completion || is_explicitly_done),
    }
}

/// What one sentence says.
#[derive(Debug, Default)]
struct Statement {
    block: usize,
    is_item: bool,
    is_heading: bool,
    is_question: bool,
    is_last_of_block: bool,
    is_claim: bool,
    is_open: bool,
    is_intention: bool,
    is_request: bool,
    is_address: bool,
    is_offer: bool,
    is_courtesy: bool,
    proceeds: bool,
    is_conditional: bool,
}

/// What stands over the current block.
#[derive(Default)]
struct Surroundings {
    optional_heading: Option<u8>,
    is_part: bool,
    /// A line before the block that ends with a colon.
    lead_in: LeadIn,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum LeadIn {
    #[default]
    None,
    /// `Remaining tasks:`; what follows is open unless it says otherwise.
    Open,
    /// `I stop when:`; what follows is a condition.
    Conditional,
    /// `You could also:`
    Optional,
    Other,
}

fn statements(blocks: &[&Block], lexicon: &Lexicon) -> Vec<Statement> {
    let mut statements = Vec::new();
    let mut around = Surroundings::default();
    for (number, block) in blocks.iter().enumerate() {
        if !block.is_prose() {
            around.lead_in = LeadIn::None;
            continue;
        }
        let lower = lower(&block.prose);
        if let BlockKind::Heading(level) = block.kind {
            around.enter(level, &lower);
        }
        let is_item = matches!(block.kind, BlockKind::Item(_) | BlockKind::ItemParagraph);
        if !is_item && around.lead_in != LeadIn::Open {
            around.lead_in = LeadIn::None;
        }
        let is_optional =
            around.optional_heading.is_some() || is_optional_label(first_label(&lower));
        if block.kind == BlockKind::Item(Some(false)) && !is_optional {
            statements.push(Statement {
                block: number,
                is_item,
                is_open: true,
                ..Statement::default()
            });
        }
        if around.lead_in == LeadIn::Open {
            let is_open = !says_none(&lower) && !is_optional;
            if is_open {
                statements.push(Statement {
                    block: number,
                    is_item,
                    is_open,
                    ..Statement::default()
                });
            }
            around.lead_in = LeadIn::Other;
        }
        let sentences = sentences(&lower);
        let last = sentences.len().saturating_sub(1);
        for (at, sentence) in sentences.iter().enumerate() {
            let matches = lexicon.matches(sentence.text);
            let mut statement = statement(*sentence, &matches, &around, is_optional);
            statement.block = number;
            statement.is_item = is_item;
            statement.is_heading = matches!(block.kind, BlockKind::Heading(_));
            statement.is_last_of_block = at == last;
            if block.kind == BlockKind::Item(Some(false)) {
                statement.is_claim = false;
            }
            if at == last {
                around.note_lead_in(sentence.text, &matches, is_item, statement.is_heading);
                // What the label stands over says whether something is open.
                if around.lead_in == LeadIn::Open {
                    statement.is_open = false;
                }
            }
            statements.push(statement);
        }
    }
    statements
}

impl Surroundings {
    fn enter(&mut self, level: u8, heading: &str) {
        if self.optional_heading.is_some_and(|above| above >= level) {
            self.optional_heading = None;
        }
        if self.optional_heading.is_none() && is_optional_label(heading) {
            self.optional_heading = Some(level);
        }
        let words = heading.split(|c: char| !c.is_alphanumeric());
        self.is_part = heading.contains(|c: char| c.is_ascii_digit())
            && words
                .into_iter()
                .any(|word| tables().part_headings.has(word));
        self.lead_in = LeadIn::None;
    }

    fn note_lead_in(
        &mut self,
        sentence: &str,
        matches: &[PhraseMatch],
        is_item: bool,
        is_heading: bool,
    ) {
        let text = sentence.trim_end_matches([' ', '*', '_']);
        let ends_with_colon = text.ends_with([':', '：']);
        if !ends_with_colon && (is_item || !is_heading) {
            return;
        }
        let is_open = matches
            .iter()
            .any(|found| found.meaning == Meaning::Open && !found.context.is_denied)
            || is_open_label(text);
        let is_optional = is_optional_label(text)
            || matches
                .iter()
                .any(|found| found.meaning == Meaning::Optional);
        self.lead_in = if is_optional {
            LeadIn::Optional
        } else if states_condition(text) {
            LeadIn::Conditional
        } else if is_open {
            LeadIn::Open
        } else {
            LeadIn::Other
        };
    }
}

fn states_condition(label: &str) -> bool {
    let mut words = label.split(|c: char| !c.is_alphanumeric());
    words.any(|word| tables().condition_labels.has(word))
}

fn is_open_label(text: &str) -> bool {
    let label = text.trim_matches(|c: char| !c.is_alphanumeric());
    let label = label.replace('-', " ");
    tables().open_labels.has(label.as_str())
}

/// Whether a list of open work says that it is empty.
fn says_none(text: &str) -> bool {
    let first = text
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .find(|word| !word.is_empty());
    matches!(
        first,
        None | Some(
            "none"
                | "nothing"
                | "no"
                | "n"
                | "0"
                | "na"
                | "keine"
                | "nichts"
                | "rien"
                | "aucun"
                | "aucune"
                | "nada"
                | "ninguna"
                | "ninguno"
                | "nenhuma"
                | "нет"
                | "无"
                | "没有"
                | "なし"
        )
    )
}

fn first_label(text: &str) -> &str {
    text.split_once(':').map_or("", |(label, _)| label)
}

fn statement(
    sentence: Sentence<'_>,
    matches: &[PhraseMatch],
    around: &Surroundings,
    is_optional: bool,
) -> Statement {
    let has = |meaning: Meaning| {
        matches
            .iter()
            .any(|found| found.meaning == meaning && !found.context.is_denied)
    };
    let is_conditional = matches.iter().any(|found| found.context.is_conditional);
    let mut statement = Statement {
        // `The dialog asks: …?`
        is_question: sentence.is_question && !sentence.text.contains(" asks"),
        is_request: has(Meaning::Request),
        is_address: has(Meaning::Address),
        // An offer to continue the work itself is a question.
        is_offer: has(Meaning::Offer) && !asks_to_continue(sentence.text),
        is_courtesy: has(Meaning::Courtesy),
        proceeds: has(Meaning::Proceeds) && !is_conditional,
        is_conditional,
        ..Statement::default()
    };
    if sentence.is_question {
        return statement;
    }
    let is_optional = is_optional || around.lead_in == LeadIn::Optional || has(Meaning::Optional);
    let progress = progress(sentence.text);
    let is_excepted = matches.iter().any(|found| {
        matches!(found.meaning, Meaning::AllDone | Meaning::WholeDone)
            && found.context.has_exception
            && !found.context.is_conditional
            && !found.context.is_modal
    });
    statement.is_claim = around.lead_in != LeadIn::Conditional
        && (progress == Some(StatedProgress::All)
            || matches.iter().any(|found| {
                let is_claim = match found.meaning {
                    Meaning::AllDone => true,
                    Meaning::WholeDone => !around.is_part,
                    _ => false,
                };
                let context = found.context;
                is_claim
                    && !context.is_denied
                    && !context.is_conditional
                    && !context.is_modal
                    && !context.has_exception
                    && !context.is_of_part
            }));
    let is_open = is_excepted
        || progress == Some(StatedProgress::Part)
        || matches.iter().any(|found| {
            let context = found.context;
            found.meaning == Meaning::Open
                && !context.is_denied
                && !context.is_conditional
                && !context.is_resolved
        });
    let intends = has(Meaning::Intention) && !statement.is_conditional;
    statement.is_intention = intends && !is_optional;
    // `Let me fix what is still failing` says what comes next.
    statement.is_open = is_open && !is_optional && !intends;
    statement
}

fn asks_to_continue(sentence: &str) -> bool {
    let words = [
        "proceed",
        "continue",
        "go ahead",
        "weitermachen",
        "continuer",
        "continuar",
        "продолж",
    ];
    words.iter().any(|word| sentence.contains(word))
}

/// Returns the prose in lower case with straight apostrophes.
fn lower(prose: &str) -> String {
    let lower = prose.to_lowercase();
    if lower.contains(['’', 'ʼ']) {
        return lower.replace(['’', 'ʼ'], "'");
    }
    lower
}

/// Whether the message ends with a question of a terminal: `Continue? [y/N]`.
fn ends_with_prompt(blocks: &[&Block]) -> bool {
    let last = blocks.last().filter(|block| block.is_prose());
    let line = last.and_then(|block| block.prose.trim_end().lines().next_back());
    line.is_some_and(|line| {
        let lower = line.to_lowercase();
        let choices = ["[y/n", "(y/n", "(y)es/(n)o", "[yes/no", "(yes/no"];
        choices.iter().any(|choice| lower.contains(choice))
    })
}

fn asks_person(statements: &[Statement], is_done: bool) -> bool {
    let Some(last) = statements.len().checked_sub(1) else {
        return false;
    };
    let mut paragraphs = 0;
    let mut block = None;
    for (at, statement) in statements.iter().enumerate().rev() {
        if block != Some(statement.block) {
            block = Some(statement.block);
            paragraphs += usize::from(!statement.is_item);
            if paragraphs > TAIL_PARAGRAPHS {
                return false;
            }
        }
        let is_own_decision = statement.proceeds || statement.is_intention && !statement.is_request;
        if is_own_decision && !statement.is_question {
            return false;
        }
        if asks(statement, at == last, is_done) {
            return true;
        }
    }
    false
}

fn asks(statement: &Statement, is_last: bool, is_done: bool) -> bool {
    if statement.is_courtesy || statement.is_heading {
        return false;
    }
    if statement.is_offer && is_done {
        return false;
    }
    if !statement.is_question {
        return statement.is_request && !statement.is_offer;
    }
    // A question in the middle of a paragraph is answered there, unless it is put to the person.
    let is_open = statement.is_last_of_block || statement.is_offer || statement.is_request;
    is_last || is_open && (statement.is_address || statement.is_offer || statement.is_request)
}

#[cfg(test)]
mod tests;
