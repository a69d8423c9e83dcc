# Ring-3 programs and the archives built into the kernels.
#
#     user/crt0.S, user/libc/*   start-up and system calls under newlib: linked to every program
#     user/lib/*                 what programs may use beside it
#     user/bin/NAME.c            /bin/NAME, a link to /bin/toolbox, which has them all; user/bin/NAME/* are parts of it
#     user/toolbox.c             /bin/toolbox
#     tests/programs/NAME.c      /test/NAME, in the test kernel alone
#     user/etc/profile           /etc/profile, what a shell of the console begins with
#
# newlib is built once, from Debian's newlib-source, and kept in $(O)/newlib; NEWLIB=DIR uses one that is there already.

NEWLIB     ?= $(O)/newlib
NEWLIB_TAR ?= $(firstword $(wildcard /usr/src/newlib/newlib-*.tar.xz))
NEWLIB_LIB := $(NEWLIB)/x86_64-elf/lib/libc.a

UOBJ       := $(patsubst %,$(O)/u/%.o,$(sort user/crt0.S $(wildcard user/libc/*.[cS] user/lib/*.c)))
# /bin/sh is Debian's busybox, as its package installed it, and what busybox can do are links to it; of our own programs those stay that
# it has not. SH=none: without, and all of our own.
SH         ?= $(or $(firstword $(wildcard /bin/busybox /usr/bin/busybox)),/bin/busybox)
ifneq ($(wildcard $(SH)),)
LINKS      := $(filter-out busybox,$(shell $(SH) --list))
endif
OWN        := $(patsubst user/bin/%.c,%,$(sort $(filter-out $(LINKS:%=user/bin/%.c),$(wildcard user/bin/*.c))))
UBIN       := $(O)/archive/bin/toolbox $(if $(LINKS),$(O)/archive/bin/busybox $(O)/archive/etc/profile)
UTEST      := $(patsubst tests/programs/%.c,$(O)/archive/test/%,$(sort $(wildcard tests/programs/*.c)))

# Our own headers fill in for what newlib leaves to its system; then come its own, then the freestanding ones of the compiler.
UCFLAGS    := -std=gnu17 -Os -g $(WARN) -I. -nostdinc -isystem user/libc/include -isystem $(NEWLIB)/x86_64-elf/include \
              -isystem $(shell $(CC) -print-file-name=include) -fno-pie -fno-stack-protector -fcf-protection=none -fno-omit-frame-pointer \
              -ffunction-sections -fdata-sections -D_POSIX_TIMERS=1 -D_POSIX_MONOTONIC_CLOCK=1
ULDFLAGS   := -static -no-pie -nostdlib -Wl,--build-id=none -Wl,-z,noexecstack -Wl,-z,max-page-size=4096 -Wl,-z,noseparate-code -Wl,-O2 -Wl,--gc-sections -Wl,-T,user/programs.ld
ULIBS      := -L$(NEWLIB)/x86_64-elf/lib -Wl,--start-group -lc -lm -lgcc -Wl,--end-group

# With a target of its own name: what stands in for a cross compiler is the host's, told so tool by tool.
$(NEWLIB_LIB):
	@[ -n "$(NEWLIB_TAR)" ] || { echo "newlib's source is missing: apt install newlib-source"; exit 1; }
	@echo "  NEWLIB  $(NEWLIB) (once, about half a minute)"
	$(Q)rm -rf $(O)/newlib-build && mkdir -p $(O)/newlib-build/out
	$(Q)tar xf $(NEWLIB_TAR) -C $(O)/newlib-build --strip-components=1 --one-top-level=src
	$(Q)cd $(O)/newlib-build/out && ../src/configure --target=x86_64-elf --prefix=$(abspath $(NEWLIB)) --disable-multilib \
	    --disable-newlib-supplied-syscalls --disable-nls --disable-libgloss --enable-newlib-io-c99-formats \
	    --enable-newlib-io-long-long CC_FOR_TARGET=gcc AS_FOR_TARGET=as LD_FOR_TARGET=ld AR_FOR_TARGET=ar \
	    RANLIB_FOR_TARGET=ranlib NM_FOR_TARGET=nm OBJCOPY_FOR_TARGET=objcopy OBJDUMP_FOR_TARGET=objdump \
	    STRIP_FOR_TARGET=strip READELF_FOR_TARGET=readelf \
	    CFLAGS_FOR_TARGET="-O2 -fno-pie -ffunction-sections -fdata-sections" >../newlib.log 2>&1 \
	  && $(MAKE) all-target-newlib >>../newlib.log 2>&1 && $(MAKE) install-target-newlib >>../newlib.log 2>&1 \
	  || { tail -5 ../newlib.log; echo "newlib could not be built: see $(O)/newlib-build/newlib.log"; exit 1; }
	$(Q)rm -rf $(O)/newlib-build

$(O)/u/%.c.o: %.c $(NEWLIB_LIB)
	@mkdir -p $(@D) && echo "  CC      $@"
	$(Q)$(CC) $(UCFLAGS) -MMD -MP -c $< -o $@

$(O)/u/%.S.o: %.S
	@mkdir -p $(@D) && echo "  CC      $@"
	$(Q)$(CC) -I. -c $< -o $@

define link_program
	@mkdir -p $(@D)
	@echo "  LD      $(patsubst $(O)/archive/%,%,$@)"
	$(Q)$(CC) $(ULDFLAGS) -o $@ $(filter %.o,$^) $(ULIBS)
	$(Q)strip $@
endef

# In the toolbox, main() of NAME.c is NAME_main().
$(O)/u/toolbox.def: FORCE
	@mkdir -p $(@D)
	@printf 'PROGRAM(%s)\n' $(OWN) | cmp -s - $@ || printf 'PROGRAM(%s)\n' $(OWN) >$@

$(O)/u/user/toolbox.c.o: private UCFLAGS += -DTOOLBOX_PROGRAMS='"$(O)/u/toolbox.def"'
$(O)/u/user/toolbox.c.o: $(O)/u/toolbox.def

$(O)/u/toolbox/%.o: $(O)/u/user/bin/%.c.o
	@mkdir -p $(@D)
	$(Q)objcopy --redefine-sym main=$*_main $< $@

UPARTS := $(wildcard user/bin/*/*.c)
$(O)/archive/bin/toolbox: $(O)/u/user/toolbox.c.o $(OWN:%=$(O)/u/toolbox/%.o) $(UPARTS:%=$(O)/u/%.o) $(UOBJ) user/user.mk
	$(link_program)

$(O)/archive/test/%: $(O)/u/tests/programs/%.c.o $(UOBJ) user/user.mk
	$(link_program)

$(O)/archive/bin/busybox: $(SH)
	@mkdir -p $(@D)
	$(Q)cp $< $@

# This busybox would do in a fork of the shell what it can do itself. Its links are to be programs like any other: started by execve
# from a file, and seen in a trace. What is part of the shell's language stays so.
SH_WORDS   := [ [[ echo false kill printf pwd test true
$(O)/archive/etc/profile: user/etc/profile user/user.mk $(SH)
	@mkdir -p $(@D)
	$(Q){ echo alias $(foreach n,$(filter-out $(SH_WORDS),$(LINKS)),$n=/bin/$n); cat $<; } >$@

.PRECIOUS: $(O)/u/%.c.o $(O)/u/%.S.o
.PHONY: newlib archive
newlib: $(NEWLIB_LIB)
archive: $(O)/initramfs.cpio

# The manual is there on every machine, however it was started. As Debian has it below /usr/share/doc, all but the first page is
# compressed: `zcat FILE | less`.
MANUAL := README.md $(sort $(wildcard docs/*.md))
# In the archive within the kernel there is no room for what nobody needs in a machine: how another kernel uses the tracer, and how this
# one is tested.
BUILT_IN_MANUAL := $(filter-out docs/porting.md docs/reliability.md,$(MANUAL))
put_manual = mkdir -p $(1)/usr/share/doc/trapline && install -m 644 $(2) $(1)/usr/share/doc/trapline && \
             gzip -9n $(patsubst docs/%,$(1)/usr/share/doc/trapline/%,$(filter docs/%,$(2)))

# Archive $(1) of the programs $(2) and the texts $(3). The same bytes from the same sources: names in order, no times, no owners,
# inode numbers counted from 0. The list of names is a prerequisite, so that a program that is gone leaves the archive too.
define make_archive
$(O)/$(1).list: FORCE
	@mkdir -p $$(@D)
	@echo "$(2) $(OWN)" | cmp -s - $$@ || echo "$(2) $(OWN)" >$$@

$(O)/$(1).cpio: $(2) $(3) $(O)/$(1).list
	@echo "  CPIO    $$@"
	$$(Q)rm -rf $(O)/$(1).stage && mkdir -p $(addprefix $(O)/$(1).stage/,$(sort $(dir $(2:$(O)/archive/%=%))))
	$$(Q)for f in $(2:$(O)/archive/%=%); do cp $(O)/archive/$$$$f $(O)/$(1).stage/$$$$f || exit 1; done
	$$(Q)cd $(O)/$(1).stage && find . -mindepth 1 -exec chmod 755 {} +
	$$(Q)$(if $(filter %/toolbox,$(2)),cd $(O)/$(1).stage/bin && for f in $(OWN); do ln -s toolbox "$$$$f" || exit 1; done)
	$$(Q)$(if $(filter %/busybox,$(2)),cd $(O)/$(1).stage/bin && for f in $(LINKS); do ln -s busybox "$$$$f" || exit 1; done)
	$$(Q)$(if $(3),$(call put_manual,$(O)/$(1).stage,$(3)))
	$$(Q)cd $(O)/$(1).stage && find . -mindepth 1 -exec touch -h -d @0 {} + && find . -mindepth 1 -printf '%P\n' | LC_ALL=C sort | \
	  cpio --quiet --reproducible --owner=0:0 -o -H newc >../$(1).tmp
	$$(Q)rm -rf $(O)/$(1).stage && mv $(O)/$(1).tmp $$@
endef
$(eval $(call make_archive,initramfs,$(UBIN),$(BUILT_IN_MANUAL)))
$(eval $(call make_archive,initramfs-test,$(UBIN) $(UTEST),$(BUILT_IN_MANUAL)))
$(eval $(call make_archive,test-programs,$(UTEST)))
.PHONY: FORCE

# The same source for the kernel and for the test kernel, whose archive has the programs of tests too.
$(O)/k/kernel/fs/archive.S.o: private KCFLAGS += -Wa,-I$(O) -DARCHIVE='"initramfs.cpio"'
$(O)/k/kernel/fs/archive.S.o: $(O)/initramfs.cpio
$(O)/k/tests/archive.S.o: kernel/fs/archive.S $(O)/initramfs-test.cpio Makefile
	@mkdir -p $(@D)
	$(Q)$(CC) $(KCFLAGS) -Wa,-I$(O) -DARCHIVE='"initramfs-test.cpio"' -c $< -o $@
-include $(UOBJ:.o=.d) $(patsubst %,$(O)/u/%.d,$(wildcard user/*.c user/*/*.c user/bin/*/*.c tests/programs/*.c))

# An archive for -initrd in tests: programs of the host's own kind, and a text.
INITRD_NAMES := eh_sample glibc uev_bit uev_word
INITRD_BINS  := $(INITRD_NAMES:%=$(O)/initrd/initrd/%)
HOSTPROG      = @mkdir -p $(@D) && $(HOSTCC) -std=gnu17 -O2 -Wall -Wextra -Werror -static -I. -o $@ $(filter %.c,$^)
$(O)/initrd/initrd/glibc: tests/initrd/glibc.c
	$(HOSTPROG)
$(O)/initrd/initrd/uev_bit: tests/initrd/user_events.c
	$(HOSTPROG)
$(O)/initrd/initrd/uev_word: tests/initrd/user_events.c
	$(HOSTPROG) -DENABLE_WORD
# The sample of EventHeader events and its library, which say that they build for Linux as they are.
$(O)/initrd/initrd/eh_sample: user/bin/eh_sample.c user/lib/eventheader.c user/eventheader.h
	$(HOSTPROG)
# And one with shared libraries, which are all in the archive, by the names it knows them by.
$(O)/initrd/initrd/dynamic: tests/initrd/dynamic.c
	@mkdir -p $(@D) && $(HOSTCC) -std=gnu17 -O2 -Wall -Wextra -Werror -o $@ $< -lm
	$(Q)for f in $$(ldd $@ | grep -o '/[^ ]*'); do install -D $$f $(O)/initrd$$f; done

$(O)/test-initrd.cpio: $(INITRD_BINS) $(O)/initrd/initrd/dynamic
	@echo "  CPIO    $@"
	$(Q)echo "a line from the initrd" >$(O)/initrd/initrd/text
	$(Q)cd $(O)/initrd && find . -mindepth 1 | LC_ALL=C sort | cpio --quiet --reproducible --owner=0:0 -o -H newc >../$(@F)
