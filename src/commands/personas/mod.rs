//! `conclave personas`: who can sit on a panel, under which names, and in which sets and panels.

pub(crate) mod catalogue;

use crate::config::paths::Home;
use crate::consultation::prompt::Templates;
use crate::error::Error;

/// The templates in force: the built-in ones with the files of the home laid over them.
pub(crate) fn templates(home: &Home) -> Result<Templates, Error> {
    let mut templates = Templates::builtin();
    for (name, text) in home.prompt_overrides().map_err(Error::usage)? {
        let file = home.path().join("prompts").join(format!("{name}.md"));
        templates.override_with(&name, &text).map_err(|error| Error::usage(error).hint(format!("mend or remove {}", file.display())))?;
    }
    Ok(templates)
}
