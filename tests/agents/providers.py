"""Answers in place of Anthropic, OpenAI and Google on one port: answers every call by the schema it asks for.

    python3 providers.py [SECONDS]

prints the port; each call takes that many seconds.
"""
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DELAY = float(sys.argv[1]) if len(sys.argv) > 1 else 0.0


def value(schema, root, expert):
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            return value(next(it for it in schema[choice] if it.get("type") != "null"), root, expert)
    if "enum" in schema:
        experts = [it for it in schema["enum"] if it == expert]
        return (experts or schema["enum"])[0]
    kind = schema.get("type")
    kind = next(it for it in kind if it != "null") if isinstance(kind, list) else kind
    if kind == "object":
        return {name: value(of, root, expert) for name, of in schema.get("properties", {}).items()}
    if kind == "array":
        return [value(schema.get("items", {}), root, expert)]
    return {"number": 0.8, "integer": 1, "boolean": True}.get(kind, expert)


def schema_of(body):
    config = body.get("generationConfig", {})
    return (
        body.get("response_format", {}).get("json_schema", {}).get("schema")
        or body.get("output_config", {}).get("format", {}).get("schema")
        or body.get("output_format", {}).get("schema")
        or config.get("responseJsonSchema")
        or config.get("responseSchema")
    )


def events(path, body, text):
    if "/messages" in path:
        usage = {"input_tokens": 100, "output_tokens": 1}
        return [
            {"type": "message_start", "message": {"id": "m", "model": body["model"], "usage": usage}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 50}},
            {"type": "message_stop"},
        ]
    if "enerateContent" in path:
        said = {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP", "index": 0}
        usage = {"promptTokenCount": 100, "candidatesTokenCount": 50}
        return [{"candidates": [said], "usageMetadata": usage}]
    chunk = {"id": "c", "model": body["model"]}
    return [
        chunk | {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}]},
        chunk | {"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 50}},
        "[DONE]",
    ]


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        time.sleep(DELAY)
        schema, asked = schema_of(body), json.dumps(body)
        expert = next((it for it in ("Expert A", "Expert B", "Expert C") if it in asked), "Expert A")
        text = json.dumps(value(schema, schema, expert)) if schema else "plain"
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for event in events(self.path, body, text):
            name = f"event: {event['type']}\n" if "type" in event else ""
            data = event if isinstance(event, str) else json.dumps(event)
            self.wfile.write(f"{name}data: {data}\n\n".encode())


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
