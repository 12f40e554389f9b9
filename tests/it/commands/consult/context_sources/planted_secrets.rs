//! Secrets in generated source code, in the question, on standard input and in a project: none of
//! them is in any request, in any file of the home, or on any stream. `--no-scrub` sends them, and
//! says so.

use std::fs;
use std::path::Path;

use fastrand::Rng;

use crate::support::binary::{Conclave, RunOutput};
use crate::support::provider_server::ProviderServer;

/// How a language binds a name to a text, by the ending of its files.
const LANGUAGES: [(&str, &str); 12] = [
    (
        "rs",
        "const NAME: &str = \"VALUE\";\n\nfn main() {\n    connect(NAME);\n}\n",
    ),
    (
        "py",
        "import os\n\nNAME = \"VALUE\"\n\n\ndef main():\n    connect(NAME)\n",
    ),
    (
        "js",
        "module.exports = {\n  NAME: 'VALUE',\n  retries: 3,\n};\n",
    ),
    (
        "ts",
        "export class Client {\n  private readonly NAME: string = \"VALUE\";\n}\n",
    ),
    (
        "go",
        "package main\n\nvar NAME = \"VALUE\"\n\nfunc main() { connect(NAME) }\n",
    ),
    (
        "java",
        "class Client {\n    private static final String NAME = \"VALUE\";\n}\n",
    ),
    ("rb", "class Client\n  NAME = 'VALUE'.freeze\nend\n"),
    (
        "php",
        "<?php\n$config['NAME'] = 'VALUE';\nconnect($config);\n",
    ),
    (
        "cs",
        "class Client\r\n{\r\n    private string NAME = \"VALUE\";\r\n}\r\n",
    ),
    ("kt", "object Client {\n    val NAME = \"VALUE\"\n}\n"),
    ("sh", "#!/bin/sh\nexport NAME=VALUE\ncurl \"$URL\"\n"),
    ("yaml", "service:\n  NAME: VALUE\n  replicas: 2\n"),
];

/// Names of variables that hold a secret.
const SECRET_NAMES: [&str; 5] = [
    "api_secret",
    "DB_PASSWORD",
    "accessToken",
    "client_secret",
    "STRIPE_API_KEY",
];

/// Beginnings of tokens with the number of letters and digits that follow.
const TOKENS: [(&str, usize); 7] = [
    ("ghp_", 36),
    ("sk_live_", 24),
    ("xoxb-123456789012-1234567890123-", 24),
    ("AIza", 35),
    ("hf_", 34),
    ("npm_", 36),
    ("glpat-", 20),
];

/// Secrets that were planted, and whatever holds them.
struct Planted {
    random: Rng,
    secrets: Vec<String>,
}

impl Planted {
    fn new(seed: u64) -> Self {
        Self {
            random: Rng::with_seed(seed),
            secrets: Vec::new(),
        }
    }

    /// Returns letters and digits, with at least one of each.
    fn letters_and_digits(&mut self, length: usize) -> String {
        let random: String = (2..length).map(|_| self.random.alphanumeric()).collect();
        random + "7q"
    }

    fn token(&mut self) -> String {
        let (prefix, length) = TOKENS[self.random.usize(..TOKENS.len())];
        let token = prefix.to_owned() + &self.letters_and_digits(length);
        self.secrets.push(token.clone());
        token
    }

    fn value(&mut self) -> String {
        let length = self.random.usize(20..40);
        let value = self.letters_and_digits(length);
        self.secrets.push(value.clone());
        value
    }

    fn url(&mut self) -> String {
        let password = self.value();
        format!("postgresql://app:{password}@db.internal:5432/orders")
    }

    fn private_key(&mut self) -> String {
        let lines: Vec<String> = (0..4).map(|_| self.letters_and_digits(64)).collect();
        self.secrets.extend(lines.iter().cloned());
        format!(
            "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----\n",
            lines.join("\n")
        )
    }

    /// Returns source code of a language with three secrets in it.
    fn source(&mut self, language: &str) -> String {
        let secret_name = SECRET_NAMES[self.random.usize(..SECRET_NAMES.len())];
        let bind = |name: &str, value: &str| language.replace("NAME", name).replace("VALUE", value);
        let named = bind(secret_name, &self.value());
        let token = bind("value", &self.token());
        let url = bind("database", &self.url());
        let mut parts = [named, token, url];
        self.random.shuffle(&mut parts);
        parts.concat()
    }

    /// Writes a file for each language and one with a private key, and returns their names.
    fn files(&mut self, folder: &Path) -> Vec<String> {
        let mut names = Vec::new();
        for (ending, language) in LANGUAGES {
            let name = format!("planted.{ending}");
            fs::write(folder.join(&name), self.source(language)).unwrap();
            names.push(name);
        }
        fs::write(folder.join("id_rsa.md"), self.private_key()).unwrap();
        names.push("id_rsa.md".to_owned());
        names
    }

