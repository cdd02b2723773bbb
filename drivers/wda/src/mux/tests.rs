//! Promises about muxers that are broken or hostile; what a good one answers is in the crate's
//! integration tests.

use proptest::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;

/// A muxer that answers everything with these bytes and then ends the connection.
async fn muxer_that_answers(bytes: Vec<u8>) -> MuxAddress {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 1024];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(&bytes).await;
        }
    });
    MuxAddress::Tcp(address)
}

fn message(length: u32, list: &str) -> Vec<u8> {
    let words = [length, 1, 8, TAG];
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.extend_from_slice(list.as_bytes());
    bytes
}

fn whole(list: &str) -> Vec<u8> {
    message(u32::try_from(list.len()).unwrap() + 16, list)
}

fn device(udid: &str, number: u32, way: &str) -> String {
    format!(
        "<dict><key>DeviceID</key><integer>{number}</integer><key>Properties</key><dict>\
         <key>ConnectionType</key><string>{way}</string>\
         <key>SerialNumber</key><string>{udid}</string></dict></dict>"
    )
}

fn list(devices: &[String]) -> Vec<u8> {
    let devices = devices.concat();
    whole(&format!(
        "<plist version=\"1.0\"><dict><key>DeviceList</key><array>{devices}</array></dict></plist>"
    ))
}

async fn failure(bytes: Vec<u8>) -> String {
    let address = muxer_that_answers(bytes).await;
    devices(&address).await.unwrap_err().to_string()
}

#[tokio::test]
async fn a_device_with_two_ways_to_it_is_listed_once_by_its_cable() {
    let udids = [
        device("B", 7, "Other"),
        device("B", 9, "USB"),
        device("A", 3, "USB"),
    ];
    let address = muxer_that_answers(list(&udids)).await;
    let listed = devices(&address).await.unwrap();
    let listed: Vec<_> = listed.iter().map(|d| (d.udid.as_str(), d.number)).collect();
    assert_eq!(listed, [("A", 3), ("B", 9)]);
}

#[tokio::test]
async fn a_length_no_message_has_is_refused_before_memory_is_reserved() {
    for length in [0, 15, 4 * 1024 * 1024 + 1, u32::MAX] {
        let failure = failure(message(length, "<plist/>")).await;
        assert!(
            failure.ends_with(&format!("a message of {length} bytes")),
            "{failure}"
        );
    }
}

#[tokio::test]
async fn half_a_message_and_no_message_are_told_apart_from_an_empty_list() {
    let half = list(&[device("A", 3, "USB")]);
    for bytes in [half[..40].to_vec(), half[..8].to_vec(), Vec::new()] {
        let failure = failure(bytes).await;
        assert!(
            failure.contains("eof") || failure.contains("end of file"),
            "{failure}"
        );
    }
    let address = muxer_that_answers(list(&[])).await;
    assert_eq!(devices(&address).await, Ok(Vec::new()));
}

#[tokio::test]
async fn a_message_that_nests_too_deep_is_refused() {
    let levels = "<array>".repeat(100_000);
    let failure = failure(whole(&format!("<plist version=\"1.0\">{levels}"))).await;
    assert!(failure.contains("more than 40 levels"), "{failure}");
}

#[tokio::test]
async fn rubbish_is_named_with_the_muxers_address() {
    let address = muxer_that_answers(b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec()).await;
    let failure = connect(&address, "A", 8100).await.unwrap_err();
    let MuxError::Failed { address: at, .. } = failure else {
        panic!("{failure}");
    };
    assert_eq!(at, address.to_string());
}

#[tokio::test]
async fn a_muxer_that_is_not_there_is_told_from_one_that_fails() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = MuxAddress::Tcp(listener.local_addr().unwrap());
    drop(listener);
    let failure = devices(&address).await.unwrap_err();
    assert!(matches!(failure, MuxError::Absent { .. }), "{failure}");
}

#[tokio::test]
async fn a_device_that_is_not_listed_is_not_connected_to() {
    let address = muxer_that_answers(list(&[device("A", 3, "USB")])).await;
    let failure = connect(&address, "B", 8100).await.unwrap_err();
    assert!(matches!(failure, MuxError::NoDevice { .. }), "{failure}");
}

#[test]
fn addresses_are_written_as_other_programs_write_them() {
    for (text, wanted) in [
        ("127.0.0.1:27015", "127.0.0.1:27015"),
        ("UNIX:/run/mux", "/run/mux"),
        ("/var/run/usbmuxd", "/var/run/usbmuxd"),
    ] {
        let address: MuxAddress = text.parse().unwrap();
        assert_eq!(address.to_string(), wanted);
    }
    for text in ["", "localhost", "UNIX:run/mux", "127.0.0.1"] {
        assert!(text.parse::<MuxAddress>().is_err(), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_of_a_muxer_are_an_error_or_a_list(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for bytes in [bytes.clone(), message(u32::try_from(bytes.len()).unwrap() + 16, "")] {
                let address = muxer_that_answers(bytes).await;
                let _ = devices(&address).await;
            }
        });
    }
}
