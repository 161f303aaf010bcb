//! The list of all clauses, and the macro that makes a test of each.

/// Makes a `#[tokio::test]` of every clause, in a module for each module of clauses. The argument is
/// an expression for a new [`crate::conformance::Harness`] with an empty store; it may await, and is
/// evaluated once for each test.
#[macro_export]
macro_rules! conformance_tests {
    ($harness:expr) => {
        $crate::conformance_tests! { @tests $harness;
            claim {
                a_first_claim_gets_number_one_and_the_whole_job
                a_held_run_is_busy_and_names_its_holder
                one_holder_a_lease_ends_at_its_expiry_and_not_before
                case_6_a_released_run_is_claimed_at_once_with_the_next_number
                fence_up_every_claim_adds_one_and_nothing_else_moves_the_number
                truth_a_claim_is_told_the_most_telling_reason
                case_15_a_finished_run_is_not_claimed_again
                case_15_a_phase_that_was_not_saved_is_handed_out_again
                case_7_a_row_that_a_killed_worker_left_is_taken_over
                case_8_twenty_claims_of_one_lapsed_run_grant_one
                truth_a_claim_closes_the_attempts_that_never_came_back
                case_28_a_claim_that_waited_for_the_row_goes_on_after_the_newest_phase
                one_holder_a_claim_that_waited_judges_the_clock_after_the_lock
            }
            losses {
                case_29_a_run_that_keeps_losing_its_workers_is_set_aside
                truth_setting_aside_closes_the_last_attempt
                a_save_starts_the_count_of_losses_anew
                a_retry_starts_the_counts_anew_and_keeps_the_number
                case_13_a_run_that_was_renewed_in_time_is_not_set_aside
                case_11_large_numbers_are_exact
                case_11_a_run_at_the_top_number_is_set_aside_and_the_others_go_on
                claiming_the_next_tells_which_runs_it_set_aside
            }
            queue {
                the_queue_goes_by_priority_and_then_by_the_time_due
                a_retry_that_fell_due_later_comes_later
                the_queue_holds_only_what_may_be_claimed
                liveness_a_lapsed_run_is_claimed_by_the_next_who_asks
                an_idle_worker_is_told_when_to_ask_again
                one_holder_racing_workers_share_the_queue
                liveness_a_locked_row_is_passed_over
                both_ways_to_claim_see_each_other
            }
            renew {
                a_renewal_makes_the_lease_last_a_ttl_from_now
                no_lazarus_the_expiry_itself_is_too_late
                case_1_a_lapsed_lease_is_refused_everything
                case_2_a_renewal_that_waited_past_the_expiry_is_refused
                a_renewal_that_waited_counts_from_the_lock
                case_5_a_superseded_holder_is_told_by_whom_and_changes_nothing
                truth_a_renewal_is_refused_with_the_actual_reason
                a_renewal_of_a_paused_run_asks_to_yield
                a_batch_of_renewals_judges_each_handle_by_itself
                a_batch_of_renewals_does_not_wait_for_a_locked_row
            }
            save {
                case_3_the_first_save_of_a_fresh_run_lands
                a_save_makes_the_lease_last_a_ttl_from_now
                all_or_nothing_the_last_save_completes_the_run_and_ends_the_lease
                case_16_a_save_out_of_order_is_a_phase_conflict
                case_17_the_same_save_again_is_saved_and_another_one_is_an_error
                case_26_the_last_save_asked_again_is_saved_and_completed
                case_26_a_save_sent_twice_at_once_lands_once
                truth_a_landed_save_is_saved_whatever_became_of_the_lease
                truth_a_landed_save_names_the_end_of_its_own_lease
                a_save_of_a_paused_run_lands_and_asks_to_yield
                case_2_a_save_that_waited_past_the_expiry_is_refused
                case_25_a_receipt_is_kept_exactly
                one_receipt_per_phase_with_the_number_that_saved_it
            }
            effects {
                all_or_nothing_effects_land_with_their_save
                all_or_nothing_a_save_asked_again_writes_no_effect_again
                all_or_nothing_effects_land_with_the_completion
                all_or_nothing_a_refused_effect_leaves_nothing_and_the_lease_held
                all_or_nothing_a_refused_effect_does_not_complete_the_run
                all_or_nothing_a_refused_save_writes_no_effect
                one_receipt_a_conflicting_save_writes_no_effect
            }
            end {
                each_kind_of_release_leaves_the_run_as_asked
                failures_are_counted_until_the_next_save
                case_27_a_release_asked_again_is_done_as_asked
                case_27_a_failing_asked_again_is_done
                case_27_ends_sent_twice_at_once_land_once
                blocked_not_failed_a_stale_worker_can_never_fail_a_run
                an_end_that_names_another_phase_is_a_phase_conflict
                blocked_not_failed_being_turned_away_is_written_on_the_attempt_alone
                truth_an_outcome_is_not_overwritten_by_blocked
                truth_a_request_that_lands_after_its_worker_gave_up_ends_the_attempt
                case_2_an_end_that_waited_past_the_expiry_is_refused
            }
            operator {
                an_approval_is_a_claim_and_a_save_in_one
                case_31_an_approval_sent_twice_approves_one_phase
                an_approval_of_the_last_phase_completes_the_run
                a_rejection_fails_the_run_until_it_is_retried
                case_30_paused_while_waiting_then_approved_then_resumed
                case_30_paused_while_a_step_runs_that_fails_or_retries
                case_32_a_forced_release_takes_the_lease_that_was_seen_and_no_later_one
                a_cancel_ends_the_lease_and_the_holder_is_told
                case_13_a_sweep_judges_each_run_again
                a_retry_may_ask_for_a_new_idempotency_key
                truth_an_action_that_waited_behind_the_first_claim_is_done
                truth_a_cancel_that_waited_behind_a_retry_is_done
                truth_a_rejection_that_waited_behind_the_release_is_done
            }
            table {
                truth_every_action_in_every_state_is_answered_as_the_table_says
            }
            submit {
                a_submit_opens_a_run_that_is_due_at_once
                the_same_submit_again_finds_the_run_that_is_there
                truth_the_same_key_with_something_else_is_a_conflict
                case_34_another_plan_under_the_same_name_and_version_is_refused
                case_35_racing_submits_of_the_same_open_one_run
                case_35_racing_submits_of_different_content_conflict
                case_35_racing_plans_of_one_name_and_version_conflict
            }
            read {
                a_run_is_found_by_id_prefix_and_key
                a_key_is_found_before_the_beginning_of_an_id
                a_list_is_filtered_ordered_and_cut
                liveness_runs_of_unknown_plans_are_told_of
                runs_are_gone_through_page_by_page
                reading_changes_nothing
            }
            guards {
                case_4_only_the_number_tells_two_claims_of_one_owner_apart
                one_holder_only_the_owner_tells_two_claims_of_one_number_apart
                no_late_save_only_the_expiry_stands_while_nobody_else_claims
                truth_a_claim_that_a_restored_store_has_forgotten_is_refused
                in_order_only_the_starting_phase_stands_for_a_live_lease
                in_order_only_the_list_of_phases_stands_for_a_live_lease
                one_receipt_only_the_digest_tells_another_receipt_from_the_same
                truth_only_the_number_tells_whose_save_landed
                truth_only_the_owner_tells_whose_save_landed
                truth_only_number_or_owner_tells_whose_lease_was_ended
                one_receipt_only_uniqueness_stands_when_a_row_was_set_back
                fence_up_only_the_rise_of_the_number_ends_a_released_handle
                no_lazarus_a_refused_renewal_stays_refused
                no_late_save_only_the_cleared_expiry_stands_after_an_operator_took_the_lease
            }
            clock_steps {
                one_holder_a_clock_that_is_set_back_wakes_no_superseded_holder
                in_order_a_holder_goes_on_through_a_step_of_the_clock
            }
            story {
                a_late_save_is_turned_away_and_leaves_no_trace
                workers_die_and_the_next_goes_on_after_the_last_receipt
            }
        }
    };
    (@tests $harness:expr; $($module:ident { $($clause:ident)+ })+) => {
        $(
            mod $module {
                #[allow(unused_imports, reason = "a harness may need nothing from here")]
                use super::*;

                $(
                    #[::tokio::test]
                    async fn $clause() {
                        let harness = $harness;
                        $crate::conformance::$module::$clause(&harness).await;
                    }
                )+
            }
        )+
    };
}
