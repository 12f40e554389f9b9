//! The secrets that were masked, for people: how many of which type, never their values.

use std::cmp::Reverse;

use crate::domain::context::ScrubbingReport;
use crate::domain::words::secret_type;

/// The warning that nothing is masked, line by line.
pub const SCRUBBING_DISABLED: [&str; 2] = [
    "⚠️ WARNING: Sensitive data scrubbing disabled.",
    "Ensure your context contains no secrets!",
];

/// Returns the lines that say what was masked, the most frequent type first; none if nothing was.
pub fn scrubbing_lines(report: &ScrubbingReport) -> Vec<String> {
    let values = match report.patterns_matched {
        0 => return Vec::new(),
        1 => "value",
        _ => "values",
    };
    let mut lines = vec![format!(
        "🔒 Security: {} sensitive {values} detected and masked in context:",
        report.patterns_matched
    )];
    let mut types: Vec<_> = report.by_type.iter().collect();
    types.sort_by_key(|(_, number)| Reverse(**number));
    let of_type =
        |(id, number): (&String, &u64)| format!("- {number} {}", secret_type(id, *number));
    lines.extend(types.into_iter().map(of_type));
    lines
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn lines(by_type: &[(&str, u64)]) -> String {
        let by_type: BTreeMap<String, u64> = by_type
            .iter()
            .map(|(name, number)| ((*name).to_owned(), *number))
            .collect();
        scrubbing_lines(&ScrubbingReport {
            sensitive_data_scrubbed: true,
            patterns_matched: by_type.values().sum(),
            types_detected: by_type.keys().cloned().collect(),
            by_type,
            ..ScrubbingReport::default()
        })
        .join("\n")
    }

    #[test]
    fn masked_values_are_counted_by_type() {
        let types = [
            ("api_key", 1),
            ("database_password", 1),
            ("github_token", 1),
            ("secret", 1),
        ];
        assert_eq!(
            lines(&types),
            "🔒 Security: 4 sensitive values detected and masked in context:\n\
             - 1 API key\n\
             - 1 database password\n\
             - 1 GitHub token\n\
             - 1 secret"
        );
    }

    #[test]
    fn single_value_is_in_the_singular() {
        assert_eq!(
            lines(&[("aws_key", 1)]),
            "🔒 Security: 1 sensitive value detected and masked in context:\n- 1 AWS key"
        );
    }

    #[test]
    fn the_most_frequent_type_comes_first_and_several_are_in_the_plural() {
        assert_eq!(
            lines(&[("identity", 2), ("password", 3), ("private_key", 2)]),
            "🔒 Security: 7 sensitive values detected and masked in context:\n\
             - 3 passwords\n\
             - 2 identities\n\
             - 2 private keys"
        );
    }

    #[test]
    fn nothing_is_said_if_nothing_was_masked() {
        assert_eq!(lines(&[]), "");
    }
}
