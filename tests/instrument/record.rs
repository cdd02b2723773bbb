//! Runs of the real program on real browsers, each in a workspace that is used again while the shop,
//! the trail and the program are the same.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::UNIX_EPOCH;

use super::defects::{self, Defect};
use super::server::{RIGHT, Server, Variant};
use super::sites::{self, Site};

/// How often the right shop is recorded on every cell: no two runs are quite alike.
const RIGHT_RECORDINGS: usize = 4;

/// Every language, on a desk and in the hand, in light and in dark.
const BASE: &str = "{ locale: [en-US, { de-DE: { texts: { Thank you: Danke } } }, { ar-EG: { texts: { Thank you: شكرا لك } } }], viewport: [1280x800, 390x844], colorScheme: [light, dark] }";

/// What shops that are right are also looked at with.
const WIDE: &str = "{ locale: [en-US, { de-DE: { texts: { Thank you: Danke } } }, { ar-EG: { texts: { Thank you: شكرا لك } } }], viewport: [1280x800, 768x1024, 390x844], colorScheme: [light, dark], engine: [chromium, firefox] }";

/// What is recorded into a workspace.
struct Wanted {
    name: String,
    variant: Variant,
    /// The configuration and the trail.
    config: String,
    trail: String,
    /// What else may change it.
    sources: String,
    /// A step of the shop that fails has to fail soon; pages wait for hosts that are out of reach.
    step_timeout: &'static str,
}

/// Where recordings are made, and by what.
pub(crate) struct Studio<'s> {
    /// The program.
    pub(crate) program: &'s Path,
    /// The shop.
    pub(crate) app: &'s Path,
    /// A workspace for each recording.
    pub(crate) folder: &'s Path,
    /// Whether all of them are made again.
    pub(crate) again: bool,
}

