//! An HTML writer. Only literals of this program are markup; all other text is escaped, and
//! stripped of control characters and of marks that change the writing direction around them.

use crate::domain::text::clean;
use crate::domain::time::Timestamp;

#[derive(Debug, Default)]
pub(super) struct Markup {
    html: String,
}

impl Markup {
    /// Writes markup.
    pub(super) fn put(&mut self, markup: &'static str) -> &mut Self {
        self.html.push_str(markup);
        self
    }

    /// Writes text.
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        for c in clean(text).chars() {
            match c {
                '&' => self.html.push_str("&amp;"),
                '<' => self.html.push_str("&lt;"),
                '>' => self.html.push_str("&gt;"),
                '"' => self.html.push_str("&quot;"),
                '\'' => self.html.push_str("&#39;"),
                c => self.html.push(c),
            }
        }
        self
    }

    /// Writes foreign text inline, in a direction of its own.
    pub(super) fn inline(&mut self, text: &str) -> &mut Self {
        self.put("<bdi>").text(text.trim()).put("</bdi>")
    }

    /// Writes foreign text as a block with its line breaks, in a direction of its own. Empty text
    /// is marked as such.
    pub(super) fn block(&mut self, text: &str) -> &mut Self {
        let text = text.trim_matches('\n').trim_end();
        if text.is_empty() {
            return self.put("<p class=\"quiet\">(empty answer)</p>\n");
        }
        // Not `pre`: a parser drops the line break behind that tag.
        self.put("<div class=\"said\" dir=\"auto\">")
            .text(text)
            .put("</div>\n")
    }

    /// Writes a list of foreign texts; nothing for an empty one.
    pub(super) fn list<T: AsRef<str>>(&mut self, items: &[T]) -> &mut Self {
        if items.is_empty() {
            return self;
        }
        self.put("<ul>\n");
        for item in items {
            self.put("<li class=\"said\" dir=\"auto\">")
                .text(item.as_ref().trim())
                .put("</li>\n");
        }
        self.put("</ul>\n")
    }

    /// Writes a moment to the minute, with the exact time for programs.
    pub(super) fn moment(&mut self, at: Timestamp) -> &mut Self {
        let exact = at.to_string();
        let shown = match exact.split_once('T') {
            Some((day, time)) => format!("{day} {} UTC", time.get(..5).unwrap_or(time)),
            None => return self.text(&exact),
        };
        self.put("<time datetime=\"")
            .text(&exact)
            .put("\">")
            .text(&shown)
            .put("</time>")
    }

    pub(super) fn into_html(self) -> String {
        self.html
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_in_tags_and_attributes() {
        let mut markup = Markup::default();
        markup
            .put("<p>")
            .text("<b title=\"x\" id='y'>&amp;\u{0}\u{202e}</b>\r\n")
            .put("</p>");
        assert_eq!(
            markup.into_html(),
            "<p>&lt;b title=&quot;x&quot; id=&#39;y&#39;&gt;&amp;amp;&lt;/b&gt;\n</p>"
        );
    }

    #[test]
    fn moment_beyond_the_calendar_is_shown_in_milliseconds() {
        let mut markup = Markup::default();
        markup.moment(Timestamp(0)).moment(Timestamp(i64::MAX));
        assert_eq!(
            markup.into_html(),
            "<time datetime=\"1970-01-01T00:00:00.000Z\">1970-01-01 00:00 \
             UTC</time>9223372036854775807 ms"
        );
    }
}
