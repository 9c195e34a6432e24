//! Which lists come in pages, as documents tell it and as the user says it; and keys of calls.

use std::collections::BTreeMap;
use std::path::Path;

use toolgen::{Options, Program, Tool};

use crate::support::compiled_file;

fn compile(options: &Options) -> (Program, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/documents/lists.yaml");
    let (program, problems) = compiled_file(&path, options);
    let messages: Vec<String> =
        problems.as_slice().iter().map(|problem| format!("{} {}", problem.message, problem.help)).collect();
    (program.unwrap(), messages.join("\n"))
}

fn pages(program: &Program) -> BTreeMap<&str, String> {
    let text = |tool: &Tool| tool.call.http().unwrap().pagination.as_ref().map(ToString::to_string);
    let all = program.tools.iter().map(|tool| (tool.origin.id.as_str(), text(tool).unwrap_or_default()));
    all.filter(|(_, pages)| !pages.is_empty()).collect()
}

#[test]
fn pagination_is_recognized_from_parameters_and_responses() {
    let (program, message) = compile(&Options::default());
    assert_eq!(message, "");
    let expected = [
        ("batch", "cursor=since@/next_batch items=/chunk size=limit"),
        ("both", "page=page size=page_size"),
        ("cursor", "cursor=page_after@/meta/next_cursor items=/data more=/meta/has_more size=limit"),
        ("deep", "cursor=NextToken@/payload/NextToken items=/payload/Pets"),
        ("done", "cursor=iterator@/iterator items=/data more=!/done"),
        ("last", "last=starting_after@/id items=/data more=/has_more"),
        ("links", "link"),
        ("messages", "next=/paging/next items=/messages size=limit"),
        ("named", "next=/nextLink items=/value"),
        ("offset", "offset=skip size=limit"),
        ("page", "page=page items=/pets size=limit"),
        ("page0", "page=page@0 size=size"),
        ("pageCount", "offset=skip items=/results size=limit"),
        ("switched", "offset=offset items=/entries total=/total_count size=limit"),
        ("switchedOn", "cursor=marker@/next_marker items=/entries total=/total_count size=limit"),
        ("totals", "next=/next items=/results total=/count"),
        ("url", "next=/next items=/results size=limit"),
    ];
    assert_eq!(pages(&program), expected.map(|(id, pages)| (id, pages.to_owned())).into());
}

#[test]
fn explicit_pagination_takes_precedence() {
    let options = Options::default()
        .namespace("x")
        .pagination("GET /plain", "offset=from")
        .pagination("pageUnclear", "page=page@0 size=size")
        .pagination("url", "none");
    let (program, message) = compile(&options);
    let pages = pages(&program);
    assert_eq!(message, "");
    assert_eq!(
        (pages["plain"].as_str(), pages["pageUnclear"].as_str()),
        ("offset=from", "page=page@0 size=size")
    );
    assert!(!pages.contains_key("url"));
    // A setting without effect is reported.
    let (_, message) = compile(&Options::default().pagination("lists", "link").pagination("url", "pages=3"));
    assert!(message.contains("the pagination setting for `lists` matches no operation"), "{message}");
    assert!(
        message.contains(
            "the pagination setting for `url` is not understood `pages=3` is not a part of a pagination; state"
        ),
        "{message}"
    );
}

#[test]
fn multi_page_arguments_are_opt_in() {
    let arguments = |options: &Options, id: &str| -> Vec<String> {
        let (program, _) = compile(options);
        let tool = program.tools.iter().find(|tool| tool.origin.id == id).unwrap();
        let schema = tool.spec.schema(&toolgen_runtime::schema::dialect::JSON_SCHEMA).unwrap().schema;
        schema["properties"].as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(arguments(&Options::default(), "offset"), ["skip", "limit"]);
    let offering = Options::default().max_items(true);
    assert_eq!(arguments(&offering, "offset"), ["skip", "limit", "max_items"]);
    assert_eq!(arguments(&offering, "plain"), [""; 0]);
}

#[test]
fn idempotency_key_is_not_an_argument() {
    let (program, _) = compile(&Options::default());
    let tool = program.tools.iter().find(|tool| tool.origin.id == "addPet").unwrap();
    let plan = tool.call.http().unwrap();
    assert_eq!(plan.idempotency_key, *"Idempotency-Key");
    assert_eq!(plan.parameters.iter().map(|parameter| &*parameter.name).collect::<Vec<_>>(), ["page"]);
}
