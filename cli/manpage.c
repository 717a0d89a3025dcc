#include "cli/manpage.h"

#include <string.h>

/* A letter that is not ASCII, which roff wants by its number: UTF-8 as the compiler wrote it.
 * Returns how many more bytes it has. */
static int print_letter(FILE *out, const char *text)
{
    const unsigned char *bytes = (const unsigned char *)text;
    const int more = bytes[0] >= 0xf0 ? 3 : bytes[0] >= 0xe0 ? 2 : 1;
    unsigned letter = bytes[0] & (0x3fU >> more);
    for (int i = 1; i <= more; i++)
        letter = letter << 6 | (bytes[i] & 0x3fU);
    fprintf(out, "\\[u%04X]", letter);
    return more;
}

/* Text as it stands: nothing in it is a request or an escape of roff. */
static void print_text(FILE *out, const char *text)
{
    for (bool begins = true; *text; text++) {
        if (begins && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        begins = *text == '\n';
        switch (*text) {
        case '\\':
            fputs("\\e", out);
            break;
        case '-': /* else it becomes a hyphen, which cannot be pasted into a shell */
            fputs("\\-", out);
            break;
        case '\'':
            fputs("\\(aq", out);
            break;
        case '~':
            fputs("\\(ti", out);
            break;
        case '^':
            fputs("\\(ha", out);
            break;
        case '`':
            fputs("\\(ga", out);
            break;
        default:
            if ((unsigned char)*text < 0x80)
                fputc(*text, out);
            else
                text += print_letter(out, text);
        }
    }
}

static void print_example(FILE *out, const char *text)
{
    fputs(".PP\n.EX\n", out);
    print_text(out, text);
    fputs(".EE\n", out);
}

static const char head[] =
    ".SH NAME\n"
    "mcastctl \\- VNIs and multicast addresses of jobs, from mcastd\n"
    ".SH SYNOPSIS\n"
    ".B mcastctl\n"
    ".RI [ options ]\n"
    ".I command\n"
    ".RI [ options ]\n"
    ".RI [ arguments ]\n"
    ".SH DESCRIPTION\n"
    "Asks\n"
    ".BR mcastd (8),\n"
    "over its Unix socket or over TLS, to reserve what a job needs, to give it back, and how it\n"
    "is. For people, and for the hooks of resource managers: it prints tables, or JSON, and its\n"
    "exit codes tell what happened.\n";

static const char environment[] =
    ".SH ENVIRONMENT\n"
    ".TP\n.B MCAST_URL\n"
    "The broker, as\n.BR \\-\\-url .\n"
    ".TP\n.B MCAST_CLUSTER\n"
    "The resource manager\\(aqs cluster, as\n.BR \\-\\-cluster .\n"
    ".TP\n.B MCAST_CACERT\n"
    "What signed the broker\\(aqs certificate: a PEM file, or a folder as openssl rehash makes "
    "it.\n"
    ".TP\n.BR MCAST_CERT \", \" MCAST_KEY\n"
    "A client certificate and its key, PEM. A key that others can read is refused.\n"
    ".TP\n.B MCAST_MUNGE_SOCKET\n"
    "Of munged. Over TCP, where no client certificate is given, each request carries a MUNGE\n"
    "credential of its own, if libmunge and munged are there.\n"
    ".TP\n.B MCAST_TOKEN\n"
    "The broker\\(aqs token that\n.B token\nworks on, instead of standard input.\n"
    ".SH EXIT STATUS\n"
    ".TP\n.B 0\nDone.\n"
    ".TP\n.B 1\nThe broker refuses, or the output could not be written; of doctor: a problem was "
    "found.\n"
    ".TP\n.B 2\nWrong usage; nothing was sent.\n"
    ".TP\n.B 3\nThere is no such job.\n"
    ".TP\n.B 4\nNo broker can be reached, or what answers is none that can be trusted.\n"
    ".SH FILES\n"
    ".TP\n.I " MCAST_DEFAULT_SOCKET "\n"
    "Where the broker is asked unless something else is named.\n"
    ".SH SEE ALSO\n"
    ".BR mcastd (8),\n"
    ".BR mcastd.conf (5),\n"
    ".BR munge (7)\n";

void manpage_print(FILE *out, const struct command *const commands[], size_t count)
{
    fprintf(out, ".TH MCASTCTL 1 \"\" \"mcastd %s\" \"mcastd\"\n%s.SH COMMANDS\n", mcast_version(),
            head);
    for (size_t i = 0; i < count; i++) {
        fputs(".SS ", out);
        print_text(out, commands[i]->name);
        fputc('\n', out);
        print_example(out, commands[i]->usage);
    }
    fputs(".SH OPTIONS\nBefore or after the name of the command.\n", out);
    print_example(out, strchr(command_common_usage, '\n') + 1);
    fputs(environment, out);
}
