//! What an attempt asks for, what it accepts, and what it refuses.

use std::os::unix::fs::PermissionsExt;

use rustix::process::Signal;

use super::{CONSULT, Waiting, break_with, get, home, signed_in, store, stored};
use crate::support::binary::Conclave;
use crate::support::provider_server::sign_in::SignInService;
use crate::support::provider_server::{Fault, ProviderServer, Vendor};

#[test]
fn first_sign_in_registers_and_the_next_one_uses_the_registration() {
    let server = ProviderServer::start();
    let conclave = home(&server);
    let first = Waiting::start(&conclave);
    let of_first = |name| first.parameter(name).unwrap();
    for (name, value) in [
        ("client_id", "dynamic_agent_client"),
        ("agent_name_hint", "conclave"),
        ("response_type", "code"),
        ("resource", "https://api.openai.com/v1"),
        ("code_challenge_method", "S256"),
        (
            "scope",
            "openid profile email offline_access resource.invoke chatgpt.tokens.use.direct",
        ),
    ] {
        assert_eq!(of_first(name), value);
    }
    let redirect = of_first("redirect_uri");
    assert!(redirect.starts_with("http://127.0.0.1:") && redirect.ends_with("/auth/callback"));
    let [host, state, nonce, challenge] =
        ["ext_agent_host_id", "state", "nonce", "code_challenge"].map(of_first);
    let shape: String = host
        .chars()
        .map(|c| if c.is_ascii_hexdigit() { '0' } else { c })
        .collect();
    assert_eq!(shape, "urn:uui0:00000000-0000-0000-0000-000000000000");
    let output = first.browse().ends_with(0);
    output.assert_stderr_contains("Signed in as ada@example.org");
    assert_eq!(stored(&conclave)["client_id"], "oaiapp_1");
    let file = conclave.home().join("chatgpt.json");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);

    let next = Waiting::start(&conclave);
    assert_eq!(next.parameter("client_id").unwrap(), "oaiapp_1");
    assert_eq!(next.parameter("ext_agent_host_id"), Some(host));
    assert_eq!(next.parameter("login_hint").unwrap(), "ada@example.org");
    assert_eq!(next.parameter("agent_name_hint"), None);
    for (name, before) in [
        ("state", state),
        ("nonce", nonce),
        ("code_challenge", challenge),
    ] {
        assert_ne!(next.parameter(name).unwrap(), before, "{name}");
    }
    next.browse().ends_with(0);
}

#[test]
fn nothing_is_saved_of_an_answer_that_breaks_a_promise() {
    for (fault, words) in [
        (Fault::WrongIssuer, "it is from another service"),
        (Fault::WrongAudience, "it is for another registration"),
        (Fault::TwoAudiences, "it is for another registration"),
        (
            Fault::ForgedSignature,
            "it is signed by none of the published keys",
        ),
        (
            Fault::NoSignature,
            "it is signed by none of the published keys",
        ),
        (Fault::WrongNonce, "it belongs to another attempt"),
        (
            Fault::ExpiredIdentity,
            "it is not valid now; check the clock",
        ),
        (Fault::NoIdentity, "there is no identity"),
        (Fault::WithoutRefreshToken, "a token is missing"),
        (Fault::Denied, "the sign-in was declined in the browser"),
        (Fault::NoClient, "it is not for this registration"),
        (Fault::UnissuedClient, "it is not for this registration"),
        (
            Fault::UnknownClient,
            "OpenAI refused the sign-in (`unauthorized_client`)",
        ),
    ] {
        let server = ProviderServer::start();
        let conclave = home(&server);
        break_with(&server, fault);
        let output = Waiting::start(&conclave).browse().ends_with(1);
        output.assert_stderr_contains(words);
        assert!(stored(&conclave)["tokens"].is_null(), "{fault:?}");
        assert!(stored(&conclave)["client_id"].is_null(), "{fault:?}");
        assert!(!output.stderr.contains("secret-"), "{}", output.stderr);
        // Whatever was granted is given back.
        let is_valid = server.sign_in(|service| service.is_valid());
        assert!(
            !is_valid || fault == Fault::WithoutRefreshToken,
            "{fault:?}"
        );
    }
}

