//! Tools of documents that are read when the program runs.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolgen::dynamic::{LoadError, Loaded, Loader};
use toolgen::{Document, Options, Problems, Program, Severity};
use toolgen_runtime::engine::http::{Fetch, FetchErrorKind, HttpEngine, Secret, StaticCredentials};
use toolgen_runtime::toolbox::ToolboxContext;
use toolgen_runtime::{Registry, ToolCall, Turn};

use toolgen_test_support::http::{self, Server, Step, reply};
use toolgen_test_support::needs;

use crate::support::specs;

const PETS: &str = "\
openapi: 3.1.0
info: {title: Pets, version: '1'}
servers: [{url: v2/}]
components: {securitySchemes: {key: {type: apiKey, in: header, name: X-Key}}}
security: [{key: []}]
paths:
  /pets:
    get: {operationId: listPets, tags: [pets], responses: {}}
    post: {operationId: addPet, tags: [pets, admin], responses: {}}
  /pets/{id}:
    get:
      operationId: getPet
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {}
  /broken:
    get: 7
";

fn engine() -> HttpEngine {
    HttpEngine::builder()
        .private_host("127.0.0.1")
        .files_root(std::env::temp_dir())
        .timeout(Duration::from_secs(20))
        .build()
        .unwrap()
}

fn names(loaded: &Loaded) -> Vec<&str> {
    loaded.tools.iter().map(|tool| tool.name()).collect()
}

/// A program without the text it came from: a name and the layout differ.
fn anywhere(mut program: Program) -> Program {
    for tool in &mut program.tools {
        tool.origin.source = Arc::default();
    }
    program
}

#[test]
fn all_constructors_give_the_same_tools() {
    let path = specs().join("tasks.yaml");
    let text = std::fs::read_to_string(&path).unwrap();
    let document = Document::load(&path, &mut Problems::new()).unwrap();
    // The failures of which types are made are for generated code.
    let options = Options::default().types(false);
    let lowered = toolgen::compile(&document, &options, &mut Problems::new()).unwrap();
    assert!(!lowered.tools.is_empty());
    for loaded in [
        Loader::from_str(&text),
        Loader::from_file(&path),
        Loader::from_spec(document.root.clone()),
        Ok(Loader::from_document(Arc::clone(&document), Problems::new())),
    ] {
        let loaded = loaded.unwrap();
        assert_eq!(anywhere(loaded.compile().unwrap().0), anywhere(lowered.clone()));
        let loaded = loaded.tools(&HttpEngine::builder().build().unwrap()).unwrap();
        assert!(!loaded.problems.has_errors(), "{loaded:?}");
        let of_tools: Vec<_> = loaded.tools.iter().map(|tool| tool.spec()).collect();
        let of_program: Vec<_> = lowered.tools.iter().map(|tool| &tool.spec).collect();
        assert_eq!(of_tools, of_program);
    }
}

#[test]
fn operations_are_selected_and_named_as_in_a_build() {
    let load = |options: Options| {
        let loaded = Loader::from_str(PETS).unwrap().options(options).tools(&engine()).unwrap();
        names(&loaded).join(" ")
    };
    let all = Options::default;
    assert_eq!(load(all()), "addPet getPet listPets");
    assert_eq!(load(all().include("listPets").include("getPet")), "getPet listPets");
    assert_eq!(load(all().include("tag:Pets")), "addPet listPets");
    assert_eq!(load(all().include("tag:pets").exclude("tag:admin")), "listPets");
    assert_eq!(load(all().include("/pets/**")), "getPet");
    assert_eq!(load(all().include("GET /**")), "getPet listPets");
    assert_eq!(load(all().include("addPet").namespace("store")), "store__addPet");
    assert_eq!(load(all().include("addPet").rename("addPet", "new_pet")), "new_pet");
}

