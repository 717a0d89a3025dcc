#ifndef MCAST_BROKER_ROFF_H
#define MCAST_BROKER_ROFF_H

#include <stdio.h>

/* The little of roff that manual pages need (man(7)). */

/* Text as it stands: nothing in it is a request or an escape. */
void roff_text(FILE *out, const char *text);

/* The page's first line, with the version. */
void roff_title(FILE *out, const char *title, int section);

#endif
