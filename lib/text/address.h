/* A host and a port as one text: "127.0.0.1:9092", "[::1]:9092". kc_parse_address() (lib/client/client.h) reads it. */
#ifndef KASSAY_TEXT_ADDRESS_H
#define KASSAY_TEXT_ADDRESS_H

#include <stddef.h>

/* Room for the longest name that a host can have, and for its address. */
enum { KT_HOST_MAX = 256, KT_ADDRESS_MAX = 300 };

/* Returns buf. */
const char *kt_address(char *buf, size_t size, const char *host, int port);

#endif
