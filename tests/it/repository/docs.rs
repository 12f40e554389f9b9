//! The README and the pages in `docs` are correct: their commands parse, their tables agree with
//! the code, and the files and pages that they name exist.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::Value;

use crate::support::binary::Conclave;

const README: &str = include_str!("../../../README.md");

/// The README and all pages, one after another.
static DOCS: LazyLock<String> = LazyLock::new(|| {
    let mut text = README.to_owned();
    for page in pages() {
        text.push_str(&std::fs::read_to_string(page).unwrap());
    }
    text
});

pub(super) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the paths of the pages in `docs`.
pub(super) fn pages() -> Vec<PathBuf> {
    let entries = root().join("docs").read_dir().unwrap();
    let mut pages: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.sort();
    assert!(pages.len() >= 10, "{pages:?}");
    pages
}

/// Returns the lines of all code blocks, indented or fenced.
fn code() -> impl Iterator<Item = &'static str> {
    let mut is_fenced = false;
    let code = DOCS.lines().filter(move |line| {
        is_fenced ^= line.starts_with("```");
        is_fenced || line.starts_with("    ")
    });
    code.map(str::trim)
}

/// Returns the cells of all rows of the table that starts with this heading.
fn table(heading: &str) -> Vec<Vec<String>> {
    let rows = DOCS
        .lines()
        .skip_while(|line| !line.starts_with(heading))
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let cells = |row: &str| {
        let row = row.replace("\\|", "¦");
        row.trim_matches('|')
            .split('|')
            .map(|cell| cell.trim().replace('¦', "|"))
            .collect::<Vec<_>>()
    };
    let rows: Vec<_> = rows.map(cells).collect();
    assert!(!rows.is_empty(), "no table `{heading}`");
    rows
}

/// Returns the texts in backticks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

fn help(command: &str) -> String {
    let arguments: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
    Conclave::new().run(&arguments).ends_with(0).stdout
}

/// Splits a command into words as a shell does.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in command.chars() {
        match c {
            c if quote == Some(c) => quote = None,
            '"' | '\'' if quote.is_none() => quote = Some(c),
            ' ' if quote.is_none() => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words.into_iter().filter(|word| !word.is_empty()).collect()
}

#[test]
fn commands_in_code_blocks_parse() {
    let commands: Vec<&str> = code()
        .filter(|line| line.starts_with("conclave "))
        .collect();
    assert!(commands.len() >= 4, "{commands:?}");
    for command in commands {
        // The rest of the line is for the shell.
        let own = command.split(['|', '<', '>', '#']).next().unwrap();
        // `--help` succeeds only if the preceding arguments are valid.
        let words: Vec<String> = words(own)
            .into_iter()
            .skip(1)
            .chain(["--help".to_owned()])
            .collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = Conclave::new().run(&words).ends_with(0);
        assert!(
            output.stdout.contains("Usage: conclave"),
            "{command}: {}",
            output.stdout
        );
    }
}

#[test]
fn settings_in_code_blocks_can_be_set() {
    let conclave = Conclave::new();
    let commands: Vec<&str> = code()
        .filter(|line| line.starts_with("conclave config "))
        .collect();
    assert!(
        commands
            .iter()
            .filter(|command| command.contains(" set "))
            .count()
            >= 5,
        "{commands:?}"
    );
    // The pages are in no order: what one sets, another reads or unsets.
    let (set, others): (Vec<_>, Vec<_>) = commands
        .into_iter()
        .partition(|command| command.contains(" set "));
    for command in set.into_iter().chain(others) {
        let words = words(command);
        let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        conclave.run(&words).ends_with(0);
    }
}

#[test]
fn commands_in_running_text_exist() {
    let named: Vec<&str> = quoted(&DOCS)
        .into_iter()
        .filter(|text| text.starts_with("conclave "))
        .collect();
    assert!(named.len() >= 4, "{named:?}");
    for command in named {
        let words: Vec<&str> = command
            .split_whitespace()
            .skip(1)
            .take_while(|word| word.chars().all(char::is_lowercase))
            .collect();
        help(&words.join(" "));
    }
}