    /// Writes a project whose documents and manifest hold secrets.
    fn project(&mut self, folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        let readme = format!("# Orders\n\nRun it with `TOKEN={}`.\n", self.token());
        fs::write(folder.join("README.md"), readme).unwrap();
        let manifest = format!(
            "{{\"name\": \"orders\", \"description\": \"At {}\", \"dependencies\": \
             {{\"express\": \"4.18.2\"}}}}",
            self.url()
        );
        fs::write(folder.join("package.json"), manifest).unwrap();
    }

    /// Asserts that no text holds a secret.
    fn assert_absent(&self, place: &str, text: &str) {
        for secret in &self.secrets {
            if let Some((before, _)) = text.split_once(secret.as_str()) {
                let line = before.lines().last().unwrap_or_default();
                panic!("{place} holds {secret}, after {line:?}");
            }
        }
    }

    /// Asserts that neither the requests, nor the files of the home, nor the streams hold a secret.
    fn assert_gone(&self, server: &ProviderServer, conclave: &Conclave, output: &RunOutput) {
        for request in server.requests() {
            let place = format!("a request to {}", request.path_and_query);
            self.assert_absent(&place, &request.body.to_string());
        }
        for (path, text) in files_below(&conclave.home()) {
            self.assert_absent(&path, &text);
        }
        self.assert_absent("standard output", &output.stdout);
        self.assert_absent("standard error", &output.stderr);
    }
}

/// Returns all files below a folder with their bytes as text.
fn files_below(folder: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            let bytes = fs::read(&path).unwrap();
            let text = String::from_utf8_lossy(&bytes).into_owned();
            files.push((path.display().to_string(), text));
        }
    }
    files
}

/// Asks with secrets in the question, on standard input, in files and in a project.
fn ask(conclave: &Conclave, planted: &mut Planted, arguments: &[&str]) -> RunOutput {
    let files = planted.files(conclave.folder()).join(",");
    planted.project(&conclave.folder().join("project"));
    let input = format!("export API_SECRET={}\n", planted.value());
    let question = format!(
        "Is {} safe with password = \"{}\"?",
        planted.token(),
        planted.value()
    );
    let fixed = [
        "consult",
        &question,
        "--yes",
        "--context",
        &files,
        "--project",
        "project",
    ];
    conclave.run_with(&[&fixed[..], arguments].concat(), &input)
}

#[test]
fn planted_secrets_are_in_no_request_file_or_stream() {
    for seed in 0..6 {
        let server = ProviderServer::start();
        let conclave = Conclave::at(&server);
        let mut planted = Planted::new(seed);
        let output = ask(&conclave, &mut planted, &["-v", "--full"]).ends_with(0);
        assert_eq!(server.requests().len(), 9);
        planted.assert_gone(&server, &conclave, &output);
        assert!(output.stderr.contains("🔒 Security: "), "{}", output.stderr);
        let report = &conclave.record()["scrubbing_report"];
        assert_eq!(report["sensitive_data_scrubbed"], true);
        for source in ["question", "stdin", "project", "planted.rs", "id_rsa.md"] {
            assert!(
                report["by_source"][source].is_object(),
                "{source}: {report}"
            );
        }
    }
}

#[test]
fn planted_secrets_are_in_no_event_and_no_dry_run() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let mut planted = Planted::new(100);
    let dry_run = ask(&conclave, &mut planted, &["--dry-run", "--format", "both"]).ends_with(0);
    planted.assert_absent("the dry run", &dry_run.stdout);
    planted.assert_absent("its messages", &dry_run.stderr);
    assert!(dry_run.stdout.contains("[REDACTED_"), "{}", dry_run.stdout);
    let output = ask(&conclave, &mut planted, &["--events", "-", "--json"]).ends_with(0);
    planted.assert_gone(&server, &conclave, &output);
}

