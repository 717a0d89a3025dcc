/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/http/api/bodies/bodies.h"

#include <stdio.h>
#include <string.h>

static int refuse(const char *within, const char *name, const char *sentence,
                  struct problem *problem)
{
    char field[48];
    snprintf(field, sizeof field, "%s.%s", within, name);
    return problem_set(problem, 422, "invalid", field, "%s %s", field, sentence);
}

static int read_word(const char *text, const char *within, const char *name,
                     char out[static NODENICS_WORD_MAX + 1], struct problem *problem)
{
    if (!text)
        return 0;
    if (!nodenics_word_valid(text))
        return refuse(within, name, "must be at most 64 printable characters, but blank \" \\ , ;",
                      problem);
    strcpy(out, text);
    return 0;
}

static int read_nic(const json_t *value, const char *within, struct nodenic *nic,
                    struct problem *problem)
{
    const char *device = NULL, *link = NULL, *serial = NULL, *firmware = NULL;
    int64_t address = -1, speed = 0;
    const struct body_field fields[] = {{"device", .text = &device},
                                        {"address", .number = &address, .max = UINT32_MAX},
                                        {"speed", .number = &speed, .max = UINT32_MAX},
                                        {"link", .text = &link},
                                        {"serial", .text = &serial},
                                        {"firmware", .text = &firmware},
                                        {0}};
    if (!json_is_object(value))
        return problem_set(problem, 422, "invalid", within, "%s must be an object", within);
    if (body_read_fields(value, within, fields, problem) < 0 ||
        read_word(serial, within, "serial", nic->serial, problem) < 0 ||
        read_word(firmware, within, "firmware", nic->firmware, problem) < 0)
        return -1;
    if (!device || strlen(device) > NODENICS_DEVICE_MAX)
        return refuse(within, "device", "must be the name of a NIC: 1 to 15 of A-Z, a-z, 0-9, ._-",
                      problem);
    if (address < 0)
        return refuse(within, "address", "is missing: the NIC's own in the fabric", problem);
    nic->up = link && strcmp(link, "up") == 0;
    if (!nic->up && (!link || strcmp(link, "down") != 0))
        return refuse(within, "link", "must be up or down", problem);
    strcpy(nic->device, device);
    nic->address = (uint32_t)address;
    nic->speed = (uint32_t)speed;
    return 0;
}

int nics_body_parse(const json_t *json, struct nics_body *body, struct problem *problem)
{
    struct nodenic nics[NODENICS_NICS_MAX];
    const json_t *list = NULL;
    int64_t order = 0;
    const struct body_field fields[] = {
        {"order", .number = &order, .min = 1, .max = INT64_MAX}, {"nics", .value = &list}, {0}};
    memset(nics, 0, sizeof nics);
    if (body_read_fields(json, "", fields, problem) < 0)
        return -1;
    if (order == 0)
        return problem_set(problem, 422, "missing-field", "order",
                           "order is missing: higher than those of the node's earlier reports");
    if (!json_is_array(list) || json_array_size(list) > NODENICS_NICS_MAX)
        return problem_set(problem, 422, "invalid", "nics",
                           "nics must be the list of all NICs of the node, at most %d",
                           NODENICS_NICS_MAX);
    for (size_t i = 0; i < json_array_size(list); i++) {
        char within[32];
        snprintf(within, sizeof within, "nics[%zu]", i);
        if (read_nic(json_array_get(list, i), within, &nics[i], problem) < 0)
            return -1;
    }
    if (!nodenics_write(nics, json_array_size(list), body->nics))
        return problem_set(problem, 422, "invalid", "nics",
                           "nics has a device that is named twice, or that cannot be a NIC: "
                           "devices are 1 to 15 of A-Z, a-z, 0-9 and ._-");
    body->order = (uint64_t)order;
    return 0;
}
