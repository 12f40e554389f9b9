//! The list and the pages of past consultations.

use super::{links, serve};
use crate::support::binary::Conclave;
use crate::support::sample_events;
use crate::support::saved::{complete_consultation, consultation_with, log_folder};
use crate::support::{generated, html};

fn ids(page: &str) -> Vec<String> {
    let links = links(page, "/c/").into_iter();
    links.map(|link| link["/c/".len()..].to_owned()).collect()
}

fn main(page: &str) -> &str {
    let (_, main) = page.split_once("<main>").unwrap();
    main.split_once("</main>").unwrap().0
}

#[test]
fn list_is_searched_and_filtered_by_its_address() {
    let conclave = Conclave::new();
    let kafka = complete_consultation("01a", "2026-03-01T10:00:00Z", "Is Kafka enough?");
    let cookies = complete_consultation("01b", "2026-03-02T10:00:00Z", "Which <b>cookies</b>?");
    let aborted = consultation_with(
        sample_events::aborted(),
        "01c",
        "2026-03-03T10:00:00Z",
        "Why?",
    );
    for saved in [&kafka, &cookies, &aborted] {
        saved.save(&conclave);
    }
    let served = serve(&conclave);
    let [kafka, cookies, aborted] = [&kafka, &cookies, &aborted].map(|saved| saved.id.to_string());
    let all = [aborted.clone(), cookies.clone(), kafka.clone()];
    for (address, expected) in [
        ("/", &all[..]),
        ("/?q=&state=&mode=&model=&since=&until=&min=&max=", &all),
        ("/?q=kafka", &all[2..]),
        ("/?q=cook", &all[1..2]),
        ("/?q=nowhere", &[]),
        ("/?state=aborted", &all[..1]),
        ("/?state=completed&q=kafka", &all[2..]),
        ("/?mode=converge", &all),
        ("/?mode=explore", &[]),
        ("/?since=2026-03-02", &all[..2]),
        ("/?until=2026-03-02", &all[1..]),
        ("/?since=2026-03-02&until=2026-03-02", &all[1..2]),
        ("/?model=claude", &all),
        ("/?model=unheard", &[]),
        ("/?min=1000", &[]),
        ("/?max=1000", &all),
        // There is one page.
        ("/?page=2", &all),
        ("/?page=368934881474191032", &all),
        // What makes no sense filters nothing.
        (
            "/?since=yesterday&min=much&state=odd&page=none&page=-1&what=ever",
            &all,
        ),
        ("/?q=%22%2a%22&q=kafka", &[]),
    ] {
        let page = served.visitor.get(address);
        assert_eq!(page.status, 200, "{address}");
        assert_eq!(ids(&page.body), expected, "{address}");
    }
    let page = served.visitor.get("/?q=%3Cscript%3E%22&state=aborted").body;
    assert!(page.contains("value=\"&lt;script&gt;&quot;\""), "{page}");
    assert!(
        page.contains("<option value=\"aborted\" selected>"),
        "{page}"
    );
    assert!(page.contains("<details open>"), "{page}");
    let page = served.visitor.get("/").body;
    assert!(page.contains("Which &lt;b&gt;cookies&lt;/b&gt;?"), "{page}");
    assert!(page.contains("<details>"), "{page}");
}

#[test]
fn fifty_stand_on_a_page() {
    let conclave = Conclave::new();
    let logs = log_folder(&conclave);
    generated::write(&logs, 1, 120, generated::Length::Short);
    let served = serve(&conclave);
    let mut seen = Vec::new();
    let mut address = "/?q=&state=completed".to_owned();
    for number in 1.. {
        let page = served.visitor.get(&address).body;
        let found = ids(&page);
        let older = page
            .split("<a href=\"")
            .find(|link| link.contains(">Older</a>"));
        let older = older.and_then(|link| link.split('"').next());
        assert!(found.len() == 50 || older.is_none(), "page {number}");
        seen.extend(found);
        let Some(older) = older else { break };
        address = older.replace("&amp;", "&");
        assert_eq!(address, format!("/?q=&state=completed&page={}", number + 1));
    }
    let count = seen.len();
    assert!((51..=120).contains(&count), "{count}");
    assert!(seen.is_sorted_by(|one, other| one > other), "newest first");
}

#[test]
fn page_is_that_of_the_export_within_the_frame() {
    let conclave = Conclave::new();
    let saved = complete_consultation("01a", "2026-03-01T10:00:00Z", "Is OAuth enough?");
    saved.save(&conclave);
    let served = serve(&conclave);
    let page = served.visitor.get(&format!("/c/{}", saved.id)).body;
    let exported = conclave
        .run(&["history", "export", "last", "--format", "html"])
        .ends_with(0);
    assert_eq!(main(&page), main(&exported.stdout));
    let title = "<title>Is OAuth enough?</title>";
    assert!(page.contains(title), "{page}");
    assert!(
        page.contains("<a href=\"/\" aria-current=\"page\">Consultations</a>"),
        "{page}"
    );
    let json = served.visitor.get(&format!("/c/{}.json", saved.id));
    assert_eq!(json.header("content-type"), Some("application/json"));
    let record: serde_json::Value = serde_json::from_str(&json.body).unwrap();
    assert_eq!(record["question"], "Is OAuth enough?");
    let markdown = served.visitor.get(&format!("/c/{}.md", saved.id));
    assert!(
        markdown.body.starts_with("# Consultation\n"),
        "{}",
        markdown.body
    );
    assert_eq!(served.visitor.get("/c/consult-01zzz").status, 404);
}

#[test]
fn what_models_write_stays_text() {
    let conclave = Conclave::new();
    let at = "2026-03-01T10:00:00Z";
    let question =
        "<img src=x onerror=alert(1)> [a](javascript:alert(1)) ![b](http://evil.example/b)";
    let saved = consultation_with(sample_events::hostile(), "01a", at, question);
    saved.save(&conclave);
    let served = serve(&conclave);
    for address in ["/".to_owned(), format!("/c/{}", saved.id)] {
        let page = served.visitor.get(&address).body;
        assert!(page.contains("&lt;img src=x"), "{page}");
        for tag in [
            "<img",
            "<b>",
            "<iframe",
            "href=\"http",
            "href=\"javascript",
            "src=\"http",
            "\u{1b}",
            "\u{202e}",
        ] {
            assert!(!page.contains(tag), "{tag}: {page}");
        }
        assert_eq!(page.matches("<script").count(), 1, "{page}");
    }
    let page = served.visitor.get(&format!("/c/{}", saved.id)).body;
    html::scan(&format!("<!DOCTYPE html><main>{}</main>\n", main(&page)));
}
