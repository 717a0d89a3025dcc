#ifndef MCAST_BROKER_MANPAGE_H
#define MCAST_BROKER_MANPAGE_H

#include <stdio.h>

/* mcastd(8), in roff. */
void manpage_print(FILE *out);

#endif
