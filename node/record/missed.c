/* SPDX-License-Identifier: Apache-2.0 */
#include "node/record/missed.h"

#include "base/memory.h"
#include "node/jobsvc.h"
#include "node/record/launched.h"
#include "node/record/report.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* In one turn, as a user may make all nodes miss many; when there are more, the next run of tend
 * goes on. */
enum { RUN_MAX = 200 };

/* ---- When ---- */

static const char turn_file[] = "missed"; /* when the next one comes, by note_clock_ms */

static int64_t draw_up_to(int64_t most)
{
    uint32_t chance = 0;
    (void)!getrandom(&chance, sizeof chance, GRND_NONBLOCK);
    return chance % (most + 1);
}

static bool keep_turn(const struct node *node, int64_t at_ms)
{
    char text[24];
    struct error err;
    snprintf(text, sizeof text, "%" PRId64 "\n", at_ms);
    if (statedir_write(&node->dir, turn_file, text, &err) == 0)
        return true;
    say("%s", err.text);
    return false;
}

/* And draws the next one. All nodes may have booted together, or been refused together: the first
 * turn is within an interval, the others half of one to a whole one apart. */
static bool is_turn(const struct node *node, int64_t now_ms)
{
    const int64_t every = node->settings.missed_ms;
    char *text = NULL;
    if (!node->settings.report || every == 0)
        return false;
    int64_t at_ms = INT64_MAX;
    if (statedir_read(&node->dir, turn_file, &text, NULL) == 0) {
        at_ms = strtoll(text, NULL, 10);
        free(text);
    }
    const bool known = at_ms <= now_ms + every; /* and not of an earlier boot */
    if (known && at_ms > now_ms)
        return false;
    return keep_turn(node,
                     now_ms + (known ? every / 2 + draw_up_to(every / 2) : draw_up_to(every))) &&
           known;
}

/* ---- Which ---- */

struct missed {
    const struct node *node;
    size_t count;
    struct claim *claims;
};

static int take(const struct mcast_reservation *reservation, void *data)
{
    struct missed *missed = data;
    struct claim *claim = &missed->claims[missed->count];
    struct error err;
    assert(missed->count < RUN_MAX);
    if (claim_from_reservation(claim, reservation, NULL, reservation->job, missed->node->name,
                               &err) == 0 &&
        !claim->active && claim->vni_count > 0)
        missed->count++;
    return 0;
}

static int list_missed(struct mcast *broker, void *arg, struct mcast_error *error)
{
    struct missed *missed = arg;
    struct mcast_filter filter = MCAST_FILTER_INIT;
    filter.cluster = missed->node->cluster;
    filter.node = missed->node->name;
    filter.silent = true;
    filter.limit = RUN_MAX;
    return mcast_list(broker, &filter, take, missed, error);
}

/* ---- Each ---- */

static bool has_vni_of(void *arg, const struct nic *nic, const struct cxi_svc_desc *service)
{
    const struct claim *claim = arg;
    bool has = false;
    (void)nic;
    for (unsigned int i = 0; i < claim->vni_count; i++)
        has |= service_has_vni(service, claim->vnis[i]);
    return has;
}

/* The spool may have been lost since services were made. Negative: one may be here. */
static int check_nics(struct node *node, struct claim *claim, struct error *err)
{
    const uint32_t least = node->settings.min_nics;
    char text[SERVICE_TEXT_SIZE];
    int rc = node_find_nics(node, err);
    if (rc < 0 && (rc != ERROR_NOT_FOUND || least > 0))
        return rc;
    if (node->nics.count < least || node->nics.gone[0])
        return error_set(err, ERROR_IO,
                         "the node has %u NICs (node.conf: min_nics = %u), and one that is gone "
                         "may come back with a service",
                         node->nics.count, least);
    for (unsigned int i = 0; i < node->nics.count; i++) {
        struct nic *nic = &node->nics.at[i];
        if (!nic->device || nic_refresh(&node->nics, nic) < 0)
            return error_set(err, ERROR_IO, "%s cannot be asked for its services: %s", nic->name,
                             strerror(-nic->failure));
        const struct cxi_svc_desc *service = nic_service(nic, has_vni_of, claim);
        if (service)
            return error_set(err, ERROR_REFUSED,
                             "%s has service %u (%s), which is not noted as made for it; see "
                             "mcast-node list, and clean --all",
                             nic->name, service->svc_id, service_describe(service, text));
    }
    return 0;
}

/* The caller has the job's lock, so no prolog is between its document and its note. First it is on
 * disk that no document of this reservation is taken, then the broker is told. */
static bool tell_one(struct node *node, const struct claim *claim, struct mcast_error *error)
{
    struct note note;
    struct error err;
    if (ended_add(&node->dir, claim, &err) < 0) {
        snprintf(error->text, sizeof error->text, "%s", err.text);
        return false;
    }
    jobsvc_intend(node, claim, &note);
    note.state = NOTE_GONE;
    note_owe(&note);
    return report_send(node, &note, error) != REPORT_KEPT;
}

/* How many. */
static size_t tell_each(struct node *node, struct missed *missed)
{
    struct mcast_error error;
    struct error err, why;
    size_t held = 0, told = 0;
    bool taken = true;
    for (size_t i = 0; i < missed->count && taken; i++) {
        struct claim *claim = &missed->claims[i];
        struct note note;
        if (!jobsvc_try_lock(node, claim))
            continue; /* a hook works on it */
        if (note_read(&node->dir, claim->number, &note, NULL) != ERROR_NOT_FOUND) {
            /* Its hooks report, or tend does. Of whichever job: numbers may be given twice. */
        } else if (check_nics(node, claim, &err) == 0) {
            told += taken = tell_one(node, claim, &error);
        } else if (held++ == 0) {
            (void)error_set(&why, err.code, "job %s: %s", claim->name, err.text);
        }
        jobsvc_unlock(node, claim);
    }
    if (held > 0)
        say("warning: VNIs of %zu released job%s wait on for this node, which does not remember "
            "%s: %s",
            held, held == 1 ? "" : "s", held == 1 ? "it" : "them", why.text);
    if (!taken)
        say("warning: that nothing of released jobs is here is told at the next turn: %s",
            error.text);
    return told;
}

void missed_tell(struct node *node)
{
    struct mcast_error error;
    struct missed missed = {.node = node};
    const int64_t now_ms = note_clock_ms();
    if (!is_turn(node, now_ms))
        return;
    missed.claims = memory_zeroed(RUN_MAX * sizeof *missed.claims);
    if (node_ask(node, list_missed, &missed, 0, false, &error) < 0)
        say("warning: which released jobs wait for this node is asked at the next turn: %s",
            error.text);
    else if (tell_each(node, &missed) == RUN_MAX) /* there may be more */
        (void)keep_turn(node, now_ms);
    free(missed.claims);
}
