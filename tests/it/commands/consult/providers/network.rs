//! TLS and proxies: trusted certificates, proxied hosts, and secrets that stay hidden from both.

use crate::support::binary::{Conclave, RunOutput};
use crate::support::network::{AUTHORITY, TestListener, Tunnel};
use crate::support::provider_server::ProviderServer;

/// Sets up a home with Anthropic alone, at this address.
fn anthropic_at(server: &ProviderServer, base_url: &str) -> Conclave {
    Conclave::at(server)
        .without("OPENAI_API_KEY")
        .without("GEMINI_API_KEY")
        .variable("ANTHROPIC_BASE_URL", base_url)
}

/// Asks one expert once.
fn consult(conclave: &Conclave) -> RunOutput {
    let panel = "security=claude-sonnet-5-5";
    conclave.run(&["consult", "--json", "--panel", panel, "--rounds", "1", "q"])
}

fn tls_in_front_of(server: &ProviderServer) -> TestListener {
    TestListener::tls(server.address())
}

#[test]
fn system_certificate_authorities_are_trusted() {
    let server = ProviderServer::start();
    let tls = tls_in_front_of(&server);
    for host in ["localhost", "127.0.0.1"] {
        let url = format!("https://{host}:{}", tls.address.port());
        let conclave = anthropic_at(&server, &url).variable("SSL_CERT_FILE", AUTHORITY);
        assert_eq!(consult(&conclave).ends_with(0).json()["status"], "complete");
    }
    assert!(
        server
            .requests()
            .iter()
            .all(|request| request.headers["x-api-key"] == "test-key-anthropic")
    );
}

#[test]
fn untrusted_certificate_ends_the_call_before_any_request() {
    let server = ProviderServer::start();
    let tls = tls_in_front_of(&server);
    let host = format!("localhost:{}", tls.address.port());
    let output = consult(&anthropic_at(&server, &format!("https://{host}"))).ends_with(1);
    let error = format!("the TLS certificate of `{host}` was not accepted");
    output.assert_stderr_contains(&error);
    assert!(server.requests().is_empty());
}

#[test]
fn certificate_for_another_host_is_rejected() {
    let server = ProviderServer::start();
    let tls = tls_in_front_of(&server);
    // The name resolves to this machine, but the certificate does not cover it.
    let url = format!("https://other.localhost:{}", tls.address.port());
    let output =
        consult(&anthropic_at(&server, &url).variable("SSL_CERT_FILE", AUTHORITY)).ends_with(1);
    output.assert_stderr_contains("other.localhost");
    assert!(server.requests().is_empty(), "{}", output.stderr);
}

#[test]
fn compiled_in_roots_are_used_without_system_roots() {
    let server = ProviderServer::start();
    let tls = tls_in_front_of(&server);
    let conclave = anthropic_at(
        &server,
        &format!("https://localhost:{}", tls.address.port()),
    );
    let no_certificates = conclave.folder().join("none.pem");
    std::fs::write(&no_certificates, "").unwrap();
    let conclave = conclave
        .variable("SSL_CERT_FILE", no_certificates)
        .variable("SSL_CERT_DIR", "/nonexistent");
    let output = consult(&conclave).ends_with(1);
    // The roots that reject this authority must be the compiled-in ones.
    output.assert_stderr_contains("was not accepted");
    assert!(
        !output.stderr.contains("cannot set up TLS"),
        "{}",
        output.stderr
    );
}

#[test]
fn proxy_tunnels_remote_hosts_and_sees_no_key() {
    let server = ProviderServer::start();
    let tls = tls_in_front_of(&server);
    let proxy = TestListener::proxy(Tunnel::To(tls.address));
    let conclave = anthropic_at(&server, "https://api.example.test")
        .variable("SSL_CERT_FILE", AUTHORITY)
        .variable("HTTPS_PROXY", format!("http://{}", proxy.address));
    assert_eq!(consult(&conclave).ends_with(0).json()["status"], "complete");
    assert_eq!(server.requests().len(), 1);
    for head in proxy.request_heads() {
        assert!(head.starts_with("CONNECT api.example.test:443 "), "{head}");
        assert!(!head.contains("test-key"), "{head}");
    }
}

#[test]
fn no_proxy_hosts_are_reached_directly() {
    let server = ProviderServer::start();
    let proxy = TestListener::proxy(Tunnel::To(server.address()));
    let conclave = anthropic_at(&server, "https://api.example.test")
        .variable("HTTPS_PROXY", format!("http://{}", proxy.address))
        .variable("NO_PROXY", "example.test");
    let output = consult(&conclave).ends_with(1);
    assert!(
        output
            .stderr
            .contains("cannot connect to `api.example.test`"),
        "the host does not exist: {}",
        output.stderr
    );
    assert_eq!(proxy.request_heads(), Vec::<String>::new());
}

#[test]
fn refusing_proxy_is_reported_and_a_wrong_password_not_retried() {
    let server = ProviderServer::start();
    let proxy = TestListener::proxy(Tunnel::Refused("407 Proxy Authentication Required"));
    let address = format!("http://user:proxy-secret@{}", proxy.address);
    let conclave = anthropic_at(&server, "https://api.example.test");
    let output = consult(&conclave.variable("HTTPS_PROXY", address)).ends_with(1);
    output.assert_stderr_contains(
        "the proxy did not connect to `api.example.test`: proxy authorization required; check \
         `HTTPS_PROXY`",
    );
    assert!(!output.stderr.contains("proxy-secret"), "{}", output.stderr);
    // The expert asks once; a health check may add one more connection.
    let count = proxy.request_heads().len();
    assert!((1..=2).contains(&count), "{count}");
}

#[test]
fn localhost_is_reached_where_only_ipv6_answers() {
    let server = ProviderServer::start();
    let Some((passage, _refused)) = TestListener::on_ipv6_only(server.address()) else {
        return;
    };
    let url = format!("http://localhost:{}", passage.address.port());
    let output = consult(&anthropic_at(&server, &url)).ends_with(0);
    assert_eq!(output.json()["status"], "complete");
}
