//! What the message says: claims, open work, failures and questions.

mod outcome;

use self::outcome::{Outcome, has_open_cell, of_code, of_line, of_share, of_table, other_states};
use super::LONGEST_UNMASKED;
use super::admissions::{Weight, tone, weight};
use super::numbers::{StatedProgress, progress};
use super::phrases::{PhraseMatch, Sense, matches};
use crate::agent_loop::checklist::is_optional_label;
use crate::agent_loop::text::{
    Block, BlockKind, Message, PLACEHOLDER, Sentence, TABLES, has_word, sentences,
};
use crate::stopping::exit_check::evidence::Words;
use crate::text::clean::shortened_unmasked;

/// The paragraphs at the end in which a question still stands.
const TAIL_PARAGRAPHS: usize = 4;

/// How a question of a terminal ends: `Continue? [y/N]`.
const CHOICES: [&str; 5] = ["[y/n", "(y/n", "(y)es/(n)o", "[yes/no", "(yes/no"];

/// How a line of a program begins that is no question, whatever it ends with.
const ERRORS: [&str; 3] = ["error:", "error[", "fatal:"];

/// With an explicit signal of completion, offers of more work are courtesies, as they are after a
/// claim.
pub(super) fn read(message: &Message, blocks: &[&Block], is_explicitly_done: bool) -> Words {
    let statements = statements(message, blocks);
    let claim = statements.iter().rposition(|statement| statement.claims);
    let admits_open_work = statements.iter().enumerate().any(|(at, statement)| {
        statement.is_open || statement.intends && claim.is_none_or(|claim| at > claim)
    });
    let is_signalled = is_explicitly_done || claim.is_some();
    let admission = admission(&statements, is_signalled);
    let is_stated = admission.as_ref().is_some_and(|it| !it.seems_to_lack);
    Words {
        claims_completion: claim.is_some(),
        admits_open_work: admits_open_work || is_stated,
        admission: admission
            .map(|it| shortened_unmasked(&it.text.replace(PLACEHOLDER, "…"), LONGEST_UNMASKED)),
        asks_person: ends_with_prompt(blocks) || asks_person(&statements, is_signalled),
    }
}

/// A lack stands whatever follows; a failure until it is made good. What only the kinds of its words
/// give away counts beside a signal.
fn admission(statements: &[ProseStatement], is_signalled: bool) -> Option<&ProseStatement> {
    let lack = statements.iter().find(|it| it.lacks);
    let run = statements.iter().rfind(|it| it.outcome.is_some());
    let failure = run.filter(|it| it.outcome == Some(Outcome::Fails));
    let seeming = statements
        .iter()
        .find(|it| it.seems_to_lack && is_signalled);
    lack.or(failure).or(seeming)
}

/// What one sentence says, or one block of output.
#[derive(Debug, Default)]
struct ProseStatement {
    text: String,
    block: usize,
    is_item: bool,
    is_heading: bool,
    is_last_of_block: bool,
    is_question: bool,
    claims: bool,
    is_open: bool,
    intends: bool,
    /// A part of the work is missing.
    lacks: bool,
    /// No phrase says so, and the kinds of its words do.
    seems_to_lack: bool,
    /// The last run that it speaks of.
    outcome: Option<Outcome>,
    /// What its phrases mean, without those that are denied.
    meanings: Vec<Sense>,
}

/// A sentence of prose, in lower case as well, with straight apostrophes.
struct WeighedSentence<'a> {
    text: &'a str,
    lower: String,
    is_question: bool,
    weight: Weight,
}

impl<'a> WeighedSentence<'a> {
    fn all(prose: &'a str) -> Vec<Self> {
        let sentences = sentences(prose).into_iter();
        let weighed = sentences.map(|Sentence { text, is_question }| {
            let lower = lower(text);
            Self {
                text,
                weight: weight(&lower),
                is_question,
                lower,
            }
        });
        weighed.collect()
    }
}

