//! The report of a run that goes on, served on loopback to everyone who knows its URL.

mod files;
mod follow;
mod page;

use std::io;
use std::path::Path;
use std::sync::Arc;

use packtrain_door::door::{Door, Policy, Serving};
use packtrain_engine::Sink;
use packtrain_model::Entry;

pub(crate) use self::follow::Followed;

/// The report, up as long as this lives.
pub(crate) struct LiveReport {
    run: Arc<Followed>,
    url: String,
    serving: Serving,
}

impl LiveReport {
    /// Takes a free port of loopback and answers there, for the run in this folder.
    ///
    /// # Errors
    /// When the system has none.
    pub(crate) async fn start(folder: &Path) -> io::Result<Self> {
        let run = Arc::new(Followed::new(folder));
        let token = uuid::Uuid::new_v4().simple().to_string();
        let policy = Policy {
            refusal: page::refused,
            ..Policy::page(&token)
        };
        let door = Door::bind(policy).await?;
        Ok(Self {
            url: format!("{}/{token}/", door.base_url()),
            serving: door.serve(page::router(Arc::clone(&run))),
            run,
        })
    }

    /// Its URL. Everyone who knows it may look.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// What the journal tells of each event, once it has it.
    pub(crate) fn sink(&self) -> Box<dyn Sink> {
        Box::new(Follow(Arc::clone(&self.run)))
    }

    /// The run it shows.
    pub(crate) fn run(&self) -> Arc<Followed> {
        Arc::clone(&self.run)
    }

    /// Ends it. Who is being answered is answered, and who does not read is not waited for.
    pub(crate) async fn shutdown(self) {
        self.run.end(None);
        self.run.left().await;
        self.serving.close().await;
    }
}

/// Tells the live report that there is more.
struct Follow(Arc<Followed>);

impl Sink for Follow {
    fn name(&self) -> &'static str {
        "live report"
    }

    fn on_event(&mut self, entry: &Entry) -> Result<(), String> {
        self.0.tell_of(entry);
        self.0.more();
        Ok(())
    }

    fn on_dropped(&mut self, _: u64) -> Result<(), String> {
        self.0.more();
        Ok(())
    }
}
