//! Programs about the system as a whole.

use std::time::Duration;

use crate::android::commands::{Call, CommandResult, builtin, is_known};
use crate::android::logs::clock_text;
use crate::android::{recorded, service};

/// The longest sleep.
const MAX_SLEEP: f64 = 86_400.0 * 30.0;

pub(super) async fn sleep(call: &mut Call<'_>) -> CommandResult {
    let mut total = 0.0;
    for arg in call.rest() {
        match arg.parse::<f64>() {
            Ok(number) if number >= 0.0 => total += number,
            _ => return call.fail(format!("bad '{arg}'"), 1).await,
        }
    }
    let time = Duration::from_secs_f64(f64::min(total, MAX_SLEEP));
    call.shell.android.device().sleep(time).await;
    Ok(0)
}

pub(super) async fn date(call: &mut Call<'_>) -> CommandResult {
    let format = match call.rest() {
        [] => "%a %b %e %T UTC %Y",
        [arg] if arg.starts_with('+') => &arg[1..],
        _ => {
            call.unhandled();
            let why = "cannot set date: Operation not permitted";
            return call.fail(why, 1).await;
        }
    };
    let text = clock_text(call.shell.android.device().clock(), format);
    call.say(text + "\n").await
}

pub(super) async fn id(call: &mut Call<'_>) -> CommandResult {
    let options = call.options("u", &[]).await?;
    let (uid, name) = (call.shell.who.uid(), call.shell.who.name());
    let text = match options.has("u") {
        true => format!("{uid}\n"),
        false => format!(
            "uid={uid}({name}) gid={uid}({name}) groups={uid}({name}),1004(input),1007(log),1011(adb),1015(sdcard_rw),1028(sdcard_r),3003(inet) context=u:r:{name}:s0\n"
        ),
    };
    call.say(text).await
}

pub(super) async fn reboot(call: &mut Call<'_>) -> CommandResult {
    let how = call.arg(1).unwrap_or("");
    call.android().reboot_to(how).await;
    Ok(0)
}

pub(super) async fn remount(call: &mut Call<'_>) -> CommandResult {
    let text = service::remount(&call.shell.android);
    let failed = text.starts_with("Not");
    call.end(text, i32::from(failed)).await
}

/// `seq LAST` and `seq FIRST LAST`
pub(super) async fn seq(call: &mut Call<'_>) -> CommandResult {
    let numbers: Vec<i64> = (call.rest().iter())
        .filter_map(|arg| arg.parse().ok())
        .collect();
    let range = match numbers.as_slice() {
        [to] => 1..=*to,
        [from, to] => *from..=*to,
        _ => {
            call.unhandled();
            return call.fail("Needs 1 argument (see \"seq --help\")", 1).await;
        }
    };
    let mut text = String::new();
    for number in range {
        text.push_str(&format!("{number}\n"));
        if text.len() > 4096 {
            call.out(std::mem::take(&mut text)).await?;
            tokio::task::yield_now().await;
        }
    }
    call.say(text).await
}

pub(super) async fn which(call: &mut Call<'_>) -> CommandResult {
    let mut code = 0;
    for name in call.rest() {
        if is_known(name) || builtin::is_builtin(name) || recorded::is_program(name) {
            call.out(format!("/system/bin/{name}\n")).await?;
        } else {
            code = 1;
        }
    }
    Ok(code)
}

impl crate::android::Android {
    /// No window has the focus for this time.
    pub(super) fn lose_focus(&self, time: Duration) {
        self.state.lock().no_focus_until = self.device.now() + time;
    }

    /// Whether a window has the focus.
    pub(super) fn has_focus(&self) -> bool {
        let until = self.state.lock().no_focus_until;
        self.device.now() >= until && !self.device.world(|world| world.starting())
    }
}
