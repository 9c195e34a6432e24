//! Tests of completions and effects.

use toolgen_runtime::layers::control::EffectHandler;
use toolgen_runtime::spec::Completion;
use toolgen_runtime::spec::plan::{CompletePlan, EffectPlan};
use toolgen_runtime::{Control, Effect};

use crate::engines::{answer, spec, template, text};
use crate::prelude::*;

#[tokio::test]
async fn completion_ends_the_loop_in_its_state() {
    let mut spec = spec("submit", &["plan", "note?"]);
    spec.completion = Some(Completion { next_state: "PLAN_REVIEW".into() });
    let bare = ExecutionPlan::Complete(CompletePlan { message: None, data: None });
    // An argument of this name is data, and has no special meaning.
    let given = json!({"plan": "p", "next_state": "OTHER"});
    let open = json!({"plan": "p"});
    let answered = answer(spec.clone(), bare.clone(), open.clone(), ToolboxContext::new()).await;
    assert_eq!(answered.control(), Control::complete("PLAN_REVIEW", open.clone()));
    assert_eq!(answered.text(), open.to_string());
    let plan = CompletePlan {
        message: Some(text("Submitted {plan}.")),
        data: Some(template(&json!({"plan": "{plan}", "note": "{note?}", "next_state": "OTHER"}))),
    };
    let answered = answer(spec, ExecutionPlan::Complete(plan), open, ToolboxContext::new()).await;
    assert_eq!(answered.control(), Control::complete("PLAN_REVIEW", given));
    assert_eq!(answered.text(), "Submitted p.");
}

struct Ask;

impl EffectHandler for Ask {
    fn handle<'a>(
        &'a self,
        effect: &'a Effect,
        _: &'a ToolContext,
    ) -> BoxFuture<'a, Result<ToolResult, ToolError>> {
        Box::pin(async move { Ok(ToolResult::text(format!("{} {}", effect.name, effect.data))) })
    }
}

#[tokio::test]
async fn outcome_of_an_effect_is_the_result() {
    let plan =
        |data: Option<Value>| EffectPlan { name: "ask".into(), data: data.map(|data| template(&data)) };
    for (data, expected) in
        [(None, r#"ask {"who":"Ada"}"#), (Some(json!({"to": ["{who}"]})), r#"ask {"to":["Ada"]}"#)]
    {
        let tool = Tool { spec: spec("question", &["who"]), call: ExecutionPlan::Effect(plan(data)) };
        let tools = Engines::new().tools_from([tool]).unwrap();
        let registry = Registry::new(tools).unwrap();
        let toolbox = Toolbox::builder(&registry).effect("ask", Ask).build().unwrap();
        let call = ToolCall::new("1", "question", json!({"who": "Ada"}));
        assert_eq!(toolbox.run(call, &Turn::new("turn")).await.text(), expected);
    }
}
