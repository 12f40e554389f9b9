//! Models that one provider resells for another, named `vendor/id`, with dots in the version of the
//! id.

use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::vendors::{self, VENDORS, Vendor};

/// Returns the possible names of a resold model at its own vendor: the id as is, and with dashes
/// for dots. `None` for any other model, and for one with a suffix such as `:free`, which is sold
/// on other terms.
pub(super) fn at_its_vendor(model: &ModelRef) -> Option<[ModelRef; 2]> {
    let (vendor, id) = model
        .model
        .split_once('/')
        .filter(|(_, id)| is_reseller(&model.provider) && !id.contains(':'))?;
    let vendor = VENDORS
        .iter()
        .find(|known| known.reseller_name == Some(vendor))?;
    let dashed = id.replace('.', "-");
    Some([
        ModelRef::new(vendor.id, id),
        ModelRef::new(vendor.id, dashed),
    ])
}

/// Returns the reseller's name of the vendor's model `id`, if `sold` is a resold model of that
/// vendor.
pub(super) fn sold_alike(sold: &ModelRef, id: &str) -> Option<String> {
    let (vendor, _) = sold
        .model
        .split_once('/')
        .filter(|_| is_reseller(&sold.provider))?;
    let mut name = String::with_capacity(id.len());
    let mut rest = id.chars().peekable();
    let mut after_digit = false;
    while let Some(c) = rest.next() {
        let between_digits =
            c == '-' && after_digit && rest.peek().is_some_and(char::is_ascii_digit);
        name.push(if between_digits { '.' } else { c });
        after_digit = c.is_ascii_digit();
    }
    Some(format!("{vendor}/{name}"))
}

fn is_reseller(provider: &ProviderId) -> bool {
    vendors::find(provider.as_str()).is_some_and(Vendor::is_reseller)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resold_model_is_known_by_its_vendors_id() {
        let at = |id| at_its_vendor(&ModelRef::new("openrouter", id));
        assert_eq!(
            at("anthropic/claude-opus-5.5"),
            Some([
                ModelRef::new("anthropic", "claude-opus-5.5"),
                ModelRef::new("anthropic", "claude-opus-5-5")
            ])
        );
        assert_eq!(
            at("x-ai/grok-4.7").unwrap()[0],
            ModelRef::new("xai", "grok-4.7")
        );
        for id in ["meta-llama/llama-4", "openai/gpt-6-luna:free", "gpt-6-luna"] {
            assert_eq!(at(id), None, "{id}");
        }
        assert_eq!(
            at_its_vendor(&ModelRef::new("openai", "openai/gpt-6-luna")),
            None
        );
    }

    #[test]
    fn a_vendors_id_is_written_as_the_reseller_writes_it() {
        let sold = ModelRef::new("openrouter", "anthropic/claude-3.5-sonnet");
        assert_eq!(
            sold_alike(&sold, "claude-sonnet-5-5").unwrap(),
            "anthropic/claude-sonnet-5.5"
        );
        assert_eq!(
            sold_alike(&ModelRef::new("openrouter", "openai/gpt-4o"), "gpt-6.1-sol").unwrap(),
            "openai/gpt-6.1-sol"
        );
        assert_eq!(
            sold_alike(&ModelRef::new("openai", "gpt-4o"), "gpt-6.1-sol"),
            None
        );
    }
}
