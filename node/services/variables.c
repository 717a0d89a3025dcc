/* SPDX-License-Identifier: Apache-2.0 */
#include "node/services/variables.h"

#include "node/services/claim.h"
#include "node/services/service.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const variables_names[VARIABLES_COUNT] = {
#define NAME_(name, text) [VARIABLES_##name] = (text),
    VARIABLES_NAMES(NAME_)
#undef NAME_
};

enum { VALUE_SIZE = NIC_MAX * (NIC_NAME_SIZE + 1) };

enum variables_format variables_format_from_word(const char *word)
{
    static const char *const words[] = {[VARIABLES_SH] = "sh",
                                        [VARIABLES_JSON] = "json",
                                        [VARIABLES_NULL] = "null",
                                        [VARIABLES_SLURM] = "slurm"};
    for (int i = VARIABLES_SH; i < VARIABLES_NONE; i++) {
        if (strcmp(words[i], word) == 0)
            return (enum variables_format)i;
    }
    return VARIABLES_NONE;
}

void variables_add(struct variables *variables, const char *device,
                   const struct cxi_svc_desc *service)
{
    assert(variables->service_count < NIC_MAX);
    unsigned int classes = service_traffic_classes(service);
    bool first = variables->service_count == 0;
    struct variables_service *place = &variables->services[variables->service_count++];
    snprintf(place->device, sizeof place->device, "%s", device);
    place->id = service->svc_id;
    /* Tasks do not choose by NIC: what one NIC refuses they cannot use. */
    variables->traffic_classes = first ? classes : variables->traffic_classes & classes;
}

static void write_value(const struct variables *variables, enum variables_name name,
                        char out[VALUE_SIZE])
{
    size_t used = 0;
    char vnis[CLAIM_VNIS_TEXT_SIZE];
    out[0] = '\0';
    if (name == VARIABLES_VNIS)
        snprintf(out, VALUE_SIZE, "%s", claim_vnis(variables->vnis, variables->vni_count, vnis));
    if (name == VARIABLES_TCS)
        snprintf(out, VALUE_SIZE, "0x%02x", variables->traffic_classes);
    for (unsigned int i = 0; name == VARIABLES_DEVICES && i < variables->service_count; i++)
        used += (size_t)snprintf(out + used, VALUE_SIZE - used, "%s%s", i ? "," : "",
                                 variables->services[i].device);
    for (unsigned int i = 0; name == VARIABLES_SVC_IDS && i < variables->service_count; i++)
        used += (size_t)snprintf(out + used, VALUE_SIZE - used, "%s%u", i ? "," : "",
                                 variables->services[i].id);
}

/* No value has a letter that a shell or JSON would want quoted (nic.h); the quotes are for those
 * who read it. */
static void print_value(FILE *out, enum variables_format format, int i, const char *value)
{
    const char *name = variables_names[i];
    if (format == VARIABLES_SH)
        fprintf(out, "export %s='%s'\n", name, value);
    else if (format == VARIABLES_SLURM)
        fprintf(out, "export %s=%s\n", name, value);
    else if (format == VARIABLES_JSON)
        fprintf(out, "%s  \"%s\": \"%s\"", i ? ",\n" : "{\n", name, value);
    else
        fprintf(out, "%s=%s%c", name, value, '\0');
}

static void print_unset(FILE *out, enum variables_format format, int i)
{
    const char *name = variables_names[i];
    if (format == VARIABLES_JSON)
        fprintf(out, "%s  \"%s\": null", i ? ",\n" : "{\n", name);
    else if (format != VARIABLES_NULL)
        fprintf(out, "unset %s\n", name);
}

