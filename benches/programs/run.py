#!/usr/bin/env python3
"""The programs of the table `src/config/programs/known.toml`, as they really are, against local
servers: what they send, what they leak, how long they take to start, and what they say of failures.

    npm install --prefix FOLDER @anthropic-ai/claude-code@2.1.330 @openai/codex@0.169.0
    benches/programs/run.py FOLDER              one row for each program and case; exits 1 on a fault
    benches/programs/run.py FOLDER claude-code  one program alone

By hand only: nothing else needs the programs. They get homes of their own, in a temporary folder,
with a login that is none. The server here plays the vendors, and nothing else is reached.
Run it after a change of the table, and with a vendor's newest version: a flag that has lost its
meaning shows as a larger request, a tool or a canary.

A canary is a word in a place that a seat must not read: instructions in the home and in the working
directory, a hook, a file that the text mentions, a key in the environment.
"""
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
CANARY = "canary-7f3a"
SCHEMA = json.loads((ROOT / "schemas/answers/independent.json").read_text())
SCHEMA["required"] = list(SCHEMA["properties"])
ANSWER = json.dumps({"position": "Yes.", "key_points": ["A.", "B."], "rationale": "C.", "confidence": 0.7})
# A request as these versions make it, with room for a longer path or date.
MOST_BYTES = {"claude-code": 2600, "codex": 3600}
# Codex has one of its own, which cannot be taken away.
MOST_TOOLS = {"claude-code": 0, "codex": 1}


class Vendors(http.server.BaseHTTPRequestHandler):
    """Anthropic's Messages and OpenAI's Responses; the first part of the path is the case."""

    protocol_version = "HTTP/1.1"
    requests = []

    def log_message(self, *_):
        pass

    def reply(self, status, kind, body, headers=()):
        data = body.encode()
        self.send_response(status)
        for name, value in [("content-type", kind), ("content-length", len(data)), *headers]:
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.reply(404, "application/json", "{}")

    do_HEAD = do_GET

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        case = self.path.strip("/").split("/")[0]
        try:
            body = json.loads(raw)
        except ValueError:
            body = {}
        Vendors.requests.append((self.path, dict(self.headers), raw, body, time.monotonic()))
        if "/messages" in self.path:
            self.anthropic(case, body)
        elif "/responses" in self.path:
            self.openai(case, body)
        else:
            self.reply(200, "application/json", "{}")

    def events(self, events, headers=()):
        lines = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        self.reply(200, "text/event-stream", "".join(lines), headers)

    def anthropic(self, case, body):
        def error(status, kind, message, headers=()):
            inner = {"type": kind, "message": message}
            self.reply(status, "application/json", json.dumps({"type": "error", "error": inner}), headers)

        soon = int(time.time()) + 7200
        limit = "anthropic-ratelimit-unified-"
        rejected = [(limit + "status", "rejected"), (limit + "reset", soon),
                    (limit + "representative-claim", "five_hour"), (limit + "5h-status", "rejected"),
                    (limit + "5h-reset", soon), (limit + "5h-utilization", "1.0")]
        if case == "plan-limit":
            return error(429, "rate_limit_error", "This request would exceed your limit.", rejected)
        if case == "login":
            return error(401, "authentication_error", "invalid bearer token")
        if case == "overload":
            return error(529, "overloaded_error", "Overloaded")
        if case == "model":
            return error(404, "not_found_error", "model: x")
        names = [tool.get("name") for tool in body.get("tools", [])]
        turns = json.dumps(body.get("messages", []))
        stop, blocks = "end_turn", [("text", "text", "text_delta", "Hello.")]
        if "StructuredOutput" in names and "tool_use" not in turns:
            stop, blocks = "tool_use", [("StructuredOutput", "", "input_json_delta", ANSWER)]
        if case == "tool" and "tool_use" not in turns:
            command = json.dumps({"command": "touch pwned"})
            stop, blocks = "tool_use", [("Bash", "", "input_json_delta", command)]
        if case == "too-long":
            stop = "max_tokens"
        if case == "refusal":
            stop = "refusal"
        usage = {"input_tokens": 11, "output_tokens": 1}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model"),
                   "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        events = [{"type": "message_start", "message": message}]
        for at, (name, _, kind, words) in enumerate(blocks):
            block = {"type": "text", "text": ""}
            if kind != "text_delta":
                block = {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}
            field = "text" if kind == "text_delta" else "partial_json"
            events += [
                {"type": "content_block_start", "index": at, "content_block": block},
                {"type": "content_block_delta", "index": at, "delta": {"type": kind, field: words}},
                {"type": "content_block_stop", "index": at},
            ]
        delta = {"stop_reason": stop, "stop_sequence": None}
        events += [{"type": "message_delta", "delta": delta, "usage": {"output_tokens": 9}},
                   {"type": "message_stop"}]
        beside = [*rejected, (limit + "overage-status", "allowed"), (limit + "overage-in-use", "true")]
        self.events(events, beside if case == "overage" else [])

    def openai(self, case, body):
        def error(status, fields):
            self.reply(status, "application/json", json.dumps({"error": fields}))

        if case == "plan-limit":
            soon = int(time.time()) + 7200
            return error(429, {"type": "usage_limit_reached", "message": "reached", "plan_type": "plus",
                               "resets_at": soon, "resets_in_seconds": 7200})
        if case == "login":
            return error(401, {"message": "Incorrect API key provided", "code": "invalid_api_key"})
        if case == "overload":
            return error(503, {"code": "server_is_overloaded", "message": "overloaded"})
        if case == "model":
            text = "The 'x' model is not supported when using Codex with a ChatGPT account."
            return error(400, {"message": text, "type": "invalid_request_error"})
        words = ANSWER if (body.get("text") or {}).get("format") else "Hello."
        part = {"type": "output_text", "text": words, "annotations": []}
        if case == "refusal":
            part = {"type": "refusal", "refusal": "I cannot."}
        item = {"type": "message", "id": "m1", "role": "assistant", "status": "completed",
                "content": [part]}
        if case == "tool" and not any("output" in str(one.get("type")) for one in body.get("input", [])):
            command = json.dumps({"cmd": "touch pwned"})
            item = {"type": "function_call", "id": "f1", "call_id": "c1", "name": "exec_command",
                    "arguments": command, "status": "completed"}
        created = {"id": "r1", "object": "response", "status": "in_progress", "output": []}
        usage = {"input_tokens": 21, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 5,
                 "output_tokens_details": {"reasoning_tokens": 2}, "total_tokens": 26}
        done = {**created, "status": "completed", "output": [item], "usage": usage}
        self.events([
            {"type": "response.created", "response": created},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": done},
        ])


