/* Which process is it, among those of all machines and of all pid namespaces of a machine? */
#ifndef KASSAY_TEXT_PROCESS_H
#define KASSAY_TEXT_PROCESS_H

#include <sys/types.h>

#include "lib/text/err.h"

enum { KT_PROCESS_TEXT = 100 };

/* Puts "BOOT NAMESPACE PID START" to text: the kernel's boot id, the caller's pid namespace, the process's pid in it,
 * and its start in ticks of the clock. Two callers that get the same text mean the same process. KT_ESYS when /proc
 * does not tell: there is no such process, or it is hidden. */
int kt_process_text(pid_t pid, char text[KT_PROCESS_TEXT], struct kt_err *err);

#endif
