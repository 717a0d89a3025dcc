/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/leadership.h"

/* etcd.h without a cluster: questions are answered when and as the test says. There is one. */

struct fakeetcd {
    int fd;
    struct leader_ask asked; /* LEADER_NOTHING: none is unanswered */
    unsigned questions;
    bool answered; /* answer is to be taken */
    struct etcd_answer answer;
    int64_t extended_ms; /* the store's last deadline; 0: none */
    struct store *store; /* what store_etcd_open gives; NULL: a sentence */
    bool automatic;      /* each question is answered well, and every campaign won, by itself */
    int64_t ttl_ms;      /* that it grants */
    unsigned changes;    /* etcd_change */
    const struct etcd_standbys *look; /* with the next answers; or NULL */
};
extern struct fakeetcd fakeetcd;

void fakeetcd_open(void); /* lets go of what was before */
void fakeetcd_close(void);

/* The question under way is answered so. url: of who leads. */
void fakeetcd_say(enum leader_outcome outcome, uint64_t holder, const char *url);

/* Turns the loop until *condition is at least `least`, as gate_await. */
void fakeetcd_await(uv_loop_t *loop, const unsigned *condition, unsigned least);
