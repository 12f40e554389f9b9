//! The questions about money: what a consultation may cost unasked, and what a month may.

use crate::commands::flags::dollars;
use crate::config::settings::Settings;
use crate::domain::money::MicroUsd;
use crate::terminal::prompt::dialogue::{Dialogue, DialogueError};

/// The usual amounts for one consultation, besides nothing.
const UNASKED: [MicroUsd; 3] = [MicroUsd(100_000), MicroUsd(500_000), MicroUsd(1_000_000)];

/// The usual amounts for a month.
const BUDGETS: [MicroUsd; 3] = [
    MicroUsd(5_000_000),
    MicroUsd(20_000_000),
    MicroUsd(50_000_000),
];

/// Asks, and puts the answers in the draft.
pub(super) async fn ask(dialogue: &Dialogue, draft: &mut Settings) -> Result<(), DialogueError> {
    let present = draft.always_allow_under;
    let mut amounts = UNASKED.to_vec();
    if present > MicroUsd::ZERO && !amounts.contains(&present) {
        amounts.insert(0, present);
    }
    let unasked = AmountQuestion {
        prompt: "Spend without asking",
        none: "Nothing: ask about every cost",
        suffix: "for a consultation",
    };
    let present = Some(present).filter(|amount| *amount > MicroUsd::ZERO);
    let answer = unasked.ask(dialogue, &amounts, present).await?;
    draft.always_allow_under = answer.unwrap_or(MicroUsd::ZERO);

    let mut amounts = BUDGETS.to_vec();
    amounts.splice(
        ..0,
        draft.monthly_budget.filter(|now| !amounts.contains(now)),
    );
    let month = AmountQuestion {
        prompt: "Spend in a month",
        none: "No limit",
        suffix: "in all",
    };
    draft.monthly_budget = month.ask(dialogue, &amounts, draft.monthly_budget).await?;
    Ok(())
}

/// A question about an amount.
#[derive(Clone, Copy, Debug)]
struct AmountQuestion {
    prompt: &'static str,
    /// The item without an amount, which stands first.
    none: &'static str,
    suffix: &'static str,
}

impl AmountQuestion {
    /// Asks for one of the amounts, none, or another one; the present answer is the default.
    async fn ask(
        self,
        dialogue: &Dialogue,
        amounts: &[MicroUsd],
        present: Option<MicroUsd>,
    ) -> Result<Option<MicroUsd>, DialogueError> {
        let mut items = vec![self.none.to_owned()];
        items.extend(
            amounts
                .iter()
                .map(|amount| format!("Up to {amount:.2} {}", self.suffix)),
        );
        items.push("Another amount".to_owned());
        let at = present.and_then(|present| amounts.iter().position(|amount| *amount == present));
        let default = at.map_or(0, |at| at + 1);
        match dialogue.select(self.prompt, &items, default).await? {
            0 => Ok(None),
            choice => match amounts.get(choice - 1) {
                Some(amount) => Ok(Some(*amount)),
                None => dialogue
                    .line("Amount in dollars", |text| {
                        dollars(text).map_err(|error| format!("The amount {error}."))
                    })
                    .await
                    .map(Some),
            },
        }
    }
}
