/*
 * ACPI's tables as files: raw in /sys/firmware/acpi/tables, as on Linux; listed, refused ones too,
 * in /proc/trapline/acpi. Task context; the tables do not change.
 */
#include "drivers/acpi/acpi.h"
#include "drivers/acpi/tables.h"
#include "kernel/base/printk.h"
#include "kernel/fs/dev.h"
#include "kernel/fs/proc.h"
#include "kernel/fs/vfs.h"
#include "kernel/lib/fmt.h"
#include "kernel/lib/seq.h"
#include "kernel/lib/string.h"
#include "kernel/machine/machine.h"

/* Text of fixed length that may hold anything. */
static void acpi_put_text(struct seq *s, const char *text, size_t n)
{
	seq_putc(s, '"');
	for (size_t i = 0; i < n && text[i]; i++)
		seq_putc(s, is_print(text[i]) ? text[i] : '?');
	seq_puts(s, "\" ");
}

static int acpi_show_tables(struct seq *s, void *unused)
{
	const struct acpi_table *t;

	(void)unused;
	for (unsigned i = 0; (t = acpi_table_nth(i)); i++) {
		seq_printf(s, "%-6s %016llx ", t->name, (unsigned long long)t->address);
		if (t->wrong) {
			seq_printf(s, "refused: %s\n", t->wrong);
			continue;
		}
		seq_printf(s, "%7u bytes", t->table->length);
		if (memcmp(t->table->signature, "FACS", 4)) { /* which has no such header */
			seq_printf(s, ", revision %u, ", t->table->revision);
			acpi_put_text(s, t->table->oem, sizeof(t->table->oem));
			acpi_put_text(s, t->table->oem_table, sizeof(t->table->oem_table));
			seq_printf(s, "%08x", t->table->oem_revision);
		}
		seq_putc(s, '\n');
	}
	return 0;
}

void acpi_files_init(void)
{
	const struct acpi_table *t;
	char path[48];

	proc_register("trapline/acpi", acpi_show_tables, NULL, NULL);
	for (unsigned i = 0; (t = acpi_table_nth(i)); i++) {
		if (t->wrong)
			continue;
		fmt_snprintf(path, sizeof(path), "/sys/firmware/acpi/tables/%s", t->name);
		if (vfs_add_static(path, 0400, t->table, t->table->length))
			pr_err("cannot make %s", path);
	}
}
