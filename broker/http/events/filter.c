/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/events/filter.h"

#include "core/reservation/sharedvnis.h"
#include "base/names.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static_assert((int)EVENT_KIND_COUNT <= 64, "struct event_filter has one bit a kind");

static int refuse_kind(const char *word, size_t length, struct problem *problem)
{
    char known[384] = "";
    size_t used = 0;
    for (int kind = EVENT_NONE + 1; kind < EVENT_KIND_COUNT && used < sizeof known; kind++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "",
                                 event_kind_word(kind));
    assert(used < sizeof known);
    return problem_set(problem, 422, "invalid", "kind",
                       "there is no kind of event '%.*s'; there is: %s",
                       (int)(length < 40 ? length : 40), word, known);
}

static int read_kinds(const char *text, uint64_t *kinds, struct problem *problem)
{
    for (const char *at = text; at; at = strchr(at, ',')) {
        char word[24] = "";
        at += *at == ',';
        const size_t length = strcspn(at, ",");
        if (length < sizeof word)
            memcpy(word, at, length);
        const int kind = event_kind_from_word(word);
        if (!kind)
            return refuse_kind(at, length, problem);
        *kinds |= UINT64_C(1) << kind;
    }
    return 0;
}

int event_filter_read(struct event_filter *filter, const struct target *target,
                      struct problem *problem)
{
    *filter = (struct event_filter){.cluster = target_query(target, "cluster"),
                                    .job = target_query(target, "job")};
    if (filter->cluster && !cluster_name_valid(filter->cluster))
        return problem_set(problem, 422, "invalid", "cluster",
                           "a cluster's name is 1 to %d of a-z, 0-9 and _", CLUSTER_NAME_MAX);
    if (filter->job && !job_id_valid(filter->job))
        return problem_set(problem, 422, "invalid", "job",
                           "'%.64s' cannot be a job id; ids are 1 to %d of A-Z, a-z, 0-9 and "
                           "._:@+-",
                           filter->job, JOB_ID_MAX);
    return read_kinds(target_query(target, "kind"), &filter->kinds, problem);
}

static bool is_same(const char *wanted, const char *text)
{
    return !wanted || (text && strcmp(wanted, text) == 0);
}

bool event_filter_takes(const struct event_filter *filter, const struct event_record *event)
{
    return (filter->kinds == 0 || (filter->kinds >> event->kind & 1)) &&
           (is_same(filter->cluster, event->cluster) ||
            (event->clusters && shared_list_has(event->clusters, filter->cluster))) &&
           is_same(filter->job, event->job);
}
