/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/soak/curve.h"

#include "tests/system/soak/trend.h"

#include <stdlib.h>
#include <string.h>

#define MIB (1024.0 * 1024)

enum { BAR = 24, LIFE_READINGS_MIN = 2 };

struct figure {
    const char *name;
    size_t offset; /* in struct reading */
    double unit;   /* printed in this */
    const char *unit_word;
    struct trend_rule rule;
};

#define IN_READING(member) offsetof(struct reading, member)

/* The slack is what an allocator, a log that is written back every 4 MB, and kept connections of
 * the fabric manager (16 at most) swing by; over the half million jobs of an hour it is a few bytes
 * a job at most. */
static const struct figure figures[] = {
    {"memory", IN_READING(rss), MIB, "MiB", {.slack = 0.75 * MIB, .relative = 0.02}},
    {"descriptors", IN_READING(fds), 1, "", {.slack = 20}},
    {"database", IN_READING(db), MIB, "MiB", {.slack = 0.125 * MIB, .relative = 0.02}},
    {"WAL", IN_READING(wal), MIB, "MiB", {.slack = 5 * MIB}},
    {"events kept", IN_READING(events), 1, "", {.slack = 512}},
};

enum { FIGURES = sizeof figures / sizeof *figures };

int curve_add(struct curve *curve, const struct reading *reading)
{
    if (curve->count == curve->room) {
        const size_t room = curve->room ? curve->room * 2 : 256;
        struct reading *longer = realloc(curve->readings, room * sizeof *longer);

        if (!longer)
            return -1;
        curve->readings = longer;
        curve->room = room;
    }
    curve->readings[curve->count++] = *reading;
    return 0;
}

void curve_release(struct curve *curve)
{
    free(curve->readings);
    *curve = (struct curve){0};
}

static double value_of(const struct reading *reading, size_t offset)
{
    double value;

    memcpy(&value, (const char *)reading + offset, sizeof value);
    return value;
}

/* ---- the table ---- */

static double median(const struct reading *readings, size_t count, size_t offset)
{
    double values[64];
    const size_t step = count / 64 + 1;
    size_t taken = 0;

    for (size_t i = 0; i < count && taken < 64; i += step)
        values[taken++] = value_of(&readings[i], offset);
    return trend_percentile(values, taken, 50);
}

static void print_line(const struct reading *readings, size_t count, double rss_max, FILE *out)
{
    static const char bar[] = "########################";
    const struct reading *last = &readings[count - 1];
    const double rss = median(readings, count, IN_READING(rss));

    fprintf(
        out, "%7.1f %4u %9.0f %5.0f %4.0f %7.2f %6.2f %7.0f %6.1f %7.1f %5.0f  %6.2f %.*s\n",
        last->time_s / 60, last->life, last->jobs, median(readings, count, IN_READING(live)),
        median(readings, count, IN_READING(fds)), median(readings, count, IN_READING(db)) / MIB,
        median(readings, count, IN_READING(wal)) / MIB, median(readings, count, IN_READING(events)),
        median(readings, count, IN_READING(p50_ms)), median(readings, count, IN_READING(p99_ms)),
        median(readings, count, IN_READING(loop_ms)), rss / MIB,
        rss_max > 0 ? (int)(rss / rss_max * BAR) : 0, bar);
}

void curve_print(const struct curve *curve, size_t lines, FILE *out)
{
    const size_t step = curve->count > lines ? curve->count / lines : 1;
    double rss_max = 0;

    for (size_t i = 0; i < curve->count; i++)
        if (curve->readings[i].rss > rss_max)
            rss_max = curve->readings[i].rss;
    fprintf(
        out,
        "    min life      jobs  live  fds  db MiB WAL MiB events p50 ms  p99 ms  loop RSS MiB\n");
    for (size_t from = 0, count; from < curve->count; from += count) {
        /* A line never spans two lives. */
        for (count = 1; count < step && from + count < curve->count &&
                        curve->readings[from + count].life == curve->readings[from].life;
             count++)
            ;
        print_line(&curve->readings[from], count, rss_max, out);
    }
}

