/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_CLIENT_MCAST_H
#define MCAST_CLIENT_MCAST_H

/* libmcast: asks mcastd for a job's VNIs and multicast addresses, and gives them back.
 *
 * Every call blocks until it has its answer or its time is over (mcast_set_timeout); the form for
 * event loops is at the end of this file. One thread at a time uses a handle; only mcast_stop may
 * be called from anywhere. Handles share nothing.
 *
 * Functions return MCAST_OK (0), or a negative enum mcast_code with a sentence for people in
 * *error. `error` may always be NULL. Strings are UTF-8 and NUL-terminated.
 *
 * Structs that the caller fills begin with their size (…_INIT sets it); structs that the library
 * fills are allocated by it, so both can grow. Words (states, kinds of events) get new values over
 * time: a program must tolerate those that it does not know. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define MCAST_API __attribute__((visibility("default")))
#else
#define MCAST_API
#endif

#define MCAST_DEFAULT_SOCKET "/run/mcastd/mcastd.sock"

/* name, value, when it occurs */
#define MCAST_CODES(X)                                                                             \
    X(REFUSED, -1, "the broker said no; the text is the broker's, with cause and next step")       \
    X(USAGE, -2, "an argument is not allowed; nothing was sent")                                   \
    X(NOT_FOUND, -3, "the broker knows no such job")                                               \
    X(UNREACHABLE, -4, "no connection, a connection that broke, or no answer in time")             \
    X(UNCLEAR, -5, "what answered is not mcastd, or of another version")                           \
    X(NOMEM, -6, "memory is exhausted")                                                            \
    X(STOPPED, -7, "mcast_stop was called, or a request without waiting was given up")

enum mcast_code {
    MCAST_OK = 0,
#define MCAST_ENUM_(name, value, when) MCAST_##name = value,
    MCAST_CODES(MCAST_ENUM_)
#undef MCAST_ENUM_
};

/* What went wrong. Never contains a token. */
struct mcast_error {
    int code;       /* MCAST_OK or one of enum mcast_code */
    int status;     /* HTTP status, 0 when there was no answer */
    char word[48];  /* stable word: the broker's `code`, or "no-connection", "broken", "timeout",
                       "tls" (no trust, or no common ground), "munge" (no credential), "denied"
                       (the socket may not be used), "untrusted" (who serves it is not the
                       broker), "libcurl" (not installed, but needed for a broker over TCP) */
    char field[64]; /* the field of the request that was refused, or "" */
    char text[508]; /* one sentence, without a full stop at its end */
    unsigned retry_after; /* seconds that the broker wants to be left alone for; 0: not told */
};

/* Whether the error says "not now" and nothing about what was asked: no answer, or the broker is
 * starting, stopping, busy, or cannot save anything. Then repeat the request (that never does
 * harm), not before *after_ms milliseconds, which the broker asked for (0: it did not; after_ms may
 * be NULL), and with pauses that grow. False: the same request would fail alike. */
MCAST_API bool mcast_later(const struct mcast_error *error, unsigned *after_ms);

/* Exit status of mcastd's programs. The last one: "not now", or no broker that can be trusted. */
enum mcast_exit {
    MCAST_EXIT_OK,
    MCAST_EXIT_REFUSED,
    MCAST_EXIT_USAGE,
    MCAST_EXIT_NOT_FOUND,
    MCAST_EXIT_NO_ANSWER
};

MCAST_API enum mcast_exit mcast_exit_status(const struct mcast_error *error);

struct mcast; /* connections to a broker, or to several of which one leads, kept between calls */

/* url: "unix:/path", "/path", "https://host:port", or "http://host:port" where the host is this
 * machine; or up to eight of them, separated by commas or blanks, of brokers that share one ledger.
 * NULL: the environment variable MCAST_URL, or else MCAST_DEFAULT_SOCKET. Nothing is sent yet. *out
 * is to be closed with mcast_close. MCAST_UNREACHABLE, "libcurl": it is needed for a broker over
 * TCP, and cannot be loaded.
 *
 * Of several brokers the first is asked, and the one that led is remembered. Where it does not
 * lead, stops, or cannot be reached, the call goes on to the one that it says leads, if that is
 * among them, or else to the next, each once, within the time for one answer. No address is ever
 * asked that is not in the list. */
MCAST_API int mcast_open(struct mcast **out, const char *url, struct mcast_error *error);

MCAST_API void mcast_close(struct mcast *handle); /* takes NULL, keeps errno */

/* Milliseconds for one answer, from 1; the default is 30,000. Of these, five seconds for a
 * connection that does not open. Of several brokers each has its part of them: first 0.3 s for a
 * connection and 10 s for an answer; then those that were given up so have 1.5 s, and the rest.
 * Streams of events have no limit. */
MCAST_API int mcast_set_timeout(struct mcast *handle, unsigned milliseconds,
                                struct mcast_error *error);

/* Called before the first pause of a call. It must not use the handle. */
typedef void mcast_wait_fn(const struct mcast_error *why, void *data);

/* The retry timeout: for so many milliseconds from its beginning a call is retried while the answer
 * is "not now" (mcast_later), with pauses of up to a second, or as long as the broker asks for. The
 * last request begins before that, and has its own time limit. 0, the default: no retry. Streams of
 * events are retried until they are connected. on_wait may be NULL. */
MCAST_API int mcast_set_retry_timeout(struct mcast *handle, unsigned milliseconds,
                                      mcast_wait_fn *on_wait, void *data,
                                      struct mcast_error *error);
/* Its older name. */
MCAST_API int mcast_set_patience(struct mcast *handle, unsigned milliseconds,
                                 mcast_wait_fn *on_wait, void *data, struct mcast_error *error);

/* Credentials over TCP, where the broker is always verified. What is not set comes from the
 * environment, at the first call. A Unix socket needs none. Files are read for each connection, so
 * that they can be renewed; what is wrong with one shows at the next call, as MCAST_USAGE. */

/* The CA of the broker's certificate: a PEM file, or a folder as openssl rehash makes it. NULL:
 * MCAST_CACERT, or else the system's store. */
MCAST_API int mcast_set_cacert(struct mcast *handle, const char *path, struct mcast_error *error);

/* The client certificate and its key: PEM files, the key not readable by others. Both NULL:
 * MCAST_CERT and MCAST_KEY, or else none. */
MCAST_API int mcast_set_certificate(struct mcast *handle, const char *cert, const char *key,
                                    struct mcast_error *error);

