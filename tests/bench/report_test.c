/* SPDX-License-Identifier: Apache-2.0 */
/* What the benchmark concludes from what it measured. */
#include "tests/bench/plot.h"
#include "tests/bench/report.h"
#include "tests/system/rig/folder.h"
#include "tests/unit/unit.h"

#include <jansson.h>

static const struct report_goal fast = {
    .id = "G9", .what = "fast", .sense = REPORT_AT_LEAST, .limit = 20};
static const struct report_goal small = {
    .id = "G10", .what = "small", .sense = REPORT_AT_MOST, .limit = 1.2};
static const struct report_goal none = {
    .id = "C1", .what = "none left", .sense = REPORT_NEVER_ABOVE, .limit = 0, .is_count = true};

static int setup(void **state)
{
    *state = calloc(1, sizeof(struct report));
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    free(*state);
    return 0;
}

static void ratio__is_judged_by_its_median(void **state)
{
    struct report *report = *state;

    report_goal(report, &fast, 3);
    report_goal(report, &fast, 21);
    report_goal(report, &fast, 22);
    assert_true(report_met(&report->goals[0]));
    report_goal(report, &fast, 4);
    report_goal(report, &fast, 5);
    assert_false(report_met(&report->goals[0]));
}

static void count__is_judged_by_its_worst(void **state)
{
    struct report *report = *state;

    for (int i = 0; i < 2 * SAMPLE_MAX; i++)
        report_goal(report, &none, 0);
    assert_true(report_counts_met(report));
    report_goal(report, &none, 1); /* however late it comes */
    assert_false(report_met(&report->goals[0]));
    assert_false(report_counts_met(report));
}

static void ratio__does_not_decide(void **state)
{
    struct report *report = *state;

    report_goal(report, &small, 5);
    report_goal(report, &none, 0);
    assert_false(report_met(&report->goals[0]));
    assert_true(report_counts_met(report));
}

static void goals__are_in_the_order_of_their_ids(void **state)
{
    struct report *report = *state;

    report_goal(report, &none, 0);
    report_goal(report, &small, 1);
    report_goal(report, &fast, 20);
    report_goal(report, &small, 1);
    assert_int_equal(report->goal_count, 3);
    assert_string_equal(report->goals[0].id, "G9");
    assert_string_equal(report->goals[1].id, "G10");
    assert_string_equal(report->goals[2].id, "C1");
    assert_int_equal(report->goals[1].sample.count, 2);
}

static void skipped__is_named_once_in_the_json(void **state)
{
    struct report *report = *state;
    char folder[FOLDER_PATH_SIZE], path[128];

    report_skipped(report, "G28 (Flux)", "no flux");
    report_skipped(report, "G28 (Flux)", "no flux"); /* another repetition */
    assert_int_equal(folder_create(folder), 0);
    assert_int_equal(
        report_write_json(report, folder_path(path, sizeof path, folder, "report.json")), 0);
    json_t *document = json_load_file(path, 0, NULL);
    const json_t *skipped = json_object_get(document, "skipped");
    assert_int_equal(json_object_size(skipped), 1);
    assert_string_equal(json_string_value(json_object_get(skipped, "G28 (Flux)")), "no flux");
    json_decref(document);
    folder_destroy(folder);
}

static void plot__draws_each_point(void **state)
{
    struct report *report = *state;
    char folder[FOLDER_PATH_SIZE], path[128], text[8192];
    size_t points = 0;

    assert_int_equal(folder_create(folder), 0);
    folder_path(path, sizeof path, folder, "plot.svg");
    assert_int_equal(plot_write(report, path), -1); /* nothing to draw */
    report_point(report, "start", "s", 1000, 0.1);
    report_point(report, "start", "s", 10000, 0.9);
    report_point(report, "strays", "", 1000, 0); /* has no place on a logarithmic axis */
    assert_int_equal(plot_write(report, path), 0);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    folder_destroy(folder);
    for (const char *at = text; (at = strstr(at, "<circle")); at++)
        points++;
    assert_int_equal(points, 2);
    assert_non_null(strstr(text, "start, s"));
    assert_non_null(strstr(text, "</svg>"));
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
}

UNIT_MAIN(cmocka_unit_test_setup_teardown(ratio__is_judged_by_its_median, setup, teardown),
          cmocka_unit_test_setup_teardown(count__is_judged_by_its_worst, setup, teardown),
          cmocka_unit_test_setup_teardown(ratio__does_not_decide, setup, teardown),
          cmocka_unit_test_setup_teardown(goals__are_in_the_order_of_their_ids, setup, teardown),
          cmocka_unit_test_setup_teardown(skipped__is_named_once_in_the_json, setup, teardown),
          cmocka_unit_test_setup_teardown(plot__draws_each_point, setup, teardown))
