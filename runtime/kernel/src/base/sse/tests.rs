//! Parses events from bytes in pieces of any size.

use proptest::prelude::*;

use super::*;

const MAX_EVENT: usize = 1 << 20;

/// The result of reading a stream: its events, the last ID and the reconnection delay.
type Read = (Vec<(String, String)>, Option<String>, Option<Duration>);

fn read(pieces: &[&[u8]]) -> Read {
    let (mut reader, mut events) = (Reader::new(MAX_EVENT), Vec::new());
    for piece in pieces {
        reader.push(piece, &mut events).unwrap();
    }
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let events = events.into_iter().map(|event| (text(event.kind), text(event.data))).collect();
    (events, reader.last_id().map(str::to_owned), reader.retry())
}

fn data(stream: &str) -> Vec<String> {
    read(&[stream.as_bytes()]).0.into_iter().map(|(_, data)| data).collect()
}

#[test]
fn all_three_line_endings_are_accepted() {
    for end in ["\n", "\r", "\r\n"] {
        let stream = ["data: a", "data: b", "", "data: c", "", ""].join(end);
        assert_eq!(data(&stream), ["a\nb", "c"], "{end:?}");
    }
    assert_eq!(data("data: a\r\rdata: b\n\r\ndata: c\r\n\n"), ["a", "b", "c"]);
}

#[test]
fn event_completes_with_the_first_byte_of_its_empty_line() {
    let (mut reader, mut events) = (Reader::new(MAX_EVENT), Vec::new());
    reader.push(b"data: a\r\n\r", &mut events).unwrap();
    assert_eq!(events.len(), 1);
    reader.push(b"\ndata: b\r\n\r\n", &mut events).unwrap();
    assert_eq!(events.len(), 2);
}

#[test]
fn field_loses_one_space_and_needs_no_colon() {
    assert_eq!(data("data:a\n\ndata:  b\n\ndata\n\ndata: c: d\n\ndatax: e\n\n"), ["a", " b", "", "c: d"]);
}

#[test]
fn comments_and_unknown_fields_are_ignored() {
    assert_eq!(data(": hello\n\n:\ndata: a\n: b\nx: y\n\n"), ["a"]);
}

#[test]
fn byte_order_mark_is_skipped_at_the_start_only() {
    assert_eq!(data("\u{feff}data: a\n\n\u{feff}data: b\n\ndata: c\n\n"), ["a", "c"]);
}

#[test]
fn unfinished_event_is_dropped() {
    assert_eq!(data("data: a\n\ndata: b\n"), ["a"]);
    assert_eq!(data("data: a"), [""; 0]);
}

#[test]
fn event_id_takes_effect_with_its_event_even_without_data() {
    for (stream, last) in [
        ("id: 1\ndata: a\n\n", Some("1")),
        ("id: 1\n\n", Some("1")),
        ("id: 1\ndata: a\n\nid: 2\ndata: b\n", Some("1")),
        ("id: 1\n\ndata: b\n\n", Some("1")),
        ("id: 1\n\nid\n\n", None),
        ("id: 1\n\nid: a\0b\n\n", Some("1")),
    ] {
        assert_eq!(read(&[stream.as_bytes()]).1.as_deref(), last, "{stream:?}");
    }
}

#[test]
fn reconnect_drops_the_partial_event_and_keeps_the_last_id() {
    let (mut reader, mut events) = (Reader::new(MAX_EVENT), Vec::new());
    reader.push(b"retry: 5\nid: 1\ndata: a\n\nid: 2\ndata: b\nda", &mut events).unwrap();
    reader.reconnected();
    reader.push("\u{feff}data: c\n\n".as_bytes(), &mut events).unwrap();
    let data: Vec<&[u8]> = events.iter().map(|event| &event.data[..]).collect();
    assert_eq!(data, [b"a", b"c"]);
    assert_eq!((reader.last_id(), reader.retry()), (Some("1"), Some(Duration::from_millis(5))));
}

#[test]
fn retry_field_is_digits_and_at_most_a_minute() {
    for (value, delay) in [
        ("250", Some(Duration::from_millis(250))),
        ("0", Some(Duration::ZERO)),
        ("99999999999999999999999", Some(MAX_RETRY)),
        ("-1", None),
        ("1.5", None),
        ("", None),
    ] {
        assert_eq!(read(&[format!("retry: {value}\n").as_bytes()]).2, delay, "{value}");
    }
}

#[test]
fn event_type_applies_to_its_event_only() {
    let (events, ..) = read(&[b"event: ping\ndata: a\n\ndata: b\n\nevent: x\n\ndata: c\n\n"]);
    let kinds: Vec<&str> = events.iter().map(|(kind, _)| kind.as_str()).collect();
    assert_eq!(kinds, ["ping", "", ""]);
}

#[test]
fn event_over_the_limit_is_an_error() {
    let long = "a".repeat(11);
    for stream in [format!("data:{long}"), format!("data:aaa\ndata:{long}"), format!(":{long}{long}")] {
        let mut reader = Reader::new(15);
        assert_eq!(reader.push(stream.as_bytes(), &mut Vec::new()), Err(TooLong(15)), "{stream}");
    }
    // The limit applies to each event.
    let mut events = Vec::new();
    let mut reader = Reader::new(15);
    reader.push("data:aaaaaaaaa\n\n".repeat(50).as_bytes(), &mut events).unwrap();
    assert_eq!(events.len(), 50);
}

/// Fragments of streams that exercise each rule.
fn fragment() -> impl Strategy<Value = String> {
    let ends = prop::sample::select(vec!["\n", "\r", "\r\n", "\n\n", "\r\r", "\r\n\r\n"]);
    let lines = prop_oneof![
        Just("data: {\"a\":\"ö€😀\"}".to_owned()),
        Just("\u{feff}data: 1".to_owned()),
        "(data|id|event|retry|x|)(:| :|: |)[a-z0-9é:\u{0} ]{0,6}",
    ];
    (lines, ends).prop_map(|(line, end)| format!("{line}{end}"))
}

proptest! {
    #[test]
    fn events_do_not_depend_on_chunks(
        fragments in prop::collection::vec(fragment(), 0..20),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let stream = fragments.concat().into_bytes();
        let whole = read(&[&stream]);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        cuts.extend([0, stream.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &stream[cut[0]..cut[1]]).collect();
        prop_assert_eq!(&read(&pieces), &whole);
        let bytes: Vec<&[u8]> = stream.chunks(1).collect();
        prop_assert_eq!(&read(&bytes), &whole);
    }
}
