//! Propagates errors: a tool that calls a tool with errors cannot be compiled either.

use std::collections::BTreeMap;

use toolgen_core::ExecutionPlan;

use super::codes;
use super::context::Context;
use super::tools::Draft;

impl<'a> Context<'a> {
    /// Marks composed tools and agents as broken if they use broken tools, transitively.
    pub(super) fn propagate_errors(&mut self, drafts: &mut [Draft<'a>]) {
        loop {
            // A tool without a plan depends on a failed import, which was reported.
            let broken_tools = |draft: &&Draft<'a>| draft.broken || draft.call.is_none();
            let broken_tools: BTreeMap<String, bool> = drafts
                .iter()
                .filter(broken_tools)
                .map(|draft| (draft.spec.name.to_string(), draft.broken))
                .collect();
            let mut has_changed = false;
            for draft in drafts.iter_mut().filter(|draft| !draft.broken) {
                let callees = draft.call.as_ref().map(ExecutionPlan::tools).unwrap_or_default();
                let callees: Vec<Option<bool>> =
                    callees.iter().map(|name| broken_tools.get(*name).copied()).collect();
                for (index, reported) in callees.into_iter().enumerate() {
                    let Some(reported) = reported else { continue };
                    if reported {
                        self.report_call(draft, index);
                    }
                    (draft.broken, has_changed) = (true, true);
                }
            }
            if !has_changed {
                return;
            }
        }
    }

    /// Reports the call of a tool with errors. `index` is the index of the call in the draft.
    fn report_call(&mut self, draft: &Draft<'a>, index: usize) {
        let (code, consequence, calls) = match draft.kind {
            "agent" => (codes::AGENT, "no agent can use it", self.texts(&draft.plan_node, "tools")),
            _ => {
                let steps = draft.plan_node.get("steps").map(|steps| steps.items()).unwrap_or_default();
                let calls = steps.iter().filter_map(|step| step.get("call"));
                let calls = calls.filter_map(|call| Some((call.value.as_str()?, call.pointer.clone())));
                (codes::STEP, "no step can call it", Some(calls.collect()))
            }
        };
        if let Some((name, pointer)) = calls.unwrap_or_default().get(index) {
            let message = format!("the tool `{name}` has errors, so {consequence}");
            self.report(code, pointer, message, "correct that tool first");
        }
    }
}
