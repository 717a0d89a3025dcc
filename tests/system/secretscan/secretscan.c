/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/system/rig/secretscan.h"

#include <stdio.h>
#include <stdlib.h>

/* secretscan FOLDER…: are there secrets in files below, but where they belong? For tests in shell,
 * and for what the tests themselves printed. Says where; ends with 1 then. */

int main(int argc, char **argv)
{
    unsigned guilty = 0;
    if (argc < 2) {
        (void)fprintf(stderr, "usage: secretscan FOLDER…\n");
        return 2;
    }
    for (int i = 1; i < argc; i++)
        guilty += secretscan_search(argv[i]);
    return guilty > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
