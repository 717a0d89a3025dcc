/* SPDX-License-Identifier: Apache-2.0 */

#include "base/names.h"
#include "fmapi/wire/jobsteps.h"
#include "tests/unit/unit.h"

/* The list as one line: "0=1,2 /fA=3 +1" with what was skipped at the end. */
static char *line_of(const struct fmcall_steps *steps)
{
    char *line = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&line, &size);
    assert_non_null(stream);
    for (size_t i = 0; i < steps->count; i++) {
        (void)fprintf(stream, "%s%s", i > 0 ? " " : "", steps->steps[i].step);
        for (size_t j = 0; j < steps->steps[i].tree_count; j++)
            (void)fprintf(stream, "%c%u", j > 0 ? ',' : '=', steps->steps[i].trees[j]);
    }
    if (steps->skipped > 0)
        (void)fprintf(stream, "+%zu", steps->skipped);
    assert_int_equal(fclose(stream), 0);
    return line;
}

UNIT(jobsteps__are_read_strictly)
{
    static const struct {
        const char *json, *line;
    } rows[] = {
        {"{}", ""},
        {"null", ""},
        {"{\"0\":[77]}", "0=77"},
        {"{\"0\":[0,8191],\"/fA/fB\":[5]}", "0=0,8191 /fA/fB=5"},
        {"{\"0\":[],\"1\":[3]}", "1=3"},
        /* ids as others may write them */
        {"{\"0\":[77.0,\"78\",\"/fabric/collectives/multicasts/79\"]}", "0=77,78,79"},
        /* ids that are none */
        {"{\"0\":[-1,8192,1e300,-0.5,1.5,null,true,[1],{\"a\":1},1]}", "0=1+9"},
        {"{\"0\":[\"\",\"x\",\"8192\",\"99999\",\"-1\",\"+1\",\" 1\",\"1 \",\"1/\",\"/\",\"0x1\"]}",
         "+11"},
        {"{\"0\":[\"99999999999999999999\",18446744073709551]}", "+2"},
        /* one tree belongs to one step */
        {"{\"0\":[1,1],\"1\":[1,2]}", "0=1 1=2+2"},
        {"{\"0\":[1],\"1\":[1]}", "0=1+1"},
        /* steps that are none of ours */
        {"{\"\":[1],\"a "
         "b\":[2],\"a\\\"b\":[3],\"a\\\\b\":[4],\"\\n\":[5],\"\xc6\x92\":[6],\"0\":[7]}",
         "0=7+6"},
        /* lists that are none */
        {"{\"0\":7,\"1\":null,\"2\":{\"a\":1},\"3\":\"4\",\"5\":[6]}", "5=6+4"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        json_t *value = json_loads(rows[i].json, JSON_DECODE_ANY, NULL);
        struct fmcall_steps *jobsteps = jobsteps_create(value);
        assert_non_null(value);
        assert_non_null(jobsteps);
        char *line = line_of(jobsteps);
        assert_string_equal(line, rows[i].line);
        free(line);
        jobsteps_destroy(jobsteps);
        json_decref(value);
    }
}

UNIT(jobsteps__need_an_object)
{
    static const char *const others[] = {"[]", "[{\"0\":[1]}]", "\"0\"", "0", "true"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        json_t *value = json_loads(others[i], JSON_DECODE_ANY, NULL);
        assert_non_null(value);
        assert_null(jobsteps_create(value));
        json_decref(value);
    }
    struct fmcall_steps *none = jobsteps_create(NULL);
    assert_int_equal(none->count, 0);
    jobsteps_destroy(none);
    jobsteps_destroy(NULL);
}

/* Every tree there can be, each in a step of its own with the longest name, and as many again. */
UNIT(jobsteps__are_bounded)
{
    enum { LISTED = FMCALL_TREES + 100 };
    json_t *value = json_object();
    for (int i = 0; i < LISTED; i++) {
        char name[STEP_ID_MAX + 1];
        (void)snprintf(name, sizeof name, "/%0*d", STEP_ID_MAX - 1, i);
        assert_int_equal(json_object_set_new(value, name, json_pack("[i,i]", i, i)), 0);
    }
    struct fmcall_steps *jobsteps = jobsteps_create(value);
    const struct fmcall_steps *list = jobsteps;
    assert_int_equal(list->count, FMCALL_TREES);
    assert_int_equal(list->skipped, FMCALL_TREES + 2 * 100);
    for (size_t i = 0; i < list->count; i++) {
        assert_int_equal(list->steps[i].tree_count, 1);
        assert_int_equal(list->steps[i].trees[0], i);
        assert_int_equal(strlen(list->steps[i].step), STEP_ID_MAX);
    }
    jobsteps_destroy(jobsteps);
    json_decref(value);
}

UNIT(jobsteps__name_no_longer_step)
{
    char name[STEP_ID_MAX + 2];
    memset(name, 'f', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    json_t *value = json_pack("{s:[i]}", name, 1);
    struct fmcall_steps *jobsteps = jobsteps_create(value);
    assert_int_equal(jobsteps->count, 0);
    assert_int_equal(jobsteps->skipped, 1);
    jobsteps_destroy(jobsteps);
    json_decref(value);
}

UNIT_RUN(NULL, NULL)
