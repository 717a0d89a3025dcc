/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "core/act.h"

void link_start(struct core *core);
void link_login_done(struct core *core, const struct core_event *event);
void link_lost(struct core *core, const char *words);
void link_came_up(struct core *core);
void link_tick(struct core *core);
int64_t link_deadline(const struct core *core);
void link_list(struct core *core);
void link_list_next(struct core *core); /* a list has ended: when the next one is due */
void link_list_within(struct core *core, int64_t wait_ms); /* while up: compares again by then */
/* Finds the URL in use in the new configuration, which is not yet in force. Whether it is another
 * one; then, when it is in force, link_move. */
bool link_configure(struct core *core, const struct core_config *config);
void link_move(struct core *core);
/* Whether a job may wait for it: up, or coming up for the first time since it last was. */
bool link_worth_waiting(const struct link *link);
