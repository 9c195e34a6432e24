//! `new --agent`: a crate with an agent.

use std::fs;
use std::io;
use std::path::Path;

use toolgen::write::write_if_changed;

use crate::Outcome;
use crate::args::Checkout;
use crate::init::{check_checkout, dependency, from_crate};
use crate::output::Output;

/// The files of the crate.
const FILES: [(&str, &str); 4] = [
    ("Cargo.toml", include_str!("agent/Cargo.toml.txt")),
    ("src/main.rs", include_str!("agent/main.rs.txt")),
    ("src/tools.rs", include_str!("agent/tools.rs.txt")),
    (".gitignore", include_str!("agent/gitignore.txt")),
];

/// Writes the crate into a new directory of its name.
pub(super) fn run(name: &str, checkout: &Checkout, output: &mut Output) -> io::Result<Outcome> {
    let crate_name = Path::new(name).file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_valid = crate_name.starts_with(|first: char| first.is_ascii_alphabetic())
        && crate_name.chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_'));
    if !is_valid {
        output.error(&format!(
            "`{name}` is not the name of a crate: use letters, digits, `-` and `_`, and begin with a letter"
        ));
        return Ok(Outcome::Usage);
    }
    let dir = Path::new(name);
    if fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_some()) {
        output.error(&format!("{name} exists and is not empty; choose another name"));
        return Ok(Outcome::Problems);
    }
    let path = checkout.toolgen_path.as_deref();
    if let Some(Err(message)) = path.map(check_checkout) {
        output.error(&message);
        return Ok(Outcome::Problems);
    }
    let path = path.map(|path| from_crate(dir, path));
    let location = dependency("runtime", path.as_deref());
    for (file, text) in FILES {
        let text = text.replace("NAME", crate_name).replace("LOCATION", &location);
        if let Err(error) = write_if_changed(&dir.join(file), &text) {
            output.error(&error.to_string());
            return Ok(Outcome::Problems);
        }
        output.line(&format!("wrote {}", dir.join(file).display()))?;
    }
    if path.is_none() {
        output.note("no registry has toolgen yet: `--toolgen-path DIR` takes it from a checkout");
    }
    output.line(&format!(
        "\n    cd {name}\n    cargo run                      # a scripted model, without a key\n    \
         ANTHROPIC_API_KEY=… cargo run -- \"Add six eggs.\"\n    cargo test"
    ))?;
    Ok(Outcome::Fine)
}
