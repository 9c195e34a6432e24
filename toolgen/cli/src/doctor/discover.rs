//! Finds the documents, overlays, locks and crates in a directory, and checks the documents.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use toolgen::contract::{load, surface};
use toolgen::problem::codes;
use toolgen::{Document, Options, Problems, Program, Severity, compile};

use super::super::check::plural;
use super::super::output::Output;
use super::Finding;
use super::package::Package;

/// Maximum depth of subdirectories that are searched for documents.
const MAX_DEPTH: usize = 3;
/// Maximum number of files to examine.
const MAX_FILES: usize = 2_000;
/// Maximum number of documents to compile.
const MAX_DOCUMENTS: usize = 30;
/// Directories of third-party files.
const THIRD_PARTY_DIRS: [&str; 3] = ["target", "node_modules", "vendor"];
/// Keys that documents contain, and other JSON files rarely do.
const MARKS: [&str; 4] = ["openapi", "swagger", "toolgen", "overlay"];

/// The files of a project.
#[derive(Default)]
pub(super) struct Files {
    /// Files that may be documents.
    documents: Vec<PathBuf>,
    pub(super) packages: Vec<Package>,
}

/// Finds the files of a project, sorted by name.
pub(super) fn files(dir: &Path) -> Files {
    let (mut files, mut remaining) = (Files::default(), MAX_FILES);
    collect(dir, 0, &mut remaining, &mut files);
    files
}

/// Compiles the documents of a project. Returns the findings, and the compiled documents by path.
pub(super) fn documents(files: &Files, output: &mut Output) -> (Vec<Finding>, Vec<(PathBuf, Program)>) {
    let (mut findings, mut programs, mut skipped) = (Vec::new(), Vec::new(), 0);
    for path in files.documents.iter().cloned() {
        if findings.len() == MAX_DOCUMENTS {
            skipped += 1;
            continue;
        }
        output.progress(&format!("compiling {}", path.display()));
        let mut problems = Problems::new();
        let document = Document::load(&path, &mut problems);
        if let Some(overlay) =
            document.as_ref().filter(|document| document.root.get("overlay").is_some_and(Value::is_string))
        {
            findings.push(overlay_finding(&path, overlay));
            continue;
        }
        let program = document.and_then(|document| compile(&document, &Options::default(), &mut problems));
        if problems.as_slice().iter().any(|problem| problem.code == codes::UNKNOWN_KIND) {
            continue;
        }
        findings.push(document_finding(&path, program.as_ref(), &problems));
        programs.extend(program.map(|program| (path, program)));
    }
    if skipped > 0 {
        findings
            .push(Finding::note(format!("{skipped} more files were not examined"), "pass a subdirectory"));
    }
    if findings.is_empty() && files.packages.is_empty() {
        findings.push(Finding::problem(
            "nothing here: no OpenAPI document, no manifest, no lock, and no crate that uses toolgen",
            "`cargo toolgen init` prepares a crate; `cargo toolgen list URL` shows the tools of an API",
        ));
    }
    (findings, programs)
}

fn collect(dir: &Path, depth: usize, remaining: &mut usize, files: &mut Files) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    let mut entries: Vec<_> = entries.filter_map(Result::ok).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let Some(left) = remaining.checked_sub(1) else { return };
        *remaining = left;
        let name = entry.file_name().to_string_lossy().into_owned();
        // Links may form cycles.
        let Ok(file_type) = entry.file_type() else { continue };
        // Show `api.yaml` instead of `./api.yaml`.
        let path = if dir == Path::new(".") { PathBuf::from(&name) } else { entry.path() };
        if file_type.is_dir()
            && depth < MAX_DEPTH
            && !name.starts_with('.')
            && !THIRD_PARTY_DIRS.contains(&name.as_str())
        {
            collect(&path, depth + 1, remaining, files);
        } else if file_type.is_file() && name == "Cargo.toml" {
            files.packages.extend(Package::read(&path));
        } else if file_type.is_file() && is_document(&path) {
            files.documents.push(path);
        }
    }
}

fn is_document(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if !["json", "yaml", "yml", "lock"].contains(&extension) {
        return false;
    }
    let is_small = fs::metadata(path).is_ok_and(|data| data.len() <= toolgen::source::MAX_BYTES as u64);
    let Some(text) = is_small.then(|| fs::read(path).ok()).flatten() else { return false };
    let text = String::from_utf8_lossy(&text);
    // Marks are keys: in JSON of any object, in YAML at the start of a line.
    MARKS
        .iter()
        .any(|mark| text.contains(&format!("\"{mark}")) || text.lines().any(|line| line.starts_with(mark)))
}

