/* A small HTTP/1.1 client: one request a connection, and an answer that the server closes behind. */
#ifndef KASSAY_CLIENT_HTTP_H
#define KASSAY_CLIENT_HTTP_H

#include "lib/text/err.h"

/* url is "http://host:port/path". body may be NULL; it is sent as application/json. timeout is in ms, for all of it.
 * *answer, which the caller frees, is the body of the answer with a NUL behind it. KT_EUSAGE (url), KT_ENET,
 * KT_ETIMEOUT, KT_ECLOSED, KT_ELIMIT (16 MiB), KT_ESYNTAX. */
int kc_http(const char *method, const char *url, const char *body, int timeout, int *status, char **answer,
	    struct kt_err *err);

/* Copies what a user gives as the address of a server, "http://host:port" with or without a slash behind it, to url,
 * of `size` bytes, without that slash, so that a path can follow. KT_EUSAGE names what is wrong with it. */
int kc_http_server(const char *given, char *url, size_t size, struct kt_err *err);

/* The part that needs no connection: takes apart what came until the server closed, with a NUL behind it. */
int kc_http_answer(const char *text, int *status, char **answer, struct kt_err *err);

#endif
