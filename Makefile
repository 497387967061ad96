# kassay: a test and conformance kit for Kafka brokers.  `make help` lists what there is.
#
# One makefile, not recursive. Sources are found by walking the tree: a new file needs no edit here.

comma   := ,
# Programs lie in BUILD itself; objects and test programs, in the tree's own layout, below OBJ.
BUILD   ?= build$(if $(SAN),-$(subst $(comma),-,$(SAN)))$(if $(COV),-cov)
OBJ     := $(BUILD)/obj
PREFIX  ?= /usr/local
CC      ?= cc

VERSION := 0.1.0

# make V=1 prints the commands.
Q       := $(if $(V),,@)
say      = $(if $(V),,@printf '  %-3s %s\n' $(1) $(2))

WARN    := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes $(if $(WERROR),-Werror)
CFLAGS  ?= $(if $(COV),-O0,-O2) -g
# lib/wire/shuffle.h; every x86-64 made since 2011 has it. SIMD= builds for older ones.
SIMD    ?= $(if $(filter x86_64%,$(shell $(CC) -dumpmachine)),-mssse3)
# What every file needs, whatever CFLAGS a user gives.
KCFLAGS := $(SIMD) -std=c11 -D_GNU_SOURCE -DKASSAY_VERSION='"$(VERSION)"' $(WARN) -I. -I$(BUILD)/gen -pthread \
           $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=all -fno-omit-frame-pointer) $(if $(COV),--coverage)
KLDFLAGS := -pthread $(if $(SAN),-fsanitize=$(SAN)) $(if $(COV),--coverage)

PACKAGES := $(shell sed 's/\#.*//' fixtures/packages/debian.txt)

LIB_LIBS := -ljansson -lz -llz4 -lzstd -lsnappy -lisal -lpcre2-8 -lm
fakebroker_LIBS  := -lavro -levent_core -levent_extra -levent_pthreads -ldl
loadgen_LIBS     := -lrdkafka
conformance_LIBS := -lpcap
TEST_LIBS := -lcmocka

PROGRAMS := fakebroker loadgen conformance

SCHEMAC  := $(wildcard lib/wire/schemac*.c)
LIB_SRC  := $(filter-out $(SCHEMAC),$(wildcard lib/*/*.c))
LIB_OBJ  := $(LIB_SRC:%.c=$(OBJ)/%.o) $(BUILD)/gen/kw_tables.o
LIB_A    := $(BUILD)/libkassay.a

src_of   = $(filter-out $(1)/main.c $(wildcard $(1)/tests/*.c $(1)/fuzz/*.c $(1)/bench/*.c),$(wildcard $(1)/*.c $(1)/*/*.c))
obj_of   = $(patsubst %.c,$(OBJ)/%.o,$(call src_of,$(1)))

