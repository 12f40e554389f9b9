//! Facts in the names of models: embedding models, and the number of parameters.

/// Returns whether the name is that of an embedding model, which cannot chat.
pub(super) fn is_embedding(name: &str) -> bool {
    let name = name.to_lowercase();
    ["embed", "rerank", "minilm", "bge-"]
        .iter()
        .any(|sign| name.contains(sign))
}

/// Reads a count as servers write it: `8.2B`, `567.75M`.
pub(super) fn parameters(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let factor = match unit {
        "K" | "k" => 1e3,
        "M" | "m" => 1e6,
        "B" | "b" => 1e9,
        "T" | "t" => 1e12,
        _ => return None,
    };
    let starts_with_digit = digits.starts_with(|c: char| c.is_ascii_digit());
    let count = digits.parse::<f64>().ok().filter(|_| starts_with_digit)?;
    let count = (count * factor).round();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the range is checked just before"
    )]
    (1.0..1e18).contains(&count).then_some(count as u64)
}

/// Reads the count in a name such as `qwen3:1.7b` or `Llama-3.1-8B-Instruct`. Of several
/// (`30b-a3b`) the largest counts.
pub(super) fn parameters_in_name(name: &str) -> Option<u64> {
    let words = name.split(['-', ':', '_', '/', ' ', '@']);
    words
        .filter(|word| word.ends_with(['b', 'B', 'm', 'M']))
        .filter_map(parameters)
        .filter(|count| *count >= 10_000_000)
        .max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_parameters_are_read_as_servers_and_names_write_them() {
        let counts = ["8.2B", "751.63M", "1T", "B", "", "x8B", "-1B"].map(parameters);
        assert_eq!(
            counts,
            [
                Some(8_200_000_000),
                Some(751_630_000),
                Some(1_000_000_000_000),
                None,
                None,
                None,
                None
            ]
        );
        let named = [
            "qwen3:1.7b",
            "Qwen3-30B-A3B",
            "smollm2-135m-instruct",
            "phi",
            "v1-b",
            "x-4m",
        ]
        .map(parameters_in_name);
        assert_eq!(
            named,
            [
                Some(1_700_000_000),
                Some(30_000_000_000),
                Some(135_000_000),
                None,
                None,
                None
            ]
        );
    }
}
