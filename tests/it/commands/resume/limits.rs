//! The limits of a resumed consultation: prices, thresholds and ceilings of today, and earlier
//! consent.

use rustix::process::Signal;
use serde_json::Value;

use super::{id_of, interrupt_consultation, rejected, stalling_server};
use crate::support::binary::Conclave;
use crate::support::provider_server::ProviderServer;

#[test]
fn dearer_prices_of_today_need_consent() {
    let server = stalling_server();
    let conclave = Conclave::at(&server);
    interrupt_consultation(&conclave, &server, Signal::INT);
    let (id, journal) = (id_of(&conclave.log("jsonl")), conclave.log("jsonl"));
    let before = std::fs::read_to_string(&journal).unwrap();
    let expensive_model = r#"{"models": [{"provider": "openai", "id": "gpt-6.1-sol",
        "prices": [{"input": 900, "output": 900, "as_of": "2026-11-21"}]}]}"#;
    std::fs::write(conclave.home().join("models.json"), expensive_model).unwrap();
    let refused = conclave.run(&["resume"]).ends_with(3);
    let reason = "error: The estimated cost needs consent, and there is no terminal to ask on\n\
                  hint: the estimate is $";
    assert!(refused.stderr.contains(reason), "{}", refused.stderr);
    let hint = format!(": agree to it with `conclave resume {id} --yes`\n");
    assert!(refused.stderr.contains(&hint), "{}", refused.stderr);
    assert_eq!(server.requests().len(), 4, "no call is made");
    assert_eq!(std::fs::read_to_string(&journal).unwrap(), before);

    conclave.run(&["resume", "--yes"]).ends_with(0);
    let record = conclave.record();
    assert!(
        record["cost"]["usd"].as_f64().unwrap() > 0.1,
        "{}",
        record["cost"]
    );
    assert_eq!(record["consent"]["how"], "flag");
    assert!(
        record["estimated_cost"]["usd"].as_f64().unwrap() > 1.0,
        "{}",
        record["estimated_cost"]
    );
}

