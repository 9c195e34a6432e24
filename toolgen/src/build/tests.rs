use toolgen_core::spec::docs::Level;
use toolgen_test_support::scratch::Folder;

use super::*;

fn case(text: &str) -> (Folder, PathBuf) {
    let dir = Folder::new(&[("api.yaml", text)]);
    let path = dir.join("api.yaml");
    (dir, path)
}

const GOOD: &str = "openapi: 3.0.3\ninfo: {title: t, version: '1'}\npaths:\n  /a:\n    get: {operationId: getA, summary: Finds what is asked for., responses: {}}\n";

#[test]
fn single_document_is_the_module_itself() {
    let (_folder, path) = case(GOOD);
    let built = Build::new("api").document(path).compile();
    let module = built.module.unwrap();
    assert!(module.contains("pub static GET_A"), "{module}");
    assert!(!built.problems.has_errors());
}

#[test]
fn several_documents_become_submodules() {
    let (_one, first) = case(GOOD);
    let (_two, second) = case(GOOD);
    let built = Build::new("apis").document(first).document(second).compile();
    let module = built.module.unwrap();
    assert!(module.contains("pub mod api {") && module.contains("pub mod api_2 {"), "{module}");
}

#[test]
fn compile_error_fails_the_build_with_its_location() {
    let (_folder, path) = case("openapi: 3.0.3\npaths: [\n");
    let build = Build::new("api").document(&path);
    let built = build.compile();
    assert!(built.module.is_none());
    let mut script = Script::default();
    assert!(script.report(&built, false));
    let location = format!("cargo::error={}:", path.display());
    assert!(script.lines.iter().any(|line| line.starts_with(&location)), "{:?}", script.lines);
    assert!(script.lines.iter().all(|line| !line.contains('\n')));
}

/// A manifest with an object of every kind.
const OWN: &str = "toolgen: 1
x-team: us
defaults: {timeout: 3s}
lints: {allow: [W0701]}
token_budget: {total: 100000}
contexts: {reading: {network: any}}
toolsets: {base: {tools: [ask]}, all: {context: reading, include: [base]}}
tools:
  run:
    description: Runs it.
    parameters: {a: 'string - A text.'}
    examples: [{summary: One., arguments: {a: x}}]
    requires: [{custom: ready, message: Wait.}]
    exit_codes_of: {}
    command: {argv: [echo, '{a}'], limits: {cpus: 1}, exit_codes: {1: {success: true}}}
  ask:
    description: Asks it.
    parameters: {a: 'string - A text.'}
    http: {method: GET, url: 'https://a.example/{a}', auth: {bearer: KEY}}
  both:
    description: Does both.
    parameters: {a: 'string - A text.'}
    compose: {steps: [{id: one, call: ask, with: {a: '{a}'}}]}
  think:
    description: Thinks about it.
    agent: {system_prompt: Think., tools: [ask]}
  tell:
    description: Tells the program.
    effect: {name: notify}
";

#[test]
fn misspelled_manifest_key_fails_the_build() {
    let build = |text: &str| {
        let (_folder, path) = case(text);
        let built = Build::new("own").document(path).compile();
        let mut script = Script::default();
        let failed = script.report(&built, false);
        (failed, built.module.is_some(), script.lines.join("\n"))
    };
    let good = OWN.replace("    exit_codes_of: {}\n", "");
    let (failed, made, described) = build(&good);
    assert!(!failed && made, "{described}");
    let (failed, _, described) = build(OWN);
    assert!(
        failed && described.contains("cargo::error=") && described.contains("`exit_codes_of`"),
        "{described}"
    );
    for key in [
        "defaults:",
        "timeout:",
        "allow:",
        "total:",
        "network:",
        "context:",
        "include:",
        "description:",
        "parameters:",
        "summary:",
        "arguments:",
        "custom:",
        "message:",
        "argv:",
        "limits:",
        "cpus:",
        "exit_codes:",
        "success:",
        "method:",
        "bearer:",
        "compose:",
        "steps:",
        "call:",
        "with:",
        "system_prompt:",
        "name:",
        "tools: [",
        "contexts:",
    ] {
        let misspelt = format!("{}q{}", &key[..1], &key[1..]);
        let text = good.replacen(key, &misspelt, 1);
        assert_ne!(text, good, "{key}");
        let (failed, made, described) = build(&text);
        let word = misspelt.split(':').next().unwrap();
        assert!(failed && !made && described.contains(&format!("`{word}`")), "{key}: {described}");
        let suggestion = format!("did you mean `{}`?", key.split(':').next().unwrap());
        assert!(described.contains("E0402") && described.contains(&suggestion), "{key}: {described}");
    }
}

