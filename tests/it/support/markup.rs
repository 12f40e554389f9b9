//! A reader of HTML that takes only what the program may write, and takes it strictly: anything
//! else is a failed test.

const TAGS: [&str; 38] = [
    "html", "head", "meta", "title", "style", "body", "main", "header", "section", "aside",
    "article", "footer", "div", "span", "p", "h1", "h2", "h3", "h4", "ul", "ol", "li", "dl", "dt",
    "dd", "table", "caption", "thead", "tbody", "tr", "th", "td", "strong", "em", "bdi", "q",
    "time", "code",
];
const ATTRIBUTES: [&str; 9] = [
    "lang",
    "charset",
    "http-equiv",
    "content",
    "name",
    "class",
    "dir",
    "scope",
    "datetime",
];

/// What a document consists of.
#[derive(Debug)]
pub(crate) struct Scanned {
    /// Its tags as they are written, in order.
    pub(crate) tags: Vec<String>,
    pub(crate) title: String,
    /// What can be read in it, but for the title.
    pub(crate) text: String,
    /// The levels of its headings.
    pub(crate) levels: Vec<u8>,
}

/// Reads a document.
pub(crate) fn scan(page: &str) -> Scanned {
    let mut rest = page
        .strip_prefix("<!DOCTYPE html>")
        .expect("a document type");
    let mut scanned = Scanned {
        tags: Vec::new(),
        title: String::new(),
        text: String::new(),
        levels: Vec::new(),
    };
    let mut open: Vec<String> = Vec::new();
    while let Some((text, after)) = rest.split_once('<') {
        scanned.text.push_str(&unescaped(text));
        let (inner, after) = after.split_once('>').expect("a tag that ends");
        assert!(!inner.contains('<'), "{inner}");
        let tag = format!("<{inner}>");
        scanned.tags.push(tag.clone());
        rest = after;
        if let Some(name) = tag.strip_prefix("</") {
            assert_eq!(
                open.pop().as_deref(),
                Some(name.trim_end_matches('>')),
                "tags are closed in order"
            );
            if tag == "</title>" {
                std::mem::take(&mut scanned.text)
                    .trim_start()
                    .clone_into(&mut scanned.title);
            }
            continue;
        }
        let (name, attributes) = inner.split_once(' ').unwrap_or((inner, ""));
        assert!(TAGS.contains(&name), "{tag}");
        check_attributes(attributes);
        if let Some(level) = name.strip_prefix('h').and_then(|level| level.parse().ok()) {
            scanned.levels.push(level);
        }
        if name == "style" {
            rest = rest.split_once("</style>").expect("a style that ends").1;
            continue;
        }
        if name != "meta" {
            open.push(name.to_owned());
        }
    }
    assert_eq!((rest, open), ("\n", Vec::new()));
    scanned
}

/// `name="value"`, one after the other, each known.
fn check_attributes(attributes: &str) {
    let mut rest = attributes;
    while !rest.is_empty() {
        let (name, value) = rest
            .split_once("=\"")
            .unwrap_or_else(|| panic!("{attributes}"));
        assert!(ATTRIBUTES.contains(&name), "{attributes}");
        let (_, after) = value
            .split_once('"')
            .unwrap_or_else(|| panic!("{attributes}"));
        rest = after.strip_prefix(' ').unwrap_or(after);
    }
}

/// Text as a browser shows it. Of entities only those that the program writes are known.
fn unescaped(text: &str) -> String {
    assert!(!text.contains('>') && !text.contains('\0'), "{text:?}");
    let mut parts = text.split('&');
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (entity, rest) = part.split_once(';').unwrap_or_else(|| panic!("&{part}"));
        shown.push_str(match entity {
            "amp" => "&",
            "lt" => "<",
            "gt" => ">",
            "quot" => "\"",
            "#39" => "'",
            other => panic!("&{other};"),
        });
        shown.push_str(rest);
    }
    shown
}
