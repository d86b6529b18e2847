//! The list of cases: once, for those who play them and for those who make tests of them.

use super::cases::{
    dependence, endings, fences, keeping, keys, limits, losses, order, reading, steering, turns,
    unique, waking,
};
use super::stage::Stage;
use super::{Case, Subject};

/// Hands the list of cases to a macro, after its first words.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_list {
    ($then:ident $(, $first:expr)?) => {
        $crate::$then! {
            $($first;)?
            order::what_comes_first_is_served_first,
            order::a_strict_order_serves_the_most_urgent,
            order::a_weighted_order_gives_each_its_turns,
            order::tenants_take_turns,
            order::a_tenant_of_weight_takes_several_in_a_row,
            order::a_lane_that_runs_empty_loses_its_turn,
            order::what_comes_back_goes_to_the_head,
            order::a_job_that_comes_back_joins_the_ring_at_the_back,
            order::jobs_wait_for_their_time,
            order::a_start_in_the_past_is_now,
            order::ten_thousand_due_at_once_all_run,
            order::a_retry_waits_and_then_stands_at_the_tail,
            order::a_sweep_makes_ready_what_is_due,
            keys::a_key_runs_only_so_often_at_once,
            keys::every_end_of_a_run_frees_its_key,
            keys::being_set_aside_costs_no_turn,
            keys::a_raised_limit_frees_at_the_next_sweep,
            keys::a_lowered_limit_holds_until_fewer_run,
            keys::nobody_is_forgotten_behind_a_cancelled_job,
            keys::those_set_aside_can_be_cancelled,
            keys::a_lost_worker_gives_its_key_back,
            limits::only_so_many_run_at_once,
            limits::a_rate_holds_in_every_window,
            limits::a_rate_says_when_it_allows_more,
            limits::a_full_queue_refuses_the_whole_call,
            limits::a_refused_call_takes_no_unique_key,
            limits::a_paused_queue_hands_out_nothing,
            limits::rules_are_kept_and_checked,
            unique::a_repeated_submit_is_the_same_job,
            unique::a_key_is_taken_until_its_job_ends,
            unique::other_keys_do_not_stand_in_the_way,
            unique::a_key_may_be_taken_for_a_time,
            unique::a_schedule_ticks_each_number_once,
            unique::one_call_sees_its_own_keys,
            unique::no_key_is_taken_without_an_owner,
            unique::a_key_is_freed_only_by_its_owner,
            unique::a_lost_worker_frees_no_key,
            dependence::a_job_waits_for_all_it_needs,
            dependence::a_bad_end_orphans_those_that_need_success,
            dependence::a_batch_calls_back_when_all_have_ended,
            dependence::what_the_store_does_not_know_has_ended_well,
            dependence::what_has_ended_before_counts,
            dependence::one_call_may_hold_a_chain,
            dependence::those_told_together_go_by_their_ids,
            dependence::an_unblocked_job_still_waits_for_its_time,
            dependence::a_deleted_job_orphans_those_that_need_it,
            dependence::a_cancelled_job_waits_no_more,
            dependence::a_poisoned_job_orphans_too,
            endings::a_done_job_is_forgotten_unless_it_is_to_be_kept,
            endings::a_record_tells_what_happened,
            endings::a_failure_counts_an_attempt,
            endings::a_long_error_is_cut,
            endings::what_is_given_back_uses_up_no_attempt,
            endings::a_snooze_is_no_failure,
            endings::a_checkpoint_stays_until_there_is_another,
            endings::a_running_job_is_cancelled_by_its_holder,
            fences::every_lease_has_a_higher_epoch,
            fences::only_the_fence_settles,
            fences::a_late_settle_of_a_lost_job_is_stale,
            fences::a_settle_is_taken_while_nobody_has_noticed,
            fences::one_call_settles_in_its_order,
            fences::notes_are_kept_under_the_fence,
            fences::a_holder_without_a_lease_is_told,
            fences::a_goodbye_gives_everything_back,
            fences::a_long_job_that_is_renewed_runs_once,
            turns::a_turn_ends_jobs_and_hands_out_others,
            turns::a_turn_ends_only_what_is_held,
            turns::a_turn_ends_jobs_of_several_leases,
            turns::a_turn_ends_very_many_jobs,
            turns::many_come_back_in_their_order,
            turns::a_turn_renews_the_lease,
            turns::a_turn_knows_every_ending,
            turns::a_turn_keeps_what_is_to_be_kept,
            turns::a_turn_hands_out_what_its_ends_made_room_for,
            turns::a_turn_tells_those_that_waited,
            losses::a_lost_holders_jobs_go_to_the_head,
            losses::leases_are_one_by_one,
            losses::another_lease_renews_the_first,
            losses::a_poisonous_job_is_put_aside_after_its_crashes,
            losses::failures_and_releases_are_no_crashes,
            losses::a_lost_job_that_was_to_be_cancelled_is,
            losses::a_sweep_recovers_no_more_than_its_limit,
            losses::a_lease_of_no_time_ends_at_the_next_sweep,
            losses::a_second_sweep_finds_nothing,
            keeping::done_jobs_are_kept_as_long_as_they_asked,
            keeping::dead_jobs_are_kept_as_the_rules_say,
            keeping::what_has_not_ended_never_expires,
            keeping::no_job_is_lost_or_counted_twice,
            steering::a_purge_forgets_all_that_wait,
            steering::dead_jobs_are_tried_again_afresh,
            steering::only_what_can_be_revived_is,
            steering::waiting_jobs_are_cancelled_at_once,
            steering::a_running_job_cannot_be_deleted,
            steering::a_command_concerns_a_thousand_at_once,
            steering::a_revived_job_can_be_lost_as_often_as_a_new_one,
            reading::a_state_is_listed_page_by_page,
            reading::ready_jobs_are_listed_by_lane,
            reading::those_set_aside_are_listed_by_key,
            reading::a_page_has_its_limit,
            reading::jobs_are_found_by_their_ids,
            reading::a_queue_is_told_in_numbers,
            reading::an_unknown_queue_is_empty,
            reading::queues_are_listed_and_apart,
            waking::whoever_waits_is_woken_by_a_job,
            waking::nobody_waits_where_there_is_work,
            waking::waiting_ends_after_its_time,
            waking::a_lease_that_leaves_jobs_wakes_the_next,
            waking::what_comes_back_wakes_somebody,
            waking::what_is_recovered_wakes_somebody,
            waking::what_a_sweep_finds_due_wakes_somebody,
            waking::a_queue_that_goes_on_wakes_somebody,
            waking::one_job_does_not_wake_everybody,
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! conformance_cases {
    ($($subject:ident::$name:ident,)*) => {
        vec![$(Case {
            name: stringify!($name),
            play: |subject: &dyn Subject| {
                Box::pin(async move { $subject::$name(&Stage::new(subject)).await })
            },
        }),*]
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! conformance_tests_of {
    ($make:expr; $($subject:ident::$name:ident,)*) => {
        $(
            #[test]
            fn $name() {
                $crate::conformance::play(stringify!($name), $make);
            }
        )*
    };
}

/// Makes a test of every case, and one of random sequences, for the store that `$make` makes.
///
/// `$make` is called without arguments and gives a future of a
/// [`Subject`](crate::conformance::Subject): a fresh, empty store each time.
///
/// ```
/// # use headcount_core::Timestamp;
/// # use headcount_queue::conformance::Subject;
/// # use headcount_queue::model::{HandClock, Memory};
/// # use headcount_queue::port::Backend;
/// # use std::{sync::Arc, time::Duration};
/// # struct InMemory(Memory, Arc<HandClock>);
/// # impl Subject for InMemory {
/// #     fn store(&self) -> &dyn Backend { &self.0 }
/// #     fn advance(&self, span: Duration) { self.1.advance(span); self.0.stir(); }
/// # }
/// async fn fresh() -> InMemory {
///     let clock = Arc::new(HandClock::at(Timestamp::from_secs(1_000)));
///     InMemory(Memory::with_clock(clock.clone()), clock)
/// }
///
/// headcount_queue::conformance_tests!(fresh, sequences: 200);
/// ```
#[macro_export]
macro_rules! conformance_tests {
    ($make:expr, sequences: $count:expr) => {
        $crate::conformance_list!(conformance_tests_of, $make);

        #[test]
        fn random_sequences_agree_with_the_model() {
            $crate::conformance::compare_random($count, $make);
        }
    };
}

/// All cases, in the order of the protocol.
#[must_use]
pub fn cases() -> Vec<Case> {
    crate::conformance_list!(conformance_cases)
}