#[test]
fn exit_codes_match_the_manual_page() {
    let page = Conclave::new().run(&["man"]).ends_with(0).stdout;
    let (_, codes) = page.split_once("EXIT STATUS\"\n").unwrap();
    let (codes, _) = codes.split_once(".SH").unwrap();
    let plain = codes
        .replace("\\fB", "")
        .replace("\\fR", "")
        .replace('\\', "");
    let mut lines = plain
        .lines()
        .filter(|line| *line != ".TP")
        .map(ToOwned::to_owned);
    let codes = std::iter::from_fn(|| lines.next().zip(lines.next()));
    let of_page: Vec<(String, String)> = codes.collect();
    let documented: Vec<(String, String)> = table("| code |")
        .into_iter()
        .map(|row| (row[0].clone(), row[1].clone()))
        .collect();
    assert_eq!(documented, of_page);
}

#[test]
fn option_table_and_consult_help_list_the_same_options() {
    let help = help("consult");
    let options: Vec<String> = table("| option |")
        .into_iter()
        .map(|row| row[0].clone())
        .collect();
    for option in options.iter().flat_map(|cell| quoted(cell)) {
        let flag = option.split_whitespace().next().unwrap();
        let listed = |line: &str| line.split([' ', ',']).any(|word| word == flag);
        assert!(
            help.lines()
                .any(|line| line.trim_start().starts_with('-') && listed(line)),
            "`{flag}` is not an option"
        );
    }
    let table = options.join(" ");
    for line in help
        .lines()
        .map(str::trim_start)
        .filter(|line| line.starts_with('-') && !line.starts_with("- ") && !line.contains("--help"))
    {
        let names: Vec<&str> = line
            .split([' ', ','])
            .filter(|word| word.starts_with('-') && word.len() > 1)
            .collect();
        assert!(
            names.iter().any(|name| quoted(&table)
                .iter()
                .any(|cell| cell.split_whitespace().next() == Some(name))),
            "{line}"
        );
    }
}

#[test]
fn table_of_settings_matches_the_code() {
    use conclave::config::setting::SETTINGS;
    let defaults = conclave::config::settings::Settings::default();
    let rows: Vec<String> = SETTINGS
        .iter()
        .map(|setting| {
            let default = match setting.value(&defaults) {
                Value::Null => String::new(),
                Value::Object(empty) if empty.is_empty() => String::new(),
                Value::String(text) => format!(" `{text}`"),
                value => format!(" `{value}`"),
            };
            format!("| `{}` | {} |{default} |", setting.name, setting.help)
        })
        .collect();
    let (_, table) = DOCS
        .split_once("| setting | meaning | default |\n|---|---|---|\n")
        .unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    assert_eq!(table, rows.join("\n"));
}

#[test]
fn readme_is_short_and_links_to_every_page() {
    assert!(README.lines().count() <= 100);
    for page in pages() {
        let name = page.file_name().unwrap().to_str().unwrap();
        assert!(README.contains(&format!("(docs/{name})")), "{name}");
    }
}

#[test]
fn links_between_pages_lead_to_existing_files() {
    let readme = root().join("README.md");
    for page in pages().into_iter().chain([readme]) {
        let text = std::fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1) {
            let target = link.split(')').next().unwrap();
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            if file.contains("://") {
                continue;
            }
            let linked = match file {
                "" => page.clone(),
                file => page.with_file_name(file),
            };
            assert!(linked.exists(), "{}: `{target}`", page.display());
            let headings = std::fs::read_to_string(&linked).unwrap_or_default();
            let anchor = |line: &str| line.trim_start_matches(['#', ' ']).to_lowercase();
            let is_linked = |line: &str| anchor(line).replace(' ', "-") == heading;
            assert!(
                heading.is_empty() || headings.lines().any(is_linked),
                "{}: `{target}`",
                page.display()
            );
        }
    }
}

