//! From a call to a command line: arguments, variables, standard input and files. Pure.
//!
//! Invariant: no word of a prompt is an argument or a variable.

use std::path::{Path, PathBuf};

use crate::consultation::protocol::call::{Ask, Failure, FailureClass};
use crate::domain::model::program::{Program, PromptDelivery};
use crate::providers::wire::schema;

/// The folder of one call, which is empty but for these.
#[derive(Clone, Debug)]
pub struct CallFolder {
    /// The working directory, which stays empty.
    pub working: PathBuf,
    pub system_file: PathBuf,
    pub schema_file: PathBuf,
}

impl CallFolder {
    pub fn at(root: &Path) -> Self {
        Self {
            working: root.join("work"),
            system_file: root.join("system.md"),
            schema_file: root.join("schema.json"),
        }
    }
}

/// What is started, besides the program itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    pub arguments: Vec<String>,
    /// Beside those that every program gets and those that the program's entry passes on.
    pub variables: Vec<(String, String)>,
    pub standard_input: String,
    /// To be written before the start.
    pub files: Vec<(PathBuf, String)>,
}

/// Makes the command line of a call.
///
/// # Errors
///
/// A bad request when the prompt cannot be given to a program, or the program lacks a model.
pub fn launch(program: &Program, ask: &Ask, folder: &CallFolder) -> Result<Launch, Failure> {
    let refused = |why: String| Failure::new(FailureClass::BadRequest, why);
    let (system, user) = (ask.prompt.system(), ask.prompt.user());
    if system.contains('\0') || user.contains('\0') {
        let why = "the prompt holds a null character, which no program can be given";
        return Err(refused(why.to_owned()));
    }
    let is_enforced = enforces_schema(program, ask);
    let schema_argv = program.schema_argv.iter().filter(|_| is_enforced);
    let argv: Vec<&String> = program.argv.iter().skip(1).chain(schema_argv).collect();
    let takes = |name: &str| {
        let mut texts = argv.iter().copied().chain(program.set_env.values());
        texts.any(|text| text.contains(name))
    };
    let model = ask.model.model.as_str();
    let has_model = ask.model.provider.command() != Some(model);
    if takes("{model}") && !has_model {
        let (name, seat) = (&program.name, &ask.model);
        let why = format!("`{name}` needs a model: name one as `{seat}:MODEL`");
        return Err(refused(why));
    }
    if has_model && model.starts_with('-') {
        let why = format!("`{model}` would be an option, not a model");
        return Err(refused(why));
    }
    let schema = is_enforced.then(|| schema(ask).to_string());
    let path = |path: &Path| path.display().to_string();
    let value = |name: &str| {
        Some(match name {
            "model" => model.to_owned(),
            "system_file" => path(&folder.system_file),
            "schema_file" => path(&folder.schema_file),
            "schema" => schema.clone()?,
            "folder" => path(&folder.working),
            "max_output_tokens" => ask.max_output_tokens.to_string(),
            _ => return None,
        })
    };
    let message = tagged("message", &user);
    let (standard_input, system) = match program.prompt {
        PromptDelivery::SystemInFile => (message, Some(system)),
        PromptDelivery::Stdin if system.is_empty() => (message, None),
        PromptDelivery::Stdin => (tagged("system-prompt", &system) + "\n" + &message, None),
    };
    let system = system.map(|text| (folder.system_file.clone(), text));
    let schema_file = schema.clone().filter(|_| takes("{schema_file}"));
    let schema_file = schema_file.map(|text| (folder.schema_file.clone(), text));
    Ok(Launch {
        arguments: argv.iter().map(|word| filled(word, &value)).collect(),
        variables: (program.set_env.iter())
            .map(|(name, text)| (name.clone(), filled(text, &value)))
            .collect(),
        standard_input,
        files: system.into_iter().chain(schema_file).collect(),
    })
}

/// Without a schema the prompt alone describes the answer, as every prompt does. A schema would
/// spoil the cache of a context here too.
pub(super) fn enforces_schema(program: &Program, ask: &Ask) -> bool {
    !program.schema_argv.is_empty() && ask.cache_key.is_none()
}

/// Programs take a text that begins with `/`, `!`, `@` or `$` as a command.
fn tagged(tag: &str, text: &str) -> String {
    format!("<{tag}>\n{text}\n</{tag}>\n")
}

/// Puts values in the place of their names in braces. A value between quotes is a string of TOML or
/// JSON; what has no value stays as it is.
fn filled(template: &str, value: &dyn Fn(&str) -> Option<String>) -> String {
    let (mut filled, mut rest) = (String::new(), template);
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        rest = after;
        let placed = after.split_once('}');
        let Some((text, after)) = placed.and_then(|(name, end)| Some((value(name)?, end))) else {
            filled.push('{');
            continue;
        };
        rest = after;
        if before.ends_with('"') && after.starts_with('"') {
            let quoted = serde_json::Value::from(text).to_string();
            filled.push_str(quoted.get(1..quoted.len() - 1).unwrap_or_default());
        } else {
            filled.push_str(&text);
        }
    }
    filled + rest
}
