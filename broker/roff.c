#include "broker/roff.h"

void roff_text(FILE *out, const char *text)
{
    /* A line that begins with one of these would be a request. */
    if (*text == '.' || *text == '\'')
        fputs("\\&", out);
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '\\':
            fputs("\\e", out);
            break;
        case '-': /* else it becomes a hyphen, which cannot be pasted into a shell */
            fputs("\\-", out);
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
            fputc(*text, out);
        }
    }
}

void roff_title(FILE *out, const char *title, int section)
{
    fprintf(out, ".TH %s %d \"\" \"mcastd %s\" \"mcastd\"\n", title, section, MCAST_VERSION);
}
