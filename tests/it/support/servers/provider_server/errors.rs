//! Error bodies in the vendors' shapes.

use serde_json::{Value, json};

use super::Vendor;
use super::wire::Wire;

/// Returns the body of an error with this status. The code is the vendor's name for the kind of
/// error, in the vendor's field for it.
pub(super) fn error_body(
    vendor: Vendor,
    wire: Wire,
    status: u16,
    code: &str,
    message: &str,
) -> Value {
    match (wire, vendor) {
        (Wire::Messages, _) => {
            json!({
                "type": "error",
                "error": {"type": code, "message": message},
                "request_id": "req_1",
            })
        }
        (Wire::Gemini, _) => json!({"error": {"code": status, "message": message, "status": code}}),
        (Wire::Ollama, _) => json!({"error": message}),
        (Wire::Chat, Vendor::Xai) => json!({"code": code, "error": message}),
        (Wire::Chat, Vendor::Mistral) => {
            json!({
                "object": "error",
                "message": message,
                "type": code,
                "param": null,
                "code": code,
            })
        }
        (Wire::Chat, Vendor::OpenRouter) => {
            json!({
                "error": {
                    "code": status,
                    "message": message,
                    "metadata": {"error_type": code, "provider_name": "Upstream"},
                },
                "user_id": "user_1",
            })
        }
        (Wire::Chat, Vendor::LlamaCpp) => {
            json!({"error": {"code": status, "message": message, "type": code}})
        }
        (Wire::Chat, Vendor::LmStudio) => json!({"error": message}),
        (Wire::Chat, Vendor::Vllm) => {
            json!({"error": {"message": message, "type": code, "param": null, "code": status}})
        }
        (Wire::Chat | Wire::Responses, _) => {
            json!({"error": {"message": message, "type": code, "param": null, "code": code}})
        }
    }
}
