//! Every example runs to its end, and what it asserts holds.

#[path = "../examples/elastic.rs"]
mod elastic;
#[path = "../examples/groups.rs"]
mod groups;
#[path = "../examples/life_cycle.rs"]
mod life_cycle;
#[path = "../examples/limiter.rs"]
mod limiter;
#[path = "../examples/observe.rs"]
mod observe;
#[path = "../examples/policies.rs"]
mod policies;
#[path = "../examples/pool.rs"]
mod pool;
#[path = "../examples/submit.rs"]
mod submit;
#[cfg(feature = "tokio")]
#[path = "../examples/task_pool.rs"]
mod task_pool;

#[test]
fn a_pool_runs_from_its_first_task_to_its_end() {
    pool::main().expect("the example ends well");
}

#[test]
fn tasks_are_handed_over_in_every_way() {
    submit::main().expect("the example ends well");
}

#[test]
fn tasks_that_belong_together() {
    groups::main().expect("the example ends well");
}

#[test]
fn a_pool_grows_and_shrinks() {
    elastic::main().expect("the example ends well");
}

#[test]
fn policies_are_asked() {
    policies::main().expect("the example ends well");
}

#[test]
fn a_limit_is_found() {
    limiter::main().expect("the example ends well");
}

#[test]
fn a_pool_tells_of_itself() {
    observe::main().expect("the example ends well");
}

#[test]
fn a_pool_goes_home_with_what_was_not_done() {
    life_cycle::main().expect("the example ends well");
}

#[cfg(feature = "tokio")]
#[test]
fn the_same_words_for_async_tasks() {
    task_pool::main().expect("the example ends well");
}
