//! Macros for tests: `page!` compiles a code block of the guide, and another macro prints the tests that a run skipped.

mod left_out;

use proc_macro::{TokenStream, TokenTree};

use toolgen_test_support::pages::{blocks_of, root};

/// Expands `page!("docs/page.md", "a text in it")` to the Rust block of this page that contains the text: as items, or
/// as statements that share the variables of the surrounding code. The path is relative to the root of the repository.
///
/// If the block ends in an expression that is the value of the surrounding code, write `page! { … }`. The arguments
/// must not contain escapes, and only one block may contain the text. A changed page is recompiled.
#[proc_macro]
pub fn page(input: TokenStream) -> TokenStream {
    let words = input.into_iter().filter(|token| !matches!(token, TokenTree::Punct(_)));
    let words: Vec<_> = words.map(|token| token.to_string()).collect();
    let words: Option<Vec<_>> = words.iter().map(|word| literal(word)).collect();
    let code = match words.as_deref() {
        Some([page, text]) => block(page, text),
        _ => Err("name a page and a text of one of its blocks, without escapes".to_owned()),
    };
    let tokens = code.and_then(|code| code.parse().map_err(|error| format!("{error}")));
    tokens.unwrap_or_else(|reason: String| {
        format!("compile_error! {{ {reason:?} }}").parse().unwrap_or_default()
    })
}

/// Prints the tests that a run of all tests skipped, during expansion: see `tests/left-out`.
#[proc_macro]
#[allow(clippy::print_stderr, reason = "this is what it is for")]
pub fn left_out(_: TokenStream) -> TokenStream {
    let words: Vec<String> = std::env::args().collect();
    match left_out::told(&words) {
        Ok(message) => eprint!("{message}"),
        Err(error) => return format!("compile_error! {{ {error:?} }}").parse().unwrap_or_default(),
    }
    TokenStream::new()
}

/// Returns the content of a string literal.
fn literal(token: &str) -> Option<&str> {
    token.strip_prefix('"')?.strip_suffix('"').filter(|text| !text.contains('\\'))
}

/// Returns the only Rust block of a page that contains a text, after code that makes cargo track the page.
fn block(page: &str, text: &str) -> Result<String, String> {
    let path = root().join(page);
    if !path.is_file() {
        return Err(format!("there is no page {page}"));
    }
    let blocks = blocks_of(&path).into_iter().filter(|block| block.kind == "rust");
    let mut found = blocks.filter(|block| block.text.contains(text));
    match (found.next(), found.next()) {
        (Some(block), None) => Ok(format!("const _: &[u8] = include_bytes!({path:?});\n{}", block.text)),
        (None, _) => Err(format!("{page} has no block of Rust with `{text}`")),
        (Some(one), Some(other)) => {
            Err(format!("two blocks have `{text}`: {} and {}; take a longer one", one.place(), other.place()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{block, literal};

    #[test]
    fn string_identifies_one_code_block() {
        let code = block("docs/api.md", "let pets = engine.call(").unwrap();
        let (rebuilt, code) = code.split_once('\n').unwrap();
        assert!(rebuilt.starts_with("const _") && rebuilt.ends_with("docs/api.md\");"), "{rebuilt}");
        assert!(code.starts_with("let pets = ") && !code.contains("```"), "{code}");
    }

    #[test]
    fn unmatched_block_error_gives_the_reason() {
        for (page, text, reason) in [
            ("docs/nowhere.md", "let", "there is no page docs/nowhere.md"),
            ("README.md", "nothing like it", "README.md has no block of Rust with `nothing like it`"),
            ("README.md", "let", "two blocks have `let`: README.md:"),
        ] {
            let message = block(page, text).unwrap_err();
            assert!(message.starts_with(reason), "{message}");
        }
    }

    #[test]
    fn string_literals_with_escapes_are_not_accepted() {
        assert_eq!(literal(r#""a b""#), Some("a b"));
        assert_eq!([literal(r#""a\n""#), literal("name"), literal("1")], [None; 3]);
    }
}
