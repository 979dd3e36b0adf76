#!/bin/sh
# bubblewrap with what the runtime leaves open: hidden folders cannot be written, shared memory of other processes and keyrings are
# out of reach, and root cannot change the settings of the kernel. $HOOKWRIGHT_SANDBOX_TMP is the one hidden folder that stays
# writable; $HOOKWRIGHT_SANDBOX_FILTER is the file of keyring-filter.ts.
n=$# before=
for word in "$@"; do
  if [ "$word" = -- ] && [ "$before" != -- ]; then
    previous=
    for mount in "$@"; do
      [ "$mount" != -- ] || break
      if [ "$previous" = --tmpfs ] && [ "$mount" != "$HOOKWRIGHT_SANDBOX_TMP" ]; then set -- "$@" --remount-ro "$mount"; fi
      previous=$mount
    done
    exec 9<"$HOOKWRIGHT_SANDBOX_FILTER"
    set -- "$@" --unshare-ipc --seccomp 9 --unsetenv HOOKWRIGHT_SANDBOX_TMP --unsetenv HOOKWRIGHT_SANDBOX_FILTER
    for path in /proc/keys /proc/key-users; do set -- "$@" --ro-bind-try /dev/null "$path"; done
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