#[test]
fn a_known_registration_and_account_stay_in_use() {
    let server = ProviderServer::start();
    let conclave = signed_in(&server);
    let before = stored(&conclave);
    for (fault, words) in [
        (Fault::AnotherClient, "it is not for this registration"),
        (Fault::AnotherAccount, "another ChatGPT account signed in"),
    ] {
        break_with(&server, fault);
        Waiting::start(&conclave)
            .browse()
            .ends_with(1)
            .assert_stderr_contains(words);
        assert_eq!(stored(&conclave), before, "{fault:?}");
    }
    conclave.run(&["logout", "--forget"]).ends_with(0);
    Waiting::start(&conclave).browse().ends_with(0);
    assert_eq!(stored(&conclave)["subject"], "user-2");
    assert_eq!(stored(&conclave)["host_id"], before["host_id"]);
}

#[test]
fn a_sign_in_without_the_plan_makes_no_call_and_asks_for_it_the_next_time() {
    let server = ProviderServer::start();
    let conclave = home(&server);
    break_with(&server, Fault::WithoutPlan);
    let words = "signed in as ada@example.org, but not allowed to use the ChatGPT plan";
    Waiting::start(&conclave)
        .browse()
        .ends_with(1)
        .assert_stderr_contains(words);
    conclave
        .run(&["login", "status"])
        .ends_with(1)
        .assert_stderr_contains(words);
    conclave.run(&CONSULT).ends_with(2);
    assert!(server.requests_to(Vendor::ChatGpt).is_empty());
    break_with(&server, Fault::None);
    let next = Waiting::start(&conclave);
    assert_eq!(next.parameter("prompt").unwrap(), "consent");
    next.browse().ends_with(0);
    conclave.run(&["login", "status"]).ends_with(0);
}

#[test]
fn an_interrupted_attempt_leaves_no_sign_in() {
    let server = ProviderServer::start();
    let conclave = home(&server);
    let waiting = Waiting::start(&conclave);
    waiting.process.signal(Signal::INT);
    let output = waiting.process.wait().ends_with(130);
    output.assert_stderr_contains("nothing was saved");
    assert!(stored(&conclave)["tokens"].is_null());
}

#[test]
fn the_browser_opens_the_address_where_there_is_a_screen() {
    let server = ProviderServer::start();
    let folder = tempfile::tempdir().unwrap();
    let (browser, opened) = (folder.path().join("xdg-open"), folder.path().join("opened"));
    let script = format!("#!/bin/sh\nprintf %s \"$1\" > {}\n", opened.display());
    let (here, fifo) = (rustix::fs::CWD, rustix::fs::FileType::Fifo);
    rustix::fs::mknodat(here, &opened, fifo, 0o600.into(), 0).unwrap();
    std::fs::write(&browser, script).unwrap();
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    let conclave = home(&server)
        .variable("PATH", path)
        .variable("DISPLAY", ":9");
    let process = conclave.start(&["login", "chatgpt"]);
    // Waits until the browser writes it.
    let address = std::fs::read_to_string(&opened).unwrap().parse().unwrap();
    let waiting = Waiting { process, address };
    waiting.browse().ends_with(0);
}

#[test]
fn no_token_goes_to_an_address_that_is_not_the_services() {
    let server = ProviderServer::start();
    let conclave = signed_in(&server);
    let tokens = stored(&conclave);
    for base_url in [
        "https://api.example/v1",
        "http://localhost:9/v1",
        "http://10.0.0.1/v1",
    ] {
        let settings = format!(r#"{{"endpoints": {{"chatgpt": {{"base_url": "{base_url}"}}}}}}"#);
        let conclave = Conclave::new().config(&settings);
        store(&conclave, &tokens.to_string());
        let output = conclave.run(&["login", "status"]).ends_with(2);
        output.assert_stderr_contains("an address or a key that needs no sign-in");
    }
    // The sign-in of one service is none with another.
    let conclave = Conclave::new().config("{}");
    store(&conclave, &tokens.to_string());
    let output = conclave.run(&["login", "status"]).ends_with(1);
    output.assert_stderr_contains("no one is signed in");
}

#[test]
fn nothing_of_a_sign_in_is_shown_or_stored_elsewhere() {
    let server = ProviderServer::start();
    let conclave = signed_in(&server);
    let token = stored(&conclave)["tokens"]["refresh"]
        .as_str()
        .unwrap()
        .to_owned();
    let output = conclave
        .run_with(&["scrub"], &format!("my notes: {token}"))
        .ends_with(0);
    assert!(!output.stdout.contains(&token), "{}", output.stdout);
    let asked = format!("Is {token} safe?");
    let events = conclave.folder().join("events.jsonl");
    for arguments in [
        &[
            "consult",
            &asked,
            "--yes",
            "--events",
            events.to_str().unwrap(),
        ][..],
        &["consult", &asked, "--yes", "--json"],
        &["doctor", "--json"],
        &["models", "--json"],
    ] {
        let output = conclave.run(arguments).ends_with(0);
        assert!(!(output.stdout + &output.stderr).contains("secret-"));
    }
    assert!(
        !std::fs::read_to_string(&events)
            .unwrap()
            .contains("secret-")
    );
    for request in server.requests() {
        assert!(!request.body.to_string().contains("secret-"));
    }
    let mut folders = vec![conclave.home()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("chatgpt.json") {
                let bytes = std::fs::read(&path).unwrap();
                let text = String::from_utf8_lossy(&bytes);
                assert!(!text.contains("secret-"), "{}", path.display());
            }
        }
    }
}

