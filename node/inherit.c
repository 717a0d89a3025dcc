/* SPDX-License-Identifier: Apache-2.0 */
#include "node/inherit.h"

#include "node/services/match.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = NIC_MAX, WORD_SIZE = NIC_NAME_SIZE };

struct list {
    unsigned int count;
    char words[LIST_MAX][WORD_SIZE];
};

static bool split_list(struct list *list, const char *text)
{
    *list = (struct list){0};
    for (;;) {
        size_t length = strcspn(text, ",");
        if (length == 0 || length >= WORD_SIZE || list->count == LIST_MAX)
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
    const struct cxi_svc_desc *service = match_by_id(nic->services, id);
    char who[MATCH_TEXT_SIZE];
    if (!service)
        return error_set(err, ERROR_INVALID,
                         "SLINGSHOT_SVC_IDS cannot be inherited: %s has no service %u; the outer "
                         "job's services are gone",
                         device, id);
    bool same = service->restricted_vnis && service->num_vld_vnis == variables->vni_count;
    for (unsigned int i = 0; same && i < variables->vni_count; i++)
        same = match_has_vni(service, variables->vnis[i]);
    if (!same)
        return error_set(err, ERROR_INVALID,
                         "SLINGSHOT_VNIS cannot be inherited: service %u of %s is another's (%s)",
                         id, device, match_describe(service, who));
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

bool inherit_anything(const char *const given[VARIABLES_COUNT])
{
    for (int i = 0; i < VARIABLES_COUNT; i++) {
        if (given[i])
            return true;
    }
    return false;
}

int inherit_variables(struct variables *variables, const char *const given[VARIABLES_COUNT],
                      struct nics *nics, struct error *err)
{
    *variables = (struct variables){.clear = !inherit_anything(given)};
    if (variables->clear)
        return 0;
    for (int i = VARIABLES_VNIS; i <= VARIABLES_SVC_IDS; i++) {
        if (!given[i])
            return error_set(err, ERROR_INVALID,
                             "%s is not set, and others of the outer job are: set all or none",
                             variables_names[i]);
    }
    int rc = inherit_vnis(variables, given[VARIABLES_VNIS], err);
    if (rc == 0)
        rc = inherit_services(variables, nics, given[VARIABLES_DEVICES], given[VARIABLES_SVC_IDS],
                              err);
    if (rc == 0 && given[VARIABLES_TCS])
        rc = inherit_classes(variables, given[VARIABLES_TCS], err);
    return rc;
}