fn lower(text: &str) -> String {
    text.to_lowercase().replace(['’', 'ʼ'], "'")
}

/// What stands over the current block.
#[derive(Default)]
struct Surroundings {
    optional_heading: Option<u8>,
    /// The heading is that of a part of the work.
    is_part: bool,
    /// A line before the block that ends with a colon.
    lead_in: LeadIn,
    /// The block stands under what is known to be wrong.
    is_doubtful: bool,
    /// The last sentence speaks of output that is not of the agent's last run.
    is_before_others: bool,
    /// What the sentences of the response weigh together.
    tone: f32,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum LeadIn {
    #[default]
    None,
    /// `Remaining tasks:`, `Known issues`; what follows is open unless it says otherwise.
    Open,
    /// `I stop when:`; what follows is a condition.
    Conditional,
    /// `You could also:`
    Optional,
    /// `Fixed:`, `What I left alone`
    Past,
    /// `Known limitations`; what follows admits unless it reads like a report.
    Doubtful,
}

fn statements(message: &Message, blocks: &[&Block]) -> Vec<ProseStatement> {
    let mut statements = Vec::new();
    let prose = blocks
        .iter()
        .map(|block| block.is_prose().then_some(&block.prose));
    let weighed: Vec<Vec<WeighedSentence<'_>>> = prose
        .map(|it| it.map_or_else(Vec::new, |it| WeighedSentence::all(it)))
        .collect();
    let stated = weighed.iter().flatten().filter(|it| !it.is_question);
    let mut around = Surroundings {
        tone: tone(stated.map(|it| it.weight)),
        ..Surroundings::default()
    };
    for (block_number, (block, sentences)) in blocks.iter().zip(weighed).enumerate() {
        if !block.is_prose() {
            let is_own = !around.is_before_others && around.lead_in != LeadIn::Past;
            let statement = of_shown_block(block.kind, message.source(block.range.clone()));
            statements.push(ProseStatement {
                block: block_number,
                outcome: statement.outcome.filter(|_| is_own),
                ..statement
            });
            around.lead_in = LeadIn::None;
            continue;
        }
        let lower = lower(&block.prose);
        let is_heading = matches!(block.kind, BlockKind::Heading(_));
        if let BlockKind::Heading(level) = block.kind {
            around.enter(level, &lower);
        }
        let is_item = matches!(block.kind, BlockKind::Item(_) | BlockKind::ItemParagraph);
        let is_under_open = around.lead_in == LeadIn::Open;
        let is_over = around.lead_in == LeadIn::Past;
        around.is_doubtful = around.lead_in == LeadIn::Doubtful && !says_none(&lower);
        if is_under_open || !is_item {
            around.lead_in = LeadIn::None;
        }
        let label = lower.split_once(':').map_or("", |(label, _)| label);
        let is_optional = around.optional_heading.is_some() || is_optional_label(label);
        let is_unchecked = block.kind == BlockKind::Item(Some(false));
        if !is_optional && (is_unchecked || is_under_open && !says_none(&lower)) {
            statements.push(ProseStatement {
                text: block.prose.clone(),
                block: block_number,
                is_item,
                is_open: true,
                lacks: is_under_open || is_unchecked,
                ..ProseStatement::default()
            });
        }
        let last = sentences.len().saturating_sub(1);
        // `Fixed. The fee was taken twice.`
        let first = sentences.first().map_or("", |it| it.lower.as_str());
        let first = first.trim_matches(|c: char| !c.is_alphanumeric());
        let is_past = TABLES.list("resolved").has(first);
        for (at, sentence) in sentences.iter().enumerate() {
            let matches = matches(&sentence.lower);
            let mut statement = ProseStatement {
                block: block_number,
                is_item,
                is_heading,
                is_last_of_block: at == last,
                ..statement(sentence, &matches, &around, is_optional || is_over)
            };
            statement.claims &= !is_unchecked;
            statement.seems_to_lack &= !is_past;
            if at == last {
                let is_alone = last == 0 && !is_item;
                let is_label =
                    around.note_lead_in(&sentence.lower, &matches, (is_heading, is_alone));
                // What the label stands over says whether something is open.
                statement.is_open &= !is_label || around.lead_in != LeadIn::Open;
                statement.lacks &= !is_label || around.lead_in == LeadIn::None;
                statement.seems_to_lack &= !is_label;
                statement.outcome = statement.outcome.filter(|_| around.lead_in != LeadIn::Past);
            }
            statements.push(statement);
        }
    }
    statements
}

/// What a block says that is not prose: output, or a table.
fn of_shown_block(kind: BlockKind, source: &str) -> ProseStatement {
    let (outcome, table) = match kind {
        BlockKind::Code => (of_code(source), ""),
        BlockKind::Table => (of_table(source), source),
        _ => (None, ""),
    };
    let state = other_states(table).find(|state| weight(&lower(state)).admits(true, 0.0));
    let is_open = state.is_some() || has_open_cell(table);
    let mut lines = source.lines();
    let last_line = || lines.rfind(|line| line.contains(char::is_alphabetic));
    ProseStatement {
        text: state
            .or_else(last_line)
            .unwrap_or_default()
            .trim()
            .to_owned(),
        is_item: true,
        is_open,
        lacks: is_open,
        outcome,
        ..ProseStatement::default()
    }
}

impl Surroundings {
    fn enter(&mut self, level: u8, heading: &str) {
        self.optional_heading = self.optional_heading.filter(|above| *above < level);
        if self.optional_heading.is_none() && is_optional_label(heading) {
            self.optional_heading = Some(level);
        }
        self.is_part = heading.contains(|c: char| c.is_ascii_digit())
            && has_word(heading, TABLES.list("part_headings"));
        self.lead_in = LeadIn::None;
    }

