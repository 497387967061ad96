#include "fakebroker/net/capture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/text/file.h"

enum { RUNS = 64 };   /* of a packet's payload */

struct fb_capture {
	pthread_mutex_t lock;    /* guards file and size */
	int file;
	char *name;
	off_t size;              /* of the whole packets in the file */
	atomic_bool ended;       /* nothing more is written */
	void (*failed)(const char *text);
};

/* ---- the file ---- */

static int64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

/* Under the lock. A pipe keeps the part of a packet that it got. */
static void give_up(struct fb_capture *capture)
{
	char text[600];

	snprintf(text, sizeof text, "%.300s: %s: nothing more is recorded", capture->name, strerror(errno));
	atomic_store(&capture->ended, true);
	if (ftruncate(capture->file, capture->size) == 0)
		lseek(capture->file, capture->size, SEEK_SET);
	capture->failed(text);
}

/* iov[0] is free for the head, the payload is in iov[1] to iov[niov]. */
static void put_packet(struct fb_capture *capture, const struct kw_segment *segment, struct iovec *iov, int niov)
{
	uint8_t head[KW_PCAP_PACKET_HEAD];
	size_t size = 0;

	pthread_mutex_lock(&capture->lock);
	if (!atomic_load(&capture->ended)) {
		iov[0].iov_len = kw_pcap_packet_head(head, segment, iov + 1, niov, now_us());
		iov[0].iov_base = head;
		for (int i = 0; i <= niov; i++)
			size += iov[i].iov_len;
		if (kt_file_write(capture->file, iov, niov + 1) == 0)
			capture->size += (off_t)size;
		else
			give_up(capture);
	}
	pthread_mutex_unlock(&capture->lock);
}

/* A pipe without a reader is waited for, in open(). */
static int open_file(const char *file, void (*waits)(const char *file))
{
	enum { FLAGS = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC };
	int fd = open(file, FLAGS | O_NONBLOCK, 0666), fault;
	struct stat stat_of;

	if (fd < 0 && errno == ENXIO && stat(file, &stat_of) == 0 && S_ISFIFO(stat_of.st_mode)) {
		waits(file);
		return open(file, FLAGS, 0666);
	}
	if (fd < 0 || kt_file_make_wait(fd) == 0)
		return fd;
	fault = errno;
	close(fd);
	errno = fault;
	return -1;
}

int fb_capture_new(const char *file, void (*waits)(const char *file), void (*failed)(const char *text),
		   struct fb_capture **out, struct kt_err *err)
{
	struct fb_capture *capture = calloc(1, sizeof *capture);
	uint8_t head[KW_PCAP_HEAD];
	struct iovec iov = {head, sizeof head};

	*out = NULL;
	if (!capture || !(capture->name = strdup(file))) {
		free(capture);
		return kt_fail(err, KT_ENOMEM, "out of memory");
	}
	pthread_mutex_init(&capture->lock, NULL);
	capture->failed = failed;
	capture->file = open_file(file, waits);
	kw_pcap_head(head);
	if (capture->file < 0 || kt_file_write(capture->file, &iov, 1) < 0) {
		kt_fail(err, KT_EFILE, "%s: %s", file, strerror(errno));
		fb_capture_free(capture);
		return KT_EFILE;
	}
	capture->size = KW_PCAP_HEAD;
	*out = capture;
	return 0;
}

void fb_capture_free(struct fb_capture *capture)
{
	if (!capture)
		return;
	if (capture->file >= 0)
		close(capture->file);
	pthread_mutex_destroy(&capture->lock);
	free(capture->name);
	free(capture);
}

/* ---- connections ---- */

static void set_endpoint(struct kw_endpoint *end, const struct sockaddr_storage *ss)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)ss;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)ss;

	*end = (struct kw_endpoint){.family = ss->ss_family == AF_INET6 ? 6 : 4};
	if (end->family == 6) {
		memcpy(end->address, &v6->sin6_addr, 16);
		end->port = ntohs(v6->sin6_port);
	} else {
		memcpy(end->address, &v4->sin_addr, 4);
		end->port = ntohs(v4->sin_port);
	}
}

static void put(struct fb_capture *capture, struct fb_captured *captured, bool received, uint8_t flags,
		struct iovec *iov, int niov)
{
	struct kw_segment segment = {
		.from = received ? captured->client : captured->broker,
		.to = received ? captured->broker : captured->client,
		.seq = received ? captured->received : captured->sent,
		.ack = received ? captured->sent : captured->received, .flags = flags,
	};
	uint32_t size = flags & (KW_TCP_SYN | KW_TCP_FIN) ? 1 : 0;

	for (int i = 1; i <= niov; i++)
		size += (uint32_t)iov[i].iov_len;
	put_packet(capture, &segment, iov, niov);
	if (received)
		captured->received += size;
	else
		captured->sent += size;
}

static void put_bare(struct fb_capture *capture, struct fb_captured *captured, bool received, uint8_t flags)
{
	struct iovec head;

	put(capture, captured, received, flags, &head, 0);
}

void fb_capture_opened(struct fb_capture *capture, struct fb_captured *captured, int fd)
{
	struct sockaddr_storage client = {0}, broker = {0};
	socklen_t nclient = sizeof client, nbroker = sizeof broker;

	/* A client that is gone already has no address any more, and nothing to tell. */
	if (getpeername(fd, (struct sockaddr *)&client, &nclient) < 0 ||
	    getsockname(fd, (struct sockaddr *)&broker, &nbroker) < 0)
		return;
	set_endpoint(&captured->client, &client);
	set_endpoint(&captured->broker, &broker);
	captured->open = true;
	put_bare(capture, captured, true, KW_TCP_SYN);
	put_bare(capture, captured, false, KW_TCP_SYN | KW_TCP_ACK);
	put_bare(capture, captured, true, KW_TCP_ACK);
}

void fb_capture_bytes(struct fb_capture *capture, struct fb_captured *captured, bool received, const struct iovec *iov,
		      size_t n)
{
	struct iovec packet[1 + RUNS];
	size_t done = 0;         /* of the run at hand */

	while (captured->open && n > 0) {
		size_t size = 0;
		int runs = 0;

		while (n > 0 && runs < RUNS && size < KW_PCAP_PAYLOAD_MAX) {
			size_t left = iov->iov_len - done, k = n < left ? n : left;

			k = k < KW_PCAP_PAYLOAD_MAX - size ? k : KW_PCAP_PAYLOAD_MAX - size;
			if (k > 0)
				packet[++runs] = (struct iovec){(char *)iov->iov_base + done, k};
			done += k;
			size += k;
			n -= k;
			if (done == iov->iov_len) {
				iov++;
				done = 0;
			}
		}
		put(capture, captured, received, KW_TCP_ACK | KW_TCP_PSH, packet, runs);
	}
}

void fb_capture_client_closed(struct fb_capture *capture, struct fb_captured *captured, bool reset)
{
	if (!captured->open || captured->client_done)
		return;
	put_bare(capture, captured, true, reset ? KW_TCP_RST | KW_TCP_ACK : KW_TCP_FIN | KW_TCP_ACK);
	captured->client_done = true;
	captured->open = !reset;
}

/* The client's end follows, if it has not been there: nobody reads on to see it. */
void fb_capture_closed(struct fb_capture *capture, struct fb_captured *captured)
{
	if (!captured->open)
		return;
	put_bare(capture, captured, false, KW_TCP_FIN | KW_TCP_ACK);
	put_bare(capture, captured, true, captured->client_done ? KW_TCP_ACK : KW_TCP_FIN | KW_TCP_ACK);
	captured->open = false;
}
