//! The settings of a repository: where they are found, what they may set, and what a hostile
//! repository cannot do.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::binary::{Conclave, RunOutput};
use crate::support::model_requests::model_requests;
use crate::support::provider_server::{ProviderServer, Vendor};

/// A repository in the working folder, with these settings.
fn in_repository(conclave: Conclave, settings: &str) -> Conclave {
    fs::create_dir(conclave.folder().join(".git")).unwrap();
    fs::write(file(&conclave), settings).unwrap();
    conclave
}

fn file(conclave: &Conclave) -> PathBuf {
    conclave.folder().join(".conclave.toml")
}

fn set(conclave: &Conclave, settings: &str) {
    fs::write(file(conclave), settings).unwrap();
}

fn ask(conclave: &Conclave, flags: &[&str]) -> RunOutput {
    conclave.run(&[&["consult", "-n", "Shall we?"], flags].concat())
}

fn show(conclave: &Conclave) -> Value {
    let shown = conclave.run(&["config", "show", "--json"]);
    shown.ends_with(0).json()
}

const ANNOUNCED: &str = "Settings of this repository: .conclave.toml\n";

const PANEL: &str = "panel = [\"security=gpt-6.1-sol\", \"skeptic=gpt-6.1-sol\"]\n";

#[test]
fn repository_comes_between_the_home_and_the_environment() {
    let server = ProviderServer::start();
    let home =
        r#"{"judge": "openai:of-home", "default_personas": "skeptic", "personas": {"mine": "p"}}"#;
    let settings = "judge = \"openai:of-repository\"\ndefault_personas = \"security\"\n\
        [personas.theirs]\nprompt = \"You know this code.\"\n";
    let conclave = in_repository(Conclave::at(&server).config(home), settings)
        .variable("CONCLAVE_JUDGE", "openai:of-environment");
    let shown = show(&conclave);
    let path = file(&conclave).display().to_string();
    for (setting, value, origin) in [
        ("judge", json!("openai:of-environment"), "CONCLAVE_JUDGE"),
        ("default_personas", json!("security"), &*path),
        ("rounds", json!(4), "default"),
    ] {
        assert_eq!(shown[setting]["value"], value);
        assert_eq!(shown[setting]["origin"], origin);
    }
    // Personas are added to those of the user.
    let personas = shown["personas"]["value"].as_object().unwrap();
    assert_eq!(personas.keys().collect::<Vec<_>>(), ["mine", "theirs"]);
    let table = conclave.run(&["config", "show"]).ends_with(0).stdout;
    let mut rows = table
        .lines()
        .map(|row| row.split_whitespace().collect::<Vec<_>>());
    assert!(rows.any(|row| row.starts_with(&["default_personas", "security", ".conclave.toml"])));
}

#[test]
fn file_is_found_up_to_the_root_of_the_repository_and_announced() {
    let server = ProviderServer::start();
    let conclave = in_repository(Conclave::at(&server), PANEL);
    let ran = ask(&conclave, &[]).ends_with(0);
    assert_eq!(ran.stderr.matches(ANNOUNCED).count(), 1, "{}", ran.stderr);
    ran.assert_stderr_contains("with 2 experts");
    assert!(
        !ask(&conclave, &["-q"])
            .ends_with(0)
            .stderr
            .contains("Settings")
    );
    // A flag outweighs it.
    let by_flag = ask(&conclave, &["--model", "gpt-6.1-sol"]).ends_with(0);
    by_flag.assert_stderr_contains("with 3 experts");
    let below = |conclave: &Conclave, folder: &str| {
        let folder = conclave.folder().join(folder);
        fs::create_dir_all(&folder).unwrap();
        let mut command = conclave.command();
        let words = ["consult", "-n", "Shall we?"];
        let ran = command
            .args(words)
            .current_dir(folder)
            .stdin(std::process::Stdio::null());
        String::from_utf8(ran.output().unwrap().stderr).unwrap()
    };
    let stderr = below(&conclave, "a/b");
    assert!(
        stderr.contains("repository: ../../.conclave.toml\n"),
        "{stderr}"
    );
    // Another repository inside has none of its own, and outside of a repository nothing is read.
    fs::create_dir_all(conclave.folder().join("other/.git")).unwrap();
    assert!(!below(&conclave, "other").contains("Settings of this repository"));
    fs::remove_dir(conclave.folder().join(".git")).unwrap();
    assert!(!below(&conclave, "a/b").contains("Settings of this repository"));
}

