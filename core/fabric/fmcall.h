/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/secret.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The calls that the core wants made at the fabric manager, and what can come of one
 * (docs/fabric-manager.md, "Jobs"). The core decides, fmapi carries out and decodes. */

enum fmcall_kind {
    FMCALL_NONE = 0,
    FMCALL_RESERVE, /* POST   /fabric/collectives/jobs */
    FMCALL_CHECK,   /* GET    /fabric/collectives/jobs/<name> */
    FMCALL_RELEASE, /* DELETE /fabric/collectives/jobs/<name> */
    /* What cleans up after one step (F19), under the job's session token or the login. */
    FMCALL_STEPS,    /* GET    /fabric/collectives/jobs/<name>: the trees of its steps */
    FMCALL_END_STEP, /* PATCH  /fabric/collectives/jobs/<name>: the trees of one step go */
    FMCALL_END_TREE, /* DELETE /fabric/collectives/multicasts/<id> */
    /* What a relayed job asks for itself (core/relay/), under its session token. */
    FMCALL_JOIN,  /* POST   /fabric/collectives/multicasts: a tree is made */
    FMCALL_LEAVE, /* DELETE /fabric/collectives/multicasts/<id> */
};

/* What a call is about. */
struct fmcall_about {
    const char *name;    /* of the job at the fabric manager; not for END_TREE, JOIN, LEAVE */
    uint32_t addresses;  /* for RESERVE, as "mcastLimit" */
    const char *step;    /* for END_STEP: step_id_valid */
    unsigned tree;       /* for END_TREE and LEAVE: below FMCALL_TREES */
    const char *body;    /* for JOIN: the request, JSON */
    struct secret token; /* the job's session token; none: the login. Not in the request. */
};

/* Ordered by what the core may conclude. "Acted" is whether the fabric manager did what was asked.
 */
enum fmcall_outcome {
    FM_OK = 1, /* 2xx, for RESERVE with a usable sessionToken, which CHECK may lack: acted */
    FM_GONE,   /* its own 404: there is no such job (for RELEASE, CHECK, STEPS and END_STEP) or tree
                */
    FM_EXISTS, /* 409 to RESERVE: the name is taken; to JOIN and LEAVE: not yet: not acted */
    FM_DENIED, /* another 4xx (403, 409 to CHECK or RELEASE, its own 404 to RESERVE), 507: a
                  definite no: not acted */
    FM_BUSY, /* 408, 425, 429, 500, 502, 503, 504, any other answer that tells nothing, a body that
                cannot be understood: may have acted; the link is alive */
    FM_TIMEOUT,      /* no answer in time: may act even later, for as long again */
    FM_BROKEN,       /* the connection broke after the request may have left: may have acted */
    FM_UNREACHED,    /* no connection, TLS or name resolution failed: surely not acted */
    FM_UNAUTHORIZED, /* 401, or 403 to the list, and a fresh login did not help: not acted */
    FM_REFUSED,      /* 401 or 403 to a job's session token: it does not open this, or nothing any
                        more: not acted. Says nothing about the login or the link. */
    FM_NOT_ROUTED, /* 404, or 2xx to RELEASE, END_STEP and END_TREE, not in the fabric manager's own
                      form: a gateway answered, or the path is wrong: says nothing about the
                      object; may have acted, for as little is known */
};

/* What FM_OK of JOIN brings. Borrowed. */
enum { FMCALL_ROOT_SIZE = sizeof "00:00:00:00:00:00" };

struct fmcall_tree {
    uint16_t id;      /* below FMCALL_TREES */
    const char *root; /* the NIC that is its root: six groups of two digits; "": none, or nothing
                         that can be one */
};

/* What FM_OK of STEPS brings: the steps that have trees, and these. Borrowed, all of it. */
struct fmcall_step {
    const char *step; /* step_id_valid */
    const uint16_t *trees;
    size_t tree_count; /* 1 or more */
};

enum { FMCALL_TREES = 8192 }; /* the ids of trees are below it (docs/fabric-manager.md) */

struct fmcall_steps {
    const struct fmcall_step *steps;
    size_t count;   /* at most FMCALL_TREES, for no tree is listed twice */
    size_t skipped; /* steps and trees that cannot be ours: names and ids that are not valid, or
                       that came twice */
};

/* "reserve", "check", "release", "steps", "end-step", "end-tree", "join", "leave" */
const char *fmcall_kind_word(enum fmcall_kind kind);
const char *fmcall_outcome_word(enum fmcall_outcome outcome); /* "ok", "gone", … */
/* The same as a cause, for who may not read the fabric manager's own words: these may name a job of
 * another user. 0: a login did not succeed. */
const char *fmcall_outcome_cause(enum fmcall_outcome outcome);

/* STEPS, END_STEP and END_TREE. */
bool fmcall_is_cleanup(enum fmcall_kind kind);

/* JOIN and LEAVE. */
bool fmcall_is_relayed(enum fmcall_kind kind);

/* Whether the request may still be acted on, or may have been, without our knowing. */
static inline bool fmcall_unsure(enum fmcall_outcome outcome)
{
    return outcome == FM_BUSY || outcome == FM_TIMEOUT || outcome == FM_BROKEN ||
           outcome == FM_NOT_ROUTED;
}
