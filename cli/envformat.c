/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/envformat.h"

#include <jansson.h>
#include <string.h>

enum envformat envformat_from_word(const char *word)
{
    static const char *const words[] = {[ENVFORMAT_PLAIN] = "plain",
                                        [ENVFORMAT_SH] = "sh",
                                        [ENVFORMAT_JSON] = "json",
                                        [ENVFORMAT_NULL] = "null"};
    for (size_t i = ENVFORMAT_PLAIN; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(words[i], word) == 0)
            return (enum envformat)i;
    }
    return ENVFORMAT_NONE;
}

static bool write_unset(FILE *out, enum envformat format, const struct mcast_variable *variable,
                        bool first)
{
    if (format == ENVFORMAT_SH)
        fprintf(out, "unset %s\n", variable->name);
    if (format == ENVFORMAT_JSON)
        fprintf(out, "%s\n  \"%s\": null", first ? "{" : ",", variable->name);
    return true;
}

/* Within single quotes a shell changes nothing; a single quote itself is closed, escaped, opened.
 */
static void write_sh(FILE *out, const struct mcast_variable *variable)
{
    fprintf(out, "export %s='", variable->name);
    for (const char *c = variable->value; *c; c++) {
        if (*c == '\'')
            fputs("'\\''", out);
        else
            fputc(*c, out);
    }
    fputs("'\n", out);
}

static void write_json(FILE *out, const struct mcast_variable *variable, bool first)
{
    json_t *value = json_string(variable->value);
    fprintf(out, "%s\n  \"%s\": ", first ? "{" : ",", variable->name);
    json_dumpf(value, out, JSON_ENCODE_ANY);
    json_decref(value);
}

bool envformat_write(FILE *out, enum envformat format, const struct mcast_variable *variable,
                     bool first)
{
    if (!variable->value)
        return write_unset(out, format, variable, first);
    switch (format) {
    case ENVFORMAT_PLAIN:
        if (strpbrk(variable->value, "\r\n"))
            return false;
        fprintf(out, "%s=%s\n", variable->name, variable->value);
        return true;
    case ENVFORMAT_SH:
        write_sh(out, variable);
        return true;
    case ENVFORMAT_JSON:
        write_json(out, variable, first);
        return true;
    case ENVFORMAT_NULL:
        fprintf(out, "%s=%s%c", variable->name, variable->value, '\0');
        return true;
    case ENVFORMAT_NONE:
        break;
    }
    return false;
}

void envformat_finish(FILE *out, enum envformat format, bool none)
{
    if (format == ENVFORMAT_JSON)
        fputs(none ? "{}\n" : "\n}\n", out);
}
