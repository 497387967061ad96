/* From a file to connections: libpcap reads the packets. */
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>

#include "conformance/pcap/dialog.h"

enum { PROGRESS_STEP = 16 << 20, SECOND_US = 1000000 };

struct reader {
	struct cf_dialogs dialogs;
	struct kw_tcp *tcp;
	struct cf_pcap_totals *totals;
	size_t size;             /* of the file */
	size_t shown;            /* bytes of the last progress */
};

bool cf_is_pcap(const struct kw_slice *file)
{
	static const uint32_t magics[] = {
		0xa1b2c3d4, 0xd4c3b2a1,   /* microseconds, of either order of bytes */
		0xa1b23c4d, 0x4d3cb2a1,   /* nanoseconds */
		0xa1b2cd34, 0x34cdb2a1,   /* each packet with the index of its interface, of old Linux */
		0x0a0d0d0a,               /* pcapng */
	};

	for (size_t i = 0; file->n >= 4 && i < sizeof magics / sizeof *magics; i++)
		if (kw_rd32(file->p) == magics[i])
			return true;
	return false;
}

/* ---- connections ---- */

static struct cf_dialog *dialog_of(struct reader *reader, struct kw_tcp_conn *conn)
{
	if (!conn->user)
		conn->user = cf_dialog_new(&reader->dialogs, conn);
	if (!conn->user)
		reader->dialogs.failed = true;
	return conn->user;
}

static void on_data(void *arg, struct kw_tcp_conn *conn, int side, const uint8_t *p, size_t n,
		    const struct kw_tcp_at *at)
{
	struct cf_dialog *dialog = dialog_of(arg, conn);

	if (dialog)
		cf_dialog_data(dialog, side, p, n, at);
}

static void on_gap(void *arg, struct kw_tcp_conn *conn, int side, uint64_t n, const struct kw_tcp_at *at)
{
	struct cf_dialog *dialog = dialog_of(arg, conn);

	if (dialog)
		cf_dialog_gap(dialog, side, n, at);
}

static void on_finished(void *arg, struct kw_tcp_conn *conn, int side)
{
	struct cf_dialog *dialog = dialog_of(arg, conn);

	if (dialog)
		cf_dialog_finished(dialog, side);
}

static void on_ended(void *arg, struct kw_tcp_conn *conn)
{
	struct reader *reader = arg;
	struct cf_dialog *dialog = dialog_of(reader, conn);

	if (!dialog)
		return;
	cf_dialog_ended(dialog);
	reader->totals->connections++;
	if (dialog->talk == CF_TALK_KAFKA) {
		reader->totals->kafka++;
		reader->totals->missing += conn->missing[0] + conn->missing[1];
	}
	cf_dialog_free(dialog);
	conn->user = NULL;
}

static void forget(struct reader *reader)
{
	struct kw_tcp_conn *conn;

	for (size_t i = 0; reader->tcp && (conn = kw_tcp_at(reader->tcp, i)); i++)
		cf_dialog_free(conn->user);
	kw_tcp_free(reader->tcp);
	free(reader->dialogs.brokers);
}

/* ---- packets ---- */

/* Since 1970. A file may say any time; differences of two must not overflow. */
static int64_t time_us(const struct pcap_pkthdr *head)
{
	const int64_t most = INT64_MAX / 4;
	int64_t seconds = head->ts.tv_sec;

	if (seconds > most / SECOND_US || seconds < -most / SECOND_US)
		return seconds < 0 ? -most : most;
	return seconds * SECOND_US + head->ts.tv_usec;
}

static int add_packet(struct reader *reader, int link, const struct pcap_pkthdr *head, const uint8_t *p, size_t offset)
{
	struct cf_pcap_totals *totals = reader->totals;
	struct kw_tcp_at at = {++totals->packets, time_us(head)};
	struct kw_segment segment;
	struct kt_err why = {0};
	int got = kw_packet_read(link, p, head->caplen, head->len, &segment, &why);

	if (got < 0 && totals->unread++ == 0)
		snprintf(totals->unread_text, sizeof totals->unread_text, "packet %llu, which ends at byte %zu: %.150s",
			 (unsigned long long)at.packet, offset, why.text);
	if (got <= 0)
		return 0;
	totals->segments++;
	return kw_tcp_add(reader->tcp, &segment, &at);
}

