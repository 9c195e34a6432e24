use super::*;

#[test]
fn the_command_line_says_what_the_options_do() {
    assert_eq!(Options::default().credential("key", "KEY").command_line(), "");
    let options = Options::default()
        .include("tag:Albums")
        .include("GET /pets/**")
        .exclude("it's")
        .namespace("a")
        .rename("x", "y")
        .deprecated(false);
    assert_eq!(
        options.command_line(),
        " --operation tag:Albums --operation 'GET /pets/**' --exclude 'it'\\''s' --namespace a --rename x=y \
         --no-deprecated"
    );
}
