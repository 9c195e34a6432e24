use crate::call::Turn;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::time::advance;

use super::*;
use crate::call::principal::Principal;
use crate::call::session::Session;
use crate::call::testing::call_in;
use crate::call::tool::AgentTool;
use crate::spec::ToolName;

fn called_in(turn: &Turn) -> ToolContext {
    turn.call_context("1", "big")
}

fn ctx() -> ToolContext {
    called_in(&Turn::default())
}

fn spec() -> ToolSpec {
    ToolSpec { name: ToolName::new("big"), ..ToolSpec::EMPTY }
}

fn text(content: &Content) -> &str {
    match content {
        Content::Text(text) => text,
        other => panic!("not text: {other:?}"),
    }
}

/// Returns the call that a notice tells a model to make, parsed as a model would.
fn next_call(notice: &str) -> Option<Value> {
    let (_, call) = notice.split_once("read_result with ")?;
    let (arguments, _) = call.split_once('}')?;
    Some(serde_json::from_str(&format!("{arguments}}}")).unwrap())
}

/// Returns all pages, read by following the notice of each.
async fn pages_of(pages: &Pages, first: &ToolResult, ctx: &ToolContext) -> Vec<String> {
    let tool = pages.tool();
    let (mut texts, mut result) = (Vec::new(), first.clone());
    loop {
        let [.., page, notice] = &result.content[..] else { panic!("{result:?}") };
        texts.push(text(page).to_owned());
        let Some(arguments) = next_call(text(notice)) else { return texts };
        result = call_in(&tool, arguments, ctx).await.unwrap();
    }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.unwrap().block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pages_within_the_limit_concatenate_to_the_result(
        whole in "[a-cß€😀\n]{1,80}",
        limit in 1_u64..40,
    ) {
        let pages = Pages::new(ResultLimit::bytes(limit));
        let result = ToolResult::text(whole.clone()).with_details(json!({"k": 1}));
        let cut = pages.apply(result.clone(), &spec(), &ctx());
        prop_assert_eq!(&cut.details, &result.details);
        if whole.len() as u64 <= limit {
            prop_assert_eq!(cut, result);
            return Ok(());
        }
        // An empty first page is omitted.
        let first = if cut.content.len() == 1 { ToolResult::text("").with_content(cut.content[0].clone()) } else { cut };
        let texts = run(pages_of(&pages, &first, &ctx()));
        prop_assert_eq!(texts.concat(), whole);
        for page in &texts[1..] {
            let is_one_char = page.chars().count() == 1;
            prop_assert!(!page.is_empty() && (page.len() as u64 <= limit || is_one_char), "{:?}", page);
        }
        prop_assert!(texts[0].len() as u64 <= limit);
    }

    #[test]
    fn text_blocks_are_paged_as_one_text(
        pieces in proptest::collection::vec("[ab€\n]{0,12}", 1..6),
        limit in 1_u64..40,
    ) {
        let pages = Pages::new(ResultLimit::bytes(limit));
        let image = Content::Image { data: "AQ==".into(), mime_type: "image/png".into() };
        let result = pieces.iter().fold(ToolResult::empty().with_content(image.clone()), |result, piece| {
            result.with_content(Content::Text(piece.clone()))
        });
        let whole = result.to_text();
        let cut = pages.apply(result.clone(), &spec(), &ctx());
        prop_assert_eq!(&cut.content[0], &image);
        if whole.len() as u64 <= limit {
            prop_assert_eq!(cut, result);
            return Ok(());
        }
        let (notice, visible) = cut.content[1..].split_last().unwrap();
        let shown: Vec<&str> = visible.iter().map(text).collect();
        let arguments = next_call(text(notice)).unwrap();
        let offset = arguments["offset"].as_u64().unwrap() as usize;
        // The shown text is everything before the offset, except for a line break at its end.
        let shown = shown.join("\n");
        prop_assert_eq!(shown.trim_end_matches('\n'), whole[..offset].trim_end_matches('\n'));
        prop_assert!(offset as u64 <= limit + 1);
        let rest = run(async {
            let next = call_in(&pages.tool(), arguments, &ctx()).await.unwrap();
            pages_of(&pages, &next, &ctx()).await.concat()
        });
        prop_assert_eq!(format!("{}{rest}", &whole[..offset]), whole);
    }
}

