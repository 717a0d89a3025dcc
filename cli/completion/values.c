/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/completion/values.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { PRINTED_MAX = 500, SEEN_MAX = 20000, LIMIT_US = 350 * 1000, WORD_MAX = 255 };

struct values {
    const char *begin;
    size_t printed, seen;
};

/* Whatever hangs: a name service, a connection, the broker. What was printed is there. */
static void leave(int number)
{
    (void)number;
    _exit(MCAST_EXIT_NO_ANSWER);
}

static void set_limit(void)
{
    const struct itimerval limit = {.it_value.tv_usec = LIMIT_US};
    (void)setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    (void)signal(SIGALRM, leave);
    (void)setitimer(ITIMER_REAL, &limit, NULL);
}

/* Non-zero: that is enough. A word that a shell would take for more than a word is left out. */
static int take(struct values *values, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "._/@:+-";
    if (word && word[0] && strlen(word) <= WORD_MAX && word[strspn(word, plain)] == '\0' &&
        strncmp(word, values->begin, strlen(values->begin)) == 0) {
        puts(word);
        values->printed++;
    }
    values->seen++;
    return values->printed == PRINTED_MAX || values->seen == SEEN_MAX;
}

static int take_job(const struct mcast_reservation *reservation, void *data)
{
    return take(data, reservation->job);
}

static int take_node(const char *node, const char *json, void *data)
{
    (void)json;
    return take(data, node);
}

static int take_clusters(struct call *call, struct values *values)
{
    char *json = NULL;
    const int rc = mcast_status(call->handle, &json, &call->error);
    json_t *status = rc == 0 ? json_loads(json, 0, NULL) : NULL;
    const json_t *cluster;
    size_t i;
    json_array_foreach(json_object_get(status, "clusters"), i, cluster)
    {
        if (take(values, command_text(cluster, "name")) != 0)
            break;
    }
    json_decref(status);
    free(json);
    return rc;
}

int values_print(struct call *call, const char *kind, const char *begin)
{
    struct values values = {.begin = begin};
    struct mcast_filter filter = MCAST_FILTER_INIT;
    filter.cluster = call->cluster && call->cluster[0] ? call->cluster : NULL;
    call->retry_timeout = NULL; /* who has pressed a key waits */
    set_limit();
    int rc = command_open(call);
    if (rc == 0 && strcmp(kind, "JOB") == 0)
        rc = mcast_list(call->handle, &filter, take_job, &values, &call->error);
    else if (rc == 0 && strcmp(kind, "NODE") == 0)
        rc = mcast_nodes(call->handle, filter.cluster, take_node, &values, &call->error);
    else if (rc == 0 && strcmp(kind, "CLUSTER") == 0)
        rc = take_clusters(call, &values);
    mcast_close(call->handle);
    const int printed = command_finish();
    return rc < 0 ? (int)mcast_exit_status(&call->error) : printed;
}
