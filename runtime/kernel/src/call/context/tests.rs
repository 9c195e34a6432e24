use super::*;

#[test]
fn callbacks_have_a_debug_form() {
    let ctx = ToolContext::new("1", "t").with_on_update(drop).with_timeout(Duration::from_secs(1));
    let displayed = format!("{ctx:?}");
    assert!(
        displayed.contains("on_update: Some(<callback>), on_progress: None, timeout: Some(1s)"),
        "{displayed}"
    );
}

#[test]
fn child_is_cancelled_with_its_parent_only() {
    let parent = ToolContext::new("1", "a");
    let (first, second) = (parent.child("2", "b"), parent.child("3", "c"));
    first.cancel().cancel();
    assert!(!parent.is_cancelled() && !second.is_cancelled());
    parent.cancel().cancel();
    assert!(second.is_cancelled() && second.cancel().is_cancelled());
}

#[test]
fn cloned_context_is_the_same_call() {
    let ctx = ToolContext::new("1", "a").child("2", "b");
    let copy = ctx.clone();
    ctx.stop();
    assert!(copy.is_cancelled());
}
