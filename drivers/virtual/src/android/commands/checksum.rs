//! Sums and encodings of files.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use md5::{Digest, Md5};
use sha1::Sha1;
use sha2::Sha256;

use crate::android::commands::options::Options;
use crate::android::commands::{Call, CommandResult};
use crate::android::lock;
use crate::android::shell::io::Input;

/// The most that is read, in bytes.
const MAX_INPUT: usize = 256 * 1024 * 1024;

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    let mut options = Options::of(call.rest(), &["w", "l", "s"]);
    if options.rest.is_empty() {
        options.rest.push("-".to_owned());
    }
    let mut code = 0;
    for path in options.rest.clone() {
        // The sum of a file that a thousand devices hold is computed once.
        if matches!(call.name(), "md5sum" | "md5")
            && let Some(sum) = known_md5(call, &path)
        {
            call.out(format!("{}  {path}\n", hex(&sum))).await?;
            continue;
        }
        let input = if path == "-" {
            call.io.stdin.clone()
        } else {
            match call.shell.open_input(&path).await {
                Ok(input) => input,
                Err(errno) => {
                    code = call.fail(format!("{path}: {errno}"), 1).await?;
                    continue;
                }
            }
        };
        let text = match call.name() {
            "md5sum" | "md5" => format!("{}  {path}\n", digest::<Md5>(&input).await),
            "sha1sum" => format!("{}  {path}\n", digest::<Sha1>(&input).await),
            "sha256sum" => format!("{}  {path}\n", digest::<Sha256>(&input).await),
            "base64" => base64(&input, &options).await,
            "xxd" => xxd(&input.all(1 << 20).await, &options),
            _ => cksum(&input.all(MAX_INPUT).await, &path),
        };
        call.out(text).await?;
    }
    Ok(code)
}

fn known_md5(call: &Call<'_>, path: &str) -> Option<[u8; 16]> {
    let real = call.shell.real_path(path).ok()?;
    let content = lock(&call.shell.android.files).content(&real, &call.shell.who);
    content.ok()??.md5().ok()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

async fn digest<D: Digest>(input: &Input) -> String {
    let mut sum = D::new();
    while let Some(block) = input.block().await {
        sum.update(&block);
    }
    hex(&sum.finalize())
}

async fn base64(input: &Input, options: &Options) -> String {
    let bytes = input.all(MAX_INPUT).await;
    if options.has("d") {
        let text: String = String::from_utf8_lossy(&bytes)
            .chars()
            .filter(|c| !c.is_whitespace())
            .collect();
        let decoded = STANDARD.decode(text).unwrap_or_default();
        return String::from_utf8_lossy(&decoded).into_owned();
    }
    let encoded = STANDARD.encode(bytes);
    let width: usize = options.number("w").unwrap_or(76);
    if width == 0 {
        return encoded;
    }
    let lines: Vec<&str> = (encoded.as_bytes().chunks(width))
        .filter_map(|line| std::str::from_utf8(line).ok())
        .collect();
    lines.join("\n") + "\n"
}

fn xxd(bytes: &[u8], options: &Options) -> String {
    if options.has("p") {
        return hex(bytes) + "\n";
    }
    (bytes.chunks(16).enumerate())
        .map(|(i, row)| {
            let pairs: Vec<String> = row.chunks(2).map(hex).collect();
            let shown: String = (row.iter())
                .map(|b| {
                    if b.is_ascii_graphic() || *b == b' ' {
                        char::from(*b)
                    } else {
                        '.'
                    }
                })
                .collect();
            format!("{:08x}: {:<39}  {shown}\n", i * 16, pairs.join(" "))
        })
        .collect()
}

/// POSIX' CRC, which counts the length too.
fn cksum(bytes: &[u8], path: &str) -> String {
    let step = |crc: u32, byte: u8| {
        (0..8).fold(crc ^ (u32::from(byte) << 24), |crc, _| {
            if crc & 0x8000_0000 == 0 {
                crc << 1
            } else {
                (crc << 1) ^ 0x04c1_1db7
            }
        })
    };
    let mut crc = bytes.iter().fold(0, |crc, byte| step(crc, *byte));
    let mut length = bytes.len();
    while length > 0 {
        crc = step(crc, (length & 0xff) as u8);
        length >>= 8;
    }
    let name = if path == "-" {
        String::new()
    } else {
        format!(" {path}")
    };
    format!("{} {}{name}\n", !crc, bytes.len())
}
