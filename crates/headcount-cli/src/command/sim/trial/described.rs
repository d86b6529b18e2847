//! The form in which loads are described: `KIND:VALUE,VALUE,NAME=VALUE`.

/// The parts of a description.
#[derive(Debug)]
pub(super) struct Described<'a> {
    pub(super) kind: &'a str,
    /// Values without a name, in their order.
    pub(super) plain: Vec<&'a str>,
    /// Values with a name, in the order of their names.
    pub(super) named: Vec<(&'a str, &'a str)>,
}

impl<'a> Described<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let (kind, values) = text.split_once(':').unwrap_or((text, ""));
        let mut described = Self { kind, plain: Vec::new(), named: Vec::new() };
        for value in values.split(',').filter(|value| !value.is_empty()) {
            match value.split_once('=') {
                Some(named) => described.named.push(named),
                None => described.plain.push(value),
            }
        }
        described.named.sort_unstable();
        described
    }
}
