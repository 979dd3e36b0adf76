/**
 * The conversations of programs, and their private folders. A program gets a folder for its settings and transcripts (`state`)
 * in place of the one in the user's home. Runs without a session key get a new one. Those of a key share
 * `work/conversations/<hash of the session>/<program>` of the profile's home:
 *
 *   state/     between runs, only what `keep` names remains
 *   work/      the working folder, which is always at the same path, and empty when a run begins
 *   last.json  the id of the conversation and the usage that it has reported, written after a run that has answered or reported usage
 *
 * A run that is killed leaves `last.json` as it was: its repetition continues from the same place, with another new id if it is
 * the first. A conversation of which nothing was heard for 29 days is started again: programs forget theirs after 30.
 */
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from '../../../base/errors.ts';
import { readOwnFile, tryParseJson } from '../../../base/files.ts';
import type { AgentRequest } from '../../../runtime/dispatch/agent-runner.ts';
import { AgentError, AgentNotStarted } from '../../../runtime/dispatch/agent-runner.ts';
import type { ProgramContext } from '../../../runtime/dispatch/agents/known-program.ts';
import { conversationFolder } from '../../../runtime/dispatch/agents/work-folders.ts';
import { isTemporaryLack } from '../../../runtime/platform/process/run-process.ts';
import type { Usage } from '../../../runtime/store/usage.ts';
import { toUsage } from '../../../runtime/store/usage.ts';
import type { ProgramPlan } from '../../../schemas/generated/types.ts';

const MAX_AGE_MS = 29 * 24 * 3_600_000;
const MAX_BYTES = 4096;

interface RunEnd {
  readonly succeeded: boolean;
  /** The program does not have the conversation any more. */
  readonly isLost: boolean;
  /** The id that the program printed; null: none. */
  readonly id: string | null;
  readonly usage: Usage | null;
}

export interface Conversation {
  readonly args: readonly string[];
  /** Null: the program will print it. */
  readonly id: string | null;
  /** Absolute path of the private folder. */
  readonly state: string;
  readonly cwd: string | null;
  readonly writable: readonly string[];
  /** Creates and empties the folders, then calls `write`. Rejects with AgentError. */
  prepare(write: () => Promise<void>): Promise<void>;
  /** Returns the usage of this run alone. Never rejects. */
  end(run: RunEnd): Promise<Usage | null>;
}

export async function openConversation(
  plan: ProgramPlan,
  context: ProgramContext,
  { continued, session, route }: AgentRequest,
): Promise<Conversation> {
  const { conversation } = plan;
  if (continued === true && conversation !== undefined) return openKept(plan, conversation, context, session);
  const own = await attempt('a private folder', () => context.workFolders.create('run', context.folder, route));
  const state = join(own.path, 'state');
  return {
    args: conversation?.none ?? [],
    id: null,
    state,
    cwd: null,
    writable: [state],
    prepare: (write) =>
      attempt(state, () => mkdir(state, { mode: 0o700 }).then(write)).catch((error: unknown) =>
        own.release().then(() => Promise.reject(error)),
      ),
    async end({ usage }) {
      await own.release();
      return usage;
    },
  };
}

async function openKept(
  { name, has_state: hasState, output }: ProgramPlan,
  { first, next, keep = [] }: NonNullable<ProgramPlan['conversation']>,
  { folder: home, clock, workFolders }: ProgramContext,
  session: string,
): Promise<Conversation> {
  const discard = (path: string): Promise<void> => workFolders.discard(home, path);
  const folder = join(conversationFolder(home, session), name);
  const state = join(folder, 'state');
  const work = join(folder, 'work');
  const file = join(folder, 'last.json');
  const last = await attempt(file, () => readLast(file, clock.now()));
  const id = last?.id ?? (output.id === undefined ? randomUUID() : null);
  return {
    args: (last === null ? first : next).map((argument) =>
      argument.replaceAll('{id}', id ?? '').replaceAll('{state}', state),
    ),
    id,
    state,
    cwd: work,
    writable: hasState ? [state, work] : [work],
    prepare: (write) =>
      attempt(folder, async () => {
        await removeOld(join(home, 'work', 'conversations'), clock.now(), discard);
        await mkdir(state, { recursive: true, mode: 0o700 });
        // Its age, for `removeOld`.
        await utimes(dirname(folder), clock.now() / 1000, clock.now() / 1000);
        await empty(state, last === null ? [] : keep, discard);
        await discard(work);
        await mkdir(work, { mode: 0o700 });
        await write();
      }),
    async end({ succeeded, isLost, id: printed, usage }) {
      await discard(work).catch(() => {});
      if (isLost) await rm(file, { force: true }).catch(() => {});
      const known = printed ?? id;
      const isNext = known !== null && known === last?.id;
      const before = isNext ? last.used : null;
      const own = output.usage?.cumulative === true ? without(usage, before) : usage;
      // What a run without an answer used is in the total of the next one.
      const isUseful = succeeded || (isNext && !isLost && usage !== null);
      if (isUseful && known !== null)
        await writeLast(file, { id: known, used: usage ?? before, at: clock.now() }).catch(() => {});
      return own;
    },
  };
}

/** Runs it, and explains a failure of the file system. */
async function attempt<T>(place: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    const reason = `cannot prepare ${place} (${codeOf(error) ?? String(error)})`;
    throw isTemporaryLack(error) ? new AgentNotStarted(reason) : new AgentError(reason);
  }
}

type Discard = (path: string) => Promise<void>;

/** A program can take away its own access to a folder, and leave a link in place of one. */
async function empty(folder: string, keep: readonly string[], discard: Discard): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    await (entry.isDirectory() && keep.includes(entry.name) ? chmod(path, 0o700) : discard(path));
  }
}

/** Removes conversations that are too old to be continued. */
async function removeOld(folder: string, now: number, discard: Discard): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const { mtimeMs = now } = (await stat(join(folder, name)).catch(() => null)) ?? {};
    if (now - mtimeMs > MAX_AGE_MS) await discard(join(folder, name)).catch(() => {});
  }
}

interface Last {
  readonly id: string;
  /** What the program has reported for the whole conversation; null: nothing. */
  readonly used: Usage | null;
  /** Unix ms. */
  readonly at: number;
}

/** Null if there is no usable file, or it is too old. */
async function readLast(path: string, now: number): Promise<Last | null> {
  const bytes = await readOwnFile(path, MAX_BYTES).catch(() => Buffer.of());
  const { id, used, at } = (tryParseJson(bytes.toString('utf8')) ?? {}) as Readonly<Partial<Last>>;
  // It becomes an argument.
  if (typeof id !== 'string' || !SAFE_ID.test(id)) return null;
  if (typeof at !== 'number' || now - at > MAX_AGE_MS) return null;
  return { id, at, used: toUsage(used?.input_tokens, used?.output_tokens, used?.cost) };
}

const SAFE_ID = /^[A-Za-z0-9][\w.:-]{0,199}$/;

async function writeLast(path: string, last: Last): Promise<void> {
  if (!SAFE_ID.test(last.id)) return;
  await writeFile(`${path}.new`, JSON.stringify(last), { mode: 0o600 });
  await rename(`${path}.new`, path);
}

/** A total that is lower than before was started again. */
function without(total: Usage | null, before: Usage | null): Usage | null {
  if (total === null || before === null) return total;
  const rest = (now: number | null, then: number | null): number | null =>
    now === null || then === null || now < then ? now : now - then;
  return {
    input_tokens: rest(total.input_tokens, before.input_tokens),
    output_tokens: rest(total.output_tokens, before.output_tokens),
    cost: rest(total.cost, before.cost),
  };
}
