//! Costs and budgets.

use toolgen_runtime::agent::agent_loop::{Cost, LoopError};
use toolgen_runtime::agent::model::{Price, Prices};

use super::*;

/// Per token a dollar, so that a cost is the number of tokens.
fn priced(model: Model) -> Model {
    model.with_prices(Prices::new().with("claude-sonnet-5-5", Price::new(1e6, 1e6)))
}

#[tokio::test]
async fn cost_is_that_of_all_turns() {
    let case = &cases()[0];
    let server = Server::in_turn(case.replies());
    let run = ask(priced(case.model(&server.url))).await;
    let usage = run.transcript.usage();
    assert_eq!((usage.input, usage.output), (61 + 112 + 151, 18 + 18 + 14));
    assert_eq!(run.cost, Some(Cost::usd(374.0)));
    let unpriced = ask(case.model(&server.url).with_prices(Prices::new())).await;
    assert_eq!(unpriced.cost, None);
}

#[tokio::test]
async fn maximum_cost_ends_the_run() {
    let case = &cases()[0];
    let server = Server::in_turn(case.replies());
    let tools = tools();
    let limits = LoopOptions::new().with_max_cost(Cost::usd(100.0));
    let mut agent = Agent::new(priced(case.model(&server.url)), &tools).with_limits(limits.clone());
    let run = agent.run("What will the weather be like?").await;
    // The first turn costs 79, the second 130: no third request.
    assert_eq!((run.outcome, run.iterations), (Err(LoopError::MaxCost(Cost::usd(100.0))), 2));
    assert_eq!(run.cost, Some(Cost::usd(209.0)));

    let unpriced = case.model(&server.url).with_prices(Prices::new());
    let run = Agent::new(unpriced, &tools).with_limits(limits).run("Again").await;
    assert_eq!(run.outcome, Err(LoopError::NoPrice("claude-sonnet-5-5".into())));
    assert_eq!(server.seen().len(), 2);
}
