/* SPDX-License-Identifier: Apache-2.0 */
/* Manual pages show texts as they stand. */

#include "tests/unit/unit.h"

#include "base/roff.h"

static void shows(void (*print)(FILE *out, const char *text), const char *text, const char *roff)
{
    char *written = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&written, &size);
    assert_non_null(out);
    print(out, text);
    fclose(out);
    assert_string_equal(written, roff);
    free(written);
}

UNIT(text__is_no_request)
{
    shows(roff_text, ".TH is no\n.request a.b\n'nor this",
          "\\&.TH is no\n\\&.request a.b\n"
          "\\&\\(aqnor this");
    shows(roff_text, "", "");
}

UNIT(text__is_no_escape)
{
    shows(roff_text, "\\n --cores ~/^`'", "\\en \\-\\-cores \\(ti/\\(ha\\(ga\\(aq");
}

UNIT(text__has_all_letters)
{
    shows(roff_text, "\xc6\x92Lxs\xe2\x80\xa6 \xf0\x9f\x82\xa1",
          "\\[u0192]Lxs\\[u2026] \\[u1F0A1]");
}

UNIT(example__is_kept_in_its_lines)
{
    shows(roff_example, "  a\n.b\n", ".PP\n.EX\n  a\n\\&.b\n.EE\n");
}

UNIT_RUN(NULL, NULL)
