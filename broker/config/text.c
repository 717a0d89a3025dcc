#include "broker/config/config.h"
#include "broker/config/table.h"
#include "broker/config/value.h"
#include "base/roff.h"

#include <string.h>

/* The texts that are made from the table: --help-config, the sample file, mcastd.conf(5). */

/* Breaks the sentence into lines of at most 78 columns. */
static void print_wrapped(FILE *out, const char *prefix, const char *text)
{
    size_t column = 0;
    while (*text != '\0') {
        size_t word = strcspn(text, " ");
        if (column != 0 && column + 1 + word > 78) {
            fputc('\n', out);
            column = 0;
        }
        if (column == 0)
            column = (size_t)fprintf(out, "%s%.*s", prefix, (int)word, text);
        else
            column += (size_t)fprintf(out, " %.*s", (int)word, text);
        text += word;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

static bool new_section(const struct config_key *keys, size_t row)
{
    return row == 0 || strcmp(keys[row].section, keys[row - 1].section) != 0;
}

void config_print_help(FILE *out)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    fputs(
        "mcastd reads " CONFIG_DEFAULT_PATH " (--config FILE: another) and then *.conf in the\n"
        "folder conf.d beside it, in alphabetical order; what is read later overrides.\n"
        "Comments begin with ';' or '#' at the start of a line, or with ';' after a blank.\n"
        "Lists may go on in indented lines. SIGHUP (systemctl reload mcastd) applies changes, all\n"
        "of them or none; keys marked so need a restart.\n",
        out);
    for (size_t i = 0; i < count; i++) {
        const struct config_key *key = &keys[i];
        char allowed[CONFIG_ALLOWED_SIZE];
        config_value_allowed(key, allowed, sizeof allowed);
        if (new_section(keys, i))
            fprintf(out, strcmp(key->section, "cluster") == 0 ? "\n[%s \"NAME\"]\n" : "\n[%s]\n",
                    key->section);
        fprintf(out, "  %s = %s\n      default: %s%s\n", key->name, allowed,
                key->initial != NULL ? key->initial : "unset",
                key->restart ? "; a change needs a restart" : "");
        print_wrapped(out, "      ", key->sentence);
    }
}

void config_print_sample(FILE *out)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    fputs("# mcastd's configuration. Every key is here; a key that is commented out shows its\n"
          "# default, or an example where there is none. `mcastd --help-config` says more,\n"
          "# `mcastd --check` tells what is wrong.\n",
          out);
    for (size_t i = 0; i < count; i++) {
        const struct config_key *key = &keys[i];
        char allowed[CONFIG_ALLOWED_SIZE];
        config_value_allowed(key, allowed, sizeof allowed);
        if (new_section(keys, i) && strcmp(key->section, "cluster") == 0)
            fputs("\n# One such section for each resource manager; names are [a-z0-9_]+. On a "
                  "fabric\n"
                  "# shared with Slurm, a name must not begin with the name of a Slurm cluster.\n"
                  "#[cluster \"elcap\"]\n",
                  out);
        else if (new_section(keys, i))
            fprintf(out, "\n[%s]\n", key->section);
        fputc('\n', out);
        print_wrapped(out, "# ", key->sentence);
        fprintf(out, "# Allowed: %s.\n", allowed);
        fprintf(out, "#%s = %s\n", key->name, key->initial != NULL ? key->initial : key->example);
    }
}

/* ---- the manual page ---- */

static void man_key(FILE *out, const struct config_key *key)
{
    char allowed[CONFIG_ALLOWED_SIZE];
    config_value_allowed(key, allowed, sizeof allowed);
    fputs(".TP\n.B ", out);
    roff_text(out, key->name);
    fputc('\n', out);
    roff_text(out, key->sentence);
    fputs("\n.br\nAllowed: ", out);
    roff_text(out, allowed);
    fputs(".\n.br\n", out);
    fputs(key->initial != NULL ? "Default: " : "Default: unset", out);
    roff_text(out, key->initial != NULL ? key->initial : "");
    fputs(key->restart ? "; a change needs a restart.\n" : ".\n", out);
}

static void man_restart_keys(FILE *out, const struct config_key *keys, size_t count)
{
    const char *before = "";
    for (size_t i = 0; i < count; i++) {
        if (!keys[i].restart)
            continue;
        fputs(before, out);
        roff_text(out, "[");
        roff_text(out, keys[i].section);
        roff_text(out, "] ");
        roff_text(out, keys[i].name);
        before = ",\n";
    }
    fputs(".\n", out);
}

void config_print_man(FILE *out)
{
    size_t count;
    const struct config_key *keys = config_keys(&count);
    roff_title(out, "MCASTD.CONF", 5);
    fputs(".SH NAME\nmcastd.conf \\- configuration of mcastd\n"
          ".SH SYNOPSIS\n.I /etc/mcastd/mcastd.conf\n.br\n.I /etc/mcastd/conf.d/*.conf\n"
          ".SH DESCRIPTION\n.BR mcastd (8)\n"
          "reads the file and then those in the folder\n.I conf.d\nbeside it whose names end in\n"
          ".IR .conf ,\nin alphabetical order; what is read later overrides.\n"
          ".PP\nSections are\n.BR [ name ]\nlines, keys are\n.IB key \" = \" value\nlines.\n"
          "Comments begin with ; or # at the start of a line, or with ; after a blank.\n"
          "Lists may go on in indented lines.\nDurations are like 500ms, 2s, 10m, 1h or 7d.\n"
          ".PP\n.B mcastd --check\ntells what is wrong, with file and line.\n"
          ".B mcastd --sample-config\nprints a file to begin with.\n",
          out);
    for (size_t i = 0; i < count; i++) {
        if (new_section(keys, i))
            fprintf(out,
                    /* In the arguments of a request, quotes are roff's. */
                    strcmp(keys[i].section, "cluster") == 0 ? ".SH [%s \\(dqNAME\\(dq]\n"
                                                            : ".SH [%s]\n",
                    keys[i].section);
        if (new_section(keys, i) && strcmp(keys[i].section, "cluster") == 0)
            fputs("One such section for each resource manager; names are of a\\-z, 0\\-9 and _.\n"
                  "On a fabric shared with Slurm, a name must not begin with the name of a Slurm\n"
                  "cluster that talks to the fabric manager itself: Slurm deletes by prefix.\n",
                  out);
        man_key(out, &keys[i]);
    }
    fputs(".SH RELOAD\n"
          "On SIGHUP\n.B mcastd\nreads all of it again and applies it wholly, or changes nothing "
          "and\n"
          "logs why. Certificates, keys and logins are read again with it.\nA restart is needed "
          "for\n",
          out);
    man_restart_keys(out, keys, count);
    fputs(".SH SEE ALSO\n.BR mcastd (8),\n.BR mcastctl (1)\n", out);
}