#[test]
fn invalid_operation_is_skipped_alone() {
    let loaded = Loader::from_str(PETS).unwrap().tools(&engine()).unwrap();
    assert_eq!(loaded.tools.len(), 3);
    let placed = loaded.problems.placed();
    let errors: Vec<_> = placed.iter().filter(|(_, one)| one.severity() == Severity::Error).collect();
    let [(position, problem)] = errors[..] else { panic!("{errors:?}") };
    assert_eq!((problem.pointer.as_str(), position.line), ("/paths/~1broken/get", 16));
}

#[test]
fn invalid_document_error_has_location_and_reason() {
    let message = |loaded: Result<Loader, LoadError>| {
        loaded.and_then(|document| document.tools(&engine())).unwrap_err().to_string()
    };
    let text = message(Loader::from_str("{\"openapi\": \"3.0.0\",\n  \"paths\": {,}}"));
    assert!(text.starts_with("document:2:13: ") && text.contains("[E0104]"), "{text}");
    let text = message(Loader::from_str("document: 3.0.0\npaths: [\n"));
    assert!(text.contains("document:3:") && text.contains("[E0104]"), "{text}");
    let text = message(Loader::from_file("/no/such/file.yaml"));
    assert!(text.starts_with("/no/such/file.yaml:1:1: there is no such file [E0101]"), "{text}");
    let text = message(Loader::from_str("swaggerVersion: '1.2'"));
    assert!(
        text.contains("this is not an OpenAPI document") && text.contains("convert the document"),
        "{text}"
    );
    let text = message(Loader::from_spec(json!({"info": {}, "openapi": "4.0"})));
    assert!(text.starts_with("document:3:") && text.contains("OpenAPI 4.0"), "{text}");
    let mut deep = json!({"openapi": "3.1.0"});
    for _ in 0..1_000 {
        deep = Value::Array(vec![deep]);
    }
    let text = message(Loader::from_spec(deep));
    assert!(text.contains("levels"), "{text}");
}

#[test]
fn options_without_matches_are_reported() {
    let load = |options: Options| Loader::from_str(PETS).unwrap().options(options).tools(&engine());
    let error = load(Options::default().include("tag:petz")).unwrap_err();
    let message = error.to_string();
    let [choice, broken] = message.lines().collect::<Vec<_>>()[..] else { panic!("{message}") };
    assert_eq!(
        choice,
        "the options for document: `tag:petz` matches no operation [E0333]; did you mean `tag:pets`?"
    );
    assert!(broken.starts_with("document:16:5: an operation must be an object"), "{message}");
    let options = Options::default().include("tag:petz").include("tag:admin").credential("keys", "KEY");
    let loaded = load(options).unwrap();
    assert_eq!(names(&loaded), ["addPet"]);
    let message = loaded.problems.to_string();
    assert!(
        message.contains("`tag:petz` matches no operation [W0330]; did you mean `tag:pets`?"),
        "{message}"
    );
    assert!(message.contains("`keys`") && message.contains("[W0334]; did you mean `key`?"), "{message}");
    assert!(format!("{:?}", Err::<(), _>(loaded.problems)).len() < 3_000);
    let message = load(Options::default().exclude("addPets")).unwrap_err().to_string();
    assert!(
        message.starts_with(
            "the options for document: the exclusion `addPets` matches no operation [E0335]; did you"
        ),
        "{message}"
    );
}