#[test]
fn filter_without_matches_fails_the_build() {
    let (_folder, path) = case(GOOD);
    let build = |options| Build::new("api").document(&path).options(options).compile();
    let reported = |built: &BuildOutput| {
        let mut script = Script { wrote: true, ..Script::default() };
        (script.report(built, false), script.lines.join("\n"))
    };
    let built = build(Options::default().include("getB"));
    assert!(built.module.is_none());
    let (failed, lines) = reported(&built);
    assert!(failed && lines.starts_with("cargo::error="), "{lines}");
    assert!(lines.ends_with("`getB` matches no operation [E0333]; did you mean `getA`?"), "{lines}");

    let built = build(Options::default().include("getB").include("getA").credential("key", "KEY"));
    assert!(built.module.is_some());
    let (failed, lines) = reported(&built);
    assert!(!failed && lines.lines().all(|line| line.starts_with("cargo::warning=")), "{lines}");
    assert!(lines.contains("[W0330]; did you mean `getA`?") && lines.contains("[W0334]"), "{lines}");
    assert!(!lines.contains("1 warning"), "reported problems are not counted: {lines}");
    assert!(lines.contains("cargo::warning=the options for ") && !lines.contains(":1:1:"), "{lines}");

    let (failed, lines) = reported(&build(Options::default().deny("warnngs")));
    assert!(failed && lines.contains("there is no code `warnngs`"), "{lines}");
    assert!(lines.contains("[E0338]; did you mean `warnings`?"), "{lines}");
}

#[test]
fn documentation_is_built_at_the_requested_levels() {
    let (_folder, path) = case(GOOD);
    let build = Build::new("api").document(&path);
    assert_eq!(build.compile().docs, []);
    let built = build.docs(Style::new(Level::Index)).docs(Style::new(Level::Summary)).compile();
    let expected =
        [("api.index.md", "- getA()\n"), ("api.summary.md", "- **getA** - Finds what is asked for.\n")];
    assert_eq!(built.docs, expected.map(|(name, text)| (name.to_owned(), text.to_owned())));
}

#[test]
fn denied_problem_fails_the_build() {
    let (_folder, path) = case(&GOOD.replace("summary: Finds what is asked for., ", ""));
    let build = |options| Build::new("api").document(&path).options(options).compile();
    let mut script = Script::default();
    assert!(!script.report(&build(Options::default()), true));
    let built = build(Options::default().deny("W0701"));
    assert!(built.module.is_some() && script.report(&built, false));
    assert!(
        script.lines.last().is_some_and(|line| line.starts_with("cargo::error=") && line.contains("[W0701]"))
    );
}

#[test]
fn filter_matching_one_of_several_documents_is_accepted() {
    let (_one, first) = case(GOOD);
    let (_two, second) = case(&GOOD.replace("getA", "getB"));
    let build = Build::new("apis").document(first).document(second);
    let built = build.options(Options::default().include("getB").include("getC")).compile();
    assert!(built.module.is_some());
    let messages = built.problems.as_slice().iter().map(|problem| problem.message.as_str());
    let of_filters: Vec<&str> = messages.filter(|message| message.contains("matches no")).collect();
    assert_eq!(of_filters, ["`getC` matches no operation"; 2]);
}

#[test]
fn exclusion_without_matches_fails_the_build() {
    let (_one, first) = case(GOOD);
    let (_two, second) = case(&GOOD.replace("getA", "getB"));
    let build = Build::new("api").document(&first);
    let built = build.clone().options(Options::default().exclude("getZ").exclude("getAa")).compile();
    assert!(built.module.is_none(), "the operation that is meant would become a tool");
    let mut script = Script::default();
    assert!(script.report(&built, false));
    let message = script.lines.join("\n");
    assert!(message.lines().all(|line| line.starts_with("cargo::error=")), "{message}");
    assert!(
        message.contains("the exclusion `getAa` matches no operation [E0335]; did you mean `getA`?"),
        "{message}"
    );
    let both = build.document(&second).options(Options::default().exclude("getB")).compile();
    assert!(both.module.is_some() && !both.problems.has_errors(), "it is for one of them: {}", both.problems);
}

