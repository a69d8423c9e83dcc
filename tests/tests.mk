# Running, host tests, guest tests, console sessions, benchmarks.

SMP      ?= 2
MEM      ?= 256M
QEMU_CPU ?= max
MACHINE  ?= q35
BIOS     ?= seabios
APPEND   ?=
INITRD   ?=
LASTBOOT ?=

# Interactive: Ctrl-A x leaves, Ctrl-C goes to the guest.
run: $(O)/kernel.elf
	@tools/run-qemu --console --kernel $< --smp $(SMP) --mem $(MEM) --cpu $(QEMU_CPU) --machine $(MACHINE) --bios $(BIOS) \
	    --append "$(APPEND)" --initrd "$(INITRD)" --lastboot "$(LASTBOOT)"

# ---- Flavours: the same sources, compiled for other ends ------------------------------------------------------------------------

# $(call flavour,DIR): what lies below $(O)/DIR is compiled by $(COMPILE_DIR).
define flavour
$(O)/$(1)/%.o: %
	@mkdir -p $$(@D) && echo "  CC      $$@"
	$$(Q)$$(COMPILE_$(1)) -MMD -MP -c $$< -o $$@
endef
FOR_HOST := -std=gnu17 $(WARN) -I. -D_GNU_SOURCE -fno-strict-aliasing -fno-omit-frame-pointer -pthread
HTESTCC  ?= clang
HCFLAGS  := $(FOR_HOST) -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=undefined
# The fuzzers are linked of the same objects as the tests, and read counters in them.
COUNTERS  = $(if $(filter $@,$(FUZZOBJ) $(FUZZERS:%=$(O)/lt/tests/fuzz/%.c.o)),-fsanitize=fuzzer-no-link)
TCFLAGS  := $(FOR_HOST) -O1 -g1 -mcx16 -fsanitize=thread
SCFLAGS  := $(FOR_HOST) -O2 -g1 -mcx16
# h, host-test: the core and all that is pure, with threads as CPUs, under sanitizers. The kernel's own strings get other names.
HSTRINGS := kernel/lib/bare/libc.c tests/unit/kernel/lib/string.c
COMPILE_h = $(HTESTCC) $(HCFLAGS) $(COUNTERS) -ffreestanding $(if $(filter $<,$(HSTRINGS)),-include tests/host/names.h)
# t, ring-tsan: the ring buffer under ThreadSanitizer, which watches threads and (at atomic operations) signals.
COMPILE_t = $(HTESTCC) $(TCFLAGS) -ffreestanding -DWATCH_THREADS
# s, ring-step: the same as a kernel has it, for what tries all there is: each instruction, each size at each offset.
COMPILE_s = $(HTESTCC) $(SCFLAGS) -ffreestanding -DRING_EXHAUSTIVE
# l, trapline; lt, its cases, under sanitizers.
COMPILE_l = $(HOSTCC) -std=gnu17 -O2 -g $(WARN) -I. -Wa,-I$(O) -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64
COMPILE_lt = $(HTESTCC) $(HCFLAGS) $(COUNTERS) -Wa,-I$(O)
# b, bare.elf: a kernel of its own.
COMPILE_b = $(CC) -std=gnu17 -O1 -g $(WARN) -I. -ffreestanding -fno-pie -fno-stack-protector -fno-strict-aliasing -mno-red-zone \
            -mgeneral-regs-only -mcx16 -fcf-protection=none -fno-asynchronous-unwind-tables
$(foreach dir,h t s l lt b,$(eval $(call flavour,$(dir))))

# ---- Host: the pure code and the tracer's core, with threads as CPUs, under sanitizers -----------------------------------------

# Files elsewhere in kernel/ that are pure too, and have cases in tests/unit/.
HPURE    := kernel/console/ldisc.c kernel/monitor/line.c kernel/monitor/words.c kernel/fs/path.c kernel/fs/cpio.c kernel/fs/ramdata.c kernel/mem/range.c kernel/mem/buddy.c kernel/base/cmdline.c kernel/base/symtab.c \
            kernel/process/area.c kernel/process/elf.c kernel/process/futex_queue.c arch/x86_64/probe/insn.c $(EFIPURE) drivers/console_option.c drivers/uart.c drivers/acpi/acpi.c \
            drivers/acpi/madt.c drivers/acpi/fadt.c drivers/acpi/serial.c drivers/vt.c drivers/keymap.c drivers/virtio/virtio.c drivers/virtio/console.c \
            drivers/virtio/pci.c drivers/pci.c drivers/cmos.c drivers/tco.c drivers/i8042.c
