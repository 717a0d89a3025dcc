/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/inventory/inventory.h"
#include "fmapi/fmapi.h"

#include <sys/queue.h>

/* struct inventory_reader as its parts see it: reader.c, when a round begins, and its life;
 * round.c, what a round does; work.c, what of that a worker thread does; around.c, what is asked of
 * the core. */

enum {
    TICK_MS = 500,
    PARALLEL = 4,                 /* requests at once */
    BATCH = 64,                   /* documents that are decoded in one go */
    PAGE_LINKS = 200,             /* asked for in one page */
    PAGES_MAX = 16384,            /* of one list */
    DOCUMENT_BYTES_MAX = 1 << 20, /* of one that was asked for singly: BATCH of them wait at once */
    READ_BYTES_MAX = 1 << 28,
    READ_MS_MAX = 15 * 60 * 1000,
    REQUEST_MS = 30000, /* for one request: nothing waits for it */
    YIELD_MS = 20,      /* while calls for jobs wait, */
    YIELDS_MAX = 50,    /* and so often at most */
    SELDOM = 10,        /* polls between tries in vain, or of lists without versions */
    CHANGES_MAX = 64,   /* told one by one */
    LINK_SIZE = DOCUMENTS_LINK_MAX + 64,
};

/* A body that waits to be decoded. */
struct body {
    char *link; /* of a single document; NULL: a page */
    char *data;
    size_t length;
};

/* One kind of documents, as it was last read whole. */
struct kept {
    struct documents_stamp stamp;
    bool whole;
};

/* What was asked for with a request. */
struct asked {
    LIST_ENTRY(asked) entry;
    struct inventory_reader *reader;
    uint64_t serial; /* of what was being read then */
    char *link;      /* of a single document; else NULL */
};

enum work { WORK_STAMP, WORK_PAGE, WORK_SINGLES, WORK_MAP, WORK_DROP };

/* What is to be freed. The thread has allocated most of it: where the loop frees a part of that,
 * the allocator may give megabytes of the thread's back to the kernel, which takes milliseconds
 * (G11).
 */
struct garbage {
    struct documents replaced, unused; /* by what was adopted; in a round that was given up */
    struct fabricmap *map;
    char **bare;
    size_t bare_count;
};

/* One round: from the first request until the map is in force, or was given up. */
struct round {
    enum documents_kind kind; /* that is being read */
    bool stamping;            /* only whether it has changed is asked */
    bool plain;               /* a list without documents was asked for */
    bool fresh[DOCUMENTS_KINDS];
    struct kept kept[DOCUMENTS_KINDS];
    size_t pages, links, first_links; /* of the first page */
    char *next;                       /* page to be asked for; NULL: none */
    char **bare;                      /* links whose documents are to be asked for one by one */
    size_t bare_count, bare_next, bare_capacity;
    unsigned yields;
    uint64_t begun_ns, bytes, worker_ns;
    struct documents read;
};

struct inventory_reader {
    uv_loop_t *loop;
    struct inventory_surroundings around;
    const struct config *config;
    struct fmapi *api; /* NULL: none yet; of its own, so that no job waits for its connections */
    char *url;         /* that it was made for */
    bool renew;        /* the options have changed since */
    unsigned closing_apis; /* of before */
    uv_timer_t timer;
    uint64_t due_ms; /* by the loop's clock */
    LIST_HEAD(asked_list, asked) asked;
    unsigned in_flight; /* of these */
    bool active;
    uint64_t serial; /* answers to questions of an earlier one are not wanted any more */
    struct round round;

    uv_work_t work; /* one at a time; meanwhile the thread alone has what is below: */
    bool working;
    enum work what;
    struct body bodies[BATCH];
    size_t body_count;
    struct documents_page page;
    struct fabricmap *made;
    struct fabric_change changes[CHANGES_MAX];
    size_t change_count;
    struct fabric_sum sum;
    struct error fault;
    struct garbage garbage;

    struct fabricmap *map; /* in force; NULL: none */
    struct documents documents;
    struct kept kept[DOCUMENTS_KINDS];
    bool shrunk; /* the last round would have taken away most of it */
    struct inventory_facts facts;
    char error[ERROR_TEXT_SIZE], partition_error[ERROR_TEXT_SIZE]; /* "": none */

    unsigned open; /* parts that have yet to close; 0: alive */
    void (*closed)(void *arg);
    void *closed_arg;
};

/* Whatever comes next in the round that is under way; with the first request of it, too. */
void round_go_on(struct inventory_reader *reader);
/* What it has is dropped; the next one is due after so many polls. */
void round_end(struct inventory_reader *reader, int64_t polls);
/* A request of before is answered no more. */
void round_forget(struct asked *asked);
/* A part has closed; the thread's, too. */
void reader_part_closed(struct inventory_reader *reader);

/* Base URL of the fabric manager in use; NULL: the link is not up. */
const char *inventory_url(const struct inventory_reader *reader);
/* Whether calls for jobs wait for the fabric manager, or are under way. */
bool inventory_yields(const struct inventory_reader *reader);
/* All VNI partitions, after each whole answer (B2); whether they are to be asked for again,
 * whatever their version. */
void inventory_tell_partitions(struct inventory_reader *reader);
bool inventory_wants_partitions(const struct inventory_reader *reader);

/* Begins what the thread is to do; round_worked is called when it is done. */
void inventory_work(struct inventory_reader *reader, enum work what);
void round_worked(struct inventory_reader *reader);
void inventory_drop(struct garbage *garbage);
/* The reader is closed: all of the round that is under way, or was. */
void round_free(struct inventory_reader *reader);