enum mcast_munge {
    MCAST_MUNGE_AUTO, /* where there is no client certificate, and libmunge and munged are there */
    MCAST_MUNGE_ALWAYS, /* and without a credential nothing is sent: MCAST_UNREACHABLE, "munge" */
    MCAST_MUNGE_NEVER,
};

/* Whether each request carries a MUNGE credential; the default is MCAST_MUNGE_AUTO. socket: of
 * munged; NULL: MCAST_MUNGE_SOCKET, or else libmunge's own. */
MCAST_API int mcast_set_munge(struct mcast *handle, enum mcast_munge use, const char *socket,
                              struct mcast_error *error);

/* Who may serve the broker's Unix socket: root, this process's own user, the owner of the socket's
 * folder if only he and root can put a socket there, and this user, by name or uid. Another one is
 * sent nothing: MCAST_UNREACHABLE, "untrusted". NULL: MCAST_SERVER_USER, if it is set. */
MCAST_API int mcast_set_server_user(struct mcast *handle, const char *user,
                                    struct mcast_error *error);

/* The name of this host in node lists of jobs: with a MUNGE credential root of the host may see the
 * jobs that run on it and report for it, if the broker finds the credential's origin among the
 * name's addresses. NULL: none. MCAST_USAGE: no node's name. */
MCAST_API int mcast_set_node(struct mcast *handle, const char *node, struct mcast_error *error);

/* A token of one job, for the calls that need one (mcast_own and those after it), and sent in no
 * other: the fabric manager's session token or one of the broker's. It is copied. NULL:
 * MCAST_TOKEN, at the first such call. MCAST_USAGE: it is no token. */
MCAST_API int mcast_set_token(struct mcast *handle, const char *token, struct mcast_error *error);

/* Ends the call under way, and every later one, with MCAST_STOPPED. Safe in signal handlers and
 * from other threads, as long as the handle is not being closed. */
MCAST_API void mcast_stop(struct mcast *handle);

MCAST_API const char *mcast_version(void); /* "0.1.0" */

/* ---- Reservations ---------------------------------------------------------------------------- */

/* A launch document: all that a job's nodes need before its first process, in one opaque line. The
 * resource manager carries it to the nodes, where mcast-node prolog --launch uses it without asking
 * the broker. It is bound to the job's reservation, owner and node list. */
struct mcast_launch {
    size_t size;
    int64_t restart; /* how often the resource manager has restarted the job; -1: it does not count.
                        A node that knows the count refuses a document of another start */
    uint32_t lifetime_s; /* how long it is good for, up to 7 days; 0: a day */
    /* By mcast_launch only: these must be the reservation's, or MCAST_REFUSED, "conflict". */
    const char *interconnect;               /* NULL: not compared */
    uint32_t tasks_per_node, cpus_per_task; /* 0: not compared */
    bool env; /* with the environment of the job's tasks in the answer; also within a reserve */
    bool addresses; /* with the addresses of the job's nodes, to be carried beside the document */
};

#define MCAST_LAUNCH_INIT                                                                          \
    {                                                                                              \
        sizeof(struct mcast_launch), -1, 0, NULL, 0, 0, false, false                               \
    }

struct mcast_request {
    size_t size;             /* of this struct, as the program was compiled */
    const char *cluster;     /* [a-z0-9_]{1,32} */
    const char *job;         /* 1–128 of [A-Za-z0-9._:@+-] */
    uint32_t uid;            /* the job's owner; must be set */
    uint32_t node_count;     /* instead of nodes, or to be checked against it; 0: not given */
    uint32_t cores_per_node; /* 0: not given */
    int32_t vni_count;       /* 0–4, or -1: as the site is configured */
    const char *nodes;       /* "elcap[1-128]", each once; or NULL: node_count */
    const char *hwcoll;      /* "auto", "on", "off", "required"; NULL: as configured */
    const char *const *traffic_classes; /* words, ended by NULL; NULL: as configured */
    const struct mcast_launch *launch;  /* with a launch document, for which nodes must be given;
                                           the answer then has no environment, unless launch->env;
                                           NULL: without */
    const char *interconnect; /* "slingshot", "omnipath", "none"; NULL: as the cluster's */
    uint32_t tasks_per_node, cpus_per_task; /* 0: not given */
    const char *profile;            /* of the site's: counts for what is not given above; or NULL */
    const char *const *shared_vnis; /* names of shared VNIs that the job is to have beside its own,
                                       at most 3 and 4 VNIs in all, ended by NULL; NULL: none */
    const uint16_t *vnis; /* that the running job has already, as another than this broker gave
                             them: 1 to 4, ended by 0; NULL: the broker chooses */
};

#define MCAST_REQUEST_INIT                                                                         \
    {                                                                                              \
        sizeof(struct mcast_request), NULL, NULL, UINT32_MAX, 0, 0, -1, NULL, NULL, NULL, NULL,    \
            NULL, 0, 0, NULL, NULL, NULL                                                           \
    }

struct mcast_variable {
    const char *name;  /* [A-Za-z_][A-Za-z0-9_]* */
    const char *value; /* any text; NULL, by mcast_env_inherit only: to be unset */
    bool secret;       /* belongs into the job's environment, and into no log or screen */
};

/* What a node has said of a released job that waits for it. */
struct mcast_waiting {
    const char *node;
    const char *state;    /* "lingering" or "created" */
    const char *services; /* "cxi0:12,…", or NULL */
};

