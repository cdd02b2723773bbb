//! Bundles on a host: what was sent, whatever the manifest says.

use bytes::Bytes;

use super::*;
use crate::bundle::blobs::digest;
use crate::wire::{Blob, BundledFile, Protocol};

fn file(content: &str) -> BundledFile {
    BundledFile {
        content: Blob {
            digest: digest(content.as_bytes()),
            bytes: content.len() as u64,
            parts: Vec::new(),
        },
        executable: false,
    }
}

fn manifest_of(files: impl IntoIterator<Item = (&'static str, BundledFile)>) -> Manifest {
    Manifest {
        run: run(),
        protocol: Protocol::CURRENT,
        files: files
            .into_iter()
            .map(|(path, file)| (path.to_owned(), file))
            .collect(),
        root: String::new(),
        config: None,
        sources: false,
        secrets: Vec::new(),
        resume: None,
    }
}

#[tokio::test]
async fn a_project_arrives_as_it_left() {
    let large = "0123456789".repeat(120_000);
    let lab = Lab::new(&[
        ("packtrain.yaml", "target: shop"),
        ("tools/start.sh", "#!/bin/sh"),
        ("empty", ""),
        ("large", &large),
    ]);
    let script = lab.project().join("tools/start.sh");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let collected = lab.collect();
    collected.upload(&lab.store).await.unwrap();
    let manifest = manifest(&collected);
    let written = serde_json::to_vec(&manifest).unwrap();
    let read: Manifest = serde_json::from_slice(&written).unwrap();
    assert_eq!(read, manifest);

    let bundle = lab.materialise(&read).await.unwrap();
    let root = inside(bundle.path(), &read.root).unwrap();
    for path in ["packtrain.yaml", "tools/start.sh", "empty", "large"] {
        let (sent, arrived) = (lab.project().join(path), root.join(path));
        assert_eq!(
            fs::read(sent).unwrap(),
            fs::read(arrived).unwrap(),
            "{path}"
        );
    }
    assert_eq!(mode(&root.join("tools/start.sh")), 0o555);
    assert_eq!(mode(&root.join("packtrain.yaml")), 0o444);
    assert_eq!(mode(&lab.cache().join("bundles")), 0o700);
}

#[tokio::test]
async fn the_manifest_itself_travels_in_parts() {
    let store = MemoryBlobs::default();
    let content = Bytes::from("0123456789".repeat(120_000));
    let blob = put(&store, content.clone()).await.unwrap();
    assert_eq!((blob.parts.len(), store.len()), (3, 3));
    assert_eq!(get(&store, &blob, 2_000_000).await.unwrap(), content);
    assert!(get(&store, &blob, 1_000_000).await.is_err());
    let blob = put(&store, Bytes::from_static(b"small")).await.unwrap();
    assert_eq!(get(&store, &blob, 5).await.unwrap(), "small");
    let blob = put(&store, Bytes::new()).await.unwrap();
    assert_eq!(store.len(), 4, "nothing is stored of nothing");
    assert_eq!(get(&store, &blob, 5).await.unwrap(), "");
}

#[tokio::test]
async fn hosts_and_sessions_share_one_folder() {
    let lab = Lab::new(&[("packtrain.yaml", "a"), ("b", "b")]);
    let collected = lab.collect();
    collected.upload(&lab.store).await.unwrap();
    let manifest = manifest(&collected);
    let many = (0..8).map(|_| lab.materialise(&manifest));
    let many = futures::future::join_all(many).await;
    let bundles: Vec<_> = many.into_iter().map(Result::unwrap).collect();
    assert!(
        bundles
            .iter()
            .all(|bundle| bundle.path() == bundles[0].path())
    );
    assert_eq!(lab.cached(), [manifest.digest()]);

    // What is there needs no store.
    let other = Manifest {
        run: RunId("r2".to_owned()),
        ..manifest
    };
    for part in [digest(b"a"), digest(b"b")] {
        lab.store.alter(&part, None);
    }
    lab.materialise(&other).await.unwrap();
}

#[tokio::test]
async fn what_was_damaged_on_the_disk_is_made_anew() {
    let lab = Lab::new(&[("packtrain.yaml", "a")]);
    let collected = lab.collect();
    collected.upload(&lab.store).await.unwrap();
    let manifest = manifest(&collected);
    let file = lab
        .materialise(&manifest)
        .await
        .unwrap()
        .path()
        .join("project/packtrain.yaml");
    fs::remove_file(&file).unwrap();
    lab.materialise(&manifest).await.unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "a");
}

