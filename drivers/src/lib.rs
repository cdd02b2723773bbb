//! The Driver contract and the command language: what every device understands, whatever wire
//! it hangs on.
//!
//! A driver takes one [`Command`] at a time and answers with an [`Observation`] or a
//! [`DriverError`]. This crate knows nothing of actors, runs, trails or any particular wire.

pub mod axes;
pub mod command;
pub mod device;
pub mod driver;
pub mod error;
pub mod event;
pub mod geometry;
pub mod local_network;
pub mod mark;
pub mod observation;
pub mod observed;
pub mod reach;
pub mod restore;
pub mod selector;
pub mod tree;
pub mod wait;

pub use axes::{AppliedAxis, Axes, AxisValues, KNOWN_AXES, KnownAxis, known_axis};
pub use command::{
    AndroidCommand, AppCommand, Command, Direction, InputCommand, Key, LaunchMode, NavigateTo,
    SessionOptions, SnapshotDetail, TextMatch, ValueKind, WantedDownload, WebCommand, WebElement,
    WebTarget,
};
pub use device::{Classifier, DeviceId, DeviceIdError, DeviceInfo, Platform};
pub use driver::{BoxFuture, CommandContext, Connector, Driver};
pub use error::{DriverError, Fault};
pub use event::{DeviceEvent, EventSink, EventStream, event_channel};
pub use geometry::{Point, Rect, Size};
pub use mark::ScreenMark;
pub use observation::{ActionReport, Located, Observation, Screenshot, Snapshot, SnapshotRef};
pub use observed::{Defect, DefectKind, Hidden, HiddenBecause, ObserveOptions, Observed};
pub use reach::Reach;
pub use restore::{AxisRestore, PutBack, RestoreFile, SavedSetting};
pub use selector::{CompiledSelector, NodeSelector, Resolution, SelectorError};
pub use tree::{Node, NodeDetail, NodeId, Tree, TreeBuilder};
