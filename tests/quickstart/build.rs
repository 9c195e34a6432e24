//! Compiles the document of the service into the module `tasks`.

fn main() {
    toolgen::Build::new("tasks")
        .document("../../specs/tasks.yaml")
        .options(toolgen::Options::default().credential("token", "TASKS_TOKEN"))
        .emit();
}
