use proptest::prelude::*;
use tokio::time::advance;

use super::*;
use crate::spec::ToolName;

const SECOND: Duration = Duration::from_secs(1);

fn tool(name: &'static str) -> Text {
    Text::Static(name)
}

/// Returns how many of `calls` calls are allowed.
fn burst(limit: &WindowLimit, principal: &Principal, name: &'static str, calls: usize) -> usize {
    (0..calls).filter(|_| limit.admit(principal, &tool(name))).count()
}

#[tokio::test(start_paused = true)]
async fn default_limits_are_60_per_tool_and_100_per_minute() {
    let (limit, principal) = (WindowLimit::new(), Principal::new("a"));
    assert_eq!(burst(&limit, &principal, "x", 200), 60);
    assert_eq!(burst(&limit, &principal, "y", 200), 40);
    assert_eq!(burst(&limit, &principal, "z", 200), 0);
    // Another principal has its own counts.
    assert_eq!(burst(&limit, &Principal::new("b"), "x", 200), 60);
    advance(SECOND * 59).await;
    assert_eq!(burst(&limit, &principal, "x", 1), 0);
    advance(SECOND * 2).await;
    assert_eq!((burst(&limit, &principal, "z", 200), burst(&limit, &principal, "x", 200)), (60, 40));
}

#[tokio::test(start_paused = true)]
async fn window_boundary_does_not_reset_the_limit() {
    let (limit, principal) = (WindowLimit::new().with_per_tool(10), Principal::new("a"));
    advance(SECOND * 55).await;
    assert_eq!(burst(&limit, &principal, "x", 20), 10);
    advance(SECOND * 10).await;
    assert_eq!(burst(&limit, &principal, "x", 20), 0);
}

#[tokio::test(start_paused = true)]
async fn principal_may_have_its_own_quota() {
    let limit = WindowLimit::new().with_per_tool(1000);
    assert_eq!(burst(&limit, &Principal::new("a").with_quota(3), "x", 200), 3);
    assert_eq!(burst(&limit, &Principal::new("b").with_quota(150), "x", 200), 150);
    assert_eq!(burst(&limit, &Principal::new("c").with_quota(0), "x", 200), 0);
}

#[tokio::test(start_paused = true)]
async fn memory_is_bounded_and_idle_principals_are_forgotten() {
    let limit = WindowLimit::new().with_principals(3).with_per_tool(u32::MAX).with_per_principal(u32::MAX);
    let named = |n: usize| Principal::new(format!("p{n}"));
    assert_eq!((0..10).filter(|n| limit.admit(&named(*n), &tool("x"))).count(), 3);
    for _ in 0..1000 {
        assert_eq!(burst(&limit, &named(0), "x", 100), 100);
        advance(SECOND).await;
    }
    let counted = |limit: &WindowLimit| {
        let counts = limit.counts.lock().unwrap();
        (counts.callers.len(), counts.callers.values().map(|caller| caller.parts.len()).max())
    };
    let (callers, parts) = counted(&limit);
    assert!(callers <= 3 && parts <= Some(65), "{callers} {parts:?}");
    // Idle principals are removed to make room.
    assert!(limit.admit(&named(7), &tool("x")) && limit.admit(&named(8), &tool("x")));
    assert!(!limit.admit(&named(9), &tool("x")));
    advance(SECOND * 200).await;
    assert!(limit.admit(&named(9), &tool("x")));
    assert_eq!(counted(&limit), (1, Some(1)));
}

/// Calls of one of three tools, each after some milliseconds.
fn calls() -> impl Strategy<Value = Vec<(u64, usize)>> {
    proptest::collection::vec((0_u64..400, 0_usize..3), 1..120)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sliding_window_never_exceeds_its_limit(
        calls in calls(),
    ) {
        let (per_tool, max, window) = (4, 6, 1000);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        let outcome: Result<(), TestCaseError> = runtime.unwrap().block_on(async {
            let limit = WindowLimit::new()
                .with_window(Duration::from_millis(window))
                .with_per_tool(per_tool)
                .with_per_principal(max);
            let principal = Principal::new("a");
            let (mut now, mut allowed) = (0, Vec::<(u64, usize)>::new());
            for (wait, tool_index) in calls {
                advance(Duration::from_millis(wait)).await;
                now += wait;
                let is_allowed_within = |age: u64| {
                    let recent: Vec<_> = allowed.iter().filter(|(at, _)| at + age > now).collect();
                    let same_tool = recent.iter().filter(|(_, tool)| *tool == tool_index).count();
                    (recent.len() as u32) < max && (same_tool as u32) < per_tool
                };
                // The oracle keeps every call. It must agree, except for the part that counts longer.
                let (strict, lenient) = (is_allowed_within(window + 2 * window / PARTS + 1), is_allowed_within(window));
                let is_admitted = limit.admit(&principal, &tool(["x", "y", "z"][tool_index]));
                prop_assert!(!is_admitted || lenient, "too many at {}", now);
                prop_assert!(is_admitted || !strict, "refused for too long at {}", now);
                if is_admitted {
                    allowed.push((now, tool_index));
                }
            }
            Ok(())
        });
        outcome?;
    }
}

#[tokio::test]
async fn function_is_a_limit_with_a_stable_refusal() {
    let spec = ToolSpec { name: ToolName::new("deploy"), ..ToolSpec::EMPTY };
    let only_a =
        |principal: &Principal, spec: &ToolSpec| &*principal.id == "a" && spec.name.as_str() == "deploy";
    let ctx = ToolContext::new("1", "deploy");
    assert_eq!(check(&only_a, &Principal::new("a"), &spec, &ctx).await, Ok(()));
    let error = check(&only_a, &Principal::new("b"), &spec, &ctx).await.unwrap_err();
    assert_eq!(error.to_string(), "Rate limit exceeded: API key cannot execute tool 'deploy' right now");
    assert_eq!(error.code(), "RATE_LIMITED");
}

#[tokio::test]
async fn panicking_limit_refuses() {
    struct PanicsEarly;
    impl RateLimit for PanicsEarly {
        fn allow<'a>(&'a self, _: &'a Principal, _: &'a ToolSpec) -> BoxFuture<'a, bool> {
            panic!("no connection")
        }
    }
    let panics_later = |_: &Principal, _: &ToolSpec| -> bool { panic!("no connection") };
    let limits: [&dyn RateLimit; 2] = [&PanicsEarly, &panics_later];
    for limit in limits {
        let ctx = ToolContext::new("1", "unnamed");
        let response = check(limit, &Principal::new("a"), &ToolSpec::EMPTY, &ctx).await;
        assert_eq!(response, Err(exceeded("unnamed")));
    }
}

/// A remote limit that does not respond.
struct Silent;

impl RateLimit for Silent {
    fn allow<'a>(&'a self, _: &'a Principal, _: &'a ToolSpec) -> BoxFuture<'a, bool> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn unresponsive_limit_refuses_after_the_timeout() {
    let (principal, spec, ctx) = (Principal::new("a"), ToolSpec::EMPTY, ToolContext::new("1", "unnamed"));
    let before = Instant::now();
    assert_eq!(check(&Silent, &principal, &spec, &ctx).await, Err(exceeded("unnamed")));
    assert_eq!(before.elapsed(), RATE_LIMIT_TIMEOUT);
    ctx.cancel().cancel();
    assert_eq!(check(&Silent, &principal, &spec, &ctx).await, Err(ToolError::Cancelled));
    assert_eq!(before.elapsed(), RATE_LIMIT_TIMEOUT);
}
