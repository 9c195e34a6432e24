//! Detects the npm or PyPI package that the command of an MCP server starts.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use toolgen_runtime::spec::mcp::Package;

/// Returns the package that `npx`, `uvx` and similar commands start. `None` for any other command.
pub(super) fn detect(argv: &[&str]) -> Option<Package> {
    let [program, arguments @ ..] = argv else { return None };
    let program = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let program = program.trim_end_matches(".cmd").trim_end_matches(".exe");
    let (is_npm, arguments) = match (program, arguments) {
        ("npx" | "bunx" | "pnpx", arguments)
        | ("npm", ["exec" | "x", arguments @ ..])
        | ("pnpm" | "yarn", ["dlx", arguments @ ..]) => (true, arguments),
        ("uvx" | "pipx", ["run", arguments @ ..])
        | ("uv", ["tool", "run", arguments @ ..])
        | ("uvx", arguments) => (false, arguments),
        _ => return None,
    };
    let argument =
        if is_npm { package_argument(arguments, &NPM) } else { package_argument(arguments, &PYPI) }?;
    let (name, version) = if is_npm { npm_name(argument) } else { pypi_name(argument) };
    let registry = if is_npm { "npm" } else { "pypi" };
    let integrity = if is_npm && !version.is_empty() { npm_integrity(name, version) } else { None };
    Some(Package {
        registry: registry.to_owned(),
        name: name.to_owned(),
        version: version.to_owned(),
        integrity: integrity.unwrap_or_default(),
    })
}

/// The options of a package runner.
struct Options {
    /// Options whose value is the package.
    package: &'static [&'static str],
    /// Options with another value.
    other: &'static [&'static str],
}

const NPM: Options = Options {
    package: &["-p", "--package"],
    other: &["--cache", "--prefix", "--registry", "--userconfig", "--workspace", "-w"],
};

const PYPI: Options = Options {
    package: &["--from", "--spec"],
    other: &[
        "--cache-dir",
        "--config-file",
        "--constraints",
        "--default-index",
        "--directory",
        "--extra-index-url",
        "--find-links",
        "--index",
        "--index-url",
        "--pip-args",
        "--project",
        "--python",
        "--with",
        "--with-editable",
        "--with-requirements",
        "-c",
        "-f",
        "-i",
        "-p",
        "-w",
    ],
};

/// Returns the package argument: the value of a package option, or the first argument that is not an option.
fn package_argument<'w>(words: &[&'w str], options: &Options) -> Option<&'w str> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if options.package.contains(word) {
            return words.next().copied();
        }
        if let Some((option, value)) = word.split_once('=').filter(|(option, _)| option.starts_with('-')) {
            if options.package.contains(&option) {
                return Some(value);
            }
        } else if options.other.contains(word) {
            words.next();
        } else if !word.starts_with('-') {
            return Some(word);
        }
    }
    None
}

/// Splits `@scope/name@1.2.3`. Only an exact version is returned: a tag or a range may select another one later.
fn npm_name(text: &str) -> (&str, &str) {
    let index = text.char_indices().skip(1).find(|(_, char)| *char == '@').map(|(index, _)| index);
    match index.and_then(|index| Some((text.get(..index)?, text.get(index + 1..)?))) {
        Some((name, version)) => (name, if is_exact(version) { version } else { "" }),
        None => (text, ""),
    }
}

/// Splits `name[extra]==1.2.3`, or `name@1.2.3` as `uvx` accepts it.
fn pypi_name(text: &str) -> (&str, &str) {
    let end = text.find(['=', '<', '>', '!', '~', '@', ' ']).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let name = name.split('[').next().unwrap_or(name);
    let version = rest.strip_prefix("==").or_else(|| rest.strip_prefix('@')).unwrap_or_default().trim();
    (name, if is_exact(version) { version } else { "" })
}

fn is_exact(version: &str) -> bool {
    version.split('.').count() >= 2
        && version.starts_with(|first: char| first.is_ascii_digit())
        && version.chars().all(|char| char.is_ascii_alphanumeric() || ".-+!".contains(char))
        && !version.split('.').any(|part| part == "x" || part.is_empty())
}

/// Returns the integrity hash of a package that `npx` has installed, from npm's lock file.
fn npm_integrity(name: &str, version: &str) -> Option<String> {
    let home = || std::env::home_dir().map(|home| home.join(".npm"));
    let cache = std::env::var_os("npm_config_cache").map(PathBuf::from).or_else(home)?;
    let installed = fs::read_dir(cache.join("_npx")).ok()?;
    installed.flatten().find_map(|dir| {
        let text = fs::read_to_string(dir.path().join("node_modules/.package-lock.json")).ok()?;
        let lock: Value = serde_json::from_str(&text).ok()?;
        let package = lock.get("packages")?.get(format!("node_modules/{name}"))?;
        let is_same_version = package.get("version").and_then(Value::as_str) == Some(version);
        package.get("integrity").and_then(Value::as_str).filter(|_| is_same_version).map(str::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_of_a_command_is_found() {
        let detected = |line: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            detect(&words).map(|package| format!("{} {} {}", package.registry, package.name, package.version))
        };
        for (line, package) in [
            ("npx -y @example/shop-server@1.2.3 --port 1", Some("npm @example/shop-server 1.2.3")),
            ("/usr/bin/npx shop-server", Some("npm shop-server ")),
            ("npx -y shop-server@latest", Some("npm shop-server ")),
            ("npx shop-server@^1.2.3", Some("npm shop-server ")),
            ("npx shop-server@1.x", Some("npm shop-server ")),
            ("npx --package=shop@2.0.1-beta.1 shop-server", Some("npm shop 2.0.1-beta.1")),
            ("npx -p shop@2.0.1 shop-server", Some("npm shop 2.0.1")),
            ("npm exec shop-server@1.0.0", Some("npm shop-server 1.0.0")),
            ("pnpm dlx shop-server@1.0.0", Some("npm shop-server 1.0.0")),
            ("uvx shop-server==2025.1.2", Some("pypi shop-server 2025.1.2")),
            ("uvx shop-server@2025.1.2", Some("pypi shop-server 2025.1.2")),
            ("uvx --from shop[http]==1.2 shop-server", Some("pypi shop 1.2")),
            ("uvx shop-server>=1.2", Some("pypi shop-server ")),
            ("uvx --python 3.12 --with httpx==0.28.1 shop-server==1.2", Some("pypi shop-server 1.2")),
            ("npx -y --registry https://npm.example shop-server@1.0.0", Some("npm shop-server 1.0.0")),
            ("uv tool run shop-server", Some("pypi shop-server ")),
            ("pipx run --spec shop==1.2.3 shop", Some("pypi shop 1.2.3")),
            ("shop-server --stdio", None),
            ("npm start", None),
            ("npx", None),
        ] {
            assert_eq!(detected(line).as_deref(), package, "{line}");
        }
    }
}
