/* SPDX-License-Identifier: Apache-2.0 */
/* A file in the format of genders: what is in the book is found again, each line that is wrong is
 * told once, and there is nothing else. */

#include "broker/config/nodefile.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

struct told {
    unsigned last;
};

static void hear(void *arg, unsigned line, const char *words)
{
    struct told *told = arg;
    FUZZ_CHECK(line > told->last && words[0] != '\0');
    told->last = line;
}

void fuzz_one(struct fuzz_input *in)
{
    struct told told = {0};
    struct error err = {0};
    size_t length;
    char *bytes = fuzz_bytes(in, &length);
    FILE *file = length > 0 ? fmemopen(bytes, length, "r") : fopen("/dev/null", "re");
    FUZZ_CHECK(file);
    struct nicbook *book = nodefile_read(file, hear, &told, &err);
    const struct nicbook_node *node, *before = NULL;
    (void)fclose(file);
    free(bytes);
    for (size_t i = 0; (node = nicbook_at(book, i)); i++, before = node) {
        FUZZ_CHECK(nicbook_find(book, node->name) == node);
        FUZZ_CHECK(!before || strcmp(before->name, node->name) < 0);
        FUZZ_CHECK(nicbook_after(book, node->name) == i + 1);
        FUZZ_CHECK(node->count >= 1 && node->count <= NICS_PER_NODE);
        for (uint32_t j = 0; j < node->count; j++) {
            FUZZ_CHECK((node->nics[j].address & 0xfff) == 0);
            FUZZ_CHECK(j == 0 || node->nics[j - 1].device < node->nics[j].device);
        }
    }
    FUZZ_CHECK(nicbook_find(book, "") == NULL);
    nicbook_destroy(book);
}