#[test]
fn vendor_variables_match_the_code() {
    use conclave::domain::model::vendors::{VENDORS, Vendor};
    let (clouds, machines): (Vec<Vendor>, Vec<Vendor>) =
        VENDORS.into_iter().partition(Vendor::is_cloud);
    let cloud_rows = table("| vendor |");
    assert_eq!(cloud_rows.len(), clouds.len());
    for (row, vendor) in cloud_rows.iter().zip(&clouds) {
        assert_eq!(row[0], vendor.name);
        assert_eq!(quoted(&row[1]), vendor.key_variables, "{}", vendor.name);
        assert_eq!(
            quoted(&row[2]),
            vendor.base_url_variables,
            "{}",
            vendor.name
        );
    }
    let machine_rows = table("| server |");
    assert_eq!(machine_rows.len(), machines.len());
    for (row, vendor) in machine_rows.iter().zip(&machines) {
        assert_eq!(row[0], vendor.name);
        assert_eq!(quoted(&row[1]), [vendor.id]);
        assert_eq!(quoted(&row[2]), usual_addresses(vendor), "{}", vendor.name);
        assert_eq!(
            quoted(&row[3]),
            vendor.base_url_variables,
            "{}",
            vendor.name
        );
        assert_eq!(quoted(&row[4]), vendor.key_variables, "{}", vendor.name);
    }
}

/// Returns the probed addresses of a local server: its usual one, and that of newer builds.
fn usual_addresses(vendor: &conclave::domain::model::vendors::Vendor) -> Vec<String> {
    use conclave::domain::model::address::authority;
    use conclave::domain::model::vendors::Hosting;
    let other = match vendor.hosting {
        Hosting::Cloud => None,
        Hosting::OwnMachine { other_base_url, .. } => other_base_url,
    };
    [Some(vendor.default_base_url), other]
        .into_iter()
        .flatten()
        .map(authority)
        .collect()
}

#[test]
fn endpoint_fields_match_the_code() {
    let mut documented: Vec<String> = table("| field of an endpoint |")
        .iter()
        .flat_map(|row| {
            quoted(&row[0])
                .into_iter()
                .map(ToOwned::to_owned)
                .collect::<Vec<_>>()
        })
        .collect();
    documented.push("name".to_owned());
    documented.sort_unstable();
    let mut known = conclave::config::endpoints::FIELDS;
    known.sort_unstable();
    assert_eq!(documented, known);
}

#[test]
fn paths_of_the_map_exist() {
    let map = std::fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let paths = quoted(&map).into_iter().filter(|text| text.contains('/'));
    let paths: Vec<&str> = paths.collect();
    assert!(paths.len() >= 50, "{paths:?}");
    for path in paths {
        let is_there = [root().to_owned(), root().join("src")]
            .iter()
            .any(|folder| folder.join(path).exists());
        assert!(is_there, "`{path}` does not exist");
    }
}

#[test]
fn files_named_in_the_docs_exist() {
    for file in [
        "schemas/consultation.schema.json",
        "schemas/history.schema.json",
        "schemas/models.schema.json",
        "schemas/personas.schema.json",
        "schemas/rejudge.schema.json",
        "schemas/doctor.schema.json",
        "schemas/dry_run.schema.json",
        "schemas/consult_stats.schema.json",
        "schemas/calibration.schema.json",
        "schemas/exit_check.schema.json",
        "schemas/benchmark.schema.json",
        "schemas/benchmark_dry_run.schema.json",
        "schemas/benchmark_list.schema.json",
        "schemas/refine.schema.json",
        "schemas/refine_check.schema.json",
        "schemas/refine_dry_run.schema.json",
        "src/lib.rs",
        ".ci/run",
    ] {
        assert!(DOCS.contains(file), "the docs no longer name `{file}`");
        assert!(root().join(file).exists(), "`{file}` does not exist");
    }
    for script in [".ci/run", "quickstart"] {
        use std::os::unix::fs::PermissionsExt;
        assert!(DOCS.contains(script), "the docs no longer name `{script}`");
        let mode = root()
            .join(script)
            .metadata()
            .unwrap_or_else(|error| panic!("`{script}`: {error}"))
            .permissions()
            .mode();
        assert_ne!(mode & 0o111, 0, "`{script}` is not executable");
    }
}
