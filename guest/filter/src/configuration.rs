use std::borrow::Cow;

/// Objects and lists within one another. The configuration needs four.
const MAX_DEPTH: u32 = 16;

/// The plugin's configuration as JSON text; `None` if it is no text at all.
///
/// What is given as a `StringValue` arrives as it is. What is given as a `Struct` Envoy passes on in protobuf's
/// encoding (its documentation says JSON), and is written as JSON here. The two cannot be taken for one another:
/// in an encoded `Struct` each key is followed by a control character, which JSON does not allow.
pub(crate) fn text(bytes: &[u8]) -> Option<Cow<'_, str>> {
    match object(bytes, MAX_DEPTH) {
        Some(json) => Some(Cow::Owned(json)),
        None => str::from_utf8(bytes).ok().map(Cow::Borrowed),
    }
}

/// A protobuf field's content, by wire type.
enum Content<'a> {
    Varint(u64),
    Fixed64([u8; 8]),
    Bytes(&'a [u8]),
}

/// `google.protobuf.Struct`: a map of values in field 1.
fn object(mut message: &[u8], depth: u32) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    let mut members = Vec::new();
    while !message.is_empty() {
        let (1, Content::Bytes(mut entry)) = field(&mut message)? else { return None };
        let (1, Content::Bytes(key)) = field(&mut entry)? else { return None };
        let (2, Content::Bytes(member)) = field(&mut entry)? else { return None };
        members.push(format!("{}:{}", string(key)?, value(member, depth)?));
    }
    Some(format!("{{{}}}", members.join(",")))
}

/// `google.protobuf.Value`: one field, whose number tells the type.
fn value(mut message: &[u8], depth: u32) -> Option<String> {
    let json = match field(&mut message)? {
        (1, Content::Varint(_)) => "null".to_owned(),
        (2, Content::Fixed64(bytes)) => number(f64::from_le_bytes(bytes)),
        (3, Content::Bytes(bytes)) => string(bytes)?,
        (4, Content::Varint(truth)) => (truth != 0).to_string(),
        (5, Content::Bytes(message)) => object(message, depth)?,
        (6, Content::Bytes(message)) => list(message, depth)?,
        _ => return None,
    };
    message.is_empty().then_some(json)
}

/// `google.protobuf.ListValue`: values in field 1.
fn list(mut message: &[u8], depth: u32) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    let mut items = Vec::new();
    while !message.is_empty() {
        let (1, Content::Bytes(item)) = field(&mut message)? else { return None };
        items.push(value(item, depth)?);
    }
    Some(format!("[{}]", items.join(",")))
}

/// All numbers arrive as floats; whole ones are written as such. JSON has no infinities.
fn number(number: f64) -> String {
    if number.is_finite() { number.to_string() } else { "null".to_owned() }
}

fn string(bytes: &[u8]) -> Option<String> {
    serde_json::to_string(str::from_utf8(bytes).ok()?).ok()
}

/// Takes a field's number and content off a message.
fn field<'a>(message: &mut &'a [u8]) -> Option<(u64, Content<'a>)> {
    let tag = varint(message)?;
    let content = match tag & 7 {
        0 => Content::Varint(varint(message)?),
        1 => Content::Fixed64(*take(message, 8)?.first_chunk()?),
        2 => {
            let length = usize::try_from(varint(message)?).ok()?;
            Content::Bytes(take(message, length)?)
        }
        _ => return None,
    };
    Some((tag >> 3, content))
}

/// Seven bits a byte, lowest first; the eighth says that more follow.
fn varint(message: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = message.split_first()?;
        *message = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

fn take<'a>(message: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, rest) = message.split_at_checked(length)?;
    *message = rest;
    Some(taken)
}

#[cfg(test)]
mod tests {
    use super::text;

    /// A field of wire type 2.
    fn bytes(number: u8, content: &[u8]) -> Vec<u8> {
        let mut field = vec![number << 3 | 2];
        let mut length = content.len();
        while length > 0x7f {
            field.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
            length >>= 7;
        }
        field.push(u8::try_from(length).unwrap());
        field.extend(content);
        field
    }

    fn member(key: &str, value: &[u8]) -> Vec<u8> {
        bytes(1, &[bytes(1, key.as_bytes()), bytes(2, value)].concat())
    }

    fn number(number: f64) -> Vec<u8> {
        [&[2 << 3 | 1], &number.to_le_bytes()[..]].concat()
    }

    fn example() -> Vec<u8> {
        let settings = [
            member("window_size", &number(20.0)),
            member("open_jitter", &number(0.25)),
            member("enabled", &[4 << 3, 0]),
        ];
        let list = [bytes(1, &[1 << 3, 0]), bytes(1, &[4 << 3, 1])].concat();
        [
            member("per", &bytes(3, b"route")),
            member("default", &bytes(5, &settings.concat())),
            member("x", &bytes(6, &list)),
        ]
        .concat()
    }

    #[test]
    fn text_stays_as_it_is() {
        let newlines = "\n".repeat(300);
        for json in ["{}", "\n{\"per\": \"route\"}", "not JSON", newlines.as_str()] {
            assert_eq!(text(json.as_bytes()).unwrap(), json);
        }
        assert_eq!(text(b"\xff{}"), None);
    }

    #[test]
    fn a_struct_becomes_json() {
        let json = r#"{"per":"route","default":{"window_size":20,"open_jitter":0.25,"enabled":false},"x":[null,true]}"#;
        assert_eq!(text(&example()).unwrap(), json);
        assert_eq!(text(b"").unwrap(), "{}");
    }

    #[test]
    fn a_struct_as_a_real_envoy_passes_it_on() {
        let bytes = b"\x0a\x0e\x0a\x03per\x12\x07\x1a\x05route";
        assert_eq!(text(bytes).unwrap(), r#"{"per":"route"}"#);
    }

    #[test]
    fn a_struct_that_is_cut_short_is_none() {
        let whole = example();
        let first_member = member("per", &bytes(3, b"route")).len();
        for length in 1..whole.len() {
            let is_struct = text(&whole[..length]).is_some_and(|text| text.starts_with('{'));
            let between_members = [first_member, whole.len() - 17].contains(&length);
            assert_eq!(is_struct, between_members, "{length} bytes");
        }
    }

    #[test]
    fn what_is_nested_too_deeply_is_no_struct() {
        let nested = |depth| (1..depth).fold(Vec::new(), |inner, _| member("x", &bytes(5, &inner)));
        assert!(text(&nested(16)).unwrap().starts_with('{'));
        assert!(!text(&nested(17)).is_some_and(|text| text.starts_with('{')));
        assert!(!text(&nested(5_000)).is_some_and(|text| text.starts_with('{')));
    }
}
