//! lockdownd: what an iPhone says of itself, and the services behind it.
//!
//! Wire: <https://github.com/libimobiledevice/libimobiledevice> (`src/lockdown.c`): a big-endian
//! length and a property list, on port 62078 of the device. Facts are open to anyone; services
//! need the certificates that this computer and the device have exchanged.

use std::time::Duration;

use idevice::Idevice;
use plist::{Dictionary, Value};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::mux::{self, MuxAddress, MuxError};
use crate::plist::{self as lists, PlistError};
use crate::stream::BoxStream;

/// The port of lockdownd on every device.
const PORT: u16 = 62_078;
/// Longest message: a list of some hundred apps with four facts each has 200 KB.
const MAX_MESSAGE: u32 = 16 * 1024 * 1024;
/// How long a conversation may take; listing apps is the slowest, some seconds.
const CONVERSATION_TIMEOUT: Duration = Duration::from_secs(30);
/// How this program is called in the device's log.
const LABEL: &str = "packtrain";

/// Why a device did not tell.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LockdownError {
    #[error(transparent)]
    Mux(#[from] MuxError),
    /// In lockdownd's words: `PasswordProtected`, `InvalidHostID` ...
    #[error("the device refuses {request}: {error}")]
    Refused { request: String, error: String },
    #[error("talk to the device: {0}")]
    Wire(#[from] std::io::Error),
    #[error("the device sent {0}")]
    List(#[from] PlistError),
    #[error("the device announced a message of {0} bytes")]
    Length(u32),
    #[error("the device's answer to {request} has no {key}")]
    Missing {
        request: &'static str,
        key: &'static str,
    },
    /// The certificates do not fit, usually.
    #[error("encrypt the connection: {0}")]
    Encrypt(String),
    #[error("the device did not answer within {} s", CONVERSATION_TIMEOUT.as_secs())]
    Slow,
}

impl LockdownError {
    /// What a person can do about it.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::Refused { error, .. } if error == "PasswordProtected" => "unlock the device",
            Self::Refused { error, .. }
                if error == "InvalidHostID" || error.starts_with("Pairing") =>
            {
                "unlock the device and tap Trust when it asks; `idevicepair pair` asks again"
            }
            Self::Mux(_)
            | Self::Refused { .. }
            | Self::Wire(_)
            | Self::List(_)
            | Self::Length(_)
            | Self::Missing { .. }
            | Self::Encrypt(_)
            | Self::Slow => "unplug the device and plug it in again; unlock it",
        }
    }
}

/// What a device says of itself to anybody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Facts {
    /// Apple's name for the model: `iPhone15,2`.
    pub(crate) product_type: String,
    /// `16.7.8`.
    pub(crate) version: String,
}

/// An app as the device lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeviceApp {
    pub(crate) id: String,
    pub(crate) name: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) system: bool,
}

/// What the device says of itself.
pub(crate) async fn facts(muxer: &MuxAddress, udid: &str) -> Result<Facts, LockdownError> {
    in_time(async {
        let mut stream = mux::connect(muxer, udid, PORT).await?;
        let mut value = async |key: &'static str| {
            let mut request = request("GetValue");
            request.insert("Key".to_owned(), key.into());
            let answer = ask(&mut stream, request, "GetValue").await?;
            Ok::<_, LockdownError>(lists::text(&answer, "Value").map(str::to_owned))
        };
        let missing = |key| LockdownError::Missing {
            request: "GetValue",
            key,
        };
        Ok(Facts {
            product_type: value("ProductType").await?.ok_or(missing("ProductType"))?,
            version: value("ProductVersion")
                .await?
                .ok_or(missing("ProductVersion"))?,
        })
    })
    .await
}

/// The apps on the device, in the order of their ids.
pub(crate) async fn apps(
    muxer: &MuxAddress,
    udid: &str,
    system: bool,
) -> Result<Vec<DeviceApp>, LockdownError> {
    in_time(async {
        let mut service = start(muxer, udid, "com.apple.mobile.installation_proxy").await?;
        let wanted = [
            "CFBundleIdentifier",
            "CFBundleDisplayName",
            "CFBundleShortVersionString",
            "ApplicationType",
        ];
        let mut options = Dictionary::new();
        let kind = if system { "Any" } else { "User" };
        options.insert("ApplicationType".to_owned(), kind.into());
        options.insert(
            "ReturnAttributes".to_owned(),
            Value::Array(wanted.map(Value::from).to_vec()),
        );
        let mut request = Dictionary::new();
        request.insert("Command".to_owned(), "Lookup".into());
        request.insert("ClientOptions".to_owned(), Value::Dictionary(options));
        let answer = ask(&mut service, request, "Lookup").await?;
        let found = answer.get("LookupResult").and_then(Value::as_dictionary);
        let found = found.ok_or(LockdownError::Missing {
            request: "Lookup",
            key: "LookupResult",
        })?;
        let mut apps: Vec<_> = found
            .iter()
            .filter_map(|(id, facts)| Some(app(id, facts.as_dictionary()?)))
            .collect();
        apps.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(apps)
    })
    .await
}

/// An app from its facts, as the device and `simctl` tell them alike.
pub(crate) fn app(id: &str, facts: &Dictionary) -> DeviceApp {
    let text = |key| lists::text(facts, key).map(str::to_owned);
    DeviceApp {
        id: id.to_owned(),
        name: text("CFBundleDisplayName").or_else(|| text("CFBundleName")),
        version: text("CFBundleShortVersionString").or_else(|| text("CFBundleVersion")),
        system: lists::text(facts, "ApplicationType").is_some_and(|kind| kind != "User"),
    }
}

