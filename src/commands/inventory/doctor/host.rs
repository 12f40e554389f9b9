//! Checks of this machine, without a network: the home and its files, the embedded model and
//! the environment.

use std::path::Path;

use crate::config::env::{Environment, PROXIES};
use crate::config::paths::{Home, HomePathError};
use crate::config::settings::{SettingOrigin, Settings};
use crate::domain::model::address::without_credentials;
use crate::domain::time::Timestamp;
use crate::error::{Error, whole};
use crate::providers::catalog::{ModelCatalog, PriceTable};
use crate::providers::local::files::choice::{self, LocalModelChoice};
use crate::providers::local::files::home::ModelHome;
use crate::providers::local::files::manifest::size;
use crate::providers::local::{LABEL, built_in, cpu};
use crate::setup::context::scrubber;
use crate::setup::settings;
use crate::terminal::output::format::count;
use crate::terminal::tables::doctor::{Check, CheckStatus};

/// Less free space than this gives a warning: the smallest local model needs it.
const LITTLE_SPACE: u64 = 200_000_000;

/// Whether it is writable and private, and how much space is free.
pub(super) fn home(home: &Result<Home, HomePathError>) -> Check {
    let Ok(home) = home else {
        let message = "no home directory is known";
        return Check::new(CheckStatus::Error, message, "set CONCLAVE_HOME");
    };
    let path = home.path();
    let shown = path.display();
    let other_home = "make it writable, or set `CONCLAVE_HOME` to another folder";
    // The folder is created when it is first needed: what matters is whether that will work.
    let is_there = path.exists();
    let Some(nearest) = path.ancestors().find(|folder| folder.exists()) else {
        let message = format!("{shown} cannot be created: nothing will be saved");
        return Check::new(CheckStatus::Warning, message, other_home);
    };
    if let Err(error) = tempfile::tempfile_in(nearest) {
        let cause = whole(&error);
        let message = format!("{shown} cannot be written, so nothing is saved: {cause}");
        return Check::new(CheckStatus::Warning, message, other_home);
    }
    let space = free_space(nearest);
    if let Some(bytes) = space.filter(|bytes| *bytes < LITTLE_SPACE) {
        let message = format!("{shown}: only {} free", size(bytes));
        return Check::new(
            CheckStatus::Warning,
            message,
            "free some space on that disk",
        );
    }
    let space = space.map(|bytes| format!(", {} free", size(bytes)));
    let space = space.unwrap_or_default();
    if !is_there {
        let message = format!("{shown}, created when it is first needed{space}");
        return Check::new(CheckStatus::Ok, message, "");
    }
    if is_open_to_others(path) {
        let message = format!("{shown} is readable by others");
        let fix = format!("run `chmod -R go= {shown}`");
        return Check::new(CheckStatus::Warning, message, fix);
    }
    Check::new(CheckStatus::Ok, format!("{shown}{space}"), "")
}

pub(super) fn broken(error: &Error) -> Check {
    let fix = error.hints.join("; ");
    Check::new(CheckStatus::Error, whole(error.source()), fix)
}

