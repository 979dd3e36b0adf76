/** Reads the strace record of a gateway: writes and syncs of files, and bytes sent on sockets, in order. */
import { basename } from 'node:path';
import { STORE_FILES } from '../helpers/disk/disk-plan.ts';

/** The calls that a trace must contain, with paths and every byte in hexadecimal. */
export const TRACED_CALLS = 'fsync,fdatasync,write,pwrite64,writev,pwritev,sendto,sendmsg';
export const TRACE_FLAGS = ['-y', '-xx', '-s', '200000'];

export interface TracedCall {
  readonly name: string;
  /** Path of the file or socket. */
  readonly path: string;
  readonly data: Buffer;
  /** Lines of the trace at which a call began and ended. */
  readonly begin: number;
  end: number;
  ok: boolean;
}

const BEGUN = /^(\d+) +(\w+)\(\d+<([^>]*)>(.*)$/;
const RESUMED = /^(\d+) +<\.\.\. \w+ resumed>(.*)$/;
const BYTES = /"((?:\\x[0-9a-f]{2})*)"/g;

const decode = (text: string): Buffer => Buffer.from(text.replaceAll('\\x', ''), 'hex');
const succeeded = (rest: string): boolean => /\) += \d+(?: .*)?$/.test(rest);

export function parseTrace(text: string): readonly TracedCall[] {
  const calls: TracedCall[] = [];
  /** Unfinished calls by thread. */
  const unfinished = new Map<string, TracedCall>();
  for (const [line, entry] of text.split('\n').entries()) {
    const resumed = RESUMED.exec(entry);
    if (resumed !== null) {
      const call = unfinished.get(resumed[1] ?? '');
      unfinished.delete(resumed[1] ?? '');
      if (call !== undefined) Object.assign(call, { end: line, ok: succeeded(resumed[2] ?? '') });
      continue;
    }
    const [, thread = '', name = '', path = '', rest = ''] = BEGUN.exec(entry) ?? [];
    if (name === '') continue;
    const data = Buffer.concat([...rest.matchAll(BYTES)].map(([, bytes = '']) => decode(bytes)));
    const isOpen = rest.endsWith('<unfinished ...>');
    const end = isOpen ? Number.POSITIVE_INFINITY : line;
    const call = { name, path: decode(path).toString(), data, begin: line, end, ok: succeeded(rest) };
    if (isOpen) unfinished.set(thread, call);
    calls.push(call);
  }
  return calls;
}

const isSync = ({ name }: TracedCall): boolean => name === 'fsync' || name === 'fdatasync';
const isStoreWrite = (call: TracedCall): boolean => !isSync(call) && basename(call.path).startsWith(STORE_FILES);

/** Header of a frame of SQLite's WAL: its bytes 4 to 7 are the size of the database in the last frame of a commit. */
const FRAME_HEADER = 24;
const endsCommit = ({ data }: TracedCall): boolean => data.length === FRAME_HEADER && data.readUInt32BE(4) !== 0;

/** The line at which the commit that contains `stored` was completely written. */
function committedAt(calls: readonly TracedCall[], stored: TracedCall): number {
  if (!stored.path.endsWith('-wal')) return stored.end;
  const writes = calls.filter((call) => isStoreWrite(call) && call.path === stored.path);
  const at = writes.indexOf(stored);
  // The header of a frame is written before its page.
  const last = writes.findIndex((call, index) => index >= at - 1 && endsCommit(call));
  return (writes[last + 1] ?? stored).end;
}

/** The problems with the order, a line each: every 202 must leave after the end of a sync of the acknowledged event. */
export function wrongOrder(calls: readonly TracedCall[], ids: readonly string[]): string[] {
  return ids.flatMap((id) => {
    const answer = calls.find(({ data }) => data.includes(`"delivery_id":"${id}"`) && data.includes('HTTP/1.1 202'));
    if (answer === undefined) return [`${id}: no 202 in the trace`];
    const stored = calls.find((call) => isStoreWrite(call) && call.data.includes(id));
    if (stored === undefined) return [`${id}: answered 202, never written`];
    const committed = committedAt(calls, stored);
    const covers = (call: TracedCall): boolean =>
      isSync(call) && call.path === stored.path && call.ok && call.begin > committed && call.end < answer.begin;
    return calls.some(covers) ? [] : [`${id}: answered 202 before a sync of ${basename(stored.path)} had returned`];
  });
}
