//! Which calls a line answers that no parser of JSON takes: half a surrogate, `NaN`, a number that is
//! too large, nesting that is too deep. It follows strings and brackets and knows nothing of what
//! stands in them.

/// The ids of the answers in a line, one message or an array of them. Only a whole object that is a
/// message of its own counts, says `jsonrpc`, has a `result` or an `error`, no `method` and one id:
/// a line that is about an answer, or that quotes one, must not fail a call.
pub(super) fn answered(line: &[u8]) -> Vec<i64> {
    let line = line.trim_ascii();
    // Where messages stand: in nothing, or in an array.
    let base = usize::from(line.first() == Some(&b'['));
    let mut found = Vec::new();
    let mut message: Option<Message> = None;
    let (mut depth, mut at, mut previous) = (0_usize, 0, None);
    while let Some(&byte) = line.get(at) {
        let mut next = at + 1;
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => {
                at = next;
                continue;
            }
            b'"' => {
                let Some(end) = end_of_string(line, next) else {
                    return found;
                };
                let rest = line[end + 1..].trim_ascii_start();
                let is_key = depth == base + 1 && matches!(previous, Some(b'{' | b','));
                if let (Some(message), true, Some(value)) =
                    (&mut message, is_key, rest.strip_prefix(b":"))
                {
                    message.key(&line[next..end], value);
                }
                next = end + 1;
            }
            b'{' | b'[' => {
                if depth == base {
                    let begins = match previous {
                        None | Some(b'}') => base == 0,
                        Some(before) => base == 1 && matches!(before, b'[' | b','),
                    };
                    message = (byte == b'{' && begins).then(Message::default);
                }
                depth += 1;
            }
            b'}' | b']' => {
                let Some(outer) = depth.checked_sub(1) else {
                    return found;
                };
                depth = outer;
                if depth == base {
                    let id = message.take().and_then(|message| message.answered());
                    found.extend(id.filter(|id| byte == b'}' && !found.contains(id)));
                }
                if depth < base {
                    return found;
                }
            }
            _ => {}
        }
        previous = Some(byte);
        at = next;
    }
    found
}

/// What is known of a message.
#[derive(Default)]
struct Message {
    says_jsonrpc: bool,
    /// Whether it has a result or an error.
    is_answer: bool,
    is_request: bool,
    ids: Vec<Option<i64>>,
}

impl Message {
    fn key(&mut self, key: &[u8], value: &[u8]) {
        match key {
            b"jsonrpc" => self.says_jsonrpc = true,
            b"result" | b"error" => self.is_answer = true,
            b"method" => self.is_request = true,
            b"id" => self.ids.push(number(value)),
            _ => {}
        }
    }

    fn answered(self) -> Option<i64> {
        let is_answer = self.says_jsonrpc && self.is_answer && !self.is_request;
        match self.ids[..] {
            [id] if is_answer => id,
            _ => None,
        }
    }
}

/// Where a string that has begun ends.
fn end_of_string(line: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        match line.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// The whole number that a value is.
fn number(value: &[u8]) -> Option<i64> {
    let value = value.trim_ascii_start();
    let end = value.iter().position(|byte| !byte.is_ascii_digit())?;
    let (digits, rest) = value.split_at(end);
    matches!(rest.trim_ascii_start().first(), Some(b',' | b'}')).then_some(())?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::answered;

    #[test]
    fn an_answer_that_is_no_json_is_known_by_its_id_wherever_that_stands() {
        let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
        for result in [
            r#""\ud83d""#,
            "NaN",
            "1e400",
            "{\"id\":4,\"method\":\"\\\"\",}",
            &deep,
        ] {
            for line in [
                format!(r#"{{"jsonrpc":"2.0","id":3,"result":{result}}}"#),
                format!(r#" {{ "result" : {result}, "jsonrpc" : "2.0", "id" : 3 }} "#),
                format!(r#"{{"id":3,"error":{result},"jsonrpc":"2.0"}} and more"#),
            ] {
                assert_eq!(answered(line.as_bytes()), [3], "{line}");
            }
        }
    }

    #[test]
    fn a_line_that_is_no_answer_or_only_quotes_one_fails_no_call() {
        for line in [
            r#"{"jsonrpc":"2.0","id":3,"method":"ping","params":NaN,"result":1}"#,
            r#"{"jsonrpc":"2.0","result":NaN,"id":3,"method":"ping"}"#,
            r#"{"level":"debug","sent":{"jsonrpc":"2.0","id":3,"result":NaN}}"#,
            r#"{"level":"debug","id":3,"result":NaN}"#,
            r#"{"jsonrpc":"2.0","id":3,"id":4,"result":NaN}"#,
            r#"{"jsonrpc":"2.0","id":"3","result":NaN}"#,
            r#"{"jsonrpc":"2.0","id":3,"result":"cut here"#,
            r#"{"jsonrpc":"2.0","id":3,"result":{"cut":"#,
            r#"{} sent {"jsonrpc":"2.0","id":3,"result":1}"#,
            r#"[debug] {"jsonrpc":"2.0","id":3,"result":1}"#,
            r#"[sent {"jsonrpc":"2.0","id":3,"result":1}]"#,
            r#"[[{"jsonrpc":"2.0","id":3,"result":1}]]"#,
            "{",
            "}",
            "[",
            "{\"",
            "{\"\\",
            "",
        ] {
            assert_eq!(answered(line.as_bytes()), [0_i64; 0], "{line}");
        }
    }

    #[test]
    fn each_answer_of_an_array_is_known() {
        let one = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":NaN}}"#);
        let line = format!(r#"[{}, {}, {{"method":"x"}}, {}]"#, one(3), one(4), one(3));
        assert_eq!(answered(line.as_bytes()), [3, 4]);
    }
}