#[test]
fn lower_threshold_of_today_needs_consent() {
    let server = stalling_server();
    let conclave = Conclave::at(&server);
    interrupt_consultation(&conclave, &server, Signal::INT);
    let conclave = conclave.config(r#"{"always_allow_under": 0}"#);
    conclave.run(&["resume"]).ends_with(3);
    let unwritable = ["resume", "--events", "missing/events.jsonl"];
    conclave.run(&unwritable).ends_with(2);
    assert_eq!(server.requests().len(), 4, "no call is made");
    conclave.run(&["resume", "--yes"]).ends_with(0);
}

#[test]
fn ceiling_of_today_applies_to_a_resumed_run() {
    let server = stalling_server();
    let conclave = Conclave::at(&server);
    interrupt_consultation(&conclave, &server, Signal::INT);
    let conclave = conclave.config(r#"{"max_cost": 0.000001}"#);
    conclave.run(&["resume"]).ends_with(4);
    assert_eq!(server.requests().len(), 4, "no call is made");
    conclave.run(&["resume", "--max-cost", "5"]).ends_with(0);
}

#[test]
fn monthly_budget_of_today_applies_to_a_resumed_run() {
    let server = stalling_server();
    let conclave = Conclave::at(&server);
    interrupt_consultation(&conclave, &server, Signal::INT);
    let conclave = conclave.config(r#"{"monthly_budget": 0.000001}"#);
    let refused = conclave.run(&["resume"]).ends_with(3);
    let hint = "hint: or raise `monthly_budget` in config.json: ";
    assert!(refused.stderr.contains(hint), "{}", refused.stderr);
    assert_eq!(server.requests().len(), 4, "no call is made");
    conclave.run(&["resume", "--yes"]).ends_with(0);
}

#[test]
fn consent_of_a_person_covers_the_rest() {
    let server = stalling_server();
    let conclave = Conclave::at(&server).config(r#"{"always_allow_under": 0}"#);
    let running = conclave.start(&["consult", "--yes", "Shall we?"]);
    server.wait_until("the judge is asked", |requests| requests.len() == 4);
    running.signal(Signal::INT);
    running.wait().ends_with(130);
    let dry_run = ["resume", "--dry-run", "--json", "--max-cost"];
    for (limit, decision) in [("0.000001", "above_ceiling"), ("5", "agreed")] {
        let shown = conclave.run(&[&dry_run[..], &[limit]].concat());
        let consent = &shown.ends_with(0).json()["consent"];
        assert_eq!(consent["decision"], decision, "{consent}");
    }
    conclave.run(&["resume"]).ends_with(0);
    assert_eq!(conclave.record()["consent"]["how"], "flag");
}

#[test]
fn journal_decides_on_neither_prices_nor_thresholds() {
    let server = stalling_server();
    let conclave = Conclave::at(&server).config(r#"{"always_allow_under": 0}"#);
    let running = conclave.start(&["consult", "--yes", "Shall we?"]);
    server.wait_until("the judge is asked", |requests| requests.len() == 4);
    running.signal(Signal::KILL);
    running.wait();
    // As crafted: approved by itself before the first call, and everything is free.
    let journal = conclave.log("jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    let mut lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .take_while(|line: &Value| line["type"] != "call:started")
        .collect();
    let plan = &mut lines[0]["data"]["plan"];
    for terms in plan["models"].as_object_mut().unwrap().values_mut() {
        terms["free"] = true.into();
    }
    plan["prices"] = serde_json::json!({});
    plan["control"]["consent"]["always_allow_under"] = 1_000_000_000.into();
    let free = serde_json::json!({"micro_usd": 0, "lower_bound": false});
    for line in &mut lines {
        let kind = line["type"].as_str().unwrap().to_owned();
        let data = &mut line["data"];
        match kind.as_str() {
            "consultation:cost_estimated" => {
                for figure in ["cost", "low", "high"] {
                    data[figure] = free.clone();
                }
            }
            "consultation:user_consent" => data["how"] = "auto_approved".into(),
            _ => {}
        }
    }
    let crafted: String = lines.iter().map(|line| line.to_string() + "\n").collect();
    std::fs::write(&journal, crafted).unwrap();
    let elsewhere = ProviderServer::start();
    let conclave = elsewhere
        .variables()
        .into_iter()
        .fold(conclave, |conclave, (name, value)| {
            conclave.variable(name, value)
        });
    let refused = conclave.run(&["resume"]).ends_with(3);
    assert!(
        refused.stderr.contains("hint: the estimate is $0."),
        "{}",
        refused.stderr
    );
    conclave.run(&["resume", "--yes"]).ends_with(0);
    assert_eq!(server.requests().len(), 4, "addresses are those of today");
    assert!(conclave.record()["cost"]["usd"].as_f64().unwrap() > 0.0);
}

#[test]
fn resume_flags_override_the_original_terms() {
    let server = stalling_server();
    let conclave = Conclave::at(&server);
    interrupt_consultation(&conclave, &server, Signal::INT);
    let limited = ["resume", "--max-cost", "0.000001"];
    let shown = conclave.run(&[&limited[..], &["--dry-run", "--json"]].concat());
    let consent = &shown.ends_with(0).json()["consent"];
    assert_eq!(consent["decision"], "above_ceiling", "{consent}");
    let output = conclave.run(&limited).ends_with(4);
    assert_eq!(
        server.requests().len(),
        4,
        "no call could exceed the ceiling"
    );
    assert!(
        output.stderr.contains("💾 Partial results saved to: "),
        "{}",
        output.stderr
    );
    assert!(output.stderr.contains("hint: of $"), "{}", output.stderr);
    let id = id_of(&conclave.log("jsonl"));
    assert!(
        output.stderr.ends_with(&format!(
            "hint: resume it with `conclave resume {id} --max-cost USD`\n"
        )),
        "{}",
        output.stderr
    );
    assert_eq!(conclave.record()["abort_reason"], "cost_ceiling");
    conclave.run(&["resume"]).ends_with(4);
    conclave.run(&["resume", "--max-cost", "5"]).ends_with(0);
    assert_eq!(conclave.record()["status"], "complete");
    assert!(
        conclave
            .run(&["resume", "--hedge-after", "soon"])
            .ends_with(2)
            .stderr
            .contains("error: ")
    );
}

#[test]
fn preview_of_a_resume_only_reads() {
    let server = stalling_server();
    let conclave = Conclave::at(&server);
    interrupt_consultation(&conclave, &server, Signal::INT);
    let journal = conclave.log("jsonl");
    let mut file = std::fs::File::options()
        .append(true)
        .open(&journal)
        .unwrap();
    std::io::Write::write_all(&mut file, b"{\"torn").unwrap();
    let before = std::fs::read(&journal).unwrap();
    conclave.run(&["resume", "--dry-run"]).ends_with(0);
    assert_eq!(std::fs::read(&journal).unwrap(), before);
    // Held as by a process that runs it.
    file.lock().unwrap();
    let error = rejected(&conclave, &server, &["--dry-run", &id_of(&journal)]);
    assert!(error.contains("is being run by another process"), "{error}");
}