#[test]
fn build_output_lists_the_available_modules() {
    let (dir, path) = case(GOOD);
    let messages = |name: &str| {
        let mut script = Script::default();
        Build::new(name).document(&path).run_in(&dir, &mut script).unwrap();
        script.lines
    };
    // Other tests may also write modules: a build script has one list.
    messages("message_first");
    let lines = messages("message_second");
    let location =
        format!("cargo::rustc-env=TOOLGEN_MODULE_message_second={}", dir.join("message_second.rs").display());
    assert!(lines.contains(&location), "{lines:?}");
    let all = lines.iter().find_map(|line| line.strip_prefix("cargo::rustc-env=TOOLGEN_MODULES=")).unwrap();
    assert!(all.contains("`message_first`, `message_second`"), "{all}");
}

#[test]
fn hint_names_a_command_for_the_remaining_problems() {
    let (_folder, path) = case(&GOOD.replace("responses: {}", "parameters: [{in: query}], responses: {}"));
    let options = Options::default().include("GET /**");
    let mut script = Script { wrote: true, arguments: options.command_line(), ..Script::default() };
    let built = Build::new("api").document(&path).options(options).compile();
    assert!(!script.report(&built, false));
    let command = format!("cargo toolgen check {} --operation 'GET /**'", path.display());
    let hint = format!("cargo::warning=1 warning; `{command}` has the details");
    assert_eq!(script.lines, [hint]);
}

#[test]
fn build_errors_include_help() {
    let mut script = Script::default();
    let reason = Build::new("api").run(&mut script).unwrap_err().to_string();
    assert!(reason.contains(".document("), "{reason}");
    let reason = Build::new("../api").document("x").run(&mut script).unwrap_err().to_string();
    assert!(reason.contains("plain name"), "{reason}");
}

#[test]
fn manifest_error_fails_the_build_in_any_mode() {
    let (_folder, path) = case(
        "toolgen: 1\ntools:\n  good: {description: G., function: {}}\n  bad: {description: B., command: {argv: [a, '{b}']}}\n",
    );
    let built = Build::new("tools").document(&path).compile();
    assert!(built.module.is_none());
    for strict in [false, true] {
        let mut script = Script::default();
        assert!(script.report(&built, strict));
        let message = format!("cargo::error={}:4:", path.display());
        assert!(script.lines.iter().any(|line| line.starts_with(&message)), "{:?}", script.lines);
    }
}

#[test]
fn tools_are_compared_with_their_lock() {
    let (dir, path) = case(GOOD);
    let lock = dir.join("toolgen.lock");
    let build = |options: Options| Build::new("api").document(&path).options(options).compile();
    let held = || Options::default().lock(&lock);
    let missing = build(held());
    assert!(missing.module.is_none());
    assert!(missing.problems.as_slice().iter().any(|one| one.code.id() == "E0901"), "{}", missing.problems);

    let mut problems = Problems::new();
    let program = Document::load(&path, &mut problems)
        .and_then(|one| frontend::compile(&one, &Options::default(), &mut problems))
        .unwrap();
    std::fs::write(&lock, contract::surface(&[&program]).unwrap().text()).unwrap();
    let same = build(held());
    assert!(same.module.is_some() && same.problems.is_empty(), "{}", same.problems);
    assert_eq!(same.sources, std::slice::from_ref(&lock));

    std::fs::write(&path, GOOD.replace("responses", "summary: Gets it., responses")).unwrap();
    let text = build(held());
    assert!(text.module.is_some() && text.problems.to_string().contains("W0903"), "{}", text.problems);
    let denied = build(held().deny_changes(toolgen_core::spec::drift::ChangeClass::Text));
    assert!(denied.module.is_none() && denied.problems.to_string().contains("E0902"), "{}", denied.problems);

    std::fs::write(&path, GOOD.replace("get:", "delete:")).unwrap();
    let worse = build(held());
    assert!(worse.module.is_none(), "{}", worse.problems);
    let message = worse.problems.to_string();
    assert!(
        message.contains("security: `getA` at /call/http/method: `method` was")
            && message.contains("api.yaml:5"),
        "{message}"
    );
}

#[test]
fn manifest_can_name_its_lock() {
    const MANIFEST: &str =
        "toolgen: 1\nlock: tools.lock\ntools: {now: {description: Tells the time., function: {}}}\n";
    let (dir, path) = case(MANIFEST);
    let built = || Build::new("tools").document(&path).compile();
    assert!(built().problems.to_string().contains("E0901"));
    let program = Document::load(&path, &mut Problems::new())
        .and_then(|one| frontend::compile(&one, &Options::default(), &mut Problems::new()))
        .unwrap();
    std::fs::write(dir.join("tools.lock"), contract::surface(&[&program]).unwrap().text()).unwrap();
    assert!(built().module.is_some(), "{}", built().problems);
}
