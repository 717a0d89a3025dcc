/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/core.h"

/* The link to the fabric manager: being logged in there, with its list compared (F13, F20). */

struct link {
    enum link_state state;
    int64_t since_ms;      /* up, or not up */
    int64_t lost_ms;       /* when it went down last */
    int64_t retry_ms;      /* down: when to log in again */
    int64_t relist_ms;     /* up: when to compare again; INT64_MAX: never */
    int64_t unanswered_ms; /* up: compare once by then, as a RESERVE that was not answered may be
                              acted on late */
    int64_t listed_ms;     /* last whole list since the start; 0: none */
    uint64_t losses;       /* how often it was up and went down */
    uint32_t failures;     /* attempts in a row that did not come up */
    uint32_t timeouts;     /* calls in a row that got no answer, late or broken */
    int64_t heard_ms;      /* when it answered anything last */
    bool silent;           /* a start was given up, and nothing was answered all the time it waited:
                              no other one waits for it before it answers */
    bool logging_in;       /* a login is under way: one at a time, in any state */
    bool login_again;      /* it is for another URL by now: log in again when it ends */
    uint32_t url;          /* index of the URL in use, or to be tried next */
    uint64_t list;         /* id of the list under way, 0: none */
    int64_t list_began_ms; /* when that, or the last one, began */
    uint32_t last_errors[FM_URLS_MAX]; /* what each URL's trouble was, as a hash; so that only a new
                                          one is logged */
    enum fmcall_outcome fault; /* what came of what the error is about; 0: a login, or nothing */
    char error[ERROR_TEXT_SIZE];
    /* RESERVEs in a row that gave no addresses although it is up, and why the last did not */
    uint32_t reserves_failed;
    int64_t reserves_failing_ms; /* since when */
    enum fmcall_outcome reserve_fault, list_fault;
    char reserve_error[ERROR_TEXT_SIZE];
    char list_error[ERROR_TEXT_SIZE]; /* up: why the last list was not whole; "": it was */
};

void link_start(struct core *core);
void link_login_done(struct core *core, const struct core_event *event);
void link_lost(struct core *core, enum fmcall_outcome fault, const char *words);
/* Its error without the fabric manager's own words; "" when there is none. */
const char *link_cause(const struct core *core);
/* What an operator does to have it back; "" while it is up. */
const char *link_advice(const struct link *link);
void link_came_up(struct core *core);
void link_tick(struct core *core);
int64_t link_deadline(const struct core *core);
void link_schedule_list(struct core *core); /* a list has ended: when the next one is due */
void link_list_within(struct core *core, int64_t wait_ms); /* while up: compares again by then */
void link_retry_now(struct core *core); /* while down: what was wrong may be mended */
void link_probe(struct core *core, const struct core_event *event);
void link_list_unanswered(struct core *core); /* … some time after a RESERVE was not answered */
/* Finds the URL in use in the new configuration, which is not yet in force. Whether it is another
 * one; then, when it is in force, link_move. */
bool link_configure(struct core *core, const struct core_config *config);
void link_move(struct core *core);
/* Whether a job may wait for it: up and answering, or coming up for the first time since it last
 * was. */
bool link_worth_waiting(const struct link *link);
/* It has answered, whatever. */
void link_heard(struct core *core);
/* A start is given up for which it was called, and that has waited since then. */
void link_given_up(struct core *core, int64_t waits_ms);