def filled(word, values):
    """As `command::launch` does it."""
    def value(found):
        return values.get(found[1], found[0])
    return re.sub(r"\{(\w+)\}", value, word)


def homes(root):
    """Puts a canary wherever a program may look; returns home and working directory."""
    home, work = root / "home", root / "work"
    hook = {"hooks": {event: [{"hooks": [{"type": "command", "command": f"touch {root}/hook"}]}]
                      for event in ("SessionStart", "UserPromptSubmit")}}
    files = {
        home / "CLAUDE.md": CANARY + "-home",
        home / ".claude/CLAUDE.md": CANARY + "-user",
        home / ".claude/settings.json": json.dumps(hook),
        home / ".codex/AGENTS.md": CANARY + "-user",
        work / "CLAUDE.md": CANARY + "-project",
        work / "AGENTS.md": CANARY + "-project",
        work / ".claude/settings.json": json.dumps(hook),
        work / "secret.txt": CANARY + "-mention",
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return home, work


def run(name, program, folder, port, case):
    root = pathlib.Path(tempfile.mkdtemp(prefix="conclave-programs-"))
    try:
        home, work = homes(root)
        own = root / "own"
        own.mkdir()
        (root / "system.md").write_text("You are a seat of a panel.")
        (root / "schema.json").write_text(json.dumps(SCHEMA))
        values = {"model": {"claude-code": "sonnet", "codex": "gpt-5.5"}[name],
                  "system_file": str(root / "system.md"), "schema_file": str(root / "schema.json"),
                  "schema": json.dumps(SCHEMA), "folder": str(work), "max_output_tokens": "4000"}
        words = program["argv"] + (program["schema_argv"] if case == "schema" else [])
        argv = [filled(word, values) for word in words]
        variables = {key: filled(text, values) for key, text in program.get("set_env", {}).items()}
        # A closed port is as good as a missing network.
        base = f"http://127.0.0.1:{1 if case == 'no-network' else port}/{case}"
        environment = {"PATH": f"{folder}/node_modules/.bin:{os.environ['PATH']}", "HOME": str(home),
                       "LANG": "C.UTF-8", "TZ": "UTC", **variables}
        if name == "claude-code":
            environment |= {"ANTHROPIC_BASE_URL": base, "CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01-none"}
        else:
            server = (f'model_providers.here={{name="here",base_url="{base}/v1",wire_api="responses",'
                      'env_key="HERE",request_max_retries=0,stream_max_retries=0}')
            argv[2:2] = ["-c", 'model_provider="here"', "-c", server]
            environment |= {"CODEX_HOME": str(own), "HERE": "none"}
        text = "/compact @secret.txt" if case == "mention" else "Is it so? @secret.txt"
        Vendors.requests.clear()
        start = time.monotonic()
        ended = subprocess.run(argv, input=f"<message>\n{text}\n</message>\n".encode(), cwd=work,
                               env=environment, capture_output=True, timeout=120)
        took = time.monotonic() - start
        asked = [request for request in Vendors.requests if re.search("messages|responses", request[0])]
        leaks = sorted({found for request in asked
                        for found in re.findall(CANARY + r"-\w+", request[2].decode(errors="replace"))})
        leaks += ["hook"] if (root / "hook").exists() else []
        leaks += ["executed"] if (work / "pwned").exists() else []
        leaks += ["key"] if any("x-api-key" in map(str.lower, request[1]) for request in asked) else []
        first = asked[0] if asked else None
        return {
            "rc": ended.returncode, "requests": len(asked), "took": took, "leaks": leaks,
            "bytes": len(first[2]) if first else 0,
            "tools": tools(first[3]) if first else [],
            "start": first[4] - start if first else None,
            "said": said(name, ended.stdout.decode(errors="replace"), ended.stderr.decode(errors="replace")),
        }
    finally:
        shutil.rmtree(root, ignore_errors=True)


def tools(body):
    return [tool.get("name") or tool.get("type") for tool in body.get("tools", [])]


def said(name, output, errors):
    """What decides the outcome: the end of the output, else the last line of the errors."""
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    if name == "claude-code":
        start = next((line for line in lines if line.get("subtype") == "init"), {})
        source = "" if start.get("apiKeySource") == "none" else f"[key: {start.get('apiKeySource')}] "
        end = next((line for line in reversed(lines) if line["type"] == "result"), None)
        if end:
            kind = "error: " if end["is_error"] else ""
            limits = [line["rate_limit_info"] for line in lines if line["type"] == "rate_limit_event"]
            kind += "[billed beside the plan] " if any(one.get("isUsingOverage") for one in limits) else ""
            return source + kind + str(end.get("structured_output") or end.get("result"))
    else:
        items = [line["item"] for line in lines if line["type"] == "item.completed"]
        notices = [item.get("message", "") for item in items if item["type"] == "error"]
        failed = [line["error"]["message"] for line in lines if line["type"] == "turn.failed"]
        answers = [item["text"] for item in items if item["type"] == "agent_message"]
        if failed or answers:
            words = f"error: {failed[-1]}" if failed else answers[-1]
            return "".join(f"[{notice}] " for notice in notices) + words
        if any(line["type"] == "turn.completed" for line in lines):
            return "(no message)"
    return "stderr: " + (errors.strip().splitlines() or [""])[-1]


CASES = ["answer", "schema", "mention", "too-long", "refusal", "tool", "plan-limit", "overage", "login",
         "overload", "model", "no-network"]


def main(folder, only):
    table = tomllib.loads((ROOT / "src/config/programs/known.toml").read_text())
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Vendors)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    faults = []
    print(f"{'program':<12}{'case':<12}{'rc':>4}{'asked':>6}{'bytes':>7}{'tools':>6}{'start':>7}{'took':>7}"
          "  leaks  said")
    for name, program in table.items():
        if only and name not in only:
            continue
        version = subprocess.run([f"{folder}/node_modules/.bin/{program['argv'][0]}", "--version"],
                                 capture_output=True, text=True, check=True, timeout=60)
        print(f"{name}: {version.stdout.strip()}")
        for case in CASES:
            row = run(name, program, folder, server.server_address[1], case)
            start = "" if row["start"] is None else f"{row['start']:.2f}"
            print(f"{name:<12}{case:<12}{row['rc']:>4}{row['requests']:>6}{row['bytes']:>7}"
                  f"{len(row['tools']):>6}{start:>7}{row['took']:>7.2f}  {','.join(row['leaks']) or '-':<5}"
                  f"  {' '.join(row['said'].split())[:150]}")
            if row["leaks"]:
                faults.append(f"{name}, {case}: {row['leaks']}")
            if case in ("answer", "mention"):
                if row["bytes"] > MOST_BYTES[name] or len(row["tools"]) > MOST_TOOLS[name]:
                    faults.append(f"{name}, {case}: {row['bytes']} bytes, tools {row['tools']}")
                if row["said"] != "Hello.":
                    faults.append(f"{name}, {case}: {row['said']}")
            if case == "schema" and "position" not in row["said"]:
                faults.append(f"{name}, {case}: {row['said']}")
            if name == "claude-code" and (case == "overage") != ("beside the plan" in row["said"]):
                faults.append(f"{name}, {case}: {row['said']}")
            if case == "plan-limit" and not re.search(r"(resets|again at) \d+:\d\d ?[ap]m", row["said"], re.I):
                faults.append(f"{name}, {case}: no time of the reset: {row['said']}")
    for fault in faults:
        print("FAULT", fault)
    return 1 if faults else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    sys.exit(main(os.path.abspath(sys.argv[1]), sys.argv[2:]))
