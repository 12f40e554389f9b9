//! The limits of a resumed consultation: prices, thresholds and ceilings of today, and earlier
//! consent.

use rustix::process::Signal;
use serde_json::Value;

use super::{id_of, interrupt_consultation, rejected, stalling_server};
use conclave::domain::ids::short_id;

use crate::commands::moved_to;
use crate::commands::{refused, succeed};
use crate::support::binary::Conclave;
use crate::support::provider_server::ProviderServer;

#[test]
fn dearer_prices_of_today_need_consent() {
    let server = stalling_server();
    let conclave = Conclave::at(&server);
    interrupt_consultation(&conclave, &server, Signal::INT);
    let journal = conclave.log("jsonl");
    let before = std::fs::read_to_string(&journal).unwrap();
    let expensive_model = r#"{"models": [{"provider": "openai", "id": "gpt-6.1-sol",
        "prices": [{"input": 900, "output": 900, "as_of": "2026-11-21"}]}]}"#;
    std::fs::write(conclave.home().join("models.json"), expensive_model).unwrap();
    let output = conclave.run(&["resume"]).ends_with(3);
    output.assert_stderr_contains(
        "error: The estimated cost needs consent, and there is no terminal to ask on\n\
         hint: the estimate is $",
    );
    let yes = format!("conclave resume {} --yes", short_id(&id_of(&journal)));
    output.assert_stderr_contains(&format!(": agree to it with `{yes}`\n"));
    let unwritable = ["resume", "--events", "missing/events.jsonl"];
    conclave.run(&unwritable).ends_with(2);
    assert_eq!(server.requests().len(), 4, "no call is made");
    assert_eq!(std::fs::read_to_string(&journal).unwrap(), before);

    succeed(&conclave, &["resume", "--yes"]);
    let record = conclave.record();
    assert_eq!(record["consent"]["how"], "flag");
    let usd = |name: &str| record[name]["usd"].as_f64().unwrap();
    assert!(usd("cost") > 0.1, "{}", usd("cost"));
    assert!(usd("estimated_cost") > 1.0, "{}", usd("estimated_cost"));
}

#[test]
fn limits_of_today_apply_to_a_resumed_run() {
    for (config, code, hint, agreed) in [
        (
            r#"{"always_allow_under": 0}"#,
            3,
            "hint: the estimate is $",
            &["--yes"][..],
        ),
        (
            r#"{"monthly_budget": 0.000001}"#,
            3,
            "hint: or raise `monthly_budget` in config.json: ",
            &["--yes"],
        ),
        (
            r#"{"max_cost": 0.000001}"#,
            4,
            "hint: resume it with",
            &["--max-cost", "5"],
        ),
    ] {
        let server = stalling_server();
        let conclave = Conclave::at(&server);
        interrupt_consultation(&conclave, &server, Signal::INT);
        let conclave = conclave.config(config);
        let refused = conclave.run(&["resume"]).ends_with(code);
        refused.assert_stderr_contains(hint);
        assert_eq!(server.requests().len(), 4, "no call is made");
        succeed(&conclave, &[&["resume"], agreed].concat());
    }
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
    let conclave = moved_to(&elsewhere, conclave);
    let refused = conclave.run(&["resume"]).ends_with(3);
    refused.assert_stderr_contains("hint: the estimate is $0.");
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
    assert_eq!(server.requests().len(), 4, "no call is made");
    output.assert_stderr_contains("💾 Partial results saved to: ");
    output.assert_stderr_contains("does not pay for the next call: $");
    let id = id_of(&conclave.log("jsonl"));
    let id = short_id(&id);
    let hint = format!("hint: resume it with `conclave resume {id} --max-cost USD`\n");
    assert!(output.stderr.ends_with(&hint), "{}", output.stderr);
    assert_eq!(conclave.record()["abort_reason"], "cost_ceiling");
    conclave.run(&["resume"]).ends_with(4);
    succeed(&conclave, &["resume", "--max-cost", "5"]);
    assert_eq!(conclave.record()["status"], "complete");
    let stderr = refused(&conclave, &["resume", "--hedge-after", "soon"]);
    assert!(stderr.contains("error: "), "{stderr}");
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