BINS     := $(foreach p,$(PROGRAMS),$(if $(wildcard $(p)/main.c),$(BUILD)/$(p)))
HOOKS    := $(wildcard fakebroker/hooks/kassay_*.h)
# What a program that links libkassay.a may include; the other headers of lib/wire are its own.
LIB_HEADERS := lib/text/base64.h lib/text/err.h lib/text/json.h lib/text/members.h lib/wire/errors.def lib/wire/rules.def \
	$(filter-out $(addprefix lib/wire/,batch_json.h codec.h decode.h edit_steps.h plan.h schemac.h shuffle.h),$(wildcard lib/wire/*.h))
PLUGINS  := $(patsubst fixtures/plugins/%.c,$(BUILD)/plugins/%.so,$(wildcard fixtures/plugins/*.c))

LIB_TESTS  := $(patsubst %.c,$(OBJ)/%,$(wildcard lib/*/tests/test_*.c))
PROG_TESTS := $(foreach p,$(PROGRAMS),$(patsubst %.c,$(OBJ)/%,$(wildcard $(p)/tests/test_*.c)))
SH_TESTS   := $(wildcard fixtures/tests/test_*.sh lib/*/tests/test_*.sh $(PROGRAMS:%=%/tests/test_*.sh))
FUZZERS    := $(patsubst %.c,$(OBJ)/%,$(wildcard lib/*/fuzz/fuzz_*.c $(PROGRAMS:%=%/fuzz/fuzz_*.c)))
BENCHES    := $(patsubst %.c,$(OBJ)/%,$(wildcard lib/*/bench/bench_*.c))
TESTS      := $(LIB_TESTS) $(PROG_TESTS) $(FUZZERS)
# What runs a fuzz target: libFuzzer, or in `make check` a main that replays the inputs of corpus and regressions.
FUZZ_MAIN  := $(if $(FUZZ),,$(OBJ)/lib/text/fuzz/replay.o)
FUZZ_LINK  := $(if $(FUZZ),-fsanitize=fuzzer)

.PHONY: all
all: $(BINS) $(PLUGINS)

.PHONY: help
help:
	@echo 'make              build fakebroker, loadgen, conformance and the example plugins into $(BUILD)/'
	@echo 'make demo         build and run the main job; leaves out/demo/demo.html and report.html'
	@echo 'make check        build and pass the tests (Debian packages alone, a few minutes)'
	@echo 'make check-mutants  the conformance suite against a sample of MUTANTS=120 mutants of the fakebroker; MUTANTS=0: all'
	@echo 'make check-kafka  cases, incidents and log segments on Apache Kafka 4.4 too (needs a JDK of Java 17 and Maven)'
	@echo 'make check-clients clients in Python, Java, Go and JavaScript against fakebroker (fetches what they need)'
	@echo 'make check-schema the message codec against Kafka'"'"'s own, of 3.9 and 4.4 (needs a JDK 17 and Maven)'
	@echo 'make measure-produce builds what asks a running Kafka for its answers to a table of requests'
	@echo 'make tests        build the tests without running them'
	@echo 'make check-san    the tests under AddressSanitizer + UBSan, then ThreadSanitizer'
	@echo 'make fuzz-smoke   every fuzz target for FUZZ_SECONDS=10, with libFuzzer and sanitizers (needs clang)'
	@echo 'make fuzz-seeds   write the seeds of the fuzz targets anew'
	@echo 'make bench        lib/wire against straight-line C, as ratios with limits (about half a minute)'
	@echo 'make bench-broker start, memory and CPU per record of fakebroker, with limits (needs 10,000 open files)'
	@echo 'make bench-validators  CPU time of record validators, and instructions where there are none (needs valgrind)'
	@echo 'make bench-observer instructions per request of every observer, with limits (needs valgrind)'
	@echo 'make bench-observer-cpu  CPU per request of every observer, in pairs; QUADS=300, SIZE=100, ONLY=lines that match (half an hour)'
	@echo 'make cov          the tests with a coverage report in out/cov/ (needs gcovr)'
	@echo 'make lint         rules of the sources that no compiler checks'
	@echo 'make install      DESTDIR= and PREFIX=$(PREFIX): programs, plugin headers, libkassay.a and its headers, data'
	@echo 'make deps         install the Debian packages that are missing (all building targets do this first)'
	@echo 'make clean        remove build output'
	@echo 'Variables: CC=gcc|clang  SAN=address,undefined|thread  WERROR=1  COV=1  SIMD=  CFLAGS=...  LDFLAGS=...  BUILD=dir  V=1'
	@echo 'Other flags rebuild what they concern; SAN and COV have build directories of their own.'

# ---- Debian packages -------------------------------------------------------------------------------------------------

.PHONY: deps
deps:
	@fixtures/packages/install.sh $(PACKAGES)

# ---- what was built with what ----------------------------------------------------------------------------------------

# A .words file holds the words that its variable has now; its time changes only when they do. Objects depend on their
# flags, archives on the list of their members, so that neither other flags nor a removed source leaves stale output.
FLAGS_WORDS          := $(CC) $(CFLAGS) $(KCFLAGS)
libkassay_WORDS      := $(LIB_OBJ)
$(foreach p,$(PROGRAMS),$(eval lib$(p)_WORDS := $(call obj_of,$(p))))

.PHONY: FORCE
$(BUILD)/%.words: FORCE
	$(shell mkdir -p $(@D))$(file >$@.new,$($*_WORDS))
	@if cmp -s $@.new $@; then rm -f $@.new; else mv $@.new $@; fi

# ---- message tables --------------------------------------------------------------------------------------------------

SCHEMA := $(sort $(wildcard lib/wire/schema/*.msg))
GEN    := $(BUILD)/gen/kw_messages.h $(BUILD)/gen/kw_tables.c

# A tool of the build: without sanitizers and coverage.
$(BUILD)/schemac: $(SCHEMAC) lib/wire/schemac.h $(BUILD)/FLAGS.words | deps
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -std=c11 -D_GNU_SOURCE $(WARN) -I. -o $@ $(SCHEMAC)

$(BUILD)/gen/stamp: $(BUILD)/schemac $(SCHEMA)
	@mkdir -p $(@D)
	$(call say,GEN,$(@D))
	$(Q)$(BUILD)/schemac -o $(@D) $(SCHEMA)
	@touch $@

$(GEN): $(BUILD)/gen/stamp ;

# ---- objects, programs, plugins --------------------------------------------------------------------------------------

# The first build of an object waits for the generated header; later ones know from their .d whether they include it.
$(OBJ)/%.o: %.c $(BUILD)/FLAGS.words | deps $(GEN)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CFLAGS) $(KCFLAGS) -MMD -MP -c -o $@ $<

# The page's style and script are embedded, which the compiler's dependencies do not say.
$(OBJ)/conformance/report/html.o: $(wildcard conformance/report/page.*)

$(BUILD)/gen/%.o: $(BUILD)/gen/%.c $(BUILD)/FLAGS.words
	$(call say,CC,$@)
	$(Q)$(CC) $(CFLAGS) $(KCFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/%.a: $(BUILD)/%.words
	@rm -f $@
	$(call say,AR,$@)
	$(Q)$(AR) rcs $@ $(filter %.o,$^)

$(LIB_A): $(LIB_OBJ)

define program
$(BUILD)/lib$(1).a: $(call obj_of,$(1))

$(BUILD)/$(1): $(OBJ)/$(1)/main.o $(BUILD)/lib$(1).a $(LIB_A)
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $$(CFLAGS) $$(KLDFLAGS) $$(LDFLAGS) -rdynamic -o $$@ $$^ $$($(1)_LIBS) $$(LIB_LIBS)

$(OBJ)/$(1)/tests/test_%: $(OBJ)/$(1)/tests/test_%.o $(BUILD)/lib$(1).a $(LIB_A)
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $$(CFLAGS) $$(KLDFLAGS) $$(LDFLAGS) -rdynamic -o $$@ $$^ $$(TEST_LIBS) $$($(1)_LIBS) $$(LIB_LIBS)

$(OBJ)/$(1)/fuzz/fuzz_%: $(OBJ)/$(1)/fuzz/fuzz_%.o $(FUZZ_MAIN) $(BUILD)/lib$(1).a $(LIB_A)
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $$(CFLAGS) $$(KLDFLAGS) $$(LDFLAGS) $(FUZZ_LINK) -rdynamic -o $$@ $$^ $$($(1)_LIBS) $$(LIB_LIBS)
endef
$(foreach p,$(PROGRAMS),$(eval $(call program,$(p))))

define libtest
$(OBJ)/$(1)tests/test_%: $(OBJ)/$(1)tests/test_%.o $(LIB_A)
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $$(CFLAGS) $$(KLDFLAGS) $$(LDFLAGS) -o $$@ $$(filter %.o,$$^) $$(LIB_A) $$(TEST_LIBS) $$(LIB_LIBS)

$(OBJ)/$(1)fuzz/fuzz_%: $(OBJ)/$(1)fuzz/fuzz_%.o $(FUZZ_MAIN) $(LIB_A)
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $$(CFLAGS) $$(KLDFLAGS) $$(LDFLAGS) $(FUZZ_LINK) -o $$@ $$^ $$(LIB_LIBS)
endef
$(foreach d,$(sort $(dir $(wildcard lib/*/*.c))),$(eval $(call libtest,$(d))))

