/* SPDX-License-Identifier: Apache-2.0 */
#include "base/roff.h"

#include <stdbool.h>
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

/* What roff would read as something else; NULL: it stands for itself. A '-' would become a hyphen,
 * which cannot be pasted into a shell. */
static const char *escape_of(char c)
{
    static const char special[] = "\\-'~^`";
    static const char *const escapes[] = {"\\e", "\\-", "\\(aq", "\\(ti", "\\(ha", "\\(ga"};
    const char *at = strchr(special, c);
    return at ? escapes[at - special] : NULL;
}

void roff_text(FILE *out, const char *text)
{
    for (bool begins = true; *text != '\0'; text++) {
        const char *escape = escape_of(*text);
        /* A line that begins with one of these would be a request. */
        if (begins && (*text == '.' || *text == '\''))
            fputs("\\&", out);
        begins = *text == '\n';
        if (escape)
            fputs(escape, out);
        else if ((unsigned char)*text < 0x80)
            fputc(*text, out);
        else
            text += print_letter(out, text);
    }
}

void roff_example(FILE *out, const char *text)
{
    fputs(".PP\n.EX\n", out);
    roff_text(out, text);
    fputs(".EE\n", out);
}

void roff_title(FILE *out, const char *title, int section)
{
    fprintf(out, ".TH %s %d \"\" \"mcastd %s\" \"mcastd\"\n", title, section, MCAST_VERSION);
}
