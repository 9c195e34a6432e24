//! Documents in archives.

use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolgen::{Bundle, Document, Options, Problems};
use toolgen_test_support::scratch::Folder;
use zip::write::SimpleFileOptions;

use crate::support::{compiled_file, names};

const API: &str = "openapi: 3.1.0\ninfo: {description: {$ref: ../docs/about.md}}\npaths:\n  /a: {get: {operationId: a, \
                   summary: Lists., parameters: [{$ref: 'parts/page.yaml#/Page'}]}}\n  /b: {get: {operationId: b, \
                   parameters: [{$ref: '../../secret.yaml#/Page'}]}}\n";
const PAGE: &str = "Page: {name: page, in: query, description: Which page., schema: {type: integer}}\n";

fn files() -> Vec<(&'static str, &'static str)> {
    vec![("v2/openapi.yaml", API), ("v2/parts/page.yaml", PAGE), ("docs/about.md", "About.")]
}

fn zipped(files: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
    for (name, text) in files {
        zip.start_file(*name, options).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn tarred(files: &[(&str, &str)]) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (name, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        // The library itself refuses names that lead out.
        let field = &mut header.as_old_mut().name;
        field[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        tar.append(&header, text.as_bytes()).unwrap();
    }
    let mut link = tar::Header::new_gnu();
    link.set_entry_type(tar::EntryType::Symlink);
    link.set_size(0);
    tar.append_link(&mut link, "v2/link.yaml", "/etc/passwd").unwrap();
    tar.into_inner().unwrap()
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

#[test]
fn archived_document_refers_only_to_files_in_its_archive() {
    let dir = Folder::new(&[("secret.yaml", PAGE)]);
    let compiled = |path: &Path| {
        let (program, problems) = compiled_file(path, &Options::default());
        (program, problems.to_string())
    };
    for (name, bytes) in [
        ("api.zip", zipped(&files())),
        ("api.tar", tarred(&files())),
        ("api.tar.gz", gzipped(&tarred(&files()))),
        ("api.tgz", gzipped(&tarred(&files()))),
    ] {
        let archive = dir.join(name);
        dir.write(name, bytes);
        for path in [archive.clone(), archive.join("v2/openapi.yaml")] {
            let (program, problems) = compiled(&path);
            let program = program.unwrap();
            // The parameter of the second is in a file that is not given.
            assert_eq!(names(&program), ["a", "b"], "{name}: {problems}");
            let inputs: Vec<bool> =
                program.tools.iter().map(|tool| format!("{:?}", tool.spec.input).contains("page")).collect();
            assert_eq!(inputs, [true, false], "{name}");
            assert_eq!(program.sources, Vec::<PathBuf>::new());
            let location = format!("{}/v2/openapi.yaml:5:", archive.display());
            assert!(problems.contains(&location) && problems.contains("secret.yaml"), "{problems}");
        }
        let (program, problems) = compiled(&archive.join("none.yaml"));
        assert!(program.is_none() && problems.contains("v2/parts/page.yaml"), "{problems}");
    }
    dir.write("damaged.zip", &zipped(&files())[..60]);
    let (program, problems) = compiled(&dir.join("damaged.zip"));
    assert!(program.is_none() && problems.contains("cannot be unpacked"), "{problems}");
}

#[test]
fn path_traversal_links_and_bombs_are_not_unpacked() {
    for bytes in [
        zipped(&[("../out.yaml", API), ("/abs.yaml", API), ("in.yaml", API)]),
        tarred(&[("../out.yaml", API), ("in.yaml", API)]),
    ] {
        let bundle = Bundle::from_archive("a", &bytes).unwrap();
        assert!(bundle.names().all(|name| !name.contains("..") && !name.starts_with('/')), "{bundle:?}");
        assert!(bundle.get("in.yaml").is_some() && bundle.get("v2/link.yaml").is_none(), "{bundle:?}");
    }
    let mut bundle = Bundle::new("a");
    bundle.add("a", vec![0; 200 << 20]).unwrap();
    assert!(bundle.add("b", vec![0; 60 << 20]).unwrap_err().contains("256 MB"));
    assert!(
        Bundle::from_archive("a", b"no archive").is_err_and(|reason| reason.contains("cannot be unpacked"))
    );
}

#[test]
fn main_document_is_found_by_name() {
    let main = |names: &[&str]| {
        let mut bundle = Bundle::new("");
        names.iter().for_each(|name| bundle.add(*name, Vec::new()).unwrap());
        bundle.main().map(str::to_owned)
    };
    assert_eq!(
        main(&["a/b/openapi.yaml", "a/Swagger.json", "a/other.yaml"]).as_deref(),
        Some("a/Swagger.json")
    );
    assert_eq!(main(&["a/api.yaml", "README.md"]).as_deref(), Some("a/api.yaml"));
    assert_eq!(main(&["a.yaml", "b.yaml"]), None);
}

#[test]
fn oversized_archived_document_is_an_error() {
    let mut bundle = Bundle::new("api.zip");
    bundle.add("openapi.yaml", vec![b' '; (128 << 20) + 1]).unwrap();
    let mut problems = Problems::new();
    assert!(Document::from_bundle(&Arc::new(bundle), "openapi.yaml", &mut problems).is_none());
    assert!(problems.to_string().contains("the document is larger than 128 MB"), "{problems}");
}