# A benchmark has all of its folder's other sources, and the pairs of lib/text/bench.
define bench
$(OBJ)/$(1)bench/bench_%: $(OBJ)/$(1)bench/bench_%.o $(call bench_obj,$(1)) $(LIB_A)
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $$(CFLAGS) $$(KLDFLAGS) $$(LDFLAGS) -o $$@ $$^ $$(LIB_LIBS)
endef
bench_obj = $(patsubst %.c,$(OBJ)/%.o,$(filter-out $(wildcard $(1)bench/bench_*.c),$(wildcard $(1)bench/*.c lib/text/bench/*.c)))
$(foreach d,$(sort $(dir $(wildcard lib/*/*.c))),$(eval $(call bench,$(d))))

# Example plugins see nothing but the public headers.
$(BUILD)/plugins/%.so: fixtures/plugins/%.c $(HOOKS) $(BUILD)/FLAGS.words | deps
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -std=c11 $(WARN) -Ifakebroker/hooks -shared -fPIC -o $@ $<

# ---- tests -----------------------------------------------------------------------------------------------------------

.PHONY: check
check: all tests
	@BUILD=$(BUILD) LINK='$(CC) $(KLDFLAGS)' TSAN_OPTIONS=suppressions=$(CURDIR)/fixtures/tests/tsan.supp \
		fixtures/launchers/run-tests.sh $(SH_TESTS) $(TESTS)

