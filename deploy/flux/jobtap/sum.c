/* SPDX-License-Identifier: Apache-2.0 */
#include "deploy/flux/jobtap/sum.h"

#include <errno.h>
#include <flux/hostlist.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

/* It is sent when all nodes have spoken, else after so many seconds without a further word, or so
 * many in all; the broker has so many milliseconds to answer. */
enum { QUIET_S = 1, LONGEST_S = 10, ANSWER_MS = 5000 };

struct sum {
    struct jobtap *jobtap;
    struct sum **place; /* where it is kept until it is sent; then NULL */
    uint64_t number;
    struct hostlist *nodes;
    struct mcast_traffic_sum *traffic; /* of those that told it; NULL: none */
    struct flux_msglist *words;        /* to be answered */
    flux_watcher_t *timer;
    double began; /* reactor's time */
    char job[];
};

/* Answers all words. text: NULL: the broker has them; else why not. */
static void end_sum(struct sum *sum, const char *text)
{
    flux_t *flux = sum->jobtap->flux;
    const flux_msg_t *word;
    while (sum->words && (word = flux_msglist_pop(sum->words))) {
        if ((text ? flux_respond_error(flux, word, EAGAIN, text) : flux_respond(flux, word, NULL)) <
            0)
            flux_log_error(flux, "mcast: %s: a node gets no answer", sum->job);
        flux_msg_decref(word);
    }
    if (sum->place)
        *sum->place = NULL;
    flux_watcher_destroy(sum->timer);
    hostlist_destroy(sum->nodes);
    mcast_traffic_sum_free(sum->traffic);
    flux_msglist_destroy(sum->words);
    free(sum);
}

static void send_nodes(struct sum *sum);

/* Of a reservation that is not found no node's word is waited for. */
static void on_taken(const struct mcast_outcome *outcome, void *data)
{
    const bool over =
        outcome->code == MCAST_NOT_FOUND && strcmp(outcome->error->word, "not-found") == 0;
    struct sum *sum = data;
    if (outcome->code == MCAST_REFUSED && outcome->error->status == 422 && sum->traffic) {
        mcast_traffic_sum_free(sum->traffic); /* an older broker: once more, without */
        sum->traffic = NULL;
        send_nodes(sum);
        return;
    }
    end_sum(data, outcome->code == 0 || over ? NULL : outcome->error->text);
}

static void send_nodes(struct sum *sum)
{
    struct jobtap *jobtap = sum->jobtap;
    struct mcast_error error = {0};
    char *nodes = hostlist_encode(sum->nodes);
    int rc = nodes ? mcast_async_set_timeout(jobtap->once, ANSWER_MS, &error) : MCAST_NOMEM;
    if (rc == 0)
        rc = mcast_async_nodes_traffic(jobtap->once, jobtap->cluster, sum->job, sum->number, nodes,
                                       "destroyed", sum->traffic, on_taken, sum, NULL, &error);
    free(nodes);
    if (rc < 0)
        end_sum(sum, error.text);
}

static void send_sum(struct sum *sum)
{
    flux_watcher_stop(sum->timer);
    *sum->place = NULL;
    sum->place = NULL;
    hostlist_sort(sum->nodes);
    hostlist_uniq(sum->nodes);
    send_nodes(sum);
}

/* One that makes no sense is left out: the node's word counts all the same. */
static void add_traffic(struct sum *sum, const struct sum_word *said)
{
    if (said->traffic[0] && !sum->traffic)
        sum->traffic = mcast_traffic_sum_create();
    if (said->traffic[0] && sum->traffic &&
        mcast_traffic_sum_add(sum->traffic, said->node, said->traffic, NULL) < 0)
        flux_log(sum->jobtap->flux, LOG_WARNING, "mcast: %s: what %s has counted is not understood",
                 sum->job, said->node);
}

static void on_quiet(flux_reactor_t *reactor, flux_watcher_t *watcher, int events, void *data)
{
    (void)reactor, (void)watcher, (void)events;
    send_sum(data);
}

static struct sum *create_sum(struct jobtap *jobtap, struct sum **place, const char *job,
                              uint64_t number)
{
    flux_reactor_t *reactor = flux_get_reactor(jobtap->flux);
    struct sum *sum = calloc(1, sizeof *sum + strlen(job) + 1);
    if (!sum)
        return NULL;
    sum->jobtap = jobtap;
    sum->place = place;
    sum->number = number;
    sum->began = flux_reactor_now(reactor);
    strcpy(sum->job, job);
    sum->words = flux_msglist_create();
    sum->nodes = hostlist_create();
    sum->timer = flux_timer_watcher_create(reactor, QUIET_S, 0, on_quiet, sum);
    if (sum->words && sum->nodes && sum->timer)
        return *place = sum;
    end_sum(sum, NULL);
    return NULL;
}

bool sum_add(struct jobtap *jobtap, struct sum **place, const struct sum_word *said,
             const flux_msg_t *word)
{
    struct sum *sum = *place ? *place : create_sum(jobtap, place, said->job, said->number);
    if (!sum)
        return false;
    /* A list of nodes would be more than a node's own word. */
    if (sum->number != said->number || said->node[strcspn(said->node, "[],")] != '\0' ||
        hostlist_append(sum->nodes, said->node) != 1 || flux_msglist_append(sum->words, word) < 0) {
        if (flux_msglist_count(sum->words) == 0)
            end_sum(sum, NULL);
        return false;
    }
    add_traffic(sum, said);
    if ((uint32_t)flux_msglist_count(sum->words) == said->node_count) {
        send_sum(sum);
        return true;
    }
    const double now = flux_reactor_now(flux_get_reactor(jobtap->flux));
    if (now - sum->began < LONGEST_S - QUIET_S)
        flux_timer_watcher_reset(sum->timer, QUIET_S, 0);
    flux_watcher_start(sum->timer);
    return true;
}

void sum_give_up(struct sum *sum)
{
    if (sum)
        end_sum(sum, "mcastd's plugin sees to the job no more");
}
