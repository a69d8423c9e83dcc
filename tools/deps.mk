# Packages: what each goal needs, and how it gets there (tools/deps). Asked once, before anything is built.
goals    := $(or $(MAKECMDGOALS),kernel)
deps_for  = $(if $(filter $(1),$(goals)),$(2))
DEPS     := $(firstword $(call deps_for,test fuzz matrix uefi-test bochs-test export-test kernelshark-test host-test guest-test console-test model tsan mutants mutants-mechanical,test) \
                        $(call deps_for,run-uefi,run-uefi) $(call deps_for,image,image) $(call deps_for,run bench,run) $(call deps_for,fmt,fmt) $(call deps_for,ftracetest,ftracetest) \
                        $(if $(filter-out help clean check,$(goals)),build))
ifneq ($(DEPS),)
ifneq ($(shell tools/deps $(DEPS) >&2 && echo there),there)
$(error packages are missing)
endif
endif
