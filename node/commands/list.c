/* SPDX-License-Identifier: Apache-2.0 */
#include "node/services/columns.h"
#include "node/commands/command.h"
#include "node/services/limits.h"
#include "node/services/match.h"
#include "node/say.h"
#include "core/reservation/record.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "Usage: mcast-node list [--max] [--json]\n"
    "Lists the services of all NICs, and what they reserve of each resource; those that differ in\n"
    "NIC and id only are one line. Needs no privilege.\n\n"
    "  --max            the maxima instead of the reservations\n"
    "  --json           every service of its own, with both\n\n"
    "Example:\n"
    "  mcast-node list\n";

enum { LEFT_COLUMNS = 6 };

struct wanted {
    bool max, json;
};

static int read_list_option(int option, const char *value, void *data)
{
    struct wanted *wanted = data;
    (void)value;
    if (option == 'm')
        wanted->max = true;
    else
        wanted->json = true;
    return COMMAND_GO_ON;
}

/* ---- JSON ---- */

static json_t *encode_limits(const struct cxi_svc_desc *service)
{
    json_t *limits = json_object();
    for (int i = 0; i < LIMITS_COUNT; i++) {
        const struct cxi_limits *of = &service->limits.type[limits_order[i]];
        json_object_set_new(limits, limits_key(limits_order[i]),
                            json_pack("{s:i,s:i}", "res", (int)of->res, "max", (int)of->max));
    }
    return limits;
}

static json_t *encode_members(const struct cxi_svc_desc *service)
{
    static const char *const words[] = {[CXI_SVC_MEMBER_UID] = "uid",
                                        [CXI_SVC_MEMBER_GID] = "gid",
                                        [CXI_SVC_MEMBER_NET_NS] = "netns"};
    json_t *list = json_array();
    for (int i = 0; i < CXI_SVC_MAX_MEMBERS; i++) {
        enum cxi_svc_member_type type = service->members[i].type;
        if (type > CXI_SVC_MEMBER_IGNORE && type < CXI_SVC_MEMBER_MAX)
            json_array_append_new(list, json_pack("{s:I}", words[type],
                                                  (json_int_t)service->members[i].svc_member.uid));
    }
    return list;
}

static json_t *encode(struct node *node, const struct nic *nic, const struct cxi_svc_desc *service)
{
    json_t *vnis = json_array(), *classes = json_array();
    const char *job = node_job_of(node, nic->name, service->svc_id);
    for (unsigned int i = 0; i < service->num_vld_vnis && i < CXI_SVC_MAX_VNIS; i++)
        json_array_append_new(vnis, json_integer(service->vnis[i]));
    for (unsigned int bit = 1; bit <= TC_BEST_EFFORT; bit <<= 1) {
        if (match_traffic_classes(service) & bit)
            json_array_append_new(classes, json_string(traffic_class_word((int)bit)));
    }
    json_t *object = json_pack(
        "{s:s,s:I,s:b,s:b,s:o,s:o,s:o,s:o}", "device", nic->name, "id", (json_int_t)service->svc_id,
        "system", (int)match_is_system(service), "enabled", (int)service->enable, "members",
        service->restricted_members ? encode_members(service) : json_null(), "vnis",
        service->restricted_vnis ? json_incref(vnis) : json_null(), "traffic_classes", classes,
        "limits", service->resource_limits ? encode_limits(service) : json_null());
    json_decref(vnis);
    if (job)
        json_object_set_new(object, "job", json_string(job));
    return object;
}

static int list_json(struct node *node)
{
    json_t *list = json_array();
    for (unsigned int i = 0; i < node->nics.count; i++) {
        const struct nic *nic = &node->nics.at[i];
        for (unsigned int s = 0; nic->services && s < nic->services->count; s++)
            json_array_append_new(list, encode(node, nic, &nic->services->descs[s]));
    }
    json_t *root = json_pack("{s:o}", "services", list);
    char *text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
    json_decref(root);
    if (!text)
        return command_no_memory();
    puts(text);
    free(text);
    return COMMAND_DONE;
}

