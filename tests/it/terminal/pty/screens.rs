//! What a person sees on terminals of every width, with colours and without.

use std::fmt::Write as _;

use crate::support::binary::Conclave;
use crate::support::provider_server::{Answer, Hold, On, ProviderServer, Vendor};
use crate::support::pty::{Output, Terminal};
use crate::support::screen::Screen;
use crate::support::steady_text::steady;

pub(super) const WIDTHS: [u16; 4] = [50, 80, 120, 200];

const POSITION: &str = r#"{"position": "Use OAuth 2.1 with PKCE.", "key_points": ["Revocation."], "rationale": "A signed token cannot be revoked.", "confidence": 0.82}"#;

const VERDICT: &str = r#"{"summary": "They agree.", "evidence": [], "dissent": [{"agent": "@security", "concern": "Opaque tokens need a lookup on every request, which the gateway has no cache for.", "severity": "medium"}], "recommendation": "Use **OAuth 2.1** with PKCE and opaque tokens:\n\n1. Put a cache in front of the lookup.\n2. Rotate refresh tokens on every use, and revoke the family when one is used twice.", "confidence": 0.78}"#;

/// Whether a terminal gets colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Colours {
    Off,
    On,
}

impl Colours {
    pub(super) fn apply(self, conclave: Conclave) -> Conclave {
        let conclave = conclave.variable("TERM", "xterm-256color");
        match self {
            Self::Off => conclave.variable("NO_COLOR", "1"),
            Self::On => conclave.without("NO_COLOR"),
        }
    }

    /// Returns the line above a screen.
    pub(super) fn title(self, columns: u16) -> String {
        match self {
            Self::Off => format!("=== {columns} columns"),
            Self::On => format!("=== {columns} columns, in colour"),
        }
    }

    pub(super) fn look(self, screen: &Screen) -> String {
        match self {
            Self::Off => screen.contents(),
            Self::On => screen.styled(),
        }
    }
}

/// Returns the screens of terminals of every width, without colours and with them.
fn at_every_width(shown: impl Fn(u16, Colours) -> String + Sync) -> String {
    let mut all = String::new();
    for colours in [Colours::Off, Colours::On] {
        let screens = std::thread::scope(|scope| {
            let shown = &shown;
            let start = |columns| scope.spawn(move || shown(columns, colours));
            WIDTHS.map(start).map(|screen| screen.join().unwrap())
        });
        for (columns, screen) in WIDTHS.into_iter().zip(screens) {
            let _ = write!(all, "{}\n{screen}\n\n", colours.title(columns));
        }
    }
    all
}

