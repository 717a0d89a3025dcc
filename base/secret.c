/* SPDX-License-Identifier: Apache-2.0 */
#include "base/secret.h"

#include "base/memory.h"

#include <stdint.h>
#include <string.h>

struct secret secret_copy(struct secret secret)
{
    return secret_of(memory_text(secret_expose(secret)));
}

void secret_wipe(struct secret *secret)
{
    memory_wipe_text((char *)(void *)(uintptr_t)secret->exposed);
    secret->exposed = NULL;
}

bool secret_equal(struct secret a, struct secret b)
{
    if (secret_none(a) || secret_none(b))
        return false;
    size_t mine = strlen(a.exposed), theirs = strlen(b.exposed);
    unsigned different = mine != theirs;
    for (size_t i = 0; i < theirs; i++)
        different |=
            (unsigned char)b.exposed[i] ^ (unsigned char)(mine > 0 ? a.exposed[i % mine] : '\0');
    return different == 0;
}