/* ---- Table ---- */

static bool has_same_users(const struct cxi_svc_desc *a, const struct cxi_svc_desc *b)
{
    bool same = a->restricted_members == b->restricted_members &&
                a->restricted_vnis == b->restricted_vnis && a->num_vld_vnis == b->num_vld_vnis &&
                memcmp(a->vnis, b->vnis, sizeof a->vnis) == 0;
    for (int i = 0; same && i < CXI_SVC_MAX_MEMBERS; i++)
        same = a->members[i].type == b->members[i].type &&
               a->members[i].svc_member.uid == b->members[i].svc_member.uid;
    return same;
}

/* Whether a line shows the same of both, but for NIC and id. */
static bool is_alike(const struct cxi_svc_desc *a, const struct cxi_svc_desc *b)
{
    bool same = match_is_system(a) == match_is_system(b) && has_same_users(a, b) &&
                match_traffic_classes(a) == match_traffic_classes(b) &&
                a->resource_limits == b->resource_limits;
    for (int type = 0; same && type < CXI_RSRC_TYPE_MAX; type++)
        same = a->limits.type[type].res == b->limits.type[type].res &&
               a->limits.type[type].max == b->limits.type[type].max;
    return same;
}

/* The service of the NIC that is alike, and is the same job's as far as is known. */
static const struct cxi_svc_desc *find_alike(struct node *node, const struct nic *nic,
                                             const struct cxi_svc_desc *service, const char *job)
{
    for (unsigned int s = 0; nic->services && s < nic->services->count; s++) {
        const struct cxi_svc_desc *other = &nic->services->descs[s];
        const char *others_job = node_job_of(node, nic->name, other->svc_id);
        bool same_job = job ? others_job && strcmp(job, others_job) == 0 : !others_job;
        if (same_job && is_alike(service, other))
            return other;
    }
    return NULL;
}

