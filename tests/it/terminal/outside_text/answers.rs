//! Answers with every field that a model can write.

use serde_json::{Value, json};

/// Returns an answer with every field that a model can write in this request.
pub(super) fn valid_answer(field: &str) -> Value {
    match field {
        "position" => json!({
            "position": "Start small",
            "key_points": ["safe", "quick"],
            "rationale": "It can be undone.",
            "confidence": 0.7,
        }),
        "consensus_points" => json!({
            "consensus_points": [
                {"point": "Start small", "supporting_agents": ["Expert A"], "confidence": 0.8},
            ],
            "tensions": [
                {
                    "topic": "Speed",
                    "severity": "medium",
                    "viewpoints": [
                        {"agent": "Expert A", "viewpoint": "fast"},
                        {"agent": "Expert B", "viewpoint": "slow"},
                    ],
                },
            ],
            "priority_order": ["Speed"],
        }),
        "revised_position" => json!({
            "challenges": [
                {
                    "target_agent": "Expert B",
                    "challenge": "slow",
                    "evidence": ["deadlines"],
                    "severity": "low",
                },
            ],
            "rebuttals": [{"agent": "Expert B", "rebuttal": "safe"}],
            "changed": true,
            "because_of": [{"agent": "Expert B", "argument": "risk"}],
            "revised_position": "Wait",
            "revised_confidence": 0.75,
        }),
        "unresolved" => json!({
            "challenges": [
                {
                    "challenger": "Expert A",
                    "target_agent": "Expert B",
                    "challenge": "slow",
                    "evidence": ["deadlines"],
                    "severity": "medium",
                },
            ],
            "rebuttals": [{"agent": "Expert B", "rebuttal": "safe"}],
            "unresolved": ["How fast"],
        }),
        _ => json!({
            "summary": "They agreed.", "recommendation": "Start small.", "confidence": 0.8,
            "evidence": [{"claim": "safe", "agent": "Expert A", "quote": "safe"}],
            "dissent": [{"agent": "Expert B", "concern": "slow", "severity": "low"}],
        }),
    }
}
