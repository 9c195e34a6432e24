//! Directories that confine paths.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::call::context::ToolContext;
use crate::call::error::ToolError;
use crate::schema::shape::decode::{ArgumentProblem, ArgumentProblemKind};

/// The directories of a program, under the names that tools use: `#[arg(path(within = "workdir"))]`.
///
/// Set by [`ToolContext::with_root`].
#[derive(Clone, Debug, Default)]
pub struct Roots(Arc<BTreeMap<String, PathBuf>>);

impl Roots {
    pub(crate) fn insert(&mut self, name: String, directory: PathBuf) {
        Arc::make_mut(&mut self.0).insert(name, directory);
    }

    /// Merges these directories with those of `base`; on equal names these win.
    pub(crate) fn over(&self, base: &Roots) -> Roots {
        if self.0.is_empty() {
            return base.clone();
        }
        let mut all = base.clone();
        Arc::make_mut(&mut all.0).extend(self.0.iter().map(|(name, path)| (name.clone(), path.clone())));
        all
    }
}

impl ToolContext {
    /// Adds a named directory to which paths can be restricted. Calls that a tool makes keep those that the provider
    /// derived.
    #[must_use]
    pub fn with_root(self, name: impl Into<String>, directory: impl Into<PathBuf>) -> ToolContext {
        let (name, directory) = (name.into(), directory.into());
        self.with(|around| around.roots.insert(name, directory))
    }
}

type Resolve<'a> = dyn Fn(&Path) -> Result<PathBuf, ToolError> + 'a;

/// An argument that is a path or contains paths.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`path` is for paths, and `{Self}` is not one",
    note = "take a `PathBuf`, a `&Path`, a `String` or a `&str`"
)]
pub trait PathArgument: Sized {
    /// Returns the argument with each path replaced by the result of `resolve`.
    ///
    /// # Errors
    ///
    /// The first error of `resolve`.
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

/// Confines a path argument: it has no `..`, and stays inside the directory if one is named, with links resolved. With
/// a directory, the returned path starts with it.
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
    paths.resolved(&|path| resolve(path, root.as_deref()).ok_or_else(|| traversal(argument)))
}

/// Returns the directory of this name.
pub(crate) fn root_of(name: &str, ctx: &ToolContext) -> Result<PathBuf, ToolError> {
    let root = ctx.turn().roots.0.get(name).cloned();
    root.ok_or_else(|| {
        ToolError::failed_with("SERVICE_UNAVAILABLE", format!("no {name} is set for this call"))
            .with_operator_detail(format!(
                "give the context a directory: `ToolContext::with_root({name:?}, …)`"
            ))
    })
}

/// Returns the error of a path that leads out of its directory.
pub(crate) fn traversal(argument: &str) -> ToolError {
    let problem = ArgumentProblem {
        pointer: String::new(),
        kind: ArgumentProblemKind::Value,
        message: "path traversal not allowed".to_owned(),
    };
    ToolError::from_problems(vec![problem.within(argument)])
}

fn resolve(path: &Path, root: Option<&Path>) -> Option<PathBuf> {
    let climbs = path.components().any(|part| matches!(part, Component::ParentDir | Component::Prefix(_)));
    if climbs || path.as_os_str().as_encoded_bytes().contains(&0) {
        return None;
    }
    let Some(root) = root else { return (!path.is_absolute()).then(|| path.to_owned()) };
    // An absolute path replaces the directory and must then be in it.
    let full = root.join(path);
    if !full.starts_with(root) {
        return None;
    }
    // Existing parts may hold links that lead out; parts that do not exist yet cannot.
    let real_root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let existing = full.ancestors().find(|ancestor| ancestor.symlink_metadata().is_ok());
    let stays = match existing {
        Some(existing) if !root.starts_with(existing) => {
            // A broken link counts as one that leads out.
            existing.canonicalize().is_ok_and(|real| real.starts_with(&real_root))
        }
        _ => true,
    };
    stays.then_some(full)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_inside() {
        let root = Path::new("/no/such/base");
        let cases = [
            ("a/b.txt", Some("/no/such/base/a/b.txt")),
            ("/no/such/base/c", Some("/no/such/base/c")),
            ("../x", None),
            ("a/../../x", None),
            ("/etc/passwd", None),
            ("/no/such/base2", None),
            ("a\0b", None),
        ];
        for (path, expected) in cases {
            assert_eq!(resolve(Path::new(path), Some(root)).as_deref(), expected.map(Path::new), "{path}");
        }
        assert_eq!(resolve(Path::new("/etc"), None), None);
        assert_eq!(resolve(Path::new("x"), None).as_deref(), Some(Path::new("x")));
    }

    #[cfg(unix)]
    #[test]
    fn links_do_not_lead_out() {
        let root = std::env::temp_dir().join(format!("toolgen-roots-{}", std::process::id()));
        std::fs::create_dir_all(&root).unwrap();
        std::os::unix::fs::symlink("/", root.join("out")).unwrap();
        assert_eq!(resolve(Path::new("out"), Some(&root)), None);
        assert_eq!(resolve(Path::new("out/etc"), Some(&root)), None);
        assert!(resolve(Path::new("new/file"), Some(&root)).is_some());
        std::fs::remove_dir_all(&root).unwrap();
    }
}
