/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "core/reservation/record.h"
#include "node/commands/command.h"
#include "node/services/limits.h"
#include "node/services/service.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        if (service_traffic_classes(service) & bit)
            json_array_append_new(classes, json_string(traffic_class_word((int)bit)));
    }
    json_t *object = json_pack(
        "{s:s,s:I,s:b,s:b,s:o,s:o,s:o,s:o}", "device", nic->name, "id", (json_int_t)service->svc_id,
        "system", (int)service_is_system(service), "enabled", (int)service->enable, "members",
        service->restricted_members ? encode_members(service) : json_null(), "vnis",
        service->restricted_vnis ? json_incref(vnis) : json_null(), "traffic_classes", classes,
        "limits", service->resource_limits ? encode_limits(service) : json_null());
    json_decref(vnis);
    if (job)
        json_object_set_new(object, "job", json_string(job));
    return object;
}

static void print_json(struct node *node)
{
    json_t *list = json_array();
    for (unsigned int i = 0; i < node->nics.count; i++) {
        const struct nic *nic = &node->nics.at[i];
        for (unsigned int s = 0; nic->services && s < nic->services->count; s++)
            json_array_append_new(list, encode_service(node, nic, &nic->services->descs[s]));
    }
    json_t *root = memory_must(json_pack("{s:o}", "services", list));
    (void)json_dumpf(root, stdout, JSON_INDENT(2)); /* command_finish sees what fails */
    putchar('\n');
    json_decref(root);
}

/* ---- Table ---- */

/* Columns: NICs, id, job, who, VNIs, traffic classes; then what is reserved, and the maxima. */
enum { NICS, ID, SHARED, LEFT_COLUMNS = 6, COLUMNS = LEFT_COLUMNS + 2 * LIMITS_COUNT };
enum { CELL_SIZE = 300 };

/* Services that differ in NIC and id only. */
struct line {
    const struct nic *last;
    unsigned int first_id;
    bool ids_differ;
    char cells[COLUMNS][CELL_SIZE];
};

struct table {
    size_t count;
    struct line *lines; /* the first is the heading */
};

static void fill_heading(struct line *line)
{
    static const char *const names[LEFT_COLUMNS] = {"NICS", "ID", "JOB", "UID", "VNIS", "TCS"};
    for (int i = 0; i < LEFT_COLUMNS; i++)
        snprintf(line->cells[i], CELL_SIZE, "%s", names[i]);
    for (int i = LEFT_COLUMNS; i < COLUMNS; i++) {
        const char *key = limits_resources[(i - LEFT_COLUMNS) % LIMITS_COUNT].key;
        for (size_t c = 0; key[c]; c++)
            line->cells[i][c] = (char)toupper((unsigned char)key[c]);
    }
}

static void fill_line(struct line *line, const char *job, const struct nic *nic,
                      const struct cxi_svc_desc *service)
{
    char vnis[CLAIM_VNIS_TEXT_SIZE];
    char(*cell)[CELL_SIZE] = line->cells;
    *line = (struct line){.last = nic, .first_id = service->svc_id};
    snprintf(*cell++, CELL_SIZE, "%s", nic->name);
    snprintf(*cell++, CELL_SIZE, "%u", service->svc_id);
    snprintf(*cell++, CELL_SIZE, "%s", job ? job : "-");
    if (service_is_system(service))
        snprintf(*cell++, CELL_SIZE, "system");
    else if (!service->restricted_members)
        snprintf(*cell++, CELL_SIZE, "any");
    else if (service->members[0].type == CXI_SVC_MEMBER_UID)
        snprintf(*cell++, CELL_SIZE, "%u", service->members[0].svc_member.uid);
    else
        snprintf(*cell++, CELL_SIZE, "others");
    claim_vnis(service->vnis, service->num_vld_vnis, vnis);
    snprintf(*cell++, CELL_SIZE, "%s", service->restricted_vnis ? vnis : "any");
    snprintf(*cell++, CELL_SIZE, "0x%02x", service_traffic_classes(service));
    for (int i = 0; i < 2 * LIMITS_COUNT; i++) {
        const struct cxi_limits *of =
            &service->limits.type[limits_resources[i % LIMITS_COUNT].type];
        if (service->resource_limits)
            snprintf(*cell++, CELL_SIZE, "%d", i < LIMITS_COUNT ? of->res : of->max);
        else
            snprintf(*cell++, CELL_SIZE, "-");
    }
}

static void join(char cell[CELL_SIZE], const char *other)
{
    size_t used = strlen(cell);
    snprintf(cell + used, CELL_SIZE - used, ",%s", other);
}

static void add_line(struct table *table, const struct line *line)
{
    for (size_t i = 1; i < table->count; i++) {
        struct line *at = &table->lines[i];
        if (at->last != line->last && memcmp(at->cells[SHARED], line->cells[SHARED],
                                             sizeof line->cells - 2 * CELL_SIZE) == 0) {
            at->last = line->last;
            at->ids_differ |= at->first_id != line->first_id;
            join(at->cells[NICS], line->cells[NICS]);
            join(at->cells[ID], line->cells[ID]);
            return;
        }
    }
    table->lines = memory_resized(table->lines, table->count + 1, sizeof *line);
    table->lines[table->count++] = *line;
}

static void print_lines(const struct table *table, bool max)
{
    const int left_out = max ? LEFT_COLUMNS : LEFT_COLUMNS + LIMITS_COUNT;
    int widths[COLUMNS] = {0};
    for (size_t i = 0; i < table->count; i++) {
        char *ids = table->lines[i].cells[ID];
        if (!table->lines[i].ids_differ) /* "11,11,11" becomes "11" */
            ids[strcspn(ids, ",")] = '\0';
        for (int c = 0; c < COLUMNS; c++) {
            int length = (int)strlen(table->lines[i].cells[c]);
            widths[c] = length > widths[c] ? length : widths[c];
        }
    }
    for (size_t i = 0; i < table->count; i++) {
        for (int c = 0; c < COLUMNS; c++) {
            if (c < left_out || c >= left_out + LIMITS_COUNT) /* numbers stand at the right */
                printf("%s%*s", c ? " " : "", c < LEFT_COLUMNS ? -widths[c] : widths[c],
                       table->lines[i].cells[c]);
        }
        putchar('\n');
    }
}

static void print_table(struct node *node, bool max)
{
    static struct line line;
    struct table table = {0};
    fill_heading(&line);
    add_line(&table, &line);
    for (unsigned int i = 0; i < node->nics.count; i++) {
        const struct nic *nic = &node->nics.at[i];
        for (unsigned int s = 0; nic->services && s < nic->services->count; s++) {
            const struct cxi_svc_desc *service = &nic->services->descs[s];
            fill_line(&line, node_job_of(node, nic->name, service->svc_id), nic, service);
            add_line(&table, &line);
        }
    }
    print_lines(&table, max);
    free(table.lines);
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
    if (options->json)
        print_json(node);
    else
        print_table(node, options->max);
    return rc;
}

const struct command command_list = {"list", "all services of all NICs", "mJ", SPOOL_READ,
                                     run_list};
