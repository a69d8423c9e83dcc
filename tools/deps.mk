# Packages: what each goal needs, and how it gets there (tools/deps). Asked once, before anything is built.
goals    := $(or $(MAKECMDGOALS),kernel)
deps_for  = $(if $(filter $(1),$(goals)),$(2))
DEPS     := $(firstword $(call deps_for,test-all,test-all) \
                        $(call deps_for,test fuzz matrix uefi-test bochs-test live-test export-test export-long kernelshark-test host-test port-test guest-test console-test device-test,test) \
                        $(call deps_for,programs calls-test strace-test trapline-test goto-long explore-long model tsan soak mutants mutants-mechanical,test) \
                        $(call deps_for,run-uefi,run-uefi) $(call deps_for,image,image) $(call deps_for,run bench,run) $(call deps_for,fmt,fmt) $(call deps_for,check,check) $(call deps_for,ftracetest,ftracetest) \
                        $(if $(filter-out help clean check,$(goals)),build))
ifneq ($(DEPS),)
ifneq ($(shell tools/deps $(DEPS) >&2 && echo there),there)
$(error packages are missing)
endif
endif
