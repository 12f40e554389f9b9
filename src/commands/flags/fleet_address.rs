//! How a command reaches its fleet: by its flag, and by variables.

use std::sync::Arc;
use std::time::Duration;

use async_nats::ConnectOptions;

use crate::commands::{App, block_on};
use crate::config::env::Environment;
use crate::error::Error;
use crate::files::{self, SizeLimit};
use crate::fleet::link::{FleetAddress, Link};
use crate::session::fleet::run::Fleet;
use crate::text::clean::one_line;

/// The variable that has the address of a fleet.
const ADDRESS: &str = "CONCLAVE_FLEET";

/// `None` without an address in flag or environment.
pub(crate) fn connect(flag: Option<&str>, app: App<'_>) -> Result<Option<Fleet>, Error> {
    let Some(url) = flag.or_else(|| app.environment.text(ADDRESS)) else {
        return Ok(None);
    };
    let address = address(url, app.environment)?;
    let user = app.environment.text("USER").unwrap_or_default();
    let host = rustix::system::uname();
    let owner = format!("{user}@{}", host.nodename().to_string_lossy());
    let home = format!("{owner}:{}", app.home()?.path().display());
    let (shown, hint) = (
        address.shown(),
        "start it with `nats-server -js`, or name another",
    );
    let printer = app.printer.clone();
    let say = Arc::new(move |text: &str| printer.warning(&one_line(text)));
    let link = block_on(Link::connect(address, say))?;
    Ok(Some(Fleet {
        link: link.map_err(|error| Error::failed(error).hint(hint))?,
        address: shown,
        owner,
        home,
        clock: app.clock,
    }))
}

/// Returns the address of a fleet by URL and environment.
fn address(url: &str, environment: &Environment) -> Result<FleetAddress, Error> {
    let mut address = FleetAddress::new(url).map_err(Error::usage)?;
    let name = |part: &str| format!("{ADDRESS}_{part}");
    let secret = |part: &str| {
        let path = environment.path(&name(part));
        let text = path.map(|path| files::read_text(&path, SizeLimit::SMALL));
        let unreadable = |error| Error::usage(format!("{} has no file: {error}", name(part)));
        text.transpose().map_err(unreadable)
    };
    // In place of who the URL names.
    if let Some(text) = secret("CREDS")? {
        address.options = ConnectOptions::with_credentials(&text).map_err(Error::usage)?;
    } else if let Some(seed) = secret("NKEY")? {
        address.options = ConnectOptions::with_nkey(seed.trim().to_owned());
    }
    if let Some(file) = environment.path(&name("CA")) {
        address.options = address.options.add_root_certificates(file);
    }
    let number = |part: &str, usual: u64| {
        let number = environment.text(&name(part)).map(str::parse);
        let number = number.unwrap_or(Ok(usual)).ok();
        let number = number.filter(|number| (1..=3_600).contains(number));
        number.ok_or_else(|| Error::usage(format!("{} is no number from 1 to 3600", name(part))))
    };
    address.lease = Duration::from_secs(number("LEASE", 30)?);
    address.replicas = usize::try_from(number("REPLICAS", 1)?).unwrap_or(usize::MAX);
    Ok(address)
}
