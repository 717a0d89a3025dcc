/* SPDX-License-Identifier: Apache-2.0 */
#include "base/jobid.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/ownjob.h"
#include "cli/plain.h"
#include "cli/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What a job is told of itself, from within (P7): with its token; or, where it has none, as its
 * owner is told. */

enum { SHOWN_S = 3600 };

/* What is gathered before anything is printed. */
struct self {
    struct call *call;
    struct mcast_reservation *job;
    json_t *trees;  /* NULL: not told */
    json_t *spans;  /* the part of the fabric that it spans; NULL: not told, or not known */
    json_t *events; /* of the last hour: objects */
    char since[32];
    bool with_token;
};

/* Of Flux the outermost job, which the system's instance runs: the first part of its path. */
static int find_job(struct call *call)
{
    const char *path = ownjob_variable("FLUX_JOB_ID_PATH"), *given = ownjob_variable("FLUX_JOB_ID");
    char first[COMMAND_JOB_SIZE];
    if (path && path[0] == '/') {
        (void)snprintf(first, sizeof first, "%.*s", (int)strcspn(path + 1, "/"), path + 1);
        given = first;
    }
    if (!given)
        given = ownjob_variable("SLURM_JOB_ID");
    if (given && jobid_plain(given, call->job, sizeof call->job))
        return command_cluster(call);
    call->error = (struct mcast_error){.code = MCAST_NOT_FOUND};
    (void)snprintf(call->error.text, sizeof call->error.text,
                   "no job is around: none of MCAST_TOKEN, FI_CXI_COLL_MCAST_TOKEN, SLURM_JOB_ID "
                   "and FLUX_JOB_ID is set; elsewhere use mcastctl show JOB");
    return MCAST_NOT_FOUND;
}

/* ---- gathering ---- */

static int take_event(const struct mcast_event *event, void *data)
{
    struct self *self = data;
    if (event->number == self->job->number && event->time &&
        strncmp(event->time, self->since, strlen(self->since)) >= 0)
        json_array_append_new(self->events, memory_must(json_loads(event->json, 0, NULL)));
    return 0;
}

/* NULL: none of its nodes has a place in the fabric, as far as the broker knows. */
static json_t *read_spans(struct self *self)
{
    const struct mcast_reservation *job = self->with_token ? NULL : self->job;
    struct mcast_error error = {0};
    char *text = NULL;
    json_t *spans = NULL;
    if (mcast_topology(self->call->handle, job ? job->cluster : NULL, job ? job->job : NULL, &text,
                       &error) == 0)
        spans = json_loads(text, 0, NULL);
    free(text);
    if (json_integer_value(json_object_get(spans, "placed")) > 0)
        return spans;
    json_decref(spans);
    return NULL;
}

/* What a broker of before does not know is only left out. */
static void gather_rest(struct self *self)
{
    struct call *call = self->call;
    struct mcast_event_filter filter = MCAST_EVENT_FILTER_INIT;
    struct mcast_error error = {0};
    const time_t since = time(NULL) - SHOWN_S;
    struct tm utc;
    char *trees = NULL;
    (void)strftime(self->since, sizeof self->since, "%Y-%m-%dT%H:%M:%S", gmtime_r(&since, &utc));
    self->spans = read_spans(self);
    if (!self->with_token) {
        filter.cluster = self->job->cluster;
        filter.job = self->job->job;
    } else if (mcast_own_trees(call->handle, &trees, &error) == 0) {
        self->trees = json_loads(trees, 0, NULL);
        free(trees);
    }
    if (mcast_events_filtered(call->handle, 0, self->with_token ? MCAST_OWN_EVENTS : 0, &filter,
                              take_event, self, &error) < 0)
        fprintf(stderr, "mcastctl: its events are not known: %s\n", error.text);
}

/* ---- printing ---- */

static void print_trees(const json_t *trees)
{
    const json_t *step;
    size_t i;
    json_array_foreach(json_object_get(trees, "steps"), i, step)
    {
        const char *name = command_text(step, "step");
        if (i == 0)
            puts("\nMulticast trees:");
        plain_printf("  step %s: %lld\n", name ? name : "-",
                     (long long)json_integer_value(json_object_get(step, "trees")));
    }
}

static void print_spans(const json_t *spans)
{
    const long long groups = json_integer_value(json_object_get(spans, "groups"));
    const size_t switches = json_array_size(json_object_get(spans, "switches"));
    if (spans)
        printf("\nIn the fabric: %lld group%s, %zu switch%s\n", groups, groups == 1 ? "" : "s",
               switches, switches == 1 ? "" : "es");
}

static void print_events(const json_t *events)
{
    const json_t *event;
    size_t i;
    puts(json_array_size(events) > 0 ? "\nIn the last hour:" : "\nNo event in the last hour.");
    json_array_foreach(events, i, event)
    {
        const char *time = command_text(event, "time"), *kind = command_text(event, "event");
        const char *detail = command_text(event, "detail");
        plain_printf("  %-24s  %-11s  %s\n", time ? time : "-", kind ? kind : "-",
                     detail ? detail : "");
    }
}

static int print_json(const struct self *self)
{
    char *job = memory_must(mcast_reservation_json(self->job, 0));
    json_t *all = json_object();
    json_object_set_new(all, "reservation", json_loads(job, 0, NULL));
    json_object_set(all, "events", self->events);
    if (self->trees)
        json_object_set(all, "trees", self->trees);
    if (self->spans)
        json_object_set(all, "topology", self->spans);
    free(job);
    return command_print_object(all);
}

static int print_self(const struct self *self)
{
    if (self->call->json)
        return print_json(self);
    int rc = view_reservation(self->job, self->call, 0);
    if (rc != 0)
        return rc;
    print_spans(self->spans);
    print_trees(self->trees);
    print_events(self->events);
    puts("\nWhile it runs, none of this can be changed; mcastctl options shows what the next job "
         "may ask for.");
    return command_finish();
}

static int run_self(struct call *call)
{
    struct self self = {.call = call, .events = memory_must(json_array())};
    char url[OWNJOB_URL_SIZE];
    ownjob_find_broker(call, url);
    int rc = command_open(call);
    if (rc == 0)
        rc = ownjob_find_token(call, &self.with_token);
    if (rc == 0 && self.with_token)
        rc = mcast_own(call->handle, &self.job, &call->error);
    else if (rc == 0 && (rc = find_job(call)) == 0)
        rc = mcast_show(call->handle, call->cluster, call->job, &self.job, &call->error);
    if (rc == 0) {
        gather_rest(&self);
        rc = print_self(&self);
    }
    mcast_reservation_free(self.job);
    json_decref(self.trees);
    json_decref(self.spans);
    json_decref(self.events);
    return rc;
}

const struct command command_self = {"self",
                                     "show a job what it has, from within it",
                                     COMMAND_NO_ARGUMENTS,
                                     COMMAND_ALONE,
                                     NULL,
                                     .run = run_self};
