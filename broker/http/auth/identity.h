/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/config/config.h"
#include "broker/http/route.h"
#include "core/reservation/record.h"
#include "core/reservation/reservation.h"
#include "core/reservation/sharedvnis.h"
#include "base/error.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tokenproof;

/* Who a peer is (docs/security.md): the site's lists of users and nodes, and what they
 * make of what a peer has proved. Pure but for rights_create, which looks users up. */

enum proof_kind {
    PROOF_NONE,
    PROOF_SOCKET,      /* the kernel names the uid at the other end of the Unix socket */
    PROOF_CERTIFICATE, /* one of tls_client_ca's authorities names the holder of the key */
    PROOF_MUNGE,       /* a munged with our key named the uid that asked it */
    PROOF_BEARER,      /* a token of a job: acts for this job only */
    PROOF_PLUGIN,      /* the login of a cluster's Slurm (pluginlogin.h) */
};

/* What a peer has proved. No right follows from it but by rights_judge. */
struct proof {
    enum proof_kind kind;
    uint32_t uid;                   /* SOCKET, MUNGE */
    struct in_addr origin;          /* MUNGE: the host on which the credential was made */
    const struct tokenproof *token; /* BEARER; borrowed */
    const char *cluster;            /* PLUGIN: whose login it is; borrowed from the configuration */
    const char *const *names; /* CERTIFICATE: subject's CN, then DNS names; MUNGE: the node's of
                                 which it is root (origin.h). NULL-terminated and borrowed; or NULL
                               */
};

struct identity {
    struct proof proof;
    bool admin;
    bool metrics;      /* is named to read /metrics, and has no other right from that */
    bool shares;       /* may make shared VNIs of his own, and has no other right from that */
    uint64_t clusters; /* bit i: resource manager of cluster i of the rights */
    uint64_t node_of;  /* bit i: a node of cluster i */
    const char *node;  /* borrowed from the proof's names: the first that is a node's; or NULL */
};

enum { IDENTITY_TEXT_SIZE = 192 };

struct rights;

/* Resolves names to uids; borrows from config. NULL with a sentence in err that names the user that
 * does not exist. */
struct rights *rights_create(const struct config *config, struct error *err);
void rights_destroy(struct rights *rights); /* NULL is allowed */

/* Root over MUNGE has no role, whatever the lists say: the root of every host with the key
 * can make such a credential. It can be a node, as the holder of a certificate can. */
struct identity rights_judge(const struct rights *rights, const struct proof *proof);

/* Whether the peer may act as resource manager of the cluster; an admin may, of any. */
bool rights_manages(const struct rights *rights, const struct identity *identity,
                    const char *cluster);

/* Whether the peer is this node of this cluster (NULL: of any), and so may report for it. */
bool rights_is_node(const struct rights *rights, const struct identity *identity,
                    const char *cluster, const char *node);

/* The only cluster the peer is resource manager of, or NULL when there are none or several. */
const char *rights_only_cluster(const struct rights *rights, const struct identity *identity);

/* Whether the cluster, or any if it is NULL, has this node. */
bool rights_list_node(const struct rights *rights, const char *cluster, const char *node);

/* Whether a cluster of this name is configured. */
bool rights_knows(const struct rights *rights, const char *cluster);

/* The name of the cluster with this bit, or NULL: there are no more. */
const char *rights_cluster(const struct rights *rights, size_t index);

/* Whether the peer is an admin or a resource manager. */
bool identity_has_role(const struct identity *identity);

/* Whether the peer is the user with this uid. A name is no uid, and root over MUNGE is the root of
 * any host. */
bool proof_is_user(const struct proof *proof, uint32_t uid);

/* ---- what a peer may do: make a call at all, by its route's need; see a job; see an event ---- */

/* Whether what the peer shows is looked at for this route. anonymous: the site lets anyone read the
 * metrics. */
bool permit_looks(enum need need, bool anonymous);

/* NULL: the peer may make the call. Else who may, for a 403: "only an admin may; see ..."; or one
 * of these, for a 401: it has no identity, no token of a job, no login of a cluster's Slurm.
 * cluster, node: of the path, where the need is about them; else "". */
const char *permit_lacks(const struct rights *rights, const struct identity *identity,
                         enum need need, const char *cluster, const char *node, bool anonymous);
extern const char PERMIT_NO_IDENTITY[], PERMIT_NO_TOKEN[], PERMIT_NO_LOGIN[];

/* How much of a reservation the peer may see. */
enum job_sight {
    JOB_HIDDEN,
    JOB_OPEN, /* all but its environment and token: a node that it runs on, or may */
    JOB_WHOLE /* its owner, the cluster's resource manager, an admin */
};
enum job_sight permit_job(const struct rights *rights, const struct identity *identity,
                          const struct reservation *reservation);

/* Whether the peer may see what a node has told of itself: an admin, the resource manager of a
 * cluster that has it, the node. */
bool permit_node(const struct rights *rights, const struct identity *identity, const char *node);

/* How much of a shared VNI the peer may see (B1). */
enum share_sight {
    SHARE_HIDDEN,
    SHARE_USER,    /* on its list: what he has to know to use it */
    SHARE_MANAGER, /* resource manager of a cluster that its list names: all of it */
    SHARE_OWNER    /* or an admin: all of it, and he may change it */
};
enum share_sight permit_share(const struct rights *rights, const struct identity *identity,
                              const struct shared_vni *one);

/* Whether a subscriber may see this event. One about no job, also an alarm of another cluster, may
 * concern all admins and resource managers; but of a shared VNI only its owner, admins and the
 * clusters that it names, and of a node only who may see the node. Users see those of their own
 * jobs, and the bearer of a token those of its reservation: this life of the job, and no other's.
 */
bool permit_event(const struct rights *rights, const struct identity *identity,
                  const struct event_record *event);

/* Who was seen, and how: "uid 5588 through the Unix socket", "certificate \"node17\"", "MUNGE
 * credential of uid 5588 from 10.0.0.7". Cut to fit; returns out. */
const char *identity_format(const struct proof *proof, char *out, size_t size);