#[tokio::test]
async fn fetched_document_tools_call_their_own_server() {
    let server = Server::start(|request| match request.target() {
        "/latest?token=hunter2hunter2" => reply("302 Found", "Location: /api/openapi.yaml\r\n", ""),
        "/api/openapi.yaml" => reply("200 OK", "Content-Type: application/yaml\r\n", PETS),
        _ => reply("200 OK", "Content-Type: text/plain\r\n", "Rex"),
    });
    let credentials = StaticCredentials::new().with("key", Secret::new("for-the-service"));
    let engine =
        HttpEngine::builder().private_host("127.0.0.1").credentials(credentials).header("X-Op", "op");
    let engine = engine.build().unwrap();
    let fetch = Fetch::new(format!("{}/latest?token=hunter2hunter2", server.url))
        .header("Authorization", Secret::new("Bearer for-the-document"));
    assert!(!format!("{fetch:?}").contains("hunter2") && !format!("{fetch:?}").contains("for-the"));
    let document = Loader::from_url(fetch, &engine).await.unwrap();
    let loaded = document.options(Options::default().include("GET /pets/**")).tools(&engine).unwrap();

    // A set is sealed; tools that turn up later go into a new one beside the old ones.
    let sealed = Registry::builder().seal().unwrap();
    let registry = sealed.extend(loaded.tools).unwrap();
    let toolbox = registry.toolbox(ToolboxContext::new());
    let turn = Turn::new("turn");
    let response = toolbox.run(ToolCall::new("1", "getPet", json!({"id": 7})), &turn).await;
    assert_eq!(response.text(), format!("GET {}/api/v2/pets/7 → 200\n\nRex", server.url));
    let response = toolbox.run(ToolCall::new("2", "getPet", json!({"id": "x"})), &turn).await;
    assert!(response.is_error() && response.text().contains("/id"), "{}", response.text());

    let seen = server.seen();
    assert_eq!(seen.len(), 3);
    // What is for the document goes to the document only, and what is for the service to the service only.
    for request in &seen[..2] {
        let lower = request.head.to_lowercase();
        assert!(lower.contains("\r\nauthorization: bearer for-the-document\r\n"), "{lower}");
        assert!(!lower.contains("x-key") && !lower.contains("x-op"), "{lower}");
    }
    let lower = seen[2].head.to_lowercase();
    assert!(
        lower.contains("\r\nx-key: for-the-service\r\n") && lower.contains("\r\nx-op: op\r\n"),
        "{lower}"
    );
    assert!(!lower.contains("for-the-document"), "{lower}");
}

