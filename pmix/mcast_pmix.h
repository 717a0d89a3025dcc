/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MCAST_PMIX_H
#define MCAST_PMIX_H

/* libmcast_pmix: for a program that hosts a PMIx server (a resource manager's daemon). It carries
 * what a job was given by mcastd (libmcast) to the job's processes, by PMIx, and answers for it
 * there. docs/pmix.md says which function is called when.
 *
 * It starts no thread or program, opens no connection, and waits for nothing, so all of it may be
 * called in functions of a pmix_server_module_t. One struct mcast_pmix may be used by several
 * threads at a time. The PMIx library need not be initialised.
 *
 * Functions that return int give MCAST_OK, or a negative enum mcast_code with a sentence for people
 * in *error, which may be NULL; the others a status of PMIx, PMIX_ERR_NOMEM among them. Arrays of
 * pmix_info_t that they fill are to be freed with mcast_pmix_free, or by PMIX_INFO_FREE. */

#include <mcast.h>
#include <pmix_server.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Keys. What begins with "mcast.node." is for a node's daemon alone: the launch document. All
 * others are facts about the job that each of its processes, and each tool that the host admits,
 * may read. No fact is a secret. There will be more of them; each may be missing. */
#define MCAST_PMIX_LAUNCH "mcast.node.launch"        /* string */
#define MCAST_PMIX_CLUSTER "mcast.cluster"           /* string */
#define MCAST_PMIX_JOB "mcast.job"                   /* string */
#define MCAST_PMIX_NUMBER "mcast.number"             /* uint64: of the reservation */
#define MCAST_PMIX_STEP "mcast.step"                 /* string, as in FI_CXI_COLL_JOB_STEP_ID */
#define MCAST_PMIX_INTERCONNECT "mcast.interconnect" /* string: "slingshot", "omnipath", "none" */
#define MCAST_PMIX_VNIS "mcast.vnis"                 /* string: "1024,1025" */
#define MCAST_PMIX_CLASSES "mcast.traffic_classes"   /* string: words, separated by commas */
#define MCAST_PMIX_HWCOLL "mcast.hwcoll"             /* string: "reserved", "off", "denied", … */
#define MCAST_PMIX_ADDRESSES "mcast.addresses"       /* uint32: multicast addresses; 0: none */
#define MCAST_PMIX_NODES "mcast.nodes"               /* string: node list as it was reserved */
#define MCAST_PMIX_NODE_COUNT "mcast.node_count"     /* uint32 */
/* In events: */
#define MCAST_PMIX_SEQ "mcast.seq"     /* uint64: the broker's number of the event */
#define MCAST_PMIX_EVENT "mcast.event" /* string: the broker's word for it */

/* ---- Where the job is launched ----------------------------------------------------------------
 */

struct mcast_pmix_application {
    size_t size;                                 /* of this struct, as the program was compiled */
    const struct mcast_reservation *reservation; /* or NULL: there is only a launch document */
    const char *launch; /* launch document; NULL: the reservation's, if it has one */
    const char *step;   /* which step of the job this namespace is, as mcast_env has it: its
                           variables name it then. NULL: not named */
};

#define MCAST_PMIX_APPLICATION_INIT                                                                \
    {                                                                                              \
        sizeof(struct mcast_pmix_application), NULL, NULL, NULL                                    \
    }

/* What a namespace's daemons need, to be sent to them with the launch, beside what
 * PMIx_server_setup_application gives: the launch document, marked for the node; facts;
 * PMIX_SET_ENVAR and PMIX_UNSET_ENVAR for each variable of the reservation, which has some when it
 * was reserved without a launch document, or with `env` in it. These have the job's token: then the
 * array is a secret, which is sent to the job's nodes only, and encrypted. Without variables it is
 * none. MCAST_USAGE: neither reservation nor launch document; the step is none. */
MCAST_API int mcast_pmix_setup_application(const struct mcast_pmix_application *application,
                                           pmix_info_t **info, size_t *ninfo,
                                           struct mcast_error *error);

/* ---- On each node -----------------------------------------------------------------------------
 */

struct mcast_pmix; /* what a host remembers of the namespaces that it serves */

MCAST_API struct mcast_pmix *mcast_pmix_create(void);       /* NULL: memory is exhausted */
MCAST_API void mcast_pmix_destroy(struct mcast_pmix *pmix); /* takes NULL */

/* Remembers what mcast_pmix_setup_application gave; other keys in the array are left out, but each
 * PMIX_SET_ENVAR and PMIX_UNSET_ENVAR counts. Of a namespace that was there before, the new array
 * counts. PMIx_server_setup_local_support has no use for the array. */
MCAST_API int mcast_pmix_local_support(struct mcast_pmix *pmix, const char *nspace,
                                       const pmix_info_t info[], size_t ninfo,
                                       struct mcast_error *error);

/* The launch document, which root hands to mcast-node prolog before the first process (standard
 * input, --launch -). NULL: there is none. Valid until the namespace is forgotten or given anew. */
MCAST_API const char *mcast_pmix_launch(struct mcast_pmix *pmix, const char *nspace);

