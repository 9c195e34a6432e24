//! Finds the parts of a JSON text.

use super::super::locate::Wanted;
use super::lex::Lexer;

/// Records the byte offset of each wanted place: the key of a member, or the value of an item.
///
/// The text was read before, so it is JSON of bounded depth; if it is not, the places found until then are kept.
pub(in crate::source) fn places(text: &str, wanted: &mut Wanted) {
    let mut lexer = Lexer::new(text);
    lexer.peek();
    let start = lexer.at;
    visit(&mut lexer, start, Some(wanted));
}

/// Records that a wanted place begins at `start`, and skips the value that follows.
fn visit(lexer: &mut Lexer<'_>, start: usize, mut wanted: Option<&mut Wanted>) {
    if let Some(wanted) = wanted.as_deref_mut() {
        wanted.found(start);
    }
    let wanted = wanted.filter(|wanted| wanted.has_parts());
    match lexer.peek() {
        Some(b'{') => object(lexer, wanted),
        Some(b'[') => list(lexer, wanted),
        Some(b'"') => lexer.skip_string(),
        Some(_) => lexer.skip_word(),
        None => {}
    }
}

fn object(lexer: &mut Lexer<'_>, mut wanted: Option<&mut Wanted>) {
    lexer.at += 1;
    while lexer.peek() == Some(b'"') {
        let start = lexer.at;
        let inner = match wanted.as_deref_mut() {
            Some(wanted) => lexer.string().ok().and_then(|key| wanted.child_mut(&key)),
            None => {
                lexer.skip_string();
                None
            }
        };
        lexer.take(b':');
        visit(lexer, start, inner);
        lexer.take(b',');
    }
    lexer.take(b'}');
}

fn list(lexer: &mut Lexer<'_>, mut wanted: Option<&mut Wanted>) {
    lexer.at += 1;
    let mut index = 0;
    while let Some(byte) = lexer.peek()
        && byte != b']'
    {
        let start = lexer.at;
        let inner = wanted.as_deref_mut().and_then(|wanted| wanted.child_mut(&index.to_string()));
        visit(lexer, start, inner);
        if !lexer.take(b',') && lexer.at == start {
            return;
        }
        index += 1;
    }
    lexer.take(b']');
}
