# `make install PREFIX=DIR` puts what people use where a shell, man and a compiler find it; DESTDIR=DIR in front of it is for packages.
#
#     bin/trapline, bin/eventheader     the programs of the host
#     lib/trapline/kernel.elf           the kernel that trapline boots
#     lib/libtrapline.a                 user/lib: for programs that write events, -ltrapline
#     include/trapline/                 its header, and the kernel's structures below kernel/abi/
#     share/man, share/doc/trapline     the man page, the manual
#     share/bash-completion             what bash completes behind `trapline`
#
# `make uninstall` with the same words removes exactly these files.

PREFIX  ?= /usr/local
DESTDIR ?=
TO      := $(DESTDIR)$(PREFIX)

INSTALLED_ABI := eventheader.h trace_mmap.h user_events.h
INSTALLED     := bin/trapline bin/eventheader lib/trapline/kernel.elf lib/libtrapline.a include/trapline/eventheader.h \
                 $(INSTALLED_ABI:%=include/trapline/kernel/abi/%) share/man/man1/trapline.1 share/bash-completion/completions/trapline \
                 $(MANUAL:%=share/doc/trapline/%)

$(O)/lib/eventheader.o: user/lib/eventheader.c user/eventheader.h $(wildcard kernel/abi/*.h)
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) -std=gnu17 -O2 $(WARN) -I. -c $< -o $@

$(O)/libtrapline.a: $(O)/lib/eventheader.o
	@echo "  AR      $@"
	$(Q)rm -f $@ && $(AR) rcsD $@ $<

.PHONY: install uninstall
install: $(O)/trapline $(O)/eventheader $(O)/kernel.elf $(O)/libtrapline.a
	$(Q)install -d $(sort $(dir $(INSTALLED:%=$(TO)/%)))
	$(Q)install $(O)/trapline $(O)/eventheader $(TO)/bin/
	$(Q)install -m 644 $(O)/kernel.elf $(TO)/lib/trapline/
	$(Q)install -m 644 $(O)/libtrapline.a $(TO)/lib/
	$(Q)install -m 644 user/eventheader.h $(TO)/include/trapline/
	$(Q)install -m 644 $(INSTALLED_ABI:%=kernel/abi/%) $(TO)/include/trapline/kernel/abi/
	$(Q)install -m 644 tools/trapline/trapline.1 $(TO)/share/man/man1/
	$(Q)install -m 644 tools/trapline/trapline.bash $(TO)/share/bash-completion/completions/trapline
	$(Q)install -m 644 README.md $(TO)/share/doc/trapline/
	$(Q)install -m 644 $(filter docs/%,$(MANUAL)) $(TO)/share/doc/trapline/docs/
	@echo "installed below $(TO)"

uninstall:
	$(Q)rm -f $(INSTALLED:%=$(TO)/%)
	$(Q)cd $(TO) && rmdir --ignore-fail-on-non-empty share/doc/trapline/docs share/doc/trapline lib/trapline include/trapline/kernel/abi \
	    include/trapline/kernel include/trapline
