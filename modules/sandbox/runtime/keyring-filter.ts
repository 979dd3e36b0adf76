/**
 * A filter of system calls, in the form that `bwrap --seccomp` reads: those of the kernel's keyrings fail. No namespace separates
 * keyrings, and a program would find the keys of whoever has started the gateway: of Kerberos, of network and encrypted file systems.
 */

/** `add_key`, `request_key` and `keyctl`, by AUDIT_ARCH: each kind of program that a machine of the runtime can execute. */
const CALLS: readonly (readonly [arch: number, ...calls: number[]])[] = [
  [0xc000003e, 248, 249, 250], // x86_64
  [0x40000003, 286, 287, 288], // i386
  [0xc00000b7, 217, 218, 219], // aarch64
  [0x40000028, 309, 310, 311], // arm
];

/** Offsets in `struct seccomp_data`. */
const [CALL, ARCH] = [0, 4];
/** Classic BPF: load a word, jump if equal, mask, return. */
const [LOAD, EQUAL, AND, RETURN] = [0x20, 0x15, 0x54, 0x06];
const [ALLOW, REFUSE_EPERM] = [0x7fff0000, 0x00050001];
/** x32 programs have a bit set in the numbers of x86_64. */
const WITHOUT_X32 = 0xbfffffff;

/** `struct sock_filter`, as little-endian machines have it: the runtime has no others. */
const instruction = (code: number, jumpTrue: number, jumpFalse: number, value: number): readonly number[] => [
  code | (jumpTrue << 16) | (jumpFalse << 24),
  value,
];

/** `struct sock_filter[]`. */
export function keyringFilter(): Buffer {
  const blocks = CALLS.flatMap(([arch, ...calls]) => [
    instruction(LOAD, 0, 0, ARCH),
    instruction(EQUAL, 0, calls.length + 4, arch),
    instruction(LOAD, 0, 0, CALL),
    instruction(AND, 0, 0, WITHOUT_X32),
    ...calls.map((call, at) => instruction(EQUAL, calls.length - at, 0, call)),
    instruction(RETURN, 0, 0, ALLOW),
    instruction(RETURN, 0, 0, REFUSE_EPERM),
  ]);
  return Buffer.from(new Uint32Array([...blocks, instruction(RETURN, 0, 0, ALLOW)].flat()).buffer);
}