.PHONY: tests
tests: $(TESTS)

# They slow the suites down several times, so that a test may take longer.
.PHONY: check-san check-address check-thread
check-san: check-address check-thread
check-address:
	TEST_TIMEOUT=900 $(MAKE) check SAN=address,undefined
# ThreadSanitizer of gcc 12 cannot place its shadow where addresses are randomized by more than 28 bits.
check-thread:
	$$(setarch -R true 2>/dev/null && echo setarch -R) env TEST_TIMEOUT=900 $(MAKE) check SAN=thread

# Every fuzz target for FUZZ_SECONDS, FUZZ_JOBS of them (as many as there are processors) at a time, by libFuzzer; see docs/fuzzing.md.
CLANG        ?= clang
FUZZ_SECONDS ?= 10
FUZZ_BUILD   := CC=$(CLANG) BUILD=build-fuzz FUZZ=1 SAN=fuzzer-no-link,address,undefined CFLAGS='-O1 -g'

.PHONY: fuzz-smoke fuzzers
fuzz-smoke:
	@command -v $(CLANG) >/dev/null || { echo 'make fuzz-smoke needs clang (package clang)'; exit 2; }
	$(MAKE) $(FUZZ_BUILD) fuzzers
	@FUZZ_SECONDS=$(FUZZ_SECONDS) fixtures/launchers/fuzz.sh $(FUZZERS:$(BUILD)/%=build-fuzz/%)
fuzzers: $(FUZZERS)

# Writes the seeds of all targets, which are checked in.
SEEDS := $(OBJ)/lib/wire/fuzz/seeds
.PHONY: fuzz-seeds
fuzz-seeds: $(SEEDS)
	@SEEDS=$(SEEDS) fixtures/launchers/fuzz-seeds.sh
$(SEEDS): $(SEEDS).o $(OBJ)/lib/wire/tests/random_message.o $(LIB_A)
	$(CC) $(CFLAGS) $(KLDFLAGS) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)

# Two brokers' configurations, key by key.
COMPARE_CONFIGS := $(OBJ)/fakebroker/tests/compare_configs
$(COMPARE_CONFIGS): $(COMPARE_CONFIGS).o $(LIB_A)
	$(CC) $(CFLAGS) $(KLDFLAGS) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)

# What a running Kafka 3.9 answers to a table of old requests; the program says how.
MEASURE_OLD := $(OBJ)/fakebroker/tests/measure_old
$(MEASURE_OLD): $(MEASURE_OLD).o $(LIB_A)
	$(CC) $(CFLAGS) $(KLDFLAGS) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)

# Limits are for plain gcc or clang with CFLAGS as they are above.
.PHONY: bench
bench: $(BENCHES)
	@fixtures/launchers/bench.sh $(BENCHES)