#[test]
fn what_a_repository_cannot_set_is_refused_with_file_and_line() {
    let conclave = in_repository(Conclave::new(), "");
    let allowed = "is yours to set: a repository can set `context`, `panel`, `judge`, `personas`, \
        `persona_sets`, `default_personas`, `max_cost`";
    for (settings, error) in [
        (
            "judge = \"a:j\"\n\n[endpoints.work]\nbase_url = \"http://evil\"\n",
            format!("`endpoints` in `FILE`, line 3, {allowed}"),
        ),
        (
            "always_allow_under = 100\n",
            format!("`always_allow_under` in `FILE`, line 1, {allowed}"),
        ),
        (
            "local_servers = \"http://evil\"\n",
            format!("`local_servers` in `FILE`, line 1, {allowed}"),
        ),
        (
            "monthly_budget = 9\n",
            format!("`monthly_budget` in `FILE`, line 1, {allowed}"),
        ),
        (
            "\nopenai_api_key = \"sk-x\"\n",
            "`openai_api_key` in `FILE`, line 2, would store a key in the settings".to_owned(),
        ),
        (
            "pannel = \"x\"\n",
            "unknown setting `pannel` in `FILE`, line 1; did you mean `panel`?".to_owned(),
        ),
        ("panel = \n", "`FILE`, line 1: not TOML: ".to_owned()),
        (
            "\n\nmax_cost = \"much\"\n",
            "`max_cost` in `FILE`, line 3, is `\"much\"`, but must be an amount".to_owned(),
        ),
        (
            "[personas.a]\nprompt = \"p\"\n\n[personas.b]\nname = \"B\"\n",
            "`personas.b` in `FILE`, line 4, has no `prompt`".to_owned(),
        ),
        (
            "[personas.a]\nprompt = \"p\"\nmodel = \"openai:x\"\n",
            "`personas.a.model` in `FILE`, line 3, is not for a repository to set".to_owned(),
        ),
        (
            "[personas.a]\nprompt = \"p\"\nModel = \"openai:x\"\n",
            "`personas.a.model` in `FILE`".to_owned(),
        ),
    ] {
        set(&conclave, settings);
        for arguments in [&["consult", "Shall we?"][..], &["config", "show"]] {
            let ran = conclave.run(arguments).ends_with(2);
            let stderr = ran
                .stderr
                .replace(&file(&conclave).display().to_string(), "FILE");
            assert!(
                stderr.starts_with(&format!("error: {error}")),
                "{settings}: {stderr}"
            );
            assert!(stderr.contains("\nhint: fix or remove it"), "{stderr}");
        }
    }
    // What mends the user's own settings does not depend on it.
    conclave.run(&["config", "set", "rounds", "2"]).ends_with(0);
    fs::remove_file(file(&conclave)).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", file(&conclave)).unwrap();
    let ran = conclave.run(&["config", "show"]).ends_with(2);
    ran.assert_stderr_contains("it is a link out of its folder");
}

