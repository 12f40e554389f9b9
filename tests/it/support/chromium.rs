//! Chromium without a window, driven over its protocol: one message of JSON after another, each
//! ended by a zero byte, through a pipe. A shell gives the pipe the numbers that it reads and writes.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::timeout::WAIT_TIMEOUT;

const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];

const FLAGS: &str = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
    --disable-background-networking --disable-component-update --disable-sync --hide-scrollbars \
    --remote-debugging-pipe";

/// A browser with one page. Dropping it ends the browser.
#[derive(Debug)]
pub(crate) struct Chromium {
    process: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    sent: u64,
    /// What the page told, in the order in which it did.
    events: Vec<Value>,
    /// Of these, those up to the last page that was loaded.
    seen: usize,
    session: Option<String>,
    _profile: TempDir,
}

/// Returns a variable of the tests' own environment.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    let mut variables = std::env::vars_os();
    Some(variables.find(|(key, _)| key == name)?.1)
}

/// Returns the browser of the variable, or of the path; `None` without one.
fn program() -> Option<PathBuf> {
    if let Some(named) = variable("CONCLAVE_TEST_BROWSER") {
        let named = PathBuf::from(named);
        assert!(named.is_file(), "`CONCLAVE_TEST_BROWSER` names no file");
        return Some(named);
    }
    let path = variable("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let mut programs = NAMES.iter().flat_map(|name| {
        let folders = folders.iter();
        folders.map(move |folder| folder.join(name))
    });
    programs.find(|program| program.is_file())
}

impl Chromium {
    /// `None` where there is no browser, which is said.
    pub(crate) fn start() -> Option<Self> {
        let Some(program) = program() else {
            let why = "skipped: no Chromium is in PATH, and CONCLAVE_TEST_BROWSER names none";
            let mut told = std::io::stderr();
            writeln!(told, "{why}").unwrap();
            return None;
        };
        let profile = tempfile::tempdir().unwrap();
        let script =
            format!("exec \"$0\" {FLAGS} \"--user-data-dir=$1\" 3<&0 4>&1 >/dev/null 2>&1");
        let mut process = Command::new("/bin/sh")
            .args(["-c", &script])
            .args([program.as_path(), profile.path()])
            .env("HOME", profile.path())
            .env("TZ", "UTC")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (
            process.stdin.take().unwrap(),
            process.stdout.take().unwrap(),
        );
        let (sender, messages) = channel();
        thread::spawn(move || {
            for message in BufReader::new(output).split(0) {
                let Ok(message) = message else { break };
                let _ = sender.send(serde_json::from_slice(&message).unwrap());
            }
        });
        let mut browser = Self {
            process,
            input,
            messages,
            sent: 0,
            events: Vec::new(),
            seen: 0,
            session: None,
            _profile: profile,
        };
        let page = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let attached = json!({"targetId": page["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", attached);
        browser.session = Some(attached["sessionId"].as_str().unwrap().to_owned());
        for domain in ["Page", "Runtime", "Network", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Returns the result of a method.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.sent += 1;
        let mut message = json!({"id": self.sent, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.input
            .write_all(message.to_string().as_bytes())
            .unwrap();
        self.input.write_all(&[0]).unwrap();
        loop {
            let mut message = self.receive(method);
            if message["id"] == self.sent {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].take();
            }
            self.events.push(message);
        }
    }

    fn receive(&self, what: &str) -> Value {
        let message = self.messages.recv_timeout(WAIT_TIMEOUT);
        message.unwrap_or_else(|_| panic!("the browser said nothing of {what}: {:?}", self.events))
    }

    /// Opens an address, and waits until the page is loaded.
    pub(crate) fn open(&mut self, address: &str) {
        self.call("Page.navigate", json!({"url": address}));
        self.loaded();
    }

    /// Waits until the next page is loaded.
    pub(crate) fn loaded(&mut self) {
        let is_loaded = |event: &Value| event["method"] == "Page.loadEventFired";
        while !self.events.iter().skip(self.seen).any(is_loaded) {
            let message = self.receive("the end of loading");
            self.events.push(message);
        }
        self.seen = self.events.len();
    }

    pub(crate) fn look_at(&mut self, (width, height): (u32, u32), scale: f64) {
        let screen = json!({
            "width": width, "height": height, "deviceScaleFactor": scale, "mobile": false,
        });
        self.call("Emulation.setDeviceMetricsOverride", screen);
    }

    /// `media` is empty for a screen.
    pub(crate) fn show_as(&mut self, media: &str, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        let shown = json!({"media": media, "features": features});
        self.call("Emulation.setEmulatedMedia", shown);
    }

    /// Returns the value of an expression in the page, which may be a promise.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let asked = json!({
            "expression": expression, "returnByValue": true, "awaitPromise": true,
        });
        let mut found = self.call("Runtime.evaluate", asked);
        assert!(found["exceptionDetails"].is_null(), "{found}");
        found["result"]["value"].take()
    }

    /// Waits until a condition in the page holds, which is looked at whenever the page changes.
    pub(crate) fn wait_until(&mut self, condition: &str) {
        self.evaluate(&format!(
            "new Promise((done) => {{
                const look = () => ({condition}) && done(true);
                const all = {{subtree: true, childList: true, characterData: true, attributes: true}};
                new MutationObserver(look).observe(document, all);
                look();
            }})"
        ));
    }

    pub(crate) fn press(&mut self, key: &str) {
        let mut down = json!({"type": "keyDown", "key": key});
        match key {
            "Enter" => {
                down["text"] = json!("\r");
                down["windowsVirtualKeyCode"] = json!(13);
            }
            sign if sign.chars().count() == 1 => down["text"] = json!(sign),
            _ => {}
        }
        self.call("Input.dispatchKeyEvent", down);
        self.call(
            "Input.dispatchKeyEvent",
            json!({"type": "keyUp", "key": key}),
        );
    }

    /// Returns what the page has told since the last look, and forgets it.
    pub(crate) fn told(&mut self) -> Vec<Value> {
        // What it told before this answer has arrived.
        self.evaluate("0");
        self.seen = 0;
        std::mem::take(&mut self.events)
    }

    /// Writes a picture of what is seen, or of the whole page.
    pub(crate) fn picture(&mut self, file: &Path, is_whole: bool) {
        let asked = json!({"captureBeyondViewport": is_whole, "format": "png"});
        let shot = self.call("Page.captureScreenshot", asked);
        fs::write(file, of_base64(shot["data"].as_str().unwrap())).unwrap();
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn of_base64(text: &str) -> Vec<u8> {
    let sign = |sign: u8| match sign {
        b'A'..=b'Z' => sign - b'A',
        b'a'..=b'z' => sign - b'a' + 26,
        b'0'..=b'9' => sign - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let signs: Vec<u8> = text.bytes().filter(|sign| *sign != b'=').collect();
    let group = |group: &[u8]| {
        let bits = group
            .iter()
            .fold(0_u32, |bits, one| bits << 6 | u32::from(sign(*one)));
        let bits = bits << (6 * (4 - group.len()));
        bits.to_be_bytes()[1..group.len()].to_vec()
    };
    signs.chunks(4).flat_map(group).collect()
}
