//! Pages that follow what runs, in whatever process it does.

use std::fs::File;
use std::io::Write;

use conclave::consultation::event::Envelope;
use conclave::domain::time::Timestamp;
use conclave::engine::ports::Subscriber;
use conclave::records::files::ConsultationFiles;
use conclave::records::index::Index;
use conclave::records::index::follow::{IndexChange, apply};
use conclave::records::journal::Journal;

use rustix::process::Signal;
use serde_json::json;

use super::{links, serve};
use crate::commands::mcp::client::{Client, cheap};
use crate::support::binary::Conclave;
use crate::support::provider_server::{Answer, Hold, On, ProviderServer, Vendor};
use crate::support::saved::{complete_consultation, log_folder};

#[test]
fn consultation_is_followed_from_its_start_to_the_finished_page() {
    let vendors = ProviderServer::start();
    let hold = Hold::new();
    let openai = On::vendor(Vendor::OpenAi);
    vendors.on(openai, Answer::valid().held_by(&hold));
    let conclave = Conclave::at(&vendors);
    let served = serve(&conclave);
    let mut list = served.visitor.events("/", None);
    let first = list.next().unwrap();
    assert!(!first.data.contains("/c/"), "{first:?}");
    let asking = conclave.start(&["consult", "Which <queue>?", "--yes", "--quick"]);
    // Another process' consultation appears on the open list, with its seats at work.
    let row = list.wait_for("one answer is missing", |event| {
        event.data.contains("2 of 3 answered")
    });
    assert!(row.data.contains("<h2>Running</h2>"), "{row:?}");
    assert!(row.data.contains("Which &lt;queue&gt;?"), "{row:?}");
    let address = &links(&row.data, "/c/")[0];
    let mut page = served.visitor.events(address, None);
    let running = page.next().unwrap();
    let shown = served.visitor.get(address).body;
    assert!(shown.contains("<main data-live>"), "{shown}");
    for shown in [&running.data, &shown] {
        assert!(shown.contains("waiting for the first token"), "{shown}");
        assert!(shown.contains("answered in "), "{shown}");
        assert!(shown.contains("Round 1 of "), "{shown}");
        assert!(shown.contains(" of about $"), "{shown}");
        assert!(shown.contains("<h2>Positions</h2>"), "{shown}");
    }
    hold.release();
    let mut seen = running.id.parse::<u64>().unwrap();
    let end = loop {
        let event = page.next().unwrap();
        if event.name == "end" {
            break event;
        }
        let id = event.id.parse().unwrap();
        assert!(id >= seen, "{id} after {seen}");
        seen = id;
    };
    assert_eq!(page.next(), None);
    asking.wait().ends_with(0);
    assert!(end.data.contains("<h2>Answer</h2>"), "{end:?}");
    let finished = served.visitor.get(address).body;
    assert!(finished.contains("<main>"), "{finished}");
    let shown = finished.replace('\n', "");
    assert!(shown.contains(end.data.trim_end()), "{end:?}\n{shown}");
    list.wait_for("it is past", |event| {
        !event.data.contains("<h2>Running</h2>")
    });
    served.end();
}

#[test]
fn seats_are_shown_at_what_they_do() {
    let vendors = ProviderServer::start();
    let hold = Hold::new();
    let later = Hold::new();
    let busy = Answer::error(503, "overloaded", "overloaded").header("retry-after", "5");
    for (vendor, answer) in [
        (Vendor::OpenAi, Answer::valid().held_by(&hold)),
        (Vendor::Anthropic, Answer::valid().held_halfway_by(&hold)),
        (Vendor::Google, busy.held_by(&later)),
    ] {
        vendors.on(On::vendor(vendor), answer);
    }
    let conclave = Conclave::at(&vendors);
    let served = serve(&conclave);
    let asking = conclave.start(&["consult", "Why?", "--yes", "--quick"]);
    let mut list = served.visitor.events("/", None);
    let row = list.wait_for("it runs", |event| event.data.contains("/c/"));
    let address = &links(&row.data, "/c/")[0];
    let phases = [
        "waiting for the first token",
        "answering",
        "retrying 2 of 3 in ",
    ];
    let mut page = served.visitor.events(address, None);
    page.next().unwrap();
    later.release();
    page.wait_for("all phases", |event| {
        phases.iter().all(|phase| event.data.contains(phase))
    });
    hold.release();
    asking.signal(Signal::INT);
    page.wait_for("the end", |event| event.name == "end");
    asking.wait();
    served.end();
}

