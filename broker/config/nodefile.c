/* SPDX-License-Identifier: Apache-2.0 */
#include "broker/config/nodefile.h"

#include "base/memory.h"
#include "base/nodelist.h"
#include "base/text.h"
#include "broker/config/file.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An attribute of a line, which all of its nodes are to have. */
struct attribute {
    struct nicbook *book;
    const char *text, *value; /* "nic0=0x1200", "0x1200" */
    struct nic nic;           /* without its address */
    struct error *err;
    int code;
};

/* "nic0=0x1200". 1: it is another attribute, 0, or a code with a sentence. */
static int read_attribute(const char *text, struct attribute *out, struct error *err)
{
    const char *digits = text + 3, *equals = strchr(text, '=');
    char device[16];
    uint64_t number;
    if (strncmp(text, "nic", 3) != 0 || !equals || (size_t)(equals - digits) >= sizeof device ||
        equals == digits)
        return 1;
    (void)snprintf(device, sizeof device, "%.*s", (int)(equals - digits), digits);
    if (strspn(device, "0123456789") != strlen(device))
        return 1;
    if (!text_number(device, 10, NICS_PER_NODE - 1, &number))
        return error_set(err, ERROR_INVALID, "%.40s: NICs are nic0 to nic%d", text,
                         NICS_PER_NODE - 1);
    out->text = text;
    out->value = equals + 1;
    out->nic.device = (uint8_t)number;
    return 0;
}

/* "%n" stands for the node's name, "%%" for "%". False: it is too long for an address. */
static bool substitute(const char *value, const char *node, char *out, size_t size)
{
    size_t length = 0;
    for (; *value != '\0'; value++) {
        const bool name = value[0] == '%' && value[1] == 'n';
        const char one[2] = {*value}, *piece = name ? node : one;
        const size_t added = strlen(piece);
        if (length + added >= size)
            return false;
        memcpy(out + length, piece, added + 1);
        length += added;
        value += name || (value[0] == '%' && value[1] == '%');
    }
    return true;
}

static void add_node(void *arg, const char *name)
{
    struct attribute *attribute = arg;
    char value[32] = "";
    uint64_t address;
    if (attribute->code != 0)
        return;
    const bool fits = substitute(attribute->value, name, value, sizeof value);
    const bool hexadecimal = strncasecmp(value, "0x", 2) == 0;
    if (!fits || !text_number(value + (hexadecimal ? 2 : 0), hexadecimal ? 16 : 10, NIC_ADDRESS_MAX,
                              &address)) {
        attribute->code =
            error_set(attribute->err, ERROR_INVALID,
                      "%.60s: an address is a number of 20 bits, as 0x1200: that of the port "
                      "(DFA) without its lowest 12 bits",
                      attribute->text);
        return;
    }
    attribute->nic.address = (uint32_t)address << 12;
    attribute->code = nicbook_add(attribute->book, name, &attribute->nic, attribute->err);
}

/* 0, or a code with a sentence. */
static int read_line(struct nicbook *book, char *text, struct error *err)
{
    text[strcspn(text, "#")] = '\0'; /* a comment, also within a word */
    char *nodes = text_trim(text), *rest = nodes + strcspn(nodes, " \t"), *next = NULL;
    uint32_t count;
    if (*nodes == '\0')
        return 0;
    if (*rest != '\0')
        *rest++ = '\0';
    if (nodelist_count(nodes, &count, err) != 0)
        return err->code;
    if (count > NICBOOK_NODES_MAX)
        return error_set(err, ERROR_FULL, "more than %d nodes", NICBOOK_NODES_MAX);
    for (char *a = strtok_r(rest, ", \t", &next); a; a = strtok_r(NULL, ", \t", &next)) {
        struct attribute attribute = {.book = book, .err = err};
        const int found = read_attribute(a, &attribute, err);
        if (found < 0)
            return found;
        if (found == 0)
            nodelist_each(nodes, add_node, &attribute);
        if (attribute.code != 0)
            return attribute.code;
    }
    return 0;
}

struct nicbook *nodefile_read(FILE *in, nodefile_report_fn *report, void *arg, struct error *err)
{
    struct nicbook *book = nicbook_create();
    char *text = memory_zeroed(NODEFILE_LINE_MAX);
    size_t bytes = 0;
    unsigned number = 0;
    int code = 0;
    while (code == 0 && fgets(text, NODEFILE_LINE_MAX, in)) {
        const size_t length = strlen(text);
        struct error fault = {0};
        number++;
        bytes += length;
        if (length == NODEFILE_LINE_MAX - 1 && text[length - 1] != '\n')
            code = error_set(err, ERROR_FULL, "line %u is longer than %d bytes", number,
                             NODEFILE_LINE_MAX - 2);
        else if (bytes > NODEFILE_BYTES_MAX)
            code = error_set(err, ERROR_FULL, "it has more than %d bytes", NODEFILE_BYTES_MAX);
        else if (read_line(book, text, &fault) != 0)
            report(arg, number, fault.text);
    }
    if (code == 0 && ferror(in))
        code = error_set(err, ERROR_IO, "%s", strerror(errno));
    free(text);
    nicbook_finish(book);
    return book;
}

/* ---- for a configuration ---- */

enum { NODEFILE_REPORTS = 10 };

struct nodefile_reading {
    struct config_reading *reading;
    unsigned faults;
};

static void report_node(void *arg, unsigned line, const char *words)
{
    struct nodefile_reading *file = arg;
    struct config_reading *reading = file->reading;
    if (file->faults++ < NODEFILE_REPORTS)
        config_fault(reading, false, config_origin(reading, "inventory", "file"),
                     "%s:%u: %s; the line is left out", reading->config->inventory_file, line,
                     words);
}

void nodefile_load(struct config_reading *reading)
{
    struct config *config = reading->config;
    const struct config_origin *origin = config_origin(reading, "inventory", "file");
    struct nodefile_reading file = {.reading = reading};
    struct error err = {0};
    if (config->inventory_source == CONFIG_INVENTORY_OFF || config->inventory_file[0] == '\0')
        return;
    FILE *in = fopen(config->inventory_file, "re");
    if (!in) {
        config_fault(reading, false, origin, "%s cannot be read: %s", config->inventory_file,
                     strerror(errno));
        config->nicbook_unread = true;
        return;
    }
    config->nicbook = nodefile_read(in, report_node, &file, &err);
    config->core.nics = config->nicbook;
    (void)fclose(in);
    config->nicbook_unread = err.code == ERROR_IO;
    if (file.faults > NODEFILE_REPORTS)
        config_fault(reading, false, origin, "%s: %u lines more are left out",
                     config->inventory_file, file.faults - NODEFILE_REPORTS);
    if (err.code != 0)
        config_fault(reading, false, origin, "%s: %s; the rest is left out", config->inventory_file,
                     err.text);
}
