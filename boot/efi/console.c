/* The firmware's console: lines out, keys in, and the end. */
#include "boot/efi/loader.h"

#define NS100_PER_MS 10000

void say(const CHAR16 *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	VPrint(fmt, ap);
	va_end(ap);
	Print(L"\n");
}

/* A console without input never has one. */
bool key_within(unsigned ms, EFI_INPUT_KEY *key)
{
	EFI_EVENT events[2];
	UINTN which = 1;

	if (BS->CreateEvent(EVT_TIMER, 0, NULL, NULL, &events[1]) != EFI_SUCCESS)
		return false;
	BS->SetTimer(events[1], TimerRelative, (UINT64)ms * NS100_PER_MS);
	events[0] = ST->ConIn->WaitForKey;
	if (BS->WaitForEvent(2, events, &which) != EFI_SUCCESS)
		BS->Stall(ms * 1000);
	BS->CloseEvent(events[1]);
	return ST->ConIn->ReadKeyStroke(ST->ConIn, key) == EFI_SUCCESS;
}

void key_wait(EFI_INPUT_KEY *key)
{
	while (!key_within(60000, key))
		;
}

void reboot(void)
{
	for (;;)
		RT->ResetSystem(EfiResetCold, EFI_SUCCESS, 0, NULL);
}

void refuse(const CHAR16 *fmt, ...)
{
	EFI_INPUT_KEY key;
	va_list ap;

	Print(L"\nTrapline cannot start: ");
	va_start(ap, fmt);
	VPrint(fmt, ap);
	va_end(ap);
	ST->ConIn->Reset(ST->ConIn, FALSE); /* keys from before are no answer */
	Print(L".\nPress a key to reboot. ");
	key_wait(&key);
	Print(L"\n");
	reboot();
}
