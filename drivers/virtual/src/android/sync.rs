//! `sync:`: files in and out. Source: adb's `SYNC.TXT` and `file_sync_protocol.h`.

use std::ops::ControlFlow;
use std::sync::Arc;

use bytes::{BufMut as _, Bytes, BytesMut};

use crate::android::Android;
use crate::android::blobs::BlobWriter;
use crate::android::files::{
    DIRECTORY, Errno, FinalLink, LINK, MAX_PATH, Meta, REGULAR, TYPE_BITS, parent_of,
};
use crate::android::stream::{Closed, Stream};
use crate::faults::{Event, Fault};

/// The most bytes of one DATA message.
const MAX_DATA: usize = 64 * 1024;
/// The largest file that is taken in, in bytes.
const MAX_FILE: u64 = 4 * 1024 * 1024 * 1024;
/// A flag of version 2: nothing is written.
const DRY_RUN: u32 = 0x8000_0000;
/// Flags of version 2 that ask for compression, which is not announced.
const COMPRESSED: u32 = 1 | 2 | 4;

/// Serves requests until `QUIT` or the end of the stream.
pub(super) async fn run(android: &Arc<Android>, stream: Stream) {
    let mut session = Session {
        android: android.clone(),
        stream,
    };
    // The stream ends the session; there is nobody to tell of it.
    while let Ok(ControlFlow::Continue(())) = session.request().await {}
}

struct Session {
    android: Arc<Android>,
    stream: Stream,
}

