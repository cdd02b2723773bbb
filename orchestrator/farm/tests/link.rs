//! Connecting.

use std::ops::Range;

use packtrain_farm::link::{FarmAddress, FarmError, FarmOutage, Link};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::AbortOnDropHandle;

use crate::nats::Nats;

/// A way to a server that refuses the clients of these numbers, from 0, as a server does that is reading
/// its users again.
async fn refusing(server: &Nats, refused: Range<usize>) -> (FarmAddress, AbortOnDropHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut address = server.address();
    address.servers = vec![format!("nats://{}", listener.local_addr().unwrap())];
    let port = server.port;
    let serving = tokio::spawn(async move {
        for number in 0.. {
            let (mut client, _) = listener.accept().await.unwrap();
            if refused.contains(&number) {
                refuse(client).await;
                continue;
            }
            let mut server = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            tokio::spawn(async move {
                let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    (address, AbortOnDropHandle::new(serving))
}

async fn refuse(client: TcpStream) {
    let (read, mut write) = client.into_split();
    let info = "INFO {\"server_id\":\"A\",\"version\":\"2.12.0\",\"proto\":1,\"headers\":true,\
                \"max_payload\":1048576,\"jetstream\":true}\r\n";
    write.write_all(info.as_bytes()).await.unwrap();
    let mut lines = BufReader::new(read).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if line.starts_with("CONNECT") {
            let _ = write.write_all(b"-ERR 'Authorization Violation'\r\n").await;
            return;
        }
    }
}

#[tokio::test]
async fn who_connects_while_the_server_reads_its_users_again_is_let_in() {
    let nats = Nats::start().await;
    let (address, _serving) = refusing(&nats, 0..2).await;
    let link = Link::connect(&address, "test").await.unwrap();
    link.close().await;
}

#[tokio::test]
async fn whom_the_server_does_not_know_is_refused_in_the_end() {
    let nats = Nats::start().await;
    let (address, _serving) = refusing(&nats, 0..usize::MAX).await;
    let refused = Link::connect(&address, "test").await.err();
    assert!(
        matches!(refused, Some(FarmError::NotAllowedIn { .. })),
        "{refused:?}"
    );
}

#[tokio::test]
async fn a_user_who_is_shut_out_while_connected_is_told_that_and_not_that_nobody_answers() {
    let mut nats = Nats::start().await;
    let (address, _serving) = refusing(&nats, 1..usize::MAX).await;
    let link = Link::connect(&address, "test").await.unwrap();
    let mut trouble = link.trouble();
    assert_eq!(*trouble.borrow(), None);
    nats.kill().await;
    let refused = trouble.wait_for(|trouble| *trouble == Some(FarmOutage::NotAllowedIn));
    refused.await.unwrap();
}