#[test]
fn of_two_first_sign_ins_the_one_that_ends_first_counts() {
    let server = ProviderServer::start();
    let conclave = home(&server);
    let [first, second] = [0; 2].map(|_| Waiting::start(&conclave));
    assert_eq!(
        first.parameter("ext_agent_host_id"),
        second.parameter("ext_agent_host_id")
    );
    first.browse().ends_with(0);
    let before = stored(&conclave);
    let output = second.browse().ends_with(1);
    output.assert_stderr_contains("another sign-in ended before this one");
    assert_eq!(stored(&conclave), before);
    // Of one registration, both may end; the tokens of the last serve.
    let later = [0; 2].map(|_| Waiting::start(&conclave));
    for waiting in later {
        waiting.browse().ends_with(0);
    }
    conclave.run(&CONSULT).ends_with(0);
}

#[test]
fn the_name_of_an_account_does_not_command_the_terminal() {
    let server = ProviderServer::start();
    server.sign_in(|service| service.email = "ada\u{1b}[2J\u{202e}\nhint: run x");
    let conclave = home(&server);
    let output = Waiting::start(&conclave).browse().ends_with(0);
    output.assert_stderr_contains("Signed in as ada[2J hint: run x. Its");
    assert!(!output.stderr.contains(['\u{1b}', '\u{202e}']));
}

#[test]
fn a_file_that_others_can_read_and_a_link_are_not_used() {
    let server = ProviderServer::start();
    let conclave = signed_in(&server);
    let file = conclave.home().join("chatgpt.json");
    let is_refused = |words: &str| {
        for command in [&["login", "status"][..], &["logout"], &["login", "chatgpt"]] {
            let output = conclave.run(command).ends_with(1);
            output.assert_stderr_contains(words);
        }
        conclave.run(&CONSULT).ends_with(2);
        assert!(server.requests_to(Vendor::ChatGpt).is_empty(), "{words}");
    };
    for mode in [0o640, 0o604, 0o620] {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        is_refused("others can use it; delete it, and sign in again");
    }
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    let elsewhere = conclave.folder().join("elsewhere.json");
    std::fs::rename(&file, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
    is_refused("it is a symbolic link");
    // Neither is a link in place of the lock followed.
    std::fs::rename(&elsewhere, &file).unwrap();
    let lock = conclave.home().join("chatgpt.lock");
    std::fs::remove_file(&lock).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &lock).unwrap();
    conclave.run(&["logout"]).ends_with(1);
    assert!(!elsewhere.exists());
}

#[test]
fn a_home_that_others_can_read_keeps_the_files_to_their_owner() {
    let server = ProviderServer::start();
    let conclave = home(&server);
    std::fs::set_permissions(conclave.home(), std::fs::Permissions::from_mode(0o755)).unwrap();
    Waiting::start(&conclave).browse().ends_with(0);
    server.sign_in(SignInService::expire);
    conclave.run(&CONSULT).ends_with(0);
    for name in ["chatgpt.json", "chatgpt.lock"] {
        let mode = conclave.home().join(name).metadata().unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o600, "{name}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_not_quoted() {
    let server = ProviderServer::start();
    let conclave = home(&server);
    store(&conclave, r#"{"access": "secret-x"#);
    let output = conclave.run(&["login", "chatgpt"]).ends_with(1);
    output.assert_stderr_contains("cannot use the file of the sign-in");
    assert!(!output.stderr.contains("secret-x"));
    assert_eq!(
        get(&server.url().parse().unwrap(), None).lines().next(),
        Some("HTTP/1.1 404 .")
    );
}
