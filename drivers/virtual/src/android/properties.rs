//! What `getprop` knows.

use std::collections::BTreeMap;

use crate::android::{Android, Build, lock};

/// The longest value of a property that is not read-only, in bytes. (bionic: `PROP_VALUE_MAX`)
const MAX_VALUE: usize = 91;
/// The most properties a client can set.
const MAX_SET: usize = 512;

impl Android {
    /// The value of a property, empty when there is none.
    pub(super) fn property(&self, name: &str) -> String {
        if let Some(value) = lock(&self.properties).get(name) {
            return value.clone();
        }
        let all = self.built_in();
        all.get(name).cloned().unwrap_or_default()
    }

    /// All properties by name.
    pub(super) fn all_properties(&self) -> BTreeMap<String, String> {
        let mut all = self.built_in();
        let set = lock(&self.properties).clone();
        all.extend(set);
        all
    }

    /// Sets a property; false when the system does not let the client.
    pub(super) fn set_property(&self, name: &str, value: &str) -> bool {
        let free = name.starts_with("debug.")
            || name.starts_with("log.")
            || name.starts_with("persist.log");
        let root = self.who() == crate::android::files::FileUser::Root;
        let fixed = name.starts_with("ro.") && !self.property(name).is_empty();
        if fixed || !(free || root || name.starts_with("persist.")) || value.len() > MAX_VALUE {
            return false;
        }
        let mut set = lock(&self.properties);
        if set.len() >= MAX_SET && !set.contains_key(name) {
            return false;
        }
        set.insert(name.to_owned(), value.to_owned());
        true
    }

    fn built_in(&self) -> BTreeMap<String, String> {
        let shape = self.device.shape();
        let serial = self.serial_number();
        let (kind, keys, debuggable) = match self.build {
            Build::User => ("user", "release-keys", "0"),
            Build::Userdebug => ("userdebug", "dev-keys", "1"),
        };
        let brand = shape.maker.to_lowercase();
        let id = format!("VP{}A.251105.001", shape.api_level);
        let product = shape.product;
        let release = shape.os_version;
        let fingerprint = format!("{brand}/{product}/{product}:{release}/{id}/1001:{kind}/{keys}");
        let api = shape.api_level.to_string();
        let density = shape.density().to_string();
        let pairs: [(&str, &str); 55] = [
            ("dalvik.vm.heapsize", "512m"),
            ("dalvik.vm.isa.arm64.variant", "generic"),
            ("dev.bootcomplete", "1"),
            ("gsm.operator.alpha", ""),
            ("gsm.sim.state", "ABSENT"),
            ("init.svc.adbd", "running"),
            ("init.svc.bootanim", "stopped"),
            ("init.svc.surfaceflinger", "running"),
            ("init.svc.zygote", "running"),
            ("net.bt.name", "Android"),
            ("persist.sys.locale", "en-US"),
            ("persist.sys.timezone", "UTC"),
            ("persist.sys.usb.config", "adb"),
            ("ro.adb.secure", "1"),
            ("ro.board.platform", product),
            ("ro.boot.hardware", product),
            ("ro.boot.serialno", &serial),
            ("ro.boot.verifiedbootstate", "green"),
            ("ro.bootloader", "virtual-1.0"),
            ("ro.bootmode", "unknown"),
            ("ro.build.characteristics", "nosdcard"),
            ("ro.build.date.utc", "1762300800"),
            ("ro.build.display.id", &id),
            ("ro.build.fingerprint", &fingerprint),
            ("ro.build.id", &id),
            ("ro.build.product", product),
            ("ro.build.tags", keys),
            ("ro.build.type", kind),
            ("ro.build.version.all_codenames", "REL"),
            ("ro.build.version.codename", "REL"),
            ("ro.build.version.incremental", "1001"),
            ("ro.build.version.preview_sdk", "0"),
            ("ro.build.version.release", release),
            ("ro.build.version.release_or_codename", release),
            ("ro.build.version.sdk", &api),
            ("ro.build.version.security_patch", "2025-11-05"),
            ("ro.crypto.state", "encrypted"),
            ("ro.debuggable", debuggable),
            ("ro.hardware", product),
            ("ro.opengles.version", "196610"),
            ("ro.product.board", product),
            ("ro.product.brand", &brand),
            ("ro.product.cpu.abi", "arm64-v8a"),
            ("ro.product.cpu.abilist", "arm64-v8a"),
            ("ro.product.device", product),
            ("ro.product.first_api_level", "33"),
            ("ro.product.locale", "en-US"),
            ("ro.product.manufacturer", shape.maker),
            ("ro.product.model", shape.model),
            ("ro.product.name", product),
            ("ro.secure", "1"),
            ("ro.serialno", &serial),
            ("ro.sf.lcd_density", &density),
            ("service.bootanim.exit", "1"),
            ("sys.boot_completed", "1"),
        ];
        (pairs.into_iter())
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect()
    }

    /// What is printed on the phone's back: its serial, whatever address adb reaches it by.
    pub(super) fn serial_number(&self) -> String {
        self.device.serial()
    }
}