struct mcast_reservation {
    const char *cluster;
    const char *job;
    uint64_t number; /* grows for ever, never used twice; 0 when gone */
    const char
        *state;   /* "active", "releasing"; "gone": released before, only its names are known */
    uint32_t uid; /* UINT32_MAX when it is not known: gone, or adopted from the fabric manager */
    uint32_t node_count;
    uint32_t cores_per_node;            /* 0: not told */
    const char *nodes;                  /* or NULL */
    const uint16_t *vnis;               /* vni_count of them: its own, then shared ones */
    size_t vni_count;                   /* 0–4 */
    const char *const *traffic_classes; /* words, ended by NULL */
    const char *created;                /* RFC 3339, with milliseconds */
    const char *released;               /* or NULL while active */
    const char *hwcoll_state; /* "reserved", "off", "ineligible", "denied", "timeout", "lost", … */
    const char *hwcoll_reason;        /* why it is not "reserved", or NULL */
    uint32_t hwcoll_addresses;        /* multicast addresses, 0 without */
    uint32_t hwcoll_min_nodes;        /* smallest job that gets some, 0 when there is no minimum */
    const char *warning;              /* what the job's owner should be told, or NULL */
    const struct mcast_variable *env; /* env_count of them; none in lists and after a release */
    size_t env_count;
    bool repeated; /* mcast_reserve: this very request had been granted before */
    /* Of a released job whose VNIs are quarantined until its nodes are clean. */
    const char *held_until;           /* RFC 3339: how long nodes that have said nothing are waited
                                         for; NULL: see held */
    uint32_t waiting_count;           /* nodes that are not known to be clean */
    uint32_t waiting_unheard;         /* of these, have said nothing at all */
    const char *const *waiting_nodes; /* names of some of the others, ended by NULL */
    /* In a list with filter.node: "named": by the job's node list; "reported": by the node, of a
     * job that named no nodes; "possible": of such a job, which may run anywhere. Else NULL. */
    const char *on_node;
    /* More of those that the VNIs are quarantined for. */
    uint32_t waiting_lingering;                  /* nodes on which services will not go */
    uint32_t waiting_created;                    /* nodes that only said that some were made */
    const struct mcast_waiting *waiting_reports; /* waiting_report_count of the two, by name */
    size_t waiting_report_count;
    const char *waiting_silent;   /* node list of those that said nothing; NULL: not told, as when
                                     the job named no nodes */
    uint32_t waiting_silent_more; /* of these, found no room in the list */
    bool held; /* its VNIs are quarantined, without held_until: until all its nodes have reported */
    const char *launch; /* its launch document, if that was asked for; else NULL */
    /* mcast_nodes_clean, which tells no more of it than its names, number, state and node_count. */
    uint32_t clean;           /* nodes that count as clean now */
    const char *lingering;    /* node list of those reported of on which services linger; or NULL */
    uint32_t lingering_more;  /* of these, found no room in the list */
    const char *interconnect; /* "slingshot", "omnipath", "none" */
    uint32_t tasks_per_node, cpus_per_task; /* 0: not told */
    const char *partition_key; /* on omnipath: "0x8001", held until held_until after the release;
                                  NULL: it has none */
    /* Of a job that makes its multicast trees through the broker: */
    const char *hwcoll_trees_known; /* "all": it has no other trees than, "some": it may have more
                                       than hwcoll_trees; NULL: it makes them without the broker */
    uint32_t hwcoll_trees;          /* each uses one of its addresses */
    const char *const *hwcoll_tree_steps; /* that have them, ended by NULL; none: not told, or more
                                             than a few; NULL: see hwcoll_trees_known */
    const char *origin; /* "plugin": Slurm's own plugin made it; "found", "claimed": it was found at
                           the fabric manager; NULL: a resource manager or its hooks */
    const char *profile;            /* that it was reserved with, or NULL */
    const char *const *shared_vnis; /* names of the last of vnis, ended by NULL; none also where
                                       they are not told: in lists, and to nodes */
    unsigned vnis_shared;       /* so many of vnis, the last ones, are shared: told to nodes, too */
    const char *node_addresses; /* with mcast_launch.addresses: a word that is carried beside
                                   launch, with a blank between them; NULL: see warning */
};

/* The same request again gets the same answer. *out (not NULL) is to be freed with
 * mcast_reservation_free. A job without multicast addresses runs as well, only slower: that is no
 * error, see hwcoll_state and warning. */
MCAST_API int mcast_reserve(struct mcast *handle, const struct mcast_request *request,
                            struct mcast_reservation **out, struct mcast_error *error);

/* Everything the job had is given back in the background, without waiting for the fabric manager.
 * MCAST_OK also for a job that is released already. out may be NULL. */
MCAST_API int mcast_release(struct mcast *handle, const char *cluster, const char *job,
                            struct mcast_reservation **out, struct mcast_error *error);

/* The same of the reservation with this number (not 0) alone. MCAST_REFUSED, "other-reservation":
 * another one has the job's name; nothing was released. MCAST_NOT_FOUND: none has it. A broker that
 * does not know the parameter refuses it. */
MCAST_API int mcast_release_number(struct mcast *handle, const char *cluster, const char *job,
                                   uint64_t number, struct mcast_reservation **out,
                                   struct mcast_error *error);

/* The launch document of a job that has a reservation with a node list. launch: NULL for the
 * defaults. The result's `launch` has it. */
MCAST_API int mcast_launch(struct mcast *handle, const char *cluster, const char *job,
                           const struct mcast_launch *launch, struct mcast_reservation **out,
                           struct mcast_error *error);

MCAST_API int mcast_show(struct mcast *handle, const char *cluster, const char *job,
                         struct mcast_reservation **out, struct mcast_error *error);

MCAST_API void mcast_reservation_free(struct mcast_reservation *reservation); /* takes NULL */

enum mcast_json {
    MCAST_JSON_SECRETS = 1, /* with the values of secret variables, else "***" stands for them */
    MCAST_JSON_INDENT = 2,  /* for people; else all in one line */
};

/* The broker's answer, with fields that this version does not know. The text is the caller's to
 * free(); NULL when memory is exhausted. */
MCAST_API char *mcast_reservation_json(const struct mcast_reservation *reservation, unsigned flags);

struct mcast_step {
    const char *step;
    const uint16_t *trees; /* tree_count of them, by their numbers at the fabric manager */
    size_t tree_count;
};

struct mcast_steps {
    const struct mcast_step *steps; /* step_count of them */
    size_t step_count;
    uint64_t skipped;     /* what the fabric manager listed and cannot be the job's */
    uint64_t unreachable; /* how many of them have names that no cleanup can give: their trees go
                             with the job */
};

/* The steps of a job that have multicast trees. wait_ms: for the fabric manager's answer (up to
 * 60,000), in addition to the handle's time limit; MCAST_REFUSED with the word "pending": it takes
 * longer, "given-up": there is none. *out is to be freed with mcast_steps_free. */
MCAST_API int mcast_steps(struct mcast *handle, const char *cluster, const char *job,
                          unsigned wait_ms, struct mcast_steps **out, struct mcast_error *error);

MCAST_API void mcast_steps_free(struct mcast_steps *steps); /* takes NULL */

/* As mcast_reservation_json; flags: MCAST_JSON_INDENT or 0. */
MCAST_API char *mcast_steps_json(const struct mcast_steps *steps, unsigned flags);

