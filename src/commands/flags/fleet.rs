//! Where the consultations of a run are held, if not in this process. A program that is built
//! without fleets has no flag for it.

use crate::commands::App;
use crate::error::Error;
use crate::session::batch::elsewhere::Elsewhere;
use crate::setup::plan::Planner;
use crate::setup::provider_access::ProviderAccess;

/// The flag for a fleet.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct FleetFlag {
    /// Let the workers of a fleet hold the consultations: the address of its NATS server, such as
    /// `nats://HOST:4222` [default: `CONCLAVE_FLEET`, or this process holds them]
    #[cfg(feature = "fleet")]
    #[arg(long, value_name = "URL", help_heading = "Control")]
    pub(crate) fleet: Option<String>,
}

/// Plans a run: with the models that can be asked where it is held, or with those that the user
/// names, though no one there can ask them now.
pub(crate) fn planned<T>(
    place: Option<&dyn Elsewhere>,
    planner: &mut Planner<'_>,
    plan: impl Fn(&Planner<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let Some(place) = place else {
        return plan(planner);
    };
    let served = place.providers()?;
    let all = &mut planner.sources.access_list;
    let lent = all.iter_mut().filter(|access| served.contains(&access.id));
    lent.for_each(ProviderAccess::need_no_key);
    plan(planner).or_else(|error| {
        let all = planner.sources.access_list.iter_mut();
        all.for_each(ProviderAccess::need_no_key);
        plan(planner).map_err(|_| error)
    })
}

/// Checks that what was begun in one place continues there: another does not know what was asked,
/// and it would be paid again. `fleet` is where it began, if not in a process of this machine.
pub(crate) fn check_place(
    fleet: Option<&str>,
    place: Option<&dyn Elsewhere>,
    run: &str,
) -> Result<(), Error> {
    let (error, hint) = match (fleet, place) {
        (None, None) => return Ok(()),
        (Some(_), Some(place)) if place.has(run)? => return Ok(()),
        (Some(fleet), _) => (
            format!("{run} is a run of the fleet {fleet}"),
            "continue it there, with `--fleet URL`",
        ),
        (None, Some(_)) => (
            format!("{run} is no run of a fleet"),
            "continue it without `--fleet` and CONCLAVE_FLEET, or begin a new one",
        ),
    };
    Err(Error::usage(error).hint(hint))
}

impl FleetFlag {
    /// `None` if this process holds the consultations.
    #[cfg_attr(
        not(feature = "fleet"),
        expect(
            clippy::unused_self,
            clippy::unnecessary_wraps,
            reason = "a program without fleets has no other place"
        )
    )]
    pub(crate) fn connect(&self, app: App<'_>) -> Result<Option<Box<dyn Elsewhere>>, Error> {
        #[cfg(feature = "fleet")]
        {
            let fleet = super::fleet_address::connect(self.fleet.as_deref(), app)?;
            Ok(fleet.map(|fleet| Box::new(fleet) as Box<dyn Elsewhere>))
        }
        #[cfg(not(feature = "fleet"))]
        {
            let _ = app;
            Ok(None)
        }
    }
}
