//! The pages of figures: statistics, benchmarks, refinements and comparisons.

use std::collections::BTreeSet;

use serde_json::json;

use super::{links, serve};
use crate::support::binary::Conclave;
use crate::support::filled_home::FilledHome;
use crate::support::provider_server::{Answer, On, ProviderServer};

#[test]
fn figures_of_a_home_have_pages_that_lead_to_each_other() {
    let home = FilledHome::fill();
    let served = serve(&home.conclave);
    let get = |address: &str| {
        let answer = served.visitor.get(address);
        assert_eq!(answer.status, 200, "{address}: {}", answer.body);
        answer.body
    };
    let has = |page: &str, parts: &[&str]| {
        for part in parts {
            assert!(page.contains(part), "{part}: {page}");
        }
    };
    let statistics = get("/statistics");
    has(
        &statistics,
        &[
            "Runs per day",
            "Early ends",
            "Confidence and outcome",
            "<strong><bdi>All time",
        ],
    );
    has(
        &get("/statistics?range=week"),
        &["Last 7 days, ", "href=\"/statistics?range=all\""],
    );

    let benchmarks = get("/benchmarks");
    let runs = links(&benchmarks, "/benchmarks/");
    assert_eq!(runs.len(), 2, "{benchmarks}");
    let run = get(&runs[1]);
    has(
        &run,
        &[
            "Accuracy and Cost",
            "Cost per right answer",
            "href=\"/c/consult-",
        ],
    );
    let both = links(&benchmarks, "/compare?");
    assert_eq!(both.len(), 1, "{benchmarks}");
    has(
        &get(&both[0]),
        &[
            "Two runs of",
            "Second run, single model",
            "Cases with the same result",
        ],
    );

    let documents = links(&get("/refinements"), "/refinements/");
    assert_eq!(documents.len(), 1);
    let document = get(&documents[0]);
    has(
        &document,
        &[
            "CONVERGENCE CHECK (Iteration 1)",
            "class=\"added\"",
            "In the vault",
            "href=\"/c/consult-",
        ],
    );

    let first = get(&format!("/c/{}", home.first));
    let comparisons = links(&first, "/compare?");
    assert_eq!(
        comparisons.len(),
        3,
        "a follow-up, a rejudgement and another run: {first}"
    );
    let compared: Vec<String> = comparisons.iter().map(|address| get(address)).collect();
    for title in [
        "A follow-up beside its question",
        "A second judgement beside the first",
        "Two runs of one question",
    ] {
        assert!(compared.iter().any(|page| page.contains(title)), "{title}");
    }
    served.end();
}

#[test]
fn statistics_that_were_shown_before_have_what_came_since() {
    let vendors = ProviderServer::start();
    let conclave = Conclave::at(&vendors);
    let ask = || {
        let asked = conclave.run(&["consult", "Why?", "--yes", "--quick"]);
        asked.ends_with(0);
    };
    ask();
    let served = serve(&conclave);
    let statistics = || served.visitor.get("/statistics").body;
    let shown = statistics();
    assert_eq!(statistics(), shown, "nothing has changed");
    for _ in 0..2 {
        let before = statistics();
        ask();
        assert_ne!(statistics(), before);
    }
    served.end();
}

#[test]
fn names_that_are_none_lead_nowhere() {
    let home = FilledHome::fill();
    let served = serve(&home.conclave);
    for address in [
        "/benchmarks/bench-none",
        "/benchmarks/..%2f..%2fconfig.json",
        "/benchmarks/../../config.json",
        "/refinements/none",
        "/refinements/%2e%2e%2f",
        "/compare",
        "/compare?a=consult-a&b=consult-b",
        "/compare?a=bench-a&b=bench-b",
        "/compare?a=../../etc/passwd&b=../../etc/passwd",
    ] {
        assert_eq!(served.visitor.get(address).status, 404, "{address}");
    }
    served.end();
}

/// Questions, answers, cases, tags and the names of files.
#[test]
fn foreign_words_stay_text_on_every_page_and_in_every_event() {
    let hostile = "<img src=x onerror=alert(1)></script><svg onload=alert(1)>\r\n\r\ndata: x\r\
                   [a](javascript:alert(1)) ![b](http://evil.example/b) \u{202e}\u{1b}[1m";
    let answer = json!({
        "position": hostile, "recommendation": hostile, "summary": hostile, "rationale": hostile,
        "key_points": [hostile], "evidence": [hostile], "confidence": 0.8,
        "dissent": [{"agent": hostile, "position": hostile, "severity": "high"}],
        "answers": {"Q1": {"outcome": "answered", "text": hostile, "dissent": hostile}},
    });
    let vendors = ProviderServer::start();
    vendors.on(On::any(), Answer::text(answer.to_string()));
    let conclave = Conclave::at(&vendors);
    let case = json!({
        "id": "a", "question": hostile, "options": [hostile, "y"], "expected": "B", "tags": ["<img src=x>\u{202e}"],
    });
    let document = format!("# {hostile}\n\n## Open Questions\n\n- Where?\n- <img src=x> in `x`?\n");
    let [suite, spec] = ["<img src=x>\u{202e}.jsonl", "<img src=x>.md"];
    for (name, text) in [(suite, case.to_string()), (spec, document)] {
        std::fs::write(conclave.folder().join(name), text).unwrap();
    }
    for words in [
        &["consult", hostile, "--yes"][..],
        &["consult", hostile, "--yes", "--quick"],
        &["benchmark", suite, "--compare", "--yes"],
        &["benchmark", suite, "--yes"],
        &["refine", spec, "--in-place", "--rounds", "1", "--yes"],
    ] {
        conclave.run(words);
    }
    let served = serve(&conclave);
    let mut open = vec!["/".to_owned()];
    let mut seen = BTreeSet::new();
    while let Some(address) = open.pop() {
        if !seen.insert(address.clone()) {
            continue;
        }
        let page = served.visitor.get(&address).body;
        // Files have a dot.
        let pages = links(&page, "/").into_iter();
        open.extend(pages.filter(|address| !address.contains('.')));
        let event = served.visitor.events(&address, None).next().unwrap();
        for tag in ["<script", "</script"] {
            assert_eq!(page.matches(tag).count(), 1, "{address}: {page}");
        }
        for text in [&page, &event.data] {
            for part in [
                "<img",
                "<svg onload",
                "href=\"http",
                "href=\"javascript",
                "\u{1b}",
                "\u{202e}",
                "\r",
            ] {
                assert!(!text.contains(part), "{part:?}, {address}: {text}");
            }
        }
    }
    let kinds = ["/c/", "/benchmarks/", "/refinements/", "/compare?"];
    for kind in kinds {
        assert!(
            seen.iter().any(|it| it.starts_with(kind)),
            "{kind}: {seen:?}"
        );
    }
    served.end();
}
