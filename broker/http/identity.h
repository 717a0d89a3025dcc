#ifndef MCAST_BROKER_HTTP_IDENTITY_H
#define MCAST_BROKER_HTTP_IDENTITY_H

#include "core/config.h"
#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Who may do what (api.md): the site's lists of users, resolved once, and what they make of one
 * peer. Nothing here looks up a user per request. */

struct identity {
    bool known; /* the peer has proved who it is */
    bool admin;
    uint32_t uid;      /* only when known */
    uint64_t clusters; /* bit i: resource manager of cluster i of the rights */
};

struct rights;
struct http_cluster;

/* Resolves names to uids. NULL with a sentence in err that names the user nobody knows. */
struct rights *rights_create(const char *const *admins, const struct http_cluster *clusters,
                             size_t cluster_count, struct error *err);
void rights_destroy(struct rights *rights); /* NULL is allowed */

/* What a peer of this uid, proved by the Unix socket, is. */
struct identity rights_of_uid(const struct rights *rights, uint32_t uid);

/* Whether the peer may act as resource manager of the cluster; an admin may, of any. */
bool rights_manages(const struct rights *rights, const struct identity *identity,
                    const char *cluster);

/* The only cluster the peer is resource manager of, or NULL when there are none or several. */
const char *rights_only_cluster(const struct rights *rights, const struct identity *identity);

#endif