    /// Returns whether the sentence is a label; `is_alone` if it is a paragraph.
    fn note_lead_in(
        &mut self,
        sentence: &str,
        matches: &[PhraseMatch],
        (is_heading, is_alone): (bool, bool),
    ) -> bool {
        let text = sentence.trim_end_matches([' ', '*', '_']);
        let leads_in = text.ends_with([':', '：']);
        let has = |meaning| {
            let mut asserted = matches.iter().filter(|found| !found.is_denied);
            asserted.any(|found| found.meaning == meaning)
        };
        let is_past = has(Sense::Past) || has(Sense::Recovery);
        self.is_before_others = has(Sense::Past) || leads_in && (is_past || is_of_others(sentence));
        let label = text
            .trim_matches(|c: char| !c.is_alphanumeric())
            .replace('-', " ");
        let is_open_label = TABLES.list("open_labels").has(&label);
        let is_settled = !text.ends_with('.') && TABLES.list("settled_labels").are_in(&label);
        let is_doubtful = TABLES.list("doubtful_labels").has(&label);
        let is_label = is_open_label || is_settled || is_doubtful;
        let is_heading = is_heading || is_label && is_alone;
        if !leads_in && !is_heading {
            return false;
        }
        let is_open = |found: &PhraseMatch| {
            matches!(found.meaning, Sense::Open | Sense::Lack) && !found.is_denied
        };
        self.lead_in = if is_optional_label(text)
            || has(Sense::Optional)
            || has_word(text, TABLES.list("of_person"))
        {
            LeadIn::Optional
        } else if is_open_label {
            LeadIn::Open
        } else if is_doubtful {
            LeadIn::Doubtful
        } else if is_past || is_settled {
            LeadIn::Past
        } else if has_word(text, TABLES.list("condition_labels")) {
            LeadIn::Conditional
        } else if matches.iter().any(is_open) {
            LeadIn::Open
        } else {
            LeadIn::None
        };
        true
    }
}

fn says_none(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
    let first = words.find(|word| !word.is_empty());
    first.is_none_or(|word| TABLES.list("nothings").has(word))
}

fn statement(
    sentence: &WeighedSentence<'_>,
    matches: &[PhraseMatch],
    around: &Surroundings,
    is_optional: bool,
) -> ProseStatement {
    let text = sentence.lower.as_str();
    let is_conditional = matches.iter().any(|found| found.is_conditional);
    let asserted = matches.iter().filter(|found| !found.is_denied);
    let meanings = asserted
        .map(|found| found.meaning)
        .filter(|meaning| match meaning {
            // An offer to continue the work itself is a question.
            Sense::Offer => !TABLES.list("continues").are_in(text),
            Sense::Proceeds => !is_conditional,
            _ => true,
        })
        .collect::<Vec<_>>();
    let has = |meaning: Sense| meanings.contains(&meaning);
    if sentence.is_question {
        // `The dialog asks: …?`, `error: …, perhaps a flag is missing?`
        let is_of_others = text.contains(" asks") || ERRORS.iter().any(|it| text.starts_with(it));
        return ProseStatement {
            text: sentence.text.to_owned(),
            is_question: !is_of_others,
            meanings: if is_of_others { Vec::new() } else { meanings },
            ..ProseStatement::default()
        };
    }
    let is_of_work = matches!(
        around.lead_in,
        LeadIn::None | LeadIn::Open | LeadIn::Doubtful
    );
    let is_beside = is_optional || !is_of_work;
    let is_optional = is_optional || around.lead_in == LeadIn::Optional || has(Sense::Optional);
    let progress = progress(text);
    let of_whole = matches.iter().filter(|found| {
        matches!(found.meaning, Sense::AllDone | Sense::WholeDone)
            && !found.is_conditional
            && !found.is_modal
    });
    let is_excepted = of_whole.clone().any(|found| found.has_exception);
    let is_claimed = of_whole.clone().any(|found| {
        let is_of_whole = found.meaning == Sense::AllDone || !around.is_part;
        is_of_whole && !found.is_denied && !found.has_exception && !found.is_of_part
    });
    let is_open = |found: &PhraseMatch| {
        let is_still = !found.is_denied && !found.is_conditional && !found.is_resolved;
        found.meaning == Sense::Open && is_still
    };
    let intends = has(Sense::Intention) && !is_conditional;
    let is_incomplete = is_excepted || progress == Some(StatedProgress::Part);
    let lacks = is_incomplete && !is_optional
        || last_place(matches, Sense::Lack).is_some()
        || around.is_doubtful;
    let outcome = outcome(text, matches);
    let by_phrases = lacks || outcome == Some(Outcome::Fails);
    // What a program printed, and what stands behind a label, is not weighed.
    let is_output = outcome == Some(Outcome::Fails) && of_line(text) == outcome;
    let label = text.split_once(':').map_or("", |(label, _)| label);
    let is_sure = is_output || TABLES.list("open_labels").has(label);
    let admits = by_phrases && is_sure || sentence.weight.admits(by_phrases, around.tone);
    let claims = around.lead_in != LeadIn::Conditional
        && (progress == Some(StatedProgress::All) || is_claimed);
    ProseStatement {
        text: sentence.text.to_owned(),
        claims,
        // `Let me fix what is still failing` says what comes next.
        is_open: (is_incomplete || matches.iter().any(is_open)) && !is_optional && !intends,
        intends: intends && !is_optional,
        lacks: lacks && admits && !is_beside && !intends,
        seems_to_lack: admits && !by_phrases && !claims && !is_optional && !is_beside && !intends,
        outcome: outcome.filter(|it| !is_beside && (admits || *it == Outcome::Passes)),
        meanings,
        ..ProseStatement::default()
    }
}

/// Whether a sentence says that a run failed.
pub(super) fn fails(sentence: &str) -> bool {
    let lower = lower(sentence);
    outcome(&lower, &matches(&lower)) == Some(Outcome::Fails)
}

/// Whether a sentence stands over output that is not of the agent's last run.
pub(super) fn is_of_others(sentence: &str) -> bool {
    let has = |list| has_word(sentence, TABLES.list(list));
    (has("about_code") || has("of_others")) && !has("persists")
}

/// Whether a block of code shows a run that failed.
pub(super) fn shows_failure(code: &str) -> bool {
    of_code(code) == Some(Outcome::Fails)
}

/// The place of the last phrase of a meaning that the sentence states as it is now.
fn last_place(matches: &[PhraseMatch], meaning: Sense) -> Option<usize> {
    let is_over = matches.iter().any(|found| found.meaning == Sense::Past);
    let stated = matches.iter().filter(|found| {
        let is_stated = !found.is_denied && !found.is_conditional && !found.is_resolved;
        found.meaning == meaning && is_stated && !is_over
    });
    stated.map(|found| found.at).max()
}

/// What a sentence says of the last run: of two phrases the later one.
fn outcome(sentence: &str, matches: &[PhraseMatch]) -> Option<Outcome> {
    let is_recovery = |found: &&PhraseMatch| {
        let is_whole = !found.is_denied && !found.has_exception && !found.is_conditional;
        found.meaning == Sense::Recovery && is_whole
    };
    let recoveries = matches.iter().filter(is_recovery);
    let recovery = recoveries.map(|found| found.at).max();
    let failure = last_place(matches, Sense::Failure);
    let is_over = |found: &PhraseMatch| found.meaning == Sense::Past || found.is_conditional;
    let is_present = !matches.iter().any(is_over);
    if failure > recovery {
        return Some(Outcome::Fails);
    }
    let recovered = || recovery.map(|_| Outcome::Passes);
    let of_share = of_share(sentence).filter(|it| is_present || *it == Outcome::Passes);
    // `48 passed` may leave others.
    let of_line = || of_line(sentence).filter(|it| is_present && *it == Outcome::Fails);
    of_share.or_else(recovered).or_else(of_line)
}

fn ends_with_prompt(blocks: &[&Block]) -> bool {
    let last = blocks.last().filter(|block| block.is_prose());
    let line = last.and_then(|block| block.prose.trim_end().lines().next_back());
    let line = line.unwrap_or_default().to_lowercase();
    CHOICES.iter().any(|choice| line.contains(choice))
}

fn asks_person(statements: &[ProseStatement], is_done: bool) -> bool {
    let mut paragraphs = 0;
    let mut block = None;
    for (from_end, statement) in statements.iter().rev().enumerate() {
        if block != Some(statement.block) {
            block = Some(statement.block);
            paragraphs += usize::from(!statement.is_item);
            if paragraphs > TAIL_PARAGRAPHS {
                return false;
            }
        }
        let has = |meaning| statement.meanings.contains(&meaning);
        let decides = has(Sense::Proceeds) || statement.intends && !has(Sense::Need);
        if decides && !has(Sense::Request) && !statement.is_question {
            return false;
        }
        if asks(statement, from_end == 0, is_done) {
            return true;
        }
    }
    false
}

fn asks(statement: &ProseStatement, is_last: bool, is_done: bool) -> bool {
    let has = |meaning| statement.meanings.contains(&meaning);
    let is_offer = has(Sense::Offer);
    if has(Sense::Courtesy) || statement.is_heading || is_offer && is_done {
        return false;
    }
    if !statement.is_question {
        return has(Sense::Request) && !is_offer || has(Sense::Need) && !has(Sense::Proceeds);
    }
    // A question in the middle of a paragraph is answered there, unless it is put to the person.
    let is_put = is_offer || has(Sense::Request);
    is_last || is_put || statement.is_last_of_block && has(Sense::Address)
}

#[cfg(test)]
mod tests;
