/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/report.h"

#include <assert.h>
#include <jansson.h>
#include <string.h>

/* ---- what is told ---- */

/* What is promised first (G), then what is only counted (C). */
static bool comes_before(const char *one, const char *other)
{
    return one[0] == other[0] ? strverscmp(one, other) < 0 : one[0] == 'G';
}

void report_goal(struct report *report, const struct report_goal *goal, double value)
{
    size_t i = 0;

    while (i < report->goal_count && comes_before(report->goals[i].id, goal->id))
        i++;
    if (i == report->goal_count || strcmp(report->goals[i].id, goal->id) != 0) {
        assert(report->goal_count < REPORT_GOALS_MAX);
        memmove(&report->goals[i + 1], &report->goals[i],
                (report->goal_count++ - i) * sizeof *report->goals);
        report->goals[i] = *goal;
    }
    sample_add(&report->goals[i].sample, value);
}

void report_figure(struct report *report, const char *key, const char *unit, double value)
{
    size_t i = 0;

    while (i < report->figure_count && strcmp(report->figures[i].key, key) != 0)
        i++;
    if (i == report->figure_count) {
        assert(report->figure_count < REPORT_FIGURES_MAX);
        report->figures[report->figure_count++] = (struct report_figure){.key = key, .unit = unit};
    }
    sample_add(&report->figures[i].sample, value);
}

void report_skipped(struct report *report, const char *what, const char *why)
{
    for (size_t i = 0; i < report->skipped_count; i++)
        if (strcmp(report->skipped[i].what, what) == 0)
            return;
    assert(report->skipped_count < REPORT_SKIPPED_MAX);
    report->skipped[report->skipped_count].what = what;
    report->skipped[report->skipped_count++].why = why;
}

static struct report_curve *curve(struct report *report, const char *key, const char *unit)
{
    size_t i = 0;

    while (i < report->curve_count && strcmp(report->curves[i].key, key) != 0)
        i++;
    if (i == report->curve_count) {
        assert(report->curve_count < REPORT_CURVES_MAX);
        report->curves[report->curve_count++] = (struct report_curve){.key = key, .unit = unit};
    }
    return &report->curves[i];
}

void report_point(struct report *report, const char *key, const char *unit, double x, double value)
{
    struct report_curve *points = curve(report, key, unit);
    size_t i = 0;

    while (i < points->count && points->points[i].x < x)
        i++;
    assert(i == points->count || points->points[i].x <= x); /* they come from few to many */
    if (i == points->count) {
        assert(points->count < REPORT_POINTS_MAX);
        points->points[points->count++].x = x;
    }
    sample_add(&points->points[i].sample, value);
}

/* ---- what is wanted ---- */

bool report_met(const struct report_goal *goal)
{
    switch (goal->sense) {
    case REPORT_AT_LEAST:
        return sample_median(&goal->sample) >= goal->limit;
    case REPORT_AT_MOST:
        return sample_median(&goal->sample) <= goal->limit;
    case REPORT_NEVER_ABOVE:
        break;
    }
    return sample_most(&goal->sample) <= goal->limit;
}

bool report_counts_met(const struct report *report)
{
    for (size_t i = 0; i < report->goal_count; i++)
        if (report->goals[i].is_count && !report_met(&report->goals[i]))
            return false;
    return true;
}

/* ---- for people ---- */

static const char *verdict(const struct report *report, const struct report_goal *goal)
{
    if (report->counts_only && !goal->is_count)
        return "not judged";
    return report_met(goal) ? "met" : "MISSED";
}

static void print_curve(const struct report_curve *curve)
{
    printf("  %-34s", curve->key);
    for (size_t i = 0; i < curve->count; i++)
        printf(" %11.6g", sample_median(&curve->points[i].sample));
    printf(" %s\n", curve->unit);
}

static void print_curves(const struct report *report)
{
    if (report->curve_count == 0)
        return;
    printf("\n  %-34s", "while so many reservations live");
    for (size_t i = 0; i < report->curves[0].count; i++)
        printf(" %11.0f", report->curves[0].points[i].x);
    printf("\n");
    for (size_t i = 0; i < report->curve_count; i++)
        print_curve(&report->curves[i]);
}