#[test]
fn runs_of_agents_benchmarks_and_refinements_are_followed() {
    let vendors = ProviderServer::start();
    let hold = Hold::new();
    vendors.on(On::any(), Answer::valid().held_by(&hold));
    let conclave = cheap(&vendors);
    let file = |name: &str, text: &str| {
        std::fs::write(conclave.folder().join(name), text).unwrap();
    };
    let case =
        r#"{"id": "a", "question": "Which of two?", "options": ["x", "y"], "expected": "A"}"#;
    file("suite.jsonl", case);
    file(
        "SPEC.md",
        "# Spec\n\n## Open Questions\n\n- Where are the keys?\n",
    );
    let served = serve(&conclave);
    let mut list = served.visitor.events("/", None);
    let mut runs = served.visitor.events("/benchmarks", None);
    let benchmark = conclave.start(&["benchmark", "suite.jsonl", "--yes"]);
    let refine = conclave.start(&["refine", "SPEC.md", "--in-place", "--yes"]);
    let mut agent = Client::legacy(&conclave, &[]);
    let call = json!({"name": "consult", "arguments": {"question": "OAuth or JWT?"}});
    agent.begin("tools/call", call);
    let questions = ["Which of two?", "Where are the keys?", "OAuth or JWT?"];
    let row = list.wait_for("all three", |event| {
        questions
            .iter()
            .all(|question| event.data.contains(question))
    });
    let mut followed = links(&row.data, "/c/");
    assert_eq!(followed.len(), 3, "{row:?}");
    let row = runs.wait_for("the run", |event| event.data.contains("<td>running</td>"));
    followed.extend(links(&row.data, "/benchmarks/"));
    let documents = served.visitor.get("/refinements").body;
    assert!(documents.contains("<bdi>Running</bdi>"), "{documents}");
    followed.extend(links(&documents, "/refinements/"));
    assert_eq!(followed.len(), 5, "{followed:?}");
    let pages = followed.iter();
    let pages = pages.map(|address| served.visitor.events(address, None));
    let mut pages: Vec<_> = pages.collect();
    for page in &mut pages {
        assert_ne!(page.next().unwrap().name, "end");
    }
    hold.release();
    for (page, address) in pages.iter_mut().zip(&followed) {
        page.wait_for(address, |event| event.name == "end");
    }
    runs.wait_for("its end", |event| !event.data.contains("running"));
    benchmark.wait();
    refine.wait();
    agent.end();
    served.end();
}

/// A journal that this process writes for the test.
struct Written {
    journal: Option<Journal>,
    files: ConsultationFiles,
    address: String,
    events: std::vec::IntoIter<Envelope>,
}

fn written(conclave: &Conclave) -> Written {
    let saved = complete_consultation("01a", "2026-03-01T10:00:00Z", "Which queue?");
    let files = ConsultationFiles::in_folder(&log_folder(conclave), &saved.id);
    Written {
        journal: Some(Journal::create(&files.journal).unwrap()),
        address: format!("/c/{}", saved.id),
        files,
        events: saved.events.into_iter(),
    }
}

impl Written {
    fn write(&mut self, count: usize) {
        for event in self.events.by_ref().take(count) {
            self.journal.as_mut().unwrap().event(&event).unwrap();
        }
    }
}

#[test]
fn reconnection_goes_on_behind_the_last_line() {
    let conclave = Conclave::new();
    let mut written = written(&conclave);
    written.write(3);
    let served = serve(&conclave);
    let mut events = served.visitor.events(&written.address, None);
    assert_eq!(events.next().unwrap().id, "3");
    drop(events);
    written.write(2);
    let mut again = served.visitor.events(&written.address, Some("3"));
    assert_eq!(again.next().unwrap().id, "5");
    // A browser that comes back to the same line gets what comes after it.
    let mut same = served.visitor.events(&written.address, Some("5"));
    written.write(1);
    same.wait_for("the next line", |event| event.id == "6");
}

#[test]
fn torn_last_line_is_not_shown() {
    let conclave = Conclave::new();
    let mut written = written(&conclave);
    written.write(3);
    let served = serve(&conclave);
    let next = serde_json::to_string(&written.events.next().unwrap()).unwrap() + "\n";
    let (begin, rest) = next.split_at(next.len() / 2);
    let mut file = File::options()
        .append(true)
        .open(&written.files.journal)
        .unwrap();
    file.write_all(begin.as_bytes()).unwrap();
    let mut events = served.visitor.events(&written.address, None);
    assert_eq!(events.next().unwrap().id, "3");
    let page = served.visitor.get(&written.address);
    assert!(page.body.contains("<main data-live>"), "{page:?}");
    file.write_all(rest.as_bytes()).unwrap();
    events.wait_for("the whole line", |event| event.id == "4");
    // A process that was killed leaves a consultation that no longer runs.
    written.journal = None;
    let end = events.wait_for("the end", |event| event.name == "end");
    assert!(end.data.contains("Incomplete"), "{end:?}");
}

#[test]
fn large_journal_slows_no_other_page() {
    let conclave = Conclave::new();
    let mut written = written(&conclave);
    written.write(3);
    let served = serve(&conclave);
    assert_eq!(served.visitor.get("/").status, 200);
    let mut index = Index::open(&conclave.home().join("consult-analytics.db")).unwrap();
    let (_, id) = written.address.rsplit_once('/').unwrap();
    let id = conclave::domain::ids::ConsultationId::parse(id).unwrap();
    apply(&mut index, &[IndexChange::Begun(id, Timestamp(0))]).unwrap();
    // Many times the usual number of lines, which change nothing.
    let line = serde_json::to_string(&written.events.nth(1).unwrap()).unwrap() + "\n";
    let mut file = File::options()
        .append(true)
        .open(&written.files.journal)
        .unwrap();
    file.write_all(line.repeat(20_000).as_bytes()).unwrap();
    let mut events = served.visitor.events(&written.address, None);
    let list = served.visitor.get("/");
    assert_eq!(list.status, 200);
    events.wait_for("all lines", |event| event.id == "20003");
    assert!(served.visitor.get("/").body.contains("<h2>Running</h2>"));
}