#[tokio::test]
async fn base_url_of_the_operator_takes_precedence() {
    let service = Server::start(|_| reply("200 OK", "", "here"));
    let documents = Server::start(|_| reply("200 OK", "", PETS));
    let call = async |engine: &HttpEngine| -> String {
        let document = Loader::from_url(format!("{}/x/openapi.yaml", documents.url), engine).await.unwrap();
        let registry = Registry::new(document.tools(engine).unwrap().tools).unwrap();
        registry
            .call_without_layers("listPets", json!({}), &Turn::default().call_context("1", "listPets"))
            .await
            .unwrap()
            .details["url"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let credentials = || StaticCredentials::new().with("key", Secret::new("secret-of-service"));
    let builder = || HttpEngine::builder().private_host("127.0.0.1").credentials(credentials());
    let based = builder().base_url(format!("{}/base", service.url)).build().unwrap();
    assert!(call(&based).await.ends_with("/base/pets"));
    let elsewhere = builder().document_url(format!("{}/docs/openapi.yaml", service.url)).build().unwrap();
    assert_eq!(call(&elsewhere).await, format!("{}/docs/v2/pets", service.url));
}

#[tokio::test]
async fn fetch_errors_show_no_secrets() {
    let server = Server::start(|request| match request.path() {
        "/missing" => reply("404 Not Found", "", PETS),
        "/elsewhere" => reply("302 Found", "Location: file:///etc/passwd\r\n", ""),
        "/loop" => reply("302 Found", "Location: /loop\r\n", ""),
        "/silent" => vec![Step::Hold],
        "/page" => reply("200 OK", "Content-Type: text/html\r\n", "<html>\n<p>Sign in: now</p>\n</html>"),
        _ => reply("200 OK", "", PETS),
    });
    let engine = engine();
    let fetch = async |fetch: Fetch| match Loader::from_url(fetch, &engine).await.unwrap_err() {
        LoadError::Fetch(error) => {
            assert!(!error.to_string().contains("hunter2"), "{error}");
            error
        }
        other => panic!("{other}"),
    };
    let at = |path: &str| Fetch::new(format!("{}{path}?api_key=hunter2hunter2", server.url));
    let error = fetch(at("/missing")).await;
    assert_eq!(error.to_string(), format!("{}/missing: the server returned status 404", server.url));
    let error = fetch(at("/elsewhere")).await;
    assert!(error.to_string().ends_with("not followed: the location is not an http or https URL"), "{error}");
    assert_eq!(fetch(at("/loop")).await.kind, FetchErrorKind::Redirect("too many redirects"));
    let error = fetch(at("/big").max_bytes(PETS.len() - 1)).await;
    assert_eq!(error.kind, FetchErrorKind::TooLarge(PETS.len() - 1));
    assert!(Loader::from_url(at("/just-fits").max_bytes(PETS.len()), &engine).await.is_ok());
    let time = Duration::from_millis(100);
    assert_eq!(fetch(at("/silent").timeout(time)).await.kind, FetchErrorKind::Timeout(time));
    for bad in ["", "petstore.yaml", "file:///etc/passwd", "http://user:hunter2@localhost/", "ftp://h/x"] {
        let error = fetch(bad.into()).await;
        assert!(matches!(error.kind, FetchErrorKind::Malformed(_)), "{bad}: {error}");
    }
    let error = fetch(at("/x").header("X y", Secret::new("hunter2"))).await;
    assert!(matches!(error.kind, FetchErrorKind::Malformed(_)), "{error}");
    let nobody = format!("{}/?key=hunter2hunter2", http::nobody());
    assert!(matches!(fetch(nobody.into()).await.kind, FetchErrorKind::Network(_)));
    // A page for people in place of the document: no tools, and the problem is at the URL.
    let page = Loader::from_url(at("/page"), &engine).await.and_then(|page| page.tools(&engine));
    let message = page.unwrap_err().to_string();
    assert!(
        message.starts_with(&format!("{}/page:", server.url)) && !message.contains("hunter2"),
        "{message}"
    );
}

#[test]
#[ignore = "heavy: corpus"]
fn corpus_documents_load_as_they_compile() {
    let mut paths = needs::corpus();
    if paths.is_empty() {
        return;
    }
    let engine = engine();
    // The large documents take minutes without optimisation, and hold nothing here that the small ones do not.
    paths.retain(|path| path.metadata().is_ok_and(|data| data.len() < 400_000));
    assert!(!paths.is_empty());
    for path in paths {
        let mut problems = Problems::new();
        let document = Document::load(&path, &mut problems).unwrap();
        let lowered = toolgen::compile(&document, &Options::default().types(false), &mut problems).unwrap();
        let loaded = Loader::from_file(&path).unwrap().tools(&engine).unwrap();
        assert_eq!(loaded.problems.as_slice().len(), problems.as_slice().len(), "{}", path.display());
        assert_eq!(loaded.tools.len(), lowered.tools.len(), "{}", path.display());
        for (index, (tool, expected)) in loaded.tools.iter().zip(&lowered.tools).enumerate() {
            let (spec, expected) = (tool.spec(), &expected.spec);
            // All tools of a document share the named shapes.
            let defs_equal = index > 0 || spec.defs == expected.defs;
            let equal = (&spec.name, &spec.input, &spec.output, &spec.description, &spec.effects)
                == (
                    &expected.name,
                    &expected.input,
                    &expected.output,
                    &expected.description,
                    &expected.effects,
                );
            assert!(equal && defs_equal, "{}: {}", path.display(), spec.name);
        }
    }
}

#[tokio::test]
async fn external_references_are_fetched_from_named_hosts_only() {
    let server = Server::start(|request| match request.target() {
        "/api/openapi.yaml" => reply(
            "200 OK",
            "",
            "openapi: 3.1.0\npaths:\n  /a: {get: {operationId: a, parameters: [{$ref: '../parts/page.yaml#/Page'}]}}\n  \
             /b: {get: {operationId: b, parameters: [{$ref: 'http://127.0.0.2/far.yaml#/Page'}]}}\n  \
             /c: {get: {operationId: c, parameters: [{$ref: 'gone.yaml#/Page'}]}}\n",
        ),
        "/parts/page.yaml" => {
            reply("200 OK", "", "Page: {name: page, in: query, schema: {$ref: 'number.json'}}")
        }
        "/parts/number.json" => reply("200 OK", "", "{\"type\": \"integer\"}"),
        _ => reply("404 Not Found", "", ""),
    });
    let url = format!("{}/api/openapi.yaml", server.url);
    let loader = Loader::from_url_with_parts(url.as_str(), &engine(), ["127.0.0.1"]).await.unwrap();
    let (program, problems) = loader.compile().unwrap();
    let problems = problems.to_string();
    // The parameters of the others are not there.
    let inputs: Vec<(&str, bool)> = program
        .tools
        .iter()
        .map(|tool| (tool.spec.name.as_str(), format!("{:?}", tool.spec.input).contains("page")))
        .collect();
    assert_eq!(inputs, [("a", true), ("b", false), ("c", false)], "{problems}");
    let defs = format!("{:?}", program.defs);
    assert!(defs.contains("Integer"), "{defs}");
    assert!(problems.contains("gone.yaml") && problems.contains("status 404"), "{problems}");
    assert!(problems.contains("127.0.0.2"), "{problems}");
    let mut seen: Vec<String> = server.seen().iter().map(|seen| seen.target().to_owned()).collect();
    seen.sort();
    assert_eq!(seen, ["/api/gone.yaml", "/api/openapi.yaml", "/parts/number.json", "/parts/page.yaml"]);

    let none: [&str; 0] = [];
    let loader = Loader::from_url_with_parts(url.as_str(), &engine(), none).await.unwrap();
    let (program, problems) = loader.compile().unwrap();
    assert!(!format!("{:?}", program.tools).contains("page"), "{problems}");
}

/// Whatever a model is shown, it may say what the document says where that is one argument.
#[test]
fn arguments_can_use_their_document_names() {
    let document = json!({
        "openapi": "3.0.3", "info": {"title": "x", "version": "1"}, "paths": {"/log/{log-id}": {"post": {
            "operationId": "watch", "parameters": [
                {"name": "log-id", "in": "path", "required": true, "schema": {"type": "string"}},
                {"name": "Last-Event-ID", "in": "header", "schema": {"type": "string"}},
                {"name": "filter[x]", "in": "query", "schema": {"type": "string"}},
                {"name": "$top", "in": "query", "schema": {"type": "integer"}}],
            "requestBody": {"content": {"application/json": {"schema": {"type": "object", "properties": {
                "a-b": {"type": "object", "properties": {"c.d": {"type": "string"}}}}}}}},
            "responses": {}}}}});
    let loaded = Loader::from_str(&document.to_string()).unwrap();
    let tools = loaded.tools(&engine()).unwrap().tools;
    let spec = tools[0].spec();
    let theirs =
        json!({"log-id": "1", "Last-Event-ID": "2", "filter[x]": "3", "$top": 4, "a-b": {"c.d": "5"}});
    let visible =
        json!({"log_id": "1", "Last_Event_ID": "2", "filter_x": "3", "top": 4, "a_b": {"c_d": "5"}});
    for dialect in toolgen_runtime::schema::dialect::Dialect::ALL {
        let read =
            |given: &Value| toolgen_runtime::call::tool::arguments(spec, given.clone(), dialect).unwrap();
        assert_eq!(read(&theirs), read(&visible), "{}", dialect.name);
    }
}
