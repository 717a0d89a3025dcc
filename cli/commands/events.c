/* SPDX-License-Identifier: Apache-2.0 */
#include "base/jobid.h"
#include "base/memory.h"
#include "cli/command.h"
#include "cli/plain.h"
#include "cli/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS_MAX = 16, NARROW = 60 /* such a terminal has no room for columns */ };

enum { AFTER, FOLLOW, KIND, JOB };

/* As the broker's events are named, for completion; any word is sent. */
#define KINDS_KNOWN                                                                                \
    "[reserved,denied,timeout,unavailable,released,lost,adopted,link-up,"                          \
    "link-down,lingering,fenced,alarm,alarm-over,partitions,vni-foreign,"                          \
    "vni-shared,vni-removed,nic-replaced,nics-changed,nic-link,switch-down,"                       \
    "switch-up,cable-down,cable-up,port-changed,fabric-changed,job-fabric]"

static const struct command_option options[] = {[AFTER] = {"after", "N"},
                                                [FOLLOW] = {"follow", NULL},
                                                [KIND] = {"kind", KINDS_KNOWN},
                                                [JOB] = {"job", "JOB"},
                                                {0}};

/* The fabric manager's words may be in the detail. */
static void print_line(const struct mcast_event *event)
{
    const bool of_job = event->cluster && event->job;
    char vnis[32], number[24], has[96] = "";
    view_numbers(event->vnis, event->vni_count, vnis, sizeof vnis);
    if (event->state)
        snprintf(has, sizeof has, "  number %llu, %u node%s, VNIs %s, %u addresses",
                 (unsigned long long)event->number, event->node_count,
                 event->node_count == 1 ? "" : "s", vnis, event->addresses);
    char *text =
        memory_format("%-24s %c%-11s %s%s%s%s%s%s", event->time ? event->time : "-",
                      event->fatal ? '!' : ' ', event->event, event->cluster ? event->cluster : "-",
                      of_job ? "/" : "", of_job ? event->job : "", has, event->detail ? "  " : "",
                      event->detail ? event->detail : "");
    plain_make(text);
    (void)snprintf(number, sizeof number, "%llu ", (unsigned long long)event->seq);
    if (plain_width(NARROW) < NARROW)
        (void)plain_wrapped(plain_width(NARROW), 0, number, text);
    else
        printf("%9s %s\n", number, text);
    free(text);
}

static int print_event(const struct mcast_event *event, void *data)
{
    const struct call *call = data;
    if (call->json)
        puts(event->json);
    else if (event->gap_to > 0)
        printf("       …  events %llu to %llu are no longer kept\n",
               (unsigned long long)event->gap_from, (unsigned long long)event->gap_to);
    else
        print_line(event);
    if (call->given[FOLLOW])
        fflush(stdout);
    return ferror(stdout) ? 1 : 0;
}

static int run_events(struct call *call)
{
    struct mcast_event_filter filter = MCAST_EVENT_FILTER_INIT;
    const char *kinds[KINDS_MAX + 1];
    uint64_t after = 0;
    if (command_number(call, AFTER, 0, INT64_MAX, &after) < 0)
        return MCAST_USAGE;
    if (call->given[JOB] && !jobid_plain(call->given[JOB], call->job, sizeof call->job))
        return command_misused(call, "--job %.80s: a job id", call->given[JOB]);
    char *text = strdup(call->given[KIND] ? call->given[KIND] : "");
    if (call->given[KIND] && !command_split(text, kinds, KINDS_MAX)) {
        free(text);
        return command_misused(call, "--kind %.80s: kinds of events with commas between them",
                               call->given[KIND]);
    }
    filter.kinds = call->given[KIND] ? kinds : NULL;
    filter.job = call->given[JOB] ? call->job : NULL;
    /* MCAST_CLUSTER alone says whose the jobs are: what concerns all clusters is shown, too. */
    if (call->given[JOB] || call->cluster != getenv("MCAST_CLUSTER"))
        filter.cluster = call->cluster;
    int rc = mcast_events_filtered(call->handle, after, call->given[FOLLOW] ? MCAST_FOLLOW : 0,
                                   &filter, print_event, call, &call->error);
    free(text);
    const int printed = command_finish();
    return rc < 0 ? rc : printed;
}

const struct command command_events = {"events",
                                       "list events, and follow new ones",
                                       COMMAND_NO_ARGUMENTS,
                                       COMMAND_CONNECTED,
                                       options,
                                       .run = run_events};