#[tokio::test]
async fn page_breaks_at_line_ends_and_explains_how_to_continue() {
    let pages = Pages::new(ResultLimit::bytes(12));
    let cut = pages.apply(ToolResult::text("first line\nsecond line\n"), &spec(), &ctx());
    assert_eq!(text(&cut.content[0]), "first line\n");
    let arguments = next_call(text(&cut.content[1])).unwrap();
    let handle = arguments["handle"].as_str().unwrap().to_owned();
    let expected = format!(
        "[Result cut: bytes 0-11 of 23. Call read_result with {{\"handle\":\"{handle}\",\"offset\":11}} to read on.]"
    );
    assert_eq!(text(&cut.content[1]), expected);
    let last = call_in(&pages.tool(), arguments, &ctx()).await.unwrap();
    assert_eq!(last.to_text(), "second line\n\n[End of the result: bytes 11-23 of 23.]");
    assert_eq!(last.details, json!({"handle": handle, "offset": 11, "next_offset": null, "total": 23}));
    // Without an offset, reading starts at the beginning.
    let whole = call_in(&pages.tool(), json!({"handle": handle}), &ctx()).await.unwrap();
    assert_eq!(text(&whole.content[0]), "first line\n");
    let error = call_in(&pages.tool(), json!({"handle": handle, "offset": 23}), &ctx()).await.unwrap_err();
    let expected = "Invalid arguments: offset 23 is beyond the end of the result, which has 23 bytes";
    assert_eq!(error.to_string(), expected);
}

#[tokio::test]
async fn tool_may_lower_the_limit_but_not_raise_it() {
    let pages = Pages::new(ResultLimit::bytes(8));
    for (tool_limit, length) in [(None, 8), (Some(4), 4), (Some(800), 8)] {
        let spec = ToolSpec { result_limit: tool_limit, ..spec() };
        let cut = pages.apply(ToolResult::text("x".repeat(50)), &spec, &ctx());
        assert_eq!(text(&cut.content[0]).len(), length);
        let next = call_in(&pages.tool(), next_call(text(&cut.content[1])).unwrap(), &ctx()).await.unwrap();
        assert_eq!(text(&next.content[0]).len(), length);
        // A page is not cut again.
        assert_eq!(pages.apply(next.clone(), pages.tool().spec(), &ctx()), next);
    }
}

#[tokio::test]
async fn only_the_same_session_agent_and_principal_can_continue() {
    let pages = Pages::new(ResultLimit::bytes(4));
    let turn = Turn::default().with_session(Session::new("s")).with_agent_id("coder");
    let owner = turn.clone().with_principal(Principal::new("p"));
    let cut = pages.apply(ToolResult::text("0123456789"), &spec(), &called_in(&owner));
    let arguments = next_call(text(&cut.content[1])).unwrap();
    let same = called_in(&turn.with_principal(Principal::new("p").with_scopes(["x"])));
    assert_eq!(text(&call_in(&pages.tool(), arguments.clone(), &same).await.unwrap().content[0]), "4567");
    let others = [
        Turn::default(),
        owner.clone().with_session(Session::new("t")),
        owner.clone().with_agent_id("tester"),
        owner.with_principal(Principal::new("q")),
    ];
    let unknown = json!({"handle": "r0", "offset": 4});
    let not_found = call_in(&pages.tool(), unknown, &same).await.unwrap_err().to_string();
    for other in others {
        let error = call_in(&pages.tool(), arguments.clone(), &called_in(&other)).await.unwrap_err();
        // The error is the same as for a handle that never existed.
        assert_eq!(error.to_string().replace(arguments["handle"].as_str().unwrap(), "r0"), not_found);
        assert_eq!(error.code(), "RESULT_NOT_FOUND");
    }
}

#[tokio::test(start_paused = true)]
async fn stored_results_expire_and_are_bounded() {
    let limits = StoreLimits { bytes: 100, results: 3, ttl: Duration::from_secs(60) };
    let pages = Pages::with_store(ResultLimit::bytes(4), limits);
    let add = |length: usize| {
        let cut = pages.apply(ToolResult::text("x".repeat(length)), &spec(), &ctx());
        next_call(text(&cut.content[1]))
    };
    let tool = pages.tool();
    let is_stored = async |arguments: &Option<Value>| match arguments {
        Some(arguments) => call_in(&tool, arguments.clone(), &ctx()).await.is_ok(),
        None => false,
    };
    let first = add(10);
    advance(Duration::from_secs(59)).await;
    assert!(is_stored(&first).await);
    let second = add(10);
    advance(Duration::from_secs(2)).await;
    assert!(!is_stored(&first).await && is_stored(&second).await);
    // By number, then by bytes.
    let newer = [add(10), add(10), add(10)];
    assert!(!is_stored(&second).await && is_stored(&newer[0]).await);
    let large = add(85);
    assert!(is_stored(&large).await && !is_stored(&newer[1]).await && is_stored(&newer[2]).await);
    // A result that is too large by itself does not evict others.
    assert!(add(101).is_none() && is_stored(&large).await);
    let cut = pages.apply(ToolResult::text("x".repeat(101)), &spec(), &ctx());
    let expected = "[Result cut: bytes 0-4 of 101. The rest is too large to store. Request less data.]";
    assert_eq!(text(&cut.content[1]), expected);
    let debug = format!("{pages:?}");
    let handle = large.unwrap()["handle"].as_str().unwrap().to_owned();
    assert!(debug.contains("results: 2, bytes: 95") && !debug.contains(&handle), "{debug}");
}

