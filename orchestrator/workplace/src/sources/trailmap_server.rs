//! The server of trailmaps' TypeScript tools: our SDK with what it needs to stand alone, written to the
//! user's cache under a name that says what is in it.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;

/// The files that come from a folder of the SDK.
macro_rules! files {
    ($folder:literal: $($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../../sdks/typescript/", $folder, "/", $name)))),*]
    };
}

const SDK: [(&str, &str); 15] = files!("src":
    "backend.ts", "calls.ts", "client.ts", "context.ts", "errors.ts", "generated/commands.ts",
    "index.ts", "memory.ts",
    "results.ts", "schema.ts", "spec.ts", "stdio.ts", "streamable.ts", "trailblaze.ts", "typed.ts",
);
/// `http.ts` and `mcp.ts` stand in for the SDK's, which use packages.
const ALONE: [(&str, &str); 5] =
    files!("trailmaps": "http.ts", "mcp.ts", "scripting.ts", "server.ts", "source.ts");
const PACKAGE: (&str, &str) = ("package.json", "{ \"type\": \"module\" }\n");

/// Writes what is not there yet, and returns the file to start.
///
/// # Errors
/// When there is no place for it, in one sentence.
pub(crate) fn provide() -> Result<PathBuf, String> {
    let files = SDK.iter().chain(&ALONE).chain([&PACKAGE]);
    let mut hasher = DefaultHasher::new();
    files.clone().for_each(|file| file.hash(&mut hasher));
    let folder = packtrain_wiring::cache_folder()
        .ok_or("no folder for the server of trailmaps: set XDG_CACHE_HOME or HOME")?;
    let folder = folder.join(format!("trailmap-server-{:016x}", hasher.finish()));
    let unwritable = |error| format!("cannot write {}: {error}", folder.display());
    std::fs::create_dir_all(folder.join("generated")).map_err(unwritable)?;
    for (name, text) in files {
        let path = folder.join(name);
        if std::fs::read(&path).is_ok_and(|there| there == text.as_bytes()) {
            continue;
        }
        // Others may read it, or write the same.
        let new = folder.join(format!("{name}.{}", uuid::Uuid::new_v4()));
        std::fs::write(&new, text)
            .and_then(|()| std::fs::rename(&new, &path))
            .map_err(unwritable)?;
    }
    Ok(folder.join("server.ts"))
}
