//! Anonymity: from Round 2 on no prompt names a vendor, a model or a persona of another expert.

use serde_json::json;

use crate::support::binary::Conclave;
use crate::support::model_requests::model_requests;
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

/// Names that would reveal an expert.
const NAMES: [&str; 9] = [
    "anthropic",
    "claude",
    "openai",
    "gpt",
    "google",
    "gemini",
    "security expert",
    "software architect",
    "pragmatist",
];

#[test]
fn prompts_hide_the_identity_of_other_experts() {
    let server = ProviderServer::start();
    // The answers must not contain the names, or the test would find them there.
    let position = json!({
        "position": "Start small",
        "key_points": ["Undo is cheap"],
        "rationale": "Because.",
        "confidence": 0.7,
    })
    .to_string();
    let revision = json!({
        "challenges": [],
        "rebuttals": [],
        "changed": false,
        "because_of": [],
        "revised_position": "Start small",
        "revised_confidence": 0.7,
    })
    .to_string();
    for (vendor, second) in [
        (Vendor::Anthropic, 2),
        (Vendor::OpenAi, 3),
        (Vendor::Google, 2),
    ] {
        server.on(On::vendor(vendor).nth(1), Answer::text(position.clone()));
        server.on(
            On::vendor(vendor).nth(second),
            Answer::text(revision.clone()),
        );
    }
    Conclave::at(&server)
        .run(&["consult", "Shall we?"])
        .ends_with(0);

    let requests = model_requests(&server);
    assert_eq!(requests.len(), 9);
    for request in requests
        .iter()
        .filter(|request| request.answer != "independent")
    {
        // An expert's prompt starts with its own persona.
        let rest = request
            .system
            .strip_prefix(&request.persona())
            .unwrap_or(&request.system);
        assert_eq!(
            rest.len() < request.system.len(),
            request.answer == "revision"
        );
        let prompt = format!("{rest}\n{}", request.user).to_lowercase();
        for name in NAMES {
            assert!(
                !prompt.contains(name),
                "the {} prompt names `{name}`: {prompt}",
                request.answer
            );
        }
        assert!(prompt.contains("expert a"), "{prompt}");
        assert!(prompt.contains("expert b"), "{prompt}");
    }
}
