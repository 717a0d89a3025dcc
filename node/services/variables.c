/* SPDX-License-Identifier: Apache-2.0 */
#include "node/services/variables.h"

#include "base/text.h"
#include "node/services/claim.h"
#include "node/services/service.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

const char *const variables_names[VARIABLES_COUNT] = {"SLINGSHOT_VNIS", "SLINGSHOT_DEVICES",
                                                      "SLINGSHOT_SVC_IDS", "SLINGSHOT_TCS"};

/* By enum variables_format: its word, and what stands around name and value. */
static const struct {
    const char *word, *before, *equals, *after, *unset_before, *unset_after;
} formats[VARIABLES_NONE] = {
    [VARIABLES_SH] = {"sh", "export ", "='", "'\n", "unset ", "\n"},
    [VARIABLES_JSON] = {"json", "  \"", "\": \"", "\"", "  \"", "\": null"},
    [VARIABLES_NULL] = {"null", "", "=", "", NULL, NULL}, /* and a NUL byte */
    [VARIABLES_SLURM] = {"slurm", "export ", "=", "\n", "unset ", "\n"},
};

enum variables_format variables_format_from_word(const char *word)
{
    int i = 0;
    while (i < VARIABLES_NONE && strcmp(formats[i].word, word) != 0)
        i++;
    return (enum variables_format)i;
}

void variables_add(struct variables *variables, const char *device,
                   const struct cxi_svc_desc *service)
{
    assert(variables->service_count < NIC_MAX);
    unsigned int classes = service_traffic_classes(service);
    bool first = variables->service_count == 0;
    struct service_place *place = &variables->services[variables->service_count++];
    snprintf(place->device, sizeof place->device, "%s", device);
    place->id = service->svc_id;
    /* Tasks do not choose by NIC: what one NIC refuses they cannot use. */
    variables->traffic_classes = first ? classes : variables->traffic_classes & classes;
}

static void print_value(const struct variables *variables, enum variables_name name, FILE *out)
{
    char vnis[CLAIM_VNIS_TEXT_SIZE];
    if (variables->unchecked[name])
        fputs(variables->unchecked[name], out);
    else if (name == VARIABLES_VNIS)
        fputs(claim_vnis(variables->vnis, variables->vni_count, vnis), out);
    else if (name == VARIABLES_TCS)
        fprintf(out, "0x%02x", variables->traffic_classes);
    for (unsigned int i = 0; name == VARIABLES_DEVICES && i < variables->service_count; i++)
        fprintf(out, "%s%s", i ? "," : "", variables->services[i].device);
    for (unsigned int i = 0; name == VARIABLES_SVC_IDS && i < variables->service_count; i++)
        fprintf(out, "%s%u", i ? "," : "", variables->services[i].id);
}

/* As env_decode of libmcast: what it prints ends up in `eval`, also of root. */
static bool is_printable(const char *name, const char *value)
{
    static const char *const beginnings[] = {"FI_CXI_", "FI_OPX_", "FI_PSM3_", "PSM3_",
                                             "MCAST_NODE_"};
    bool known = false;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        known |= strncmp(name, beginnings[i], strlen(beginnings[i])) == 0;
    if (!known || name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] != '\0')
        return false;
    for (const char *at = value; *at != '\0'; at++)
        if (iscntrl((unsigned char)*at))
            return false;
    return true;
}

static void print_quoted(const char *value, enum variables_format format, FILE *out)
{
    for (const char *at = value; *at != '\0'; at++) {
        if (format == VARIABLES_SH && *at == '\'')
            fputs("'\\'", out);
        if (format == VARIABLES_JSON && (*at == '"' || *at == '\\'))
            putc('\\', out);
        putc(*at, out);
    }
}

static void print_tasks(json_t *tasks, enum variables_format format, FILE *out)
{
    const char *name;
    json_t *value;
    json_object_foreach(tasks, name, value)
    {
        const char *text = json_string_value(value);
        if (!text || !is_printable(name, text))
            continue;
        fprintf(out, "%s%s%s%s", format == VARIABLES_JSON ? ",\n" : "", formats[format].before,
                name, formats[format].equals);
        print_quoted(text, format, out);
        fputs(formats[format].after, out);
        if (format == VARIABLES_NULL)
            putc('\0', out);
    }
}

/* No value of these has a letter that a shell or JSON would want quoted (nic.h); the quotes are for
 * those who read it. */
void variables_print(const struct variables *variables, enum variables_format format, FILE *out)
{
    for (int i = 0; i < VARIABLES_COUNT; i++) {
        const char *name = variables_names[i];
        if (format == VARIABLES_JSON)
            fputs(i ? ",\n" : "{\n", out);
        if (!variables->clear || variables->unchecked[i]) {
            fprintf(out, "%s%s%s", formats[format].before, name, formats[format].equals);
            print_value(variables, (enum variables_name)i, out);
            fputs(formats[format].after, out);
            if (format == VARIABLES_NULL)
                putc('\0', out);
        } else if (formats[format].unset_before) {
            fprintf(out, "%s%s%s", formats[format].unset_before, name, formats[format].unset_after);
        }
    }
    print_tasks(variables->tasks, format, out);
    if (format == VARIABLES_JSON)
        fputs("\n}\n", out);
}

/* ---- From an outer instance ---- */

struct list {
    unsigned int count;
    char words[NIC_MAX][NIC_NAME_SIZE];
};

static bool split_list(struct list *list, const char *text)
{
    *list = (struct list){0};
    for (;;) {
        size_t length = strcspn(text, ",");
        if (length == 0 || length >= NIC_NAME_SIZE || list->count == NIC_MAX)
            return false;
        memcpy(list->words[list->count++], text, length);
        if (text[length] == '\0')
            return true;
        text += length + 1;
    }
}