/* Callbacks of iterations: what they are given is valid during the call. They return 0 to go on, or
 * a positive number that ends the iteration and is its result. They must not use the handle. */
typedef int mcast_variable_fn(const struct mcast_variable *variable, void *data);
typedef int mcast_reservation_fn(const struct mcast_reservation *reservation, void *data);

/* The variables for the tasks of one step, in the broker's order. step: 1–512 printable characters
 * without space, quote or backslash (Slurm's number, Flux's job id path); NULL: none named. */
MCAST_API int mcast_env(struct mcast *handle, const char *cluster, const char *job,
                        const char *step, mcast_variable_fn *each, void *data,
                        struct mcast_error *error);

/* The names of all variables that are the broker's alone to set, in its order, ended by NULL: those
 * of Slingshot, and the keys of Omni-Path (FI_OPX_UUID, FI_PSM3_UUID, FI_OPX_PKEY, PSM3_PKEY). What
 * mcast_env does not name of them is to be unset, or the outer job's value would stay. It may name
 * others: settings of Omni-Path, which users set, too. */
MCAST_API const char *const *mcast_env_names(void);

/* Whether FI_CXI_COLL_FABRIC_MGR_CACERT can have this value on this machine: "yes", "no", or the
 * whole path of a file or folder that is there. With another path libfabric would try for ever. */
MCAST_API bool mcast_env_cacert_usable(const char *value);

/* The variables for the tasks of a step within a job, made from the job's own, without the broker:
 * all of mcast_env_names, and the settings of Omni-Path that are set, unchanged but for two.
 * FI_CXI_COLL_JOB_STEP_ID becomes the step; a CA that is not there becomes "yes", the system's
 * store, so that the token goes to no unverified server. From an environment without hardware
 * collectives all of FI_CXI_ are to be unset.
 *
 * environment: NAME=value, ended by NULL; NULL: that of this process. step: Flux's job id path,
 * which is taken as it is; Slurm's step (0, batch, and the numbers that stand for names); or, where
 * the inherited step is a path, a job id of the instance there, which is put below it. Flux's
 * hooked f is written f. MCAST_USAGE: the step is none, or only some variables of the outer job are
 * set; each was not called. */
MCAST_API int mcast_env_inherit(const char *const *environment, const char *step,
                                mcast_variable_fn *each, void *data, struct mcast_error *error);

/* What a job's nodes have counted on their NICs, as JSON text, the caller's to free(): GET
 * /v1/clusters/{cluster}/jobs/{job}/traffic; with cluster and job NULL that of the handle's token.
 * MCAST_NOT_FOUND: there is no such job, or not any more, or it is not the caller's. */
MCAST_API int mcast_job_traffic(struct mcast *handle, const char *cluster, const char *job,
                                char **json, struct mcast_error *error);

struct mcast_filter {
    size_t size;
    const char *cluster; /* NULL: of every cluster */
    const char *state;   /* "active", "releasing"; NULL: both */
    uint64_t limit;      /* 0: all */
    uint32_t uid;        /* UINT32_MAX: of every user */
    const char *node;    /* those that may have something on this node: [A-Za-z0-9_.-]{1,255}; NULL:
                            of every node. For admins, resource managers, and the node itself */
    uint64_t *hidden;    /* with node: receives how many more there are that the caller may not see;
                            NULL: not wanted */
    bool silent;         /* with node: only those that are over and wait for it, and of which it has
                            reported nothing; without their node lists */
};

#define MCAST_FILTER_INIT                                                                          \
    {                                                                                              \
        sizeof(struct mcast_filter), NULL, NULL, 0, UINT32_MAX, NULL, NULL, false                  \
    }

/* Every reservation that the filter (NULL: none) lets through and that the caller may see, by
 * growing number, fetched page by page: no snapshot, jobs may come and go meanwhile. */
MCAST_API int mcast_list(struct mcast *handle, const struct mcast_filter *filter,
                         mcast_reservation_fn *each, void *data, struct mcast_error *error);

/* ---- Nodes ----------------------------------------------------------------------------------- */

struct mcast_service {
    const char *device; /* [A-Za-z0-9_.-]{1,15}: "cxi0" */
    uint32_t id;        /* from 1 */
};

/* What the NICs of a node have counted between a job's prolog and its epilog. */
struct mcast_node_traffic {
    size_t size;
    uint64_t tx_octets, rx_octets, tx_packets, rx_packets; /* UINT64_MAX: it cannot count that */
    uint64_t paused;     /* cycles of the NICs' clocks; likewise */
    uint32_t seconds;    /* between them */
    uint32_t unclear;    /* NICs that are not in it: a counter went back; at most 16 */
    bool shared;         /* another job was there, too */
    const char *slowest; /* its NIC with the fewest octets, or NULL */
    uint64_t slowest_octets;
    const char *congested; /* that was paused longest, or NULL */
    uint64_t congested_paused;
};

#define MCAST_NODE_TRAFFIC_INIT                                                                    \
    {                                                                                              \
        sizeof(struct mcast_node_traffic), UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,         \
            UINT64_MAX, 0, 0, false, NULL, 0, NULL, 0                                              \
    }

struct mcast_node_report {
    size_t size;
    const char *cluster;
    const char *job;
    const char *node;  /* as it stands in the job's node list: [A-Za-z0-9_.-]{1,255} */
    const char *state; /* "created", "destroyed" (none is left), "lingering" (some are, still) */
    uint64_t number;   /* of the reservation, which says which life of the job is meant */
    const struct mcast_service *services; /* service_count of them, at most 16; or NULL */
    size_t service_count;
    uint64_t order; /* grows with each report of this node for this reservation: one that arrives
                       after a later one changes nothing. 0: whatever arrives last is believed */
    const uint16_t *vnis; /* vni_count of them, at most 4, for a broker that has lost the
                             reservation; or NULL */
    size_t vni_count;
    const struct mcast_node_traffic *traffic; /* of "destroyed" or "lingering"; or NULL */
};

#define MCAST_NODE_REPORT_INIT                                                                     \
    {                                                                                              \
        sizeof(struct mcast_node_report), NULL, NULL, NULL, NULL, 0, NULL, 0, 0, NULL, 0, NULL     \
    }

/* Which services a job has on a node. The VNIs of a released job stay quarantined until each of its
 * nodes has reported "destroyed". *releasing (NULL: not wanted): the job is released already.
 * MCAST_NOT_FOUND: there is no such reservation any more; MCAST_REFUSED, "vnis-given-back": its
 * VNIs are not this job's any more. After either, destroy services that were created at once. */
