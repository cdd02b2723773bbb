//! Redirections.

use crate::android::files::{Errno, FileUser};
use crate::android::lock;
use crate::android::shell::environment::Shell;
use crate::android::shell::io::{FileOutput, Input, Io, Output};
use crate::android::shell::run::Flow;
use crate::android::shell::syntax::{Redirect, Target};

/// The most that is read of a file for a command's input, in bytes.
const MAX_INPUT: usize = 64 * 1024 * 1024;

impl Shell {
    /// What a command with these redirections is connected to; `None` after a complaint.
    pub(super) async fn redirected(
        &mut self,
        redirects: &[Redirect],
        io: &Io,
    ) -> Result<Option<Io>, Flow> {
        let mut new = io.clone();
        for redirect in redirects {
            let failed = match &redirect.target {
                Target::Here(word) => {
                    new.stdin = Input::of(self.text_of(word, io).await?);
                    None
                }
                Target::HereText(word) => {
                    new.stdin = Input::of(self.text_of(word, io).await? + "\n");
                    None
                }
                Target::Read(word) => {
                    let path = self.text_of(word, io).await?;
                    match self.open_input(&path).await {
                        Ok(input) => {
                            new.stdin = input;
                            None
                        }
                        Err(errno) => Some((path, errno, "open")),
                    }
                }
                Target::Write(word) | Target::Append(word) | Target::Both(word) => {
                    let path = self.text_of(word, io).await?;
                    let append = matches!(redirect.target, Target::Append(_));
                    match self.open_output(&path, append) {
                        Ok(output) => {
                            if matches!(redirect.target, Target::Both(_)) {
                                new.stderr = output.clone();
                            }
                            set(&mut new, redirect.fd.unwrap_or(1), output);
                            None
                        }
                        Err(errno) => Some((path, errno, "create")),
                    }
                }
                Target::CopyOf(word) => {
                    let of = self.text_of(word, io).await?;
                    let copy = match of.as_str() {
                        "1" => Some(new.stdout.clone()),
                        "2" => Some(new.stderr.clone()),
                        "-" => Some(Output::Null),
                        _ => None,
                    };
                    if let Some(output) = copy {
                        set(&mut new, redirect.fd.unwrap_or(1), output);
                    }
                    None
                }
            };
            if let Some((path, errno, verb)) = failed {
                self.complain(io, &format!("can't {verb} {path}: {errno}"))
                    .await?;
                return Ok(None);
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
                let terminal = self.session.terminal.upgrade();
                return terminal.map(Output::Client).ok_or(Errno::NoEntry);
            }
            _ => {}
        }
        let android = &self.android;
        let mut files = lock(&android.files);
        let mut writer = android.blobs.writer();
        if append && let Ok(Some(old)) = files.content(&real, &FileUser::Root) {
            for part in old.parts() {
                let part = part.map_err(|_| Errno::NoSpace)?;
                writer.write(&part).map_err(|_| Errno::NoSpace)?;
            }
        } else {
            // It is there, and empty, from the moment it is opened.
            let empty = android.blobs.put(&[]).map_err(|_| Errno::NoSpace)?;
            files.write(&real, empty, 0o666, android.seconds(), &self.who)?;
        }
        files.may_write(&real, &self.who)?;
        drop(files);
        Ok(FileOutput::open(
            android.clone(),
            real,
            self.who.clone(),
            writer,
        ))
    }

    /// Opens a file for reading.
    pub async fn open_input(&self, path: &str) -> Result<Input, Errno> {
        let real = self.real_path(path)?;
        if real == "/dev/null" || real == "/dev/tty" {
            return Ok(Input::empty());
        }
        Ok(Input::of(self.read_file(path, MAX_INPUT)?))
    }

    /// The content of a file, at most `most` bytes of it.
    pub fn read_file(&self, path: &str, most: usize) -> Result<Vec<u8>, Errno> {
        let real = self.real_path(path)?;
        let content = lock(&self.android.files).content(&real, &self.who)?;
        match content {
            Some(blob) => blob.read(most).map_err(|_| Errno::NoSpace),
            None => Ok(self.android.made_up(&real)),
        }
    }
}

fn set(io: &mut Io, fd: u32, output: Output) {
    match fd {
        1 => io.stdout = output,
        2 => io.stderr = output,
        // Other descriptors are opened and never used by what runs here.
        _ => {}
    }
}
