//! Where the parts of a JSON text stand.

use super::super::locate::Wanted;
use super::lex::Lexer;

/// Notes the byte offset of each wanted place: of the key of a member, and of the value of an item.
///
/// The text is one that was read before, so it is JSON of bounded depth; should it not be, what was found until then
/// stays found.
pub(in crate::source) fn places(text: &str, wanted: &mut Wanted) {
    let mut lexer = Lexer::new(text);
    lexer.peek();
    let start = lexer.at;
    visit(&mut lexer, start, Some(wanted));
}

/// Notes that a wanted place begins at `start`, and steps over the value that follows.
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
