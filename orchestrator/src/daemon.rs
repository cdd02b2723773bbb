//! One process for each user that keeps devices and tool sources warm. Agents come to it over the
//! Model Context Protocol; commands of this user come by a unix socket.

mod activity;
mod agents;
mod build_id;
pub(crate) mod client;
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
mod toolbox;
pub(crate) mod wire;

pub(crate) use self::activity::UnderWay;
pub(crate) use self::agents::{Agent, Present, Transport, Update};
pub(crate) use self::build_id::build;
pub(crate) use self::held::{Held, NotHeld};
pub(crate) use self::hub::Hub;
pub(crate) use self::lent::LentDevice;
pub(crate) use self::place::Place;
pub(crate) use self::project::Project;
pub(crate) use self::runs::{AgentRun, Checked, Started, TICKET};
pub(crate) use self::serve::{ServeOptions, serve};
pub(crate) use self::sessions::InDaemon;
pub(crate) use self::toolbox::Toolbox;