fn document_finding(path: &Path, program: Option<&Program>, problems: &Problems) -> Finding {
    let visible = path.display();
    let check = format!("`cargo toolgen check {visible}` has the details");
    let Some(program) = program else {
        return Finding::problem(format!("{visible} cannot be compiled"), check);
    };
    let tools = plural(program.all_tools().len(), "tool");
    let summary = format!("{visible}: {} {}, {tools}", program.kind, program.version);
    match (problems.count(Severity::Error), problems.count(Severity::Warning)) {
        (0, _) if program.kind == "lock" => lock_finding(path, summary),
        (0, 0) => Finding::fine(summary),
        (0, warnings) => Finding::note(format!("{summary}, {}", plural(warnings, "warning")), check),
        (errors, _) => Finding::problem(format!("{summary}, {}", plural(errors, "error")), check),
    }
}

/// Applies an overlay to the document that it extends, if that is a file.
fn overlay_finding(path: &Path, overlay: &Document) -> Finding {
    let text = |key: &str| overlay.root.get(key).and_then(Value::as_str).unwrap_or_default();
    let summary = format!("{}: overlay {}", path.display(), text("overlay"));
    let extended = path.with_file_name(text("extends"));
    if text("extends").is_empty() || text("extends").contains("://") {
        let help = format!("`cargo toolgen check DOCUMENT --overlay {}` applies it", path.display());
        return Finding::note(format!("{summary}, not applied: it extends no file"), help);
    }
    let (summary, file) = (format!("{summary}, of {}", extended.display()), extended.display());
    let mut problems = Problems::new();
    let Some(document) = Document::load(&extended, &mut problems) else {
        let help = "correct `extends`: a path relative to the overlay, or a URL";
        return Finding::problem(format!("{summary}, which cannot be read"), help);
    };
    let _ = document.overlaid(overlay, &mut problems);
    let check = format!("`cargo toolgen check {file} --overlay {}` has the details", path.display());
    match (problems.count(Severity::Error), problems.count(Severity::Warning)) {
        (0, 0) => Finding::fine(summary),
        (0, warnings) => Finding::note(format!("{summary}, {}", plural(warnings, "warning")), check),
        (errors, _) => Finding::problem(format!("{summary}, {}", plural(errors, "error")), check),
    }
}

/// Compares a contract lock with the documents that it names.
fn lock_finding(path: &Path, summary: String) -> Finding {
    let Some(locked) = load(path, &mut Problems::new()) else { return Finding::fine(summary) };
    let dir = path.parent().unwrap_or(Path::new(""));
    let documents: Vec<PathBuf> = locked.documents.iter().map(|document| dir.join(document)).collect();
    let names: Vec<String> = documents.iter().map(|document| document.display().to_string()).collect();
    let compare =
        format!("cargo toolgen check {}{} --lock {}", names.join(" "), locked.options, path.display());
    if let Some(missing) = documents.iter().find(|document| !document.is_file()) {
        let summary = format!("{summary}, of {}, which does not exist", missing.display());
        return Finding::problem(
            summary,
            "pass the document to `cargo toolgen check --lock`, or write a new lock",
        );
    }
    if documents.is_empty() {
        return Finding::note(
            format!("{summary}, not compared"),
            "it names no document, but tools of a program",
        );
    }
    if !locked.options.is_empty() {
        return Finding::note(format!("{summary}, not compared"), format!("`{compare}` compares it"));
    }
    let mut problems = Problems::new();
    let programs: Vec<Program> = documents
        .iter()
        .filter_map(|path| compile(&Document::load(path, &mut problems)?, &Options::default(), &mut problems))
        .collect();
    let current = surface(&programs.iter().collect::<Vec<_>>()).ok();
    let current = current.filter(|_| programs.len() == documents.len());
    match current.map(|current| locked.drift(&current).len()) {
        Some(0) => Finding::fine(format!("{summary}, up to date")),
        Some(changes) => Finding::problem(
            format!("{summary}; the tools differ from the lock ({changes} changes)"),
            format!("`{compare}` shows them, `--update` rewrites the lock"),
        ),
        None => Finding::note(format!("{summary}, not compared"), format!("`{compare}` shows the reason")),
    }
}