/// Runs to the end and returns the screen then. Nothing is wider than the terminal.
fn at_the_end(conclave: Conclave, columns: u16, colours: Colours, code: i32) -> String {
    let conclave = conclave.config(r#"{"always_allow_under": 90}"#);
    let arguments = ["consult", "Shall we?"];
    let terminal = Terminal::start_sized(&conclave, (columns, 60), Output::Terminal, &arguments);
    let (ran, transcript) = terminal.end();
    ran.ends_with(code);
    assert_eq!(transcript.too_wide(columns.into()), Vec::<String>::new());
    steady(&colours.look(transcript.screen()))
}

#[test]
fn request_for_a_question_fits_every_width() {
    let server = ProviderServer::start();
    let seen = at_every_width(|columns, colours| {
        let conclave = colours.apply(Conclave::at(&server));
        let arguments = ["consult", "-", "--yes", "--quick", "-q"];
        let mut terminal = Terminal::start(&conclave, columns, Output::Pipe, &arguments);
        terminal.wait_for_sight("end with Ctrl-D");
        terminal.type_in("Should we\nuse X?");
        terminal.wait_for_sight("use X?");
        let seen = terminal.look(|screen| colours.look(screen));
        terminal.type_in("\n\x04");
        terminal.end().0.ends_with(0);
        seen
    });
    insta::assert_snapshot!(seen);
}

/// Returns the screens of a question in a run, from the line behind the rows' heading on, with what
/// a server does beforehand. Ctrl-C ends each run.
fn asked_at_every_width(question: &str, prepare: impl Fn(&ProviderServer) + Sync) -> String {
    let config = r#"{"always_allow_under": 90, "hedge_after": "off", "pulse_seconds": 1}"#;
    at_every_width(|columns, colours| {
        let server = ProviderServer::start();
        prepare(&server);
        let conclave = colours.apply(Conclave::at(&server)).config(config);
        let arguments = ["consult", "Shall we?"];
        let mut terminal =
            Terminal::start_sized(&conclave, (columns, 60), Output::Terminal, &arguments);
        terminal.wait_until("the question is asked", |screen| {
            let text = screen.contents();
            text.ends_with(']') && text.contains(question)
        });
        let screen = terminal.look(|screen| colours.look(screen));
        terminal.type_in("\x03");
        terminal.end();
        let (_, seen) = screen.split_once("auto-approved)\n").unwrap();
        steady(seen)
    })
}

#[test]
fn question_about_slow_experts_fits_every_width() {
    let seen = asked_at_every_width("or stop?", |server| {
        for vendor in [Vendor::OpenAi, Vendor::Google] {
            server.on(On::vendor(vendor), Answer::text("never finished").stall());
        }
    });
    insta::assert_snapshot!(seen);
}

#[test]
fn question_about_failed_experts_fits_every_width() {
    let seen = asked_at_every_width("instead?", |server| {
        let failing = || Answer::http(400, "text/plain", "this model has been retired");
        server.on(On::vendor(Vendor::OpenAi), failing());
        server.on(On::vendor(Vendor::Google), failing());
    });
    insta::assert_snapshot!(seen);
}

#[test]
fn judge_at_work_fits_every_width() {
    let seen = at_every_width(|columns, colours| {
        let server = ProviderServer::start();
        let hold = Hold::new();
        let judge = On::asking_for("consensus_points");
        server.on(judge, Answer::valid().held_halfway_by(&hold));
        let conclave = colours
            .apply(Conclave::at(&server))
            .variable("CONCLAVE_HEDGE_AFTER", "off");
        let arguments = ["consult", "--yes", "Shall we?"];
        let terminal =
            Terminal::start_sized(&conclave, (columns, 60), Output::Terminal, &arguments);
        terminal.wait_until("the judge writes", |screen| {
            let text = screen.contents();
            let rest = text.split_once("Round 1 complete").unwrap_or_default().1;
            rest.contains("writing")
        });
        let screen = terminal.look(|screen| colours.look(screen));
        hold.release();
        terminal.end().0.ends_with(0);
        let (_, seen) = screen.split_once("Round 1 complete").unwrap();
        steady(seen.trim_start_matches("{/}").trim_start())
    });
    insta::assert_snapshot!(seen);
}

#[test]
fn end_of_a_run_fits_every_width() {
    let seen = at_every_width(|columns, colours| {
        let server = ProviderServer::start();
        let first = On::asking_for("position").and_vendor(Vendor::Anthropic);
        server.on(first, Answer::text(POSITION));
        let verdict = Answer::text(VERDICT).labelled(&[("@security", "Use OAuth 2.1")]);
        server.on(On::asking_for("summary"), verdict);
        let conclave = colours.apply(Conclave::at(&server));
        let screen = at_the_end(conclave, columns, colours, 0);
        let (_, seen) = screen.split_once("Round 3 complete").unwrap();
        seen.trim_start_matches("{/}").trim_start().to_owned()
    });
    insta::assert_snapshot!(seen);
}

#[test]
fn refused_keys_fit_every_width() {
    let seen = at_every_width(|columns, colours| {
        let server = ProviderServer::start();
        let refused = || Answer::error(401, "authentication_error", "invalid x-api-key");
        server.on(On::any(), refused());
        let conclave = colours.apply(Conclave::at(&server));
        at_the_end(conclave, columns, colours, 1)
    });
    insta::assert_snapshot!(seen);
}

#[test]
fn missing_network_fits_every_width() {
    let seen = at_every_width(|columns, colours| {
        let server = ProviderServer::start();
        let mut conclave = colours.apply(Conclave::at(&server));
        // Nothing listens at the discard port.
        for (variable, _) in server.variables() {
            if variable.ends_with("_URL") {
                conclave = conclave.variable(variable, "http://127.0.0.1:9");
            }
        }
        at_the_end(conclave, columns, colours, 1)
    });
    insta::assert_snapshot!(seen);
}
