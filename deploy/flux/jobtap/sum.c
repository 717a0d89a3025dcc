/* SPDX-License-Identifier: Apache-2.0 */
#include "deploy/flux/jobtap/sum.h"

#include <errno.h>
#include <flux/hostlist.h>
#include <stdlib.h>
#include <string.h>

/* It is sent when all nodes have spoken, else after so many seconds without a further word, or so
 * many in all; the broker has so many milliseconds to answer. */
enum { QUIET_S = 1, LONGEST_S = 10, ANSWER_MS = 5000 };

struct sum {
    struct jobtap *jobtap;
    struct sum **place; /* where it is kept until it is sent; then NULL */
    uint64_t number;
    struct hostlist *nodes;
    const flux_msg_t **words; /* to be answered */
    size_t count, room;
    flux_watcher_t *timer;
    double began; /* reactor's time */
    char job[];
};

/* Answers all words. text: NULL: the broker has them; else why not. */
static void end_sum(struct sum *sum, const char *text)
{
    flux_t *flux = sum->jobtap->flux;
    for (size_t i = 0; i < sum->count; i++) {
        const int rc = text ? flux_respond_error(flux, sum->words[i], EAGAIN, text)
                            : flux_respond(flux, sum->words[i], NULL);
        if (rc < 0)
            flux_log_error(flux, "mcast: %s: a node gets no answer", sum->job);
        flux_msg_decref(sum->words[i]);
    }
    if (sum->place)
        *sum->place = NULL;
    flux_watcher_destroy(sum->timer);
    hostlist_destroy(sum->nodes);
    free(sum->words);
    free(sum);
}

/* Of a reservation that is not found no node's word is waited for. */
static void on_taken(const struct mcast_outcome *outcome, void *data)
{
    const bool over =
        outcome->code == MCAST_NOT_FOUND && strcmp(outcome->error->word, "not-found") == 0;
    end_sum(data, outcome->code == 0 || over ? NULL : outcome->error->text);
}

static void send_sum(struct sum *sum)
{
    struct jobtap *jobtap = sum->jobtap;
    struct mcast_error error = {0};
    flux_watcher_stop(sum->timer);
    *sum->place = NULL;
    sum->place = NULL;
    hostlist_sort(sum->nodes);
    hostlist_uniq(sum->nodes);
    char *nodes = hostlist_encode(sum->nodes);
    int rc = nodes ? mcast_async_set_timeout(jobtap->once, ANSWER_MS, &error) : MCAST_NOMEM;
    if (rc == 0)
        rc = mcast_async_nodes_clean(jobtap->once, jobtap->cluster, sum->job, sum->number, nodes,
                                     "destroyed", on_taken, sum, NULL, &error);
    free(nodes);
    if (rc < 0)
        end_sum(sum, error.text);
}

static void on_quiet(flux_reactor_t *reactor, flux_watcher_t *watcher, int events, void *data)
{
    (void)reactor, (void)watcher, (void)events;
    send_sum(data);
}

static struct sum *create_sum(struct jobtap *jobtap, const char *job, uint64_t number)
{
    flux_reactor_t *reactor = flux_get_reactor(jobtap->flux);
    struct sum *sum = calloc(1, sizeof *sum + strlen(job) + 1);
    if (!sum)
        return NULL;
    sum->jobtap = jobtap;
    sum->number = number;
    sum->began = flux_reactor_now(reactor);
    strcpy(sum->job, job);
    if ((sum->nodes = hostlist_create()) &&
        (sum->timer = flux_timer_watcher_create(reactor, QUIET_S, 0, on_quiet, sum)))
        return sum;
    hostlist_destroy(sum->nodes);
    free(sum);
    return NULL;
}

static bool add_word(struct sum *sum, const char *node, const flux_msg_t *word)
{
    if (sum->count == sum->room) {
        const size_t room = sum->room ? 2 * sum->room : 16;
        const flux_msg_t **words = realloc(sum->words, room * sizeof *words);
        if (!words)
            return false;
        sum->words = words;
        sum->room = room;
    }
    /* A list of nodes would be more than a node's own word. */
    if (node[strcspn(node, "[],")] != '\0' || hostlist_append(sum->nodes, node) != 1)
        return false;
    sum->words[sum->count++] = flux_msg_incref(word);
    return true;
}

bool sum_add(struct jobtap *jobtap, struct sum **place, const struct sum_word *said,
             const flux_msg_t *word)
{
    struct sum *sum = *place;
    if (!sum) {
        sum = *place = create_sum(jobtap, said->job, said->number);
        if (!sum)
            return false;
        sum->place = place;
    }
    if (sum->number != said->number || !add_word(sum, said->node, word)) {
        if (sum->count == 0)
            end_sum(sum, NULL);
        return false;
    }
    if (sum->count == said->node_count) {
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
