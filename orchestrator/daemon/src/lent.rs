//! A device of the daemon in the hands of another process: `packtrain tool` and `packtrain snapshot`. The
//! device stays here, connected as it is, and so do its lease and its queue; everything else is the other
//! process's, which sends the driver's commands one by one and hangs up when it is done.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use packtrain_device_actors::{CommandError, DeviceState, Lease, LeaseError, WaitReason};
use packtrain_drivers::{
    BoxFuture, Command, CommandContext, Connector, DeviceEvent, DeviceId, DeviceInfo, Driver,
    DriverError, EventSink, Observation,
};
use packtrain_terminal::render;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::io::{AsyncBufRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use super::client::{self, Connection};
use super::connection::grant;
use super::hub::Hub;
use super::project::Project;
use super::wire::{self, ProjectKey, Request};

/// What may wait to be read.
const WAITING: usize = 8;
/// How far ahead a moment may lie.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Who wants which device.
#[derive(Debug, Serialize, Deserialize)]
pub struct LoanRequest {
    device: DeviceId,
    /// The holder's name, as others see it.
    holder: String,
    /// How long it may be waited for.
    wait: Duration,
}

/// What the holder of the device asks for.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Order {
    /// That it does something. The next order, unless it is a [`Order::Cancel`], comes after the answer.
    Execute {
        command: Box<Command>,
        within: Duration,
    },
    /// That it leaves it. What has been answered meanwhile stays answered.
    Cancel,
}

/// What the caller that wants the device receives.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LoanReply {
    /// In use; by whom, in words.
    Waits(String),
    /// It is theirs.
    Lent(DeviceInfo),
    /// It will not be.
    Refused(DriverError),
    /// What came of a command, and what has happened on the device.
    Answered {
        answer: Result<Observation, DriverError>,
        events: Vec<DeviceEvent>,
    },
}

/// Lends a device until its holder hangs up.
pub(crate) async fn lend(
    request: LoanRequest,
    hub: &Arc<Hub>,
    project: &Arc<Project>,
    mut reader: impl AsyncBufRead + Unpin + Send + 'static,
    mut writer: impl AsyncWrite + Unpin + Send,
) -> std::io::Result<()> {
    grant(&mut writer, &json!({})).await?;
    // A line that was begun is read to its end, whatever else happens.
    let (order, mut orders) = mpsc::channel::<Order>(WAITING);
    let _reading = AbortOnDropHandle::new(tokio::spawn(async move {
        while let Ok(Some(next)) = wire::read(&mut reader).await {
            if order.send(next).await.is_err() {
                break;
            }
        }
    }));
    let (tell, mut told) = mpsc::channel::<String>(WAITING);
    let LoanRequest {
        device,
        holder,
        wait,
    } = request;
    let on_wait = |reason: &WaitReason| {
        if matches!(reason.state, DeviceState::Leased(_)) {
            // When there is no room something newer is on its way.
            let _ = tell.try_send(format!("{device}: {reason}"));
        }
    };
    let deadline = after(wait);
    let fleet = &project.fleet;
    let leasing = fleet.lease_with(&device, &holder, deadline, &hub.ending, on_wait);
    tokio::pin!(leasing);
    let leased = loop {
        tokio::select! {
            leased = &mut leasing => break leased,
            Some(reason) = told.recv() => wire::write(&mut writer, &LoanReply::Waits(reason)).await?,
            // It hung up.
            None = orders.recv() => return Ok(()),
        }
    };
    let lease = match leased {
        Ok(lease) => lease,
        Err(error) => return wire::write(&mut writer, &LoanReply::Refused(refusal(error))).await,
    };
    wire::write(&mut writer, &LoanReply::Lent(lease.device().clone())).await?;
    // The call is under way at the other end, which hangs up when it is over.
    let _in_use = lease.in_use();
    let lending = async {
        while let Some(order) = orders.recv().await {
            let Order::Execute { command, within } = order else {
                continue;
            };
            let Some(answer) = answer(&lease, *command, within, &mut orders).await else {
                break;
            };
            let events = lease.drain_events();
            wire::write(&mut writer, &LoanReply::Answered { answer, events }).await?;
        }
        Ok(())
    };
    tokio::select! {
        biased;
        () = hub.ending.cancelled() => Ok(()),
        lent = lending => lent,
    }
}

/// The moment that lies so far ahead; a year at most, for what comes over a socket may be any number.
fn after(time: Duration) -> Instant {
    Instant::now() + time.min(LONGEST)
}

