//! A strict parser for the HTML that the program writes: any other tag, attribute or entity fails
//! the test.

const TAGS: [&str; 47] = [
    "html", "head", "meta", "title", "style", "body", "main", "header", "section", "aside",
    "article", "footer", "div", "span", "p", "h1", "h2", "h3", "h4", "ul", "ol", "li", "dl", "dt",
    "dd", "table", "caption", "thead", "tbody", "tr", "th", "td", "strong", "em", "bdi", "q",
    "time", "code", "details", "summary", "svg", "g", "desc", "line", "circle", "rect", "text",
];
const ATTRIBUTES: [&str; 23] = [
    "lang",
    "charset",
    "http-equiv",
    "content",
    "name",
    "class",
    "dir",
    "scope",
    "datetime",
    "role",
    "aria-label",
    "viewBox",
    "x",
    "y",
    "x1",
    "y1",
    "x2",
    "y2",
    "cx",
    "cy",
    "r",
    "width",
    "height",
];

/// The parts of a page.
#[derive(Debug)]
pub(crate) struct ScannedPage {
    /// Its tags as written, in order.
    pub(crate) tags: Vec<String>,
    pub(crate) title: String,
    /// Its visible text, without the title.
    pub(crate) text: String,
    /// The levels of its headings.
    pub(crate) levels: Vec<u8>,
}

/// Parses a page.
pub(crate) fn scan(page: &str) -> ScannedPage {
    let mut rest = page
        .strip_prefix("<!DOCTYPE html>")
        .expect("a document type");
    let mut scanned = ScannedPage {
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
            // A drawing has a title too.
            if tag == "</title>" && scanned.title.is_empty() {
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
    assert_eq!(rest, "\n");
    assert!(open.is_empty(), "tags left open: {open:?}");
    scanned
}

/// Checks attributes of the form `name="value"`, each with a known name.
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

/// Returns the text as a browser shows it; only the entities that the program writes are known.
fn unescaped(text: &str) -> String {
    assert!(!text.contains('>'), "{text:?}");
    assert!(!text.contains('\0'), "{text:?}");
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
