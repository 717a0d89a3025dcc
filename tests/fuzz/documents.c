/* SPDX-License-Identifier: Apache-2.0 */
/* What the fabric manager tells of the fabric: the first byte says of which kind, and whether it is
 * a page or a document; the rest is the body. What is decoded is made into a map, and compared. */

#include "fmapi/wire/documents.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static void check_rows(const struct documents *documents)
{
    const struct fabric_read *fabric = &documents->fabric;
    for (size_t i = 0; i < fabric->switches.count; i++) {
        FUZZ_CHECK(fabric->switches.all[i].place < FABRIC_PLACES);
        FUZZ_CHECK(memchr(fabric->switches.all[i].name, '\0', FABRIC_NAME_SIZE));
    }
    for (size_t i = 0; i < fabric->ports.count; i++)
        FUZZ_CHECK((fabric->ports.all[i].dfa & 0xfff) == 0);
    for (size_t i = 0; i < fabric->cables.count; i++)
        FUZZ_CHECK(fabric->cables.all[i].names[0] != fabric->cables.all[i].names[1]);
    for (size_t i = 0; i < documents->partitions.count; i++) {
        const struct documents_partition *partition = &documents->partitions.all[i];
        uint32_t count = 0;
        for (uint32_t id = 0; id < 65536; id++)
            count += idset_has(&partition->vnis, (uint16_t)id);
        FUZZ_CHECK(count == partition->vnis.count);
        FUZZ_CHECK(memchr(partition->name, '\0', sizeof partition->name));
    }
}

static void make_map(struct documents *documents)
{
    struct fabric_change changes[4];
    struct fabric_sum sum;
    struct error err = {0};
    struct fabricmap *map = fabricmap_create(&documents->fabric, &err);
    FUZZ_CHECK(map || err.text[0] != '\0');
    if (!map)
        return;
    FUZZ_CHECK(fabricmap_diff(map, map, changes, 4, &sum) == 0 && fabric_sum_empty(&sum));
    fabricmap_destroy(map);
}

void fuzz_one(struct fuzz_input *in)
{
    struct documents documents = {0};
    struct documents_page page = {0};
    struct error err = {0};
    const unsigned choice = fuzz_byte(in);
    const enum documents_kind kind = (enum documents_kind)(choice % DOCUMENTS_KINDS);
    const bool single = choice / DOCUMENTS_KINDS % 2 == 1;
    size_t length;
    char *body = fuzz_bytes(in, &length);
    const int code = single
                         ? documents_single(kind, "/fabric/one/x", body, length, &documents, &err)
                         : documents_page(&page, kind, body, length, &documents, &err);
    FUZZ_CHECK((code == 0) == (err.text[0] == '\0'));
    FUZZ_CHECK(fuzz_is_line(err.text));
    if (code == 0 && !single)
        FUZZ_CHECK(page.links == page.bare_count + documents_count(&documents, kind));
    check_rows(&documents);
    make_map(&documents);
    documents_page_release(&page);
    documents_release(&documents);
    free(body);
}
