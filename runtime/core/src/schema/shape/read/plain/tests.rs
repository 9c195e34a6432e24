//! What a model reads of the prose of API descriptions.

use proptest::prelude::*;
use toolgen_test_support::rows;

use super::plain;

#[test]
fn html_becomes_markdown() {
    let cases = rows! {
        "<p>The elements.</p><p>And <b>more</b>.</p>", "The elements.\n\nAnd more.";
        "One<br/>two<BR>three", "One\ntwo\nthree";
        "One<br/><br/>two<br><br><br>three", "One\n\ntwo\n\nthree";
        "Use <code>id</code> or <kbd>x</kbd>.", "Use `id` or `x`.";
        "<pre>a\n  b</pre>c", "```\na\n  b\n```\n\nc";
        "See <a href=\"https://a.example/x?a=1&amp;b=2\">the  guide</a>.",
            "See [the  guide](https://a.example/x?a=1&b=2).";
        "See <a href='https://a.example'>https://a.example</a>.", "See https://a.example.";
        "See <a href='#part'>below</a> or <a name=x>here</a>.", "See below or here.";
        "<ul><li>one</li><li>two</li></ul>", "- one\n- two";
        "Actions:<ul>\n <li> <p>one</p> </li>\n <li>\n two </li> </ul> <p>End</p>", "Actions:\n\n- one\n- two\n\nEnd";
        "<ol><li>a<li>b<ul><li>c</ul><li>d</ol>", "1. a\n2. b\n  - c\n3. d";
        "<p>A\n     line.</p>", "A line.";
        "<table><tr><th>Op</th><th>Notes</th></tr><tr><td>replace</td><td><p>now</p></td></tr></table>",
            "Op | Notes\nreplace | now";
        "| a | b<br>c |\n| - | - |", "| a | b c |\n| - | - |";
        "<details><summary>Expand</summary>\n\n- x\n- y\n\n</details>", "- x\n- y";
        "<details><summary>Values</summary>\n\n- x\n\n</details>", "Values\n\n- x";
        "Up to 10<sup>6</sup> H<sub>2</sub>O", "Up to 10^6 H2O";
        "a<!-- nobody\nreads --> b", "a b";
        "a<script>alert('<b>')</script>b", "ab";
        "<h3 style='color: red'>&#128679; Deprecated since v4</h3>\nUse it.", "🚧 Deprecated since v4\n\nUse it.";
        "<note> <p>It takes minutes.</p> </note> <p>End</p>", "Note: It takes minutes.\n\nEnd";
        "a &lt; b &amp;&amp; c &gt;= d&nbsp;e &quot;f&quot; &#x41;&#66;", "a < b && c >= d e \"f\" AB";
        "&lt;b&gt; stays", "<b> stays";
        "A picture: <img src='x' alt='of a cat'>", "A picture: of a cat";
    };
    for (given, expected) in cases {
        let [given, expected] = [&given, &expected].map(|text| text.as_str().unwrap());
        assert_eq!(plain(given), expected, "{given}");
    }
}

#[test]
fn what_only_a_page_shows_goes() {
    let cases = rows! {
        "See [the guide](/docs/a-guide#part) and [below](#operation/x).", "See the guide and below.";
        "See [the guide](https://a.example/x) or [it](//a.example).",
            "See [the guide](https://a.example/x) or [it](//a.example).";
        "[![Run it](https://a.example/x.svg)](https://a.example/run)", "[Run it](https://a.example/run)";
        "The picture ![of a cat](cat.png) shows `[code](/stays)`.", "The picture of a cat shows `[code](/stays)`.";
        "Columns:\n\n|  Name   | What it is       |\n|:--------|:----------------:|\n|  `id`   |  a   number      |\n\nEnd",
            "Columns:\n\n| Name | What it is |\n|---|---|\n| `id` | a number |\n\nEnd";
    };
    for (given, expected) in cases {
        let [given, expected] = [&given, &expected].map(|text| text.as_str().unwrap());
        assert_eq!(plain(given), expected, "{given}");
        assert_eq!(plain(expected), expected);
    }
}

#[test]
fn what_is_no_html_stays() {
    for text in [
        "A list:\n\n- one\n  - two\n\n    code\n\n\n\nEnd  \nof it.",
        "`refs/heads/<branch name>` or <branch>",
        "Vec<String> and Map<a, b>",
        "POST /<table>/<code>/<summary> <https://a.example> <me@a.example>",
        "a < b && b > c, a<b and c>d",
        "R&D; AT&T &unknown; &; &#xZZ; &#0",
        "Removes `<script>`, ``<b>x</b> ` &lt;`` and `<li>`.",
        "```html\n<p>kept</p>\n&amp;\n```",
        "p<page>.b<index in reading order>",
        "an open ` tick and <id>",
        "Must match [a-z](/[0-9]+)? or [a-zA-Z](/x)+ and [x](/y)",
        "```\n|  a  |\n|-----|\n[text](/path)\n```",
        "a |  b\n---|---",
        "< <",
        "<",
        "&",
    ] {
        assert_eq!(plain(text), text);
    }
}

#[test]
fn hidden_characters_are_removed() {
    let cases = [
        ("a\u{200b}b\u{feff}c\u{ad}d", "abcd"),
        ("ab\u{202e}cd\u{2066}ef", "abcdef"),
        ("see\u{e0069}\u{e0067}\u{e006e}\u{e006f}\u{fe0f} this", "see this"),
        ("a\u{0}\u{1b}[31mb\u{7f}\u{9b}c", "a[31mbc"),
        ("one\r\ntwo\rthree\u{2028}four", "one\ntwo\nthree\nfour"),
        ("a\u{a0}b\u{3000}c", "a b c"),
        ("a&#8203;b&zwj;&#x202e;c", "ab&zwj;c"),
        ("می\u{200c}خواهم a\u{200d}b", "می\u{200c}خواهم ab"),
        ("👩\u{200d}💻", "👩\u{200d}💻"),
        ("\u{200b} x \u{200b}", "x"),
    ];
    for (given, expected) in cases {
        assert_eq!(plain(given), expected, "{given:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_has_a_plain_form(text in "([<>/&;`\\- \n\ta-c\u{200b}é]|</?(p|b|ul|ol|li|pre|a|code|td|br|note|table)>|&#[0-9]{1,3};){0,40}") {
        let shown = plain(&text);
        prop_assert!(!shown.chars().any(|char| char == '\u{200b}'), "{shown:?}");
        prop_assert_eq!(shown.trim(), shown.as_ref());
    }

    #[test]
    fn text_without_marks_stays(text in "[a-zA-Z0-9 .,:;()*_#|\n-]{0,80}") {
        prop_assert_eq!(plain(&text), text.trim());
    }
}
