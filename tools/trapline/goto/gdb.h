/*
 * A client of QEMU's gdbstub (the protocol of gdb's manual, "Remote Serial Protocol"): the part
 * that `trapline goto` needs. The machine is stopped.
 */
#pragma once

#include "tools/trapline/lib/util.h"

#define GDB_PACKET 16384

struct gdb {
	int fd; /* not ours */
	char got[2 * GDB_PACKET];
	size_t size;
	char reply[GDB_PACKET]; /* of the last packet; a string */
};

/* As QEMU sends them: 8 bytes each up to rip, 4 up to gs, then 8. */
enum gdb_register {
	GDB_RAX,
	GDB_RBX,
	GDB_RCX,
	GDB_RDX,
	GDB_RSI,
	GDB_RDI,
	GDB_RBP,
	GDB_RSP,
	GDB_R8,
	GDB_R9,
	GDB_R10,
	GDB_R11,
	GDB_R12,
	GDB_R13,
	GDB_R14,
	GDB_R15,
	GDB_RIP,
	GDB_FLAGS,
	GDB_CS,
	GDB_SS,
	GDB_DS,
	GDB_ES,
	GDB_FS,
	GDB_GS,
	GDB_FS_BASE,
	GDB_GS_BASE,
	GDB_KERNEL_GS_BASE,
	GDB_CR0,
	GDB_CR2,
	GDB_CR3,
	GDB_CR4,
	GDB_REGISTERS
};
extern const char *const gdb_register_names[GDB_REGISTERS];

/* False: no answer. */
bool gdb_begin(struct gdb *g, int fd);
bool gdb_registers(struct gdb *g, unsigned cpu, uint64_t value[GDB_REGISTERS]);
/* Executes one instruction on that CPU alone; an interrupt may come first only if `interrupt`. */
bool gdb_step(struct gdb *g, unsigned cpu, bool interrupt);
/* Reads memory of the address space of the CPU last selected. False: it is not mapped. */
bool gdb_memory(struct gdb *g, uint64_t address, void *to, size_t n);