#[tokio::test]
async fn oversized_binary_content_becomes_text() {
    let pages = Pages::new(ResultLimit::bytes(10).with_binary(5));
    let image = |data: &str| Content::Image { data: data.into(), mime_type: "image/png".into() };
    let resource = |data| Content::Resource { uri: "log:/a".into(), mime_type: String::new(), data };
    let result = ToolResult::text("ok")
        .with_content(image("AQID"))
        .with_content(image("AQIDBA=="))
        .with_content(image("AQI="))
        .with_content(Content::Audio { data: "AAAA".into(), mime_type: "audio/wav".into() })
        .with_content(resource(ResourceData::Base64("AAAAAAAA".into())))
        .with_content(resource(ResourceData::Text("a log of 17 bytes".into())))
        .with_content(resource(ResourceData::Text("8 bytes!".into())));
    let cut = pages.apply(result.clone(), &spec(), &ctx());
    assert_eq!(cut.content[..2], [Content::Text("ok".into()), image("AQID")]);
    let too_many = "not shown: the maximum is 5 bytes.]";
    assert_eq!(text(&cut.content[2]), format!("[Image (image/png): 4 bytes, {too_many}"));
    assert_eq!(cut.content[3], image("AQI="));
    assert_eq!(text(&cut.content[4]), format!("[Audio (audio/wav): 3 bytes, {too_many}"));
    assert_eq!(text(&cut.content[5]), format!("[Resource log:/a (binary): 6 bytes, {too_many}"));
    let notice = text(&cut.content[6]);
    assert!(
        notice.starts_with("[Resource log:/a (text): 17 bytes, not shown. Call read_result with"),
        "{notice}"
    );
    let read = call_in(&pages.tool(), next_call(notice).unwrap(), &ctx()).await.unwrap();
    assert_eq!(text(&read.content[0]), "a log of 1");
    assert_eq!(cut.content[7], result.content[7]);
    assert_eq!(cut.content.len(), result.content.len());
}

#[tokio::test]
async fn error_message_is_truncated() {
    let pages = Pages::new(ResultLimit::bytes(8));
    let short = ToolError::failed("short");
    assert_eq!(pages.apply_error(short.clone(), &spec(), &ctx()), short);
    let long = ToolError::failed_with("X", "ein Ausfall größerer Art").with_operator_detail("kept");
    let cut = pages.apply_error(long, &spec(), &ctx());
    let text = cut.to_string();
    assert!(text.starts_with("ein Ausf\n[Result cut: bytes 0-8 of 26."), "{text}");
    assert_eq!((cut.code(), cut.operator_text().as_ref()), ("X", "kept"));
    let rest = call_in(&pages.tool(), next_call(&text).unwrap(), &ctx()).await.unwrap();
    assert!(rest.to_text().starts_with("all gr"));
    for long in [ToolError::invalid_args("a long text"), ToolError::denied("a long text")] {
        let cut = pages.apply_error(long, &spec(), &ctx()).to_string();
        assert!(cut.contains("a long t\n[Result cut: bytes 0-8 of 11."), "{cut}");
    }
}

#[test]
fn handles_are_not_sequential() {
    let pages = [(); 2].map(|()| Pages::new(ResultLimit::bytes(1)));
    let mut handles: Vec<String> = (0..200)
        .map(|n| {
            let cut = pages[n % 2].apply(ToolResult::text("xyz"), &spec(), &ctx());
            next_call(text(&cut.content[1])).unwrap()["handle"].as_str().unwrap().to_owned()
        })
        .collect();
    handles.sort();
    handles.dedup();
    assert_eq!(handles.len(), 200);
    assert!(handles.iter().all(|handle| handle.len() == 25));
    let starts: std::collections::BTreeSet<&str> = handles.iter().map(|handle| &handle[..5]).collect();
    assert!(starts.len() > 150, "{starts:?}");
}

