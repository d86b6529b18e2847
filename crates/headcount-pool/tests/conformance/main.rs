//! Conformance: what has bitten other pools does not bite this one. Every test is by effect: what
//! ran, what the kernel says of threads and the runtime of tasks, who was woken. A getter alone
//! proves nothing.
//!
//! There is one suite, compiled for each kind of pool: a test of `both` runs as `threads::…` and as
//! `tasks::…`. What only one of them can do is tested for that one, and the other has what comes
//! nearest to it: where one kind counts threads that the kernel knows, the other counts tasks that
//! its runtime keeps. Tests with a star are in `tests/task_pool`, which tells its stories from
//! inside of a runtime, of one thread and of several.
//!
//! By class of defect (the numbers are those of the research notes), the tests that would see it:
//!
//! | Class | Pools | Tests |
//! |---|---|---|
//! | 1 | | *more workers than the most* |
//! |  | both | `no_more_tasks_run_at_once_than_the_ceiling_allows` |
//! |  |  | `long_tasks_and_a_tiny_idle_time_do_not_add_workers` |
//! |  |  | `a_lowered_ceiling_holds_once_the_resize_is_done` |
//! |  |  | `the_ceiling_holds_again_after_a_blocking_section_under_load` |
//! |  |  | `the_ceiling_holds_again_after_a_stuck_task_under_load` |
//! |  |  | `no_resize_goes_beyond_what_the_pool_was_built_for` |
//! |  |  | `one_worker_is_hired_for_one_task_that_waits` |
//! |  | threads | `a_place_is_given_back_when_the_thread_is_gone_and_not_before` |
//! |  |  | `tasks_that_a_worker_runs_inside_of_one_another_are_nested_only_so_deep` |
//! |  | tasks | `a_task_that_awaits_many_does_not_let_more_run_than_the_ceiling_allows`* |
//! |  |  | `a_task_that_hands_over_more_than_the_line_holds_keeps_to_the_ceiling`* |
//! |  |  | `a_worker_waits_for_its_place_before_it_takes_the_next_task`* |
//! | 2 | | *a resize whose wake-up is lost* |
//! |  | both | `a_submitter_that_waits_for_room_proceeds_when_a_resize_grows` |
//! |  |  | `a_ceiling_lowered_while_submitters_wait_strands_nobody` |
//! |  |  | `shrinking_to_nobody_and_back_runs_what_waits` |
//! | 3 | | *the last idle worker leaves as a task comes; wake-ups lost on submit* |
//! |  | both | `a_task_that_meets_the_last_idle_worker_leaving_is_run` |
//! |  |  | `idle_workers_above_the_floor_leave_and_the_floor_stays` |
//! |  |  | `two_tasks_that_need_each_other_always_meet` |
//! |  |  | `as_many_tasks_as_workers_always_run_at_once` |
//! |  |  | `long_tasks_behind_short_ones_are_not_left_to_one_worker` |
//! |  | threads | `long_tasks_behind_tiny_ones_are_not_left_to_one_worker` |
//! | 4 | | *submit against stop* |
//! |  | both | `submit_against_close_runs_or_hands_back` |
//! |  |  | `every_accepted_task_ends_in_exactly_one_way` |
//! |  |  | `drain_hands_back_what_has_not_begun_and_waits_for_the_rest` |
//! |  |  | `a_task_that_was_handed_back_does_not_expire_on_the_books` |
//! |  |  | `drain_with_enough_time_runs_everything` |
//! |  |  | `spawn_all_hands_back_exactly_what_was_not_taken_in` |
//! |  |  | `submit_all_hands_back_what_was_not_taken_in_and_handles_to_the_rest` |
//! |  | tasks | `a_pool_outlives_its_runtime`* |
//! | 5 | | *submitters that wait are not released* |
//! |  | both | `close_releases_everybody_who_waits_for_room_with_the_task` |
//! |  |  | `waiting_submitters_get_in_as_places_become_free` |
//! |  |  | `wait_for_gives_up_in_time_and_hands_back_the_task` |
//! |  |  | `wait_for_gives_up_in_time_though_others_are_faster` |
//! |  |  | `a_submitter_that_waits_for_room_hears_its_token` |
//! |  |  | `a_submitter_waits_for_room_no_longer_than_its_task_may_wait` |
//! |  |  | `an_async_submitter_hears_its_token_and_keeps_to_its_time` |
//! |  |  | `an_async_submitter_waits_for_room_and_gives_it_up_when_dropped` |
//! |  |  | `spawn_all_waits_for_room_and_runs_everything` |
//! |  |  | `submit_all_waits_for_room_and_returns_every_result_in_order` |
//! |  |  | `a_submitter_gets_the_place_of_a_task_that_was_just_taken` |
//! |  |  | `a_submitter_that_waits_gets_the_place_of_a_task_that_ends_in_the_line` |
//! |  |  | `an_async_submitter_that_waits_is_called_when_a_task_ends_in_the_line` |
//! |  | tasks | `whoever_waits_for_room_gets_the_task_back_when_the_runtime_goes`* |
//! | 6 | | *a panic leaves counts or waiters wrong* |
//! |  | both | `a_task_that_panics_hurts_nobody_and_is_counted` |
//! |  |  | `whatever_a_task_drops_may_panic` |
//! |  |  | `a_task_that_is_dropped_hurts_no_submitter` |
//! |  |  | `a_waker_that_panics_hurts_nobody` |
//! |  |  | `hooks_and_listeners_that_panic_hurt_nobody` |
//! |  |  | `a_hook_of_a_policy_that_panics_is_told_by_its_name` |
//! |  |  | `an_unrun_task_may_panic_where_it_is_run` |
//! |  |  | `a_panic_in_a_blocking_section_ends_the_section` |
//! |  |  | `panics_among_many_tasks_slow_nobody_down` |
//! |  | tasks | `a_panic_of_a_drop_hurts_nobody_either`* |
//! | 7 | | *what is done is still held* |
//! |  | both | `what_a_task_holds_is_let_go_when_it_has_run` |
//! |  |  | `what_a_task_holds_is_let_go_when_it_will_not_run` |
//! |  |  | `whoever_stops_waiting_is_not_remembered` |
//! | 8 | | *helpers and workers outlive the pool* |
//! |  | both | `no_thread_outlives_its_pool` |
//! |  |  | `a_pool_without_workers_can_be_dropped` |
//! |  |  | `a_pool_dropped_by_its_own_worker_ends_by_itself` |
//! |  |  | `a_pool_dropped_by_its_own_keeper_ends_by_itself` |
//! |  | threads | `a_pool_whose_last_owner_is_kept_by_its_worker_ends_by_itself` |
//! |  | tasks | `a_pool_that_is_left_to_itself_ends_with_its_runtime`* |
//! | 9 | | *state after a reboot* |
//! |  | both | `closing_twice_lets_everybody_go_home` |
//! |  |  | `a_closed_pool_stays_closed_and_a_new_one_takes_its_name` |
//! | 10 | | *a shrink that hangs* |
//! |  | both | `shrinking_an_idle_pool_ends_its_threads` |
//! |  |  | `a_shrink_takes_the_idle_worker_and_not_the_busy_one` |
//! |  |  | `a_resize_returns_at_once_and_busy_workers_leave_after_their_task` |
//! |  |  | `a_resize_that_another_one_overtook_is_done` |
//! |  |  | `a_shrink_under_load_does_not_wait_for_a_lull` |
//! | 11 | | *a busy worker taken for idle* |
//! |  | both | `a_busy_worker_is_never_counted_as_idle` |
//! |  |  | `long_tasks_and_a_tiny_idle_time_do_not_add_workers` |
//! |  |  | `the_idle_clock_begins_when_a_worker_parks` |
//! | 12 | | *counts that drift* |
//! |  | both | `counts_do_not_drift_over_many_resizes_and_expiries` |
//! |  |  | `whoever_submits_and_cancels_leaves_every_count_right` |
//! | 13 | | *a wait that runs other tasks* |
//! |  | threads | `whoever_waits_runs_no_other_task_than_the_one_it_waits_for` |
//! |  |  | `a_failure_is_put_down_to_the_task_that_reported_it` |
//! |  | tasks | `whoever_awaits_lets_no_other_task_run_than_the_one_it_waits_for` |
//! |  |  | `a_failure_is_told_of_the_task_that_reports_it`* |
//! | 14 | | *tasks from outside starve* |
//! |  | both | `a_task_from_outside_is_not_starved_by_tasks_of_the_pool_itself` |
//! |  | tasks | `ready_tasks_let_others_of_the_runtime_run`* |
//! | 15 | | *a worker cannot be started* |
//! |  | threads | `where_no_worker_can_be_started_the_submitter_runs_the_task` |
//! |  |  | `a_resize_that_cannot_be_reached_says_so` |
//! |  |  | `tasks_that_nobody_came_for_run_when_a_powerless_pool_is_dropped` |
//! |  |  | `resuming_a_powerless_pool_leaves_no_task_behind` |
//! |  |  | `a_task_that_comes_while_the_floor_cannot_be_filled_is_run` |
//! |  |  | `a_task_that_is_run_for_want_of_workers_holds_up_no_other` |
//! |  |  | `idle_is_told_when_a_submitter_ran_the_last_task` |
//! |  | tasks | `where_no_worker_can_be_started_every_task_comes_back` |
//! |  |  | `a_pool_without_workers_learns_of_the_end_of_its_runtime_with_the_next_task`* |
//! | 16 | | *a long line and a rule that never fires* |
//! |  | both | `the_pool_grows_though_the_line_is_far_from_full` |
//! |  |  | `workers_are_hired_before_a_short_line_turns_tasks_away` |
//! |  |  | `where_one_was_turned_away_the_next_ones_are_not` |
//! |  |  | `a_full_line_is_no_reason_to_hire_where_submitters_wait` |
//! |  |  | `nobody_waits_for_a_deadline_where_more_wait_than_may_be_hired` |
//! |  |  | `a_ceiling_that_comes_down_to_those_who_wait_lets_nobody_wait` |
//! | 17 | | *all block and nothing moves* |
//! |  | both | `a_blocked_worker_is_compensated_for_and_the_limit_holds` |
//! |  |  | `a_stuck_task_is_told_of_and_its_worker_replaced_each_time` |
//! |  |  | `a_pool_in_which_nothing_moves_says_so` |
//! |  |  | `a_pool_whose_workers_wait_for_their_own_tasks_says_so` |
//! |  |  | `what_an_expired_task_held_may_block_where_it_is_dropped` |
//! |  |  | `a_listener_may_block` |
//! |  | threads | `tasks_that_join_tasks_need_no_second_worker` |
//! |  |  | `a_worker_that_finds_its_own_line_full_runs_the_task_itself` |
//! |  | tasks | `tasks_that_await_tasks_of_their_own_pool_cannot_starve`* |
//! |  |  | `a_task_that_fills_its_own_pool_does_not_wait_for_itself`* |
//! |  |  | `tasks_that_were_polled_once_run_in_turn`* |
//! | 18 | | *idle counted as load* |
//! |  | both | `a_pool_at_rest_has_no_load` |
//! |  |  | `tasks_that_ended_in_the_line_leave_their_places_to_others` |
//! |  |  | `busy_parked_queued_and_the_oldest_wait_are_as_they_are` |
//! | 19 | | *clocks that wrap* |
//! |  | both | `the_longest_spans_of_time_do_not_overflow` |
//! | 20 | | *probes of a breaker are lost* |
//! |  | both | `probes_that_never_report_do_not_keep_a_pool_shut` |
//! | 21 | | *sleeping on a worker between tries* |
//! |  | both | `what_waits_for_its_time_takes_no_worker` |
//! | 22 | | *use after free in lock-free code* |
//! |  | threads | `a_thread_that_ends_may_still_use_the_pool` |
//! |  | tasks | `a_future_that_its_runtime_drops_may_still_use_the_pool` |
//!
//! Notes:
//!
//! - 2: the limiter has its own test, `the_limit_falls_while_others_wait`
//! - 9: there is no reboot
//! - 12: 10^5 resizes, or as many as the variable `HEADCOUNT_SOAK` says
//! - 14: there is one line, first in first out
//! - 15: a thread that the system refuses; a runtime that is gone
//! - 19: nanoseconds in 64 bits
//! - 20: the breaker has its own test, `probes_that_never_report_do_not_wedge_it`
//! - 21: a pool does not try again by itself, and its timers are the keeper's
//! - 22: the unsafe code is that of scopes, which has tests of its own (`tests/scope.rs`), and that
//!   of the ring, which frees nothing while it is used and is modelled
//!   (`engine/ring_loom_tests.rs`)
//!
//! The same by peer, each for both pools: ants lost a wake-up in Tune (2); gopipe ran 32 at once
//! of at most 3 (1, 11); `thread_system` never asked its policies
//! (`a_policy_that_rejects_everything_lets_nothing_run`) and hung where it shrank (10); tunny
//! waited for a busy worker while another was idle (10); tokio's `forget_permits` does nothing
//! under waiters (2).
//!
//! Also: a pause is felt (`a_pause_under_load_does_not_wait_for_a_lull`), a task that outlives its
//! pool is told that it took too long
//! (`a_task_that_outlives_its_pool_is_still_told_that_it_took_too_long`), and what a pool says of
//! itself is so (`truth`).

#![cfg_attr(
    feature = "tokio",
    expect(clippy::duplicate_mod, reason = "one suite, compiled for each kind of pool")
)]

mod support;

mod threads;

#[cfg(feature = "tokio")]
mod tasks;

mod table;
