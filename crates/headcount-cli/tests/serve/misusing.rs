//! Clear sentences for whoever calls it wrongly, or at the wrong time.

use super::place::Place;

#[test]
fn what_is_not_there_is_said() {
    let place = Place::new();
    let nothing = "there is no store in headcount-data; `headcount serve` makes one";
    place.check(&["jobs", "list"], 1, nothing);
    place.check(&["enqueue", "echo"], 1, nothing);
    place.check(&["why"], 1, nothing);
    place.check(&["jobs", "list", "--store", "http://127.0.0.1:1"], 1, "does not answer");
    place.check(&["jobs", "list", "--store", "ftp://h"], 2, "is no place for a store");

    let _server = place.serve(&[]);
    let unknown = "0000000000000000000000000000000f";
    place.told(&["enqueue", "echo", "--wait=20s", "--store", "data"]);
    let words = ["jobs", "show", unknown, "--store", "data"];
    place.check(&words, 1, "no job 0000000000000000000000000000000f");
    let words = ["queues", "show", "mails", "--store", "data"];
    place.check(&words, 1, "no queue is called mails; there are default");
}

#[test]
fn what_is_written_wrongly_is_said() {
    let place = Place::new();
    place.check(&["enqueue", "Thumb Nail"], 2, "use a-z, 0-9, '.', '_' and '-'");
    place.check(
        &["enqueue", "echo", "{\"a\": tru}"],
        2,
        "it is no JSON: expected ident at column 10",
    );
    place.check(&["enqueue", "echo", "hello"], 2, "a text needs quotes");
    place.check(&["enqueue", "echo", "--at", "soon"], 2, "\"soon\" is no time");
    place.check(&["enqueue", "echo", "--priority", "10"], 2, "priority 10 is beyond 9");
    place.check(&["jobs", "show", "17"], 2, "ids are 32 characters");
    place.check(&["jobs", "list", "--state", "lost"], 2, "is no state of a job");
    place.check(&["jobs", "retry"], 2, "ID");
    place.check(&["serve", "--workers", "5..=2"], 2, "at most 2 is below at least 5");
}

#[test]
fn one_directory_has_one_server() {
    let place = Place::new();
    let _server = place.serve(&[]);
    let words = ["serve", "--store", "data", "--listen", "127.0.0.1:0"];
    place.check(&words, 1, "data/lock is held by process ");
}

#[test]
fn a_port_that_is_taken_is_said() {
    let place = Place::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let addr = taken.local_addr().expect("it has one").to_string();
    let words = ["serve", "--store", "data", "--listen", &addr];
    place.check(&words, 1, "--listen names another place");
}