IDLE  := $(OBJ)/fakebroker/bench/bench_idle
LOAD  := $(OBJ)/fakebroker/bench/bench_load
EMPTY := $(OBJ)/fakebroker/bench/empty
SINK  := $(OBJ)/fakebroker/bench/sink
KFAKE := $(OBJ)/fakebroker/bench/kfake
PROGRAM := $(OBJ)/fakebroker/bench/program.o
GO    ?= go
# What record validators cost, and what they cost where there are none.
BENCH_VALIDATORS := $(OBJ)/fakebroker/bench/bench_validators.o $(OBJ)/lib/text/bench/pairs.o
.PHONY: bench-validators
bench-validators: $(BENCH_VALIDATORS) $(BUILD)/libfakebroker.a $(LIB_A)
	@COMPILE='$(subst ','\'',$(CC) $(CFLAGS) $(KCFLAGS))' LINK='$(CC) $(CFLAGS) $(KLDFLAGS) $(LDFLAGS) -rdynamic' \
		LIBS='$(fakebroker_LIBS) $(LIB_LIBS)' fixtures/launchers/bench-validators.sh $(BENCH_VALIDATORS) -- \
		$(BUILD)/libfakebroker.a $(LIB_A)

.PHONY: bench-broker
bench-broker: $(BUILD)/fakebroker $(IDLE) $(LOAD) $(EMPTY) $(SINK)
	@cd fakebroker/bench/kfake && $(GO) build -o $(abspath $(KFAKE)) . || rm -f $(abspath $(KFAKE))
	@$(IDLE) $(BUILD)/fakebroker $(EMPTY); idle=$$?; \
		$(LOAD) $(BUILD)/fakebroker $(SINK) $$(ls $(KFAKE) 2>/dev/null) && exit $$idle
$(IDLE): $(IDLE).o $(PROGRAM) $(OBJ)/lib/text/bench/pairs.o
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(KLDFLAGS) $(LDFLAGS) -o $@ $^ -lm
OBSERVER := $(OBJ)/fakebroker/bench/bench_observer
.PHONY: bench-observer
bench-observer: $(OBSERVER)
	@$(OBSERVER)
.PHONY: bench-observer-cpu
bench-observer-cpu: $(BUILD)/fakebroker $(BUILD)/loadgen
	@BUILD=$(BUILD) fixtures/launchers/observer-cost.sh
$(OBSERVER): $(OBSERVER).o $(OBJ)/lib/text/bench/pairs.o $(BUILD)/libfakebroker.a $(LIB_A)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(KLDFLAGS) $(LDFLAGS) -rdynamic -o $@ $^ $(fakebroker_LIBS) $(LIB_LIBS)
$(LOAD): $(LOAD).o $(OBJ)/fakebroker/bench/client.o $(PROGRAM) $(OBJ)/lib/text/bench/pairs.o
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(KLDFLAGS) $(LDFLAGS) -o $@ $^ -lm -lrdkafka
$(SINK): $(SINK).o $(PROGRAM) $(LIB_A)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(KLDFLAGS) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)
$(EMPTY): $(EMPTY).o
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(KLDFLAGS) $(LDFLAGS) -Wl,--no-as-needed -o $@ $^ $(fakebroker_LIBS) $(LIB_LIBS)

# Counts the allocations of the library.
$(OBJ)/lib/wire/tests/test_allocations: LDFLAGS += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
# Let them fail.
NO_MEMORY := $(addprefix $(OBJ)/,lib/wire/tests/test_no_memory fakebroker/tests/test_compact_memory \
	fakebroker/tests/test_cluster_memory loadgen/tests/test_wire_memory)
$(NO_MEMORY): $(OBJ)/lib/wire/tests/failing_malloc.o
$(NO_MEMORY): LDFLAGS += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
$(OBJ)/lib/wire/tests/test_no_memory: LDFLAGS += -Wl,--wrap=inflate

.PHONY: check-kafka
check-kafka: all $(COMPARE_CONFIGS)
	@BUILD=$(BUILD) fixtures/launchers/check-kafka.sh
	@BUILD=$(BUILD) fixtures/launchers/check-metadata-log.sh
	@BUILD=$(BUILD) fixtures/launchers/check-configs.sh