impl Studio<'_> {
    /// Records what is missing, of these names only when there are any.
    pub(crate) fn record(&self, names: &[String]) -> io::Result<()> {
        let server = self.serve()?;
        let is_wanted = |name: &str| names.is_empty() || names.iter().any(|one| one == name);
        let right = (0..RIGHT_RECORDINGS).map(|at| (format!("right-{at}"), RIGHT));
        let wrong = defects::all().into_iter().map(|Defect { id: defect, .. }| {
            let variant = Variant { defect, ..RIGHT };
            (defect.to_owned(), variant)
        });
        let shops = right.chain(wrong).filter(|(name, _)| is_wanted(name));
        self.shops(&server, &shops.collect::<Vec<_>>(), BASE)?;
        let menus = ["hidden", "unmounted"].map(|menu| {
            let variant = Variant { menu, ..RIGHT };
            (format!("app-shop-{menu}"), variant)
        });
        let menus: Vec<_> = menus
            .into_iter()
            .filter(|(name, _)| is_wanted(name))
            .collect();
        self.shops(&server, &menus, WIDE)?;
        for site in sites::all() {
            if is_wanted(&format!("app-{}", site.name)) {
                site.fetch(self.folder)?;
                self.run(&server, &self.site(&site))?;
            }
        }
        let demos = (1..=4).map(|run| format!("app-demo-{run}"));
        for name in demos.filter(|name| is_wanted(name)) {
            self.in_workspace(&name, "demo", |_| self.command(&name, "demo"))?;
        }
        Ok(())
    }

    /// Records shops by name with these axes, what is missing of them.
    pub(crate) fn shops(
        &self,
        server: &Server,
        shops: &[(String, Variant)],
        axes: &str,
    ) -> io::Result<()> {
        let read = |name: &str| fs::read_to_string(self.app.join(name));
        let (trail, defects) = (read("buy.trail.yaml")?, read("defects.js")?);
        let shop = read("index.html")? + &read("app.css")? + &read("app.js")?;
        for (name, variant) in shops {
            let wanted = Wanted {
                name: name.clone(),
                variant: *variant,
                config: config(axes, "all"),
                trail: trail.clone(),
                // A change to one defect is none to the others.
                sources: shop.clone() + &without_others(&defects, variant.defect),
                step_timeout: "8s",
            };
            self.run(server, &wanted)?;
        }
        Ok(())
    }

    /// Serves what is recorded.
    pub(crate) fn serve(&self) -> io::Result<Server> {
        fs::create_dir_all(self.folder)?;
        let port = self.folder.join("port");
        Server::start(self.app, &sites::folder(self.folder), &port)
    }

    fn site(&self, site: &Site) -> Wanted {
        Wanted {
            name: format!("app-{}", site.name),
            variant: RIGHT,
            config: config(WIDE, "pairs"),
            trail: site.trail(),
            sources: site.package.to_owned(),
            step_timeout: "30s",
        }
    }

    fn run(&self, server: &Server, wanted: &Wanted) -> io::Result<()> {
        let stamp = format!("{}{}{}", wanted.config, wanted.trail, wanted.sources);
        self.in_workspace(&wanted.name, &stamp, |workspace| {
            fs::write(workspace.join("packtrain.yaml"), &wanted.config)?;
            fs::write(workspace.join("buy.trail.yaml"), &wanted.trail)?;
            server.show(wanted.variant);
            let arguments = format!(
                "run buy.trail.yaml --matrix all --base-url {} --parallel 4 --no-daemon --no-report --step-timeout {}",
                server.url(),
                wanted.step_timeout
            );
            self.command(&wanted.name, &arguments)
        })
    }

    /// Empties a workspace and fills it, unless it was filled by the same.
    fn in_workspace(
        &self,
        name: &str,
        stamp: &str,
        fill: impl FnOnce(&Path) -> io::Result<()>,
    ) -> io::Result<()> {
        let workspace = self.folder.join(name);
        let program = fs::metadata(self.program)?;
        let built = program.modified()?.duration_since(UNIX_EPOCH);
        let built = built.unwrap_or_default();
        let stamp = format!("{} {} {}", program.len(), built.as_secs(), digest(stamp));
        let is_same = fs::read_to_string(workspace.join("stamp")).is_ok_and(|old| old == stamp);
        if is_same && !self.again {
            return Ok(());
        }
        let _ = fs::remove_dir_all(&workspace);
        fs::create_dir_all(&workspace)?;
        fill(&workspace)?;
        fs::write(workspace.join("stamp"), stamp)
    }

    /// The program, away from what the user has. It may find that something is wrong; it may not fail
    /// to look.
    fn command(&self, name: &str, arguments: &str) -> io::Result<()> {
        let workspace = self.folder.join(name);
        let own = |name: &str| workspace.join(name);
        let ended = Command::new(self.program)
            .args(arguments.split(' '))
            .current_dir(&workspace)
            .env("XDG_CONFIG_HOME", own(".config"))
            .env("XDG_STATE_HOME", own(".state"))
            .env("XDG_RUNTIME_DIR", own(".run"))
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stderr(fs::File::create(own("log"))?)
            .stdout(fs::File::create(own("out"))?)
            .status()?;
        println!("recorded {name}: {ended}");
        if ended.code() == Some(1) {
            println!("{}", fs::read_to_string(own("log"))?);
        }
        match ended.code() {
            Some(0 | 1) => Ok(()),
            _ => {
                let log = own("log");
                Err(io::Error::other(format!("{ended}, see {}", log.display())))
            }
        }
    }
}

fn config(axes: &str, cover: &str) -> String {
    format!(
        "devices: {{ web: {{ desk: {{}} }} }}\nrun: {{ trace: none }}\nmatrices:\n  all:\n    devices: [web/desk]\n    axes: {axes}\n    cover: {cover}\n"
    )
}

/// The file of defects with the lines of one of them.
fn without_others(defects: &str, own: &str) -> String {
    let is_other = |line: &&str| line.starts_with("  d") && !line[2..].starts_with(own);
    let lines: Vec<_> = defects.lines().filter(|line| !is_other(line)).collect();
    lines.join("\n")
}

/// FNV-1a.
fn digest(text: &str) -> String {
    let mixed = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{mixed:016x}")
}

/// Where recordings are kept: below the build, unless the environment says where.
pub(crate) fn folder() -> PathBuf {
    let set = std::env::var_os("PACKTRAIN_TEST_INSTRUMENT").map(PathBuf::from);
    set.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/instrument"))
}