fn free_space(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

fn is_open_to_others(folder: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let metadata = folder.metadata();
    metadata.is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

/// A file that cannot be used gives the defaults.
pub(super) fn settings(
    home: Option<&Home>,
    environment: &Environment,
) -> (Settings, Option<Check>) {
    let Some(home) = home else {
        return (Settings::default(), None);
    };
    let file = home.config_file();
    match Settings::load(&file, None, environment) {
        Ok(settings) => {
            let origins = settings.origins.values();
            let is_in_file = |origin: &&SettingOrigin| matches!(origin, SettingOrigin::File(_));
            let in_file = origins.clone().filter(is_in_file).count();
            let (file, in_variables) = (file.display(), origins.len() - in_file);
            let message = format!("{in_file} set in {file}, {in_variables} in the environment");
            (settings, Some(Check::new(CheckStatus::Ok, message, "")))
        }
        Err(error) => {
            let broken = Check::new(CheckStatus::Error, whole(&error), &error.remedy);
            // The environment still applies, unless it is what is wrong.
            let settings = Settings::default().with_environment(environment);
            (settings.unwrap_or_default(), Some(broken))
        }
    }
}

/// A file that cannot be used gives the built-in ones.
pub(super) fn models(home: Option<&Home>) -> (ModelCatalog, Option<Check>) {
    let Some(home) = home else {
        return (ModelCatalog::builtin(), None);
    };
    let file = home.models_file();
    match settings::catalog(home) {
        Ok(catalog) => {
            let mut tables = catalog.vintages.iter().map(|vintage| vintage.of);
            let own = tables.any(|table| table == PriceTable::TheUser);
            let known = catalog.models.len();
            let message = if own {
                format!("{known} are known, with your own of {}", file.display())
            } else {
                format!("{known} are known")
            };
            (catalog, Some(Check::new(CheckStatus::Ok, message, "")))
        }
        Err(error) => {
            let mut broken = broken(&error);
            broken.message = format!("{}: {}", file.display(), broken.message);
            (ModelCatalog::builtin(), Some(broken))
        }
    }
}

pub(super) fn scrub_rules(home: Option<&Home>) -> Option<Check> {
    let home = home.filter(|home| home.scrub_file().exists())?;
    Some(match scrubber::load_rules(home) {
        Ok(own) => {
            let (rules, file) = (count(own.rules.len(), "rule"), home.scrub_file());
            let message = format!("masked by {rules} of {} too", file.display());
            Check::new(CheckStatus::Ok, message, "")
        }
        Err(error) => broken(&error),
    })
}

pub(super) fn prices(catalog: &ModelCatalog, now: Timestamp) -> Check {
    match catalog.age_warnings(now).as_slice() {
        [] => {
            let dates = catalog.vintages.iter();
            let message = match dates.filter_map(|vintage| vintage.newest.as_ref()).max() {
                Some(day) => format!("the newest is of {day}"),
                None => "none has a date".to_owned(),
            };
            Check::new(CheckStatus::Ok, message, "")
        }
        warnings => {
            let (message, fixes): (Vec<&str>, Vec<&str>) = warnings
                .iter()
                .map(|warning| warning.split_once(": ").unwrap_or((warning, "check them")))
                .unzip();
            Check::new(CheckStatus::Warning, message.join("; "), fixes.join("; "))
        }
    }
}

/// Good only if its file is downloaded.
pub(super) fn embedded(
    home: Option<&Home>,
    settings: &Settings,
    environment: &Environment,
) -> Check {
    if let Err(not) = built_in() {
        return Check::new(CheckStatus::Note, not.to_string(), "");
    }
    if let Err(error) = cpu::check() {
        let fix = "ask a vendor or a local server instead";
        return Check::new(CheckStatus::Warning, error.to_string(), fix);
    }
    let Some(home) = home else {
        return Check::new(CheckStatus::Note, "no home to look in", "");
    };
    let (own, files) = (environment.model_file(), ModelHome::in_home(home.path()));
    match choice::choose(own.as_deref(), settings.local_model.as_deref(), &files) {
        Ok(LocalModelChoice::Ready(file)) => {
            Check::new(CheckStatus::Ok, format!("{}, {LABEL}", file.name), "")
        }
        Ok(LocalModelChoice::ToPull(model)) => {
            let name = model.name;
            let fix = format!("download it with `conclave models pull {name}`");
            Check::new(
                CheckStatus::Note,
                format!("{name} is not downloaded yet"),
                fix,
            )
        }
        Err(error) => {
            let fix = "see the models with `conclave models list`";
            Check::new(CheckStatus::Warning, whole(&error), fix)
        }
    }
}

/// Without the credentials in their addresses.
pub(super) fn proxies(environment: &Environment) -> Check {
    let shown = |name: &&str| {
        let value = environment.text(name)?;
        // The others are one address each, and a password may contain a comma.
        let value = if name.eq_ignore_ascii_case("no_proxy") {
            let hosts = value.split(',').map(str::trim).map(without_credentials);
            hosts.collect::<Vec<_>>().join(",")
        } else {
            without_credentials(value)
        };
        Some(format!("{name}={value}"))
    };
    let set: Vec<String> = PROXIES.iter().filter_map(shown).collect();
    let message = match set.join(", ") {
        none if none.is_empty() => "none".to_owned(),
        set => format!("{set}; never for this machine and private networks"),
    };
    Check::new(CheckStatus::Ok, message, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_check_covers_writability_and_privacy() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &Path| home(&Ok(Home::at(path)));
        let missing = at(&folder.path().join("a/b"));
        assert!(
            missing.status == CheckStatus::Ok
                && missing.message.contains("created when it is first needed"),
            "{missing:?}"
        );
        assert_eq!(home(&Err(HomePathError)).status, CheckStatus::Error);
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert_eq!(at(&file).status, CheckStatus::Warning);
        {
            use std::os::unix::fs::PermissionsExt;
            for (mode, status) in [(0o700, CheckStatus::Ok), (0o755, CheckStatus::Warning)] {
                std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(mode))
                    .unwrap();
                assert_eq!(at(folder.path()).status, status, "{mode:o}");
            }
        }
    }

    #[test]
    fn a_broken_file_fails_its_own_check_only() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        std::fs::write(home.config_file(), "{").unwrap();
        std::fs::write(home.models_file(), r#"{"models":[{"id":"x"}]}"#).unwrap();
        let (value, check) = settings(Some(&home), &Environment::default());
        let check = check.unwrap();
        assert_eq!(value, Settings::default());
        assert_eq!(check.status, CheckStatus::Error);
        assert!(
            check.message.contains("is not JSON: EOF"),
            "{}",
            check.message
        );
        assert_eq!(scrub_rules(Some(&home)), None);
        std::fs::write(home.scrub_file(), "[[rules]]").unwrap();
        let check = scrub_rules(Some(&home)).unwrap();
        assert_eq!(check.status, CheckStatus::Error);
        assert!(
            check
                .message
                .ends_with("scrub.toml:1: unknown field `rules`, expected `rule` or `allow`"),
            "{}",
            check.message
        );
        let check = models(Some(&home)).1.unwrap();
        assert!(
            check.status == CheckStatus::Error
                && check
                    .message
                    .ends_with("entry 1 names no `provider` and `id`"),
            "{}",
            check.message
        );
    }

    #[test]
    fn old_prices_are_reported_with_their_date_and_a_fix() {
        let at = |text: &str| serde_json::from_str(text).unwrap();
        assert_eq!(
            prices(&ModelCatalog::builtin(), at("\"2026-11-21T00:00:00Z\"")).message,
            "the newest is of 2026-11-21"
        );
        let old = prices(&ModelCatalog::builtin(), at("\"2027-06-01T00:00:00Z\""));
        assert_eq!(
            (old.status, old.message.as_str()),
            (
                CheckStatus::Warning,
                "the newest built-in price is of 2026-11-21, 192 days ago"
            )
        );
        assert!(old.fix.unwrap().starts_with("update conclave"));
    }

    #[test]
    fn a_proxys_password_is_not_shown() {
        let environment = Environment::of([
            ("HTTPS_PROXY", "http://user:pa@s,s@proxy:8080"),
            ("no_proxy", "localhost,.lan"),
        ]);
        let message = proxies(&environment).message;
        assert_eq!(
            message,
            "HTTPS_PROXY=http://proxy:8080, no_proxy=localhost,.lan; never for this machine and \
             private networks"
        );
        assert_eq!(proxies(&Environment::default()).message, "none");
    }
}