static int cannot_inherit(struct error *err, enum variables_name name, const char *value,
                          const char *what)
{
    return error_set(err, ERROR_INVALID, "%s=%.100s cannot be inherited: %s", variables_names[name],
                     value, what);
}

static int inherit_vnis(struct variables *variables, const char *value, struct error *err)
{
    struct list list;
    if (!split_list(&list, value) || list.count > CXI_SVC_MAX_VNIS)
        return cannot_inherit(err, VARIABLES_VNIS, value, "it is no list of 1 to 4 VNIs");
    for (unsigned int i = 0; i < list.count; i++) {
        uint64_t vni;
        if (!text_number(list.words[i], 10, UINT16_MAX, &vni))
            return cannot_inherit(err, VARIABLES_VNIS, value, "a VNI is a number from 0 to 65535");
        for (unsigned int earlier = 0; earlier < i; earlier++) {
            if (variables->vnis[earlier] == vni)
                return cannot_inherit(err, VARIABLES_VNIS, value, "a VNI is named twice");
        }
        variables->vnis[variables->vni_count++] = (uint16_t)vni;
    }
    return 0;
}

/* The service must be there, and be for these VNIs. Its owner does not matter: the kernel
 * checks that when it is used. */
static int inherit_service(struct variables *variables, struct nics *nics, const char *device,
                           unsigned int id, struct error *err)
{
    char who[SERVICE_TEXT_SIZE];
    const struct nic *nic = nics_find(nics, device);
    if (!nic)
        return error_set(err, ERROR_INVALID,
                         "SLINGSHOT_DEVICES cannot be inherited: this node has no NIC %s", device);
    if (nic->failure < 0)
        return error_set(err, ERROR_IO, "%s cannot be asked for its services: %s", device,
                         strerror(-nic->failure));
    const struct cxi_svc_desc *service = service_by_id(nic->services, id);
    if (!service)
        return error_set(err, ERROR_INVALID,
                         "SLINGSHOT_SVC_IDS cannot be inherited: %s has no service %u; the outer "
                         "job's services are gone",
                         device, id);
    /* Another resource manager's may have more VNIs, or be for any. */
    bool same = true;
    for (unsigned int i = 0; service->restricted_vnis && i < variables->vni_count; i++)
        same &= service_has_vni(service, variables->vnis[i]);
    if (!same)
        return error_set(err, ERROR_INVALID,
                         "SLINGSHOT_VNIS cannot be inherited: service %u of %s is another's (%s)",
                         id, device, service_describe(service, who));
    variables_add(variables, device, service);
    return 0;
}

static int inherit_services(struct variables *variables, struct nics *nics, const char *devices,
                            const char *ids, struct error *err)
{
    struct list names, numbers;
    uint64_t id;
    if (!split_list(&names, devices))
        return cannot_inherit(err, VARIABLES_DEVICES, devices, "it is no list of NICs");
    if (!split_list(&numbers, ids))
        return cannot_inherit(err, VARIABLES_SVC_IDS, ids, "it is no list of service ids");
    if (names.count != numbers.count)
        return error_set(err, ERROR_INVALID,
                         "SLINGSHOT_DEVICES has %u entries and SLINGSHOT_SVC_IDS %u: they belong "
                         "together one by one",
                         names.count, numbers.count);
    int rc = 0;
    for (unsigned int i = 0; rc == 0 && i < names.count; i++) {
        for (unsigned int earlier = 0; earlier < i; earlier++) {
            if (strcmp(names.words[i], names.words[earlier]) == 0)
                return cannot_inherit(err, VARIABLES_DEVICES, devices, "a NIC is named twice");
        }
        if (!text_number(numbers.words[i], 10, INT32_MAX, &id))
            return cannot_inherit(err, VARIABLES_SVC_IDS, ids, "an id is a number");
        rc = inherit_service(variables, nics, names.words[i], (unsigned int)id, err);
    }
    return rc;
}

int variables_inherit(struct variables *variables, const char *const given[VARIABLES_COUNT],
                      struct nics *nics, struct error *err)
{
    const char *classes = given[VARIABLES_TCS];
    uint64_t bits;
    *variables = (struct variables){.clear = true};
    for (int i = 0; i < VARIABLES_COUNT; i++)
        variables->clear &= !given[i];
    if (variables->clear)
        return 0;
    for (int i = VARIABLES_VNIS; i <= VARIABLES_SVC_IDS; i++) {
        if (!given[i])
            return error_set(err, ERROR_NOT_FOUND, "%s is not set, and others of the outer job are",
                             variables_names[i]);
    }
    int rc = inherit_vnis(variables, given[VARIABLES_VNIS], err);
    if (rc == 0)
        rc = inherit_services(variables, nics, given[VARIABLES_DEVICES], given[VARIABLES_SVC_IDS],
                              err);
    if (rc < 0 || !classes)
        return rc;
    if (!text_number(classes, 0, 0xff, &bits))
        return cannot_inherit(err, VARIABLES_TCS, classes, "it is no bit mask such as 0x0a");
    if ((bits & ~variables->traffic_classes) != 0)
        return error_set(err, ERROR_INVALID,
                         "SLINGSHOT_TCS=%s cannot be inherited: the services allow 0x%02x only",
                         classes, variables->traffic_classes);
    variables->traffic_classes = (unsigned int)bits;
    return 0;
}

bool variables_pass(struct variables *variables, const char *const given[VARIABLES_COUNT])
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,-";
    *variables = (struct variables){.clear = true};
    for (int i = 0; i < VARIABLES_COUNT; i++) {
        variables->unchecked[i] = given[i];
        if (given[i] && given[i][strspn(given[i], letters)] != '\0')
            return false;
    }
    return true;
}
