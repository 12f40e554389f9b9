//! From a call to a command line: arguments, variables, standard input and files. Pure.
//!
//! Invariant: no word of a prompt is an argument or a variable.

use std::path::{Path, PathBuf};

use regex::Captures;

use crate::consultation::protocol::call::{Ask, Failure, FailureClass};
use crate::domain::model::program::Program;
use crate::providers::wire::schema;
use crate::text::pattern::Pattern;

/// The working directory in the folder of one call, which stays empty.
pub(super) const WORKING: &str = "work";

/// What is started, besides the program itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    pub arguments: Vec<String>,
    /// Beside those that every program gets and those that the program's entry passes on.
    pub variables: Vec<(String, String)>,
    pub standard_input: String,
    /// To be written before the start.
    pub files: Vec<(PathBuf, String)>,
}

/// Makes the command line of a call, whose files are in `folder`.
///
/// # Errors
///
/// A bad request when the prompt cannot be given to a program, or the program lacks a model.
pub fn launch(program: &Program, ask: &Ask, folder: &Path) -> Result<Launch, Failure> {
    let refused = |why: &str| Err(Failure::new(FailureClass::BadRequest, why));
    let (system, user) = (ask.prompt.system(), ask.prompt.user());
    if system.contains('\0') || user.contains('\0') {
        return refused("the prompt holds a null character, which no program can be given");
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
        return refused(&format!(
            "`{name}` needs a model: name one as `{seat}:MODEL`"
        ));
    }
    if has_model && model.starts_with('-') {
        return refused(&format!("`{model}` would be an option, not a model"));
    }
    let schema = is_enforced.then(|| schema(ask).to_string());
    let [system_file, schema_file] = ["system.md", "schema.json"].map(|name| folder.join(name));
    let value = |name: &str| {
        Some(match name {
            "model" => model.to_owned(),
            "system_file" => system_file.display().to_string(),
            "schema_file" => schema_file.display().to_string(),
            "schema" => schema.clone()?,
            "folder" => folder.join(WORKING).display().to_string(),
            "max_output_tokens" => ask.max_output_tokens.to_string(),
            _ => return None,
        })
    };
    let message = tagged("message", &user);
    let standard_input = if program.system_in_file || system.is_empty() {
        message
    } else {
        tagged("system-prompt", &system) + "\n" + &message
    };
    let system = Some((system_file.clone(), system)).filter(|_| program.system_in_file);
    let schema_text = schema.clone().filter(|_| takes("{schema_file}"));
    let schema_text = schema_text.map(|text| (schema_file.clone(), text));
    Ok(Launch {
        arguments: argv.iter().map(|word| filled(word, &value)).collect(),
        variables: (program.set_env.iter())
            .map(|(name, text)| (name.clone(), filled(text, &value)))
            .collect(),
        standard_input,
        files: system.into_iter().chain(schema_text).collect(),
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
    static PLACE: Pattern = Pattern::new(r#"("?)\{(\w+)\}("?)"#);
    let fill = |found: &Captures<'_>| {
        let (whole, [before, name, after]) = found.extract();
        match value(name) {
            None => whole.to_owned(),
            Some(text) if [before, after] == ["\""; 2] => serde_json::Value::from(text).to_string(),
            Some(text) => [before, &text, after].concat(),
        }
    };
    PLACE.replace_in(template, fill).into_owned()
}