#[tokio::test]
async fn paths_that_lead_elsewhere_write_nothing() {
    let lab = Lab::new(&[]);
    put(&lab.store, Bytes::from_static(b"x")).await.unwrap();
    for hostile in [
        "../x",
        "/tmp/x",
        "a/../../x",
        "a//b",
        "a\\b",
        "a\nb",
        "",
        ".",
    ] {
        let refused = lab.materialise(&manifest_of([(hostile, file("x"))])).await;
        let refused = refused.unwrap_err();
        assert!(
            matches!(refused, MaterialiseError::Path(_)),
            "{hostile:?}: {refused}"
        );
    }
    let outside = Manifest {
        root: "../..".to_owned(),
        ..manifest_of([])
    };
    assert!(lab.materialise(&outside).await.is_err());
    let both = manifest_of([("a", file("x")), ("a/b", file("x"))]);
    let refused = lab.materialise(&both).await.unwrap_err();
    assert!(
        matches!(refused, MaterialiseError::FileAndFolder(_)),
        "{refused}"
    );
    assert!(!lab.cache().exists());
}

#[tokio::test]
async fn sizes_that_cannot_be_are_refused_before_anything_is_read() {
    let lab = Lab::new(&[]);
    let with = |change: fn(&mut Blob)| {
        let mut file = file("x");
        change(&mut file.content);
        manifest_of([("a", file)])
    };
    for hostile in [
        with(|blob| blob.bytes = u64::MAX),
        with(|blob| blob.bytes = BUNDLE_BYTES + 1),
        with(|blob| blob.bytes = 2 * PART_BYTES as u64),
        with(|blob| blob.parts = vec![blob.digest.clone()]),
        with(|blob| blob.digest = "../../x".to_owned()),
        with(|blob| blob.digest.clear()),
    ] {
        assert!(lab.materialise(&hostile).await.is_err(), "{hostile:?}");
    }
    let crowd = (0..=BUNDLE_FILES).map(|number| (number.to_string(), file("")));
    let crowd = Manifest {
        files: crowd.collect(),
        ..manifest_of([])
    };
    let refused = lab.materialise(&crowd).await.unwrap_err();
    assert!(
        matches!(refused, MaterialiseError::TooLarge { .. }),
        "{refused}"
    );
    assert!(!lab.cache().exists());
}

#[tokio::test]
async fn content_that_is_not_what_was_sent_is_refused_and_leaves_nothing() {
    let lab = Lab::new(&[("packtrain.yaml", "a"), ("b", "b")]);
    let collected = lab.collect();
    collected.upload(&lab.store).await.unwrap();
    let manifest = manifest(&collected);
    for wrong in [
        Some(Bytes::from_static(b"c")),
        Some(vec![0; PART_BYTES + 1].into()),
        None,
    ] {
        let is_missing = wrong.is_none();
        lab.store.alter(&digest(b"a"), wrong);
        let refused = lab.materialise(&manifest).await.unwrap_err();
        let told = match is_missing {
            true => matches!(refused, MaterialiseError::Blob(BlobError::Missing(_))),
            false => matches!(refused, MaterialiseError::Blob(BlobError::Altered(_))),
        };
        assert!(told, "{refused}");
        assert!(lab.cached().is_empty(), "{:?}", lab.cached());
    }
}

#[tokio::test]
async fn what_nobody_used_for_longest_goes_and_what_is_in_use_stays() {
    let lab = Lab::new(&[]);
    let limits = CacheLimits {
        bundles: 2,
        bytes: 1024,
    };
    let mut bundles = Vec::new();
    for name in ["a", "b", "c", "d"] {
        put(&lab.store, Bytes::from(name)).await.unwrap();
        bundles.push(manifest_of([("file", file(name))]));
    }
    let lay = |index: usize| materialise(&bundles[index], &lab.store, lab.folder.path(), limits);
    let path = |index: usize| {
        lab.folder
            .path()
            .join("bundles")
            .join(bundles[index].digest())
    };
    let in_use = lay(0).await.unwrap();
    drop(lay(1).await.unwrap());
    drop(lay(2).await.unwrap());
    drop(lay(3).await.unwrap());
    assert!(path(0).exists() && path(3).exists());
    assert!(!path(1).exists());
    drop(in_use);
    drop(lay(1).await.unwrap());
    assert!(!path(0).exists() && path(1).exists());
}
