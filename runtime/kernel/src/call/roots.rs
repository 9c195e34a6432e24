//! Directories to which paths are restricted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolgen_core::internal::below::{REFUSED, parent_fault, root_fault};

use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::schema::shape::decode::{ArgumentProblem, ArgumentProblemKind};

/// Why a path with a link is rejected.
pub(crate) const LINK: &str =
    "it contains a link out of the directory; use the real path below the directory";

/// Why an absolute path is rejected if paths below the directory are allowed.
pub(crate) const OUTSIDE: &str =
    "it is absolute, and not below the directory that the tool works in; use a path in that directory";

/// The directories of a program, by the names that tools use: `#[arg(path(within = "workdir"))]`.
///
/// Set by [`Turn::with_root`](crate::Turn::with_root).
#[derive(Clone, Debug, Default)]
pub struct Roots(Arc<BTreeMap<String, PathBuf>>);

impl Roots {
    pub(crate) fn insert(&mut self, name: String, directory: PathBuf) {
        Arc::make_mut(&mut self.0).insert(name, directory);
    }

    /// Merges these directories with those of `base`. These take precedence if names are equal.
    pub(crate) fn over(&self, base: &Roots) -> Roots {
        if self.0.is_empty() {
            return base.clone();
        }
        let mut merged = base.clone();
        Arc::make_mut(&mut merged.0).extend(self.0.iter().map(|(name, path)| (name.clone(), path.clone())));
        merged
    }
}

type Resolve<'a> = dyn Fn(&Path) -> Result<PathBuf, ToolError> + 'a;

/// An argument that is a path or contains paths.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`path` applies only to paths, and `{Self}` is not a path",
    note = "take a `PathBuf`, a `&Path`, a `String` or a `&str`"
)]
pub trait PathArgument: Sized {
    /// Returns the argument with each path replaced by the result of `resolve`.
    ///
    /// # Errors
    ///
    /// Returns the first error of `resolve`.
    fn resolved(self, resolve: &Resolve<'_>) -> Result<Self, ToolError>;
}

impl PathArgument for PathBuf {
    fn resolved(self, resolve: &Resolve<'_>) -> Result<Self, ToolError> {
        resolve(&self)
    }
}

impl PathArgument for String {
    fn resolved(self, resolve: &Resolve<'_>) -> Result<Self, ToolError> {
        let path = resolve(Path::new(&self))?.into_os_string();
        path.into_string().map_err(|_| ToolError::failed("the directory has a name that is not text"))
    }
}

impl<T: PathArgument> PathArgument for Option<T> {
    fn resolved(self, resolve: &Resolve<'_>) -> Result<Self, ToolError> {
        self.map(|path| path.resolved(resolve)).transpose()
    }
}

impl<T: PathArgument> PathArgument for Vec<T> {
    fn resolved(self, resolve: &Resolve<'_>) -> Result<Self, ToolError> {
        self.into_iter().map(|path| path.resolved(resolve)).collect()
    }
}

/// Confines a path argument: it must not contain `..`, and must stay inside the directory if one is named, with links
/// resolved. With a directory, the returned path starts with that directory.
#[doc(hidden)]
pub fn inside<T: PathArgument>(
    paths: T,
    argument: &str,
    root: Option<&str>,
    ctx: &ToolContext,
) -> Result<T, ToolError> {
    let root = match root {
        Some(name) => Some(root_of(name, ctx)?),
        None => None,
    };
    paths.resolved(&|path| resolve(path, root.as_deref()).map_err(|error| traversal(argument, error)))
}

/// Returns the directory of this name.
#[doc(hidden)]
pub fn root_of(name: &str, ctx: &ToolContext) -> Result<PathBuf, ToolError> {
    let root = ctx.turn().roots.0.get(name).cloned();
    root.ok_or_else(|| {
        ToolError::failed_with("SERVICE_UNAVAILABLE", format!("no {name} is set for this call"))
            .with_operator_detail(format!("give the turn a directory: `Turn::with_root({name:?}, …)`"))
    })
}

/// Returns the error for a path that leads out of its directory, with the reason.
#[doc(hidden)]
pub fn traversal(argument: &str, reason: &str) -> ToolError {
    let problem = ArgumentProblem {
        pointer: String::new(),
        kind: ArgumentProblemKind::Value,
        message: format!("{REFUSED}: {reason}"),
    };
    ToolError::from_problems(vec![problem.within(argument)])
}

/// Returns a path below a directory, after checking only its names.
///
/// # Errors
///
/// Returns why the path is not below the directory, and what to write instead.
#[doc(hidden)]
pub fn resolve_below(path: &Path, root: Option<&Path>) -> Result<PathBuf, &'static str> {
    let text = path.to_string_lossy();
    if let Some(reason) = parent_fault(&text) {
        return Err(reason);
    }
    match root.filter(|root| path.is_absolute() && !root.as_os_str().is_empty()) {
        // An absolute path must be below the directory.
        Some(root) if path.starts_with(root) => Ok(path.to_owned()),
        Some(_) => Err(OUTSIDE),
        None => match root_fault(&text) {
            Some(error) => Err(error),
            None => Ok(root.unwrap_or(Path::new("")).join(path)),
        },
    }
}

