//! What documents become: tools, types, problems.

mod archives;
mod composed;
mod dynamic;
mod files;
mod manifest_plans;
mod manifests;
mod openapi;
mod openapi_bounds;
mod openapi_peer;
mod overlays;
mod pages;
mod prose;
mod tag_modules;
mod type_names;
