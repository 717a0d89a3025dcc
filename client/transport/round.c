/* SPDX-License-Identifier: Apache-2.0 */
/* Which of several brokers is asked (B7). */

#include "client/text.h"
#include "client/transport/broker.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static unsigned index_of(const struct broker *broker, const struct request *request)
{
    return (unsigned)(request->endpoint - broker->peer.endpoints.list);
}

static int64_t least(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

/* How long this one of several is waited for. The time that the broker itself may take for the
 * answer (wait_ms) is not shared among them. */
static void set_times(const struct broker *broker, struct request *request, int64_t now)
{
    const unsigned count = broker->peer.endpoints.count;
    const struct call *call = &request->call;
    const int64_t limit_ms =
        request->limit_ms > 0 ? request->limit_ms - call->wait_ms : REQUEST_TIMEOUT_MS;
    const bool again = request->round.again;
    if (count == 1) {
        request->connect_ms = REQUEST_CONNECT_MS;
        return;
    }
    request->connect_ms = least(again ? LONG_CONNECT_MS : SHORT_CONNECT_MS, limit_ms / count + 1);
    if (!again)
        request->give_up_ms = now + call->wait_ms + least(SHORT_ANSWER_MS, limit_ms / count + 1);
    else if (call->each)
        request->give_up_ms = now + REQUEST_TIMEOUT_MS;
}

/* The one that all ask, unless this request has asked it: another one found out meanwhile. */
void round_choose(struct broker *broker, struct request *request, int64_t now)
{
    const struct endpoints *all = &broker->peer.endpoints;
    unsigned chosen = all->current;
    if (request->round.asked & 1U << chosen)
        chosen = endpoints_next(all->count, chosen, -1, request->round.asked);
    assert(chosen < all->count);
    request->endpoint = &all->list[chosen];
    set_times(broker, request, now);
}

void round_found(struct broker *broker, const struct request *request)
{
    if (!round_is_elsewhere(&request->error))
        broker->peer.endpoints.current = index_of(broker, request);
}

bool round_is_elsewhere(const struct mcast_error *error)
{
    if (error->code == MCAST_REFUSED)
        return error->status == 503 &&
               (strcmp(error->word, "not-leader") == 0 || strcmp(error->word, "stopping") == 0);
    return error->code == MCAST_UNREACHABLE || error->code == MCAST_UNCLEAR;
}

/* Why this one was not it, in a few words; returns the place of the one that it says leads, or -1.
 */
static int note_cause(struct broker *broker, const struct request *request)
{
    char *cause = broker->causes[index_of(broker, request)], leader[ENDPOINT_BASE_MAX];
    const struct mcast_error *error = &request->error;
    int hint = -1;
    if (error->status == 0)
        snprintf(cause, CAUSE_SIZE, "%s", trouble_cause(&request->trouble));
    else if (!problem_leader(&request->answer, leader, sizeof leader))
        snprintf(cause, CAUSE_SIZE, "%s", error->word[0] ? error->word : "it is not mcastd");
    else if ((hint = endpoints_index(&broker->peer.endpoints, leader)) >= 0)
        snprintf(cause, CAUSE_SIZE, "%s", error->word);
    else
        snprintf(cause, CAUSE_SIZE, "%.20s: the leader %.100s is not listed", error->word, leader);
    return hint;
}

/* Beside what the last one said: what each did. When one of them may serve it soon, then the last
 * one's word that it will not does not count; else this is what has a next step in it. */
static void explain_round(const struct broker *broker, struct request *request)
{
    const struct endpoints *all = &broker->peer.endpoints;
    const bool later = request->round.later;
    const unsigned told =
        later ? request->round.failed : request->round.failed & ~(1U << index_of(broker, request));
    struct mcast_error error = request->error;
    char list[sizeof error.text - 144] = "";
    size_t length = 0;
    unsigned left = (unsigned)__builtin_popcount(told);
    for (unsigned i = 0; i < all->count; i++) {
        char one[ENDPOINT_BASE_MAX + CAUSE_SIZE];
        if (!(told & 1U << i))
            continue;
        const int share = (int)((sizeof list - length) / left--) - 3;
        snprintf(one, sizeof one, "%s: %s", endpoint_name(&all->list[i]), broker->causes[i]);
        length += (size_t)snprintf(list + length, sizeof list - length, "%s%.*s",
                                   length > 0 ? "; " : "", share, one);
    }
    if (later && !mcast_later(&error, NULL))
        fault_set_word(&error, MCAST_UNREACHABLE, "no-connection", "%s", list);
    if (later)
        fault_set_word(&request->error, error.code, error.word,
                       "none of the %u brokers serves this now (%s); asking again does no harm; is "
                       "mcastd running there? (systemctl status mcastd)",
                       all->count, list);
    else if (list[0])
        fault_set_word(&request->error, error.code, error.word, "%.320s; nor %s", error.text, list);
    request->error.status = error.status;
    request->error.retry_after = error.retry_after;
}

/* Notes that this one is not it. False: each has been asked, and the error says so. The list is
 * then begun again with one that at least answers. */
bool round_goes_on(struct broker *broker, struct request *request, int64_t now)
{
    struct endpoints *all = &broker->peer.endpoints;
    struct round *round = &request->round;
    const unsigned here = index_of(broker, request), bit = 1U << here;
    const int hint = note_cause(broker, request);
    const bool answered = request->error.status != 0;
    round->asked |= bit;
    round->failed |= bit;
    round->later |= mcast_later(&request->error, NULL);
    if (!answered && !round->again && now >= request->connect_by_ms)
        round->cut |= bit;
    unsigned next = endpoints_next(all->count, here, hint, round->asked);
    if (next == all->count && round->cut && !round->again) {
        round->again = true;
        round->asked = ~round->cut;
        next = endpoints_next(all->count, here, hint, round->asked);
    }
    const bool over = next == all->count || now >= request->deadline_ms;
    if (over)
        next = answered ? here : (here + 1) % all->count;
    if (hint >= 0 || all->current == here)
        all->current = next;
    if (over || request->streamed) {
        if (!request->streamed)
            explain_round(broker, request);
        *round = (struct round){0};
        return false;
    }
    request->attempts = 0;
    request->fresh = false;
    broker->width = 1;
    return true;
}
