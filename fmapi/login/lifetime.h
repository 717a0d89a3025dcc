#ifndef MCAST_FMAPI_LOGIN_LIFETIME_H
#define MCAST_FMAPI_LOGIN_LIFETIME_H

#include <stdint.h>

/* How long an access token lives, and when the next one is asked for. Pure; milliseconds.
 *
 * 300 s to a year are seen in the field (fabric-manager.md, "Login"), 5 s must do. */

enum { LIFETIME_UNKNOWN = -1, LIFETIME_MIN_MS = 1000 };
#define LIFETIME_MAX_MS (INT64_C(10) * 366 * 24 * 3600 * 1000)

/* Of "expires_in". Not positive, or no number: unknown, for some servers say 0 or -1 of a token
 * that lives for ever, and one that does not is refused once and then renewed. What is less than
 * a second is taken for one, so that nobody is asked all the time; ten years are the most. */
int64_t lifetime_of_seconds(double seconds);

/* The time from a token's birth to its renewal: three quarters of its life, and of a long one all
 * but an hour. lifetime is not unknown. */
int64_t lifetime_renew_ms(int64_t lifetime);

/* The pause after a renewal that failed while left_ms of the token's life remain. -1: no use. */
int64_t lifetime_retry_ms(int64_t left_ms);

#endif
