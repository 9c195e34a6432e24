//! Metrics of calls.

use opentelemetry_proto::tonic::metrics::v1::metric::Data;

use crate::calls::toolbox;
use crate::prelude::*;
use crate::receiver::{Telemetry, points};

#[tokio::test(flavor = "multi_thread")]
async fn call_duration_is_a_histogram_by_tool_and_error() {
    let telemetry = Telemetry::start();
    let toolbox = toolbox(telemetry.otel());
    let turn = Turn::new("turn").with_agent_id("clerk");
    for user in ["me", "you", "root"] {
        let arguments = json!({"user": user, "pin": "hunter2"});
        toolbox.run(ToolCall::new("c", "login", arguments), &turn).await;
    }
    for made_up in ["a", "b"] {
        toolbox.run(ToolCall::new("c", made_up, json!({})), &turn).await;
    }
    let metrics = telemetry.metrics();
    let metric = &metrics["gen_ai.execute_tool.duration"];
    assert_eq!(metric.unit, "s");
    let Some(Data::Histogram(histogram)) = &metric.data else { panic!("{metric:?}") };
    let buckets = &histogram.data_points[0].explicit_bounds;
    assert_eq!((buckets.len(), buckets[0], buckets[13]), (14, 0.01, 81.92));
    let counted: Vec<(String, u64)> =
        points(metric).into_iter().map(|(at, n, _)| (at.join(" "), n)).collect();
    let agent = "gen_ai.agent.name=clerk gen_ai.tool.name";
    assert_eq!(
        counted,
        [
            (format!("error.type=PERMISSION_DENIED {agent}=login gen_ai.tool.type=function"), 1),
            (format!("error.type=TOOL_NOT_FOUND {agent}=_OTHER gen_ai.tool.type=function"), 2),
            (format!("{agent}=login gen_ai.tool.type=function"), 2),
        ]
    );
    assert!(points(metric).iter().all(|(_, _, seconds)| *seconds < 10.0), "seconds, not milliseconds");
}