fn resolve(path: &Path, root: Option<&Path>) -> Result<PathBuf, &'static str> {
    let full = resolve_below(path, root)?;
    let Some(root) = root else { return Ok(full) };
    // Existing parts may contain links that lead outside; parts that do not exist yet cannot.
    let real_root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let existing = full.ancestors().find(|ancestor| ancestor.symlink_metadata().is_ok());
    let is_inside = match existing {
        Some(existing) if !root.starts_with(existing) => {
            // A dangling link is treated as a link that leads outside.
            existing.canonicalize().is_ok_and(|real| real.starts_with(&real_root))
        }
        _ => true,
    };
    if is_inside { Ok(full) } else { Err(LINK) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside_the_root() {
        let root = Path::new("/no/such/base");
        let resolve_text = |path: &str, root| resolve(Path::new(path), root);
        for (path, expected) in [
            ("a/b.txt", Ok("/no/such/base/a/b.txt")),
            ("/no/such/base/c", Ok("/no/such/base/c")),
            ("..a/~b", Ok("/no/such/base/..a/~b")),
            ("../x", Err("contains `..`")),
            ("a/../../x", Err("contains `..`")),
            ("/no/such/base/../c", Err("contains `..`")),
            ("/etc/passwd", Err("is absolute, and not below the directory")),
            ("/no/such/base2", Err("is absolute, and not below the directory")),
            ("~/x", Err("home directory")),
            ("C:\\x", Err("a drive")),
            ("\\\\host\\x", Err("a host name")),
            ("a\0b", Err("a NUL character")),
        ] {
            match (resolve_text(path, Some(root)), expected) {
                (Ok(full), Ok(expected)) => assert_eq!(full, Path::new(expected), "{path}"),
                (Err(error), Err(part)) => assert!(error.contains(part), "{path}: {error}"),
                (other, _) => panic!("{path}: {other:?}"),
            }
        }
        assert!(resolve_text("/etc", None).unwrap_err().contains("without the `/`"));
        assert_eq!(resolve_text("x", None).as_deref(), Ok(Path::new("x")));
    }

    #[cfg(unix)]
    #[test]
    fn symlinks_do_not_escape_the_root() {
        let root = std::env::temp_dir().join(format!("toolgen-roots-{}", std::process::id()));
        std::fs::create_dir_all(&root).unwrap();
        std::os::unix::fs::symlink("/", root.join("out")).unwrap();
        assert_eq!(resolve(Path::new("out"), Some(&root)), Err(LINK));
        assert_eq!(resolve(Path::new("out/etc"), Some(&root)), Err(LINK));
        assert!(resolve(Path::new("new/file"), Some(&root)).is_ok());
        std::fs::remove_dir_all(&root).unwrap();
    }
}
