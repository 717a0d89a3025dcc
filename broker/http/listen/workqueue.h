/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_BROKER_HTTP_LISTEN_WORKQUEUE_H
#define MCAST_BROKER_HTTP_LISTEN_WORKQUEUE_H

#include <stdint.h>
#include <sys/queue.h>

/* The workers of a server that have work. Shared ones (managers and admins, and all of TCP) have
 * their turns in the order in which they came. The others serve one user each, and the user who was
 * served least recently has the next turn, however many workers his connections fill: a user with
 * many requests delays only himself (B8). */

enum { WORKQUEUE_SHARED = 0 };

struct httpworker;
TAILQ_HEAD(worker_list, httpworker);

struct workqueue {
    struct worker_list all; /* workers of the server, with work or without; the caller's */
    struct worker_list shared, users;
    uint64_t turns; /* of users so far */
};

void workqueue_init(struct workqueue *queue);

/* A worker without work is this user's, or shared, from now on. */
void workqueue_assign(struct workqueue *queue, struct httpworker *worker, uint64_t user);

/* The worker has work. Nothing when that is known. */
void workqueue_add(struct workqueue *queue, struct httpworker *worker);

/* The next shared one, or the next user's; NULL: none has work. */
struct httpworker *workqueue_take_shared(struct workqueue *queue);
struct httpworker *workqueue_take_user(struct workqueue *queue);

#endif
