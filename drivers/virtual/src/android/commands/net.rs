//! Programs about the network.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::android::commands::options::Options;
use crate::android::commands::{Call, CommandResult};
use crate::android::lock;

pub(super) async fn run(call: &mut Call<'_>) -> CommandResult {
    match call.name() {
        "nc" | "netcat" => nc(call).await,
        "ping" => ping(call).await,
        "ifconfig" => {
            let address = address(call);
            let text = format!(
                "wlan0     Link encap:Ethernet  HWaddr 02:00:00:00:01:{:02x}  Driver virtual\n          inet addr:{address}  Bcast:10.0.255.255  Mask:255.255.0.0\n          UP BROADCAST RUNNING MULTICAST  MTU:1500  Metric:1\n\n",
                call.shell.android.device().index() % 256
            );
            call.out(text).await?;
            Ok(0)
        }
        "ip" => ip(call).await,
        _ => {
            call.out("Active Internet connections (w/o servers)\nProto Recv-Q Send-Q Local Address           Foreign Address         State\n").await?;
            Ok(0)
        }
    }
}

/// The address of the phone in its Wi-Fi.
fn address(call: &Call<'_>) -> String {
    let index = call.shell.android.device().index();
    format!("10.0.{}.{}", index / 250 % 256, index % 250 + 2)
}

/// Connects to a port inside of the phone, which may lead to the host.
async fn nc(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.rest(), &["w", "W", "q", "s", "p"]);
    let android = call.android();
    let address = match options.rest.as_slice() {
        _ if options.has("l") => {
            call.unhandled();
            return call.fail("cannot listen", 1).await;
        }
        [name] if options.has("U") => match name.strip_prefix('@') {
            Some(name) => format!("localabstract:{name}"),
            None => format!("localfilesystem:{name}"),
        },
        [host, port] if matches!(host.as_str(), "127.0.0.1" | "localhost" | "::1") => {
            format!("tcp:{port}")
        }
        [_, _] => return call.fail("connect: Network is unreachable", 1).await,
        _ => return call.fail("Needs 2 arguments", 1).await,
    };
    let Some(connection) = android.dial(&address).await else {
        return call.fail("connect: Connection refused", 1).await;
    };
    if options.has("z") {
        return Ok(0);
    }
    let (mut reader, mut writer) = tokio::io::split(connection);
    let input = call.io.stdin.clone();
    let sending = async {
        while let Some(block) = input.block().await {
            if writer.write_all(&block).await.is_err() {
                break;
            }
        }
        // A stream of adb cannot be closed in one direction only.
        std::future::pending::<()>().await;
    };
    let output = call.io.stdout.clone();
    let receiving = async {
        let mut buffer = bytes::BytesMut::new();
        loop {
            buffer.reserve(16 * 1024);
            match reader.read_buf(&mut buffer).await {
                Ok(0) | Err(_) => return Ok(()),
                Ok(_) => output.write(buffer.split().freeze()).await?,
            }
        }
    };
    tokio::select! {
        () = sending => Ok(0),
        result = receiving => result.map(|()| 0),
    }
}

async fn ping(call: &mut Call<'_>) -> CommandResult {
    let options = Options::of(call.rest(), &["c", "i", "W", "w", "s", "t"]);
    let Some(host) = options.rest.first() else {
        return call.fail("usage: ping [-c count] host", 2).await;
    };
    if lock(&call.shell.android.state).airplane {
        return call.fail("connect: Network is unreachable", 2).await;
    }
    let count: u32 = options.number("c").unwrap_or(4).min(100);
    let mut text = format!("PING {host} ({host}) 56(84) bytes of data.\n");
    for i in 1..=count {
        text.push_str(&format!(
            "64 bytes from {host}: icmp_seq={i} ttl=118 time=9.0 ms\n"
        ));
    }
    text.push_str(&format!(
        "\n--- {host} ping statistics ---\n{count} packets transmitted, {count} received, 0% packet loss, time 1001ms\nrtt min/avg/max/mdev = 9.000/9.000/9.000/0.000 ms\n"
    ));
    call.out(text).await?;
    Ok(0)
}

async fn ip(call: &mut Call<'_>) -> CommandResult {
    let address = address(call);
    let args: Vec<&str> = call.rest().iter().map(String::as_str).collect();
    let text = if args.iter().any(|arg| arg.starts_with('r')) {
        format!("10.0.0.0/16 dev wlan0 proto kernel scope link src {address}\n")
    } else {
        format!(
            "30: wlan0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 3000\n    link/ether 02:00:00:00:01:00 brd ff:ff:ff:ff:ff:ff\n    inet {address}/16 brd 10.0.255.255 scope global wlan0\n       valid_lft forever preferred_lft forever\n"
        )
    };
    call.out(text).await?;
    Ok(0)
}