MCAST_API int mcast_report_node(struct mcast *handle, const struct mcast_node_report *report,
                                bool *releasing, struct mcast_error *error);

/* The same of many nodes at once, for a resource manager that knows of each of them that its epilog
 * ended: one request for a job, however many nodes it has. nodes: a node list, all of them nodes of
 * the job, which must have been reserved with one; number: of the reservation, as reserve answered;
 * state: "destroyed" or "lingering". What a node reports itself later counts again, and that its
 * services linger is ended by its own report only. out: see `clean` there; may be NULL.
 * MCAST_NOT_FOUND: there is no such reservation any more, nothing waits for these nodes; with
 * "no-such-path": the broker is too old. */
MCAST_API int mcast_nodes_clean(struct mcast *handle, const char *cluster, const char *job,
                                uint64_t number, const char *nodes, const char *state,
                                struct mcast_reservation **out, struct mcast_error *error);

/* What many nodes of a job have counted, summed by a resource manager that reports them at once. */
struct mcast_traffic_sum;
MCAST_API struct mcast_traffic_sum *mcast_traffic_sum_create(void);   /* NULL: no memory */
MCAST_API void mcast_traffic_sum_free(struct mcast_traffic_sum *sum); /* NULL is allowed */
/* Adds a node's, which the node has made by mcast_node_traffic_json (to be freed; NULL: no memory).
 * MCAST_USAGE: it is none. */
MCAST_API int mcast_traffic_sum_add(struct mcast_traffic_sum *sum, const char *node,
                                    const char *traffic, struct mcast_error *error);
MCAST_API char *mcast_node_traffic_json(const struct mcast_node_traffic *traffic);

/* A node has booted: what it reported with a lower order is over. order: higher than those of its
 * reports before the boot, lower than those after it, from 1. *reservations (NULL: not wanted): for
 * how many this ended something. MCAST_NOT_FOUND, "no-such-path": the broker is too old. */
MCAST_API int mcast_report_boot(struct mcast *handle, const char *node, uint64_t order,
                                uint64_t *reservations, struct mcast_error *error);

/* The same, and when that was: uptime_s: seconds since (CLOCK_BOOTTIME); booted_s: Unix time by
 * this machine's clock; 0: not known. Reservations that were released before then do not wait for
 * the node either, which must make no services by launch documents of before. MCAST_REFUSED with
 * status 422: the broker is too old. */
MCAST_API int mcast_report_boot_time(struct mcast *handle, const char *node, uint64_t order,
                                     int64_t uptime_s, int64_t booted_s, uint64_t *reservations,
                                     struct mcast_error *error);

/* A node's NICs, all of them: inventory is a JSON object, as PUT /v1/nodes/{node}/inventory takes
 * it. *json (NULL: not wanted) is the broker's answer, the caller's to free(): what it has now, of
 * a later report if this one has a lower "order". MCAST_NOT_FOUND, "no-such-path": the broker is
 * too old. MCAST_REFUSED, "changed-too-often": again in ten minutes. */
MCAST_API int mcast_report_inventory(struct mcast *handle, const char *node, const char *inventory,
                                     char **json, struct mcast_error *error);

/* What a node has told of its NICs, as JSON text (GET /v1/nodes/{node}/inventory), the caller's to
 * free(). For admins, resource managers of clusters that have the node, and the node.
 * MCAST_NOT_FOUND: it has told nothing. */
MCAST_API int mcast_node_inventory(struct mcast *handle, const char *node, char **json,
                                   struct mcast_error *error);

/* For administrators: this node is no more, so what it told of its NICs is forgotten, and its place
 * in the broker's table is free. A node that is there tells them again. MCAST_NOT_FOUND: it had
 * told nothing; "no-such-path" or MCAST_REFUSED, "method-not-allowed": the broker is too old. */
MCAST_API int mcast_forget_node(struct mcast *handle, const char *node, struct mcast_error *error);

/* For administrators: nothing on this machine uses VNIs of jobs that are over (it is off, or was
 * restarted), so none of them waits for it. reason: one line of 1–200 bytes, for log and events.
 * *reservations (NULL: not wanted): how many had waited. */
MCAST_API int mcast_fence(struct mcast *handle, const char *node, const char *reason,
                          uint64_t *reservations, struct mcast_error *error);

/* The same; *json is all that the broker answers (how many jobs are active on the node and stay
 * unchanged; whether it knows the node), the caller's to free(). */
MCAST_API int mcast_fence_json(struct mcast *handle, const char *node, const char *reason,
                               char **json, struct mcast_error *error);

/* ---- Shared VNIs ------------------------------------------------------------------------------
 */

/* A VNI that jobs of all clusters can have beside their own, by its name (mcast_request). */
struct mcast_vni_request {
    size_t size;
    const char *name;      /* 1–32 of [a-z0-9_.-] */
    uint32_t uid;          /* its owner, for administrators; UINT32_MAX: who asks */
    bool any_user;         /* jobs of every user may have it */
    const uint32_t *users; /* else user_count of them, beside the owner; or NULL */
    size_t user_count;
    const char *const *clusters; /* whose jobs may have it, ended by NULL; NULL: all */
    uint32_t lifetime_s;         /* how long it takes new jobs; 0: until it is removed */
};

#define MCAST_VNI_REQUEST_INIT                                                                     \
    {                                                                                              \
        sizeof(struct mcast_vni_request), NULL, UINT32_MAX, false, NULL, 0, NULL, 0                \
    }

/* Makes it; or changes lists and time of one that is there, to what the request says. Jobs that
 * have it keep it. *json: all that the broker tells of it (its VNI as "vni"), the caller's to
 * free(). MCAST_REFUSED: "forbidden", "conflict" (the name is another's), "too-many-shared-vnis",
 * "changed-too-often".
 */
MCAST_API int mcast_vni_create(struct mcast *handle, const struct mcast_vni_request *request,
                               char **json, struct mcast_error *error);

/* {"vnis":[…]}: those that the caller may see. */
MCAST_API int mcast_vni_list(struct mcast *handle, char **json, struct mcast_error *error);

/* MCAST_NOT_FOUND: there is none, or not for the caller. */
MCAST_API int mcast_vni_show(struct mcast *handle, const char *name, char **json,
                             struct mcast_error *error);

/* MCAST_REFUSED, "in-use": jobs that run have it; with when_unused it takes no new jobs instead,
 * and is removed when no job has it. */
