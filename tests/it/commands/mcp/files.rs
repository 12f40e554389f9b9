//! What a server reads for its clients.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::client::{Client, cheap, text};
use crate::support::provider_server::ProviderServer;

#[test]
fn files_outside_the_allowed_folders_are_not_read() {
    let server = ProviderServer::start();
    let conclave = cheap(&server);
    let folder = conclave.folder().join("project");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("inside.md"), "the inside").unwrap();
    fs::write(conclave.folder().join("outside.md"), "the outside").unwrap();
    std::os::unix::fs::symlink("../outside.md", folder.join("link.md")).unwrap();
    fs::create_dir(folder.join("links")).unwrap();
    std::os::unix::fs::symlink("../..", folder.join("links/up")).unwrap();
    fs::write(folder.join("latin.txt"), b"caf\xe9, na\xefve").unwrap();
    let project = folder.display().to_string();
    let outside = conclave.folder().join("outside.md").display().to_string();
    let mut client = Client::legacy(&conclave, &["--folder", &project]);
    for path in ["../outside.md", "link.md", &outside, "/etc/passwd"] {
        let refused = client.call("consult", json!({"question": "Why?", "files": [path]}));
        assert!(
            text(&refused).contains("outside of the folders"),
            "{path}: {refused}"
        );
    }
    for (path, words) in [
        ("links", "folder has no text file"),
        ("latin.txt", "is not text"),
        ("never.md", "does not exist"),
    ] {
        let refused = client.call("consult", json!({"question": "Why?", "files": [path]}));
        assert!(text(&refused).contains(words), "{path}: {refused}");
    }
    let answered = client.call(
        "consult",
        json!({"question": "Why?", "files": ["inside.md"], "rounds": 1}),
    );
    assert_eq!(answered["isError"], false, "{answered}");
    assert!(server.requests()[0].body.to_string().contains("the inside"));
    let mut client = Client::legacy(&conclave, &["--no-files"]);
    let refused = client.call("consult", json!({"question": "Why?", "files": [outside]}));
    assert!(text(&refused).contains("reads no files"));
}

#[test]
fn roots_of_the_client_may_be_read_unless_a_person_named_folders() {
    let server = ProviderServer::start();
    let conclave = cheap(&server);
    let root = conclave.folder().parent().unwrap().join("root of client");
    fs::create_dir(&root).unwrap();
    fs::write(root.join("inside.md"), "the inside").unwrap();
    let inside = root.join("inside.md").display().to_string();
    let call = json!({"name": "consult", "arguments": {"question": "Why?", "rounds": 1, "files": [inside]}});
    let roots = json!({"roots": {}});
    let mut client = Client::start(&conclave, &[], false, roots.clone());
    let id = client.begin("tools/call", call.clone());
    let asked = client.receive();
    assert_eq!(asked["method"], "roots/list", "{asked}");
    let uri = format!("file://{}", root.display().to_string().replace(' ', "%20"));
    let listed = json!({"roots": [{"uri": "https://example.com/"}, {"uri": uri}]});
    client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": &listed}));
    let answered = client.answer_to(id)["result"].clone();
    assert_eq!(answered["isError"], false, "{answered}");
    assert!(server.requests()[0].body.to_string().contains("the inside"));
    let own = conclave.folder().display().to_string();
    let mut client = Client::start(&conclave, &["--folder", &own], false, roots.clone());
    let refused = client.ask("tools/call", call.clone())["result"].clone();
    assert!(
        text(&refused).contains("outside of the folders"),
        "{refused}"
    );
    // The home folder is no project for a client either.
    let home = conclave.variable("HOME", &root);
    let mut client = Client::start(&home, &[], false, roots);
    let id = client.begin("tools/call", call);
    let asked = client.receive();
    client.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": listed}));
    let refused = client.answer_to(id)["result"].clone();
    assert!(
        text(&refused).contains("outside of the folders"),
        "{refused}"
    );
}

#[test]
fn home_folder_and_what_is_above_it_are_no_project() {
    let server = ProviderServer::start();
    for home in [Path::new(""), Path::new("user")] {
        let conclave = cheap(&server);
        let home = conclave.folder().join(home);
        fs::create_dir_all(&home).unwrap();
        fs::write(conclave.folder().join("key.txt"), "key").unwrap();
        let conclave = conclave.variable("HOME", home);
        let mut client = Client::legacy(&conclave, &[]);
        let refused = client.call("consult", json!({"question": "Why?", "files": ["key.txt"]}));
        assert!(text(&refused).contains("reads no files"), "{refused}");
    }
}
