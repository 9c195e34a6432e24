//! What is typed in a shell: arguments without JSON, mistakes in tools beside the wanted one, hosts that are
//! private, functions beside manifests.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const MANIFEST: &str = r#"toolgen: 1
tools:
  greet:
    description: Greets somebody.
    parameters:
      name: string - Who is greeted.
      times: integer? = 1 - How often.
      loud: boolean? = false - Whether it is loud.
      to: string[]? - Who hears it.
    command:
      argv: [printf, "%s,", "{name}", "{times}", "{loud}", "{to*?}"]
  now:
    description: Says that it is now.
    command: {argv: [printf, now]}
  ask:
    description: Asks somebody.
    parameters: {text: string - What is asked.}
    effect: {name: ask}
  broken:
    description: Greets nobody.
    command: {argv: [printf, "{nobody}"]}
"#;

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shell").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("tools.yaml"), MANIFEST).unwrap();
    folder
}

fn cargo_toolgen(folder: &Path, words: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-toolgen"));
    let output = command.args(words).current_dir(folder).stdin(Stdio::null()).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn arguments_are_given_by_their_names() {
    let place = folder("names");
    let call = |words: &[&str]| cargo_toolgen(&place, &[&["call", "tools.yaml"], words].concat());
    for (words, told) in [
        (&["greet", "name=Ada"][..], "Ada,1,false,\n"),
        // A text stays one, whatever it looks like; other values are JSON.
        (&["greet", "name=7", "times=3", "loud=true", "to=[\"Bob\"]"], "7,3,true,Bob,\n"),
        (&["greet", "name={\"a=b\": 1}"], "{\"a=b\": 1},1,false,\n"),
        (&["greet", "name=", "--timeout", "9"], ",1,false,\n"),
        (&["now"], "now\n"),
    ] {
        let (code, stdout, stderr) = call(words);
        assert_eq!((code, stdout.as_str()), (Some(0), told), "{words:?} {stderr}");
    }
    for (words, code, told) in [
        (&["greet"][..], 1, "/name: missing"),
        (&["greet", "name=Ada", "times=often"], 1, "/times: expected an integer, got the text \"often\""),
        (&["greet", "nam=Ada"], 1, "did you mean `name`?"),
        (&["greet", "name=Ada", "loud"], 2, "`loud` is neither a JSON object nor of the form NAME=VALUE"),
        (&["greet", "name=Ada", "name=Bob"], 2, "`name` is given twice"),
        (&["greet", "{\"name\": \"Ada\"}", "times=3"], 2, "nothing stands beside it"),
    ] {
        let (exit, stdout, stderr) = call(words);
        assert_eq!((exit, stdout.as_str()), (Some(code), ""), "{words:?} {stderr}");
        assert!(stderr.contains(told), "{words:?} {stderr}");
    }
}

#[test]
fn mistakes_elsewhere_do_not_hide_the_wanted_tool() {
    let place = folder("elsewhere");
    for words in [
        &["call", "tools.yaml", "now"][..],
        &["docs", "tools.yaml", "--tool", "now"],
        &["schema", "tools.yaml", "--tool", "now"],
    ] {
        let (code, _, stderr) = cargo_toolgen(&place, words);
        assert_eq!(code, Some(0), "{stderr}");
        assert_eq!(stderr, "note: 1 error elsewhere; `cargo toolgen check tools.yaml` has the details\n");
    }
    let (code, _, stderr) = cargo_toolgen(&place, &["call", "tools.yaml", "broken"]);
    assert_eq!(code, Some(1));
    assert!(
        stderr.contains("[E0423]") && stderr.ends_with("error: the tool `broken` has mistakes, see above\n"),
        "{stderr}"
    );
    let (_, _, stderr) = cargo_toolgen(&place, &["call", "tools.yaml", "borken"]);
    assert!(stderr.ends_with("error: there is no tool `borken`; did you mean `broken`?\n"), "{stderr}");
}

#[test]
fn a_list_says_what_the_tools_of_a_manifest_do() {
    let (_, stdout, _) = cargo_toolgen(&folder("list"), &["list", "tools.yaml"]);
    let rows = "ask    Asks somebody.\ngreet  Greets somebody.\nnow    Says that it is now.\n";
    assert_eq!(stdout, rows);
}

#[test]
fn private_hosts_are_opened_one_by_one() {
    let place = folder("private");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let manifest = format!(
        "toolgen: 1\ntools:\n  ping:\n    description: Pings.\n    http: {{url: 'http://127.0.0.1:{port}/'}}\n"
    );
    fs::write(place.join("tools.yaml"), manifest).unwrap();
    let (code, _, stderr) = cargo_toolgen(&place, &["call", "tools.yaml", "ping"]);
    assert!(code == Some(1) && stderr.contains("`--private-host HOST`"), "{stderr}");
    let served = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npong").unwrap();
    });
    let words = ["call", "tools.yaml", "ping", "--private-host", "127.0.0.1"];
    let (code, stdout, stderr) = cargo_toolgen(&place, &words);
    assert!(code == Some(0) && stdout.contains("pong"), "{stderr}");
    served.join().unwrap();

    let words = ["bin", "tools.yaml", "--out", "ping", "--private-host", "127.0.0.1"];
    let (code, _, stderr) = cargo_toolgen(&place, &words);
    assert_eq!(code, Some(0), "{stderr}");
    let main = fs::read_to_string(place.join("ping/src/main.rs")).unwrap();
    assert!(main.contains(".private_host(\"127.0.0.1\")"), "{main}");
}

#[test]
fn a_program_has_no_tool_that_it_cannot_run() {
    let place = folder("effect");
    let (_, stdout, stderr) = cargo_toolgen(&place, &["bin", "tools.yaml", "--out", "program"]);
    assert!(stderr.contains("`ask` is left out: it asks the program for `ask`"), "{stderr}");
    assert!(stdout.contains("2 tools"), "{stdout}");
}

#[test]
fn a_function_is_added_where_the_crate_has_its_tools() {
    let place = folder("function");
    fs::create_dir_all(place.join("src")).unwrap();
    let (_, stdout, _) = cargo_toolgen(&place, &["new", "one", "--kind", "rust"]);
    assert!(stdout.contains("#[path = \"tools/one.rs\"]\n    mod one;"), "{stdout}");
    fs::write(place.join("src/main.rs"), "pub mod tools {\n    include_tools!(\"tools\");\n}\n").unwrap();
    let (_, stdout, _) = cargo_toolgen(&place, &["new", "two", "--kind", "rust"]);
    // What `init` writes has a module of the manifest's tools, with which it must not collide.
    assert!(
        stdout.contains("Add to src/main.rs") && stdout.contains("#[path = \"tools/two.rs\"]"),
        "{stdout}"
    );
    assert!(stdout.contains("toolset![two::two, Engines::new().tools(tools::TOOLS)?]"), "{stdout}");
}
