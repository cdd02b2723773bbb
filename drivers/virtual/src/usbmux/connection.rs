//! One client of usbmuxd: commands, until the connection becomes a listener's or a tunnel.

use std::io;
use std::sync::Arc;

use tokio::io::AsyncReadExt;
use tokio::sync::broadcast;

use super::codec::{self, CodecError, Tag};
use super::hub::{AttachedDevice, Hub};
use super::message::{self, Request, ResultCode};
use super::{BoxStream, Service};
use crate::plist::Dictionary;

/// What the connection becomes after a request.
enum Next {
    Command,
    Listener {
        now: Vec<Dictionary>,
        events: broadcast::Receiver<Dictionary>,
    },
    Tunnel(AttachedDevice, Service),
}

/// Serves one client until it leaves.
pub(super) async fn serve(hub: Arc<Hub>, stream: BoxStream) {
    if let Err(error) = converse(&hub, stream).await {
        tracing::debug!(%error, "a usbmuxd client was dropped");
    }
}

async fn converse(hub: &Hub, mut stream: BoxStream) -> Result<(), CodecError> {
    loop {
        let (tag, body) = match codec::read(&mut stream).await {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(()),
            Err(CodecError::Dialect { tag, .. }) => {
                let code = ResultCode::BadVersion as u32;
                codec::write_binary_result(&mut stream, Tag(tag), code).await?;
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let (answer, next) = answer(hub, &body).await;
        codec::write(&mut stream, tag, answer).await?;
        match next {
            Next::Command => {}
            Next::Listener { now, events } => return Ok(listen(stream, now, events).await?),
            Next::Tunnel(attached, service) => {
                attached.gone.run_until_cancelled(service(stream)).await;
                return Ok(());
            }
        }
    }
}

async fn answer(hub: &Hub, body: &Dictionary) -> (Dictionary, Next) {
    let request = match Request::read(body) {
        Ok(request) => request,
        Err(code) => return (message::result(code), Next::Command),
    };
    let answer = match request {
        Request::ListDevices => message::device_list(hub.list().into_iter()),
        Request::ListListeners => message::listener_list(),
        Request::Listen => {
            let (now, events) = hub.listen();
            let next = Next::Listener { now, events };
            return (message::result(ResultCode::Ok), next);
        }
        Request::Connect { device, port } => {
            let Some(attached) = hub.find(device) else {
                return (message::result(ResultCode::NotThere), Next::Command);
            };
            let opened = attached
                .gone
                .run_until_cancelled(attached.device.open(port));
            return match opened.await {
                Some(Some(service)) => (
                    message::result(ResultCode::Ok),
                    Next::Tunnel(attached.clone(), service),
                ),
                Some(None) => (
                    message::result(ResultCode::ConnectionRefused),
                    Next::Command,
                ),
                None => (message::result(ResultCode::NotThere), Next::Command),
            };
        }
        Request::ReadBuid => message::buid(hub.system_buid()),
        Request::ReadPairRecord { id } => match hub.pair_record(&id) {
            Some(record) => message::pair_record(record),
            None => message::result(ResultCode::NotThere),
        },
        Request::SavePairRecord { id, record } => {
            message::result(if hub.save_pair_record(&id, record) {
                ResultCode::Ok
            } else {
                ResultCode::InvalidArgument
            })
        }
        Request::DeletePairRecord { id } => message::result(if hub.delete_pair_record(&id) {
            ResultCode::Ok
        } else {
            ResultCode::NotThere
        }),
    };
    (answer, Next::Command)
}

async fn listen(
    mut stream: BoxStream,
    now: Vec<Dictionary>,
    mut events: broadcast::Receiver<Dictionary>,
) -> io::Result<()> {
    for attached in now {
        codec::write(&mut stream, Tag::EVENT, attached).await?;
    }
    let mut byte = [0];
    loop {
        tokio::select! {
            // A listener has nothing more to say: a byte is misuse, the end is the end.
            _ = stream.read(&mut byte) => return Ok(()),
            event = events.recv() => match event {
                Ok(event) => codec::write(&mut stream, Tag::EVENT, event).await?,
                Err(_) => return Ok(()),
            },
        }
    }
}
