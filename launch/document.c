/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/document.h"

#include "base/memory.h"
#include "base/names.h"
#include "base/nodelist.h"
#include "launch/crypto.h"

#include <assert.h>
#include <string.h>

/* jansson's strings; the document has the only reference. */
static void wipe_strings(json_t *object)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        if (json_is_string(value))
            explicit_bzero((char *)(uintptr_t)json_string_value(value), json_string_length(value));
    }
}

void launch_release(struct launch *launch)
{
    wipe_strings(launch->tasks);
    wipe_strings(launch->driver);
    json_decref(launch->root);
    *launch = (struct launch){0};
}

char *launch_format(const struct launch *launch)
{
    char digest[LAUNCH_DIGEST_LENGTH + 1], addresses[LAUNCH_DIGEST_LENGTH + 1];
    bool whole = strlen(launch->nodes) <= LAUNCH_NODES_MAX;
    assert(launch->uid != UINT32_MAX && launch->expires_s > launch->issued_s);
    if ((!whole && launch_digest(launch->nodes, digest) < 0) ||
        (launch->addresses && launch_digest(launch->addresses, addresses) < 0))
        return NULL;
    json_t *root = json_pack(
        "{s:i, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:s, s:O, s:O}", "v", LAUNCH_VERSION,
        "interconnect", launch->interconnect, "cluster", launch->cluster, "job", launch->job,
        "number", (json_int_t)launch->number, "uid", (json_int_t)launch->uid, "issued",
        (json_int_t)launch->issued_s, "expires", (json_int_t)launch->expires_s, "node_count",
        (json_int_t)launch->node_count, whole ? "nodes" : "nodes_digest",
        whole ? launch->nodes : digest, "driver", launch->driver, "tasks", launch->tasks);
    if (root && launch->restart >= 0)
        json_object_set_new(root, "restart", json_integer((json_int_t)launch->restart));
    if (root && launch->addresses)
        json_object_set_new(root, "addresses_digest", json_string(addresses));
    /* Into memory of its size: a buffer that grows leaves copies of the secrets behind. */
    const size_t size = root ? json_dumpb(root, NULL, 0, JSON_COMPACT) : 0;
    char *text = size > 0 ? memory_zeroed(size + 1) : NULL;
    if (text)
        (void)json_dumpb(root, text, size, JSON_COMPACT);
    json_decref(root);
    return text;
}

/* 0, or ERROR_INVALID. */
static int read_number(const json_t *root, const char *name, int64_t least, int64_t most,
                       int64_t *out, struct error *err)
{
    const json_t *value = json_object_get(root, name);
    *out = (int64_t)json_integer_value(value);
    if (json_is_integer(value) && *out >= least && *out <= most)
        return 0;
    return error_set(err, ERROR_INVALID, "the launch document's %s is no number from %lld to %lld",
                     name, (long long)least, (long long)most);
}

static int read_text(const json_t *root, const char *name, const char **out, struct error *err)
{
    *out = json_string_value(json_object_get(root, name));
    if (*out)
        return 0;
    return error_set(err, ERROR_INVALID, "the launch document has no %s", name);
}

static int read_numbers(struct launch *launch, struct error *err)
{
    const int64_t latest_s = INT64_MAX - LAUNCH_CLOCK_SKEW_S; /* which is added to it */
    int64_t number, uid, nodes;
    if (read_number(launch->root, "number", 1, INT64_MAX, &number, err) < 0 ||
        read_number(launch->root, "uid", 0, UINT32_MAX - 1, &uid, err) < 0 ||
        read_number(launch->root, "node_count", 0, NODELIST_COUNT_MAX, &nodes, err) < 0 ||
        read_number(launch->root, "issued", 0, latest_s, &launch->issued_s, err) < 0 ||
        read_number(launch->root, "expires", 0, latest_s, &launch->expires_s, err) < 0)
        return ERROR_INVALID;
    launch->number = (uint64_t)number;
    launch->uid = (uint32_t)uid;
    launch->node_count = (uint32_t)nodes;
    launch->restart = -1;
    return json_object_get(launch->root, "restart")
               ? read_number(launch->root, "restart", 0, INT32_MAX, &launch->restart, err)
               : 0;
}

static int read_nodes(struct launch *launch, struct error *err)
{
    uint32_t count;
    launch->nodes = json_string_value(json_object_get(launch->root, "nodes"));
    launch->nodes_digest = json_string_value(json_object_get(launch->root, "nodes_digest"));
    if (!launch->nodes == !launch->nodes_digest ||
        (launch->nodes_digest && strlen(launch->nodes_digest) != LAUNCH_DIGEST_LENGTH))
        return error_set(err, ERROR_INVALID,
                         "the launch document has neither nodes nor nodes_digest, or both");
    return launch->nodes ? nodelist_count(launch->nodes, &count, err) : 0;
}

static int read_values(struct launch *launch, struct error *err)
{
    const char *name;
    json_t *value;
    launch->addresses_digest = json_string_value(json_object_get(launch->root, "addresses_digest"));
    launch->driver = json_object_get(launch->root, "driver");
    launch->tasks = json_object_get(launch->root, "tasks");
    if (!json_is_object(launch->driver) || !json_is_object(launch->tasks))
        return error_set(err, ERROR_INVALID, "the launch document's driver or tasks is no object");
    json_object_foreach(launch->tasks, name, value)
    {
        if (!json_is_string(value))
            return error_set(err, ERROR_INVALID, "the launch document's task variable is no text");
    }
    return 0;
}