HSRC     := $(sort $(TRACESRC) $(UNITSRC) $(wildcard kernel/lib/*.c kernel/lib/bare/*.c tests/host/*.c) $(HPURE))
HOBJ     := $(HSRC:%=$(O)/h/%.o)
ONLY     ?=

$(O)/host-test: $(HOBJ)
	@echo "  LD      $@"
	$(Q)$(HTESTCC) $(HCFLAGS) -o $@ $(HOBJ) -lcmocka

# The ring buffer alone, under ThreadSanitizer.
TSRC     := $(sort $(wildcard kernel/lib/*.c trace/ring/*.c tests/unit/trace/ring/*.c) tests/host/host.c tests/host/machine.c \
            tests/host/ring/main.c)
TOBJ     := $(TSRC:%=$(O)/t/%.o)

$(O)/ring-tsan: $(TOBJ)
	@echo "  LD      $@"
	$(Q)$(HTESTCC) $(TCFLAGS) -o $@ $(TOBJ)

# And as a kernel has it.
SSRC     := $(TSRC) tests/host/ring/step.c
SOBJ     := $(SSRC:%=$(O)/s/%.o)

$(O)/ring-step: $(SOBJ)
	@echo "  LD      $@"
	$(Q)$(HTESTCC) $(SCFLAGS) -o $@ $(SOBJ)

# The guest's suites in kernels that look for errors themselves, each of one kind: undefined behaviour, accesses to memory that is not
# theirs, races. Each place is told at the end. Not those that step through single instructions, which would be the checks', nor what the
# checks' frames are too large for or their time too long, nor what looks for an instruction that the compiler then chooses otherwise, nor
# what allows for few interrupts between two instructions: the third kernel waits there. Nor what compares registers that carry nothing,
# which the checks' calls change. `scribble` has a run of its own (make scribble).
SANITIZED := undefined address thread
# Races want a host thread per CPU, as `threads` of tests/drive/test has it.
RUN_thread := --multi
RUN_address := --mem 256M
# Its objects are larger than asked for, by their red zones: what measures them is left out.
SKIP_address := ,-latency.wakeup,-unwind.across_an_interrupt,-kmalloc.large_sizes_are_exact,-mem.reserve_to_its_end
WORDS_thread := hosttime
SKIP_thread := ,-unwind.across_an_interrupt,-hook_arguments.events,-graph_nesting.,-sched.fair,-realtime.slices,-ring_format.,-dynevent.,-dat.,-event_probe.,-eventheader
SANITIZED_CASES := all,-ring_steps.,-wake_steps.,-stepper_places.,-printk.overtaken,-printk.unfinished,-sweep.,-kprobe_sweep.,-scribble.,-hist.feeds_itself,-latency.preemptirqsoff,-latency.preempt_first,-hooks.every_function,-kprobe_detours.full,-kprobe.thousand,-ring_format.every_pair,-user_events.all_bits,-watch_hits.probed
SANITIZED_SECONDS ?= 2400
.PHONY: sanitized $(SANITIZED:%=sanitized-%)
sanitized: $(SANITIZED:%=sanitized-%)
$(SANITIZED:%=sanitized-%): sanitized-%: $(O)/kernel-test.elf
	$(Q)$(MAKE) O=$(O)/$* NEWLIB=$(NEWLIB) SANITIZE=$* $(O)/$*/kernel-test.elf $(O)/$*/test-initrd.cpio
	$(Q)tools/run-qemu --kernel $(O)/$*/kernel-test.elf --initrd $(O)/$*/test-initrd.cpio --timeout $(SANITIZED_SECONDS) --ktap $(RUN_$*) \
	    --append "ktest=$(or $(ONLY),$(SANITIZED_CASES)$(SKIP_$*)) $(WORDS_$*)"

.PHONY: tsan
tsan: $(O)/ring-tsan
	$(Q)$(O)/ring-tsan $(ONLY)

# The core of futexes with threads of the host, which wait and wake for real: with addresses watched, and with threads watched.
FUTEXSRC := tests/host/futex/main.c kernel/process/futex_queue.c
$(O)/futex-test $(O)/futex-tsan: $(FUTEXSRC) kernel/process/futex_queue.h
	@echo "  LD      $@"
	$(Q)$(HTESTCC) -std=gnu17 -O1 -g1 $(WARN) -I. -mcx16 -pthread $(if $(filter %tsan,$@),-fsanitize=thread -DWATCH_THREADS,-fsanitize=address -fsanitize=undefined) \
	    -o $@ $(FUTEXSRC)

# The instruction decoder beside objdump, over our own text and some of the system's own: INSN_FILES chooses others.
INSN_FILES ?= $(O)/kernel-test.elf $(wildcard /bin/bash /lib/x86_64-linux-gnu/libc.so.6 /usr/lib/x86_64-linux-gnu/libcrypto.so.3)
$(O)/insn-compare: tests/tools/insn_compare.c arch/x86_64/probe/insn.c arch/x86_64/probe/insn.h
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) -std=gnu17 -O2 $(WARN) -I. -o $@ $(filter %.c,$^)

.PHONY: insn-test
insn-test: $(O)/insn-compare $(O)/kernel-test.elf
	@[ -n "$(INSN_FILES)" ] || { echo "insn-test: no files"; exit 1; }
	@set -o pipefail; for f in $(INSN_FILES); do \
	    said=$$(objdump -d -w $$f | $(O)/insn-compare) && echo "ok - $$f: $$said" || { echo "not ok - $$f: $$said"; exit 1; }; done

# ---- trapline: what is done with traces on the host ----------------------------------------------------------------------------

# With it the parts of the kernel's library that are pure.
TLSRC    := $(sort $(shell find tools/trapline -name '*.c')) \
            $(wildcard trace/user/eventheader/*.c) kernel/lib/seq.c kernel/lib/fmt.c kernel/lib/digits.c kernel/lib/errno.c kernel/lib/schedule.c kernel/lib/schedule_seed.c \
            trace/export/dat_head.c trace/export/dat_page.c trace/persist/kept_read.c trace/ring/event.c trace/ring/recover.c
TLOBJ    := $(TLSRC:%=$(O)/l/%.o)

# A page of `trapline plot` has this script in it.
$(O)/l/tools/trapline/plot/script.c.o $(O)/lt/tools/trapline/plot/script.c.o: tools/trapline/plot/page.js tools/trapline/plot/calls.js

# So has trapline what it loads into QEMU.
$(O)/l/tools/trapline/machine/loaded.c.o $(O)/lt/tools/trapline/machine/loaded.c.o: $(O)/stop_plugin.so $(O)/turns.so

# `trapline goto` loads it.
$(O)/stop_plugin.so: tools/stop_plugin.c tools/trapline/goto/stop_plan.h
	@mkdir -p $(@D)
	@echo "  LD      $@"
	$(Q)$(HOSTCC) -std=gnu17 -O2 $(WARN) -I. -fPIC -shared -fvisibility=hidden -o $@ $<

# QEMU of deterministic machines loads it before its own libraries.
$(O)/turns.so: tools/turns.c
	@mkdir -p $(@D)
	@echo "  LD      $@"
	$(Q)$(HOSTCC) -std=gnu17 -D_GNU_SOURCE -O2 $(WARN) -I. -fPIC -shared -fvisibility=hidden -o $@ $<

# Another one, that changes the pace of QEMU's threads for tests/drive/same-test.
$(O)/pace.so: tests/drive/pace.c
	@mkdir -p $(@D)
	@echo "  LD      $@"
	$(Q)$(HOSTCC) -std=gnu17 -D_GNU_SOURCE -O2 $(WARN) -I. -fPIC -shared -o $@ $<

$(O)/trapline: $(TLOBJ)
	@echo "  LD      $@"
	$(Q)$(HOSTCC) -o $@ $^

.PHONY: trapline
trapline: $(O)/trapline

# Its cases (tests/trapline), under sanitizers, which find leaks too.
TUSRC    := $(wildcard tests/trapline/*.c) $(filter-out tools/trapline/main.c,$(TLSRC)) kernel/fs/cpio.c
TUOBJ    := $(TUSRC:%=$(O)/lt/%.o)

$(O)/trapline-unit: $(TUOBJ)
	@echo "  LD      $@"
	$(Q)$(HTESTCC) $(HCFLAGS) -o $@ $^ -lcmocka

# And the program itself so: comparing and drawing whole files is tried with this one.
$(O)/checked/trapline: $(filter-out $(O)/lt/tests/%,$(TUOBJ)) $(O)/lt/tools/trapline/main.c.o
	@mkdir -p $(@D)
	@echo "  LD      $@"
	$(Q)$(HTESTCC) $(HCFLAGS) -o $@ $^

# ---- Fuzzers: a file of tests/fuzz/ each, over the same sources; FUZZ_TIME seconds each, ONLY=name chooses one -------------------

FUZZERS  := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c))
FUZZSRC  := $(sort $(TRACESRC) $(wildcard kernel/lib/*.c) tests/unit/trace/filter/sample.c tests/unit/trace/types/sample.c tests/unit/trace/tools.c tests/unit/json_check.c tests/host/host.c tests/host/machine.c tests/host/probe.c tests/host/function.c)
# Not what starts machines: the tests have a machine_run() of their own.
FUZZTL   := $(filter-out tools/trapline/main.c $(addprefix tools/trapline/,explore/% goto/% machine/machine.c record/%),$(filter tools/trapline/%,$(TLSRC)))
FUZZOBJ  := $(FUZZSRC:%=$(O)/h/%.o) $(FUZZTL:%=$(O)/lt/%.o)
FUZZ_TIME ?= 300

$(FUZZERS:%=$(O)/fuzz/%): $(O)/fuzz/%: $(O)/lt/tests/fuzz/%.c.o $(FUZZOBJ)
	@mkdir -p $(@D)
	@echo "  LD      $@"
	$(Q)$(HTESTCC) $(HCFLAGS) -fsanitize=fuzzer -o $@ $^

.PHONY: fuzz
fuzz: $(FUZZERS:%=$(O)/fuzz/%)
	$(Q)tests/drive/fuzz $(O)/fuzz $(FUZZ_TIME) $(ONLY)

# The tracer's core in another program (docs/porting.md): the small port with the objects of the host's tests.
PORTOBJ  := $(patsubst %,$(O)/h/%.o,$(TRACESRC) $(wildcard trace/defaults/*.c tests/host/port/*.c kernel/lib/*.c))
$(O)/port: $(PORTOBJ)
	@echo "  LD      $@"
	$(Q)$(HTESTCC) $(HCFLAGS) -o $@ $(PORTOBJ)

# What probes by name fetch, for tests/drive/types-test.
NAMESOBJ := $(patsubst %,$(O)/h/%.o,$(TRACESRC) $(wildcard trace/defaults/*.c kernel/lib/*.c) tests/host/port/host.c tests/host/port/memory.c kernel/base/symtab.c tests/tools/probe_names.c)
$(O)/probe-names: $(NAMESOBJ)
	@echo "  LD      $@"
	$(Q)$(HTESTCC) $(HCFLAGS) -o $@ $^

# The same without each part of the core that a host may leave out, and without all of them: trace/defaults stands for them then.
PARTS    := hist probe eventheader persist export
part_hist        := trace/hist/%
part_probe       := trace/probe/%
part_eventheader := trace/user/eventheader/% trace/user/eventheader_class.c
part_persist     := trace/persist/% trace/tracefs/lastboot.c
part_export      := trace/export/% trace/tracefs/dat.c
part_all         := $(foreach part,$(PARTS),$(part_$(part)))
define port_without
$(O)/port-without-$(1): $(filter-out $(patsubst %,$(O)/h/%.o,$(part_$(1))),$(PORTOBJ))
	@echo "  LD      $$@"
	$$(Q)$$(HTESTCC) $$(HCFLAGS) -o $$@ $$^
endef
$(foreach part,$(PARTS) all,$(eval $(call port_without,$(part))))
PORTS    := $(O)/port $(patsubst %,$(O)/port-without-%,$(PARTS) all)

# The same as a kernel of its own, with no C library, and without the parts that may be left out: $(O)/b
BARESRC  := $(filter-out $(part_all),$(TRACESRC)) $(wildcard trace/defaults/*.c kernel/lib/*.c kernel/lib/bare/*.c tests/host/bare/*.[cS]) tests/host/port/host.c
BAREOBJ  := $(BARESRC:%=$(O)/b/%.o)

$(O)/bare.elf: $(BAREOBJ) tests/host/bare/link.ld
	@echo "  LD      $@"
	$(Q)$(CC) -nostdlib -static -no-pie -Wl,-T,tests/host/bare/link.ld -Wl,--build-id=none -Wl,--no-warn-rwx-segments -o $@ $(BAREOBJ)

.PHONY: port-test
port-test: $(PORTS) $(O)/bare.elf
	$(Q)tests/host/port/check $(PORTS)
	$(Q)tests/host/bare/check $(O)/bare.elf

.PHONY: test-all trigger-storm host-test guest-test console-test matrix model
# First what other things wait for: newlib for the programs, whose configure uses one processor, and the kernels with their many links.
test test-all: $(O)/archive/bin/toolbox $(O)/kernel.elf $(O)/kernel-test.elf $(O)/trapline.img $(O)/test-initrd.cpio $(O)/test-programs.cpio $(O)/host-test $(O)/probe-names $(PORTS) $(O)/bare.elf $(O)/trapline $(O)/pace.so $(O)/libtrapline.a $(O)/checked/trapline $(O)/checked/files $(O)/args $(O)/races $(O)/calls $(O)/trapline-unit $(O)/ringcheck $(O)/eventheader $(O)/ring-tsan $(O)/ring-step $(O)/futex-test $(O)/futex-tsan $(O)/bench-native $(FUZZERS:%=$(O)/fuzz/%) $(O)/insn-compare
	$(Q)O=$(O) NEWLIB=$(abspath $(NEWLIB)) tests/drive/test $(if $(filter test-all,$@),--all)

# The stages one by one; ONLY=prefix runs the cases whose names begin so.
host-test: $(O)/host-test
	$(Q)$(O)/host-test $(ONLY)

guest-test: $(O)/kernel-test.elf $(O)/test-initrd.cpio
	$(Q)tools/run-qemu --kernel $< --initrd $(O)/test-initrd.cpio --append "ktest=$(or $(ONLY),all) $(APPEND)" --smp $(SMP) --ktap

# 100,000 triggers come, fire and go on 4 CPUs with a host thread each: minutes on 2 cores.
trigger-storm: $(O)/kernel-test.elf
	$(Q)tools/run-qemu --kernel $< --append "ktest=trigger_storm hosttime rounds=100000" --smp 4 --multi --ktap --timeout 3600

# A program of /test, typed at the shell of a machine whose CPUs have a host thread each: its exit status decides.
CAMPAIGN_SECONDS ?= 3600
campaign = $(Q)printf '\n%s; echo "status $$?"; poweroff\n' '$(1)' | timeout $(CAMPAIGN_SECONDS) sh -c "exec $$(tools/run-qemu --print --multi \
	    --kernel $(O)/kernel-test.elf --smp $(SMP) --append 'shell=plain quiet')" | tee /dev/stderr | grep -q '^status 0'
.PHONY: hostile sharing scribble stress deaths disturbed
# System calls of user events with random arguments, from two tasks.
hostile: $(O)/kernel-test.elf
	$(call campaign,/test/hostile $(or $(THOUSANDS),10000))
# System calls from six threads, while two more change the memory that all share: five million. A page of the kernel that some of the
# pointers lead to, its code and its constants stay as they are.
sharing: $(O)/kernel-test.elf
	$(Q)tools/run-qemu --kernel $< --append "ktest=ring3.sharing hosttime rounds=$(or $(THOUSANDS),834)" --smp $(SMP) --multi --ktap --timeout $(CAMPAIGN_SECONDS)
# Random writes to every file below /proc, /dev and tracefs, from eight tasks with NMIs, twice: a million. With MULTI=1 each CPU has a
# host thread, which takes seven times as long on a computer of two.
scribble: $(O)/kernel-test.elf
	$(Q)tools/run-qemu --kernel $< --append "ktest=scribble $(if $(MULTI),hosttime )walls rounds=$(or $(THOUSANDS),500) seed=$(or $(SEED),1)" --smp 4 $(if $(MULTI),--multi) --ktap --timeout $(CAMPAIGN_SECONDS)
# 64 threads at whatever they can do, for five minutes, and once more: nothing may be left of them.
stress: $(O)/kernel-test.elf
	$(Q)tools/run-qemu --kernel $< --append "ktest=ring3.stress hosttime stress=$(or $(STRESS),300s)" --smp 4 --multi --ktap --timeout $(CAMPAIGN_SECONDS)
# The guest's cases, a host thread per CPU, while a real-time task on each CPU takes it at random moments; then those for four CPUs. Not
# what allows for no other task at all: a list of two names of tasks, CPUs that are idle, the load, the share of real-time tasks. RUNS of
# them, from SEED on.
DISTURBED_SMP   := hook_storm.,latency.come_and_go,kernel_instances.,trigger_storm.,filter_smp.,hist_smp.,kprobe.hits,watch_hits.
DISTURBED_NOT   := output.names,sched.idle_without_ticks,sched.load,realtime.,sweep.,ring_format.,dynevent.,dat.,event_probe.,eventheader,user_events.all_bits,kprobe_detours.full,kprobe.thousand,starved.,scribble.,graph_lives.
DISTURBED_CASES := all,-$(subst $(comma),$(comma)-,$(DISTURBED_SMP)$(comma)$(DISTURBED_NOT))
disturbed: $(O)/kernel-test.elf $(O)/test-initrd.cpio
	$(Q)run() { tools/run-qemu --kernel $< --append "ktest=$$1 hosttime disturb=$$seed" --multi --ktap --timeout $(CAMPAIGN_SECONDS) "$${@:2}"; }; \
	for ((seed = $(or $(SEED),1); seed < $(or $(SEED),1) + $(or $(RUNS),10); seed++)); do \
	    echo "# seed $$seed"; \
	    run "$(or $(ONLY),$(DISTURBED_CASES))" --initrd $(O)/test-initrd.cpio || exit 1; \
	    [ -n "$(ONLY)" ] || run "$(DISTURBED_SMP) rounds=600" --smp 4 || exit 1; \
	done
# Programs of user events that are killed in the middle of anything.
deaths: $(O)/kernel-test.elf
	$(call campaign,/test/deaths $(or $(DEATHS),5000))

# A probe at every instruction of the kernel, as a breakpoint and as a jump where there can be one: minutes.
.PHONY: sweep
sweep: $(O)/kernel-test.elf $(O)/test-initrd.cpio
	$(Q)tools/run-qemu --kernel $< --initrd $(O)/test-initrd.cpio --append "ktest=sweep sweep=all" --smp $(SMP) --ktap --timeout 2400

# Probes hit a million times on four CPUs with a host thread each, armed and disarmed ten thousand times while they run, both as
# breakpoints and as jumps: minutes.
.PHONY: probe-storm
probe-storm: $(O)/kernel-test.elf
	$(Q)tools/run-qemu --kernel $< --append "ktest=kprobe. storm=long" --smp 4 --multi --ktap --timeout 3600

console-test: $(O)/kernel.elf $(O)/test-programs.cpio
	$(Q)tests/drive/console-test --kernel $< --skip tests/console/skip -k '$(ONLY)' tests/console/*.txt

# Consoles and devices of whole machines; ONLY=name chooses one case.
.PHONY: device-test
device-test: $(O)/kernel.elf $(O)/BOOTX64.EFI
	$(Q)tests/drive/device-test --kernel $< $(ONLY)

# All states of the ring buffer's algorithm; `make test` has the smaller runs of it.
model:
	$(Q)O=$(O) tests/drive/spin-check --all

# A static program of the host, to be run in a machine.
$(O)/args: tests/tools/args.c
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) -std=gnu17 -O2 -Wall -Wextra -Werror -static -o $@ $<

# What the loader and the kernel read, on the host.
FILESSRC := tests/tools/files.c boot/efi/config.c boot/efi/kernel_image.c kernel/fs/cpio.c kernel/process/elf.c
$(O)/checked/files: $(FILESSRC)
	@mkdir -p $(@D)
	@echo "  LD      $@"
	$(Q)$(HTESTCC) $(FOR_HOST) -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -o $@ $(FILESSRC)

# Programs with races, for `trapline explore`.
$(O)/races: tests/races/races.c tests/races/races.h
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) -std=gnu17 -O1 -Wall -Wextra -Werror -I. -static -pthread -o $@ $<

# Cases of system calls, for this Linux and for a machine: bad pointers and sizes are what they are about.
CALLSRC  := $(sort $(wildcard tests/calls/*.c))
$(O)/calls: $(CALLSRC) tests/calls/calls.h
	@mkdir -p $(@D)
	@echo "  LD      $@"
	$(Q)$(HOSTCC) -std=gnu17 -O1 -Wall -Wextra -Werror -Wno-unused-result -Wno-stringop-overflow -Wno-nonnull -D_GNU_SOURCE -I. -static \
	    -o $@ $(CALLSRC)

.PHONY: programs
programs: $(O)/kernel.elf $(O)/trapline
	$(Q)tests/drive/programs-test $(O)
	$(Q)tests/drive/programs-test $(O) all

.PHONY: calls-test
calls-test: $(O)/kernel.elf $(O)/trapline $(O)/calls
	$(Q)tests/drive/calls-test --kernel $(O)/kernel.elf --trapline $(O)/trapline --program $(O)/calls -k '$(ONLY)'

.PHONY: strace-test
strace-test: $(O)/kernel.elf $(O)/trapline $(O)/checked/trapline $(O)/calls $(O)/args
	$(Q)tests/drive/strace-test $(O)

.PHONY: trapline-test
trapline-test: $(O)/kernel.elf $(O)/trapline $(O)/args $(O)/races
	$(Q)tests/drive/trapline-test --kernel $(O)/kernel.elf --trapline $(O)/trapline --program $(O)/args -k '$(ONLY)'

.PHONY: export-test
export-test: $(O)/kernel.elf $(O)/trapline $(O)/checked/trapline
	$(Q)tests/drive/export-test --kernel $(O)/kernel.elf --trapline $(O)/trapline --checked $(O)/checked/trapline -k '$(ONLY)'

# Bugs planted one at a time (tests/mutants), and which case catches each: MUTANTS='ring/*' chooses, MUTANTS_SECONDS is how long another
# one is begun (ten hours), MUTANTS_JOBS how many copies of the tree there are. The results are in tests/mutants/table.
MUTANTS         ?=
MUTANTS_SECONDS ?= 36000
MUTANTS_JOBS    ?= 1
MUTANTS_NEED    := $(O)/host-test $(O)/ring-step $(O)/trapline-unit $(O)/trapline $(O)/kernel-test.elf $(O)/kernel.elf $(O)/test-programs.cpio
.PHONY: mutants mutants-mechanical
mutants: $(MUTANTS_NEED)
	$(Q)tests/drive/mutants --build $(O) --budget $(MUTANTS_SECONDS) --jobs $(MUTANTS_JOBS) $(foreach one,$(MUTANTS),'$(one)')

# Small changes made by a machine in what is read with each event, NUMBER of them from SEED on; FOLDERS="trace/ring" chooses.
SEED    ?= 1
NUMBER  ?= 300
FOLDERS ?=
mutants-mechanical: $(MUTANTS_NEED)
	$(Q)tests/drive/mutants-mechanical --build $(O) --budget $(MUTANTS_SECONDS) --jobs $(MUTANTS_JOBS) --seed $(SEED) --number $(NUMBER) $(FOLDERS)

# KernelShark with our files, and a picture of its window: build/kernelshark/kernelshark.png
.PHONY: kernelshark-test
kernelshark-test: $(O)/kernel.elf $(O)/trapline
	$(Q)tests/drive/export-test --kernel $(O)/kernel.elf --trapline $(O)/trapline -k kernelshark --keep $(O)/kernelshark

# A thousand events, as many times back again, a hundred words: the better part of an hour.
.PHONY: explore-long
explore-long: $(O)/kernel.elf $(O)/kernel-test.elf $(O)/trapline $(O)/races
	$(Q)tests/drive/explore-test $(O)

.PHONY: goto-long
goto-long: $(O)/kernel.elf $(O)/trapline
	$(Q)tests/drive/goto-test $(O)

# A trace of 100 MB (MB=n) in all tools: minutes, and some GB of disk.
.PHONY: export-long
export-long: $(O)/kernel.elf $(O)/trapline
	$(Q)tests/drive/export-long --kernel $(O)/kernel.elf --trapline $(O)/trapline --mb $(or $(MB),100)

# From UEFI's first word to the prompt; ONLY=menu chooses cases.
.PHONY: uefi-test
uefi-test: $(O)/trapline.img
	$(Q)NEWLIB=$(abspath $(NEWLIB)) tests/drive/uefi-test $(O) $(ONLY)

# In Bochs, with CPUS=2 CPUs.
.PHONY: bochs-test
bochs-test: $(O)/kernel-test.elf
	$(Q)tests/drive/bochs-test $< $(CPUS)

.PHONY: live-test
live-test: $(O)/kernel.elf $(O)/kernel-test.elf $(O)/trapline
	$(Q)tests/drive/live-test --kernel $(O)/kernel.elf --test-kernel $(O)/kernel-test.elf --trapline $(O)/trapline -k '$(ONLY)'

matrix: $(O)/kernel-test.elf $(O)/BOOTX64.EFI
	$(Q)tests/drive/matrix --all --loader $(O)/BOOTX64.EFI $<

# The ring buffer at every pair of instruction boundaries: combinations STEPS to STEPS_TO, in at most STEPS_SECONDS. Each says its
# number when it begins, so that the rest can be run later.
STEPS         ?= 0
STEPS_TO      ?= 701
STEPS_SECONDS ?= 14400
.PHONY: steps
steps: $(O)/kernel-test.elf
	$(Q)tools/run-qemu --kernel $< --append "ktest=ring_steps steps=$(STEPS) steps_to=$(STEPS_TO)" --ktap --timeout $(STEPS_SECONDS)

# The ring buffer under load: SOAK million events taken, each checked in the guest and on the host.
SOAK         ?= 1000
SOAK_SECONDS ?= 7200
$(O)/ringcheck: tests/drive/ringcheck.c
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) -std=gnu17 -O2 $(WARN) $< -o $@

# The decoder of EventHeader events as a program of the host.
EHOBJ    := $(patsubst %,$(O)/l/%.o,$(wildcard tools/eventheader*.c)) $(filter-out $(O)/l/tools/trapline/main.c.o,$(TLOBJ))
$(O)/eventheader: $(EHOBJ)
	@echo "  LD      $@"
	$(Q)$(HOSTCC) -o $@ $^

.PHONY: soak
soak: $(O)/kernel-test.elf $(O)/ringcheck
	$(Q)tests/drive/soak $(O)/kernel-test.elf $(O)/ringcheck $(SOAK) $(SOAK_SECONDS)

# Linux's own tests of tracefs, out of Debian's linux-source-6.1.
.PHONY: ftracetest
ftracetest: $(O)/kernel.elf
	$(Q)tests/drive/ftracetest --kernel $< --build $(O)/ftracetest --expect tests/ftracetest -k "$(ONLY)"

bench: $(O)/kernel-test.elf
	$(Q)tests/drive/bench $< $(O)/bench.tsv

# The ring buffer on this processor, as it is compiled for speed.
$(O)/bench-native: $(wildcard tests/native/*.[ch] tests/host/port/memory.c trace/ring/*.[ch] kernel/lib/*.h trace/host_*.h)
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu17 -O2 -g $(WARN) -I. -fno-strict-aliasing -DTRACE_HOST_INLINE='"tests/native/inline.h"' -pthread -o $@ $(filter %.c,$^)

# A whole event: with the core of the tracer, without what a host may leave out.
NATIVEOBJ := $(patsubst %,$(O)/n/%.o,$(filter-out $(part_all),$(TRACESRC)) $(wildcard trace/defaults/*.c kernel/lib/*.c) tests/native/event/bench.c tests/native/host.c tests/host/port/memory.c)
$(O)/n/%.c.o: %.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu17 -O2 $(WARN) -I. -fno-strict-aliasing -Wno-sizeof-pointer-memaccess -DTRACE_HOST_INLINE='"tests/native/inline.h"' -MMD -MP -c $< -o $@

$(O)/bench-native-event: $(NATIVEOBJ)
	$(Q)$(CC) -pthread -o $@ $^

.PHONY: bench-native
bench-native: $(O)/bench-native $(O)/bench-native-event
	$(Q)tests/drive/bench-native $^ $(O)/bench-native.tsv

-include $(patsubst %.o,%.d,$(HOBJ) $(TOBJ) $(SOBJ) $(TLOBJ) $(TUOBJ) $(FUZZOBJ) $(FUZZERS:%=$(O)/lt/tests/fuzz/%.c.o) $(PORTOBJ) $(BAREOBJ) $(EHOBJ) $(NATIVEOBJ))

help:
	@sed -n 's/^#: \{0,1\}//p' tests/tests.mk

#: make run       build, boot in QEMU, give the console (Ctrl-A x or `poweroff` leaves)
#:                variables: SMP=2 MEM=256M QEMU_CPU=max MACHINE=q35|pc|microvm BIOS=seabios|qboot
#:                APPEND="kernel command line" INITRD=archive.cpio LASTBOOT=lastboot.bin
#: make image     build/trapline.img for a stick (`dd`), build/trapline.iso for a CD or a stick; ARCHIVE=archive.cpio CONFIG=trapline.cfg
#: make run-uefi  and boot it under OVMF; variables as for make run
#: make test      everything: check, host unit tests, guest tests, console sessions, machines. One by one:
#:                check, host-test, port-test, insn-test, guest-test, console-test, device-test, uefi-test, bochs-test, matrix; ONLY=ring. chooses cases
#: make test-all  make test, and tests that take longer (tests/stages lists all)
#: make sanitized     the guest's tests in kernels that look for undefined behaviour, wrong memory accesses and data races
#:                (sanitized-undefined, sanitized-address, sanitized-thread; ONLY=ring. chooses cases); minutes
#: make tsan      the ring buffer's cases under ThreadSanitizer
#: make model     all states of the models of the ring buffer and of futexes, by Spin (some ten minutes)
#: make programs  bash, sqlite3, perl, lua, gawk, make, python3, gcc and C++ from Debian, unmodified: same output and status as on this computer
#: make kernel    build/kernel.elf only
#: make check     include table, formatting, forbidden words
#: make trigger-storm   100,000 rounds of adding, firing and removing triggers on 4 CPUs, a host thread each (minutes)
#: make steps     the ring buffer interrupted at every pair of instructions that hooks can tell apart: twenty minutes; STEPS=n STEPS_TO=m are a part
#: make soak      the ring buffer under load until a thousand million events were taken (SOAK=millions); minutes
#: make explore-long  trapline explore finds twenty races, each replayed 100 times; 100 seeds beside cold machines; an hour
#: make goto-long     trapline goto to 1,000 events, 1,000 times back again, to the last writers of 100 words; most of an hour
#: make export-long   a trace of 100 MB (MB=) in trace-cmd, babeltrace2, protoc, JSON and text, each record compared; minutes
#: make ftracetest   Linux 6.1's own tests of tracefs and user_events, out of Debian's linux-source-6.1; ONLY=REGEX chooses; minutes
#: make mutants   bugs planted one at a time, and the case that catches each: MUTANTS='ring/*' chooses; hours (tests/mutants)
#: make mutants-mechanical   NUMBER=300 small changes from SEED=1 on, in FOLDERS="trace/ring trace/filter ..."; hours
#: make trapline  the program on the host for traces: build/trapline --help; trapline-test: as people use it
#: make fuzz      fuzzes the parsers, FUZZ_TIME=300 seconds each; ONLY=filter chooses one; findings are in build/fuzz/
#: make probe-storm  probes on four CPUs, a million hits
#: make hostile   system calls with random arguments from two tasks, THOUSANDS=10000 of them each
#: make sharing   the same from six threads, THOUSANDS=834 each, while two more change the memory that they share
#: make scribble  random writes to all files, from eight tasks with NMIs, twice THOUSANDS=500, of SEED=1 (MULTI=1: a host thread per CPU)
#: make stress    64 threads with signals, memory, files, children: ten minutes on 4 CPUs (STRESS=300s, twice)
#: make disturbed the guest's tests while a task on each CPU takes it at random moments, RUNS=10 times from SEED=1 on (ONLY= chooses cases)
#: make deaths    programs with user events killed at random moments, DEATHS=5000 of them
#: make sweep     a probe at every instruction of the kernel (make test does a part)
#: make install   trapline, its man page, the manual, header and library for programs, below PREFIX=/usr/local (DESTDIR= for packages);
#:                make uninstall removes them
#: make bench     guest instructions of the hot paths; writes build/bench.tsv
#: make build/eventheader   the decoder of files of EventHeader events (docs/eventheader.md)
#: make bench-native   nanoseconds of the ring buffer on this processor, beside a bare ring's and LTTng-UST's
#: make fmt       clang-format over the tree
#: make clean     removes build/
#:                O=DIR builds there instead of build/; V=1 shows the commands
