//! Opens a report with what the system opens pages with, or with `$BROWSER`.

use std::ffi::OsString;
use std::io::Read;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use crate::render::{self, Color};

/// How long is waited for an opener to say that it failed. One that goes on is the browser itself.
const OPEN_TIMEOUT: Duration = Duration::from_secs(3);

/// Starts its arguments detached from its caller, and writes down how they ended. What is killed
/// with this program are its descendants, and a browser is not one.
const APART: &str = r#"("$@" </dev/null >/dev/null 2>&1; echo $?) &"#;

/// Opens a file. That it does not open is a warning.
pub(crate) fn file(path: &Path, color: Color) {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    warned(open(path.into_os_string()), color);
}

/// Opens an address, and does not wait for what becomes of it.
pub(crate) fn address(url: &str, color: Color) {
    let url = OsString::from(url);
    let opening = std::thread::Builder::new().name("opener".to_owned());
    // Without a thread to spare nothing is opened.
    let _ = opening.spawn(move || warned(open(url), color));
}

fn warned(opened: Result<(), String>, color: Color) {
    if let Err(why) = opened {
        render::warning(&format!("cannot open the report: {why}"), color);
    }
}

fn open(what: OsString) -> Result<(), String> {
    let browsers = std::env::var("BROWSER").unwrap_or_default();
    let mut tried = Vec::new();
    for command in commands(&browsers) {
        let words = with(&command, &what);
        match started(&words) {
            Ok(()) => return Ok(()),
            Err(why) => tried.push(format!("{command}: {why}")),
        }
    }
    Err(tried.join("; "))
}

/// The commands that may open it, the first that can does.
fn commands(browsers: &str) -> Vec<String> {
    let is_mac = cfg!(target_os = "macos");
    let given = browsers.split(':').map(str::trim);
    let mut given: Vec<_> = given.filter(|given| !given.is_empty()).collect();
    if given.is_empty() {
        given.push(if is_mac { "open" } else { "xdg-open" });
    }
    given.into_iter().map(str::to_owned).collect()
}

/// A command with what it opens: where it has `%s`, or behind it.
fn with(command: &str, what: &OsString) -> Vec<OsString> {
    let has_place = command.split_whitespace().any(|word| word == "%s");
    let words = command.split_whitespace();
    let words = words.map(|word| match word {
        "%s" => what.clone(),
        word => OsString::from(word),
    });
    words.chain((!has_place).then(|| what.clone())).collect()
}

fn started(words: &[OsString]) -> Result<(), String> {
    let mut shell = Command::new("sh");
    let shell = shell.args(["-c", APART, "packtrain"]).args(words);
    let shell = shell
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let shell = packtrain_program::spawning(|| shell.spawn());
    let mut shell = shell.map_err(|error| error.to_string())?;
    let mut answer = shell.stdout.take();
    // It ends at once, and what it started goes on.
    shell.wait().map_err(|error| error.to_string())?;
    let (tell, told) = mpsc::channel();
    let reading = std::thread::Builder::new().name("opener".to_owned());
    let reading = reading.spawn(move || {
        let mut code = String::new();
        if let Some(answer) = &mut answer {
            // What cannot be read is not a failure of the opener's.
            let _ = answer.read_to_string(&mut code);
        }
        // There may be no receiver any more.
        let _ = tell.send(code);
    });
    reading.map_err(|error| error.to_string())?;
    match told.recv_timeout(OPEN_TIMEOUT).as_deref().map(str::trim) {
        Ok("127") => Err("no such program".to_owned()),
        Ok("0" | "") | Err(_) => Ok(()),
        Ok(code) => Err(format!("exit code {code}")),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::{commands, with};

    #[test]
    fn the_users_browsers_come_before_the_systems_opener() {
        assert_eq!(commands("").len(), 1);
        assert_eq!(commands(" : ").len(), 1);
        assert_eq!(commands("a --new %s:b"), ["a --new %s", "b"]);
        let what = OsString::from("x y");
        assert_eq!(with("a --new %s -q", &what), ["a", "--new", "x y", "-q"]);
        assert_eq!(with("b", &what), ["b", "x y"]);
    }
}
