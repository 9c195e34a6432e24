//! Compiles an OpenAPI document into the module `tasks`, and a manifest into the module `team`.

use toolgen::{Build, Options};

fn main() {
    // Without types: this program passes arguments as JSON.
    let options = Options::default().types(false);
    let tasks = options.clone().include("createTask").credential("token", "TASKS_TOKEN");
    Build::new("tasks").document("../../specs/tasks.yaml").options(tasks).emit();
    Build::new("team").document("team.yaml").options(options).emit();
}
