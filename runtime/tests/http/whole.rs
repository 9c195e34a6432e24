//! Tests that incomplete lists are distinguished from complete ones.

use crate::pages::{JSON, argument, called, engine_of, paged};
use crate::prelude::*;

use crate::server::engine;

/// A service that counts seven pets, and returns the number in `gives`, with a link to the next page if `led`.
fn counting(gives: usize, led: bool) -> Server {
    Server::start(move |seen| {
        let at = argument(seen.target(), "skip").unwrap_or(0);
        let at = argument(seen.target(), "after").unwrap_or(at);
        let at = argument(seen.target(), "page").map_or(at, |page| (page - 1) * 3);
        let pets: Vec<Value> = (at..gives).take(3).map(|id| json!({"id": id + 1})).collect();
        let next = (led && at + 3 < gives).then_some(at + 3);
        let url = next.map(|next| format!("/pets?after={next}"));
        let body =
            json!({"data": pets, "cursor": next, "next": url, "meta": {"total": 7}, "more": at + 3 < 7});
        reply(200, JSON, body.to_string())
    })
}

#[tokio::test]
async fn partial_list_is_never_presented_as_complete() {
    let total = "total=/meta/total offered=max_items";
    let counted = "the service counts 7 in total, but returned no next page";
    for (pages, gives, led, arguments, message) in [
        // There is no link, as with a cursor that is returned only on request.
        (
            "cursor=after@/cursor items=/data",
            7,
            false,
            json!({}),
            format!("[3 items of 1 page; more may follow ({counted})]"),
        ),
        (
            "next=/next items=/data",
            7,
            false,
            json!({}),
            format!("[3 items of 1 page; more may follow ({counted})]"),
        ),
        (
            "link items=/data",
            7,
            false,
            json!({}),
            format!("[3 items of 1 page; more may follow ({counted})]"),
        ),
        // Pages without items before the end.
        (
            "offset=skip items=/data",
            4,
            true,
            json!({}),
            format!("[4 items of 3 pages; more may follow ({counted})]"),
        ),
        (
            "page=page items=/data",
            5,
            true,
            json!({}),
            format!("[5 items of 3 pages; more may follow ({counted})]"),
        ),
        (
            "offset=skip items=/data",
            7,
            true,
            json!({"max_items": 7}),
            "[7 items of 3 pages; these are all]".to_owned(),
        ),
        (
            "offset=skip items=/data",
            7,
            true,
            json!({"max_items": 1}),
            "[1 item of 1 page; more may follow (1 item was requested; the service counts 7 in total)]"
                .to_owned(),
        ),
        // Items before the first page count.
        (
            "offset=skip items=/data",
            7,
            true,
            json!({"skip": 4}),
            "[3 items of 1 page; these are all]".to_owned(),
        ),
        (
            "page=page items=/data",
            7,
            true,
            json!({"page": 2, "limit": 3}),
            "[4 items of 2 pages; these are all]".to_owned(),
        ),
        // If a list starts at a cursor, the number of items before it is unknown.
        (
            "cursor=after@/cursor items=/data",
            7,
            true,
            json!({"after": 3}),
            "[4 items of 2 pages; these are all]".to_owned(),
        ),
        (
            "next=/next items=/data",
            7,
            true,
            json!({"after": 3}),
            "[4 items of 2 pages; these are all]".to_owned(),
        ),
        ("next=/next items=/data", 7, true, json!({}), "[7 items of 3 pages; these are all]".to_owned()),
        // The service declares that more follow.
        (
            "cursor=after@/cursor items=/data more=/more",
            5,
            true,
            json!({"after": 3}),
            "[2 items of 1 page; more may follow (the service reports more, but returned no next page)]"
                .to_owned(),
        ),
        (
            "cursor=after@/cursor items=/data more=/more",
            3,
            true,
            json!({}),
            format!("[3 items of 1 page; more may follow ({counted})]"),
        ),
    ] {
        let server = counting(gives, led);
        let mut arguments = arguments;
        if arguments["max_items"].is_null() {
            arguments["max_items"] = json!(100);
        }
        let result =
            called(engine(), paged(&server.url, &format!("{pages} {total}")), arguments.clone()).await;
        let text = result.to_text();
        assert!(text.ends_with(&message), "{pages} {arguments}: {text}");
        assert_eq!(result.details["pages"]["total"], 7);
        // The same holds for Rust.
        arguments["max_items"] = json!(1000);
        let engine = engine_of(engine());
        let mut items = engine.items(paged(&server.url, &format!("{pages} {total}")), arguments);
        let mut last = None;
        while let Some(item) = items.next().await {
            last = Some(item);
        }
        assert_eq!(last.unwrap().is_err(), message.contains("no next page"), "{pages}");
    }
    let server = counting(3, true);
    let engine = engine_of(engine());
    let mut items =
        engine.items(paged(&server.url, "cursor=after@/cursor items=/data more=/more"), json!({}));
    for _ in 0..3 {
        items.next().await.unwrap().unwrap();
    }
    let error = items.next().await.unwrap().unwrap_err();
    assert!(
        error.to_string().contains("more items follow (the service reports more, but returned no next page)"),
        "{error}"
    );
    assert!(items.next().await.is_none());
}