/* What `mcast-node env --format json` printed on this node, of length bytes: its variables replace
 * those that have the same names. MCAST_NOT_FOUND: an unknown namespace. MCAST_USAGE: it is no
 * object of strings and nulls. */
MCAST_API int mcast_pmix_node_env(struct mcast_pmix *pmix, const char *nspace, const char *json,
                                  size_t length, struct mcast_error *error);

/* Sets and unsets the variables in a process's environment, after PMIx_server_setup_fork.
 * PMIX_ERR_NOT_FOUND: an unknown namespace, and nothing was changed. PMIX_ERR_NOMEM: some may be
 * changed, and the process must not be started. */
MCAST_API pmix_status_t mcast_pmix_setup_fork(struct mcast_pmix *pmix, const pmix_proc_t *proc,
                                              char ***env);

/* The facts, to be added to the array for PMIx_server_register_nspace; then each process reads them
 * by PMIx_Get, of rank PMIX_RANK_WILDCARD. PMIX_ERR_NOT_FOUND: an unknown namespace.
 * PMIX_ERR_NOT_SUPPORTED: the host runs with a libpmix (5 or 6) by which processes would read the
 * value of another key, unless PMIX_MCA_gds=hash is in the host's environment; then processes ask
 * by PMIx_Query_info. After either there is nothing to add. */
MCAST_API pmix_status_t mcast_pmix_job_info(struct mcast_pmix *pmix, const char *nspace,
                                            pmix_info_t **info, size_t *ninfo);

/* After the namespace's last process. */
MCAST_API void mcast_pmix_forget(struct mcast_pmix *pmix, const char *nspace);

/* ---- Functions of a pmix_server_module_t ------------------------------------------------------
 */

/* PMIX_SUCCESS: cbfunc was called with the answer. PMIX_ERR_NOT_SUPPORTED: not mine, the host's own
 * answer counts; cbfunc was not called then, nor after any other status. */

/* Mine: all keys begin with "mcast.". The namespace is in the qualifier PMIX_NSPACE, as PMIx does
 * not tell who asks (PMIX_ERR_BAD_PARAM without it). PMIX_ERR_NOT_FOUND: an unknown namespace, or
 * none of the facts is there. */
MCAST_API pmix_status_t mcast_pmix_query(struct mcast_pmix *pmix, const pmix_query_t queries[],
                                         size_t nqueries, pmix_info_cbfunc_t cbfunc, void *cbdata);

/* Mine: the client's namespace is known, its interconnect is one, and no directive names another
 * vendor or fabric. The answer: PMIX_FABRIC_VENDOR, PMIX_FABRIC_IDENTIFIER, and the facts. */
MCAST_API pmix_status_t mcast_pmix_fabric(struct mcast_pmix *pmix, const pmix_proc_t *client,
                                          pmix_fabric_operation_t operation,
                                          const pmix_info_t directives[], size_t ndirs,
                                          pmix_info_cbfunc_t cbfunc, void *cbdata);

/* Mine: the data has PMIX_ALLOC_FABRIC, with a PMIX_ALLOC_FABRIC_ID and no other
 * PMIX_ALLOC_FABRIC_TYPE than the client's interconnect. The answer tells what the job has already,
 * below that id; nothing is allocated. */
MCAST_API pmix_status_t mcast_pmix_allocate(struct mcast_pmix *pmix, const pmix_proc_t *client,
                                            pmix_alloc_directive_t directive,
                                            const pmix_info_t data[], size_t ndata,
                                            pmix_info_cbfunc_t cbfunc, void *cbdata);

/* ---- Events ------------------------------------------------------------------------------------
 */

/* What processes are to be told of an event of mcast_events, for PMIx_Notify_event with
 * PMIX_RANGE_CUSTOM: to those of the event's job, or of all namespaces when it is about none. It is
 * for no default handler, and has MCAST_PMIX_SEQ, by which a process drops the second copy that
 * PMIx hands to handlers that are registered late.
 *
 *     PMIX_FABRIC_UPDATE_ENDPOINTS  the job's multicast addresses are lost ("lost")
 *     PMIX_FABRIC_UPDATE_PENDING    the fabric manager is away ("link-down")
 *     PMIX_FABRIC_UPDATED           it is back ("link-up"); of a broker with an inventory also
 *                                   "switch-down", "switch-up", "cable-down", "cable-up",
 *                                   "fabric-changed"
 *
 * PMIX_ERR_NOT_SUPPORTED: it is of no kind that processes are told. PMIX_ERR_NOT_FOUND: no
 * namespace here has to do with it. */
MCAST_API pmix_status_t mcast_pmix_event(struct mcast_pmix *pmix, const struct mcast_event *event,
                                         pmix_status_t *code, pmix_info_t **info, size_t *ninfo);

/* As PMIX_INFO_FREE, but overwrites texts before. Takes NULL. */
MCAST_API void mcast_pmix_free(pmix_info_t *info, size_t ninfo);

#ifdef __cplusplus
}
#endif

#endif
