//! How a command reaches its fleet: by its flag, and by variables.

use std::time::Duration;

use crate::commands::{App, block_on};
use crate::config::env::Environment;
use crate::error::Error;
use crate::fleet::FleetError;
use crate::fleet::link::{Credentials, FleetAddress};
use crate::fleet::names::Names;
use crate::session::fleet::run::{Fleet, Submitter};

/// The variable that has the address of a fleet.
const ADDRESS: &str = "CONCLAVE_FLEET";

/// `None` without an address in flag or environment.
pub(crate) fn connect(flag: Option<&str>, app: App<'_>) -> Result<Option<Fleet>, Error> {
    let Some(address) = address(flag, app.environment)? else {
        return Ok(None);
    };
    open(address, app).map(Some)
}

fn open(address: FleetAddress, app: App<'_>) -> Result<Fleet, Error> {
    let user = app.environment.text("USER").unwrap_or_default();
    let host = rustix::system::uname();
    let name = format!("{user}@{}", host.nodename().to_string_lossy());
    let home = format!("{name}:{}", app.home()?.path().display());
    let fleet = Fleet::connect(address, Submitter { name, home }, app.clock);
    block_on(fleet)?.map_err(unreachable)
}

fn unreachable(error: FleetError) -> Error {
    match error {
        FleetError::Address(_) => Error::usage(error),
        _ => Error::failed(error).hint("start it with `nats-server -js`, or name another"),
    }
}

/// Returns the address of a fleet by flag and environment; `None` if neither names one.
fn address(flag: Option<&str>, environment: &Environment) -> Result<Option<FleetAddress>, Error> {
    let variable = |name: &str| environment.text(&format!("{ADDRESS}_{name}"));
    let Some(url) = flag.or_else(|| environment.text(ADDRESS)) else {
        return Ok(None);
    };
    let mut address = FleetAddress::new(url).map_err(Error::usage)?;
    if let Some(prefix) = variable("PREFIX") {
        address.names = Names::new(prefix).map_err(Error::usage)?;
    }
    let path = |name: &str| environment.path(&format!("{ADDRESS}_{name}"));
    address.credentials = path("CREDS")
        .map(Credentials::File)
        .or_else(|| path("NKEY").map(Credentials::Nkey));
    address.ca_file = path("CA");
    let number = |name: &str| {
        let number = variable(name).map(|text| text.parse().ok());
        let number = number.map(|number| number.filter(|number| (1..=3_600).contains(number)));
        let wrong = || Error::usage(format!("{ADDRESS}_{name} is no number from 1 to 3600"));
        number
            .map(|number: Option<u64>| number.ok_or_else(wrong))
            .transpose()
    };
    if let Some(seconds) = number("LEASE")? {
        address.lease = Duration::from_secs(seconds);
    }
    if let Some(replicas) = number("REPLICAS")? {
        address.replicas = usize::try_from(replicas).unwrap_or(usize::MAX);
    }
    Ok(Some(address))
}