void variables_print(const struct variables *variables, enum variables_format format, FILE *out)
{
    for (int i = 0; i < VARIABLES_COUNT; i++) {
        char value[VALUE_SIZE];
        write_value(variables, (enum variables_name)i, value);
        if (variables->clear)
            print_unset(out, format, i);
        else
            print_value(out, format, i, value);
    }
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

static bool read_number(const char *text, int base, unsigned long max, unsigned int *out)
{
    char *end;
    if (!isdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    unsigned long value = strtoul(text, &end, base);
    *out = (unsigned int)value;
    return !*end && !errno && value <= max;
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
        unsigned int vni;
        if (!read_number(list.words[i], 10, UINT16_MAX, &vni))
            return cannot_inherit(err, VARIABLES_VNIS, value, "a VNI is a number from 0 to 65535");
        for (unsigned int earlier = 0; earlier < variables->vni_count; earlier++) {
            if (variables->vnis[earlier] == vni)
                return cannot_inherit(err, VARIABLES_VNIS, value, "a VNI is named twice");
        }
        variables->vnis[variables->vni_count++] = (uint16_t)vni;
    }
    return 0;
}

/* The service must be there, and be for just these VNIs. Its owner does not matter: the kernel
 * checks that when it is used. */
static int inherit_service(struct variables *variables, struct nics *nics, const char *device,
                           const char *id_text, struct error *err)
{
    unsigned int id;
    if (!read_number(id_text, 10, INT32_MAX, &id))
        return error_set(err, ERROR_INVALID,
                         "SLINGSHOT_SVC_IDS cannot be inherited: '%s' is no number", id_text);
    const struct nic *nic = nics_find(nics, device);
    if (!nic)
        return error_set(err, ERROR_INVALID,
                         "SLINGSHOT_DEVICES cannot be inherited: this node has no NIC %s", device);
    if (nic->failure < 0)
        return error_set(err, ERROR_IO, "%s cannot be asked for its services: %s", device,
                         strerror(-nic->failure));
    const struct cxi_svc_desc *service = service_by_id(nic->services, id);
    char who[SERVICE_TEXT_SIZE];
    if (!service)
        return error_set(err, ERROR_INVALID,
                         "SLINGSHOT_SVC_IDS cannot be inherited: %s has no service %u; the outer "
                         "job's services are gone",
                         device, id);
    bool same = service->restricted_vnis && service->num_vld_vnis == variables->vni_count;
    for (unsigned int i = 0; same && i < variables->vni_count; i++)
        same = service_has_vni(service, variables->vnis[i]);
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
        rc = inherit_service(variables, nics, names.words[i], numbers.words[i], err);
    }
    return rc;
}

static int inherit_classes(struct variables *variables, const char *value, struct error *err)
{
    unsigned int bits;
    if (!read_number(value, 0, 0xff, &bits))
        return cannot_inherit(err, VARIABLES_TCS, value, "it is no bit mask such as 0x0a");
    if ((bits & ~variables->traffic_classes) != 0)
        return error_set(err, ERROR_INVALID,
                         "SLINGSHOT_TCS=%s cannot be inherited: the services allow 0x%02x only",
                         value, variables->traffic_classes);
    variables->traffic_classes = bits;
    return 0;
}

int variables_inherit(struct variables *variables, const char *const given[VARIABLES_COUNT],
                      struct nics *nics, struct error *err)
{
    *variables = (struct variables){.clear = true};
    for (int i = 0; i < VARIABLES_COUNT; i++)
        variables->clear &= !given[i];
    for (int i = VARIABLES_VNIS; !variables->clear && i <= VARIABLES_SVC_IDS; i++) {
        if (!given[i])
            return error_set(err, ERROR_INVALID,
                             "%s is not set, and others of the outer job are: set all or none",
                             variables_names[i]);
    }
    if (variables->clear)
        return 0;
    int rc = inherit_vnis(variables, given[VARIABLES_VNIS], err);
    if (rc == 0)
        rc = inherit_services(variables, nics, given[VARIABLES_DEVICES], given[VARIABLES_SVC_IDS],
                              err);
    if (rc == 0 && given[VARIABLES_TCS])
        rc = inherit_classes(variables, given[VARIABLES_TCS], err);
    return rc;
}
