#include "broker/http/exposition.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

struct labels {
    char text[LABELS_SIZE]; /* a="b",c="d" */
    size_t used;
};

/* What does not fit is left out: labels are bounded where they come from (cluster names, URLs). */
static void put(struct labels *labels, char c)
{
    if (labels->used + 1 < sizeof labels->text)
        labels->text[labels->used++] = c;
}

static void put_text(struct labels *labels, const char *text)
{
    for (; *text != '\0'; text++)
        put(labels, *text);
}

static void put_escaped(struct labels *labels, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            put(labels, '\\');
        put(labels, *text >= ' ' && *text <= '~' ? *text : '?');
    }
}

static void labels_read(struct labels *labels, va_list pairs)
{
    for (const char *name; (name = va_arg(pairs, const char *)) != NULL;) {
        const char *value = va_arg(pairs, const char *);
        assert(value != NULL);
        if (labels->used > 0)
            put(labels, ',');
        put_text(labels, name);
        put_text(labels, "=\"");
        put_escaped(labels, value);
        put(labels, '"');
    }
    labels->text[labels->used] = '\0';
}

/* name{labels} up to the value. */
static void lead(const struct exposition *to, const struct labels *labels)
{
    if (labels->used > 0)
        writer_textf(to->out, "%s{%s} ", to->name, labels->text);
    else
        writer_textf(to->out, "%s ", to->name);
}

/* ---- samples ---- */

void exposition_count(struct exposition *to, uint64_t value, ...)
{
    struct labels labels = {.used = 0};
    va_list pairs;
    va_start(pairs, value);
    labels_read(&labels, pairs);
    va_end(pairs);
    lead(to, &labels);
    writer_textf(to->out, "%" PRIu64 "\n", value);
}

void exposition_real(struct exposition *to, double value, ...)
{
    struct labels labels = {.used = 0};
    va_list pairs;
    va_start(pairs, value);
    labels_read(&labels, pairs);
    va_end(pairs);
    lead(to, &labels);
    writer_textf(to->out, "%.6f\n", value);
}

void exposition_time(struct exposition *to, int64_t unix_ms, ...)
{
    struct labels labels = {.used = 0};
    va_list pairs;
    if (unix_ms == 0)
        return;
    va_start(pairs, unix_ms);
    labels_read(&labels, pairs);
    va_end(pairs);
    lead(to, &labels);
    writer_textf(to->out, "%.3f\n", (double)unix_ms / 1e3);
}

static void bucket(const struct exposition *to, const struct labels *labels, const char *bound,
                   uint64_t count)
{
    writer_textf(to->out, "%s_bucket{%s%sle=\"%s\"} %" PRIu64 "\n", to->name, labels->text,
                 labels->used > 0 ? "," : "", bound, count);
}

void exposition_histogram(struct exposition *to, const struct histogram *histogram, ...)
{
    const double unit = histogram->scale == HISTOGRAM_TIMES ? 1e-6 : 1;
    struct labels labels = {.used = 0};
    uint64_t below = 0;
    char bound[32];
    va_list pairs;
    va_start(pairs, histogram);
    labels_read(&labels, pairs);
    va_end(pairs);
    for (size_t i = 0; i < histogram_bounds(histogram->scale); i++) {
        below += histogram->buckets[i];
        (void)snprintf(bound, sizeof bound, "%g",
                       (double)histogram_bound(histogram->scale, i) * unit);
        bucket(to, &labels, bound, below);
    }
    bucket(to, &labels, "+Inf", histogram->count);
    const char *open = labels.used > 0 ? "{" : "", *close = labels.used > 0 ? "}" : "";
    writer_textf(to->out, "%s_sum%s%s%s %.6f\n%s_count%s%s%s %" PRIu64 "\n", to->name, open,
                 labels.text, close, (double)histogram->sum * unit, to->name, open, labels.text,
                 close, histogram->count);
}
