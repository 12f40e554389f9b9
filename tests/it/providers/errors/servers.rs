//! Errors of local servers, and of the proxies and gateways before a provider.

use conclave::consultation::protocol::call::FailureClass;
use conclave::providers::errors::in_stream;
use serde_json::json;

use super::{account, check};
use FailureClass::{Auth, BadRequest, Context, ModelMissing, Overload};

#[test]
fn local_server_errors_are_classified() {
    check(&[
        (
            404,
            json!({"error": "model 'x' not found"}),
            ModelMissing,
            "model 'x' not found (HTTP 404)",
        ),
        (
            500,
            json!({"error": "llama runner process has terminated"}),
            Overload,
            "llama runner process has terminated (HTTP 500)",
        ),
        (
            503,
            json!({
                "error": {"code": 503, "message": "Loading model", "type": "unavailable_error"},
            }),
            Overload,
            "Loading model (HTTP 503)",
        ),
        (
            401,
            json!({
                "error": {
                    "code": 401,
                    "message": "Invalid API Key",
                    "type": "authentication_error",
                },
            }),
            Auth,
            "Invalid API Key (HTTP 401); check `SOME_API_KEY`",
        ),
        (
            400,
            json!({
                "error": {
                    "code": 400,
                    "message": "too big",
                    "type": "exceed_context_size_error",
                    "n_prompt_tokens": 9,
                    "n_ctx": 8,
                },
            }),
            Context,
            "too big (HTTP 400)",
        ),
        (
            501,
            json!({"error": {"code": 501, "message": "no", "type": "not_supported_error"}}),
            BadRequest,
            "no (HTTP 501)",
        ),
        (
            404,
            json!({"error": {"code": 404, "message": "File Not Found", "type": "not_found_error"}}),
            BadRequest,
            "File Not Found (HTTP 404); check the base URL",
        ),
        (
            400,
            json!({"error": "'response_format.type' must be 'json_schema' or 'text'"}),
            BadRequest,
            "'response_format.type' must be 'json_schema' or 'text' (HTTP 400)",
        ),
        (
            404,
            json!({"detail": "Not Found"}),
            BadRequest,
            "Not Found (HTTP 404); check the base URL",
        ),
        (
            404,
            json!({
                "object": "error",
                "message": "The model `x` does not exist.",
                "type": "NotFoundError",
                "param": null,
                "code": 404,
            }),
            ModelMissing,
            "The model `x` does not exist. (HTTP 404)",
        ),
        (
            400,
            json!({
                "error": {
                    "message": "This model's maximum context length is 8 tokens.",
                    "type": "BadRequestError",
                    "param": null,
                    "code": 400,
                },
            }),
            Context,
            "This model's maximum context length is 8 tokens. (HTTP 400)",
        ),
        (
            404,
            json!("404 page not found"),
            BadRequest,
            "404 page not found (HTTP 404); check the base URL",
        ),
        (
            500,
            json!({
                "error": {
                    "message": "1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text' or 'json_object'\"}",
                    "type": "internal_server_error",
                    "param": null,
                    "code": null,
                },
            }),
            BadRequest,
            "1 validation error: {'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text' or 'json_object'\"} (HTTP 500)",
        ),
        (
            500,
            json!({
                "error": {
                    "message": "can only concatenate str to str",
                    "type": "internal_server_error",
                    "param": null,
                    "code": null,
                },
            }),
            Overload,
            "can only concatenate str to str (HTTP 500)",
        ),
    ]);
    let endpoint = in_stream(
        &json!({"error": "Unexpected endpoint or method. (POST /chat/completions)"}),
        &account(),
    );
    assert_eq!(endpoint.class, BadRequest);
    assert_eq!(
        endpoint.message.as_str(),
        "Unexpected endpoint or method. (POST /chat/completions); check the base URL"
    );
}

#[test]
fn proxy_and_gateway_errors_are_classified() {
    check(&[
        (
            301,
            json!(""),
            BadRequest,
            "the server redirects elsewhere (HTTP 301); check the base URL",
        ),
        (
            308,
            json!("<html>moved</html>"),
            BadRequest,
            "the server redirects elsewhere (HTTP 308); check the base URL",
        ),
        (
            403,
            json!("<html><title>Blocked</title></html>"),
            Auth,
            "Blocked (HTTP 403); check `SOME_API_KEY`, or the proxy",
        ),
        (
            405,
            json!({"detail": "Method Not Allowed"}),
            BadRequest,
            "Method Not Allowed (HTTP 405); check the base URL",
        ),
        (
            407,
            json!("<html><title>Proxy Authentication Required</title></html>"),
            Auth,
            "Proxy Authentication Required (HTTP 407); check `SOME_API_KEY`, or the proxy",
        ),
        (
            502,
            json!("<html><head><title>502 Bad Gateway</title></head></html>"),
            Overload,
            "502 Bad Gateway (HTTP 502)",
        ),
        (
            520,
            json!("<html></html>"),
            Overload,
            "the server sent a web page (HTTP 520)",
        ),
        (
            404,
            json!(""),
            BadRequest,
            "HTTP 404 without an explanation; check the base URL",
        ),
        (
            400,
            json!({
                "error": {
                    "message": "400: {'error': 'Invalid model name passed in model=x. Call `/v1/models` to view.'}",
                    "type": "None",
                    "param": "None",
                    "code": "400",
                },
            }),
            ModelMissing,
            "400: {'error': 'Invalid model name passed in model=x. Call `/v1/models` to view.'} (HTTP 400)",
        ),
    ]);
}
