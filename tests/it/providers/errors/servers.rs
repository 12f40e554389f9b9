//! Errors of local servers, and of the proxies and gateways before a provider.

use conclave::consultation::protocol::call::FailureClass;
use conclave::providers::errors::in_stream;
use serde_json::json;

use super::{account, check_bodies};

#[test]
fn local_server_errors_are_classified() {
    check_bodies(
        r#"404 ModelMissing {"error": "model 'x' not found"}
        model 'x' not found (HTTP 404)
        500 Overload {"error": "llama runner process has terminated"}
        llama runner process has terminated (HTTP 500)
        503 Overload {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}
        Loading model (HTTP 503)
        401 Auth {"error": {"code": 401, "message": "Invalid API Key", "type": "authentication_error"}}
        Invalid API Key (HTTP 401); check `SOME_API_KEY`
        400 Context {"error": {"code": 400, "message": "too big", "type": "exceed_context_size_error"}}
        too big (HTTP 400)
        501 BadRequest {"error": {"code": 501, "message": "no", "type": "not_supported_error"}}
        no (HTTP 501)
        404 BadRequest {"error": {"code": 404, "message": "File Not Found", "type": "not_found_error"}}
        File Not Found (HTTP 404); check the base URL
        400 BadRequest {"error": "'response_format.type' must be 'json_schema' or 'text'"}
        'response_format.type' must be 'json_schema' or 'text' (HTTP 400)
        404 BadRequest {"detail": "Not Found"}
        Not Found (HTTP 404); check the base URL
        404 ModelMissing {"object": "error", "message": "The model `x` does not exist.", "code": 404}
        The model `x` does not exist. (HTTP 404)
        400 Context {"error": {"message": "This model's maximum context length is 8 tokens.", "code": 400}}
        This model's maximum context length is 8 tokens. (HTTP 400)
        404 BadRequest 404 page not found
        404 page not found (HTTP 404); check the base URL
        500 BadRequest {"error": {"message": "1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'x')}"}}
        1 validation error: {'type': 'literal_error', 'loc': ('body', 'x')} (HTTP 500)
        500 Overload {"error": {"message": "can only concatenate str to str", "type": "internal_server_error"}}
        can only concatenate str to str (HTTP 500)"#,
    );
    let error = json!({"error": "Unexpected endpoint or method. (POST /chat/completions)"});
    let endpoint = in_stream(&error, &account());
    assert_eq!(endpoint.class, FailureClass::BadRequest);
    let message = "Unexpected endpoint or method. (POST /chat/completions); check the base URL";
    assert_eq!(endpoint.message, message);
}

#[test]
fn proxy_and_gateway_errors_are_classified() {
    check_bodies(
        r#"301 BadRequest
        the server redirects elsewhere (HTTP 301); check the base URL
        308 BadRequest <html>moved</html>
        the server redirects elsewhere (HTTP 308); check the base URL
        403 Auth <html><title>Blocked</title></html>
        Blocked (HTTP 403); check `SOME_API_KEY`, or the proxy
        405 BadRequest {"detail": "Method Not Allowed"}
        Method Not Allowed (HTTP 405); check the base URL
        407 Auth <html><title>Proxy Authentication Required</title></html>
        Proxy Authentication Required (HTTP 407); check `SOME_API_KEY`, or the proxy
        502 Overload <html><head><title>502 Bad Gateway</title></head></html>
        502 Bad Gateway (HTTP 502)
        520 Overload <html></html>
        the server sent a web page (HTTP 520)
        404 BadRequest
        HTTP 404 without an explanation; check the base URL
        400 ModelMissing {"error": {"message": "400: {'error': 'Invalid model name passed in model=x. Call `/v1/models` to view.'}", "type": "None", "code": "400"}}
        400: {'error': 'Invalid model name passed in model=x. Call `/v1/models` to view.'} (HTTP 400)"#,
    );
}