/* printf counts bytes, a table counts letters. */
static int width_of(const char *text, int letters)
{
    for (; *text; text++)
        letters += (*text & 0xc0) == 0x80;
    return letters;
}

void report_print(const struct report *report)
{
    printf("\n%-4s %-54s %8s %9s %19s\n", "goal", "what", "wanted", "median", "least – most");
    for (size_t i = 0; i < report->goal_count; i++) {
        const struct report_goal *goal = &report->goals[i];

        printf("%-4s %-*s %s %6.4g %9.4g %9.4g – %-9.4g %s\n", goal->id, width_of(goal->what, 54),
               goal->what, goal->sense == REPORT_AT_LEAST ? "≥" : "≤", goal->limit,
               sample_median(&goal->sample), sample_least(&goal->sample),
               sample_most(&goal->sample), verdict(report, goal));
    }
    for (size_t i = 0; i < report->skipped_count; i++)
        printf("skipped: %s: %s\n", report->skipped[i].what, report->skipped[i].why);
    printf("\nmade of:\n");
    for (size_t i = 0; i < report->figure_count; i++) {
        const struct report_figure *figure = &report->figures[i];

        printf("  %-*s %11.1f %-*s (%.1f – %.1f)\n", width_of(figure->key, 52), figure->key,
               sample_median(&figure->sample), width_of(figure->unit, 4), figure->unit,
               sample_least(&figure->sample), sample_most(&figure->sample));
    }
    print_curves(report);
}

/* ---- for programs ---- */

static json_t *json_of_sample(const struct sample *sample)
{
    json_t *values = json_array();

    for (size_t i = 0; i < sample->count; i++)
        json_array_append_new(values, json_real(sample->values[i]));
    return json_pack("{s:f, s:f, s:f, s:o}", "median", sample_median(sample), "least",
                     sample_least(sample), "most", sample_most(sample), "values", values);
}

static json_t *json_of_goal(const struct report_goal *goal)
{
    static const char *const senses[] = {[REPORT_AT_LEAST] = "at least",
                                         [REPORT_AT_MOST] = "at most",
                                         [REPORT_NEVER_ABOVE] = "never above"};

    return json_pack("{s:s, s:s, s:f, s:b, s:b, s:o}", "what", goal->what, "sense",
                     senses[goal->sense], "limit", goal->limit, "count", (int)goal->is_count, "met",
                     (int)report_met(goal), "sample", json_of_sample(&goal->sample));
}

static json_t *json_of_curve(const struct report_curve *curve)
{
    json_t *points = json_array();

    for (size_t i = 0; i < curve->count; i++)
        json_array_append_new(points, json_pack("{s:f, s:o}", "live", curve->points[i].x, "sample",
                                                json_of_sample(&curve->points[i].sample)));
    return json_pack("{s:s, s:o}", "unit", curve->unit, "points", points);
}

int report_write_json(const struct report *report, const char *path)
{
    json_t *goals = json_object(), *figures = json_object(), *curves = json_object(),
           *skipped = json_object();

    for (size_t i = 0; i < report->goal_count; i++)
        json_object_set_new(goals, report->goals[i].id, json_of_goal(&report->goals[i]));
    for (size_t i = 0; i < report->figure_count; i++)
        json_object_set_new(figures, report->figures[i].key,
                            json_pack("{s:s, s:o}", "unit", report->figures[i].unit, "sample",
                                      json_of_sample(&report->figures[i].sample)));
    for (size_t i = 0; i < report->curve_count; i++)
        json_object_set_new(curves, report->curves[i].key, json_of_curve(&report->curves[i]));
    for (size_t i = 0; i < report->skipped_count; i++)
        json_object_set_new(skipped, report->skipped[i].what, json_string(report->skipped[i].why));
    json_t *document = json_pack("{s:o, s:o, s:o, s:o}", "goals", goals, "figures", figures,
                                 "curves", curves, "skipped", skipped);
    const int result = json_dump_file(document, path, JSON_INDENT(2) | JSON_SORT_KEYS);
    if (result < 0)
        perror(path);
    json_decref(document);
    return result;
}
