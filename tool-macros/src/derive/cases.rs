//! serde's `rename_all`.

/// A naming convention.
#[derive(Clone, Copy)]
pub(crate) enum Case {
    Lower,
    Upper,
    Pascal,
    Camel,
    Snake,
    ScreamingSnake,
    Kebab,
    ScreamingKebab,
}

/// All conventions, with serde's names.
pub(crate) const CASES: [(&str, Case); 8] = [
    ("lowercase", Case::Lower),
    ("UPPERCASE", Case::Upper),
    ("PascalCase", Case::Pascal),
    ("camelCase", Case::Camel),
    ("snake_case", Case::Snake),
    ("SCREAMING_SNAKE_CASE", Case::ScreamingSnake),
    ("kebab-case", Case::Kebab),
    ("SCREAMING-KEBAB-CASE", Case::ScreamingKebab),
];

impl Case {
    /// Renames a `PascalCase` name as serde does.
    pub(crate) fn rename_variant(self, name: &str) -> String {
        let mut snake = String::new();
        for (index, c) in name.char_indices() {
            if index > 0 && c.is_uppercase() {
                snake.push('_');
            }
            snake.extend(c.to_lowercase());
        }
        match self {
            Case::Lower => name.to_ascii_lowercase(),
            Case::Upper => name.to_ascii_uppercase(),
            Case::Pascal => name.to_owned(),
            Case::Camel => map_first(name, char::to_ascii_lowercase),
            Case::Snake => snake,
            Case::ScreamingSnake => snake.to_ascii_uppercase(),
            Case::Kebab => snake.replace('_', "-"),
            Case::ScreamingKebab => snake.to_ascii_uppercase().replace('_', "-"),
        }
    }

    /// Renames a `snake_case` name as serde does.
    pub(crate) fn rename_field(self, name: &str) -> String {
        let pascal =
            || name.split('_').map(|word| map_first(word, char::to_ascii_uppercase)).collect::<String>();
        match self {
            Case::Lower | Case::Snake => name.to_owned(),
            Case::Upper | Case::ScreamingSnake => name.to_ascii_uppercase(),
            Case::Pascal => pascal(),
            Case::Camel => map_first(&pascal(), char::to_ascii_lowercase),
            Case::Kebab => name.replace('_', "-"),
            Case::ScreamingKebab => name.to_ascii_uppercase().replace('_', "-"),
        }
    }
}

fn map_first(word: &str, change: impl Fn(&char) -> char) -> String {
    let mut chars = word.chars();
    chars.next().map(|c| change(&c).to_string() + chars.as_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rename_rules_match_serde() {
        let variants: Vec<String> = CASES.iter().map(|(_, case)| case.rename_variant("VeryTasty")).collect();
        assert_eq!(
            variants,
            [
                "verytasty",
                "VERYTASTY",
                "VeryTasty",
                "veryTasty",
                "very_tasty",
                "VERY_TASTY",
                "very-tasty",
                "VERY-TASTY"
            ]
        );
        let fields: Vec<String> = CASES.iter().map(|(_, case)| case.rename_field("very_tasty")).collect();
        assert_eq!(
            fields,
            [
                "very_tasty",
                "VERY_TASTY",
                "VeryTasty",
                "veryTasty",
                "very_tasty",
                "VERY_TASTY",
                "very-tasty",
                "VERY-TASTY"
            ]
        );
    }
}
