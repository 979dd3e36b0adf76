#!/bin/sh
# Runs bubblewrap with restrictions that the runtime lacks: hidden folders are read-only, the shared memory and keyrings of
# other processes are out of reach, and root cannot change kernel settings. $HOOKWRIGHT_SANDBOX is the folder of the run with
# extra arguments, the hidden folders that stay writable, and the filter of sandbox.ts for keyrings.
# Restarts in bash, for arrays, and ignores the file that $BASH_ENV may name.
case $- in *p*) ;; *) exec bash -p "$0" "$@" ;; esac
for ((at = 1; at <= $#; at++)); do [[ ${!at} != -- ]] || break; done
((at <= $#)) || exec bwrap "$@"
given=("${@:1:at-1}")
mounts=("${given[@]}")
# Long lists of mounts are passed in a file, on descriptor 9.
if [[ " ${given[*]} " == *' --args 9 '* ]]; then mapfile -d '' -t mounts </proc/self/fd/9; else exec 9>&-; fi
mapfile -d '' -t added <"$HOOKWRIGHT_SANDBOX/arguments"
mapfile -d '' -t writable <"$HOOKWRIGHT_SANDBOX/writable"
for ((i = 1; i < ${#mounts[@]}; i++)); do
  [[ ${mounts[i - 1]} == --tmpfs ]] || continue
  for path in "${writable[@]}"; do [[ ${mounts[i]} != "$path" ]] || continue 2; done
  added+=(--remount-ro "${mounts[i]}")
done
exec 8<"$HOOKWRIGHT_SANDBOX/keyrings.bpf"
added+=(--unshare-ipc --seccomp 8 --unsetenv HOOKWRIGHT_SANDBOX)
for path in /proc/keys /proc/key-users; do added+=(--ro-bind-try /dev/null "$path"); done
if ((UID == 0)); then
  added+=(--ro-bind /proc/sys /proc/sys --bind /proc/sys/user /proc/sys/user)
  for path in /proc/sysrq-trigger /proc/acpi /proc/fs /proc/mtrr /proc/scsi; do added+=(--ro-bind-try "$path" "$path"); done
fi
# Closes descriptors that the gateway inherited, such as the lock of a shell script: they lead out of the sandbox. One group,
# which is read before it runs: any of them may be the descriptor of this script.
{
  for fd in /proc/self/fd/*; do
    fd=${fd##*/}
    case $fd in [0-3] | 8 | 9) ;; *) exec {fd}>&- ;; esac
  done
  exec bwrap "${given[@]}" "${added[@]}" "${@:at}"
}