/* "11" when all are the same, else "11,11,12,11". */
static void join_ids(const unsigned int *ids, unsigned int count, char *out, size_t size)
{
    size_t used = 0;
    bool same = true;
    for (unsigned int i = 1; i < count; i++)
        same &= ids[i] == ids[0];
    for (unsigned int i = 0; i < (same ? 1 : count) && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%u", i ? "," : "", ids[i]);
}

static void print_who(struct columns *columns, const struct cxi_svc_desc *service)
{
    char vnis[CLAIM_VNIS_TEXT_SIZE];
    if (match_is_system(service))
        columns_cell(columns, "system");
    else if (!service->restricted_members)
        columns_cell(columns, "any");
    else if (match_looks_ours(service) || service->members[0].type == CXI_SVC_MEMBER_UID)
        columns_cell(columns, "%u", service->members[0].svc_member.uid);
    else
        columns_cell(columns, "others");
    claim_vnis(service->vnis, service->num_vld_vnis, vnis);
    columns_cell(columns, "%s", service->restricted_vnis ? vnis : "any");
    columns_cell(columns, "0x%02x", match_traffic_classes(service));
}

static bool add_line(struct node *node, struct columns *columns, unsigned int first,
                     const struct cxi_svc_desc *service, bool max)
{
    char devices[COLUMNS_CELL_SIZE] = "", ids[COLUMNS_CELL_SIZE], job[CLAIM_NAME_SIZE] = "-";
    unsigned int found[NIC_MAX], count = 0;
    size_t used = 0;
    const char *known = node_job_of(node, node->nics.at[first].name, service->svc_id);
    if (known)
        snprintf(job, sizeof job, "%s", known);
    for (unsigned int i = first; i < node->nics.count; i++) {
        const struct nic *nic = &node->nics.at[i];
        const struct cxi_svc_desc *alike =
            i == first ? service : find_alike(node, nic, service, known ? job : NULL);
        if (!alike)
            continue;
        used += (size_t)snprintf(devices + used, sizeof devices - used, "%s%s", count ? "," : "",
                                 nic->name);
        found[count++] = alike->svc_id;
    }
    join_ids(found, count, ids, sizeof ids);
    if (!columns_row(columns))
        return false;
    columns_cell(columns, "%s", devices);
    columns_cell(columns, "%s", ids);
    columns_cell(columns, "%s", job);
    print_who(columns, service);
    for (int i = 0; i < LIMITS_COUNT; i++) {
        const struct cxi_limits *of = &service->limits.type[limits_order[i]];
        if (service->resource_limits)
            columns_cell(columns, "%u", max ? of->max : of->res);
        else
            columns_cell(columns, "-");
    }
    return true;
}

/* Whether an earlier NIC's line has it already. */
static bool is_listed(struct node *node, unsigned int nic, const struct cxi_svc_desc *service)
{
    char job[CLAIM_NAME_SIZE] = "";
    const char *known = node_job_of(node, node->nics.at[nic].name, service->svc_id);
    if (known)
        snprintf(job, sizeof job, "%s", known);
    for (unsigned int i = 0; i < nic; i++) {
        if (find_alike(node, &node->nics.at[i], service, known ? job : NULL))
            return true;
    }
    return false;
}

static bool add_heading(struct columns *columns)
{
    static const char *const names[LEFT_COLUMNS] = {"NICS", "ID", "JOB", "UID", "VNIS", "TCS"};
    if (!columns_row(columns))
        return false;
    for (int i = 0; i < LEFT_COLUMNS; i++)
        columns_cell(columns, "%s", names[i]);
    for (int i = 0; i < LIMITS_COUNT; i++) {
        char name[8] = "";
        for (int c = 0; c < 7 && limits_key(limits_order[i])[c]; c++)
            name[c] = (char)(limits_key(limits_order[i])[c] - ('a' - 'A'));
        columns_cell(columns, "%s", name);
    }
    return true;
}

static int list_table(struct node *node, bool max)
{
    struct columns *columns = columns_create();
    bool good = columns && add_heading(columns);
    for (unsigned int i = 0; good && i < node->nics.count; i++) {
        const struct nic *nic = &node->nics.at[i];
        for (unsigned int s = 0; good && nic->services && s < nic->services->count; s++) {
            const struct cxi_svc_desc *service = &nic->services->descs[s];
            if (!is_listed(node, i, service))
                good = add_line(node, columns, i, service, max);
        }
    }
    if (good)
        columns_print(columns, LEFT_COLUMNS, stdout);
    columns_destroy(columns);
    return good ? COMMAND_DONE : command_no_memory();
}

static int list(struct node *node, const struct wanted *wanted)
{
    struct error err;
    if (node_remember(node, false, &err) < 0 || node_find_nics(node, &err) < 0)
        return command_failed(&err);
    int rc = COMMAND_DONE;
    for (unsigned int i = 0; i < node->nics.count; i++) {
        const struct nic *nic = &node->nics.at[i];
        if (nic->failure < 0) {
            say("%s cannot be asked for its services: %s", nic->name, strerror(-nic->failure));
            rc = COMMAND_REFUSED;
        }
    }
    int printed = wanted->json ? list_json(node) : list_table(node, wanted->max);
    return printed == COMMAND_DONE ? rc : printed;
}

static int run_list(const struct command *command, struct node *node, int argc, char **argv)
{
    static const struct option options[] = {
        {"max", no_argument, NULL, 'm'}, {"json", no_argument, NULL, 'J'}, {0}};
    struct wanted wanted = {0};
    int rc = command_options(command, node, argc, argv, options, read_list_option, &wanted);
    if (rc == COMMAND_GO_ON)
        rc = list(node, &wanted);
    return command_end(node, rc);
}

const struct command command_list = {"list", "all services of all NICs", usage, run_list};
