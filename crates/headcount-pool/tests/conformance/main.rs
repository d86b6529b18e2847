//! Conformance: what has bitten other pools does not bite this one. Every test is by effect: what
//! ran, what the kernel says of threads, who was woken. A getter alone proves nothing.
//!
//! By class of defect (the numbers are those of the research notes), the tests that would see it:
//!
//! 1. *more workers than the most*: `no_more_tasks_run_at_once_than_the_ceiling_allows`,
//!    `long_tasks_and_a_tiny_idle_time_do_not_add_workers`,
//!    `a_lowered_ceiling_holds_once_the_resize_is_done`,
//!    `the_ceiling_holds_again_after_a_blocking_section_under_load`,
//!    `the_ceiling_holds_again_after_a_stuck_task_under_load`,
//!    `no_resize_goes_beyond_what_the_pool_was_built_for`,
//!    `a_place_is_given_back_when_the_thread_is_gone_and_not_before`
//! 2. *a resize whose wake-up is lost*:
//!    `a_submitter_that_waits_for_room_proceeds_when_a_resize_grows`,
//!    `a_ceiling_lowered_while_submitters_wait_strands_nobody`,
//!    `shrinking_to_nobody_and_back_runs_what_waits`; for the limiter its own test
//!    `the_limit_falls_while_others_wait`
//! 3. *the last idle worker leaves as a task comes; wake-ups lost on submit*:
//!    `a_task_that_meets_the_last_idle_worker_leaving_is_run`,
//!    `idle_workers_above_the_floor_leave_and_the_floor_stays`,
//!    `two_tasks_that_need_each_other_always_meet`,
//!    `as_many_tasks_as_workers_always_run_at_once`,
//!    `long_tasks_behind_short_ones_are_not_left_to_one_worker`
//! 4. *submit against stop*: `submit_against_close_runs_or_hands_back`,
//!    `every_accepted_task_ends_in_exactly_one_way`,
//!    `drain_hands_back_what_has_not_begun_and_waits_for_the_rest`,
//!    `drain_with_enough_time_runs_everything`,
//!    `spawn_all_hands_back_exactly_what_was_not_taken_in`
//! 5. *submitters that wait are not released*:
//!    `close_releases_everybody_who_waits_for_room_with_the_task`,
//!    `waiting_submitters_get_in_as_places_become_free`,
//!    `wait_for_gives_up_in_time_and_hands_back_the_task`,
//!    `wait_for_gives_up_in_time_though_others_are_faster`,
//!    `an_async_submitter_waits_for_room_and_gives_it_up_when_dropped`,
//!    `spawn_all_waits_for_room_and_runs_everything`,
//!    `a_submitter_gets_the_place_of_a_task_that_was_just_taken`
//! 6. *a panic leaves counts or waiters wrong*: `a_task_that_panics_hurts_nobody_and_is_counted`,
//!    `whatever_a_task_drops_may_panic`, `a_waker_that_panics_hurts_nobody`,
//!    `hooks_and_listeners_that_panic_hurt_nobody`, `an_unrun_task_may_panic_where_it_is_run`,
//!    `a_panic_in_a_blocking_section_ends_the_section`,
//!    `panics_among_many_tasks_slow_nobody_down`
//! 7. *what is done is still held*: `what_a_task_holds_is_let_go_when_it_has_run`,
//!    `what_a_task_holds_is_let_go_when_it_will_not_run`,
//!    `whoever_stops_waiting_is_not_remembered`
//! 8. *threads outlive the pool*: `no_thread_outlives_its_pool`,
//!    `a_pool_without_workers_can_be_dropped`, `a_pool_dropped_by_its_own_worker_ends_by_itself`,
//!    `a_pool_dropped_by_its_own_keeper_ends_by_itself`
//! 9. *state after a reboot*: there is no reboot: `closing_twice_lets_everybody_go_home`,
//!    `a_closed_pool_stays_closed_and_a_new_one_takes_its_name`
//! 10. *a shrink that hangs*: `shrinking_an_idle_pool_ends_its_threads`,
//!     `a_shrink_takes_the_idle_worker_and_not_the_busy_one`,
//!     `a_resize_returns_at_once_and_busy_workers_leave_after_their_task`,
//!     `a_resize_that_another_one_overtook_is_done`,
//!     `a_shrink_under_load_does_not_wait_for_a_lull`
//! 11. *a busy worker taken for idle*: `a_busy_worker_is_never_counted_as_idle`,
//!     `long_tasks_and_a_tiny_idle_time_do_not_add_workers`,
//!     `the_idle_clock_begins_when_a_worker_parks`
//! 12. *counts that drift*: `counts_do_not_drift_over_many_resizes_and_expiries`: 10^5 resizes,
//!     or as many as the variable `HEADCOUNT_SOAK` says
//! 13. *a wait that runs other tasks*:
//!     `whoever_waits_runs_no_other_task_than_the_one_it_waits_for`,
//!     `a_failure_is_put_down_to_the_task_that_reported_it`
//! 14. *tasks from outside starve*: there is one line, first in first out:
//!     `a_task_from_outside_is_not_starved_by_tasks_of_the_pool_itself`
//! 15. *a worker cannot be started*:
//!     `where_no_worker_can_be_started_the_submitter_runs_the_task`,
//!     `a_resize_that_cannot_be_reached_says_so`,
//!     `tasks_that_nobody_came_for_run_when_a_powerless_pool_is_dropped`,
//!     `resuming_a_powerless_pool_leaves_no_task_behind`,
//!     `idle_is_told_when_a_submitter_ran_the_last_task`
//! 16. *a long line and a rule that never fires*:
//!     `the_pool_grows_though_the_line_is_far_from_full`
//! 17. *all block and nothing moves*: `a_blocked_worker_is_compensated_for_and_the_limit_holds`,
//!     `tasks_that_join_tasks_need_no_second_worker`,
//!     `a_worker_that_finds_its_own_line_full_runs_the_task_itself`,
//!     `a_stuck_task_is_told_of_and_its_worker_replaced_each_time`,
//!     `a_pool_in_which_nothing_moves_says_so`
//! 18. *idle counted as load*: `a_pool_at_rest_has_no_load`,
//!     `busy_parked_queued_and_the_oldest_wait_are_as_they_are`
//! 19. *clocks that wrap*: nanoseconds in 64 bits: `the_longest_spans_of_time_do_not_overflow`
//! 20. *probes of a breaker are lost*: not of a pool; the breaker has its own test
//!     `probes_that_never_report_do_not_wedge_it`
//! 21. *sleeping on a worker between tries*: not applicable: a pool does not try again by itself,
//!     and its timers are the keeper's
//! 22. *use after free in lock-free code*: the only unsafe code is that of scopes, which has tests
//!     of its own (`tests/scope.rs`); `a_thread_that_ends_may_still_use_the_pool`
//!
//! Also: a policy that rejects is obeyed (`a_policy_that_rejects_everything_lets_nothing_run`), a
//! pause is felt (`a_pause_under_load_does_not_wait_for_a_lull`), and what a pool says of itself is
//! so (`truth`).

mod support;

mod capacity;

mod arrivals;

mod failures;

mod lifetime;

mod truth;

mod stress;
