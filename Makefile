# Trapline: `make run` boots it, `make test` proves it, `make help` lists the rest.
# Includes are root-relative: -I. and nothing else. Everything built goes below $(O).

O        ?= build
CC       ?= gcc
ifeq ($(origin CC),default)
CC       := gcc
endif
HOSTCC   ?= gcc
V        ?= 0
Q        := $(if $(filter 1,$(V)),,@)
.DEFAULT_GOAL := kernel
.DELETE_ON_ERROR:
SHELL    := /bin/bash
# All processors build; JOBS=1 is for a build in order.
JOBS     ?= $(shell nproc)
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(JOBS)
endif

include tools/deps.mk

WARN     := -Wall -Wextra -Werror -Wmissing-prototypes -Wstrict-prototypes
# What arch/x86_64/cpu/unwind.c relies on: a function that has a frame begins with push and mov, drops it right before its ret, and is
# left by nothing else.
FRAMES   := -fno-omit-frame-pointer -fno-shrink-wrap -fno-schedule-insns2 -fno-optimize-sibling-calls
# struct regs has an odd number of words, so a stack is aligned to 8 bytes.
STACK    := -mpreferred-stack-boundary=3
# An aggregate is aligned to what is in it: the tracer has 600 of 168 bytes, which the compiler would put 192 apart.
DATA     := $(if $(findstring clang,$(shell $(CC) --version)),,-malign-data=abi)
KCFLAGS  := -std=gnu17 -O2 -g $(WARN) -I. -ffreestanding -fno-pie -mcmodel=kernel -mno-red-zone -mgeneral-regs-only \
            -fno-stack-protector $(FRAMES) $(STACK) -fno-strict-aliasing -fno-asynchronous-unwind-tables \
            -fcf-protection=none -fno-common -fno-delete-null-pointer-checks -ffunction-sections $(DATA) \
            -DTRACE_HOST_INLINE='"kernel/trace/inline.h"' -DTRACE_HOST_INLINE_CALL='"kernel/trace/inline_call.h"' $(KCFLAGS_EXTRA)
# What waits for people and devices is built for size and not padded, nor is what of kernel and tracer does not run with each event: an
# image below 1 MiB has better uses for 140 KB.
COLD     := -Os -fno-align-functions -fno-align-jumps -fno-align-loops -fno-align-labels
# Files that run with each event say so in a line after their head comment, and are built for speed.
HOT      := $(shell grep -lx '/\* hot: .* \*/' -r --include='*.c' trace kernel)
# A function with an array or with a local whose address it gives away checks, before it returns, a word above them that is of this boot
# (arch/this_cpu.h: canary, at %gs:64). Not in the hot files, which every event would pay for, nor in kernel/lib, which they call, nor in
# trace/output, which every line of a trace pays for, nor in arch/, part of which runs where %gs is not the kernel's.
CANARY   := -fstack-protector-strong -mstack-protector-guard=tls -mstack-protector-guard-reg=gs -mstack-protector-guard-offset=64
# A test kernel that looks for a kind of errors itself (make sanitized): SANITIZE=undefined, address or thread. What the compiler calls
# then is tests/kernel/sanitize/$(SANITIZE).c.
SANITIZE_undefined := -fsanitize=shift,integer-divide-by-zero,unreachable,vla-bound,return,signed-integer-overflow,bounds,bool,enum,nonnull-attribute,builtin
SANITIZE_address   := -fsanitize=kernel-address --param asan-stack=0 --param asan-globals=0 --param asan-instrumentation-with-call-threshold=0
SANITIZE_thread    := -Wno-tsan -fsanitize=thread --param tsan-distinguish-volatile=1 --param tsan-instrument-func-entry-exit=0
KCFLAGS  += $(if $(SANITIZE),-DSANITIZE -DSANITIZE_$(SANITIZE) -fno-reorder-blocks-and-partition $(SANITIZE_$(SANITIZE)))
# What that file does itself, and what it does for the kernel then.
UNSANITIZED := tests/kernel/sanitize/$(SANITIZE).c $(if $(filter address,$(SANITIZE)),$(patsubst %,kernel/mem/%.c,buddy kmalloc page reserve))
SANITIZE_WRAP := $(if $(filter address,$(SANITIZE)),kmalloc kzalloc krealloc kfree ksize kstrdup kstrndup page_free_count memcpy memmove memset)
comma    := ,
# Functions that only other kernels and tests call are left out, and texts that end alike are one (-O2).
KLDFLAGS := -nostdlib -static -no-pie -Wl,--gc-sections -Wl,-O2 -Wl,-T,linker.ld -Wl,-z,max-page-size=4096 -Wl,-z,noexecstack \
            -Wl,--no-warn-rwx-segments -Wl,--build-id=none $(if $(PARTIAL),-Wl$(comma)--warn-unresolved-symbols) \
            $(addprefix -Wl$(comma)--wrap=,$(SANITIZE_WRAP))