json_t *curve_json(const struct curve *curve)
{
    json_t *array = json_array();

    for (size_t i = 0; array && i < curve->count; i++) {
        const struct reading *r = &curve->readings[i];
        json_t *one =
            json_pack("{sf sI sf sf sf sf sf sf sf sf sf sf sf sf}", "time_s", r->time_s, "life",
                      (json_int_t)r->life, "life_s", r->life_s, "jobs", r->jobs, "live", r->live,
                      "rss_bytes", r->rss, "fds", r->fds, "db_bytes", r->db, "wal_bytes", r->wal,
                      "events", r->events, "loop_max_ms", r->loop_ms, "p50_ms", r->p50_ms, "p99_ms",
                      r->p99_ms, "reserved_part", r->reserve);

        if (json_array_append_new(array, one) < 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

/* ---- the judgement ---- */

/* Readings picked for one judgement. */
struct pick {
    const struct reading **readings;
    size_t count;
};

static bool judge_figure(const struct figure *figure, const char *scope, const struct pick *pick,
                         FILE *out, json_t *verdicts)
{
    double *values = calloc(pick->count + 1, sizeof *values);
    double *jobs = calloc(pick->count + 1, sizeof *jobs);
    struct trend trend = {.grows = true};
    bool judged = false;

    if (values && jobs) {
        for (size_t i = 0; i < pick->count; i++) {
            values[i] = value_of(pick->readings[i], figure->offset);
            jobs[i] = pick->readings[i]->jobs;
        }
        judged = trend_judge(values, jobs, pick->count, &figure->rule, &trend);
    }
    free(values);
    free(jobs);
    if (!judged) {
        fprintf(out, "  %-12s %-9s %zu readings: too few\n", figure->name, scope, pick->count);
        return false;
    }
    fprintf(out, "  %-12s %-9s %9.2f -> %9.2f %-3s over %8.0f jobs: %+8.3f bytes a job  %s\n",
            figure->name, scope, trend.first / figure->unit, trend.last / figure->unit,
            figure->unit_word, trend.jobs, trend.per_job, trend.grows ? "GROWS" : "flat");
    if (verdicts)
        (void)json_array_append_new(
            verdicts, json_pack("{ss ss sf sf sf sf sb}", "figure", figure->name, "scope", scope,
                                "first", trend.first, "last", trend.last, "jobs", trend.jobs,
                                "per_job", trend.per_job, "grows", trend.grows));
    return !trend.grows;
}

static bool judge_all(const char *scope, const struct pick *pick, FILE *out, json_t *verdicts)
{
    bool flat = true;

    for (size_t i = 0; i < FIGURES; i++)
        flat &= judge_figure(&figures[i], scope, pick, out, verdicts);
    return flat;
}

static bool ends_life(const struct curve *curve, size_t i)
{
    return i + 1 == curve->count || curve->readings[i + 1].life != curve->readings[i].life;
}

bool curve_judge(const struct curve *curve, double warm_up_s, FILE *out, json_t *verdicts)
{
    struct pick one = {.readings = calloc(curve->count + 1, sizeof *one.readings)};
    struct pick ends = {.readings = calloc(curve->count + 1, sizeof *ends.readings)};
    bool flat = one.readings && ends.readings;

    for (size_t i = 0, since = 0; flat && i < curve->count; i++) {
        const struct reading *reading = &curve->readings[i];

        if (reading->life == 0 && reading->life_s >= warm_up_s)
            one.readings[one.count++] = reading;
        if (!ends_life(curve, i))
            continue;
        /* The first life is so much longer than the others that it tells nothing beside them. */
        if (reading->life > 0 && i + 1 - since >= LIFE_READINGS_MIN)
            ends.readings[ends.count++] = reading;
        since = i + 1;
    }
    fprintf(out, "growth, by the medians of the first and the last third:\n");
    flat = flat && judge_all("one life", &one, out, verdicts);
    if (ends.count >= TREND_READINGS_MIN)
        flat &= judge_all("restarts", &ends, out, verdicts);
    else
        fprintf(out, "  over restarts: %zu lives are too few to judge\n", ends.count);
    free(one.readings);
    free(ends.readings);
    return flat;
}
