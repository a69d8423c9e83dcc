/* The archive of ring-3 programs, as built by user/user.mk: files are shown where they lie here. */
	.section .archive, "a", @progbits
	.balign 4096
	.globl archive_start, archive_end
archive_start:
	.incbin ARCHIVE
archive_end:

	.section .note.GNU-stack, "", @progbits
