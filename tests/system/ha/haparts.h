/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/system/ha/haschedule.h"

/* What faults are made of. */

unsigned ha_dice(struct ha_context *context, uint32_t sides);
/* So many answers that the next thing happens at a moment that the dice choose; or so long. */
void ha_go_on(struct ha_context *context);
void ha_go_on_for(struct ha_context *context, unsigned from_ms, unsigned to_ms);
/* This fault cannot be played here. */
void ha_skip(struct ha_context *context, const char *why);

/* Which broker leads, or will in a moment; one that does not. */
unsigned ha_leader(struct ha_context *context);
unsigned ha_standby(struct ha_context *context);
/* This one, which was just started, leads next, and all run again. */
void ha_let_lead(struct ha_context *context, unsigned broker);
/* To which member it sends. */
unsigned ha_member(struct ha_context *context, unsigned broker);
/* One that leads and has proxies on its links, and to which member most passes. */
unsigned ha_proxied_leader(struct ha_context *context, unsigned *member);

/* A life of a broker, and what is to become of it. */
struct ha_wish {
    struct ha_context *context;
    int broker;
    unsigned life;
};
struct ha_wish ha_wish_of(struct ha_context *context, unsigned broker);
bool ha_another_leads(void *wish);
bool ha_none_leads(void *wish);
bool ha_lives_again(void *wish); /* it has ended, and was started */
/* It is a fault, in these words, when it never holds. */
void ha_await(struct ha_context *context, bool (*holds)(void *wish), struct ha_wish *wish,
              const char *words);
void ha_await_another(struct ha_context *context, struct ha_wish wish);
