//! `conclave view`: who is let in, the pages, and pages that follow what runs.

mod entrance;
mod figures;
mod pages;
mod live;

use rustix::process::Signal;

use crate::support::binary::{Conclave, RunningProcess};
use crate::support::visitor::Visitor;

/// A server with a browser that was let in.
struct Served {
    process: RunningProcess,
    address: String,
    visitor: Visitor,
}

fn serve(conclave: &Conclave) -> Served {
    let process = conclave.start(&["view", "--no-open"]);
    let address = process.first_line();
    let visitor = Visitor::enter(&address);
    Served {
        process,
        address,
        visitor,
    }
}

impl Served {
    /// Ends it as Ctrl-C does.
    fn end(self) {
        self.process.signal(Signal::INT);
        let output = self.process.wait().ends_with(0);
        assert_eq!(output.stdout.trim_end(), self.address);
    }
}

/// Returns where the links of a page lead that begin with this.
fn links(page: &str, path: &str) -> Vec<String> {
    let begins = format!("href=\"{path}");
    let links = page.split(&begins).skip(1);
    let rest = links.map(|link| link.split('"').next().unwrap().replace("&amp;", "&"));
    rest.map(|rest| format!("{path}{rest}")).collect()
}
