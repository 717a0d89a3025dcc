/* SPDX-License-Identifier: Apache-2.0 */
#include "core/inventory/nodenics.h"
#include "core/requests/requests.h"

#include <assert.h>

/* A node tells its NICs (P2): saved when they differ from what is known, and published (P5). What a
 * node tells first is no event: all nodes of a new machine boot together. */

enum { WORDS_SIZE = 300 };

/* May it change, and has it a place? Else it is answered. */
static bool may_save(struct core *core, const struct core_event *event, struct nodenics *known)
{
    assert(event->kind == CORE_NODE_NICS);
    const char *node = event->u.nics.node;
    if (!known && !nodenics_has_room(&core->nics)) {
        core_answer(
            core, event->ticket, ANSWER_TOO_MANY_NODES, NULL,
            core_text(core,
                      "the NICs of %zu nodes are known, and no more find room: delete those "
                      "that are no more (mcastctl nodes --forget NAME), and correct 'nodes' "
                      "of the clusters",
                      core->nics.count));
        return false;
    }
    if (!known || nodenics_allow(known, core->now_ms))
        return true;
    if (!known->limited)
        core_trace(core, TRACE_WARNING,
                   "node %s: its NICs change too often -> its reports are taken once in ten "
                   "minutes; see to its links",
                   node);
    known->limited = true;
    core_answer(
        core, event->ticket, ANSWER_TOO_OFTEN, NULL,
        core_text(core,
                  "the NICs of node %.64s have changed too often; one change in ten minutes "
                  "is taken: report them again then",
                  node));
    return false;
}

void core_nics_report(struct core *core, const struct core_event *event)
{
    assert(event->kind == CORE_NODE_NICS);
    assert(nodenics_valid(event->u.nics.nics));
    const char *node = event->u.nics.node, *nics = event->u.nics.nics;
    struct nodenics *known = nodenics_find(&core->nics, node);
    const bool old = known && event->u.nics.order < known->order;
    char words[WORDS_SIZE] = "";
    enum event_kind kind = EVENT_NONE;
    if (known)
        kind = nodenics_compare(known->nics, nics, words, sizeof words);
    if (!old && (!known || kind != EVENT_NONE)) {
        if (!may_save(core, event, known))
            return;
        core_save_record(core, (struct record){.kind = RECORD_NODE_NICS,
                                               .u.nics = {.node = node,
                                                          .nics = nics,
                                                          .order = event->u.nics.order,
                                                          .changed_ms = core->now_ms}});
        if (kind != EVENT_NONE) {
            const char *text = core_text(core, "node %s: %s", node, words);
            core_publish_node(core, kind, node, text);
            concern_node(core, node, text);
        }
        core_trace(core, kind != EVENT_NONE ? TRACE_NOTICE : TRACE_DEBUG, "node %s: %s -> saved",
                   node, kind != EVENT_NONE ? words : "tells its NICs for the first time");
    } else if (!old) { /* not saved, but what comes late is older than it */
        known->order = event->u.nics.order;
    }
    core_answer(core, event->ticket, ANSWER_REPORTED, NULL, NULL);
}

void core_nics_forget(struct core *core, const struct core_event *event)
{
    assert(event->kind == CORE_FORGET_NICS);
    const char *node = event->u.nics.node;
    if (!nodenics_find(&core->nics, node)) {
        core_answer(
            core, event->ticket, ANSWER_NOT_FOUND, NULL,
            core_text(core, "node %.64s has told no NICs, so there is nothing to forget", node));
        return;
    }
    core_save_record(core, (struct record){.kind = RECORD_NODE_NICS_GONE, .u.nics.node = node});
    core_trace(core, TRACE_NOTICE, "node %s: an administrator had its NICs forgotten", node);
    core_answer(core, event->ticket, ANSWER_FORGOTTEN, NULL, NULL);
}