/// Starts a service of the device and connects to it.
async fn start(
    muxer: &MuxAddress,
    udid: &str,
    service: &'static str,
) -> Result<BoxStream, LockdownError> {
    let record = mux::pair_record(muxer, udid).await?;
    let mut stream = mux::connect(muxer, udid, PORT).await?;
    let mut begin = request("StartSession");
    begin.insert("HostID".to_owned(), record.host_id.clone().into());
    begin.insert("SystemBUID".to_owned(), record.system_buid.clone().into());
    let answer = ask(&mut stream, begin, "StartSession").await?;
    if is_set(&answer, "EnableSessionSSL") {
        stream = encrypted(stream, record.clone()).await?;
    }
    let mut wanted = request("StartService");
    wanted.insert("Service".to_owned(), service.into());
    let answer = ask(&mut stream, wanted, "StartService").await?;
    let port = answer
        .get("Port")
        .and_then(Value::as_unsigned_integer)
        .and_then(|port| u16::try_from(port).ok())
        .ok_or(LockdownError::Missing {
            request: "StartService",
            key: "Port",
        })?;
    let service = mux::connect(muxer, udid, port).await?;
    if is_set(&answer, "EnableServiceSSL") {
        encrypted(service, record).await
    } else {
        Ok(service)
    }
}

/// TLS with the certificates both sides have exchanged.
async fn encrypted(
    stream: BoxStream,
    record: idevice::pairing_file::PairingFile,
) -> Result<BoxStream, LockdownError> {
    // In a task of its own, because the crate panics on a key that does not fit its certificate.
    let shaken = tokio::spawn(async move {
        let mut device = Idevice::new(Box::new(stream), LABEL);
        device.start_session(&record, false).await.map(|()| device)
    });
    let device = match shaken.await {
        Ok(Ok(device)) => device,
        Ok(Err(error)) => return Err(LockdownError::Encrypt(error.to_string())),
        Err(_) => {
            let what = "the pair record of this computer is damaged";
            return Err(LockdownError::Encrypt(what.to_owned()));
        }
    };
    let stream = device.get_socket();
    let stream =
        stream.ok_or_else(|| LockdownError::Encrypt("no connection is left".to_owned()))?;
    Ok(Box::new(stream))
}

fn request(name: &str) -> Dictionary {
    let mut request = Dictionary::new();
    request.insert("Label".to_owned(), LABEL.into());
    request.insert("Request".to_owned(), name.into());
    request
}

async fn ask(
    stream: &mut BoxStream,
    request: Dictionary,
    name: &str,
) -> Result<Dictionary, LockdownError> {
    let bytes = lists::to_xml(request);
    let length = u32::try_from(bytes.len()).map_err(|_| LockdownError::Length(u32::MAX))?;
    // In one piece: the second of two small packets would wait for the first one's receipt.
    let message = [&length.to_be_bytes(), bytes.as_slice()].concat();
    stream.write_all(&message).await?;
    stream.flush().await?;
    let answer = read(stream).await?;
    match answer.get("Error") {
        None => Ok(answer),
        Some(error) => Err(LockdownError::Refused {
            request: name.to_owned(),
            error: error.as_string().unwrap_or("no reason given").to_owned(),
        }),
    }
}

async fn read(stream: &mut BoxStream) -> Result<Dictionary, LockdownError> {
    let length = stream.read_u32().await?;
    if length > MAX_MESSAGE {
        return Err(LockdownError::Length(length));
    }
    let mut bytes = Vec::new();
    let mut rest = stream.take(u64::from(length));
    if rest.read_to_end(&mut bytes).await? < usize::try_from(length).unwrap_or(usize::MAX) {
        return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
    }
    Ok(lists::dictionary(&bytes)?)
}

fn is_set(answer: &Dictionary, key: &str) -> bool {
    answer.get(key).and_then(Value::as_boolean) == Some(true)
}

async fn in_time<T>(
    talk: impl Future<Output = Result<T, LockdownError>>,
) -> Result<T, LockdownError> {
    match tokio::time::timeout(CONVERSATION_TIMEOUT, talk).await {
        Ok(answer) => answer,
        Err(_) => Err(LockdownError::Slow),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn answer(bytes: &[u8]) -> Result<Dictionary, LockdownError> {
        let (near, mut far) = tokio::io::duplex(1 << 16);
        far.write_all(bytes).await.unwrap();
        drop(far);
        read(&mut (Box::new(near) as BoxStream)).await
    }

    fn framed(list: &str) -> Vec<u8> {
        let length = u32::try_from(list.len()).unwrap();
        [&length.to_be_bytes(), list.as_bytes()].concat()
    }

    #[tokio::test]
    async fn a_length_no_answer_has_is_refused_before_memory_is_reserved() {
        let error = answer(&[0xff; 8]).await.unwrap_err();
        assert!(matches!(error, LockdownError::Length(u32::MAX)), "{error}");
    }

    #[tokio::test]
    async fn half_an_answer_is_an_error() {
        let whole = framed("<plist version=\"1.0\"><dict/></plist>");
        assert!(answer(&whole).await.is_ok());
        for end in 0..whole.len() {
            let error = answer(&whole[..end]).await.unwrap_err();
            assert!(matches!(error, LockdownError::Wire(_)), "{end}: {error}");
        }
    }

    #[test]
    fn an_app_is_told_from_the_systems_own() {
        let mut facts = Dictionary::new();
        facts.insert("ApplicationType".to_owned(), "User".into());
        facts.insert("CFBundleName".to_owned(), "Shop".into());
        let shop = app("com.example.shop", &facts);
        assert_eq!(shop.name.as_deref(), Some("Shop"));
        assert!(!shop.system && shop.version.is_none());
        facts.insert("ApplicationType".to_owned(), "System".into());
        assert!(app("com.apple.Maps", &facts).system);
    }
}
