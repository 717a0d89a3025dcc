/* SPDX-License-Identifier: Apache-2.0 */
#include "core/reservation/record.h"
#include "node/commands/command.h"
#include "node/services/limits.h"
#include "node/services/match.h"

#include <ctype.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
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

/* ---- JSON ---- */

static json_t *encode_limits(const struct cxi_svc_desc *service)
{
    json_t *limits = json_object();
    for (int i = 0; i < LIMITS_COUNT; i++) {
        const struct cxi_limits *of = &service->limits.type[limits_resources[i].type];
        json_object_set_new(limits, limits_resources[i].key,
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

static json_t *encode_service(struct node *node, const struct nic *nic,
                              const struct cxi_svc_desc *service)
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

static int print_json(struct node *node)
{
    json_t *list = json_array();
    for (unsigned int i = 0; i < node->nics.count; i++) {
        const struct nic *nic = &node->nics.at[i];
        for (unsigned int s = 0; nic->services && s < nic->services->count; s++)
            json_array_append_new(list, encode_service(node, nic, &nic->services->descs[s]));
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

enum { LEFT_COLUMNS = 6, COLUMNS = LEFT_COLUMNS + LIMITS_COUNT, CELL_SIZE = 300 };

/* Services that differ in NIC and id only. */
struct line {
    const struct cxi_svc_desc *service;
    const struct note *note; /* whose; NULL: not known */
    unsigned int count;
    const struct nic *nics[NIC_MAX];
    unsigned int ids[NIC_MAX];
};

/* The texts of one line of the table. */
struct cells {
    int count;
    char text[COLUMNS][CELL_SIZE];
};

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

static bool add_service(struct line **lines, size_t *count, const struct nic *nic,
                        const struct cxi_svc_desc *service, const struct note *note)
{
    struct line *line = NULL;
    for (size_t i = 0; i < *count && !line; i++) {
        struct line *at = &(*lines)[i];
        if (at->note == note && at->nics[at->count - 1] != nic && is_alike(at->service, service))
            line = at;
    }
    if (!line) {
        struct line *grown = reallocarray(*lines, *count + 1, sizeof *grown);
        if (!grown)
            return false;
        *lines = grown;
        line = &grown[(*count)++];
        *line = (struct line){.service = service, .note = note};
    }
    line->nics[line->count] = nic;
    line->ids[line->count++] = service->svc_id;
    return true;
}

__attribute__((format(printf, 2, 3))) static void add_cell(struct cells *cells, const char *format,
                                                           ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(cells->text[cells->count++], CELL_SIZE, format, args);
    va_end(args);
}

static void fill_heading(struct cells *cells)
{
    static const char *const names[LEFT_COLUMNS] = {"NICS", "ID", "JOB", "UID", "VNIS", "TCS"};
    cells->count = 0;
    for (int i = 0; i < LEFT_COLUMNS; i++)
        add_cell(cells, "%s", names[i]);
    for (int i = 0; i < LIMITS_COUNT; i++) {
        add_cell(cells, "%s", limits_resources[i].key);
        for (char *at = cells->text[cells->count - 1]; *at; at++)
            *at = (char)toupper((unsigned char)*at);
    }
}

/* "cxi0,cxi1", and "11" when all ids are the same, else "11,12". */
static void fill_nics(struct cells *cells, const struct line *line)
{
    char devices[CELL_SIZE], ids[CELL_SIZE];
    size_t used = 0, used_ids = 0;
    bool same = true;
    for (unsigned int i = 0; i < line->count; i++) {
        used += (size_t)snprintf(devices + used, sizeof devices - used, "%s%s", i ? "," : "",
                                 line->nics[i]->name);
        used_ids += (size_t)snprintf(ids + used_ids, sizeof ids - used_ids, "%s%u", i ? "," : "",
                                     line->ids[i]);
        same &= line->ids[i] == line->ids[0];
    }
    add_cell(cells, "%s", devices);
    add_cell(cells, "%.*s", same ? (int)strcspn(ids, ",") : CELL_SIZE, ids);
}

static void fill_line(struct cells *cells, const struct line *line, bool max)
{
    const struct cxi_svc_desc *service = line->service;
    char vnis[CLAIM_VNIS_TEXT_SIZE], job[CLAIM_NAME_SIZE];
    cells->count = 0;
    fill_nics(cells, line);
    add_cell(cells, "%s", line->note ? claim_name(&line->note->claim, job) : "-");
    if (match_is_system(service))
        add_cell(cells, "system");
    else if (!service->restricted_members)
        add_cell(cells, "any");
    else if (service->members[0].type == CXI_SVC_MEMBER_UID)
        add_cell(cells, "%u", service->members[0].svc_member.uid);
    else
        add_cell(cells, "others");
    claim_vnis(service->vnis, service->num_vld_vnis, vnis);
    add_cell(cells, "%s", service->restricted_vnis ? vnis : "any");
    add_cell(cells, "0x%02x", match_traffic_classes(service));
    for (int i = 0; i < LIMITS_COUNT; i++) {
        const struct cxi_limits *of = &service->limits.type[limits_resources[i].type];
        if (service->resource_limits)
            add_cell(cells, "%u", max ? of->max : of->res);
        else
            add_cell(cells, "-");
    }
}

/* In aligned columns: twice, as the first time shows how wide they are. */
static void print_lines(const struct line *lines, size_t count, bool max)
{
    static struct cells cells;
    int widths[COLUMNS] = {0};
    for (int print = 0; print <= 1; print++) {
        for (size_t i = 0; i <= count; i++) {
            if (i == 0)
                fill_heading(&cells);
            else
                fill_line(&cells, &lines[i - 1], max);
            for (int c = 0; c < COLUMNS; c++) {
                int length = (int)strlen(cells.text[c]);
                widths[c] = length > widths[c] ? length : widths[c];
                if (print) /* numbers at the right */
                    printf("%*s%c", c < LEFT_COLUMNS ? -widths[c] : widths[c], cells.text[c],
                           c == COLUMNS - 1 ? '\n' : ' ');
            }
        }
    }
}

static int print_table(const struct node *node, bool max)
{
    struct line *lines = NULL;
    size_t count = 0;
    bool good = true;
    for (unsigned int i = 0; i < node->nics.count; i++) {
        const struct nic *nic = &node->nics.at[i];
        for (unsigned int s = 0; good && nic->services && s < nic->services->count; s++) {
            const struct cxi_svc_desc *service = &nic->services->descs[s];
            good = add_service(&lines, &count, nic, service,
                               notes_holder(&node->notes, nic->name, service->svc_id));
        }
    }
    if (good)
        print_lines(lines, count, max);
    free(lines);
    return good ? COMMAND_DONE : command_no_memory();
}

static int run_list(struct node *node, const struct command_options *options)
{
    struct error err;
    if (node_find_nics(node, &err) < 0)
        return command_failed(&err);
    int rc = COMMAND_DONE;
    for (unsigned int i = 0; i < node->nics.count; i++) {
        const struct nic *nic = &node->nics.at[i];
        if (nic->failure < 0) {
            say("%s cannot be asked for its services: %s", nic->name, strerror(-nic->failure));
            rc = COMMAND_REFUSED;
        }
    }
    int printed = options->json ? print_json(node) : print_table(node, options->max);
    return printed == COMMAND_DONE ? rc : printed;
}

const struct command command_list = {"list",  "all services of all NICs", usage, "mJ", SPOOL_READ,
                                     run_list};
