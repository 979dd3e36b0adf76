#!/bin/sh
# bubblewrap with what the runtime leaves open: hidden folders cannot be written, shared memory of other processes is out of
# reach, and root cannot change the settings of the kernel. $HOOKWRIGHT_SANDBOX_TMP is the one hidden folder that stays writable.
n=$# before=
for word in "$@"; do
  if [ "$word" = -- ] && [ "$before" != -- ]; then
    previous=
    for mount in "$@"; do
      [ "$mount" != -- ] || break
      if [ "$previous" = --tmpfs ] && [ "$mount" != "$HOOKWRIGHT_SANDBOX_TMP" ]; then set -- "$@" --remount-ro "$mount"; fi
      previous=$mount
    done
    set -- "$@" --unshare-ipc --unsetenv HOOKWRIGHT_SANDBOX_TMP
    if [ "$(id -u)" = 0 ]; then
      set -- "$@" --ro-bind /proc/sys /proc/sys --bind /proc/sys/user /proc/sys/user
      for path in /proc/sysrq-trigger /proc/acpi /proc/fs /proc/mtrr /proc/scsi; do set -- "$@" --ro-bind-try "$path" "$path"; done
    fi
    before=--
  fi
  set -- "$@" "$word"
done
shift "$n"
exec bwrap "$@"
