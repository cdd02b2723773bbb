//! The system services by name, for what lists them or looks one up.

/// Services and their interfaces, in order. There are more on a phone; these are those that
/// scripts ask for.
pub(super) const SERVICES: &[(&str, &str)] = &[
    ("SurfaceFlinger", "android.ui.ISurfaceComposer"),
    (
        "accessibility",
        "android.view.accessibility.IAccessibilityManager",
    ),
    ("account", "android.accounts.IAccountManager"),
    ("activity", "android.app.IActivityManager"),
    ("activity_task", "android.app.IActivityTaskManager"),
    ("alarm", "android.app.IAlarmManager"),
    ("appops", "com.android.internal.app.IAppOpsService"),
    ("audio", "android.media.IAudioService"),
    ("autofill", "android.view.autofill.IAutoFillManager"),
    ("battery", ""),
    ("batterystats", "com.android.internal.app.IBatteryStats"),
    ("bluetooth_manager", "android.bluetooth.IBluetoothManager"),
    ("clipboard", "android.content.IClipboard"),
    ("connectivity", "android.net.IConnectivityManager"),
    ("content", "android.content.IContentService"),
    ("cpuinfo", ""),
    ("device_config", ""),
    ("device_policy", "android.app.admin.IDevicePolicyManager"),
    ("deviceidle", "android.os.IDeviceIdleController"),
    ("diskstats", ""),
    ("display", "android.hardware.display.IDisplayManager"),
    ("dropbox", "com.android.internal.os.IDropBoxManagerService"),
    ("gfxinfo", ""),
    ("input", "android.hardware.input.IInputManager"),
    (
        "input_method",
        "com.android.internal.view.IInputMethodManager",
    ),
    (
        "iphonesubinfo",
        "com.android.internal.telephony.IPhoneSubInfo",
    ),
    ("jobscheduler", "android.app.job.IJobScheduler"),
    ("locale", "android.app.ILocaleManager"),
    ("location", "android.location.ILocationManager"),
    ("lock_settings", "com.android.internal.widget.ILockSettings"),
    ("media_session", "android.media.session.ISessionManager"),
    ("meminfo", ""),
    ("mount", "android.os.storage.IStorageManager"),
    ("netpolicy", "android.net.INetworkPolicyManager"),
    ("netstats", "android.net.INetworkStatsService"),
    ("notification", "android.app.INotificationManager"),
    ("overlay", "android.content.om.IOverlayManager"),
    ("package", "android.content.pm.IPackageManager"),
    ("permission", "android.os.IPermissionController"),
    ("permissionmgr", "android.permission.IPermissionManager"),
    ("phone", "com.android.internal.telephony.ITelephony"),
    ("power", "android.os.IPowerManager"),
    (
        "procstats",
        "com.android.internal.app.procstats.IProcessStats",
    ),
    ("role", "android.app.role.IRoleManager"),
    ("sensorservice", "android.gui.SensorServer"),
    ("settings", ""),
    ("shortcut", "android.content.pm.IShortcutService"),
    (
        "statusbar",
        "com.android.internal.statusbar.IStatusBarService",
    ),
    ("telecom", "com.android.internal.telecom.ITelecomService"),
    (
        "telephony.registry",
        "com.android.internal.telephony.ITelephonyRegistry",
    ),
    ("testharness", ""),
    ("thermalservice", "android.os.IThermalService"),
    ("uimode", "android.app.IUiModeManager"),
    ("usagestats", "android.app.usage.IUsageStatsManager"),
    ("usb", "android.hardware.usb.IUsbManager"),
    ("user", "android.os.IUserManager"),
    ("vibrator_manager", "android.os.IVibratorManagerService"),
    ("wallpaper", "android.app.IWallpaperManager"),
    ("wifi", "android.net.wifi.IWifiManager"),
    ("window", "android.view.IWindowManager"),
];

/// Whether there is a service of that name.
pub(super) fn is_there(name: &str) -> bool {
    SERVICES
        .binary_search_by(|(known, _)| (*known).cmp(name))
        .is_ok()
}

/// The list that `dumpsys -l` and `cmd -l` print.
pub(super) fn list() -> String {
    let names: String = (SERVICES.iter())
        .map(|(name, _)| format!("  {name}\n"))
        .collect();
    format!("Currently running services:\n{names}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_services_are_in_order_so_that_they_are_found() {
        assert!(SERVICES.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(is_there("window") && is_there("SurfaceFlinger") && !is_there("nope"));
    }
}
