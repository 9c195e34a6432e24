//! Rate limits that processes share.

use toolgen_runtime::layers::rate::{RateLimit, WindowLimit};
use toolgen_test_support::processes::{say, wait_for_others};

use crate::prelude::*;
use crate::redis::server::Server;
use crate::redis::{GIVEN, URL, others, said, spec, state};

const HOUR: Duration = Duration::from_secs(3600);

/// How many of so many calls are let through, one after the other.
async fn burst(limit: &impl RateLimit, who: &Principal, tool: &'static str, calls: usize) -> usize {
    let (spec, mut passed) = (spec(tool), 0);
    for _ in 0..calls {
        passed += usize::from(limit.allow(who, &spec).await);
    }
    passed
}

/// Not a test of its own: a further process that makes 400 calls of two tools, 16 at once.
#[tokio::test]
async fn child_process() {
    let Some(url) = std::env::var_os(URL) else { return };
    assert_eq!(std::env::var(GIVEN).unwrap(), "rate");
    let state = state(url.to_str().unwrap());
    state.ping().await.unwrap();
    let limit = WindowLimit::new().with_window(HOUR).with_per_tool(300).with_per_principal(450);
    let limit = Arc::new(state.rate_limit(limit));
    wait_for_others();
    let tasks: Vec<_> = (0..16)
        .map(|number| {
            let limit = limit.clone();
            let tool = if number % 2 == 0 { "x" } else { "y" };
            tokio::spawn(async move { (tool, burst(&*limit, &Principal::new("ada"), tool, 25).await) })
        })
        .collect();
    let (mut x, mut y) = (0, 0);
    for task in tasks {
        match task.await.unwrap() {
            ("x", passed) => x += passed,
            (_, passed) => y += passed,
        }
    }
    say(format!("{x} {y}"));
}

#[test]
fn limits_are_exact_across_processes() {
    let Some(server) = Server::start() else { return };
    let said = said(others(4, "redis::rate::child_process", &server.url(), "rate"));
    assert_eq!(said.len(), 4, "{said:?}");
    let numbers = |at: usize| said.iter().map(move |line| line.split(' ').nth(at).unwrap());
    let sum = |at: usize| numbers(at).map(|number| number.parse::<usize>().unwrap()).sum::<usize>();
    // 800 calls of each, of which 300 are too few for both to have what they may.
    let (x, y) = (sum(0), sum(1));
    assert_eq!(x + y, 450, "{said:?}");
    assert!(x <= 300 && y <= 300, "{said:?}");
}

#[tokio::test]
async fn what_a_limit_means_is_what_it_means_in_memory() {
    let Some(server) = Server::start() else { return };
    let state = state(&server.url());
    let quotas = [None, Some(3), Some(150), Some(0)];
    for (number, quota) in quotas.into_iter().enumerate() {
        let mut who = Principal::new(format!("p{number}"));
        who.quota = quota;
        let (shared, own) = (state.rate_limit(WindowLimit::new()), WindowLimit::new());
        for tool in ["x", "y", "z", "x"] {
            let (there, here) = (burst(&shared, &who, tool, 70).await, burst(&own, &who, tool, 70).await);
            assert_eq!(there, here, "{tool} of {who:?}");
        }
    }
    let none = state.rate_limit(WindowLimit::new().with_per_tool(0));
    assert_eq!(burst(&none, &Principal::new("p1"), "x", 3).await, 0);
    // Others have counts of their own: principals, namespaces and windows.
    assert_eq!(burst(&state.rate_limit(WindowLimit::new()), &Principal::new("p9"), "x", 70).await, 60);
    let elsewhere = RedisState::builder(server.url(), "other tests").build().unwrap();
    assert_eq!(burst(&elsewhere.rate_limit(WindowLimit::new()), &Principal::new("p9"), "x", 70).await, 60);
    let longer = state.rate_limit(WindowLimit::new().with_window(HOUR));
    assert_eq!(burst(&longer, &Principal::new("p9"), "x", 70).await, 60);
}

/// Times are measured around each request, so what is asserted holds however slow the machine is.
#[tokio::test]
async fn no_stretch_of_time_has_more_calls_than_allowed_and_refusals_end() {
    let Some(server) = Server::start() else { return };
    let window = Duration::from_millis(640);
    let limit = state(&server.url()).rate_limit(WindowLimit::new().with_window(window).with_per_tool(4));
    let (who, spec, start) = (Principal::new("ada"), spec("x"), Instant::now());
    // When each call that passed was sent and answered at the latest.
    let mut passed: Vec<(Duration, Duration)> = Vec::new();
    let mut refused_for = None;
    for number in 0..150_u64 {
        let sent = start.elapsed();
        let is_allowed = limit.allow(&who, &spec).await;
        let answered = start.elapsed();
        if is_allowed {
            // Those that count for certain: sent within the window that ends with the answer.
            let recent = passed.iter().filter(|(at, _)| *at + window > answered).count();
            assert!(recent < 4, "{passed:?} and one at {answered:?}");
            passed.push((sent, answered));
            refused_for = None;
        } else {
            // Those that may count still, with the part of the window that counts longer.
            let recent = passed.iter().filter(|(_, at)| *at + window * 66 / 64 >= sent).count();
            assert!(recent >= 4, "refused for too long at {sent:?}: {passed:?}");
            refused_for.get_or_insert(sent);
        }
        tokio::time::sleep(Duration::from_millis(number * 7 % 23)).await;
    }
    assert!(passed.len() >= 8, "the window went on: {passed:?}");
}

#[tokio::test]
async fn every_key_has_the_namespace_and_expires() {
    let Some(server) = Server::start() else { return };
    let limit = WindowLimit::new().with_window(Duration::from_millis(300));
    let limit = state(&server.url()).rate_limit(limit);
    assert_eq!(burst(&limit, &Principal::new("ada"), "x", 5).await, 5);
    let client = redis::Client::open(server.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let keys: Vec<String> = redis::cmd("KEYS").arg("*").query_async(&mut connection).await.unwrap();
    assert!(keys.iter().all(|key| key.starts_with("tests:")), "{keys:?}");
    tokio::time::sleep(Duration::from_millis(700)).await;
    let keys: Vec<String> = redis::cmd("KEYS").arg("*").query_async(&mut connection).await.unwrap();
    assert!(keys.is_empty(), "{keys:?}");
}
