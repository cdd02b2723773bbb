//! The little HTTP that an agent's server speaks: one request a connection, in one write.

use bytes::Bytes;

/// The most header fields that are read.
const MAX_HEADERS: usize = 64;

/// A `GET`, or a `POST` when there is a body.
///
/// The server of u2.jar (NanoHTTPD) takes bodies for ASCII and answers with compressed ones that
/// leak when it is allowed to, so `body` has to be ASCII and compression is not offered.
pub(super) fn request(path: &str, port: u16, body: Option<&str>) -> Vec<u8> {
    let (method, body) = match body {
        Some(body) => ("POST", body),
        None => ("GET", ""),
    };
    format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// Status and body of a whole response.
///
/// # Errors
/// What is missing or wrong.
pub(super) fn response(all: &Bytes) -> Result<(u16, Bytes), String> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut headers);
    let parsed = response
        .parse(all)
        .map_err(|error| format!("not HTTP: {error}"))?;
    let httparse::Status::Complete(head) = parsed else {
        return Err("the response ended in its header".to_owned());
    };
    let status = response.code.unwrap_or(0);
    let field = |name: &str| {
        let mut fields = response.headers.iter();
        let field = fields.find(|field| field.name.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(field.value).ok()
    };
    let body = all.slice(head..);
    if field("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
        return Ok((status, chunked(&body)?));
    }
    let Some(length) = field("content-length") else {
        return Ok((status, body));
    };
    let length: usize = length
        .trim()
        .parse()
        .map_err(|_| format!("invalid length {length:?}"))?;
    if body.len() < length {
        return Err(format!(
            "the response ended after {} of {length} bytes",
            body.len()
        ));
    }
    Ok((status, body.slice(..length)))
}

/// Puts a chunked body together.
fn chunked(body: &Bytes) -> Result<Bytes, String> {
    let mut whole = Vec::new();
    let mut rest = &body[..];
    loop {
        let size = httparse::parse_chunk_size(rest).map_err(|_| "a chunk without a size")?;
        let httparse::Status::Complete((head, size)) = size else {
            return Err("the response ended between chunks".to_owned());
        };
        if size == 0 {
            return Ok(whole.into());
        }
        let size = usize::try_from(size).map_err(|_| "a chunk is too long")?;
        let end = head.checked_add(size).ok_or("a chunk is too long")?;
        let chunk = rest.get(head..end).ok_or("the response ended early")?;
        whole.extend_from_slice(chunk);
        rest = rest.get(end + 2..).ok_or("the response ended early")?;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<(u16, String), String> {
        let (status, body) = response(&Bytes::copy_from_slice(text.as_bytes()))?;
        Ok((status, String::from_utf8(body.to_vec()).unwrap()))
    }

    #[test]
    fn bodies_are_read_by_length_by_chunks_or_to_the_end() {
        let pong = Ok((200, "pong".to_owned()));
        assert_eq!(
            read("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\npong"),
            pong
        );
        assert_eq!(
            read(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\npon\r\n1\r\ng\r\n0\r\n\r\n"
            ),
            pong
        );
        assert_eq!(read("HTTP/1.1 200 OK\r\n\r\npong"), pong);
        let missing = read("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
        assert_eq!(missing, Ok((404, String::new())));
    }

    #[test]
    fn an_answer_that_breaks_off_is_no_answer() {
        for text in [
            "",
            "HTTP/1.1 200 OK\r\nContent-Le",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\npong",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\npong",
            "java.lang.OutOfMemoryError",
        ] {
            assert!(read(text).is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = response(&bytes.clone().into());
            let mut framed = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
            framed.extend(bytes);
            let _ = response(&framed.into());
        }
    }
}
