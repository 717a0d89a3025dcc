/* Why a request is refused or a file cannot be used: an HTTP status and a sentence for people. */
#ifndef MCAST_MOCK_FM_HTTP_PROBLEM_H
#define MCAST_MOCK_FM_HTTP_PROBLEM_H

/* Long enough for a job id (255 bytes) and the sentence around it; longer texts are cut. */
struct problem {
    int status;     /* the status to answer with; 500 for what happens at start (files, sockets) */
    char text[512]; /* never a token or a password */
};

/* Fills the problem and returns -1, so that a caller can `return problem_set(p, 404, …)`. */
int problem_set(struct problem *problem, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
