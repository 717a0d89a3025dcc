#include "tests/bench/report.h"

#include <jansson.h>
#include <stdio.h>

bool report_met(const struct report_goal *goal)
{
    const double median = sample_median(&goal->sample);

    return goal->sense == REPORT_AT_LEAST ? median >= goal->limit : median <= goal->limit;
}

void report_print(const struct report *report)
{
    printf("\n%-4s %-52s %8s %8s %16s\n", "goal", "what", "wanted", "median", "least – most");
    for (size_t i = 0; i < report->goal_count; i++) {
        const struct report_goal *goal = &report->goals[i];

        if (goal->sample.count == 0)
            continue;
        printf("%-4s %-52s %s %6.4g %8.4g %8.4g – %-8.4g %s\n", goal->id, goal->what,
               goal->sense == REPORT_AT_LEAST ? "≥" : "≤", goal->limit,
               sample_median(&goal->sample), sample_least(&goal->sample),
               sample_most(&goal->sample), report_met(goal) ? "met" : "MISSED");
    }
    printf("\nmade of (%zu repetitions, alternating):\n", report->repetitions);
    for (size_t i = 0; i < report->figure_count; i++) {
        const struct report_figure *figure = &report->figures[i];

        if (figure->sample.count > 0)
            printf("  %-34s %10.1f %-6s (%.1f – %.1f)\n", figure->key,
                   sample_median(&figure->sample), figure->unit, sample_least(&figure->sample),
                   sample_most(&figure->sample));
    }
}

static json_t *json_of_sample(const struct sample *sample)
{
    json_t *values = json_array();

    for (size_t i = 0; i < sample->count; i++)
        json_array_append_new(values, json_real(sample->values[i]));
    return json_pack("{s:f, s:f, s:f, s:o}", "median", sample_median(sample), "least",
                     sample_least(sample), "most", sample_most(sample), "values", values);
}

int report_write_json(const struct report *report, const char *path)
{
    json_t *goals = json_object(), *figures = json_object();

    for (size_t i = 0; i < report->goal_count; i++) {
        const struct report_goal *goal = &report->goals[i];

        if (goal->sample.count > 0)
            json_object_set_new(goals, goal->id,
                                json_pack("{s:s, s:s, s:f, s:b, s:o}", "what", goal->what, "sense",
                                          goal->sense == REPORT_AT_LEAST ? "at least" : "at most",
                                          "limit", goal->limit, "met", (int)report_met(goal),
                                          "sample", json_of_sample(&goal->sample)));
    }
    for (size_t i = 0; i < report->figure_count; i++)
        if (report->figures[i].sample.count > 0)
            json_object_set_new(figures, report->figures[i].key,
                                json_pack("{s:s, s:o}", "unit", report->figures[i].unit, "sample",
                                          json_of_sample(&report->figures[i].sample)));
    json_t *document = json_pack("{s:i, s:o, s:o}", "repetitions", (int)report->repetitions,
                                 "goals", goals, "figures", figures);
    const int result = json_dump_file(document, path, JSON_INDENT(2) | JSON_SORT_KEYS);
    if (result < 0)
        perror(path);
    json_decref(document);
    return result;
}
