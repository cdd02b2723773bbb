//! One process for each user that keeps devices and tool sources warm. Agents come to it over the
//! Model Context Protocol; commands of this user come by a unix socket.

mod activity;
mod agents;
mod build_id;
pub mod client;
mod connection;
mod files;
mod held;
mod hub;
mod lent;
mod place;
mod project;
mod runs;
mod serve;
mod sessions;
mod source_writes;
mod state;
mod toolbox;
pub mod wire;

pub use self::agents::{Agent, AgentGuard, Transport, Update};
pub use self::build_id::build;
pub use self::held::{HeldDevice, NotHeld};
pub use self::hub::{Hub, UnderWay};
pub use self::lent::LentDevice;
pub use self::place::Place;
pub use self::project::{Checks, Project};
pub use self::runs::{AgentRun, Checked, Started, TICKET};
pub use self::serve::{Answers, ServeOptions, serve};
pub use self::sessions::InDaemon;
pub use self::toolbox::Toolbox;
