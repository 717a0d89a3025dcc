/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/metrics/exposition.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

const char EXPOSITION_TYPE[] = "text/plain; version=0.0.4; charset=utf-8";

void exposition_family(struct exposition *to, const char *name, enum exposition_kind kind,
                       const char *help)
{
    static const char *const words[] = {
        [COUNTER] = "counter", [GAUGE] = "gauge", [HISTOGRAM] = "histogram"};
    to->name = name;
    writer_textf(to->out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, words[kind]);
}

static void write_label(struct writer *out, const char *name, const char *text)
{
    writer_text(out, name);
    writer_text(out, "=\"");
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            writer_text(out, "\\");
        writer_text(out, (const char[]){*text >= ' ' && *text <= '~' ? *text : '?', '\0'});
    }
    writer_text(out, "\"");
}

/* The name with an ending, the labels, and one more label le unless bound is NULL: all before the
 * value. */
static void begin_sample(const struct exposition *to, const char *ending, const char *const *labels,
                         const char *bound)
{
    const char *before = "{";
    writer_text(to->out, to->name);
    writer_text(to->out, ending);
    for (; labels && labels[0]; labels += 2, before = ",") {
        assert(labels[1]);
        writer_text(to->out, before);
        write_label(to->out, labels[0], labels[1]);
    }
    if (bound) {
        writer_text(to->out, before);
        write_label(to->out, "le", bound);
        before = ",";
    }
    writer_text(to->out, *before == ',' ? "} " : " ");
}

static void write_count(const struct exposition *to, const char *ending, const char *const *labels,
                        const char *bound, uint64_t count)
{
    begin_sample(to, ending, labels, bound);
    writer_textf(to->out, "%" PRIu64 "\n", count);
}

void exposition_count(struct exposition *to, uint64_t value, const char *const *labels)
{
    write_count(to, "", labels, NULL, value);
}

void exposition_real(struct exposition *to, double value, const char *const *labels)
{
    begin_sample(to, "", labels, NULL);
    writer_textf(to->out, "%.6f\n", value);
}

void exposition_time(struct exposition *to, int64_t unix_ms, const char *const *labels)
{
    if (unix_ms == 0)
        return;
    begin_sample(to, "", labels, NULL);
    writer_textf(to->out, "%.3f\n", (double)unix_ms / 1e3);
}

void exposition_histogram(struct exposition *to, const struct histogram *histogram,
                          const char *const *labels)
{
    const double unit = histogram->scale == HISTOGRAM_TIMES ? 1e-6 : 1;
    uint64_t below = 0;
    char bound[32];
    for (size_t i = 0; i < histogram_bounds(histogram->scale); i++) {
        below += histogram->buckets[i];
        (void)snprintf(bound, sizeof bound, "%g",
                       (double)histogram_bound(histogram->scale, i) * unit);
        write_count(to, "_bucket", labels, bound, below);
    }
    write_count(to, "_bucket", labels, "+Inf", histogram->count);
    begin_sample(to, "_sum", labels, NULL);
    writer_textf(to->out, "%.6f\n", (double)histogram->sum * unit);
    write_count(to, "_count", labels, NULL, histogram->count);
}
