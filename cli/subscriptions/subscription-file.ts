/**
 * Reads and changes `webhook_subscriptions.json`, for commands: under a lock and atomically. Everything else in the file
 * stays unchanged, including keys that this version does not know.
 */

import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isSystemError } from '../../base/errors.ts';
import { readJson, writeJson } from '../../base/exact-number.ts';
import { readRegularTextSync, UnreadableFile } from '../../base/files.ts';
import { isPlainMap } from '../../compiler/text/plain-data.ts';
import { writeAtomic } from '../../runtime/platform/files.ts';
import type { FileLock } from '../../runtime/store/sqlite/file-lock.ts';
import type { RouteConfig } from '../../schemas/generated/types.ts';
import { JSON_EXPECTED } from '../base/built/texts.ts';
import type { CliContext } from '../base/context.ts';
import { openHome } from '../base/context.ts';
import { CliError } from '../base/errors.ts';
import type { SharedText } from '../base/module.ts';
import { useSharedText } from '../store/use-store.ts';

/** Unvalidated values by name. The compiler validates them; an invalid one does not affect the others. */
type Entries = ReadonlyMap<string, unknown>;

/** The entry as an unvalidated map of keys; null for any other value. */
export const asEntry = (value: unknown): RouteConfig | null => (isPlainMap(value) ? value : null);

/** How long a command waits without progress of other commands, in ms. */
const LOCK_MS = 60_000;

const subscriptionPath = (home: string): string => join(home, 'webhook_subscriptions.json');

/** The file's text; a missing file has no subscriptions. */
export function readSubscriptionText(home: string): string {
  try {
    return readRegularTextSync(subscriptionPath(home)).replace(/^\ufeff/, '');
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return '{}\n';
    throw error instanceof UnreadableFile ? new CliError(error.message) : error;
  }
}

/** @throws CliError with the position of the first error */
export function parseSubscriptions(home: string, text: string): Entries {
  const fault = findJsonFault(text);
  if (fault !== null) throw unreadable(home, text, fault.offset, fault.message);
  const value = readJson(text);
  if (!isPlainMap(value)) throw unreadable(home, text, 0, 'not a map of subscriptions by name');
  return new Map(Object.entries(value));
}

function unreadable(home: string, text: string, offset: number, message: string): CliError {
  const before = text.slice(0, Math.max(0, offset)).split('\n');
  const place = `${subscriptionPath(home)}:${before.length}:${(before.at(-1) ?? '').length + 1}`;
  return new CliError(
    `${place}: ${message}`,
    'repair the file or move it away; hookwright does not overwrite a file that it cannot read',
  );
}

const printSubscriptions = (entries: Entries): string => `${writeJson(Object.fromEntries(entries), 2)}\n`;

/** The changed entries, and the result for the command. */
interface SubscriptionChange<Result> {
  readonly entries: Entries;
  readonly result: Result;
}

/**
 * Changes the file, and the shared database that it copies, if there is one. One command writes at a time. Nothing is
 * written if `change` throws or returns the same entries. The file gets mode 0600, because it contains secrets.
 * @throws CliError if the file cannot be parsed, or another command holds the lock for a minute without a change
 */
export async function updateSubscriptions<Result>(
  context: CliContext,
  change: (entries: Entries) => SubscriptionChange<Result>,
): Promise<Result> {
  const home = openHome(context);
  const lock = await takeLock(home, context);
  try {
    const shared = await useSharedText(context, (read) => changeShared(home, read, change));
    if (shared !== null) return shared.result;
    const text = readSubscriptionText(home);
    const { entries, result } = change(parseSubscriptions(home, text));
    const next = printSubscriptions(entries);
    if (next !== text) writeAtomic(subscriptionPath(home), next, 0o600);
    return result;
  } finally {
    lock.release();
  }
}

/** Changes the database first, repeatedly until no other node is faster, then the home's copy. */
async function changeShared<Result>(
  home: string,
  read: () => Promise<SharedText>,
  change: (entries: Entries) => SubscriptionChange<Result>,
): Promise<{ readonly result: Result }> {
  for (;;) {
    const { text, put } = await read();
    const before = text ?? readSubscriptionText(home);
    const { entries, result } = change(parseSubscriptions(home, before));
    const next = printSubscriptions(entries);
    if (!(await put(next))) continue;
    writeAtomic(subscriptionPath(home), next, 0o600);
    return { result };
  }
}

/** Waits while other commands make progress, because hundreds of them may take longer than a minute. */
async function takeLock(home: string, { clock }: CliContext): Promise<FileLock> {
  // Loaded on demand, because it loads the database driver, which reading does not need.
  const { waitForLock } = await import('../../runtime/store/sqlite/file-lock.ts');
  for (let before = versionOf(home); ; ) {
    const lock = await waitForLock(join(home, 'run', 'subscriptions.lock'), LOCK_MS, clock);
    if (lock !== null) return lock;
    const now = versionOf(home);
    if (now === before)
      throw new CliError('another command is changing the subscriptions and does not finish', 'try again');
    before = now;
  }
}

/** Differs after each change, because the file is replaced. */
function versionOf(home: string): string {
  const stat = statSync(subscriptionPath(home), { throwIfNoEntry: false });
  return stat === undefined ? '' : `${stat.ino} ${stat.mtimeMs} ${stat.size}`;
}

const MAX_DEPTH = 200;

/** The expected text, by the parser's name for the error. */
const EXPECTED: Readonly<Record<string, string>> = JSON_EXPECTED;

class Fault extends Error {
  /** UTF-16 offset. */
  readonly offset: number;
  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/** The first error, or null if the text is JSON without duplicate keys. */
export function findJsonFault(text: string): Fault | null {
  // Loaded on demand: most commands read no JSON that a person may have edited.
  const { visit, printParseErrorCode }: typeof import('jsonc-parser') = createRequire(import.meta.url)('jsonc-parser');
  const names: Set<string>[] = [];
  const onBegin = (offset: number): void => {
    if (names.push(new Set()) > MAX_DEPTH + 1) throw new Fault(offset, 'nested too deeply');
  };
  const onEnd = (): void => {
    names.pop();
  };
  const onObjectProperty = (name: string, offset: number, length: number): void => {
    const written = text.slice(offset, offset + length);
    if (names.at(-1)?.has(name) === true) throw new Fault(offset, `the name ${written} is used a second time here`);
    names.at(-1)?.add(name);
  };
  const onError = (code: Parameters<typeof printParseErrorCode>[0], offset: number): void => {
    const expected = EXPECTED[printParseErrorCode(code)];
    const found = offset >= text.length ? 'the file ends' : `found ${JSON.stringify(text[offset])}`;
    throw new Fault(offset, `not JSON: ${expected === undefined ? '' : `expected ${expected}, `}${found}`);
  };
  const begins = { onObjectBegin: onBegin, onArrayBegin: onBegin, onObjectProperty };
  try {
    visit(text, { ...begins, onObjectEnd: onEnd, onArrayEnd: onEnd, onError }, { disallowComments: true });
    return null;
  } catch (fault) {
    if (fault instanceof Fault) return fault;
    throw fault;
  }
}
