/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

/* Jobs that have their VNIs already, given by another than this broker, and name them when
 * they reserve (F1): those that are free are theirs, and no others. */

struct job;
struct request;
struct reserve_request;
struct sim;
struct told;

/* Which VNIs the new life names, if any; from dice of its own. */
void named_draw(const struct sim *sim, struct job *job);
void named_event(const struct request *request, struct reserve_request *reserve);
void named_granted(struct sim *sim, const struct request *request, const struct told *told);
void named_refused(struct sim *sim, const struct request *request, const struct told *told);