MCAST_API int mcast_vni_remove(struct mcast *handle, const char *name, bool when_unused,
                               char **json, struct mcast_error *error);

/* ---- What an administrator decides when the broker has raised an alarm ----------------------- */

/* Alarm "mass-loss" (mcast_status): what the fabric manager no longer has is lost, and the jobs get
 * an event each. *reservations (NULL: not wanted): how many these are. */
MCAST_API int mcast_accept_loss(struct mcast *handle, uint64_t *reservations,
                                struct mcast_error *error);

/* Alarms "name-conflict", "old-ledger": no other broker and no Slurm uses this cluster's name on
 * the fabric. What the fabric manager lists under it and the ledger does not know is active until
 * the resource manager's list or a release says otherwise. *reservations (NULL: not wanted): how
 * many these are. */
MCAST_API int mcast_claim(struct mcast *handle, const char *cluster, uint64_t *reservations,
                          struct mcast_error *error);

/* Of several brokers, the one that leads lets another lead, and starts again as a standby: for
 * maintenance. Refused by a broker that is alone ("alone"), or that knows no standby
 * ("no-standby"), unless it is forced: then no job can start until a broker leads again. After
 * "broken", "timeout" or "stopping" see who leads (mcast_status) before it is asked for again: it
 * may have been done. */
MCAST_API int mcast_step_down(struct mcast *handle, struct mcast_error *error);
MCAST_API int mcast_step_down_forced(struct mcast *handle, struct mcast_error *error);

/* ---- For holders of a job's token ------------------------------------------------------------ */

/* The reservation that the token is for; with its environment only for the fabric manager's session
 * token. MCAST_REFUSED with the word "token-expired", "token-invalid", "token-unknown" or
 * "reservation-over": the token is not valid any more. */
MCAST_API int mcast_own(struct mcast *handle, struct mcast_reservation **out,
                        struct mcast_error *error);

/* Its multicast trees by step, as far as they are made through the broker (GET
 * /v1/reservation/trees), and what another job of its cluster may ask for (as mcast_options): JSON
 * text, the caller's to free(). */
MCAST_API int mcast_own_trees(struct mcast *handle, char **json, struct mcast_error *error);
MCAST_API int mcast_own_options(struct mcast *handle, char **json, struct mcast_error *error);

enum mcast_cleanup_flags {
    MCAST_BELOW = 1, /* the steps below it too */
};

/* Removes the multicast trees of a step that ended without doing so itself: "/fA/fB", "0". Once
 * accepted it is done even if the broker is restarted, unless the fabric manager is away for long.
 * wait_ms: 0, or how long (up to 60,000) to wait for it, in addition to the handle's time limit.
 * *gone (NULL: not wanted): it is done. MCAST_REFUSED with the word "pending": not within that
 * time, it goes on; "given-up": it will not be done; "outside-scope": not with this token;
 * "too-many-cleanups": later. */
MCAST_API int mcast_cleanup(struct mcast *handle, const char *step, unsigned flags,
                            unsigned wait_ms, bool *gone, struct mcast_error *error);

/* The same, with all that the broker answers, as JSON text, the caller's to free(). */
MCAST_API int mcast_cleanup_json(struct mcast *handle, const char *step, unsigned flags,
                                 unsigned wait_ms, char **json, struct mcast_error *error);

/* ---- Tokens of the broker -------------------------------------------------------------------- */

/* A bearer token allows to see one reservation and to delete the trees of its steps
 * (docs/tokens.md). Functions without a handle do not ask the broker. A token is a secret, and in
 * none of their messages. */

enum { MCAST_TOKEN_SIZE = 1025 }; /* of the longest token, with its NUL */

/* What the new token is restricted to; what is not set stays as it was. */
struct mcast_narrowing {
    size_t size;
    const char *steps; /* this step and those below it: "/fA/fB", "/fA/fB/" means the same, "0" */
    int64_t expires;   /* Unix seconds, when it ends */
    const char *const *operations; /* of "show", "cleanup", "join"; ended by NULL */
};

#define MCAST_NARROWING_INIT                                                                       \
    {                                                                                              \
        sizeof(struct mcast_narrowing), NULL, 0, NULL                                              \
    }

/* Writes the token with these restrictions added into out of size bytes (MCAST_TOKEN_SIZE is
 * enough; out may be token). Whether the given one is genuine shows when the new one is used.
 * MCAST_USAGE: token is none, or a restriction is not allowed, or leaves nothing; out is then "".
 */
MCAST_API int mcast_token_narrow(const char *token, const struct mcast_narrowing *narrowing,
                                 char *out, size_t size, struct mcast_error *error);

/* Asks the broker for a token of its own, with the handle's token, and restricted further (NULL:
 * not at all), into out of size bytes. */
MCAST_API int mcast_token_request(struct mcast *handle, const struct mcast_narrowing *narrowing,
                                  char *out, size_t size, struct mcast_error *error);

/* For administrators: tokens are made with a new key from now on; older ones stay valid. *json is
 * the broker's answer, the caller's to free(). */
MCAST_API int mcast_token_rotate(struct mcast *handle, char **json, struct mcast_error *error);

/* What a token says; only the broker can verify it. */
struct mcast_token {
    const char *id;       /* what logs call it; all that were narrowed from one have the same */
    const char *root_key; /* id of the key that it was made with */
    const char *cluster;
    const char *job;
    uint64_t number;               /* of the reservation: this life of the job */
    const char *steps;             /* this step and those below it; NULL: all of the reservation */
    const char *const *operations; /* words, ended by NULL */
    int64_t expires;               /* Unix seconds; 0: as long as the reservation lives */
    uint32_t restrictions;         /* how many there are, of at most 16 */
    const char *warning; /* why it may be good for nothing: its restrictions leave no step or no
                            operation, or are of a kind that this libmcast does not know; or NULL */
};

/* *out is to be freed with mcast_token_free. MCAST_USAGE: it is no token, or of a later version. */
MCAST_API int mcast_token_read(const char *token, struct mcast_token **out,
                               struct mcast_error *error);

MCAST_API void mcast_token_free(struct mcast_token *token); /* takes NULL */

/* ---- Reconciliation -------------------------------------------------------------------------- */

