#include "lib/wire/entry.h"

int kw_vfail_at(struct kt_err *err, int code, size_t at, const char *fmt, va_list ap)
{
	if (err && !err->code) {
		err->offset = at;
		err->has_offset = 1;
	}
	return kt_vfail(err, code, fmt, ap);
}

int kw_fail_at(struct kt_err *err, int code, size_t at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	kw_vfail_at(err, code, at, fmt, ap);
	va_end(ap);
	return code;
}

int kw_entry_parse(const uint8_t *p, size_t n, struct kw_entry *entry, struct kt_err *err)
{
	*entry = (struct kw_entry){.p = p, .magic = -1};
	if (n < KW_E_BODY)
		return kt_fail(err, KT_ETRUNC, "%zu bytes do not hold the length of a batch", n);
	entry->offset = (int64_t)kw_rd64(p + KW_E_OFFSET);
	entry->length = (int32_t)kw_rd32(p + KW_E_LENGTH);
	if (n > KW_E_MAGIC)
		entry->magic = (int8_t)p[KW_E_MAGIC];
	if (entry->length < KW_E_MIN_LENGTH)
		return kw_fail_at(err, KT_ECORRUPT, KW_E_LENGTH,
				  "Record size %d is less than the minimum record overhead (%d)", entry->length,
				  KW_E_MIN_LENGTH);
	entry->size = (size_t)entry->length + KW_E_BODY;
	if (entry->size > n)
		return kt_fail(err, KT_ETRUNC, "%zu bytes of a batch of %zu", n, entry->size);
	return 0;
}
