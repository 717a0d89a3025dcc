/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/metrics/metrics.h"

#include "broker/http/auth/mungecred.h"
#include "broker/http/auth/resolver.h"
#include "broker/http/listen/tls.h"
#include "broker/http/request/call.h"
#include "base/memory.h"

#include <assert.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

void traffic_answered(struct traffic *traffic, const struct route *route, int status,
                      int64_t took_us)
{
    size_t row = route ? (size_t)(route - routes) : ROUTES;
    assert(row <= ROUTES && status >= STATUS_FIRST && status < STATUS_END);
    traffic->answered[row][status - STATUS_FIRST]++;
    if (took_us >= 0)
        histogram_add(&traffic->times[row], took_us);
}

/* ---- what there is to tell ---- */

static uint64_t microseconds(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * 1000000 + (uint64_t)time->tv_usec;
}

static void read_memory(struct usage *out)
{
    unsigned long long all = 0, resident = 0;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return;
    if (fscanf(file, "%llu %llu", &all, &resident) == 2) {
        out->virtual_bytes = all * page;
        out->resident_bytes = resident * page;
    }
    (void)fclose(file);
}

/* The folder's size is the number since Linux 6.2; before, they are to be counted. */
static uint64_t count_descriptors(void)
{
    struct stat folder_stat;
    uint64_t count = 0;
    if (stat("/proc/self/fd", &folder_stat) == 0 && folder_stat.st_size > 0)
        return (uint64_t)folder_stat.st_size;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder)
        return 0;
    for (const struct dirent *entry; (entry = readdir(folder));)
        count += entry->d_name[0] != '.';
    (void)closedir(folder);
    return count - 1; /* the folder's own */
}

void usage_read(struct usage *out)
{
    struct rusage used;
    struct rlimit limit;
    *out = (struct usage){0};
    if (getrusage(RUSAGE_SELF, &used) == 0)
        out->cpu_us = microseconds(&used.ru_utime) + microseconds(&used.ru_stime);
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        out->fds_max = limit.rlim_cur;
    out->fds = count_descriptors();
    read_memory(out);
}

static uint64_t us_of(int64_t ms)
{
    return ms > 0 ? (uint64_t)ms * 1000 : 0;
}

static void read_leadership(struct readings *readings, const struct leadership_facts *facts)
{
    static const struct histogram none;
    readings->etcd_times = facts ? &facts->times : &none;
    if (!facts)
        return;
    readings->lease_us = us_of(facts->lease_ms);
    readings->lease_age_us = us_of(facts->lease_age_ms);
    readings->etcd_away_us = us_of(facts->unreachable_ms);
    readings->etcd_answered = facts->answered;
    readings->etcd_unanswered = facts->unanswered;
    readings->leaders = facts->leaders;
    readings->standbys = facts->standbys.count;
}

void readings_take(struct readings *readings, const struct http *http)
{
    const struct server *tcp = http->listeners[LISTENER_TCP].server;
    const struct core_status *status = &readings->status;
    *readings = (struct readings){.http = http, .core = engine_core(http->engine)};
    core_status(readings->core, &readings->status);
    engine_counters(http->engine, &readings->counters);
    read_leadership(readings, readings->counters.leadership);
    usage_read(&readings->usage);
    readings->fm_configured = core_config_of(readings->core)->fm_present;
    readings->events_kept = status->last_seq + 1 - status->first_seq;
    readings->tcp_waiting = tcp ? server_waiting(tcp) : 0;
    readings->munge_waiting = http->decoder->queue.count;
    readings->names_waiting = resolver_waiting(http->resolver);
    readings->certificate_ends_ms = http->tls ? tls_expires(http->tls) * 1000 : 0;
}

/* ---- the text that is shared ---- */

struct metrics_text {
    unsigned uses; /* by http, while it is the newest, and by each answer that is under way */
    uint64_t rendered_ms;
    struct writer out;
};

void metrics_text_drop(struct metrics_text *text)
{
    if (!text || --text->uses > 0)
        return;
    writer_release(&text->out);
    free(text);
}

/* An admin who has just done something need not wait to see it. */
static bool wants_fresh(struct call *call)
{
    const char *control = call_header(call, MHD_HTTP_HEADER_CACHE_CONTROL);
    return call->identity.admin && control && !strcasecmp(control, "no-cache");
}

/* The newest, rendered now if it is too old. What is being sent is not changed. */
static struct metrics_text *newest_text(struct http *http, bool fresh)
{
    struct metrics_text *text = http->metrics_text;
    const uint64_t now_ms = uv_now(http->loop);
    struct readings readings;
    if (text && !fresh && now_ms - text->rendered_ms < METRICS_EVERY_MS)
        return text;
    if (!text || text->uses > 1) {
        metrics_text_drop(text);
        text = http->metrics_text = memory_zeroed(sizeof *text);
        text->uses = 1;
    }
    readings_take(&readings, http);
    writer_wipe(&text->out);
    metrics_write(&(struct exposition){.out = &text->out}, &readings);
    text->rendered_ms = now_ms;
    return text;
}

int metrics_handle(struct call *call)
{
    struct metrics_text *text = newest_text(call->http, wants_fresh(call));
    if (text->out.failed)
        return problem_set(&call->problem, 503, "out-of-memory", NULL,
                           "there is no memory to write the metrics; try again");
    text->uses++;
    call->metrics_text = text;
    call->document = text->out.data;
    call->document_length = text->out.used;
    return call_reply(call, MHD_HTTP_OK, EXPOSITION_TYPE);
}
