/* SPDX-License-Identifier: Apache-2.0 */
#include "tokens/randombytes.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

int randombytes_fill(unsigned char *bytes, size_t size, struct error *err)
{
    size_t got = 0;
    while (got < size) {
        ssize_t more = getrandom(bytes + got, size - got, 0);
        if (more < 0 && errno != EINTR)
            return error_set(err, ERROR_IO, "the system gives no random numbers (getrandom): %s",
                             strerror(errno));
        if (more > 0)
            got += (size_t)more;
    }
    return 0;
}
