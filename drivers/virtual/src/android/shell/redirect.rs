//! Redirections.

use crate::android::files::{Errno, FileUser};
use crate::android::shell::environment::Shell;
use crate::android::shell::io::{FileOutput, Input, Io, Output, Stop};
use crate::android::shell::syntax::{Direction, Redirect};

/// The most that is read of a file for a command's input, in bytes.
const MAX_INPUT: usize = 64 * 1024 * 1024;

impl Shell {
    /// What a command with these redirections is connected to; `None` after a complaint.
    pub(super) async fn redirected(
        &mut self,
        redirects: &[Redirect],
        io: &Io,
    ) -> Result<Option<Io>, Stop> {
        let mut new = io.clone();
        for redirect in redirects {
            let target = self.text_of(&redirect.target, io).await?;
            let opened = match redirect.direction {
                Direction::Read => self.open_input(&target).map(|input| {
                    new.stdin = input;
                    None
                }),
                Direction::Write => self.open_output(&target, false).map(Some),
                Direction::Append => self.open_output(&target, true).map(Some),
                Direction::CopyOf => Ok(match target.as_str() {
                    "1" => Some(new.stdout.clone()),
                    "2" => Some(new.stderr.clone()),
                    "-" => Some(Output::Null),
                    _ => None,
                }),
            };
            match (opened, redirect.fd.unwrap_or(1)) {
                (Ok(Some(output)), 1) => new.stdout = output,
                (Ok(Some(output)), 2) => new.stderr = output,
                // Other descriptors are opened and never used by what runs here.
                (Ok(_), _) => {}
                (Err(errno), _) => {
                    let reads = redirect.direction == Direction::Read;
                    let verb = if reads { "open" } else { "create" };
                    self.complain(io, &format!("can't {verb} {target}: {errno}"))
                        .await?;
                    return Ok(None);
                }
            }
        }
        Ok(Some(new))
    }

    /// Opens a file for writing, as `>` and `>>` do.
    pub fn open_output(&self, path: &str, append: bool) -> Result<Output, Errno> {
        let real = self.real_path(path)?;
        match real.as_str() {
            "/dev/null" | "/dev/zero" => return Ok(Output::Null),
            "/dev/tty" => {
                let terminal = self.terminal.upgrade();
                return terminal.map(Output::Client).ok_or(Errno::NO_ENTRY);
            }
            _ => {}
        }
        let android = &self.android;
        let mut files = android.files.lock();
        let mut writer = android.blobs.writer();
        if append && let Ok(Some(old)) = files.content(&real, &FileUser::Root) {
            for part in old.parts() {
                let part = part.map_err(|_| Errno::NO_SPACE)?;
                writer.write(&part).map_err(|_| Errno::NO_SPACE)?;
            }
        } else {
            // It is there, and empty, from the moment it is opened.
            let empty = android.blobs.put(&[]).map_err(|_| Errno::NO_SPACE)?;
            files.write(&real, empty, 0o666, android.seconds(), &self.who)?;
        }
        files.may_write(&real, &self.who)?;
        drop(files);
        let (android, who) = (android.clone(), self.who.clone());
        Ok(FileOutput::open(android, real, who, writer))
    }

    /// Opens a file for reading.
    pub fn open_input(&self, path: &str) -> Result<Input, Errno> {
        match self.real_path(path)?.as_str() {
            "/dev/null" | "/dev/tty" => Ok(Input::empty()),
            _ => Ok(Input::of(self.read_file(path, MAX_INPUT)?)),
        }
    }

    /// The content of a file, at most `most` bytes of it.
    pub fn read_file(&self, path: &str, most: usize) -> Result<Vec<u8>, Errno> {
        let real = self.real_path(path)?;
        let content = self.android.files.lock().content(&real, &self.who)?;
        match content {
            Some(blob) => blob.read(most).map_err(|_| Errno::NO_SPACE),
            None => Ok(self.android.made_up(&real)),
        }
    }
}
