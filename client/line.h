#ifndef MCAST_CLIENT_LINE_H
#define MCAST_CLIENT_LINE_H

/* One connection to the broker's Unix socket, and the flight that has it at the moment: writes the
 * request, reads the answer, never waits. */

#include "client/alarms.h"
#include "client/reply.h"

enum line_state {
    LINE_WAITING, /* the request is not begun */
    LINE_BUSY,    /* with the request or its answer */
    LINE_WHOLE,   /* the answer is there */
    LINE_FAILED,  /* there will be none; the flight knows why */
};

struct line {
    struct flight *flight; /* NULL: nobody's */
    enum line_state state;
    /* line.c's own */
    int fd;
    char *request; /* NULL: it is written */
    size_t length, sent;
    struct reply reply;
    bool used; /* it has carried another one before, and is connected */
    /* way_unix.c's own */
    int64_t connect_by_ms, answer_by_ms; /* reactor_now_ms */
    struct alarm alarm;                  /* when something is to be done, whatever happens on it */
    struct line *next;                   /* of those that are nobody's */
};

/* NULL: memory is exhausted. */
struct line *line_create(void);
void line_destroy(struct line *line); /* takes NULL */

/* Makes it a flight's, with its request. False: memory is exhausted. */
bool line_take(struct line *line, struct flight *flight);

/* Makes a connection to the flight's socket where there is none: LINE_BUSY, LINE_FAILED (also when
 * who serves it may not be the broker: serveruser.h), or LINE_WAITING: the broker has no room for
 * another one at the moment. */
enum line_state line_connect(struct line *line);

/* Writes and reads what can be written and read now. */
enum line_state line_write(struct line *line);
enum line_state line_read(struct line *line);

/* Whether something is left to be written. */
bool line_writes(const struct line *line);

/* Of LINE_FAILED: whether its broker had closed it before it could know of the request. */
bool line_was_dead(const struct line *line);

/* The flight has what it wanted. True: the connection is good for another one. */
bool line_free(struct line *line);

/* Of one that is nobody's: whether the broker still has it. */
bool line_alive(const struct line *line);

#endif
