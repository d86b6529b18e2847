//! Writes elements, and escapes whatever stands in them.

/// A picture or page in the making. Elements are closed where they were opened, by construction.
#[derive(Debug, Default)]
pub(super) struct Svg {
    out: String,
}

impl Svg {
    /// A picture of that size, with the colours for everything in it.
    pub(super) fn picture(width: f64, height: f64, inner: impl FnOnce(&mut Self)) -> Self {
        let mut svg = Self::default();
        let view = format!("0 0 {} {}", px(width), px(height));
        let attributes = [
            ("xmlns", "http://www.w3.org/2000/svg"),
            ("viewBox", view.as_str()),
            ("width", &px(width)),
            ("height", &px(height)),
            ("role", "img"),
            ("class", "picture"),
        ];
        svg.within("svg", &attributes, |svg| {
            svg.within("style", &[], |svg| svg.text(&super::theme::picture_style()));
            svg.leaf("rect", &[("class", "ground"), ("width", "100%"), ("height", "100%")]);
            inner(svg);
        });
        svg
    }

    /// An element with something in it.
    pub(super) fn within(
        &mut self,
        name: &str,
        attributes: &[(&str, &str)],
        inner: impl FnOnce(&mut Self),
    ) {
        self.begin(name, attributes);
        self.out.push('>');
        inner(self);
        self.out.push_str("</");
        self.out.push_str(name);
        self.out.push_str(">\n");
    }

    /// An element with nothing in it.
    pub(super) fn leaf(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.begin(name, attributes);
        self.out.push_str("/>\n");
    }

    /// An element with a text in it.
    pub(super) fn say(&mut self, name: &str, attributes: &[(&str, &str)], text: &str) {
        self.within(name, attributes, |svg| svg.text(text));
    }

    /// A line of text at a place of the picture.
    pub(super) fn label(&mut self, class: &str, x: f64, y: f64, text: &str) {
        self.say("text", &[("class", class), ("x", &px(x)), ("y", &px(y))], text);
    }

    /// A straight line.
    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let (x1, y1, x2, y2) = (px(from.0), px(from.1), px(to.0), px(to.1));
        let places = [("class", class), ("x1", &x1), ("y1", &y1), ("x2", &x2), ("y2", &y2)];
        self.leaf("line", &places);
    }

    /// Text, as content.
    pub(super) fn text(&mut self, text: &str) {
        escape(text, &mut self.out);
    }

    /// What another one has written.
    pub(super) fn put(&mut self, other: &Self) {
        self.out.push_str(&other.out);
    }

    pub(super) fn done(self) -> String {
        self.out
    }

    fn begin(&mut self, name: &str, attributes: &[(&str, &str)]) {
        self.out.push('<');
        self.out.push_str(name);
        for (key, value) in attributes {
            self.out.push(' ');
            self.out.push_str(key);
            self.out.push_str("=\"");
            escape(value, &mut self.out);
            self.out.push('"');
        }
    }
}

/// What is a mark in XML becomes a text, and what XML cannot hold at all a replacement.
fn escape(text: &str, out: &mut String) {
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(letter),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ if letter.is_control() => out.push('\u{fffd}'),
            _ => out.push(letter),
        }
    }
}

/// A coordinate, to a tenth of a pixel.
pub(super) fn px(value: f64) -> String {
    let tenths = (value * 10.0).round() / 10.0;
    // The sum turns a negative zero into a plain one.
    format!("{}", tenths + 0.0)
}

/// The beginning of a text that may be long.
pub(super) fn shortened(text: &str, chars_max: usize) -> String {
    match text.chars().count() <= chars_max {
        true => text.to_owned(),
        false => text.chars().take(chars_max - 1).chain(['…']).collect(),
    }
}
