//! Propagates errors: a tool that calls an invalid tool cannot be compiled either.

use std::collections::BTreeMap;

use toolgen_core::ExecutionPlan;

use super::codes;
use super::context::Context;
use super::tools::Draft;

impl<'a> Context<'a> {
    /// Marks as broken the compositions and agents that use tools which were later found to be broken, transitively.
    pub(super) fn propagate_errors(&mut self, drafts: &mut [Draft<'a>]) {
        loop {
            // A tool without a plan lacks a part of an import, which was reported.
            let lost = |draft: &&Draft<'a>| draft.broken || draft.call.is_none();
            let lost: BTreeMap<String, bool> =
                drafts.iter().filter(lost).map(|draft| (draft.spec.name.to_string(), draft.broken)).collect();
            let mut more = false;
            for draft in drafts.iter_mut().filter(|draft| !draft.broken) {
                let called = draft.call.as_ref().map(ExecutionPlan::tools).unwrap_or_default();
                let called: Vec<Option<bool>> = called.iter().map(|name| lost.get(*name).copied()).collect();
                for (index, reported) in called.into_iter().enumerate() {
                    let Some(reported) = reported else { continue };
                    if reported {
                        self.report_call(draft, index);
                    }
                    (draft.broken, more) = (true, true);
                }
            }
            if !more {
                return;
            }
        }
    }

    /// Reports the call of a tool with errors, by its index among the calls of a draft.
    fn report_call(&mut self, draft: &Draft<'a>, index: usize) {
        let (code, who, calls) = match draft.kind {
            "agent" => (codes::AGENT, "no agent can use it", self.texts(&draft.of_kind, "tools")),
            _ => {
                let steps = draft.of_kind.get("steps").map(|steps| steps.items()).unwrap_or_default();
                let calls = steps.iter().filter_map(|step| step.get("call"));
                let calls = calls.filter_map(|call| Some((call.value.as_str()?, call.pointer.clone())));
                (codes::STEP, "no step can call it", Some(calls.collect()))
            }
        };
        if let Some((name, at)) = calls.unwrap_or_default().get(index) {
            let message = format!("the tool `{name}` has errors, so {who}");
            self.report(code, at, message, "correct that tool first");
        }
    }
}
