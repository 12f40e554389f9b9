//! Programs that answer in a seat: which there are, where they are on this machine, and what they
//! are started with. [`consent`] has what the user must agree to.
//!
//! Invariant: a program is started by its absolute path, found once in the folders of `PATH`;
//! neither relative folders nor the working folder are searched.

pub mod consent;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::join_all;
use rustix::fs::Access;
use tokio::sync::OnceCell;

use crate::config::env::Environment;
use crate::config::paths::Home;
use crate::config::programs::entry_name;
use crate::config::setting::PROGRAMS;
use crate::config::settings::Settings;
use crate::domain::ids::{ModelRef, ProviderId};
use crate::domain::model::program::{Program, of_vendor};
use crate::domain::names::near_or_all;
use crate::error::Error;
use crate::providers::programs::seat::ProgramSeat;
use crate::providers::programs::status::{Login, ProgramStatus};

/// All programs, of the settings and known by name. The plans of a process share their seats.
#[derive(Debug)]
pub struct ProgramList {
    seats: Vec<Arc<ProgramSeat>>,
    home: Home,
    statuses: OnceCell<Vec<(Program, ProgramStatus)>>,
    /// Those that the user has agreed to in this process.
    agreed: Mutex<BTreeSet<ProviderId>>,
}

impl ProgramList {
    pub fn load(settings: &Settings, environment: &Environment, home: &Home) -> Self {
        let seat = |mut program: Program| {
            let called = program.argv.first();
            program.executable = called.and_then(|called| resolve(called, environment));
            let (variables, locks) = (environment.texts(), home.programs_folder());
            Arc::new(ProgramSeat::new(program, variables, &locks))
        };
        Self {
            seats: settings.programs.all().into_iter().map(seat).collect(),
            home: home.clone(),
            statuses: OnceCell::new(),
            agreed: Mutex::default(),
        }
    }

    pub fn agreed(&self) -> MutexGuard<'_, BTreeSet<ProviderId>> {
        self.agreed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Program> {
        self.seats.iter().map(|seat| &seat.program)
    }

    pub fn find(&self, id: &ProviderId) -> Option<&Program> {
        self.iter().find(|program| program.id == *id)
    }

    /// Says why a program cannot be asked; `None` for any other provider.
    pub fn check(&self, id: &ProviderId) -> Option<Result<(), Error>> {
        if let Some(program) = self.find(id) {
            return Some(program.check());
        }
        let name = id.command()?;
        let ids: Vec<&str> = self.iter().map(|it| it.id.as_str()).collect();
        let add = format!("conclave config set programs.{name}.argv '[\"/path/to/it\"]'");
        let error = Error::usage(format!("the settings have no program `{name}`"));
        let error = error.hint(near_or_all(id.as_str(), &ids));
        Some(Err(error.hint(format!("or add it with `{add}`"))))
    }

    /// Returns what each installed program says of itself, which spends nothing. They are asked
    /// once, all at the same time.
    pub async fn statuses(&self) -> &[(Program, ProgramStatus)] {
        let status = async |seat: &ProgramSeat| (seat.program.clone(), seat.status().await);
        let is_installed = |seat: &&Arc<ProgramSeat>| seat.program.executable.is_some();
        let installed = self.seats.iter().filter(is_installed);
        let ask = || join_all(installed.map(|seat| status(seat)));
        self.statuses.get_or_init(ask).await
    }

    /// Returns those whose user is logged in, and has not refused them. One that cannot say so must
    /// be allowed.
    pub async fn ready(&self) -> Vec<&Program> {
        let is_ready = |(program, status): &&(Program, ProgramStatus)| match status.login {
            Login::Plan(_) => program.allowed != Some(false),
            Login::Unknown => program.allowed == Some(true),
            Login::Billed(_) | Login::No => false,
        };
        let ready = self.statuses().await.iter().filter(is_ready);
        ready.map(|(program, _)| program).collect()
    }

    /// Those of a plan's providers that are programs.
    pub fn of<'a>(
        &'a self,
        ids: &'a BTreeSet<ProviderId>,
    ) -> impl Iterator<Item = &'a Arc<ProgramSeat>> {
        let is_asked = |seat: &&Arc<ProgramSeat>| ids.contains(&seat.program.id);
        self.seats.iter().filter(is_asked)
    }
}

impl Program {
    /// The models that a panel gets when none is named. A program of the settings is one model.
    pub fn usual_models(&self) -> Vec<ModelRef> {
        let id = &self.id;
        let known = of_vendor(id).into_iter().flat_map(|known| &known.models);
        let names = known.map(String::as_str).chain(id.command());
        names.map(|name| ModelRef::new(id.as_str(), name)).collect()
    }

    fn check(&self) -> Result<(), Error> {
        let (entry, name) = (entry_name(&self.id), &self.name);
        let (None, Some(called)) = (&self.executable, self.argv.first()) else {
            return Ok(());
        };
        if called.contains('/') {
            let error = format!("`{called}` is not the absolute path of an executable file");
            return Err(Error::usage(error).hint(format!("change `programs.{entry}.argv`")));
        }
        let login = self.login.as_ref();
        let install = login.map(|login| format!("install {name}, and log in with `{login}`"));
        let error = format!("`{called}` is not installed: no folder of `PATH` has it");
        let place = "or add its folder to `PATH`, or put its absolute path first in";
        let place = format!("{place} `programs.{entry}.argv`");
        Err(Error::usage(error).hint_if(install).hint(place))
    }
}

/// The setting that allows a program's use.
pub fn allowed_setting(id: &ProviderId) -> String {
    format!("{PROGRAMS}.{}.allowed", entry_name(id))
}

/// `None` if there is no such file that this user may execute.
fn resolve(name: &str, environment: &Environment) -> Option<PathBuf> {
    let may_run = |file: &PathBuf| rustix::fs::access(file, Access::EXEC_OK).is_ok();
    let is_executable = |file: &PathBuf| file.is_absolute() && file.is_file() && may_run(file);
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(is_executable);
    }
    let real = |folder: &Path| folder.canonicalize().ok();
    let here = std::env::current_dir().ok().as_deref().and_then(real);
    let path = environment.path("PATH")?;
    let folders = std::env::split_paths(&path);
    let folders = folders.filter(|folder| here.is_none() || real(folder) != here);
    let mut files = folders.map(|folder| folder.join(name));
    files.find(is_executable)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn place(folder: &Path, name: &str, mode: u32) {
        fs::write(folder.join(name), "").unwrap();
        fs::set_permissions(folder.join(name), Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn program_is_found_in_the_absolute_folders_of_path_alone() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        place(folder, "prog", 0o700);
        place(folder, "data", 0o600);
        let here = std::env::current_dir().unwrap();
        let found =
            |path: &Path, name: &str| resolve(name, &Environment::of([("PATH", path.to_owned())]));
        assert_eq!(found(folder, "prog"), Some(folder.join("prog")));
        assert_eq!(found(folder, "data"), None, "it is not executable");
        assert_eq!(found(Path::new("/nowhere"), "prog"), None);
        let up = Path::new("../").join("../".repeat(here.components().count()));
        let relative = up.join(folder.strip_prefix("/").unwrap());
        assert!(relative.join("prog").exists());
        assert_eq!(found(&relative, "prog"), None);
        assert_eq!(found(folder, "./prog"), None);
        let absolute = folder.join("prog");
        assert_eq!(
            found(Path::new(""), absolute.to_str().unwrap()),
            Some(absolute)
        );
        assert_eq!(found(&here, ".ci/run"), None);
    }
}