/// Returns the items of a result that was cut, read by following the notices, and checks that each page is JSON.
async fn items_of(pages: &Pages, first: &ToolResult, pointer: &str) -> Vec<Value> {
    let (tool, mut result, mut items) = (pages.tool(), first.clone(), Vec::new());
    let mut pointer = pointer;
    loop {
        let [.., page, notice] = &result.content[..] else { panic!("{result:?}") };
        let json = text(page).rsplit_once("\n\n").map_or(text(page), |(_, json)| json);
        let page: Value = serde_json::from_str(json).unwrap();
        items.extend(page.pointer(pointer).unwrap().as_array().unwrap().iter().cloned());
        pointer = "";
        match next_call(text(notice)) {
            Some(arguments) if arguments.get("item").is_some() => {
                result = call_in(&tool, arguments, &ctx()).await.unwrap();
            }
            _ => return items,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn json_is_cut_between_items(
        items in proptest::collection::vec("[a\"\\\\,\\]\\[{}: ß\n]{0,8}", 2..60),
        limit in 200_u64..400,
        (pretty, wrapped, head) in any::<(bool, bool, bool)>(),
    ) {
        let items: Vec<Value> = items.iter().map(|text| json!({ "text": text })).collect();
        let value = if wrapped { json!({"n": 1, "data": {"rows": items}, "more": true}) } else { json!(items) };
        let body = if pretty { format!("{value:#}") } else { value.to_string() };
        let whole = if head { format!("HTTP 200\n\n{body}") } else { body };
        let pages = Pages::new(ResultLimit::bytes(limit));
        let cut = pages.apply(ToolResult::text(whole.clone()), &spec(), &ctx());
        if whole.len() as u64 <= limit {
            prop_assert_eq!(cut, ToolResult::text(whole));
            return Ok(());
        }
        let page = text(&cut.content[0]);
        prop_assert!(page.len() as u64 <= limit, "{page}");
        let pointer = if wrapped { "/data/rows" } else { "" };
        prop_assert_eq!(run(items_of(&pages, &cut, pointer)), items);
    }
}

#[test]
fn notice_of_cut_json_states_its_items() {
    let pages = Pages::new(ResultLimit::bytes(60));
    let rows: Vec<Value> = (0..30).map(|row| json!({ "id": row })).collect();
    let result =
        ToolResult::json(json!({"rows": rows, "total": 30})).with_content(Content::Text("note".into()));
    let spec = ToolSpec { projection: "fields".into(), ..spec() };
    let cut = pages.apply(result.clone(), &spec, &ctx());
    assert_eq!(text(&cut.content[0]), r#"{"rows":[{"id":0},{"id":1},{"id":2},{"id":3}],"total":30}"#);
    let notice = text(&cut.content[1]);
    assert!(notice.starts_with("[Result cut: items 0-3 of 30 of /rows. Call read_result with "), "{notice}");
    assert!(
        notice.ends_with(" to read on, or call `big` with `fields` to get only the fields that you need.]")
    );
    let selected = ToolResult { selected: vec!["rows.id".into()], ..result };
    assert!(text(&pages.apply(selected, &spec, &ctx()).content[1]).ends_with(" to read on.]"));
    // The last page names the text after the list.
    let arguments = next_call(notice).unwrap();
    let last = json!({"handle": arguments["handle"], "item": 27});
    let last = run(call_in(&pages.tool(), last, &ctx())).unwrap();
    assert_eq!(text(&last.content[0]), r#"[{"id":27},{"id":28},{"id":29}]"#);
    let notice = text(&last.content[1]);
    assert!(
        notice.starts_with("[End of the list: items 27-29 of 30 of /rows. Call read_result with "),
        "{notice}"
    );
    let rest = run(call_in(&pages.tool(), next_call(notice).unwrap(), &ctx())).unwrap();
    assert_eq!(text(&rest.content[0]), "note");
    let beyond = json!({"handle": arguments["handle"], "item": 30});
    let error = run(call_in(&pages.tool(), beyond, &ctx())).unwrap_err();
    assert!(error.to_string().contains("item 30 is beyond the end of the list of 30 items"), "{error}");
}

#[test]
fn item_larger_than_a_page_is_read_by_its_bytes() {
    let pages = Pages::new(ResultLimit::bytes(40));
    let rows = json!([1, "x".repeat(100), 2]);
    let cut = pages.apply(ToolResult::json(rows.clone()), &spec(), &ctx());
    assert_eq!(text(&cut.content[0]), "[1]");
    let large = run(call_in(&pages.tool(), next_call(text(&cut.content[1])).unwrap(), &ctx())).unwrap();
    let [Content::Text(notice)] = &large.content[..] else { panic!("{large:?}") };
    assert!(notice.starts_with("[Item 1 of 3 has bytes 3-105 of the result, more than a page. "), "{notice}");
    let part = run(call_in(&pages.tool(), next_call(notice).unwrap(), &ctx())).unwrap();
    assert_eq!(text(&part.content[0]), &rows.to_string()[3..43]);
    let (_, after) = notice.split_once("to read it, and ").unwrap();
    let next = run(call_in(&pages.tool(), next_call(after).unwrap(), &ctx())).unwrap();
    assert_eq!(text(&next.content[0]), "[2]");
    // JSON of which not even one item fits is cut like any text.
    let cut = pages.apply(ToolResult::json(json!(["x".repeat(100), 1])), &spec(), &ctx());
    assert!(text(&cut.content[1]).starts_with("[Result cut: bytes 0-40 of "));
}
