//! Generates names for operations without an id.

use crate::names::collapse;

/// Returns the name of an operation without an id: `GET /pets/{petId}` becomes `get_pets_by_pet_id`.
pub(super) fn operation_name(method: &str, path: &str) -> String {
    let mut name = method.to_ascii_lowercase();
    // A fragment distinguishes operations on one path, so it is part of the name.
    for segment in path.split(['/', '?', '#', '&']).filter(|segment| !segment.is_empty()) {
        let mut remaining = unqualified(segment);
        while let Some((before, after)) = remaining.split_once('{') {
            push_words(&mut name, before);
            let (placeholder, after_placeholder) = after.split_once('}').unwrap_or((after, ""));
            name.push_str("_by");
            push_words(&mut name, &snake(placeholder));
            remaining = after_placeholder;
        }
        push_words(&mut name, remaining);
    }
    name
}

/// Returns the call of an OData function without its namespace: `Get()` of `Sample.Models.Get()`.
fn unqualified(segment: &str) -> &str {
    let Some((name, _)) = segment.split_once('(').filter(|_| segment.ends_with(')')) else { return segment };
    let is_legal = |char: char| char.is_ascii_alphanumeric() || char == '_' || char == '.';
    match name.rfind('.').filter(|_| name.chars().all(is_legal)) {
        Some(dot) => &segment[dot + 1..],
        None => segment,
    }
}

/// Appends `_` and the text, with other characters than ASCII letters, digits and `-` collapsed.
fn push_words(name: &mut String, text: &str) {
    let words = collapse(text, |char| char.is_ascii_alphanumeric() || char == '-');
    if !words.is_empty() {
        name.push('_');
        name.push_str(&words);
    }
}

/// Converts to snake case: `petId` becomes `pet_id`.
fn snake(text: &str) -> String {
    let mut snake = String::with_capacity(text.len() + 4);
    let mut after_lowercase = false;
    for char in text.chars() {
        if char.is_ascii_uppercase() && after_lowercase {
            snake.push('_');
        }
        after_lowercase = char.is_ascii_lowercase() || char.is_ascii_digit();
        snake.push(char.to_ascii_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::operation_name;
    use crate::names::{NameCandidate, tool_names};

    fn tool_names_of(operations: &[(&str, &str, &str)]) -> Vec<String> {
        let titles: Vec<String> =
            operations.iter().map(|(_, method, path)| format!("{method} {path}")).collect();
        let candidates = operations.iter().zip(&titles).map(|(&(id, method, path), title)| NameCandidate {
            id,
            fallback: operation_name(method, path),
            title,
        });
        tool_names(&candidates.collect::<Vec<_>>())
    }

    #[test]
    fn missing_operation_id_is_built_from_method_and_path() {
        for (method, path, name) in [
            ("GET", "/pets/{petId}", "get_pets_by_pet_id"),
            ("POST", "/", "post"),
            ("GET", "/a/{b}.{format}", "get_a_by_b_by_format"),
            ("PUT", "/v1/größe", "put_v1_gr_e"),
            ("POST", "/x?beta=true", "post_x_beta_true"),
            ("GET", "/Me/Sample.Models.TripPin.GetInvolvedPeople()", "get_Me_GetInvolvedPeople"),
            ("GET", "/Get.Near(lat={lat})", "get_Near_lat_by_lat"),
        ] {
            assert_eq!(tool_names_of(&[("", method, path)]), [name]);
        }
        assert_eq!(tool_names_of(&[("日本", "GET", "/pets")]), ["get_pets"]);
    }
}