# Every function begins with a 5-byte nop, which kernel/kprobe/hook.c patches: the compiler leaves room, tools/hooks makes the nop, and
# tools/symtab notes where. What a hook calls uses registers that callers must not rely on (-fno-ipa-ra).
HOOKS    := -fpatchable-function-entry=5 $(if $(findstring clang,$(shell $(CC) --version)),,-fno-ipa-ra)
# Not in what the tracer and the hooks run themselves, nor where a CPU has no task yet: linker.ld keeps these together, and
# kernel/kprobe/hook.c has a reason for each place.
UNHOOKED := tests/kernel/sanitize/% trace/% kernel/lib/% kernel/trace/events% kernel/trace/host% $(addprefix kernel/kprobe/,breakpoint.c fprobe.c ftrace.c hit.c hook.c kretprobe.c shadow.c) \
            arch/x86_64/probe/% $(patsubst %,arch/x86_64/cpu/%.c,clock cpu stacks start switch unwind) \
            $(patsubst %,arch/x86_64/irq/%.c,apic interrupt ipi trap) arch/x86_64/mm/usercopy.c

# This kernel has every service that a host may have: it needs none of trace/defaults.
TRACESRC := $(shell find trace -name '*.c' -not -path 'trace/defaults/*')
KSRC     := $(sort $(wildcard boot/*.[cS]) $(TRACESRC) $(shell find arch drivers kernel -name '*.[cS]'))
KOBJ     := $(KSRC:%=$(O)/k/%.o)
# Of the UEFI loader what knows nothing of the firmware: tested with the rest.
EFIPURE  := $(patsubst %,boot/efi/%.c,config fpdt kept kernel_image memory_map page_tables)
UNITSRC  := $(shell find tests/unit -name '*.c')
TESTSRC  := $(sort $(UNITSRC) $(filter-out tests/kernel/sanitize/%,$(shell find tests/kernel tests/bench -name '*.c')) \
            $(if $(SANITIZE),$(patsubst %,tests/kernel/sanitize/%.c,$(SANITIZE) plant)) $(EFIPURE))
TESTOBJ  := $(TESTSRC:%=$(O)/k/%.o)

.PHONY: kernel run test check bench fuzz fmt help clean
kernel: $(O)/kernel.elf

$(patsubst %,$(O)/k/%.o,$(filter-out $(HOT) kernel/lib/%,$(filter drivers/%.c kernel/%.c trace/%.c,$(KSRC))) \
    $(addprefix arch/x86_64/,cpu/calibrate.c cpu/smp_boot.c probe/insn.c probe/probe.c probe/jump.c) kernel/lib/schedule.c kernel/lib/schedule_seed.c): KCFLAGS += $(COLD)

$(patsubst %,$(O)/k/%.o,$(filter-out $(HOT) kernel/lib/% trace/output/%,$(filter drivers/%.c kernel/%.c trace/%.c,$(KSRC))) tests/kernel/crash.c): KCFLAGS += $(CANARY)

$(patsubst %,$(O)/k/%.o,$(filter-out $(UNHOOKED),$(filter %.c,$(KSRC) $(TESTSRC)))): KCFLAGS += $(HOOKS)

# What follows a jump needs no padding, which is a tenth of the functions that record events; loops keep theirs.
$(patsubst %,$(O)/k/%.o,$(HOT) $(filter kernel/lib/%.c arch/%.c,$(KSRC))): KCFLAGS += -fno-align-jumps -fno-align-labels

$(if $(SANITIZE),$(UNSANITIZED:%=$(O)/k/%.o): KCFLAGS += -fno-sanitize=all)

$(O)/k/%.c.o: %.c Makefile
	@mkdir -p $(@D) && echo "  CC      $@"
	$(Q)$(CC) $(KCFLAGS) -MMD -MP -c $< -o $@

$(O)/k/%.S.o: %.S Makefile
	@mkdir -p $(@D) && echo "  CC      $@"
	$(Q)$(CC) $(KCFLAGS) -D__ASSEMBLY__ -DBUILD_DIR='"$(O)"' -MMD -MP -c $< -o $@

include user/user.mk
include tests/tests.mk
include boot/efi/efi.mk
include tools/install.mk

# Linked twice: the symbol table and the types are made from the first link and lie last in rodata, so they move no code. pahole makes BTF
# of the debug information, tools/types half as much of that.
$(O)/symtab: tools/symtab.c
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) -std=gnu17 -O1 $(WARN) -I. $< -o $@

$(O)/types: tools/types.c trace/types/section.h kernel/lib/types.h
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) -std=gnu17 -O1 $(WARN) -I. $< -o $@

$(O)/hooks: tools/hooks.c
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) -std=gnu17 -O1 $(WARN) -I. $< -o $@

define link_kernel
$(O)/$(1).elf: $(2) linker.ld $(O)/symtab $(O)/types $(O)/hooks
	@echo "  LD      $$@"
	$$(Q)$(O)/symtab --empty $(O)/$(1).sym0.S
	$$(Q)$$(CC) $$(KCFLAGS) -c $(O)/$(1).sym0.S -o $(O)/$(1).sym0.o
	$$(Q)$$(CC) $$(KLDFLAGS) -o $(O)/$(1).tmp0 $(2) $(O)/$(1).sym0.o
	$$(Q)objcopy -O binary -j .hooks --set-section-flags .hooks=alloc $(O)/$(1).tmp0 $(O)/$(1).hooks
	$$(Q)nm -n $(O)/$(1).tmp0 | $(O)/symtab $(O)/$(1).hooks $(O)/$(1).sym1.S $(O)/$(1).functions
	$$(Q)$$(CC) $$(KCFLAGS) -c $(O)/$(1).sym1.S -o $(O)/$(1).sym1.o
	$$(Q)pahole --btf_encode_detached=$(O)/$(1).btf $(O)/$(1).tmp0
	$$(Q)$(O)/types $(O)/$(1).btf $(O)/$(1).functions $(O)/$(1).types
	$$(Q)objcopy -I binary -O elf64-x86-64 --rename-section .data=.types,alloc,load,readonly,data,contents --strip-all $(O)/$(1).types $(O)/$(1).types.o
	$$(Q)$$(CC) $$(KLDFLAGS) -o $(O)/$(1).tmp1 $(2) $(O)/$(1).sym1.o $(O)/$(1).types.o
	$$(Q)nm -n $(O)/$(1).tmp1 | $(O)/symtab $(O)/$(1).hooks $(O)/$(1).sym2.S
	$$(Q)cmp -s $(O)/$(1).sym1.S $(O)/$(1).sym2.S || { echo "symbol table moved code"; exit 1; }
	$$(Q)$(O)/hooks $(O)/$(1).tmp1 $(O)/$(1).hooks
	$$(Q)objcopy -R .hooks $(O)/$(1).tmp1 $$@
	$$(Q)rm -f $(O)/$(1).tmp0 $(O)/$(1).tmp1
endef
$(eval $(call link_kernel,kernel,$(KOBJ)))
$(eval $(call link_kernel,kernel-test,$(filter-out %/kernel/fs/archive.S.o,$(KOBJ)) $(O)/k/tests/archive.S.o $(TESTOBJ)))

check: kernel
	$(Q)O=$(O) tools/check

fmt:
	$(Q)git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	rm -rf $(O)

-include $(KOBJ:.o=.d) $(TESTOBJ:.o=.d)