static int read_all(struct launch *launch, struct error *err)
{
    int64_t version;
    if (!json_is_object(launch->root))
        return error_set(err, ERROR_INVALID, "the launch document is no JSON object");
    if (read_number(launch->root, "v", 0, INT32_MAX, &version, err) < 0)
        return ERROR_INVALID;
    if (version != LAUNCH_VERSION)
        return error_set(err, ERROR_VERSION,
                         "the launch document is of version %lld, this mcast-node reads version "
                         "%d: install the broker's release on this node",
                         (long long)version, LAUNCH_VERSION);
    if (read_text(launch->root, "interconnect", &launch->interconnect, err) < 0 ||
        read_text(launch->root, "cluster", &launch->cluster, err) < 0 ||
        read_text(launch->root, "job", &launch->job, err) < 0 || read_numbers(launch, err) < 0 ||
        read_nodes(launch, err) < 0 || read_values(launch, err) < 0)
        return ERROR_INVALID;
    if (!cluster_name_valid(launch->cluster) || !job_id_valid(launch->job))
        return error_set(err, ERROR_INVALID,
                         "the launch document's cluster or job is no name that mcastd gives");
    return 0;
}

int launch_parse(struct launch *launch, const char *text, size_t length, struct error *err)
{
    *launch = (struct launch){0};
    if (length > LAUNCH_DOCUMENT_MAX)
        return error_set(err, ERROR_INVALID, "the launch document is longer than %d bytes",
                         LAUNCH_DOCUMENT_MAX);
    launch->root = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
    int code = read_all(launch, err);
    if (code < 0)
        launch_release(launch);
    return code;
}

bool launch_addresses_match(const struct launch *launch, const char *word)
{
    char digest[LAUNCH_DIGEST_LENGTH + 1];
    return launch->addresses_digest && launch_digest(word, digest) == 0 &&
           strcmp(digest, launch->addresses_digest) == 0;
}

static int check_job(const struct launch *launch, const struct launch_here *here, struct error *err)
{
    if (here->cluster && strcmp(here->cluster, launch->cluster) != 0)
        return error_set(err, ERROR_REFUSED,
                         "the launch document is of cluster %s, this node is in %s: see cluster in "
                         "node.conf",
                         launch->cluster, here->cluster);
    if (strcmp(here->job, launch->job) != 0)
        return error_set(err, ERROR_REFUSED,
                         "the launch document is of job %s, not of job %s: ask for the job's own "
                         "(mcastctl launch)",
                         launch->job, here->job);
    if (here->uid >= 0 && here->uid != (int64_t)launch->uid)
        return error_set(err, ERROR_REFUSED,
                         "the launch document is for uid %u, but job %s is of uid %lld: ask for it "
                         "with the job's uid",
                         (unsigned)launch->uid, launch->job, (long long)here->uid);
    if (here->restart >= 0 && launch->restart >= 0 && here->restart != launch->restart)
        return error_set(err, ERROR_REFUSED,
                         "the launch document is of start %lld of job %s, this is start %lld: ask "
                         "for a new one at each start",
                         (long long)launch->restart, launch->job, (long long)here->restart);
    return 0;
}

static int check_node(const struct launch *launch, const struct launch_here *here,
                      struct error *err)
{
    char digest[LAUNCH_DIGEST_LENGTH + 1];
    const char *nodes = launch->nodes ? launch->nodes : here->nodes;
    if (!nodes)
        return error_set(err, ERROR_REFUSED,
                         "the launch document of job %s has a digest of its node list only: give "
                         "the resource manager's list (--nodes)",
                         launch->job);
    if (!launch->nodes && launch_digest(nodes, digest) < 0)
        return error_set(err, ERROR_IO,
                         "the node list cannot be checked: libcrypto.so.3 (Debian: libssl3) "
                         "cannot be opened");
    if (launch->nodes ? here->nodes && strcmp(nodes, here->nodes) != 0
                      : strcmp(digest, launch->nodes_digest) != 0)
        return error_set(err, ERROR_REFUSED,
                         "the launch document of job %s was made for another node list than "
                         "the job has: ask for a new one",
                         launch->job);
    if (nodelist_contains(nodes, here->node))
        return 0;
    return error_set(err, ERROR_REFUSED,
                     "this node (%s) is not in the node list of the launch document of job %s: set "
                     "node in node.conf, or ask for a new document",
                     here->node, launch->job);
}

static int check_time(const struct launch *launch, const struct launch_here *here,
                      struct error *err)
{
    if (here->now_s > launch->expires_s + LAUNCH_CLOCK_SKEW_S)
        return error_set(err, ERROR_REFUSED,
                         "the launch document of job %s expired %lld s ago: ask for a new one, and "
                         "compare this node's clock with the broker's",
                         launch->job, (long long)(here->now_s - launch->expires_s));
    if (here->now_s < launch->issued_s - LAUNCH_CLOCK_SKEW_S)
        return error_set(err, ERROR_REFUSED,
                         "the launch document of job %s was made %lld s in the future of this "
                         "node: compare its clock with the broker's",
                         launch->job, (long long)(launch->issued_s - here->now_s));
    return 0;
}

int launch_check(const struct launch *launch, const struct launch_here *here, struct error *err)
{
    assert(launch->root && here->job && here->node);
    int code = check_job(launch, here, err);
    if (code == 0)
        code = check_time(launch, here, err);
    return code == 0 ? check_node(launch, here, err) : code;
}
