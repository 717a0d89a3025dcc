/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "broker/http/request/call.h"
#include "core/core.h"
#include "core/inventory/nodenics.h"
#include "tokens/bearer.h"

#include <stddef.h>

/* What the bodies of requests say. All return 0, or -1 with a problem: 422 but where it says
 * otherwise. Pure. */

enum { LAUNCH_DAYS_MAX = 7, LAUNCH_DAYS = 1 /* if the request does not say */ };

/* Of a request for a launch document (S1), all of it optional:
 * {"restart":0,"expires":3600 or "1h","env":true}; and, but for one within a reserve, what the job
 * is like:
 * {"interconnect":"omnipath","tasks_per_node":8,"cpus_per_task":4}. within: "" or "launch". */
struct launch_wish launch_wish_default(void);
int launch_body_parse(const json_t *body, const char *within, struct launch_wish *wish,
                      struct problem *problem);

/* Of a reserve: fills in all but cluster, job and key; its strings belong to the body. */
int reserve_body_parse(const json_t *body, struct reserve_request *request,
                       struct launch_wish *wish, struct problem *problem);

/* The fields that it may have, with their types and ranges: an object. vnis_max: of vni_count. */
void reserve_fields_write(struct writer *writer, const char *key, uint32_t vnis_max);

enum { MINT_DAYS_MAX = 3650 };

/* Of a request for a token (B3), all of it optional:
 * {"steps":"/fA","expires":3600 or "1h","operations":["cleanup","show"]}. now: Unix seconds. steps
 * belongs to the body. */
int mint_body_parse(const json_t *body, int64_t now, struct bearer_limits *limits,
                    struct problem *problem);

enum { SHARE_DAYS_MAX = 3650 };

/* Of a shared VNI (B1), all of it optional: {"uid":1000,"users":[1001,1002],"any_user":false,
 * "clusters":["elcap"],"expires":3600 or "30d"}. */
struct share_body {
    int64_t uid;                     /* of the owner to be; -1: not given */
    int64_t lifetime_s;              /* 0: not given */
    char users[SHARED_LIST_MAX + 1]; /* as in a shared_vni_record, each once */
    char clusters[SHARED_LIST_MAX + 1];
};
int share_body_parse(const json_t *body, struct share_body *share, struct problem *problem);

enum { NODE_BODY_SERVICES_MAX = 16 };

struct node_body {
    enum node_state state;
    uint64_t number; /* of the reservation, ≥ 1 */
    uint64_t order;  /* of this report among the node's, ≥ 1; 0: not given */
    /* "cxi0:12,cxi1:7" (core/reservation/nodes.h); "": none are named */
    char services[NODE_SERVICES_MAX + 1];
    uint16_t vnis[VNI_PER_JOB_MAX]; /* of the services, as the node knows them */
    unsigned vni_count;             /* 0: not given */
    bool has_traffic;
    struct traffic_report traffic; /* its texts belong to the body */
};

/* Of a node's report (F3):
 * {"state":"created","number":4711,"order":2,"services":[{"device":"cxi0","id":12}],"vnis":[1024]}.
 * A service that is named twice is refused; so are services of a node that says that none is left.
 */
int node_body_parse(const json_t *json, struct node_body *body, struct problem *problem);

/* The part of it that says what the node has counted for the job (P6), all of it optional:
 * {"seconds":60,"tx_octets":1,…,"unclear":0,"shared":false,
 * "slowest":{"device":"cxi0","octets":2},"congested":{"device":"cxi1","paused":3}}. */
int traffic_body_parse(const json_t *json, struct traffic_report *traffic, struct problem *problem);
/* The same of many nodes, summed: {"nodes":128,"seconds":60,"tx_octets":1,…,"unclear":0,"shared":1,
 * "lacking":["paused"],"slowest":{"node":"elcap1","device":"cxi0","octets":2},"congested":{…}}. */
struct traffic_sum_body {
    struct traffic_record sum; /* its texts are the two below */
    char slowest[NODELIST_NAME_MAX + 18], congested[NODELIST_NAME_MAX + 18];
};
int traffic_sum_parse(const json_t *json, struct traffic_sum_body *out, struct problem *problem);
/* "tx_octets", …, by enum traffic_kind. */
extern const char *const traffic_words[TRAFFIC_KINDS];

/* Of one report for many nodes (F3): {"state":"destroyed","number":4711,"nodes":"elcap[1-4000]"}.
 * Its list belongs to the body, and is one that nodelist_count takes. */
struct nodes_body {
    enum node_state state; /* DESTROYED or LINGERING */
    uint64_t number;       /* of the reservation, ≥ 1 */
    const char *nodes;
    bool has_traffic;
    struct traffic_sum_body traffic;
};
int nodes_body_parse(const json_t *json, struct nodes_body *body, struct problem *problem);

/* Of what a node tells of its NICs (P2):
 * {"order":7,"nics":[{"device":"cxi0","address":4608,"speed":200000,"link":"up","serial":"…",
 * "firmware":"…"}]}; only device, address and link have to be there. nics gets the text of
 * core/inventory/nodenics.h. */
struct nics_body {
    uint64_t order; /* ≥ 1 */
    char nics[NODENICS_TEXT_SIZE];
};
int nics_body_parse(const json_t *json, struct nics_body *body, struct problem *problem);

enum { SYNC_IDS_MAX = 2000000 };

struct sync_body {
    const char **active; /* strings live in the bytes that were parsed */
    size_t count;
};

/* Of a sync: {"active":["id",…]}. It is by far the longest body there is, and a tree of JSON values
 * takes twenty times its bytes, so it is read where it lies: escapes are decoded, strings end with
 * NUL. May run on any thread. -1 with the first problem (400 bad JSON, 422 all else, 503 out of
 * memory); body is then empty. */
int sync_body_parse(char *bytes, size_t length, struct sync_body *body, struct problem *problem);
void sync_body_release(struct sync_body *body);
