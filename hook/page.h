#ifndef MCAST_HOOK_PAGE_H
#define MCAST_HOOK_PAGE_H

#include <stdio.h>

/* mcast-cleanup(8). */

void page_print(FILE *out);

#endif
