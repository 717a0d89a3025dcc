/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/kills/history.h"
#include "tests/system/kills/vnis.h"
#include "tests/system/rig/prng.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* One place for jobs, which live one after the other, as its resource manager's notes have them:
 * what was asked, what was acknowledged (I2, I7). */

enum job_life {
    JOB_NONE,     /* none, or released by an answer */
    JOB_ASKED,    /* a reserve is to be acknowledged */
    JOB_LIVE,     /* it was */
    JOB_LEAVING,  /* a release is to be acknowledged */
    JOB_FORSAKEN, /* it ended, and nobody tells but the next syncs, which do not name it */
};

enum { JOB_ID_SIZE = 32, JOB_BODY_SIZE = 160, JOB_PATH_SIZE = 96 };

struct job {
    uint32_t index; /* among all places */
    const char *cluster;
    enum job_life life;
    unsigned lives;
    char id[JOB_ID_SIZE];
    char body[JOB_BODY_SIZE]; /* of its reserve */
    bool canceled;            /* its release was sent while its reserve was under way */
    bool created;             /* some reserve of this life was answered 201 */
    bool lost_answer;         /* some request of this life was not answered, or not definitely */
    bool not_found;           /* the last release was answered 404 */
    bool forgotten;           /* the fabric manager was made to lose it */
    bool endangered;          /* it may have: an old state of it was put back */
    bool watched; /* its release was sent while crowd_watch was on, and is not answered */
    unsigned reserves, releases, looks; /* requests under way */
    unsigned releases_sent;
    unsigned named_live; /* the life that the sync under way names as live; 0: it names none */
    int64_t again_ns;    /* not to be repeated before */
    json_t *told;        /* the first answer of this life, without its warning; NULL: none yet */
};

/* Of an answer, or of what the broker shows. */
uint64_t job_number(const json_t *answer);
const char *job_hwcoll(const json_t *answer); /* hwcoll.state, never NULL */
const char *job_token(const json_t *answer);  /* NULL: none */

void job_path(const struct job *job, char path[JOB_PATH_SIZE]);

/* A new life begins to be asked for: another body, and mostly another id. */
void job_begin(struct job *job, struct prng *prng, bool new_id);
/* The answer of a reserve, or of a GET, is what was acknowledged: noted the first time, compared
 * from then on. Takes the answer over. */
void job_told(struct job *job, json_t *answer, struct vnis *vnis, struct history *history,
              int64_t heard_ns);
/* A release is about to be sent. */
void job_let_go(struct job *job, struct vnis *vnis, int64_t now_ns);
/* It is over. */
void job_end(struct job *job, struct history *history);
