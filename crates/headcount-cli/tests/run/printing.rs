//! What jobs print comes out whole, in order where asked for, and however much it is.

use super::place::{Place, check};

#[test]
fn order_is_kept_though_the_last_ends_first() {
    let place = Place::new();
    place.fifo("gate");
    let script = "case {} in 1) read x < gate;; 3) echo go > gate;; esac; echo {}";
    let outcome = place.run(&["-k", "-j3", "-c", script, ":::", "1", "2", "3"]);
    assert_eq!(outcome.text(), "1\n2\n3\n", "{}", outcome.err);
}

#[test]
fn a_job_that_all_others_wait_for_is_tried_again() {
    let place = Place::new();
    let items: String = (1..=1_200).map(|item| item.to_string() + "\n").collect();
    let script = "[ {} != 1 ] || { echo >> times; [ $(wc -l < times) = 3 ]; } && echo {}";
    let words = ["-k", "-j4", "--retries", "3", "--retry-delay", "1ms", "-c", script];
    let outcome = place.run_with(&words, items.as_bytes());
    assert_eq!((outcome.code, outcome.text()), (Some(0), items), "{}", outcome.err);
}

#[test]
fn output_of_a_job_stays_together() {
    let place = Place::new();
    place.fifo("there");
    place.fifo("back");
    // Each has printed half of its output when the other begins.
    let script = "echo {}; case {} in a) echo > there; read x < back;; \
                  b) read x < there; echo > back;; esac; echo {}";
    let text = place.run(&["-j2", "-c", script, ":::", "a", "b"]).text();
    assert!(["a\na\nb\nb\n", "b\nb\na\na\n"].contains(&text.as_str()), "{text}");
}

#[test]
fn lines_come_out_as_they_are_printed() {
    let place = Place::new();
    place.fifo("gate");
    let words = ["--line-buffer", "--tag", "sh", "-c", "echo {}; read x < gate", ":::", "a"];
    let running = place.start(&words);
    // It goes on only now, and its line was printed as it came.
    place.say("gate");
    assert_eq!(running.wait().text(), "a\ta\n");
}

#[test]
fn long_output_comes_out_whole() {
    let place = Place::new();
    let words = ["-j2", "head", "-c", "300000", "/dev/zero", ":::"];
    let outcome = place.run(&[&words[..], &["/dev/zero", "/dev/zero"]].concat());
    let zeros: usize = outcome.out.iter().map(|byte| usize::from(*byte == 0)).sum();
    assert_eq!(zeros, 1_200_000, "{}", outcome.err);
}

#[test]
fn a_tag_tells_whose_line_it_is() {
    check(
        &["-k", "--tag", "printf", "1\\n2\\n%.0s", ":::", "a", "b"],
        "",
        0,
        "a\t1\na\t2\nb\t1\nb\t2\n",
    );
}

#[test]
fn commands_can_be_shown_without_being_run() {
    check(&["--dry-run", "rm", "-rf", "{}"], "a b\n", 0, "rm -rf 'a b'\n");
    let outcome = Place::new().run(&["-t", "true", ":::", "a b"]);
    assert_eq!(outcome.err, "true 'a b'\n");
}

#[test]
fn a_search_says_what_it_does_and_a_fixed_number_nothing() {
    let place = Place::new();
    let many = "0\n".repeat(200);
    let explained = place.run_with(&["--explain", "sleep", "0.02"], many.as_bytes());
    assert!(explained.err.contains("grow"), "{}", explained.err);
    assert!(explained.err.contains("(backlog)"), "{}", explained.err);
    let fixed = place.run_with(&["-j4", "true"], many.as_bytes());
    assert_eq!((fixed.code, fixed.err.as_str()), (Some(0), ""));
    let refused = place.run(&["--preset", "fast", "true", ":::", "a"]);
    assert!(refused.err.contains("no preset is called \"fast\""), "{}", refused.err);
}
