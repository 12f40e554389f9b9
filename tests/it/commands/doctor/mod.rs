//! `conclave doctor`: reports everything that matters, spends nothing without consent, never hangs
//! and never shows a key.

mod checks;
mod deep;

use serde_json::Value;

use crate::support::binary::RunOutput;
use crate::support::schema;

const SCHEMA: &str = include_str!("../../../../schemas/doctor.schema.json");

/// Plausible keys that must never be shown.
const KEYS: [(&str, &str); 4] = [
    ("ANTHROPIC_API_KEY", "sk-ant-secret-1"),
    ("OPENAI_API_KEY", "sk-secret-2"),
    ("GEMINI_API_KEY", "AIzaSecret3"),
    ("OPENROUTER_API_KEY", "sk-or-secret-4"),
];

fn findings(output: &RunOutput) -> Value {
    let json = output.json();
    schema::check(SCHEMA, &json);
    for (_, key) in KEYS {
        assert!(
            !output.stdout.contains(key),
            "{}{}",
            output.stdout,
            output.stderr
        );
        assert!(
            !output.stderr.contains(key),
            "{}{}",
            output.stdout,
            output.stderr
        );
    }
    json
}
