//! The README is correct: its commands parse, its tables agree with the code, and its files exist.

use std::path::Path;

use crate::support::binary::Conclave;

const README: &str = include_str!("../../README.md");

/// Returns the lines of its code blocks.
fn code() -> impl Iterator<Item = &'static str> {
    README
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
        .map(str::trim)
}

/// Returns the cells of all rows of the table that starts with this heading.
fn table(heading: &str) -> Vec<Vec<String>> {
    let rows = README
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
    let mut within = false;
    for c in command.chars() {
        match c {
            '"' => within = !within,
            ' ' if !within => words.push(String::new()),
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
fn settings_in_the_readme_can_be_set() {
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
    for command in commands {
        let words = words(command);
        let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        conclave.run(&words).ends_with(0);
    }
}

#[test]
fn commands_in_running_text_exist() {
    let named: Vec<&str> = quoted(README)
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
fn exit_codes_match_the_help() {
    let help = help("");
    let (_, codes) = help.split_once("Exit codes:\n").unwrap();
    let of_help: Vec<(String, String)> = codes
        .lines()
        .take_while(|line| !line.is_empty())
        .map(|line| line.trim().split_once(' ').unwrap())
        .map(|(code, meaning)| (code.to_owned(), meaning.trim().to_owned()))
        .collect();
    let of_readme: Vec<(String, String)> = table("| code |")
        .into_iter()
        .map(|row| (row[0].clone(), row[1].clone()))
        .collect();
    assert_eq!(of_readme, of_help);
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
fn readme_lists_exactly_the_known_settings() {
    use conclave::config::setting::SETTINGS;
    let (_, settings) = README.split_once("Settings in `config.json`: ").unwrap();
    let mut named = quoted(settings.split("\n\n").next().unwrap());
    named.sort_unstable();
    let mut known: Vec<&str> = SETTINGS.iter().map(|setting| setting.name).collect();
    known.sort_unstable();
    assert_eq!(named, known);
}

#[test]
fn vendor_variables_match_the_code() {
    use conclave::domain::vendors::{VENDORS, Vendor};
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
fn usual_addresses(vendor: &conclave::domain::vendors::Vendor) -> Vec<String> {
    use conclave::domain::address::authority;
    use conclave::domain::vendors::Hosting;
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
fn files_named_in_the_readme_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
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
        "src/lib.rs",
        "src/consultation",
        "src/engine",
        ".ci/run",
    ] {
        assert!(README.contains(file), "the README no longer names `{file}`");
        assert!(root.join(file).exists(), "`{file}` does not exist");
    }
    for script in [".ci/run", "quickstart"] {
        use std::os::unix::fs::PermissionsExt;
        assert!(
            README.contains(script),
            "the README no longer names `{script}`"
        );
        let mode = root
            .join(script)
            .metadata()
            .unwrap_or_else(|error| panic!("`{script}`: {error}"))
            .permissions()
            .mode();
        assert_ne!(mode & 0o111, 0, "`{script}` is not executable");
    }
}