/// The result of a command; `None` when its caller is gone.
async fn answer(
    lease: &Lease,
    command: Command,
    within: Duration,
    orders: &mut mpsc::Receiver<Order>,
) -> Option<Result<Observation, DriverError>> {
    tokio::select! {
        answer = lease.execute(command, after(within)) => {
            Some(answer.map_err(|error| match error {
                CommandError::Driver(error) => error,
                error => DriverError::Lost {
                    hint: error.hint(),
                    cause: error.to_string(),
                },
            }))
        }
        order = orders.recv() => order.map(|_| Err(DriverError::Cancelled)),
    }
}

fn refusal(error: LeaseError) -> DriverError {
    match error {
        LeaseError::NotConnected(error) => error,
        LeaseError::Cancelled => DriverError::lost("the daemon is stopping"),
        error => DriverError::lost(error.to_string()),
    }
}

/// A device of the daemon, for one process that is not the daemon.
pub struct LentDevice {
    /// Where the daemon is.
    pub socket: PathBuf,
    /// What the device belongs to.
    pub project: ProjectKey,
    /// The device.
    pub device: DeviceInfo,
    /// The holder's name, as others see it.
    pub holder: &'static str,
}

impl Connector for LentDevice {
    fn id(&self) -> &DeviceId {
        &self.device.id
    }

    fn describe(&self) -> DeviceInfo {
        self.device.clone()
    }

    fn connect<'a>(
        &'a self,
        events: EventSink,
        ctx: &'a CommandContext,
    ) -> BoxFuture<'a, Result<Box<dyn Driver>, DriverError>> {
        let borrowing = async {
            let wants = Request::Device(LoanRequest {
                device: self.device.id.clone(),
                holder: self.holder.to_owned(),
                wait: ctx.remaining(),
            });
            let asked = client::ask(&self.socket, self.project.clone(), wants).await;
            let mut connection = asked.map_err(|error| DriverError::Lost {
                cause: error.explanation.message,
                hint: error.explanation.hint,
            })?;
            let info = loop {
                match wire::read(&mut connection.reader).await {
                    Ok(Some(LoanReply::Waits(reason))) => {
                        render::say(&format!("waiting for {reason}"));
                    }
                    Ok(Some(LoanReply::Lent(info))) => break info,
                    Ok(Some(LoanReply::Refused(error))) => return Err(error),
                    Ok(Some(LoanReply::Answered { .. }) | None) | Err(_) => return Err(hung_up()),
                }
            };
            Ok(Box::new(LentDriver {
                connection,
                info,
                events,
            }) as Box<dyn Driver>)
        };
        Box::pin(async move {
            tokio::select! {
                borrowed = borrowing => borrowed,
                () = ctx.cancel.cancelled() => Err(DriverError::Cancelled),
            }
        })
    }
}

struct LentDriver {
    connection: Connection,
    info: DeviceInfo,
    events: EventSink,
}

impl Driver for LentDriver {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn execute<'a>(
        &'a mut self,
        command: Command,
        ctx: &'a CommandContext,
    ) -> BoxFuture<'a, Result<Observation, DriverError>> {
        Box::pin(async move {
            let Connection { reader, writer, .. } = &mut self.connection;
            let order = Order::Execute {
                command: Box::new(command),
                within: ctx.remaining(),
            };
            let sent = wire::write(writer, &order).await;
            sent.map_err(|_| hung_up())?;
            let mut is_cancelled = false;
            let reading = wire::read::<LoanReply>(reader);
            tokio::pin!(reading);
            let news = loop {
                tokio::select! {
                    news = &mut reading => break news,
                    () = ctx.cancel.cancelled(), if !is_cancelled => {
                        is_cancelled = true;
                        // When it is gone, reading says so.
                        let _ = wire::write(writer, &Order::Cancel).await;
                    }
                }
            };
            let Ok(Some(LoanReply::Answered { answer, events })) = news else {
                return Err(hung_up());
            };
            for event in events {
                self.events.report(event);
            }
            answer
        })
    }

    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        // Hanging up gives it back.
        Box::pin(std::future::ready(()))
    }
}

fn hung_up() -> DriverError {
    DriverError::Lost {
        cause: "the daemon closed the connection".to_owned(),
        hint: Some("`packtrain daemon status` shows whether it is running".to_owned()),
    }
}
