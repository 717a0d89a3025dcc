/* SPDX-License-Identifier: Apache-2.0 */
/* The replay is only worth what its notes catch: each fault here must be counted. */
#include "tests/system/replay/notes.h"
#include "tests/unit/unit.h"

static struct notes *two_jobs(void)
{
    struct notes *notes = notes_create(2);

    assert_non_null(notes);
    notes->jobs[0].life = notes->jobs[1].life = NOTES_ASKED;
    return notes;
}

static json_t *answer(int number, int vni, const char *hwcoll)
{
    json_t *env = json_object();

    if (hwcoll[0] == 'r')
        json_object_set_new(env, "FI_CXI_COLL_MCAST_TOKEN", json_string("t"));
    return json_pack("{s:i, s:s, s:[i], s:{s:s}, s:o}", "number", number, "state", "active", "vnis",
                     vni, "hwcoll", "state", hwcoll, "env", env);
}

static void reserved(struct notes *notes, uint32_t job, int number, int vni)
{
    json_t *said = answer(number, vni, "reserved");

    notes_reserved(notes, job, said, true);
    json_decref(said);
}

static void compare(struct notes *notes, uint32_t job, int status, json_t *said)
{
    notes_compare(notes, job, status, said);
    json_decref(said);
}

static void notes__accept_a_life_without_fault(void **state)
{
    struct notes *notes = two_jobs();

    reserved(notes, 0, 1, 1024);
    compare(notes, 0, 200, answer(1, 1024, "reserved"));
    notes_releasing(notes, 0);
    reserved(notes, 1, 2, 1024); /* the first is gone: its VNI may be given again */
    notes_released(notes, 0);
    notes_releasing(notes, 1);
    notes_released(notes, 1);
    notes_conclude(notes);
    assert_int_equal(notes->faults, 0);
    notes_destroy(notes);
}

static void notes__catch_a_vni_in_two_live_jobs(void **state) /* I1 */
{
    struct notes *notes = two_jobs();

    reserved(notes, 0, 1, 1024);
    reserved(notes, 1, 2, 1024);
    assert_int_equal(notes->faults, 1);
    notes_destroy(notes);
}

static void notes__catch_what_was_lost_or_changed(void **state) /* I2 */
{
    struct notes *notes = two_jobs();

    reserved(notes, 0, 1, 1024);
    notes_compare(notes, 0, 404, NULL);
    assert_int_equal(notes->faults, 1);
    compare(notes, 0, 200, answer(2, 1024, "reserved"));
    assert_int_equal(notes->faults, 2);
    compare(notes, 0, 200, answer(1, 1025, "reserved"));
    assert_int_equal(notes->faults, 3);
    compare(notes, 0, 200, answer(1, 1024, "unavailable"));
    assert_int_equal(notes->faults, 4);
    notes_destroy(notes);
}

static void notes__catch_a_released_job_that_is_active(void **state)
{
    struct notes *notes = two_jobs();
    json_t *active = answer(1, 1024, "reserved");

    reserved(notes, 0, 1, 1024);
    notes_releasing(notes, 0);
    notes_released(notes, 0);
    notes_compare_released(notes, 0, 404, NULL);
    assert_int_equal(notes->faults, 0);
    notes_compare_released(notes, 0, 200, active);
    assert_int_equal(notes->faults, 1);
    json_decref(active);
    notes_destroy(notes);
}

static void notes__catch_a_number_given_twice_or_too_low(void **state) /* S3 */
{
    struct notes *notes = two_jobs();

    reserved(notes, 0, 7, 1024);
    notes->floor = notes->highest;
    reserved(notes, 1, 7, 1025);
    assert_int_equal(notes->faults, 1);
    for (uint32_t job = 0; job < 2; job++) {
        notes_releasing(notes, job);
        notes_released(notes, job);
    }
    notes_conclude(notes);
    assert_int_equal(notes->faults, 2);
    notes_destroy(notes);
}

static void notes__catch_a_job_never_released(void **state)
{
    struct notes *notes = two_jobs();

    reserved(notes, 0, 1, 1024);
    reserved(notes, 1, 2, 1025);
    notes_releasing(notes, 0);
    notes_released(notes, 0);
    notes_conclude(notes);
    assert_int_equal(notes->faults, 1);
    notes_destroy(notes);
}

UNIT_MAIN(cmocka_unit_test(notes__accept_a_life_without_fault),
          cmocka_unit_test(notes__catch_a_vni_in_two_live_jobs),
          cmocka_unit_test(notes__catch_what_was_lost_or_changed),
          cmocka_unit_test(notes__catch_a_released_job_that_is_active),
          cmocka_unit_test(notes__catch_a_number_given_twice_or_too_low),
          cmocka_unit_test(notes__catch_a_job_never_released))
