# The UEFI loader, and images that a PC starts from: a stick's (GPT, FAT) and a CD's that is one of a stick, too.

EFI_ARCH   := /usr/lib
EFICFLAGS  := -std=gnu17 -O2 -g $(WARN) -I. -isystem /usr/include/efi -isystem /usr/include/efi/x86_64 -DGNU_EFI_USE_MS_ABI -fpic \
              -ffreestanding -fno-stack-protector -fno-strict-aliasing -fshort-wchar -mno-red-zone -mgeneral-regs-only \
              -fcf-protection=none -fno-asynchronous-unwind-tables
EFISRC     := $(sort $(wildcard boot/efi/*.c boot/efi/*.S))
EFIOBJ     := $(EFISRC:%=$(O)/e/%.o)
EFISECTIONS := .text .sdata .data .dynamic .dynsym .rel .rela .rel.* .rela.* .reloc .rodata

$(O)/e/%.c.o: %.c boot/efi/efi.mk
	@mkdir -p $(@D) && echo "  CC      $@"
	$(Q)$(CC) $(EFICFLAGS) -MMD -MP -c $< -o $@

$(O)/e/%.S.o: %.S boot/efi/efi.mk
	@mkdir -p $(@D) && echo "  CC      $@"
	$(Q)$(CC) $(EFICFLAGS) -MMD -MP -c $< -o $@

$(O)/BOOTX64.EFI: $(EFIOBJ)
	@echo "  EFI     $@"
	$(Q)ld -nostdlib -znocombreloc -shared -Bsymbolic -e loader_entry -z noexecstack -T $(EFI_ARCH)/elf_x86_64_efi.lds \
	    $(EFI_ARCH)/crt0-efi-x86_64.o $(EFIOBJ) -o $(O)/e/loader.so -L$(EFI_ARCH) -lgnuefi -lefi
	$(Q)! nm -u $(O)/e/loader.so | grep . || { echo "the loader lacks these functions"; exit 1; }
	$(Q)objcopy $(EFISECTIONS:%=-j '%') --target efi-app-x86_64 --subsystem=10 $(O)/e/loader.so $@

-include $(EFIOBJ:.o=.d)

# A stick's archive: the manual as files of its own, for another kernel's archive has none. Others may be put there.
$(O)/manual.cpio: $(MANUAL)
	@echo "  CPIO    $@"
	$(Q)rm -rf $(O)/manual && $(call put_manual,$(O)/manual,$(MANUAL))
	$(Q)cd $(O)/manual && find . -type f -exec chmod 644 {} + && find . -type d -exec chmod 755 {} + && \
	  find . -mindepth 1 -exec touch -h -d @0 {} + && find . -mindepth 1 -printf '%P\n' | LC_ALL=C sort | \
	  cpio --quiet --reproducible --owner=0:0 -o -H newc >../$(@F).tmp
	$(Q)rm -rf $(O)/manual && mv $@.tmp $@

ARCHIVE ?= $(O)/manual.cpio
CONFIG  ?= boot/efi/trapline.cfg
.PHONY: image run-uefi
image: $(O)/trapline.img
$(O)/trapline.img: $(O)/BOOTX64.EFI $(O)/kernel.elf $(ARCHIVE) $(CONFIG) tools/make-image
	@echo "  IMAGE   $@ $(O)/trapline.iso"
	$(Q)tools/make-image $(O)/BOOTX64.EFI $(O)/kernel.elf $(ARCHIVE) $(CONFIG) $(O)/trapline

run-uefi: $(O)/trapline.img
	@tools/run-qemu --console --uefi $< --smp $(SMP) --mem $(MEM) --cpu $(QEMU_CPU) --machine $(MACHINE)