/* libpcap found the end of the file. The numbers that it says then count what it did not have yet. */
static bool is_cut(const char *why)
{
	return strncmp(why, "truncated dump file", 19) == 0;
}

/* What libpcap says where it cannot read on; that the file ends inside of a packet is none of it. */
static int judge_failure(struct reader *reader, const char *why, size_t offset, struct kt_err *err)
{
	struct cf_pcap_totals *totals = reader->totals;
	unsigned long long next = totals->packets + 1;

	if (!is_cut(why))
		return kt_fail(err, KT_ESYNTAX, "packet %llu, at byte %zu: %s", next, offset, why);
	totals->truncated = true;
	snprintf(totals->truncated_text, sizeof totals->truncated_text,
		 "packet %llu, at byte %zu, is cut off by the end of the file", next, offset);
	return 0;
}

static int read_packets(struct reader *reader, pcap_t *pcap, struct kt_err *err)
{
	int link = pcap_datalink(pcap), got, code = 0;
	struct pcap_pkthdr *head;
	const u_char *p;
	size_t offset = (size_t)ftell(pcap_file(pcap));

	if (!kw_link_name(link)) {
		const char *name = pcap_datalink_val_to_name(link);

		return kt_fail(err, KT_ETYPE, "packets of link type %d (%s) cannot be read", link,
			       name ? name : "unknown");
	}
	while (!code && (got = pcap_next_ex(pcap, &head, &p)) == 1) {
		offset = (size_t)ftell(pcap_file(pcap));
		code = add_packet(reader, link, head, p, offset);
		if (reader->dialogs.failed)
			code = KT_ENOMEM;
		if (reader->dialogs.ops->progress && offset - reader->shown > PROGRESS_STEP) {
			reader->shown = offset;
			reader->dialogs.ops->progress(reader->dialogs.ops->arg, offset, reader->size);
		}
	}
	if (code)
		return kt_fail(err, code, "out of memory");
	return got == -1 ? judge_failure(reader, pcap_geterr(pcap), offset, err) : 0;
}

int cf_pcap_read(const struct kw_slice *file, const struct cf_pcap_ops *ops, struct cf_pcap_totals *totals,
		 struct kt_err *err)
{
	struct reader reader = {.dialogs.ops = ops, .totals = totals, .size = file->n};
	struct kw_tcp_ops tcp_ops = {on_data, on_gap, on_finished, on_ended, &reader};
	FILE *f = fmemopen((void *)(uintptr_t)file->p, file->n, "r");
	char why[PCAP_ERRBUF_SIZE] = "";
	pcap_t *pcap = NULL;
	struct kt_err local = {0};

	*totals = (struct cf_pcap_totals){0};
	reader.tcp = kw_tcp_new(&tcp_ops);
	if (!f || !reader.tcp) {
		kt_fail(&local, KT_ENOMEM, "out of memory");
		goto out;
	}
	pcap = pcap_fopen_offline_with_tstamp_precision(f, PCAP_TSTAMP_PRECISION_MICRO, why);
	if (!pcap) {
		if (is_cut(why))
			kt_fail(&local, KT_ESYNTAX,
				"the file has %zu bytes, and ends inside of the capture's head", file->n);
		else
			kt_fail(&local, KT_ESYNTAX, "the head of the capture cannot be read: %s", why);
		goto out;
	}
	read_packets(&reader, pcap, &local);
	/* What was in front of a fault is told too. */
	if (local.code != KT_ENOMEM)
		kw_tcp_finish(reader.tcp);
	if (reader.dialogs.failed)
		kt_fail(&local, KT_ENOMEM, "out of memory");
out:
	forget(&reader);
	if (pcap)
		pcap_close(pcap);
	else if (f)
		fclose(f);
	return local.code ? kt_fail(err, local.code, "%s", local.text) : 0;
}
