/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/metrics/exposition.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

enum { LABELS_SIZE = 1024 };

const char EXPOSITION_TYPE[] = "text/plain; version=0.0.4; charset=utf-8";

void exposition_family(struct exposition *to, const char *name, enum exposition_kind kind,
                       const char *help)
{
    static const char *const words[] = {
        [METRIC_COUNTER] = "counter", [METRIC_GAUGE] = "gauge", [METRIC_HISTOGRAM] = "histogram"};
    to->name = name;
    writer_textf(to->out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, words[kind]);
}

/* ---- labels ---- */

struct text {
    char bytes[LABELS_SIZE]; /* a="b",c="d" */
    size_t used;
};

/* What does not fit is left out: labels are bounded where they come from (cluster names, URLs). */
static void put(struct text *text, char c)
{
    if (text->used + 1 < sizeof text->bytes)
        text->bytes[text->used++] = c;
}

static void put_plain(struct text *text, const char *plain)
{
    for (; *plain != '\0'; plain++)
        put(text, *plain);
}

static void put_escaped(struct text *text, const char *value)
{
    for (; *value != '\0'; value++) {
        if (*value == '"' || *value == '\\')
            put(text, '\\');
        put(text, *value >= ' ' && *value <= '~' ? *value : '?');
    }
}

static void put_labels(struct text *text, const char *const *labels)
{
    for (; labels != NULL && labels[0] != NULL; labels += 2) {
        assert(labels[1] != NULL);
        if (text->used > 0)
            put(text, ',');
        put_plain(text, labels[0]);
        put_plain(text, "=\"");
        put_escaped(text, labels[1]);
        put(text, '"');
    }
    text->bytes[text->used] = '\0';
}

/* ---- samples ---- */

/* The name with an ending and the labels, up to the value. */
static void lead(const struct exposition *to, const char *ending, const char *const *labels)
{
    struct text text = {.used = 0};
    put_labels(&text, labels);
    if (text.used > 0)
        writer_textf(to->out, "%s%s{%s} ", to->name, ending, text.bytes);
    else
        writer_textf(to->out, "%s%s ", to->name, ending);
}

void exposition_count(struct exposition *to, uint64_t value, const char *const *labels)
{
    lead(to, "", labels);
    writer_textf(to->out, "%" PRIu64 "\n", value);
}

void exposition_real(struct exposition *to, double value, const char *const *labels)
{
    lead(to, "", labels);
    writer_textf(to->out, "%.6f\n", value);
}

void exposition_time(struct exposition *to, int64_t unix_ms, const char *const *labels)
{
    if (unix_ms == 0)
        return;
    lead(to, "", labels);
    writer_textf(to->out, "%.3f\n", (double)unix_ms / 1e3);
}

static void bucket(const struct exposition *to, const struct text *labels, const char *bound,
                   uint64_t count)
{
    writer_textf(to->out, "%s_bucket{%s%sle=\"%s\"} %" PRIu64 "\n", to->name, labels->bytes,
                 labels->used > 0 ? "," : "", bound, count);
}

void exposition_histogram(struct exposition *to, const struct histogram *histogram,
                          const char *const *labels)
{
    const double unit = histogram->scale == HISTOGRAM_TIMES ? 1e-6 : 1;
    struct text text = {.used = 0};
    uint64_t below = 0;
    char bound[32];
    put_labels(&text, labels);
    for (size_t i = 0; i < histogram_bounds(histogram->scale); i++) {
        below += histogram->buckets[i];
        (void)snprintf(bound, sizeof bound, "%g",
                       (double)histogram_bound(histogram->scale, i) * unit);
        bucket(to, &text, bound, below);
    }
    bucket(to, &text, "+Inf", histogram->count);
    lead(to, "_sum", labels);
    writer_textf(to->out, "%.6f\n", (double)histogram->sum * unit);
    lead(to, "_count", labels);
    writer_textf(to->out, "%" PRIu64 "\n", histogram->count);
}
