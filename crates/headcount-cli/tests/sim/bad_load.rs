//! Files that are no load: each is named, with line, value and remedy.

use crate::place::Place;

const AZURE: &[u8] = include_bytes!("../../../headcount-sim/data/azure_llm_code.jobs.csv.gz");

#[track_caller]
fn check_trace(bytes: &[u8], sentence: &str) {
    let place = Place::new();
    place.write("web.csv", bytes);
    place.refused("--trace web.csv --service exp:1s", &format!("web.csv: {sentence}"));
}

#[track_caller]
fn check_jobs(bytes: &[u8], sentence: &str) {
    let place = Place::new();
    place.write("web.csv", bytes);
    place.refused("--jobs web.csv", &format!("web.csv: {sentence}"));
}

#[test]
fn a_bad_trace_is_told_with_line_and_remedy() {
    let columns = "the file is empty; its first line names the columns: t_seconds,arrivals";
    check_trace(b"", columns);
    check_trace(b"t_seconds,arrivals\n", {
        "line 1 names the columns and nothing follows; add lines"
    });
    check_trace(b"t_seconds,arrivals\n0,1\n1,1\n0.5,1\n", {
        "line 4: t_seconds is 0.5 after 1; sort the lines by t_seconds"
    });
    let number = "write a number from 0 to 1000000000";
    let negative = format!("line 3: arrivals is \"-1\"; {number}");
    check_trace(b"t_seconds,arrivals\n0,1\n1,-1\n", &negative);
    check_trace(b"t_seconds,arrivals\n0,NaN\n", &format!("line 2: arrivals is \"NaN\"; {number}"));
    check_trace(b"t_seconds,arrivals\n0,0\n1,0\n", "nothing arrives in it; is it the right file?");
}

#[test]
fn bad_jobs_are_told_with_line_and_remedy() {
    check_jobs(b"t_seconds,service_seconds\n5,1\n4,1\n", {
        "line 3: t_seconds is 4 after 5; sort the lines by t_seconds"
    });
    check_jobs(b"t_seconds,service_seconds\n5,-1\n", {
        "line 2: service_seconds is \"-1\"; write a number from 0 to 10000000000"
    });
    check_jobs(b"t_seconds,service_seconds\n5,0\n", {
        "no job in it takes any time; is it the right file?"
    });
}

#[test]
fn a_file_of_one_job_is_a_load() {
    let place = Place::new();
    place.write("web.csv", b"t_seconds,service_seconds\n5,1\n");
    let out = place.well("--jobs web.csv --policy on_demand");
    assert!(out.starts_with("1 job in "), "{out}");
}

#[test]
fn a_packed_file_that_was_cut_short_is_told() {
    let place = Place::new();
    place.write("web.jobs.csv.gz", &AZURE[..AZURE.len() / 2]);
    let told = place.sim("--jobs web.jobs.csv.gz");
    assert_eq!(told.code, Some(2), "{told:?}");
    assert!(told.err.starts_with("headcount: web.jobs.csv.gz: line "), "{told:?}");
    assert!(told.err.contains("the packed data ends too soon"), "{told:?}");
}

#[test]
fn a_file_that_is_not_there_is_told() {
    let no_file = "it cannot be opened: No such file or directory (os error 2)";
    Place::new().refused("--jobs web.csv", &format!("web.csv: {no_file}"));
    let place = Place::new();
    place.write("traces/web.csv", b"");
    let folder = "traces: it cannot be opened: it is a directory; give a file";
    place.refused("--jobs traces", folder);
}