#[test]
fn ceiling_of_a_repository_lowers_the_users_own_and_never_raises_it() {
    let server = ProviderServer::start();
    let conclave = in_repository(
        Conclave::at(&server).config(r#"{"max_cost": 2}"#),
        "max_cost = 5",
    );
    assert_eq!(show(&conclave)["max_cost"]["value"], 2);
    let origin = conclave.home().join("config.json").display().to_string();
    assert_eq!(show(&conclave)["max_cost"]["origin"], origin);
    set(&conclave, "max_cost = 0.000001");
    assert_eq!(show(&conclave)["max_cost"]["value"], 0.000_001);
    ask(&conclave, &["--yes"]).ends_with(4);
    assert_eq!(model_requests(&server).len(), 0);
    ask(&conclave, &["--yes", "--max-cost", "1"]).ends_with(0);
}

#[test]
fn yes_alone_approves_no_more_than_needs_no_consent() {
    let server = ProviderServer::start();
    let home = r#"{"always_allow_under": 0.000001}"#;
    let conclave = in_repository(Conclave::at(&server).config(home), PANEL);
    // Not even a high ceiling of the repository's own does.
    for settings in [PANEL.to_owned(), format!("{PANEL}max_cost = 1000\n")] {
        set(&conclave, &settings);
        ask(&conclave, &["--yes"]).ends_with(4);
        ask(&conclave, &[]).ends_with(4);
    }
    assert_eq!(model_requests(&server).len(), 0);
    ask(&conclave, &["--yes", "--max-cost", "1"]).ends_with(0);
}

#[test]
fn context_of_a_repository_is_sent_and_does_not_leave_it() {
    let server = ProviderServer::start();
    let conclave = in_repository(Conclave::at(&server), "context = [\"docs\", \"main.rs\"]\n");
    let folder = conclave.folder();
    let outside = folder.parent().unwrap().join("outside.txt");
    fs::create_dir(folder.join("docs")).unwrap();
    for (path, text) in [
        (folder.join("docs/design.md"), "The design."),
        (folder.join("main.rs"), "fn main() {}"),
        (folder.join("other.rs"), "fn other() {}"),
        (folder.join(".env"), "WORD=hidden"),
        (folder.join(".git/config"), "[remote]"),
        (outside, "private"),
    ] {
        fs::write(path, text).unwrap();
    }
    for (name, target) in [
        ("link.txt", "../outside.txt"),
        ("links", ".."),
        ("inner.txt", ".git/config"),
        ("docs/outer.md", "../../outside.txt"),
    ] {
        std::os::unix::fs::symlink(target, folder.join(name)).unwrap();
    }
    let sent = |flags: &[&str]| {
        let before = server.requests().len();
        ask(&conclave, flags).ends_with(0);
        let mut requests = model_requests(&server).into_iter().skip(before);
        requests.next().unwrap().prompt()
    };
    let prompt = sent(&[]);
    assert!(
        prompt.contains("### File: docs/design.md\n\nThe design."),
        "{prompt}"
    );
    assert!(
        prompt.contains("### File: main.rs\n\nfn main() {}"),
        "{prompt}"
    );
    assert!(!prompt.contains("private"), "{prompt}");
    let prompt = sent(&["-f", "other.rs"]);
    assert!(
        prompt.contains("fn other") && !prompt.contains("fn main"),
        "{prompt}"
    );
    let before = server.requests().len();
    for path in [
        "../outside.txt",
        "/etc/passwd",
        "..",
        ".env",
        ".git/config",
        "docs/../.env",
        "link.txt",
        "links/outside.txt",
        "inner.txt",
        "missing.txt",
    ] {
        set(&conclave, &format!("context = \"{path}\"\n"));
        let ran = ask(&conclave, &[]).ends_with(2);
        let error = format!(
            "error: `{path}` in `context` of .conclave.toml is no file or folder of the \
             repository, or hidden\n"
        );
        assert_eq!(ran.stderr.split_inclusive('\n').next().unwrap(), error);
    }
    assert_eq!(server.requests().len(), before);
    sent(&["-f", "other.rs"]);
}

#[test]
fn panel_of_a_repository_asks_no_provider_that_the_user_would_not() {
    let server = ProviderServer::start();
    let elsewhere = "panel = \"security=xai:grok-4.7,skeptic=gpt-6.1-sol\"\n";
    let conclave = in_repository(Conclave::at(&server), PANEL);
    let refused = |conclave: &Conclave, model: &str| {
        let ran = ask(conclave, &[]).ends_with(2);
        ran.assert_stderr_contains(&format!(
            "error: .conclave.toml names `{model}`, and your own settings do not ask that provider\n\
             hint: name a panel yourself with `--panel`\n"
        ));
    };
    // The user asks one vendor only, and has the key of another.
    let home = r#"{"panel": "security=anthropic:claude-sonnet-5-5", "judge": "anthropic:claude-sonnet-5-5"}"#;
    let conclave = conclave.config(home);
    refused(&conclave, "openai:gpt-6.1-sol");
    set(&conclave, "judge = \"gpt-6.1-sol\"\n");
    refused(&conclave, "openai:gpt-6.1-sol");
    // The user's own words are not the repository's.
    ask(
        &conclave,
        &["--panel", "security=gpt-6.1-sol", "--judge", "gpt-6.1-sol"],
    )
    .ends_with(0);
    set(&conclave, "panel = \"skeptic=anthropic:claude-opus-5-5\"\n");
    ask(&conclave, &[]).ends_with(0);
    // Without a panel of one's own, the vendors with a key are asked anyway.
    fs::remove_file(conclave.home().join("config.json")).unwrap();
    set(&conclave, elsewhere);
    let conclave = conclave.with_key(Vendor::Xai);
    assert!(Path::new(&file(&conclave)).exists());
    ask(&conclave, &["--dry-run"]).ends_with(0);
}
