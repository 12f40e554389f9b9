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

use super::serve;
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
    let (_, id) = row.data.split_once("/c/").unwrap();
    let address = format!("/c/{}", id.split('"').next().unwrap());
    let mut page = served.visitor.events(&address, None);
    let running = page.next().unwrap();
    let shown = served.visitor.get(&address).body;
    assert!(shown.contains("<main data-live>"), "{shown}");
    for shown in [&running.data, &shown] {
        assert!(shown.contains("waiting for the answer"), "{shown}");
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
    let finished = served.visitor.get(&address).body;
    assert!(finished.contains("<main>"), "{finished}");
    let shown = finished.replace('\n', "");
    assert!(shown.contains(end.data.trim_end()), "{end:?}\n{shown}");
    list.wait_for("it is past", |event| {
        !event.data.contains("<h2>Running</h2>")
    });
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