/* What a sync found. Lists hold at most 1,000 names; the counts are exact. */
struct mcast_sync_result {
    uint64_t active;    /* jobs that the caller named */
    uint64_t confirmed; /* of these, the broker holds a reservation for */
    uint64_t suspect_count;
    uint64_t released_count;
    uint64_t unknown_count;
    const char *const *suspect; /* not named: released if the next sync does not name them either */
    const char *const *released; /* missing for the second time, now being released */
    const char *const *unknown;  /* named, but without a reservation; all three ended by NULL */
};

/* Tells the broker which jobs of a cluster are active; every other one is not. The list must be
 * complete; an empty one means that no job is active. *out (may be NULL) is to be freed with
 * mcast_sync_result_free. */
MCAST_API int mcast_sync(struct mcast *handle, const char *cluster, const char *const *jobs,
                         size_t job_count, struct mcast_sync_result **out,
                         struct mcast_error *error);

MCAST_API void mcast_sync_result_free(struct mcast_sync_result *result);

/* As mcast_reservation_json; flags: MCAST_JSON_INDENT or 0. */
MCAST_API char *mcast_sync_result_json(const struct mcast_sync_result *result, unsigned flags);

/* ---- Events ---------------------------------------------------------------------------------- */

struct mcast_event {
    uint64_t seq;        /* 1, 2, 3, …; kept over restarts of the broker. 0 in a "gap" */
    const char *event;   /* "reserved", "released", "lost", "link-up", …, or "gap" */
    const char *time;    /* RFC 3339, NULL in a "gap" */
    bool fatal;          /* the resource manager must raise an exception of the job */
    const char *cluster; /* NULL, as job, when the event is about no job */
    const char *job;
    uint64_t number;    /* of the reservation; 0: about none */
    uint32_t uid;       /* UINT32_MAX when it is not known, or there is none */
    const char *detail; /* words, or NULL */
    uint64_t gap_from;  /* a "gap" tells that these events, both included, */
    uint64_t gap_to;    /* are no longer kept and were missed */
    const char *json;   /* the event's data in one line */
    /* What the reservation has since this event. state: "active" or "releasing"; NULL when the
     * event is about none, or older than what its broker keeps of it. */
    const char *state;
    uint32_t node_count;
    uint32_t addresses;   /* multicast addresses that it holds */
    const uint16_t *vnis; /* vni_count of them */
    size_t vni_count;     /* 0–4 */
};

typedef int mcast_event_fn(const struct mcast_event *event, void *data);

enum mcast_events_flags {
    MCAST_FOLLOW = 1,     /* go on with what happens from now on */
    MCAST_OWN_EVENTS = 2, /* those of the reservation that the handle's token is for */
};

/* Which events are wanted, of those that the caller may see: resource managers and admins see those
 * of their clusters; a user names a job, and sees those of his own jobs with this id. */
struct mcast_event_filter {
    size_t size;
    const char *cluster, *job; /* NULL: any; not with MCAST_OWN_EVENTS */
    const char *const *kinds;  /* words as in `event`, ended by NULL; NULL: all */
};

#define MCAST_EVENT_FILTER_INIT                                                                    \
    {                                                                                              \
        sizeof(struct mcast_event_filter), NULL, NULL, NULL                                        \
    }

/* Replays the events after number `after` (0: all that are kept) and, with MCAST_FOLLOW, waits for
 * more: after the first connection a lost one is made again for as long as it takes, and no event
 * is missed or seen twice. A failure of the first connection or a refusal ends it; so does a broker
 * that has no event `after` ("no-such-event": its ledger is an older copy; start from the number
 * that it names, or from 0). Without MCAST_FOLLOW it returns MCAST_OK after the last event. */
MCAST_API int mcast_events(struct mcast *handle, uint64_t after, unsigned flags,
                           mcast_event_fn *each, void *data, struct mcast_error *error);

/* The same of some events; filter: NULL: all. "gap" is never left out. With MCAST_OWN_EVENTS it
 * ends with MCAST_REFUSED, "reservation-over", when the job is released. */
MCAST_API int mcast_events_filtered(struct mcast *handle, uint64_t after, unsigned flags,
                                    const struct mcast_event_filter *filter, mcast_event_fn *each,
                                    void *data, struct mcast_error *error);

/* ---- The broker ------------------------------------------------------------------------------ */

/* The broker's state as JSON text (GET /v1/status), the caller's to free(). */
MCAST_API int mcast_status(struct mcast *handle, char **json, struct mcast_error *error);

/* The broker's findings (GET /v1/doctor?ask=yes; admins only), likewise: the broker asks the fabric
 * manager for its list, unless that has answered within the last second. */
MCAST_API int mcast_doctor(struct mcast *handle, char **json, struct mcast_error *error);

/* What a job of the cluster may ask for, and the profiles of the site (GET /v1/options), likewise.
 * cluster: NULL: the one that the caller is resource manager of, or the only one there is. */
MCAST_API int mcast_options(struct mcast *handle, const char *cluster, char **json,
                            struct mcast_error *error);

/* Who the broker takes the caller for (GET /v1/whoami), likewise. */
MCAST_API int mcast_whoami(struct mcast *handle, char **json, struct mcast_error *error);

/* Receives a piece of an answer; non-zero ends it. */
typedef int mcast_piece_fn(const char *bytes, size_t length, void *data);

/* GET of any path of the broker's API, with its query, escaped ("/v1/jobs?limit=1000"): for
 * programs that show what they know nothing of. type: the media type that the answer must have
 * ("application/json", "text/event-stream", "text/plain"). The pieces of an answer of success come
 * as the broker sends them, without a limit of time; of another type there are none. MCAST_OK; what
 * each returned; or a code. Nothing is asked again. */
MCAST_API int mcast_get(struct mcast *handle, const char *path, const char *type,
                        mcast_piece_fn *each, void *data, struct mcast_error *error);

/* What the fabric consists of, and how old that is (GET /v1/fabric; admins and resource managers),
 * likewise. */
MCAST_API int mcast_fabric(struct mcast *handle, char **json, struct mcast_error *error);

/* A node and its NICs, from all that the broker knows of it (GET /v1/nodes/NODE; admins, and
 * resource managers of a cluster that has it), likewise. */
MCAST_API int mcast_node(struct mcast *handle, const char *node, char **json,
                         struct mcast_error *error);

/* All nodes, by name; with cluster those of its list, in that order (NULL: all, for admins). each
 * gets the name and the node as JSON text in one line, valid during the call; non-zero ends it and
 * is returned. */