# Clients of other languages; CLIENTS names those that are wanted.
.PHONY: check-clients
check-clients: all
	@BUILD=$(BUILD) fixtures/launchers/check-clients.sh

# Every message of Kafka 3.9 and 4.4 against Kafka's own codec; KAFKA_LIBS_39 and KAFKA_LIBS_44 name folders of jars.
COMPARE := $(OBJ)/lib/wire/tests/compare_codec
$(COMPARE) $(addprefix $(OBJ)/lib/wire/tests/test_,message lengths tally): $(OBJ)/lib/wire/tests/random_message.o
$(addprefix $(OBJ)/lib/wire/tests/test_,walk tally): $(OBJ)/lib/wire/tests/check_tally.o
$(COMPARE) $(OBJ)/lib/wire/tests/test_lengths: $(OBJ)/lib/wire/tests/length_sites.o
$(COMPARE): $(COMPARE).o $(OBJ)/lib/wire/tests/oracle.o $(LIB_A)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(KLDFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIB_A) $(LIB_LIBS)

# The suite against mutants of the fakebroker: each must turn exactly its listed cases red. Most of the time goes into waiting
# for what must not come, so that there are six times as many at a time as processors. All of them take long, so that by
# default a sample is drawn anew each time, which says its seed; MUTANTS=0 runs all.
MUTANTS ?= 120
.PHONY: check-mutants
check-mutants: $(BUILD)/fakebroker $(BUILD)/conformance
	$(BUILD)/conformance mutants --jobs $$((6 * $$(nproc))) --sample $(MUTANTS)

# Asks a running Kafka what it answers to a table of Produce requests; the program says how.
MEASURE := $(OBJ)/lib/client/tests/measure_produce
.PHONY: measure-produce
measure-produce: $(MEASURE)
$(MEASURE): $(MEASURE).o $(LIB_A)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(KLDFLAGS) $(LDFLAGS) -o $@ $^ $(LIB_LIBS)

.PHONY: check-schema
check-schema: $(COMPARE)
	@COMPARE=$(COMPARE) fixtures/launchers/check-schema.sh

.PHONY: demo
demo: all
	@BUILD=$(BUILD) fixtures/launchers/demo.sh

.PHONY: cov
cov:
	$(MAKE) check COV=1
	@mkdir -p out/cov
	gcovr -r . --object-directory build-cov --exclude '.*/tests/.*' --exclude 'build.*' \
		--html-details out/cov/index.html --txt out/cov/summary.txt --print-summary

.PHONY: lint
lint:
	@fixtures/launchers/lint.sh

# ---- install ---------------------------------------------------------------------------------------------------------

.PHONY: install
install: $(BINS) $(LIB_A)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/include/kassay $(DESTDIR)$(PREFIX)/lib/pkgconfig \
		$(DESTDIR)$(PREFIX)/share/kassay $(addprefix $(DESTDIR)$(PREFIX)/include/kassay/,$(sort $(dir $(LIB_HEADERS))))
	install -m 755 $(BINS) $(DESTDIR)$(PREFIX)/bin/
	install -m 644 $(HOOKS) $(DESTDIR)$(PREFIX)/include/kassay/
	for header in $(LIB_HEADERS); do install -m 644 $$header $(DESTDIR)$(PREFIX)/include/kassay/$$header || exit; done
	install -m 644 $(BUILD)/gen/kw_messages.h $(DESTDIR)$(PREFIX)/include/kassay/
	install -m 644 $(LIB_A) $(DESTDIR)$(PREFIX)/lib/
	for pc in kassay kassay-wire; do sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' \
		-e 's|@LIBS@|$(LIB_LIBS)|' fixtures/packages/$$pc.pc.in > $(DESTDIR)$(PREFIX)/lib/pkgconfig/$$pc.pc || exit; done
	cp -r conformance/cases conformance/requirements conformance/profiles conformance/mutants fixtures/scenarios fixtures/incidents \
		$(DESTDIR)$(PREFIX)/share/kassay/
	install -D -m 644 conformance/diff/produce.json $(DESTDIR)$(PREFIX)/share/kassay/diff/produce.json

.PHONY: clean
clean:
	rm -rf build build-* out

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
.SECONDARY:
