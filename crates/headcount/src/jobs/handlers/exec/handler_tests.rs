//! Real programs, with real signals.

use std::future::{pending, ready};
use std::path::Path;
use std::time::Instant;

use headcount_queue::jobs::{JobId, JobSpec};
use headcount_queue::port::LeasedJob;

use super::*;

/// A job with this payload, whose result is wanted.
fn job(payload: &str) -> LeasedJob {
    let mut spec = JobSpec::new("tidy".parse().expect("a name"), payload.as_bytes().to_vec());
    spec.keep = Duration::from_secs(60);
    LeasedJob::new(JobId::new(0, 7), spec)
}

fn context(payload: &str) -> Context {
    Context::alone("house".parse().expect("a name"), job(payload))
}

fn shell(script: &str) -> Exec {
    Exec::new("/bin/sh", ["-c", script])
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(future)
}

fn told(answer: Result<Option<Vec<u8>>, JobError>) -> String {
    match answer {
        Ok(Some(result)) => format!("done {}", String::from_utf8_lossy(&result)),
        Ok(None) => "done".to_owned(),
        Err(error) => format!("{error:?}"),
    }
}

#[track_caller]
fn check(exec: &Exec, payload: &str, expected: &str) {
    let answer = block_on(exec.attempt(&context(payload), pending()));
    assert_eq!(told(answer), expected);
}

/// Returns when nothing is left of the process whose number is in the file.
fn gone(pid_file: &Path) {
    let text = std::fs::read_to_string(pid_file).expect("it said who it is");
    let pid = text.trim().parse().ok().and_then(rustix::process::Pid::from_raw).expect("a number");
    let deadline = Instant::now() + Duration::from_secs(10);
    while rustix::process::test_kill_process(pid).is_ok() && !is_zombie(pid) {
        assert!(Instant::now() < deadline, "process {text} is still there");
        std::thread::yield_now();
    }
}

/// One whose parent is gone too may wait to be reaped by whoever has taken it in.
fn is_zombie(pid: rustix::process::Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    stat.is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|rest| rest.starts_with(" Z")))
}

#[test]
fn the_payload_comes_in_and_the_result_goes_out() {
    check(&shell("cat"), r#"{"a":1}"#, r#"done {"a":1}"#);
    check(&shell("echo fine"), "{}", "done");
    check(&Exec::new("/bin/echo", ["[1,", "2]"]), "{}", "done [1, 2]\n");
}

#[test]
fn a_program_knows_its_job() {
    let script = r#"printf '"%s %s %s %s %s"' "$HEADCOUNT_JOB_ID" "$HEADCOUNT_QUEUE" \
                    "$HEADCOUNT_KIND" "$HEADCOUNT_ATTEMPT" "$COLOUR""#;
    let exec = shell(script).env("COLOUR", "red").env("HEADCOUNT_KIND", "mine");
    check(&exec, "{}", r#"done "00000000000000000000000000000007 house tidy 1 red""#);
}

#[test]
fn a_program_works_where_it_is_told_to() {
    let dir = tempfile::tempdir().expect("a directory");
    let place = dir.path().canonicalize().expect("it is there");
    let expected = format!("done {:?}", place.display().to_string());
    check(&shell(r#"printf '"%s"' "$(pwd)""#).dir(&place), "{}", &expected);
}

#[test]
fn the_exit_code_decides_and_the_last_words_are_kept() {
    check(&shell("echo oh no >&2; exit 3"), "{}", "JobError(Retry: exit code 3: oh no)");
    check(&shell("exit 65"), "{}", "JobError(Dead: exit code 65, given up)");
    check(&shell("exit 9").dead_codes([9]), "{}", "JobError(Dead: exit code 9, given up)");
    let later = shell("exit 75").snooze(Duration::from_secs(3));
    check(&later, "{}", "JobError(Snooze(3s): exit code 75, to be tried later)");
    check(&shell("kill -SEGV $$"), "{}", "JobError(Retry: ended by signal 11)");
}

#[test]
fn a_program_may_say_as_much_as_it_likes() {
    // A megabyte each, in turns: whoever is not heard would wait for ever.
    let script = "i=0; while [ $i -lt 64 ]; do head -c 16384 /dev/zero; \
                  head -c 16384 /dev/zero >&2; i=$((i+1)); done; echo the end >&2; exit 1";
    let answer = block_on(shell(script).attempt(&context("{}"), pending()));
    let error = answer.expect_err("it failed").to_string();
    assert!(error.ends_with("the end"), "{error:?}");
    assert!(error.len() <= ERROR_BYTES_MAX + 64, "{}", error.len());
}

#[test]
fn a_program_need_not_read() {
    check(&shell("exec <&-; echo 1"), &"x".repeat(1 << 20), "done 1\n");
}

#[test]
fn a_program_that_is_not_there_is_tried_again() {
    let missing = Exec::new("/no/such/program", [""; 0]);
    let expected = "JobError(Retry: cannot run /no/such/program: No such file or directory \
                    (os error 2))";
    check(&missing, "{}", expected);
    let homeless = shell("true").dir("/no/such/place");
    let expected = "JobError(Retry: cannot run /bin/sh: its working directory /no/such/place is \
                    not there)";
    check(&homeless, "{}", expected);
}

#[test]
fn a_full_machine_is_no_fault_of_the_job() {
    let error = shell("").not_started(&Errno::AGAIN.into());
    assert!(format!("{error:?}").starts_with("JobError(Snooze(5s): "), "{error:?}");
}

#[test]
fn what_takes_too_long_is_asked_to_end_and_then_made_to() {
    let dir = tempfile::tempdir().expect("a directory");
    let polite = "trap 'echo asked >&2; exit 0' TERM; echo $$ > pid; sleep 600 & wait";
    let exec = shell(polite).dir(dir.path()).timeout(Duration::from_millis(300));
    check(&exec, "{}", "JobError(Retry: took longer than 0.3 s and was stopped: asked)");
    gone(&dir.path().join("pid"));

    let rude = "trap '' TERM; echo $$ > pid; while :; do sleep 600; done";
    let exec = shell(rude).dir(dir.path()).timeout(Duration::from_millis(300));
    let exec = exec.grace(Duration::from_millis(100));
    check(&exec, "{}", "JobError(Retry: took longer than 0.3 s and was stopped)");
    gone(&dir.path().join("pid"));
}

#[test]
fn nothing_is_left_of_what_it_has_started() {
    let dir = tempfile::tempdir().expect("a directory");
    // It holds the pipe, so that the end of the output would never come.
    let script = "(trap '' TERM; echo $(exec sh -c 'echo $PPID') > pid; sleep 600) & \
                  while [ ! -s pid ]; do :; done; echo 1";
    check(&shell(script).dir(dir.path()), "{}", "done 1\n");
    gone(&dir.path().join("pid"));
}

#[test]
fn one_who_leaves_the_group_delays_nobody_for_long() {
    let began = Instant::now();
    let script = "setsid sleep 5 & echo 1";
    check(&shell(script), "{}", "done 1\n");
    assert!(began.elapsed() < Duration::from_secs(4), "{:?}", began.elapsed());
}

#[test]
fn what_nobody_wants_ends() {
    let dir = tempfile::tempdir().expect("a directory");
    let exec = shell("echo $$ > pid; sleep 600").dir(dir.path());
    let pid = dir.path().join("pid");
    let unwanted = async {
        while !std::fs::read_to_string(&pid).is_ok_and(|text| text.ends_with('\n')) {
            tokio::task::yield_now().await;
        }
    };
    let ctx = context("{}");
    let answer = block_on(exec.attempt(&ctx, unwanted));
    assert_eq!(told(answer), "JobError(Preempted: its handler stopped as it was asked)");
    gone(&pid);
}

#[test]
fn a_handler_that_is_dropped_takes_its_program_with_it() {
    let dir = tempfile::tempdir().expect("a directory");
    let pid = dir.path().join("pid");
    let exec = shell("echo $$ > pid.new; mv pid.new pid; sleep 600").dir(dir.path());
    let ctx = context("{}");
    block_on(async {
        tokio::select! {
            _ = exec.attempt(&ctx, pending()) => panic!("it takes ten minutes"),
            () = async { while !pid.exists() { tokio::task::yield_now().await; } } => {}
        }
    });
    gone(&pid);
}

#[test]
fn a_program_goes_on_where_it_was() {
    let ctx = context("{}");
    let first = shell("printf 'row 17' > $HEADCOUNT_CHECKPOINT; exit 75");
    let answer = block_on(first.attempt(&ctx, pending()));
    assert!(told(answer).starts_with("JobError(Snooze"));
    assert_eq!(ctx.last_checkpoint::<String>().expect("a text").as_deref(), Some("row 17"));

    let then = shell(r#"printf '"%s"' "$(cat $HEADCOUNT_CHECKPOINT)""#);
    let answer = block_on(then.attempt(&ctx, pending()));
    assert_eq!(told(answer), r#"done "row 17""#);
}

#[test]
fn a_checkpoint_that_is_being_written_does_not_undo_the_last_one() {
    let ctx = context("{}");
    let write = shell("printf 42 > $HEADCOUNT_CHECKPOINT; exit 75");
    let _ = block_on(write.attempt(&ctx, pending()));
    let cut_off = shell(": > $HEADCOUNT_CHECKPOINT; exit 75");
    let _ = block_on(cut_off.attempt(&ctx, pending()));
    assert_eq!(ctx.last_checkpoint::<String>().expect("a text").as_deref(), Some("42"));
}

#[test]
fn nothing_of_ours_is_left_on_the_disk() {
    let script = r#"printf '"%s"' "$HEADCOUNT_CHECKPOINT""#;
    let answer = block_on(shell(script).attempt(&context("{}"), pending()));
    let result = answer.expect("done").expect("a result");
    let path: String = serde_json::from_slice(&result).expect("a name");
    assert!(path.contains("headcount-job-"), "{path}");
    assert!(!Path::new(&path).exists(), "{path}");
}

#[test]
fn a_job_that_is_cancelled_before_it_begins_does_not_stay() {
    let answer = block_on(shell("sleep 600").attempt(&context("{}"), ready(())));
    assert_eq!(told(answer), "JobError(Preempted: its handler stopped as it was asked)");
}

/// Runs a program and what that has started, until somebody kills this process. The program goes by
/// what it is given to read, which it is when its keeper knows of it.
#[test]
#[ignore = "it is the process that the next test kills"]
fn process_to_be_killed() {
    let dir = std::env::var("KEEPER_TEST_DIR").expect("it is started by another test");
    let script = "cat >given; sh -c 'echo $$ >child.new; mv child.new child; sleep 600' & \
                  echo $$ >leader.new; mv leader.new leader; wait";
    drop(block_on(shell(script).dir(dir).attempt(&context("{}"), pending())));
}

#[test]
fn no_program_outlives_a_process_that_is_killed() {
    let folder = tempfile::tempdir().expect("there is room");
    let (leader, child) = (folder.path().join("leader"), folder.path().join("child"));
    let name = module_path!().split_once("::").expect("a module").1;
    let mut process = std::process::Command::new(std::env::current_exe().expect("it has a file"))
        .args(["--exact", &format!("{name}::process_to_be_killed"), "--ignored"])
        .env("KEEPER_TEST_DIR", folder.path())
        .stdout(Stdio::null())
        .spawn()
        .expect("a test can be started twice");
    let deadline = Instant::now() + Duration::from_secs(20);
    while !(leader.exists() && child.exists()) {
        assert!(Instant::now() < deadline, "the programs did not begin");
        std::thread::yield_now();
    }
    process.kill().expect("it runs");
    process.wait().expect("it is killed");
    gone(&leader);
    gone(&child);
}
