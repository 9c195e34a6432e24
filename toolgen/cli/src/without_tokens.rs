//! `tokens` in a program that is built without the feature `tokens`.

use std::io;

use super::Outcome;
use super::args::Tokens;
use super::output::Output;

pub(super) fn run(_: &Tokens, output: &mut Output) -> io::Result<Outcome> {
    output.error(&super::lacks_feature("tokens", "tokenizer"));
    Ok(Outcome::Problems)
}
