//! `conclave login` and `conclave logout`, with a server in place of `OpenAI` and a scripted
//! browser.

mod attempts;
mod loopback;
mod tokens;

use std::fs::Permissions;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use serde_json::{Value, json};
use url::Url;

use crate::support::binary::{Conclave, RunOutput, RunningProcess};
use crate::support::provider_server::{Fault, ProviderServer, Vendor};

/// Returns a home whose settings have the server in place of the sign-in and of the models.
fn home(server: &ProviderServer) -> Conclave {
    let base_url = server.base_url(Vendor::ChatGpt);
    Conclave::new().config(&json!({"endpoints": {"chatgpt": {"base_url": base_url}}}).to_string())
}

/// A sign-in that waits for the browser.
struct Waiting {
    process: RunningProcess,
    /// What a person would open.
    address: Url,
}

impl Waiting {
    fn start(conclave: &Conclave) -> Self {
        let process = conclave.start(&["login", "chatgpt", "--no-browser"]);
        let address = std::cell::RefCell::new(None);
        process.wait_until("the address is shown", |stderr| {
            let line = stderr.lines().find_map(|line| line.strip_prefix("  http"));
            *address.borrow_mut() = line.map(|rest| format!("http{rest}"));
            stderr.contains("agent_host_id") && stderr.ends_with("\n\n")
        });
        let address = Url::parse(&address.into_inner().unwrap()).unwrap();
        Self { process, address }
    }

    fn parameter(&self, name: &str) -> Option<String> {
        let mut pairs = self.address.query_pairs();
        pairs.find_map(|(key, value)| (key == name).then(|| value.into_owned()))
    }

    /// Returns the address to which the service sends the browser back.
    fn agreed(&self) -> Url {
        let answer = get(&self.address, None);
        let location = answer
            .lines()
            .find_map(|line| line.strip_prefix("location: "));
        Url::parse(location.unwrap_or_else(|| panic!("{answer}"))).unwrap()
    }

    /// Does what a browser does when the person agrees, and waits for the end.
    fn browse(self) -> RunOutput {
        get(&self.agreed(), None);
        self.process.wait()
    }
}

/// Sends a GET, under another name of the host if there is one, and returns the whole answer.
fn get(url: &Url, host: Option<&str>) -> String {
    let authority = format!("{}:{}", url.host_str().unwrap(), url.port().unwrap());
    let query = url
        .query()
        .map(|query| format!("?{query}"))
        .unwrap_or_default();
    let host = host.unwrap_or(&authority);
    let (path, end) = (url.path(), "connection: close\r\n\r\n");
    sent(
        &authority,
        &format!("GET {path}{query} HTTP/1.1\r\nhost: {host}\r\n{end}"),
    )
}

fn sent(authority: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(authority).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(30)))
        .unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut bytes = vec![0; 64 * 1024];
    let mut length = 0;
    // The server keeps connections open; the head and a short body arrive at once.
    while !bytes[..length]
        .windows(4)
        .any(|window| window == b"\r\n\r\n")
    {
        match stream.read(&mut bytes[length..]) {
            Ok(0) | Err(_) => break,
            Ok(count) => length += count,
        }
    }
    String::from_utf8_lossy(&bytes[..length]).into_owned()
}

fn signed_in(server: &ProviderServer) -> Conclave {
    let conclave = home(server);
    Waiting::start(&conclave).browse().ends_with(0);
    conclave
}

fn stored(conclave: &Conclave) -> Value {
    let text = std::fs::read_to_string(conclave.home().join("chatgpt.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Puts a file in its place, for its owner alone.
fn store(conclave: &Conclave, text: &str) {
    let file = conclave.home().join("chatgpt.json");
    std::fs::write(&file, text).unwrap();
    std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
}

/// The service behaves in this way from now on.
fn break_with(server: &ProviderServer, fault: Fault) {
    server.sign_in(|service| service.fault = fault);
}

const CONSULT: [&str; 8] = [
    "consult",
    "Q?",
    "--yes",
    "--model",
    "chatgpt:gpt-6.1-sol",
    "--judge",
    "chatgpt:gpt-6.1-sol",
    "-q",
];
