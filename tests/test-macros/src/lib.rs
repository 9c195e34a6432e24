//! Macros of the tests: what a page for readers shows is compiled from the page, and a run says what it left out.

mod left_out;

use proc_macro::{TokenStream, TokenTree};

use toolgen_test_support::pages::{blocks_of, root};

/// `page!("docs/page.md", "a text in it")` is the block of Rust in this page, named from the root of the repository, that
/// has the text: as items, or as statements, whose variables are those of the code around it.
///
/// Where the block ends in an expression, which is the value of the code around it, write `page! { … }`. The texts have
/// no escapes, and one block alone has the second one. A changed page is compiled again.
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

/// Prints which tests a run of all tests has left out, when it is expanded: see `tests/left-out`.
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

/// What is between the quotes.
fn literal(token: &str) -> Option<&str> {
    token.strip_prefix('"')?.strip_suffix('"').filter(|text| !text.contains('\\'))
}

/// The only block of Rust in a page that has this text, after what makes cargo look at the page again.
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
        let code = block("README.md", "let pets = engine.call(").unwrap();
        let (rebuilt, code) = code.split_once('\n').unwrap();
        assert!(rebuilt.starts_with("const _") && rebuilt.ends_with("README.md\");"), "{rebuilt}");
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