impl Session {
    async fn request(&mut self) -> Result<ControlFlow<()>, Closed> {
        let head = self.stream.read_exact(8).await?;
        let (id, length) = (head[..4].to_vec(), number(&head[4..]));
        if id == b"QUIT" {
            return Ok(ControlFlow::Break(()));
        }
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > MAX_PATH {
            self.fail("path too long").await?;
            return Ok(ControlFlow::Break(()));
        }
        let path = self.stream.read_exact(length).await?;
        let path = String::from_utf8_lossy(&path).into_owned();
        match id.as_slice() {
            b"STAT" | b"LST2" => self.stat(&path, &id, FinalLink::Keep).await?,
            b"STA2" => self.stat(&path, &id, FinalLink::Follow).await?,
            b"LIST" => self.list(&path, b"DENT", 16).await?,
            b"LIS2" => self.list(&path, b"DNT2", 72).await?,
            b"SEND" => {
                let (path, mode) = path.rsplit_once(',').unwrap_or((&path, "33188"));
                let mode = mode.parse().unwrap_or(0o100_644);
                self.receive_file(path, mode, 0).await?;
            }
            b"SND2" => {
                let more = self.stream.read_exact(12).await?;
                self.receive_file(&path, number(&more[4..8]), number(&more[8..]))
                    .await?;
            }
            b"RECV" => self.send_file(&path, 0).await?,
            b"RCV2" => {
                let more = self.stream.read_exact(8).await?;
                self.send_file(&path, number(&more[4..])).await?;
            }
            other => {
                let name = String::from_utf8_lossy(other).into_owned();
                self.android
                    .device()
                    .note_unhandled(&format!("sync {name}"));
                self.fail(&format!("unknown command {name}")).await?;
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    async fn fail(&self, why: &str) -> Result<(), Closed> {
        let mut out = BytesMut::from(&b"FAIL"[..]);
        out.put_u32_le(u32::try_from(why.len()).unwrap_or(0));
        out.extend_from_slice(why.as_bytes());
        self.stream.send(out.freeze()).await
    }

    fn look(&self, path: &str, last: FinalLink) -> Result<(String, Meta), Errno> {
        let files = self.android.files.lock();
        let real = files.resolve("/", path, last)?;
        let meta = files.meta(&real).ok_or(Errno::NO_ENTRY)?;
        Ok((real, meta))
    }

    async fn stat(&self, path: &str, id: &[u8], last: FinalLink) -> Result<(), Closed> {
        let mut out = BytesMut::new();
        put(&mut out, id, self.look(path, last).map(|(_, meta)| meta));
        self.stream.send(out.freeze()).await
    }

    /// Answers with an `id` for each entry, and `padding` behind the end.
    async fn list(&self, path: &str, id: &[u8], padding: usize) -> Result<(), Closed> {
        let mut out = BytesMut::new();
        for (name, meta) in self.entries(path) {
            put(&mut out, id, Ok(meta));
            out.put_u32_le(u32::try_from(name.len()).unwrap_or(0));
            out.extend_from_slice(name.as_bytes());
            if out.len() > MAX_DATA {
                self.stream.send(out.split().freeze()).await?;
            }
        }
        out.extend_from_slice(b"DONE");
        out.put_bytes(0, padding);
        self.stream.send(out.freeze()).await
    }

    /// What is in a directory, itself and its parent in front; nothing when it cannot be read.
    fn entries(&self, path: &str) -> Vec<(String, Meta)> {
        let Ok((real, meta)) = self.look(path, FinalLink::Follow) else {
            return Vec::new();
        };
        let files = self.android.files.lock();
        let Ok(names) = files.list(&real, &self.android.who()) else {
            return Vec::new();
        };
        let above = files.meta(parent_of(&real)).unwrap_or(meta);
        let mut entries = vec![(".".to_owned(), meta), ("..".to_owned(), above)];
        entries.extend(names.into_iter().filter_map(|name| {
            let meta = files.meta(&format!("{}/{name}", real.trim_end_matches('/')))?;
            Some((name, meta))
        }));
        entries
    }

    async fn send_file(&self, path: &str, flags: u32) -> Result<(), Closed> {
        if flags & COMPRESSED != 0 {
            return self.fail("compression is not supported").await;
        }
        let who = self.android.who();
        let content = self.look(path, FinalLink::Follow).and_then(|(real, _)| {
            let content = self.android.files.lock().content(&real, &who)?;
            Ok((real, content))
        });
        match content {
            Err(Errno::IS_DIRECTORY) => return self.fail("read failed: Is a directory").await,
            Err(errno) => return self.fail(&format!("open failed: {errno}")).await,
            Ok((real, None)) => self.send_data(&self.android.made_up(&real)).await?,
            Ok((_, Some(blob))) => {
                for part in blob.parts() {
                    let Ok(part) = part else {
                        return self.fail("read failed: I/O error").await;
                    };
                    self.send_data(&part).await?;
                }
            }
        }
        self.stream.send(Bytes::from_static(b"DONE\0\0\0\0")).await
    }

    async fn send_data(&self, data: &[u8]) -> Result<(), Closed> {
        for part in data.chunks(MAX_DATA) {
            let mut out = BytesMut::with_capacity(8 + part.len());
            out.extend_from_slice(b"DATA");
            out.put_u32_le(u32::try_from(part.len()).unwrap_or(0));
            out.extend_from_slice(part);
            self.stream.send(out.freeze()).await?;
        }
        Ok(())
    }

    async fn receive_file(&mut self, path: &str, mode: u32, flags: u32) -> Result<(), Closed> {
        let mut problem = self.prepare(path, flags).await;
        let mut writer: BlobWriter = self.android.blobs.writer();
        // Whatever is wrong, everything the host sends must be taken, or it waits for ever.
        let mtime = loop {
            let head = self.stream.read_exact(8).await?;
            let length = number(&head[4..]);
            match &head[..4] {
                b"DATA" => {}
                b"DONE" => break i64::from(length),
                _ => {
                    self.fail("invalid data message").await?;
                    return Err(Closed);
                }
            }
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            if length > MAX_DATA {
                self.fail("oversize data message").await?;
                return Err(Closed);
            }
            let mut left = length;
            while left > 0 {
                let data = self.stream.read_some(left).await?;
                left -= data.len();
                let fits = || writer.length() + data.len() as u64 <= MAX_FILE;
                if problem.is_none() && !(fits() && writer.write(&data).is_ok()) {
                    problem = Some(format!("write failed: {}", Errno::NO_SPACE));
                }
            }
        };
        if problem.is_none() && flags & DRY_RUN == 0 {
            problem = self.store(path, mode, mtime, writer).err();
        }
        match problem {
            Some(why) => self.fail(&why).await,
            None => self.stream.send(Bytes::from_static(b"OKAY\0\0\0\0")).await,
        }
    }

    /// What speaks against taking a file in, before its first byte comes.
    async fn prepare(&self, path: &str, flags: u32) -> Option<String> {
        let device = self.android.device();
        for fault in device.fire_faults(Event::Push(path)) {
            match fault {
                Fault::Delay(time) => device.sleep(time.0).await,
                Fault::StorageFull => return Some(format!("write failed: {}", Errno::NO_SPACE)),
                Fault::Fail(text) => return Some(text),
                _ => {}
            }
        }
        (flags & COMPRESSED != 0).then(|| "compression is not supported".to_owned())
    }

    fn store(&self, path: &str, mode: u32, mtime: i64, writer: BlobWriter) -> Result<(), String> {
        let who = self.android.who();
        let mut files = self.android.files.lock();
        let real = (files.resolve("/", path, FinalLink::Keep)).map_err(|e| e.to_string())?;
        // A file or link that is there makes room; of two links the old one stays. What cannot be
        // removed is written to.
        let old = files.meta(&real).map(|meta| meta.mode & TYPE_BITS);
        let makes_room = match old {
            Some(REGULAR) => mode & TYPE_BITS == LINK,
            Some(LINK) => mode & TYPE_BITS != LINK,
            _ => false,
        };
        let real = if makes_room && files.remove(&real, false, &who).is_err() {
            (files.resolve("/", path, FinalLink::Follow)).map_err(|e| e.to_string())?
        } else {
            real
        };
        let parent = parent_of(&real).to_owned();
        let made = files.make_dir(&parent, mtime, true, &who);
        if let Err(errno) = made {
            return Err(format!("secure_mkdirs failed: {errno}"));
        }
        let blob = writer
            .finish()
            .map_err(|_| format!("write failed: {}", Errno::NO_SPACE))?;
        let written = match mode & TYPE_BITS {
            LINK => {
                let target = blob.read(MAX_PATH).unwrap_or_default();
                let target = String::from_utf8_lossy(&target);
                let made = files.make_link(&real, target.trim_end_matches('\0'), &who);
                return made.map_err(|errno| format!("symlink failed: {errno}"));
            }
            DIRECTORY => files.make_dir(&real, mtime, true, &who),
            _ => files.write(&real, blob, mode & 0o777, mtime, &who),
        };
        written.map_err(|errno| format!("couldn't create file: {errno}"))
    }
}

fn number(bytes: &[u8]) -> u32 {
    bytes
        .first_chunk()
        .map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// What is known of a file. Version 1 tells mode, size and time, zeros for what is not there;
/// version 2, whose ids end in it, an error number and then everything.
fn put(out: &mut BytesMut, id: &[u8], found: Result<Meta, Errno>) {
    out.extend_from_slice(id);
    if !id.ends_with(b"2") {
        let (mode, size, mtime) = found.map_or((0, 0, 0), |m| (m.mode, m.size, m.mtime));
        out.put_u32_le(mode);
        // Version 1 has 32 bits for both; larger numbers wrap, as on a phone.
        out.put_u32_le(size as u32);
        out.put_u32_le(mtime as u32);
        return;
    }
    let meta = match found {
        Ok(meta) => meta,
        Err(errno) => {
            out.put_u32_le(errno.0);
            out.put_bytes(0, 64);
            return;
        }
    };
    out.put_u32_le(0);
    out.put_u64_le(64_769);
    out.put_u64_le(0x1000 + meta.size % 0xffff);
    out.put_u32_le(meta.mode);
    out.put_u32_le(if meta.is_dir() { 2 } else { 1 });
    out.put_u32_le(meta.uid);
    out.put_u32_le(meta.uid);
    out.put_u64_le(meta.size);
    for _ in ["access", "modification", "change"] {
        out.put_i64_le(meta.mtime);
    }
}
