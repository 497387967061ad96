/* JournalObserver: a line of JSON for every call, which is what the conformance suite reads of an observer. The format
 * is that of docs/observers.md, "The observation channel". */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "fakebroker/hooks/buckets.h"
#include "fakebroker/hooks/builtin_observers.h"
#include "fakebroker/hooks/utf8.h"
#include "lib/text/file.h"

struct journal {
	pthread_mutex_t lock;         /* makes the numbers of lines their order in the file */
	int fd;
	char instance[64];
	uint64_t seq;
	bool failing;
};

const struct kassay_option fb_journal_options[] = {
	{"file", NULL, "file that a line of JSON is appended to for every call"},
	{"fail", "false", "true: fail in record and observe_produce, once the line is written"},
	{0},
};

/* ---- lines ---- */

static FILE *begin(const struct journal *self, char **text, size_t *size, const char *call)
{
	FILE *out = open_memstream(text, size);

	if (out)
		fprintf(out, ",\"call\":\"%s\",\"instance\":\"%s\"", call, self->instance);
	return out;
}

/* Completes the line with its number and writes it as a whole, so that those of several nodes never mix. */
static int end(struct journal *self, FILE *out, char **text, const size_t *size, struct kassay_text *why)
{
	struct iovec line[2];
	char head[48];
	int code = -1, n;

	fputs("}\n", out);
	if (fclose(out) == 0) {
		pthread_mutex_lock(&self->lock);
		n = snprintf(head, sizeof head, "{\"v\":1,\"seq\":%" PRIu64, ++self->seq);
		line[0] = (struct iovec){head, (size_t)n};
		line[1] = (struct iovec){*text, *size};
		code = kt_file_append_whole(self->fd, NULL, line, 2);
		pthread_mutex_unlock(&self->lock);
	}
	if (code < 0 && why)
		snprintf(why->text, why->size, "a line is lost: %s", strerror(errno));
	free(*text);
	return code;
}

static void put_str(FILE *out, const char *name, struct kassay_str str)
{
	char *copy = str.size < 0 ? NULL : malloc((size_t)str.size + 1);

	fprintf(out, ",\"%s\":", name);
	if (!copy) {
		fputs("null", out);
		return;
	}
	for (int32_t i = 0; i < str.size; i++)
		copy[i] = str.data[i] ? str.data[i] : '?';
	copy[str.size] = '\0';
	fb_utf8_mend(copy);
	fb_put_json_string(out, copy);
	free(copy);
}

static void put_partition(FILE *out, const struct kassay_partition *partition, bool first)
{
	static const char *const codecs[] = {"none", "gzip", "snappy", "lz4", "zstd"};
	static const char *const directions[] = {
		[KASSAY_NO_RECORDS] = "none", [KASSAY_PRODUCED] = "produced", [KASSAY_CONSUMED] = "consumed",
	};
	bool known = partition->codec >= 0 && partition->codec < (int32_t)(sizeof codecs / sizeof *codecs);

	fprintf(out, "%s{\"partition\":%d", first ? "" : ",", (int)partition->partition);
	put_str(out, "topic", partition->topic);
	fprintf(out, ",\"direction\":\"%s\",\"bytes\":%" PRId64 ",\"records\":%" PRId64 ",\"error\":%d,\"codec\":",
		directions[partition->direction], partition->bytes, partition->records, partition->error);
	if (known)
		fprintf(out, "\"%s\"", codecs[partition->codec]);
	else
		fputs("null", out);
	fprintf(out, ",\"duplicate\":%s,\"counted\":%s,\"partial\":%s}",
		partition->flags & KASSAY_DUPLICATE ? "true" : "false",
		partition->flags & KASSAY_COUNTED ? "true" : "false",
		partition->flags & KASSAY_PARTIAL ? "true" : "false");
}

static void put_exchange(FILE *out, const struct kassay_exchange *x)
{
	fprintf(out,
		",\"id\":%" PRIu64 ",\"node\":%d,\"api\":\"%s\",\"apiKey\":%d,\"apiVersion\":%d,\"correlationId\":%d",
		x->id, (int)x->node, x->api, x->apiKey, x->apiVersion, (int)x->correlationId);
	put_str(out, "listener", x->listener);
	put_str(out, "principal", x->principal);
	put_str(out, "address", x->address);
	put_str(out, "clientId", x->clientId);
	fprintf(out,
		",\"requestBytes\":%" PRId64 ",\"responseBytes\":%" PRId64 ",\"hasResponse\":%s,\"queueNs\":%" PRId64
		",\"serviceNs\":%" PRId64 ",\"throttleTimeMs\":%d,\"error\":%d,\"errorCount\":%d,\"partitions\":[",
		x->request_bytes, x->response_bytes, x->has_response ? "true" : "false", x->queue_ns, x->service_ns,
		(int)x->throttleTimeMs, x->error, (int)x->error_count);
	for (int32_t i = 0; i < x->partition_count; i++)
		put_partition(out, x->partition(x, i), i == 0);
	fputc(']', out);
}

static int write_exchange(struct journal *self, const char *call, const struct kassay_exchange *exchange,
			  struct kassay_text *why)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = begin(self, &text, &size, call);

	if (!out) {
		snprintf(why->text, why->size, "out of memory");
		return -1;
	}
	put_exchange(out, exchange);
	if (end(self, out, &text, &size, why) < 0)
		return -1;
	if (!self->failing)
		return 0;
	snprintf(why->text, why->size, "fails in %s, as it was told to", call);
	return -1;
}

/* ---- the class ---- */

int fb_journal_record(void *instance, const struct kassay_exchange *exchange, struct kassay_text *why)
{
	return write_exchange(instance, "record", exchange, why);
}

int fb_journal_produce(void *instance, const struct kassay_exchange *exchange, struct kassay_text *why)
{
	return write_exchange(instance, "observe_produce", exchange, why);
}

static int write_life(struct journal *self, const char *call, int64_t timeout_ms, struct kassay_text *why)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = begin(self, &text, &size, call);

	if (!out)
		return -1;
	if (timeout_ms >= 0)
		fprintf(out, ",\"timeoutMs\":%" PRId64, timeout_ms);
	return end(self, out, &text, &size, why);
}

int fb_journal_create(const struct kassay_host *host, void **instance, struct kassay_text *why)
{
	static atomic_uint serial;
	struct kt_err err = {0};
	struct journal *self;
	const char *file;
	bool failing;

	if (fb_option_text(host, "file", &file, why) < 0 || fb_option_bool(host, "fail", false, &failing, why) < 0)
		return -1;
	self = calloc(1, sizeof *self);
	if (!self) {
		snprintf(why->text, why->size, "out of memory");
		return -1;
	}
	self->failing = failing;
	self->fd = kt_file_append(file, &err);
	pthread_mutex_init(&self->lock, NULL);
	snprintf(self->instance, sizeof self->instance, "%ld-%lld-%u", (long)getpid(), (long long)fb_hook_now(),
		 atomic_fetch_add(&serial, 1));
	if (self->fd < 0) {
		snprintf(why->text, why->size, "%s", err.text);
	} else if (write_life(self, "configure", -1, why) == 0) {
		*instance = self;
		return 0;
	}
	if (self->fd >= 0)
		close(self->fd);
	pthread_mutex_destroy(&self->lock);
	free(self);
	return -1;
}

void fb_journal_close(void *instance, int64_t timeout_ms)
{
	struct journal *self = instance;

	write_life(self, "close", timeout_ms, NULL);
	close(self->fd);
	pthread_mutex_destroy(&self->lock);
	free(self);
}
