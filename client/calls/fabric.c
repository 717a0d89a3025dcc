/* SPDX-License-Identifier: Apache-2.0 */
/* What the fabric consists of, and where nodes and jobs are in it. */

#include "client/calls/field.h"
#include "client/handle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_MAX_LENGTH = 512, NODES_PAGE = 1000, NODES_PAGES_MAX = 10000 };

static int get_json(struct mcast *handle, struct call call, const char *path, char **json,
                    struct mcast_error *error)
{
    call_set(&call, "GET", call_read_root, error, "%s", path);
    return handle_run_json(handle, call, json, error);
}

int mcast_fabric(struct mcast *handle, char **json, struct mcast_error *error)
{
    return get_json(handle, (struct call){0}, "/v1/fabric", json, error);
}

int mcast_node(struct mcast *handle, const char *node, char **json, struct mcast_error *error)
{
    char path[PATH_MAX_LENGTH];
    const struct call call = {.rc = names_check_node(node, error)};
    snprintf(path, sizeof path, "/v1/nodes/%s", call.rc == 0 ? node : "");
    return get_json(handle, call, path, json, error);
}

int mcast_forget_node(struct mcast *handle, const char *node, struct mcast_error *error)
{
    char *json = NULL;
    struct call call = {.rc = names_check_node(node, error)};
    call_set(&call, "DELETE", call_read_root, error, "/v1/nodes/%s", call.rc == 0 ? node : "");
    const int rc = handle_run_json(handle, call, &json, error);
    free(json);
    return rc;
}

int mcast_topology(struct mcast *handle, const char *cluster, const char *job, char **json,
                   struct mcast_error *error)
{
    char path[PATH_MAX_LENGTH];
    if (!cluster && !job)
        return get_json(handle, (struct call){.with_token = true}, "/v1/reservation/topology", json,
                        error);
    const struct call call = {.rc = names_check(cluster, job, error)};
    snprintf(path, sizeof path, NAMES_JOB_PATH "/topology", call.rc == 0 ? cluster : "",
             call.rc == 0 ? job : "");
    return get_json(handle, call, path, json, error);
}

static int show_nodes(const json_t *nodes, mcast_node_fn *each, void *data,
                      struct mcast_error *error)
{
    size_t index;
    json_t *node;
    if (!json_is_array(nodes))
        return field_fault(error, "nodes", "missing");
    json_array_foreach(nodes, index, node)
    {
        const char *name = json_string_value(json_object_get(node, "node"));
        char *text = name ? json_dumps(node, JSON_COMPACT) : NULL;
        if (!text)
            return name ? fault_nomem(error) : field_fault(error, "node", "missing");
        const int rc = each(name, text, data);
        free(text);
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* Only what this interface's own lists have there is followed, and no circle for ever. */
static int next_page(const json_t *page, char path[PATH_MAX_LENGTH], int pages,
                     struct mcast_error *error)
{
    const char *next = json_string_value(json_object_get(page, "next"));
    if (!next) {
        path[0] = '\0';
        return 0;
    }
    if (strncmp(next, "/v1/nodes?", strlen("/v1/nodes?")) != 0 || strlen(next) >= PATH_MAX_LENGTH ||
        strpbrk(next, " \r\n\t") || strcmp(next, path) == 0 || pages == NODES_PAGES_MAX)
        return field_fault(error, "next", "not the next page of this list");
    memcpy(path, next, strlen(next) + 1);
    return 0;
}

int mcast_nodes(struct mcast *handle, const char *cluster, mcast_node_fn *each, void *data,
                struct mcast_error *error)
{
    char path[PATH_MAX_LENGTH];
    int rc = cluster ? names_check_cluster(cluster, error) : 0;
    snprintf(path, sizeof path, "/v1/nodes?%s%s%slimit=%d", cluster ? "cluster=" : "",
             cluster && rc == 0 ? cluster : "", cluster ? "&" : "", NODES_PAGE);
    for (int pages = 1; rc == 0 && path[0] != '\0'; pages++) {
        char *text = NULL;
        if ((rc = get_json(handle, (struct call){0}, path, &text, error)) < 0)
            break;
        json_t *page = json_loads(text, 0, NULL);
        free(text);
        rc = show_nodes(json_object_get(page, "nodes"), each, data, error);
        if (rc == 0)
            rc = next_page(page, path, pages, error);
        json_decref(page);
    }
    return rc;
}
