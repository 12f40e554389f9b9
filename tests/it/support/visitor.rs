//! A browser that visits `conclave view`: requests over sockets, and events as they come.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Longer than any answer takes on a busy machine.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// A browser that knows the server's port, and its cookie once it was let in.
#[derive(Clone, Debug)]
pub(crate) struct Visitor {
    pub(crate) port: u16,
    pub(crate) cookie: String,
}

/// What the server answered.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The lines of the head, in lower case as the server writes the names.
    pub(crate) head: String,
    pub(crate) body: String,
}

/// The events of a page.
#[derive(Debug)]
pub(crate) struct Events(BufReader<TcpStream>);

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) name: String,
    pub(crate) id: String,
    pub(crate) data: String,
}

impl Visitor {
    /// Enters by the address that the program printed.
    pub(crate) fn enter(address: &str) -> Self {
        let rest = address.strip_prefix("http://127.0.0.1:").unwrap();
        let (port, path) = rest.trim().split_once('/').unwrap();
        let mut visitor = Self {
            port: port.parse().unwrap(),
            cookie: String::new(),
        };
        let answer = visitor.get(&format!("/{path}"));
        assert_eq!(answer.status, 303, "{answer:?}");
        let cookie = answer.header("set-cookie").unwrap();
        cookie
            .split(';')
            .next()
            .unwrap()
            .clone_into(&mut visitor.cookie);
        visitor
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        let cookie = &self.cookie;
        let host = format!("127.0.0.1:{}", self.port);
        self.send(&format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
        ))
    }

    /// Sends this and reads to the end.
    pub(crate) fn send(&self, request: &str) -> Answer {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        Answer::read(stream)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(LONGEST_WAIT)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream
    }

    /// Follows a page; `last` is the id of the last event that was seen.
    pub(crate) fn events(&self, path: &str, last: Option<&str>) -> Events {
        let mut stream = self.connect();
        let last = last.map_or(String::new(), |id| format!("Last-Event-ID: {id}\r\n"));
        let (port, cookie) = (self.port, &self.cookie);
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\nCookie: {cookie}\r\n\
             Accept: text/event-stream\r\n{last}\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut events = Events(BufReader::new(stream));
        while !events.line().trim().is_empty() {}
        events
    }
}

impl Answer {
    pub(crate) fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        // A server that refuses a request may close before all of it was read.
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        Self {
            status: status.unwrap_or_default(),
            head: head.to_owned(),
            body: body.to_owned(),
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

impl Events {
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line
    }

    /// Waits for the next event; `None` at the end of the stream.
    pub(crate) fn next(&mut self) -> Option<Event> {
        let mut event = Event::default();
        let began = now();
        loop {
            // Lines that keep the connection open come for ever.
            assert!(began.elapsed() < LONGEST_WAIT, "no event came");
            let line = self.line();
            if line == "0\r\n" || line.is_empty() {
                return None;
            }
            let field = |name: &str| line.strip_prefix(name)?.strip_prefix(": ");
            if let Some(data) = field("data") {
                event.data.push_str(data);
            } else if let Some(name) = field("event") {
                name.trim_end().clone_into(&mut event.name);
            } else if let Some(id) = field("id") {
                id.trim_end().clone_into(&mut event.id);
            } else if line == "\n" && !event.data.is_empty() {
                return Some(event);
            }
        }
    }

    /// Waits for an event whose data or name fulfils the condition.
    pub(crate) fn wait_for(&mut self, what: &str, is: impl Fn(&Event) -> bool) -> Event {
        let began = now();
        loop {
            let event = self.next();
            let event = event.unwrap_or_else(|| panic!("the events ended before {what}"));
            if is(&event) {
                return event;
            }
            assert!(began.elapsed() < LONGEST_WAIT, "no event was {what}");
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test gives up when nothing comes"
)]
fn now() -> Instant {
    Instant::now()
}
