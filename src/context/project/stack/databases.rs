//! Databases that configuration names: schemas, database settings, compose files.

/// Returns the words of a configuration file that may mean a database.
pub(super) fn database_words<'a>(name: &str, text: &'a str) -> Vec<&'a str> {
    let keys: &[&str] = match name {
        "schema.prisma" => &["provider"],
        "database.yml" => &["adapter"],
        _ if name.starts_with("drizzle") => &["dialect"],
        _ => &["image"],
    };
    let mut words = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        let Some((key, value)) = line.split_once([':', '=']) else {
            continue;
        };
        if !keys.contains(&key.trim()) {
            continue;
        }
        let value = value.trim().trim_matches(['"', '\'', ',']);
        let image = value.strip_prefix("docker.io/").unwrap_or(value);
        let image = image.strip_prefix("library/").unwrap_or(image);
        let image = image.split('@').next().unwrap_or(image);
        // A colon before the last slash belongs to a port, one behind it to a tag.
        let image = match image.rsplit_once(':') {
            Some((image, tag)) if !tag.contains('/') => image,
            _ => image,
        };
        words.push(image);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configuration_names_its_database() {
        let prisma = "datasource db {\n  provider = \"postgresql\"\n}";
        assert_eq!(database_words("schema.prisma", prisma), ["postgresql"]);
        let compose = "services:\n  db:\n    image: docker.io/library/postgres:16-alpine\n  x:\n    \
                       image: registry:5000/acme/app\n";
        assert_eq!(
            database_words("compose.yml", compose),
            ["postgres", "registry:5000/acme/app"]
        );
    }
}