#[test]
fn keys_that_are_held_are_in_no_request_body_file_or_stream() {
    let server = ProviderServer::start();
    let command = r#"{"endpoints": {"anthropic": {"base_url": "URL", "api_key_cmd": "echo printed-by-a-command"}}}"#;
    let conclave = Conclave::at(&server)
        .variable("GEMINI_API_KEY", "gemini-held-key")
        .variable("XAI_API_KEY", "unused-held-key");
    let base_url = conclave.variables()["ANTHROPIC_BASE_URL"]
        .to_str()
        .unwrap()
        .to_owned();
    let conclave = conclave.config(&command.replace("URL", &base_url));
    let planted = Planted {
        random: Rng::with_seed(0),
        secrets: ["printed-by-a-command", "gemini-held-key", "unused-held-key"]
            .map(ToOwned::to_owned)
            .to_vec(),
    };
    let question = planted.secrets.join(" and ") + "?";
    let output = conclave.run(&["consult", "--yes", &question]).ends_with(0);
    for request in server.requests() {
        planted.assert_absent("a request", &request.body.to_string());
    }
    for (path, text) in files_below(&conclave.home().join("consult-logs")) {
        planted.assert_absent(&path, &text);
    }
    planted.assert_absent("standard output", &output.stdout);
    planted.assert_absent("standard error", &output.stderr);
    assert_eq!(
        conclave.record()["question"],
        "[REDACTED_API_KEY_1] and [REDACTED_API_KEY_2] and [REDACTED_API_KEY_3]?"
    );
}

#[test]
fn scrubbing_that_is_switched_off_sends_everything_and_warns() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let mut planted = Planted::new(200);
    let output = ask(&conclave, &mut planted, &["--no-scrub", "-q"]).ends_with(0);
    assert!(
        output.stderr.starts_with(
            "⚠️ WARNING: Sensitive data scrubbing disabled.\n\
             Ensure your context contains no secrets!\n"
        ),
        "{}",
        output.stderr
    );
    let first = server.requests()[0].body.to_string();
    for secret in &planted.secrets {
        assert!(first.contains(secret.as_str()), "{secret} is not sent");
    }
    let report = &conclave.record()["scrubbing_report"];
    assert_eq!(report["sensitive_data_scrubbed"], false);
    assert_eq!(report["patterns_matched"], 0);
}

#[test]
fn secrets_in_an_unmasked_record_are_masked_when_it_is_quoted() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let mut planted = Planted::new(300);
    let question = format!("Is {} a good token?", planted.token());
    conclave
        .run(&["consult", "--yes", "--no-scrub", &question])
        .ends_with(0);
    let unmasked = conclave.record()["consultation_id"]
        .as_str()
        .unwrap()
        .to_owned();
    for arguments in [
        &["consult", "--yes", "--follow-up", "And for mobile?"][..],
        &["history", "rejudge", &unmasked, "--yes"],
    ] {
        let before = server.requests().len();
        let output = conclave.run(arguments).ends_with(0);
        let requests = server.requests().split_off(before);
        assert!(!requests.is_empty());
        for request in requests {
            planted.assert_absent("a request", &request.body.to_string());
        }
        planted.assert_absent("standard error", &output.stderr);
        assert!(
            output
                .stderr
                .contains("🔒 Security: 1 sensitive value detected"),
            "{}",
            output.stderr
        );
    }
}

#[test]
fn secrets_in_the_names_of_files_are_masked_like_any_text() {
    let server = ProviderServer::start();
    let conclave = Conclave::at(&server);
    let mut planted = Planted::new(400);
    let names = [planted.token(), planted.token()].map(|token| format!("of-{token}.md"));
    for name in &names {
        fs::write(conclave.folder().join(name), "Nothing secret.\n").unwrap();
    }
    let context = names.join(",");
    let arguments = [
        "consult",
        "Is it safe?",
        "--yes",
        "-v",
        "--full",
        "--context",
    ];
    let arguments = [&arguments[..], &[context.as_str()]].concat();
    let output = conclave.run(&arguments).ends_with(0);
    planted.assert_gone(&server, &conclave, &output);
    let first = server.requests()[0].body.to_string();
    assert!(first.contains("### File: of-[REDACTED_"), "{first}");
    let dry_run = conclave.run(&[&arguments[..], &["--dry-run"]].concat());
    planted.assert_absent("the dry run", &dry_run.ends_with(0).stdout);
}

#[test]
fn secrets_on_the_command_line_are_in_no_error() {
    let conclave = Conclave::new().variable("OPENAI_API_KEY", "openai-held-key-1");
    let mut planted = Planted::new(500);
    let token = planted.token();
    planted.secrets.push("openai-held-key-1".to_owned());
    for secret in [&*token, "openai-held-key-1"] {
        let file = format!("{secret}.md");
        for arguments in [
            &["history", "show", secret][..],
            &["refine", &file],
            &["benchmark", &file],
            &["scrub", &file],
            &["exit-check", &file],
            &["consult", "-f", &file, "x"],
            &["consult", "--panel", secret, "x"],
            &["consult", "--follow-up", "and", secret],
            &["config", "set", "max_cost", secret],
            &["config", "get", secret],
            &["completions", secret],
        ] {
            let output = conclave.run(arguments);
            assert_ne!(output.code, Some(0), "{arguments:?}");
            planted.assert_absent(arguments[0], &output.stderr);
            assert!(output.stderr.contains("[REDACTED_"), "{}", output.stderr);
        }
    }
}