typedef int mcast_node_fn(const char *node, const char *json, void *data);
MCAST_API int mcast_nodes(struct mcast *handle, const char *cluster, mcast_node_fn *each,
                          void *data, struct mcast_error *error);

/* The groups and switches that a job spans, and which of its NICs are down (GET …/topology; its
 * owner, its resource manager, admins), as JSON text, the caller's to free(). cluster and job NULL:
 * of the job whose token the handle has (GET /v1/reservation/topology). */
MCAST_API int mcast_topology(struct mcast *handle, const char *cluster, const char *job,
                             char **json, struct mcast_error *error);

/* How far the broker's clock is ahead of this machine's, by the Date of its last answer (in whole
 * seconds). MCAST_UNCLEAR: it has not answered yet, or gave no date. */
MCAST_API int mcast_clock_ahead(struct mcast *handle, int64_t *ahead_ms, struct mcast_error *error);

/* ---- Without waiting ------------------------------------------------------------------------- */

/* To reserve and release for programs with an event loop, any number of requests in flight at once.
 * None of these functions waits for the broker, a name or a connection: that is done by
 * mcast_async_dispatch. There is one descriptor to watch, for sockets and for time alike. No thread
 * is started, except by libcurl for the look-up of a host's name. MUNGE is not used, because it
 * would have to be waited for: over TCP a client certificate says who asks. */

struct mcast_async; /* used by one thread at a time, as a handle is */

enum mcast_async_flags {
    /* "Not now" (mcast_later) is retried, with pauses of up to a second or as long as the broker
     * asks for, until the request's time is over. Without it, as in the calls that wait, only a
     * connection that broke is made again, once. */
    MCAST_RETRY_TIMEOUT = 1,
    MCAST_PATIENT = MCAST_RETRY_TIMEOUT, /* its older name */
};

/* Copies the broker's place, credentials and time limit from the handle, but not the retry timeout;
 * the handle may be closed then. flags: enum mcast_async_flags. *out is to be closed with
 * mcast_async_close. MCAST_USAGE: with MCAST_MUNGE_ALWAYS. */
MCAST_API int mcast_async_open(struct mcast_async **out, struct mcast *handle, unsigned flags,
                               struct mcast_error *error);

/* Answers what is in flight with MCAST_STOPPED before it returns; in a callback, after that
 * callback, and then mcast_async_dispatch's caller must not use it any more. Takes NULL. Keeps
 * errno. */
MCAST_API void mcast_async_close(struct mcast_async *async);

/* Readable (POLLIN) when mcast_async_dispatch has something to do. It belongs to the handle, and
 * stays the same. */
MCAST_API int mcast_async_fd(const struct mcast_async *async);

/* Does what can be done now, and calls back for the requests that are over. To be called when the
 * descriptor is readable; at other times it does no harm, in a callback nothing. Returns how many
 * are still in flight. */
MCAST_API size_t mcast_async_dispatch(struct mcast_async *async);

MCAST_API size_t
mcast_async_under_way(const struct mcast_async *async); /* how many are in flight */

/* For requests begun from now on: milliseconds to the answer, from 1, with all retries and all
 * waiting for a free connection; the default is the handle's. */
MCAST_API int mcast_async_set_timeout(struct mcast_async *async, unsigned milliseconds,
                                      struct mcast_error *error);

/* At most so many connections at once, 1–1024; the default is 32 on the Unix socket, 8 over TCP,
 * which the broker grants to all. Each carries one request at a time; the others wait. While
 * the broker cannot be reached only one is tried. */
MCAST_API int mcast_async_set_connections(struct mcast_async *async, unsigned connections,
                                          struct mcast_error *error);

/* The result of a request, valid during the callback; later versions may add members. */
struct mcast_outcome {
    int code;                                    /* MCAST_OK, or as the calls that wait return it */
    const struct mcast_error *error;             /* never NULL; says why, unless MCAST_OK */
    const struct mcast_reservation *reservation; /* NULL after a failure */
    const char *json; /* of mcast_async_status; else, and after a failure, NULL */
};

/* Called exactly once for each request that was begun (0 was returned): by mcast_async_dispatch, or
 * with MCAST_STOPPED by mcast_async_cancel and mcast_async_close; never by the function that begins
 * it. It may begin, cancel and close. */
typedef void mcast_done_fn(const struct mcast_outcome *outcome, void *arg);

/* Each begins one request, and returns 0, or MCAST_USAGE (an argument is not allowed), MCAST_NOMEM,
 * MCAST_STOPPED (the handle is being closed): then done is not called. What the arguments point to
 * is not needed after the return. *request (NULL: not wanted) receives a number for
 * mcast_async_cancel, never 0. */
MCAST_API int mcast_async_reserve(struct mcast_async *async, const struct mcast_request *what,
                                  mcast_done_fn *done, void *arg, uint64_t *request,
                                  struct mcast_error *error);
MCAST_API int mcast_async_launch(struct mcast_async *async, const char *cluster, const char *job,
                                 const struct mcast_launch *launch, mcast_done_fn *done, void *arg,
                                 uint64_t *request, struct mcast_error *error);
MCAST_API int mcast_async_release(struct mcast_async *async, const char *cluster, const char *job,
                                  mcast_done_fn *done, void *arg, uint64_t *request,
                                  struct mcast_error *error);
MCAST_API int mcast_async_nodes_clean(struct mcast_async *async, const char *cluster,
                                      const char *job, uint64_t number, const char *nodes,
                                      const char *state, mcast_done_fn *done, void *arg,
                                      uint64_t *request, struct mcast_error *error);
MCAST_API int mcast_async_status(struct mcast_async *async, mcast_done_fn *done, void *arg,
                                 uint64_t *request, struct mcast_error *error);

/* The same with what these nodes have counted (NULL: nothing), which counts when none of them was
 * reported of as clean before. MCAST_REFUSED, status 422: the broker is too old; without, it takes
 * it. */
MCAST_API int mcast_async_nodes_traffic(struct mcast_async *async, const char *cluster,
                                        const char *job, uint64_t number, const char *nodes,
                                        const char *state, const struct mcast_traffic_sum *traffic,
                                        mcast_done_fn *done, void *arg, uint64_t *request,
                                        struct mcast_error *error);

/* Calls the request's callback with MCAST_STOPPED before it returns true. What was sent may be
 * carried out all the same: after a reserve, release the job. False: it has been answered. */
MCAST_API bool mcast_async_cancel(struct mcast_async *async, uint64_t request);

#ifdef __cplusplus
}
#endif

#endif
