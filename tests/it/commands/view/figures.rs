//! The pages of figures: statistics, benchmarks, refinements and comparisons.

use super::serve;
use crate::support::filled_home::FilledHome;

/// Returns where the links of a page lead that begin with this.
fn links(page: &str, path: &str) -> Vec<String> {
    let begins = format!("href=\"{path}");
    let links = page.split(&begins).skip(1);
    let rest = links.map(|link| link.split('"').next().unwrap().replace("&amp;", "&"));
    rest.map(|rest| format!("{path}{rest}")).collect()
}

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
