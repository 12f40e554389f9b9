//! The adjustment that a refusal causes in the form of a request.

mod output_limit;
mod refusals;
mod served;

use conclave::consultation::protocol::call::FailureClass;
use conclave::domain::model::dialect::{Dialect, Quirks, Structure};
use conclave::providers::form::{Adjustment, Form, Refusal};

use super::ask_of;

const OPENAI: Dialect = Dialect::OpenAi(Quirks::OPENAI);
const COMPATIBLE: Dialect = Dialect::OpenAi(Quirks::COMPATIBLE);
const LMSTUDIO: Dialect = Dialect::OpenAi(Quirks::LMSTUDIO);

fn form(dialect: Dialect) -> Form {
    let quirks = if let Dialect::OpenAi(quirks) = dialect {
        quirks
    } else {
        Quirks::COMPATIBLE
    };
    Form {
        json_mode: dialect.json_mode(),
        ..Form::new(Structure::Schema, quirks)
    }
}

/// Returns the adjustment for a refusal with this text and these named fields, of a body with some
/// user parameters.
fn adjustment(
    dialect: Dialect,
    class: FailureClass,
    words: &str,
    fields: &[&str],
) -> Option<Adjustment> {
    let parts = "model messages stream stream_options stream_options.include_usage \
        response_format response_format.type provider provider.require_parameters think \
        temperature top_p stop reasoning_effort output_config.effort generationConfig.topK \
        options.num_ctx options.seed";
    let parts: Vec<String> = parts.split_whitespace().map(ToOwned::to_owned).collect();
    let refusal = Refusal {
        class,
        words: words.to_owned(),
        fields: fields.iter().map(ToString::to_string).collect(),
    };
    form(dialect).adjustment(dialect, &ask_of("x", "m"), &parts, &refusal)
}

fn without(path: &str) -> Adjustment {
    Adjustment::Without(path.to_owned())
}

fn structure(without: &'static str, now: Structure) -> Adjustment {
    Adjustment::Structure { without, now }
}
