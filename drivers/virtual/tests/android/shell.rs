//! Shells: exit codes, streams, terminals, and what clients put into a line.

use packtrain_testing::SHOP;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

use packtrain_virtual::android::Generation;
use packtrain_virtual::fleet::FleetOptions;

use crate::lab::{Adb, Lab, one_phone};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exit_codes_and_both_outputs_arrive_apart() {
    for adb in Adb::BOTH {
        let lab = Lab::connected(adb, one_phone()).await;
        let said = lab.shell("echo out; echo err >&2; exit 7").await;
        assert_eq!(
            (said.stdout.as_str(), said.stderr.as_str(), said.code),
            ("out\n", "err\n", 7)
        );
        let said = lab.shell("no_such_program").await;
        assert_eq!(said.code, 127);
        assert_eq!(
            said.stderr,
            "/system/bin/sh: no_such_program: inaccessible or not found\n"
        );
        assert_eq!(
            lab.phone().device().unhandled(),
            [("no_such_program".to_owned(), 1)]
        );
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn exec_out_mixes_the_outputs_and_hides_the_exit_code() {
    for adb in Adb::BOTH {
        let lab = Lab::connected(adb, one_phone()).await;
        let said = lab
            .exec_out("echo out; echo err >&2; no_such_program")
            .await;
        assert_eq!(said.code, 0);
        assert_eq!(
            said.stdout,
            "out\nerr\n/system/bin/sh: no_such_program: inaccessible or not found\n"
        );
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_old_phone_has_no_exit_codes() {
    let options = FleetOptions {
        generation: Generation::BeforeShellV2,
        ..one_phone()
    };
    let lab = Lab::connected(Adb::New, options).await;
    let said = lab.shell("echo out; exit 7").await;
    assert_eq!((said.stdout.as_str(), said.code), ("out\n", 0));
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn input_reaches_the_command_and_its_end_ends_it() {
    for adb in Adb::BOTH {
        let lab = Lab::connected(adb, one_phone()).await;
        let input: Vec<u8> = (0..300_000_u32)
            .flat_map(|n| format!("{n}\n").into_bytes())
            .collect();
        let said = lab
            .with_input(["shell", "cat | md5sum; wc -l"], &input)
            .await;
        assert!(said.stdout.ends_with("  -\n0\n"), "{said:?}");
        let counted = lab.with_input(["shell", "wc -l"], &input).await;
        assert_eq!(counted.ok(), "300000\n");
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_output_arrives_whole_with_and_without_delayed_acks() {
    for burst in [false, true] {
        let lab = Lab::with_burst(Adb::New, one_phone(), burst).await;
        lab.adb(["connect", &lab.serial()]).await.ok();
        let said = lab.exec_out("seq 1 300000").await;
        assert_eq!(said.stdout.lines().count(), 300_000);
        assert!(said.stdout.ends_with("\n300000\n"));
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_of_real_clients_mean_what_they_mean_on_a_phone() {
    let lab = Lab::connected(Adb::New, one_phone()).await;
    for (line, expected) in [
        (
            "getprop ro.product.model; echo X4EXIT:$?",
            "Pixel 9\nX4EXIT:0\n",
        ),
        ("[ a = a ] && [ -z \"\" ]; echo $?", "0\n"),
        (
            "rm -f /sdcard/w.xml; uiautomator dump /sdcard/w.xml && echo success",
            "UI hierchary dumped to: /sdcard/w.xml\nsuccess\n",
        ),
        (
            "export ANDROID_LOG_TAGS=''; exec logcat -d -s nothing",
            "--------- beginning of main\n",
        ),
        ("settings get global no_such_key", "null\n"),
        (
            "A='1 2' B=$A; echo \"$A\" $B ${C} $(echo in)",
            "1 2 1 2 in\n",
        ),
        (
            "export A=x; while [ \"$A\" != xyy ]; do A=${A}y; done; echo $A",
            "xyy\n",
        ),
        ("(cd /sdcard; pwd); pwd", "/storage/emulated/0\n/\n"),
        ("ls -d /data/local/tmp", "/data/local/tmp\n"),
        (
            "cmd package resolve-activity --brief com.example.shop | grep /",
            "com.example.shop/.MainActivity\n",
        ),
        ("date +%s%3N | wc -c", "14\n"),
        (
            "settings put system x 'a b'; settings get system x",
            "a b\n",
        ),
        (
            "echo 'it'\\''s' \"\\$HOME\" $(echo tick)",
            "it's $HOME tick\n",
        ),
        (
            "false || echo or; true && echo and; ! false; echo $?",
            "or\nand\n0\n",
        ),
        (
            "{ echo a; echo b; } > /data/local/tmp/f; wc -l < /data/local/tmp/f",
            "2\n",
        ),
        ("pm path com.no.such; echo $?", "1\n"),
        (
            "toybox md5sum /dev/null",
            "d41d8cd98f00b204e9800998ecf8427e  /dev/null\n",
        ),
        ("sh -c 'echo $0 in; exit 3' || echo $?", "sh in\n3\n"),
    ] {
        let said = lab.shell(line).await;
        assert_eq!(said.stdout, expected, "{line}: {}", said.stderr);
    }
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_breaks_off_takes_its_command_with_it() {
    for adb in Adb::BOTH {
        let lab = Lab::connected(adb, one_phone()).await;
        let mut client = lab.follow(["shell", "echo begun; sleep 1000"]);
        let mut line = String::new();
        let out = client.stdout.take().expect("piped");
        BufReader::new(out)
            .read_line(&mut line)
            .await
            .expect("readable");
        assert_eq!(line, "begun\n");
        client.kill().await.expect("killed");
        // Ends only when nobody sleeps any more.
        lab.shell("while pidof sleep; do :; done").await.ok();
        lab.end().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_terminal_echoes_and_ends_lines_as_terminals_do() {
    let lab = Lab::connected(Adb::New, one_phone()).await;
    let mut client = lab.follow(["shell", "-tt"]);
    let mut stdin = client.stdin.take().expect("piped");
    stdin
        .write_all(b"echo $USER\nexit 5\n")
        .await
        .expect("written");
    let mut all = String::new();
    let mut out = client.stdout.take().expect("piped");
    out.read_to_string(&mut all).await.expect("readable");
    assert!(
        all.contains("tokay:/ $ ") && all.contains("\r\nshell\r\n"),
        "{all:?}"
    );
    assert_eq!(client.wait().await.expect("ended").code(), Some(5));
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn control_c_ends_the_command_and_not_the_shell() {
    let lab = Lab::connected(Adb::New, one_phone()).await;
    let mut client = lab.follow(["shell", "-tt"]);
    let mut stdin = client.stdin.take().expect("piped");
    let mut out = client.stdout.take().expect("piped");
    stdin
        .write_all(b"echo begun; sleep 1000\n")
        .await
        .expect("written");
    let mut all = String::new();
    // What is typed is shown at once, before or after a prompt; so nothing is typed ahead.
    for (shown, typed) in [
        ("begun\r\n", &b"\x03"[..]),
        ("^C\r\ntokay:/ $ ", b"echo coox\x7f\x7fde $?\nexit\n"),
    ] {
        while !all.ends_with(shown) {
            all.push(char::from(out.read_u8().await.expect("readable")));
        }
        stdin.write_all(typed).await.expect("written");
    }
    out.read_to_string(&mut all).await.expect("readable");
    assert!(all.contains("\r\ncode 130\r\n"), "{all:?}");
    client.wait().await.expect("ended");
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_on_the_input_is_run() {
    let lab = Lab::connected(Adb::Old, one_phone()).await;
    let said = lab
        .with_input(
            ["shell"],
            b"cd /sdcard\npwd\nuntil true\ndo :\ndone\n(echo \\\ndeep\n)\nexit 3\n",
        )
        .await;
    assert_eq!(
        (said.stdout.as_str(), said.code),
        ("/storage/emulated/0\ndeep\n", 3)
    );
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_log_can_be_followed_and_filtered() {
    let lab = Lab::connected(Adb::New, one_phone()).await;
    let mut client = lab.follow(["logcat", "-s", "mine:I"]);
    let mut lines = BufReader::new(client.stdout.take().expect("piped")).lines();
    let first = lines.next_line().await.expect("readable");
    assert_eq!(first.as_deref(), Some("--------- beginning of main"));
    lab.shell("log -t other hidden; log -t mine -p d low; log -t mine shown")
        .await
        .ok();
    let line = lines.next_line().await.expect("readable").expect("a line");
    assert!(line.contains(" I mine: shown"), "{line}");
    client.kill().await.expect("killed");
    lab.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn apps_are_started_and_stopped_and_errors_are_those_of_a_phone() {
    let lab = Lab::connected(Adb::New, one_phone()).await;
    let started = lab
        .shell("am start -W -n com.example.shop/.MainActivity")
        .await
        .ok();
    assert!(started.starts_with("Starting: Intent { cmp=com.example.shop/.MainActivity }\nStatus: ok\nLaunchState: COLD\nActivity: com.example.shop/.MainActivity\n"), "{started}");
    assert!(started.ends_with("Complete\n"), "{started}");
    let again = lab
        .shell("am start -n com.example.shop/.MainActivity")
        .await;
    assert!(
        again
            .stderr
            .contains("its current task has been brought to the front"),
        "{again:?}"
    );
    let focus = lab.shell("dumpsys window | grep mCurrentFocus").await.ok();
    assert!(
        focus.contains("u0 com.example.shop/com.example.shop.MainActivity}"),
        "{focus}"
    );
    let wrong = lab.shell("am start -n com.example.shop/.NoSuch").await;
    assert_eq!(wrong.code, 1);
    assert_eq!(
        wrong.stderr,
        "Error type 3\nError: Activity class {com.example.shop/.NoSuch} does not exist.\n"
    );
    let absent = lab
        .shell("monkey -p com.no.such -c android.intent.category.LAUNCHER 1")
        .await;
    assert_eq!(absent.code, 252);
    assert!(
        absent
            .all()
            .contains("No activities found to run, monkey aborted"),
        "{absent:?}"
    );
    lab.shell("am force-stop com.example.shop").await.ok();
    assert_eq!(lab.shell("pidof com.example.shop").await.code, 1);
    let denied = lab
        .shell("pm grant com.example.shop android.permission.SEND_SMS")
        .await;
    assert!(
        denied.code == 255 && denied.stderr.contains("SecurityException"),
        "{denied:?}"
    );
    assert_eq!(
        lab.shell("pm clear com.example.shop").await.ok(),
        "Success\n"
    );
    assert_eq!(lab.shell("pm clear com.no.such").await.stdout, "Failed\n");
    let listed = lab.shell("pm list packages -3").await.ok();
    assert_eq!(listed, format!("package:{SHOP}\n"));
    let broken = lab.shell("input tap a b").await;
    assert!(
        broken.code == 255 && broken.stderr.contains("NumberFormatException"),
        "{broken:?}"
    );
    assert_eq!(
        lab.shell("input fly").await.stdout,
        "Unknown command: fly\n"
    );
    let unicode = lab.shell("input text é").await;
    assert_eq!(unicode.code, 255);
    lab.end().await;
}
