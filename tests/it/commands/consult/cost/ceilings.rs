//! Cost ceilings: costs are exact to the micro-dollar or reported as lower bounds, and no ceiling
//! is exceeded by the server's count.

use super::assert_costs_add_up;
use crate::commands::consult::ask;
use crate::support::binary::Conclave;
use crate::support::provider_server::{Answer, On, ProviderServer, Vendor};

/// Returns the cost of all requests in micro-dollars, at the prices of every model that is asked.
fn bill(server: &ProviderServer) -> usize {
    server.requests().len() * (2 * 3_000 + 10 * 16_000)
}

#[test]
fn ceiling_holds_and_a_higher_one_resumes_the_run() {
    for (dollars, ceiling) in [("0.5", 500_000), ("1.2", 1_200_000)] {
        let server = ProviderServer::start();
        server.on(On::any(), Answer::valid().usage(3_000, 16_000));
        let conclave = Conclave::at(&server).config(r#"{"hedge_after": "off"}"#);
        let arguments = ["consult", "--yes", "--max-cost", dollars, "Shall we?"];
        let output = conclave.run(&arguments).ends_with(4);
        assert!(bill(&server) <= ceiling, "{dollars}: {}", output.stderr);
        assert_eq!(output.stdout, "", "{dollars}");
        output.assert_stderr_contains(" --max-cost USD`\n");
        let record = conclave.record();
        assert_eq!(record["cost"]["micro_usd"], bill(&server), "{dollars}");
        assert_eq!(record["abort_reason"], "cost_ceiling", "{dollars}");
        assert_eq!(record["cost"]["lower_bound"], false, "{dollars}");
        assert_costs_add_up(&record);

        conclave
            .run(&["resume", "--yes", "--max-cost", "5"])
            .ends_with(0);
        assert_eq!(server.requests().len(), 9, "no call is repeated");
        let record = conclave.record();
        assert_eq!(record["status"], "complete");
        assert_eq!(record["cost"]["micro_usd"], bill(&server), "{dollars}");
        assert_costs_add_up(&record);
    }
}

#[test]
fn missing_usage_makes_the_total_a_lower_bound() {
    let server = ProviderServer::start();
    let unmeasured = Answer::valid().without_usage();
    server.on(On::vendor(Vendor::OpenAi).nth(1), unmeasured);
    let (conclave, output) = ask(&server, &[]);
    output.ends_with(0);
    let record = conclave.record();
    assert_eq!(record["cost"]["lower_bound"], true);
    let known = &record["cost"]["by_provider"]["anthropic"];
    assert_eq!(
        known["lower_bound"], false,
        "the usage of the others is known"
    );
    assert_costs_add_up(&record);
}
