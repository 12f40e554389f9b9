//! Counts, ranges and drawing.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::binary::{Conclave, RunningProcess};
use crate::support::generated::{self, Length};
use crate::support::provider_server::ProviderServer;
use crate::support::schema;

const SCHEMA: &str = include_str!("../../../../schemas/consult_stats.schema.json");

/// Sets up a home with this many consultations; of 40, one is declined.
fn home_with(count: usize) -> Conclave {
    let conclave = Conclave::new().config("{}");
    let logs = conclave.home().join("consult-logs");
    std::fs::create_dir_all(&logs).unwrap();
    generated::write(&logs, 7, count, Length::Short);
    conclave
}

fn stats(conclave: &Conclave, arguments: &[&str]) -> String {
    conclave
        .run(&[&["consult-stats"], arguments].concat())
        .ends_with(0)
        .stdout
}

fn json(conclave: &Conclave, arguments: &[&str]) -> Value {
    let json = conclave
        .run(&[&["consult-stats", "--json"], arguments].concat())
        .ends_with(0)
        .json();
    schema::check(SCHEMA, &json);
    json
}

#[test]
fn empty_history_yields_a_hint_to_consult() {
    let conclave = Conclave::new();
    let first = "📭 No consultations found.\n\nRun your first consultation:\n  conclave consult \"Your question here\"\n";
    for arguments in [&[][..], &["--since", "2026-01-01"]] {
        let output = conclave
            .run(&[&["consult-stats"], arguments].concat())
            .ends_with(0);
        assert_eq!(output.stdout.as_str(), first, "{arguments:?}");
        assert_eq!(output.stderr, "", "{arguments:?}");
    }
    assert_eq!(json(&conclave, &[])["usage"]["total"], 0);
}

#[test]
fn finished_consultations_count_towards_the_targets() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server).config(r#"{"target_runs": 2, "targetMonthlyCost": 0.01}"#);
    conclave.run(&["consult", "Shall we?"]).ends_with(0);
    let cost = &conclave.record()["cost"]["usd"];
    let states = json!({ "completed": 1, "aborted": 0, "declined": 0, "unfinished": 0 });
    let runs = json!({ "runs_in_thirty_days": 1, "target": 2, "met": false });
    for range in ["--all-time", "--week", "--month"] {
        let json = json(&conclave, &[range]);
        assert_eq!(json["usage"]["by_state"], states, "{range}");
        assert_eq!(json["cost"]["total"], *cost, "{range}");
        assert_eq!(json["success_criteria"]["usage"], runs, "{range}");
    }
    let text = stats(&conclave, &[]);
    for line in [
        "• Total Consultations: 1\n",
        "• Usage: 1/2 consultations (50%)\n",
        "⚡ SPEED: Excellent response times!\n",
        "/$0.01 budget (",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    conclave.run(&["consult", "And now?"]).ends_with(0);
    assert!(stats(&conclave, &[]).contains("✅ SUCCESS: Consistent usage!\n"));
}

#[test]
fn empty_range_names_the_range_with_consultations() {
    let conclave = home_with(40);
    let all = json(&conclave, &[]);
    let (start, end) = (
        all["usage"]["date_range"]["start"].as_str().unwrap(),
        all["usage"]["date_range"]["end"].as_str().unwrap(),
    );
    assert_eq!(all["usage"]["total"], 39);
    assert_eq!(all["usage"]["by_state"]["declined"], 1);
    assert_eq!(
        stats(&conclave, &["--until", "2001-01-01"]),
        format!(
            "📭 No consultations found until 2001-01-01.\n\nOutside of it there are 39 consultations, {start} to {end}:\n  \
             conclave consult-stats --all-time\n"
        )
    );
    assert_eq!(
        stats(&conclave, &["--since", start, "--until", end])
            .lines()
            .nth(1)
            .unwrap(),
        format!("{start} to {end} (UTC)")
    );
}

#[test]
fn days_follow_the_users_time_zone() {
    let conclave = home_with(40);
    let days = |zone: &str| {
        let mut command = conclave.command();
        command
            .env("TZ", zone)
            .args(["consult-stats", "--json"])
            .stdout(Stdio::piped());
        let json = RunningProcess::of(command.spawn().unwrap()).wait().json();
        assert_eq!(json["range"]["time_zone"], zone);
        json["per_day"].clone()
    };
    assert_ne!(days("Pacific/Kiritimati"), days("Pacific/Pago_Pago"));
}

#[test]
fn invalid_ranges_are_rejected_with_the_reason() {
    let conclave = home_with(1);
    for (arguments, reason) in [
        (&["--month", "2026-13"][..], "`2026-13` is not a month"),
        (&["--since", "2026-02-30"], "`2026-02-30` is not a day"),
        (
            &["--since", "2026-03-02", "--until", "2026-03-01"],
            "the first day `2026-03-02` is after the last `2026-03-01`",
        ),
        (&["--week", "--month"], "cannot be used with"),
        (&["--rebuild-index", "--json"], "cannot be used with"),
    ] {
        let output = conclave
            .run(&[&["consult-stats"], arguments].concat())
            .ends_with(2);
        assert!(output.stdout.is_empty(), "{arguments:?}: {}", output.stderr);
        output.assert_stderr_contains(reason);
    }
}

#[test]
fn ascii_is_used_for_other_locales_or_on_request() {
    let conclave = home_with(40);
    let piped = stats(&conclave, &[]);
    assert!(piped.contains("• Total Consultations: 39\n"));
    assert!(!piped.contains(['│', '\u{1b}']), "{piped}");
    let conclave = conclave.variable("LC_ALL", "C");
    let by_locale = stats(&conclave, &[]);
    assert!(by_locale.is_ascii(), "{by_locale}");
    assert!(
        by_locale.contains("* Total Consultations: 39\n"),
        "{by_locale}"
    );
    let conclave = conclave.without("LC_ALL");
    assert_eq!(stats(&conclave, &["--ascii"]), by_locale);
    let rebuilt = stats(&conclave, &["--rebuild-index", "--ascii"]);
    assert_eq!(
        rebuilt,
        "OK Index rebuilt successfully. [40] consultations indexed.\n"
    );
    assert_eq!(
        stats(&conclave, &["--rebuild-index"]),
        rebuilt.replace("OK", "✅")
    );
}
