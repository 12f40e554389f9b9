//! Errors in the shapes in which the vendors send them.

use serde_json::{Value, json};

use super::Vendor;
use super::wire::Wire;

/// The body of an error with this status. The code is the vendor's word for the kind of error,
/// wherever it puts that.
pub(super) fn error_body(
    vendor: Vendor,
    wire: Wire,
    status: u16,
    code: &str,
    words: &str,
) -> Value {
    match (wire, vendor) {
        (Wire::Messages, _) => {
            json!({"type": "error", "error": {"type": code, "message": words}, "request_id": "req_1"})
        }
        (Wire::Gemini, _) => json!({"error": {"code": status, "message": words, "status": code}}),
        (Wire::Ollama, _) => json!({"error": words}),
        (Wire::Chat, Vendor::Xai) => json!({"code": code, "error": words}),
        (Wire::Chat, Vendor::Mistral) => {
            json!({"object": "error", "message": words, "type": code, "param": null, "code": code})
        }
        (Wire::Chat, Vendor::OpenRouter) => {
            json!({"error": {"code": status, "message": words, "metadata": {"error_type": code, "provider_name": "Upstream"}}, "user_id": "user_1"})
        }
        (Wire::Chat, Vendor::LlamaCpp) => {
            json!({"error": {"code": status, "message": words, "type": code}})
        }
        (Wire::Chat, Vendor::LmStudio) => json!({"error": words}),
        (Wire::Chat, Vendor::Vllm) => {
            json!({"error": {"message": words, "type": code, "param": null, "code": status}})
        }
        (Wire::Chat, _) => {
            json!({"error": {"message": words, "type": code, "param": null, "code": code}})
        }
    }
}
