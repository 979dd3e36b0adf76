/**
 * The store over one SQLite file. Changes go to the writer in groups, queries to the reader. In a server both are
 * threads, so that nothing blocks the event loop; in a command they are plain objects.
 */

import { stat } from 'node:fs/promises';
import { messageOf } from '../../../base/errors.ts';
import type { Mutation, MutationKind, MutationResults, Store, StoreProblem, WrittenAs } from '../contract.ts';
import { StoreRefused, StoreUnavailable } from '../contract.ts';
import { StoreDamaged } from '../decode.ts';
import type { CommitResult, EncodedChange } from '../group-commit.ts';
import { GroupCommit, Health, NEW_WORK } from '../group-commit.ts';
import type { DamageReport, Query, QueryResults } from '../queries.ts';
import { WAL_BYTES } from './open-database.ts';
import type { ReaderRequest, ReadResult } from './read.ts';
import type { Rescue, RescueContext, StoreRescue } from './rescue.ts';
import type { Client } from './thread.ts';
import type { Committed, PrepareResult, WriterRequest } from './writer.ts';

export interface StoreParts extends RescueContext {
  readonly writer: Client<WriterRequest>;
  readonly reader: Client<ReaderRequest>;
  /** Null: no module provides one, or there is no file. */
  readonly rescue: Rescue | null;
  readonly beforeCommit: (() => void) | undefined;
  /** Called with the reason once one of its threads has ended; the store is closed then. */
  readonly failed: (reason: string) => void;
  /** Takes the store's lock. Rejects with StoreRefused when another process holds it, with others when the medium fails. */
  readonly lock: () => Promise<{ release(): void }>;
}

interface Reading {
  readonly query: Query;
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

export class SqliteStore implements Store {
  readonly shared = null;
  readonly state = null;
  private readonly parts: StoreParts;
  private readonly rescue: StoreRescue | null;
  private readonly group: GroupCommit;
  private readonly health: Health;
  private reading: Reading[] = [];
  private lock: { release(): void } | null = null;
  private isOpen = false;
  private closing: Promise<void> | null = null;
  private endUpkeep = (): void => {};
  /** Why it accepts nothing any more: one of its threads has ended. */
  private failure: string | null = null;

  constructor(parts: StoreParts) {
    this.parts = parts;
    const noteChecked = (broken: DamageReport | null) => parts.writer.ask({ kind: 'note_checked', broken });
    this.rescue = parts.rescue?.store(parts, noteChecked) ?? null;
    this.health = new Health(parts.log, parts.now);
    this.group = new GroupCommit({
      commit: (changes) => this.commit(changes),
      beforeCommit: parts.beforeCommit,
      // Only a probe ends the problem: a later commit may have had nothing to write.
      failed: (problem) => this.health.begin('unavailable', problem),
    });
  }

  /** Opens the file. Rejects with StoreRefused; a failing medium is only reported by `problem()`. */
  async open(): Promise<void> {
    const { writer, reader, now } = this.parts;
    try {
      this.lock ??= await this.parts.lock();
      // Starts both threads at once; the reader opens the file once it is prepared. While the reader has it open, the
      // connection of a dying writer is not the last one, which would checkpoint and remove the log.
      void reader.ask({ kind: 'read', queries: [] }).catch(() => {});
      const result = await writer.ask<PrepareResult>({ kind: 'prepare', now: now() });
      if (result.kind === 'refused') throw new StoreRefused(result.message);
      if (result.kind !== 'prepared') return this.health.begin('unavailable', result.message);
      await reader.ask({ kind: 'checkpoint' });
      this.isOpen = true;
      this.health.end('unavailable');
      if (result.findings !== null) this.rescue?.opened(result.findings);
    } catch (error) {
      if (error instanceof StoreRefused) throw error;
      this.health.begin('unavailable', messageOf(error));
    }
  }

  /** Starts checkpoints and recovery, for a server. */
  startUpkeep(): void {
    const { path, writer, reader } = this.parts;
    const tryAgain = async (): Promise<void> => {
      if (!this.isOpen) return this.open();
      await writer.ask({ kind: 'probe' });
      this.health.end('unavailable');
    };
    this.endUpkeep = startUpkeep({ path, writer, reader, health: this.health, tryAgain, isOpen: () => this.isOpen });
  }

  async write<M extends Mutation>(mutation: M, as?: WrittenAs): Promise<MutationResults[M['kind']]> {
    const { problem } = this.health;
    const isRefused = problem?.kind === 'replaced' || (problem?.kind === 'full' && NEW_WORK.has(mutation.kind));
    if (!this.isOpen || isRefused) throw new StoreUnavailable(problem?.message ?? 'the store is not open');
    const result = await this.group.write(mutation, as);
    this.written(mutation, result);
    return result;
  }

  read<Q extends Query>(query: Q): Promise<QueryResults[Q['kind']]> {
    if (!this.isOpen) return Promise.reject(new StoreUnavailable(this.problem()?.message ?? 'the store is not open'));
    return new Promise((resolve, reject) => {
      this.reading.push({ query, resolve, reject });
      if (this.reading.length === 1) queueMicrotask(() => void this.askAll());
    });
  }

  problem(): StoreProblem | null {
    return this.health.problem;
  }

  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  /** For the exit of a process that has not closed the store. */
  exit(): void {
    if (this.lock !== null && this.problem() === null) this.rescue?.exit();
  }

  /**
   * A thread has ended. It is unknown whether its changes are stored, so the store is not used any more. The recovery
   * of the next start resumes the work.
   */
  fail(reason: string): void {
    if (this.failure !== null || this.closing !== null) return;
    this.failure = `a store thread ended (${reason}): restart to resume its work`;
    this.health.begin('ended', this.failure);
    void this.close();
    this.parts.failed(this.failure);
  }

  private async end(): Promise<void> {
    const { writer, reader } = this.parts;
    this.isOpen = false;
    this.endUpkeep();
    await this.group.settled();
    await reader.end({ kind: 'close' });
    // Before the lock is released: a connection that closes last checkpoints the log and removes it, and the next process
    // may examine the log before it opens it. While one reads, the writer cannot empty the log.
    await this.rescue?.close();
    await writer.end({ kind: 'close' });
    this.lock?.release();
    this.lock = null;
  }

  private written(mutation: Mutation, result: MutationResults[MutationKind]): void {
    if (mutation.kind !== 'trim') return;
    const { removed, bytes } = result as MutationResults['trim'];
    const size = `the store has reached its size limit of ${Math.round(mutation.max_bytes / 2 ** 20)} MB`;
    if (bytes <= mutation.max_bytes) this.health.end('full');
    else if (removed === 0) this.health.begin('full', `${size}, and contains no ended dispatch to remove`);
  }

  private async commit(changes: readonly EncodedChange[]): Promise<readonly CommitResult[]> {
    if (this.failure !== null) return changes.map(() => ({ kind: 'unavailable', message: this.failure ?? '' }));
    const { results, aside } = JSON.parse(await this.parts.writer.ask({ kind: 'commit', changes })) as Committed;
    if (aside.length > 0) this.rescue?.quarantined(aside);
    return results;
  }

  /** Sends all queries of one turn of the event loop to the reader in one request. */
  private async askAll(): Promise<void> {
    const { reading } = this;
    this.reading = [];
    const queries = reading.map(({ query }) => query);
    let results: readonly ReadResult[] = [];
    let problem = 'no answer';
    try {
      results = JSON.parse(await this.parts.reader.ask<string>({ kind: 'read', queries })) as readonly ReadResult[];
    } catch (error) {
      problem = messageOf(error);
    }
    for (const [index, { resolve, reject }] of reading.entries()) {
      const result = results[index] ?? { kind: 'failed', message: problem };
      if (result.kind === 'malformed') await this.rescue?.malformed(result.message);
      if (result.kind === 'ok') resolve(result.value as never);
      else if (result.kind === 'damaged') reject(new StoreDamaged(result.message));
      else reject(new StoreUnavailable(`cannot read the store: ${result.message}`));
    }
  }
}

/*
 * A server's periodic work for its store: once a second a checkpoint, or a retry if the medium failed. More often, it
 * checks that the file is still the one that was opened. None of this blocks the event loop.
 */

/** Periods in ms. A removed file is noticed within a second. */
const TICK_MS = 1000;
const IDENTITY_MS = 400;
const PAGE_BYTES = 4096;

interface UpkeepParts {
  readonly path: string;
  readonly writer: Client<WriterRequest>;
  readonly reader: Client<ReaderRequest>;
  readonly health: Health;
  /** Opens the store, or overwrites a failed commit. */
  readonly tryAgain: () => Promise<void>;
  readonly isOpen: () => boolean;
}

/** Starts the timers; returns a function that stops them. */
function startUpkeep(parts: UpkeepParts): () => void {
  const checkIdentity = createIdentityCheck(parts);
  void checkIdentity();
  const timers = [every(TICK_MS, () => tick(parts)), every(IDENTITY_MS, checkIdentity)];
  return () => {
    for (const timer of timers) clearInterval(timer);
  };
}

/** Runs `work` periodically, skipping a period while it is still running. */
function every(ms: number, work: () => Promise<void>): NodeJS.Timeout {
  let busy = false;
  const timer = setInterval(async () => {
    if (busy) return;
    busy = true;
    await work().catch(() => {});
    busy = false;
  }, ms);
  return timer.unref();
}

async function tick({ writer, reader, health, tryAgain, isOpen }: UpkeepParts): Promise<void> {
  if (health.problem?.kind === 'unavailable') await tryAgain();
  if (!isOpen()) return;
  const pages = await reader.ask<number>({ kind: 'checkpoint' });
  // Under steady load a checkpoint of the reader never reaches the end of the log; the writer's does, between two commits.
  if (pages * PAGE_BYTES > WAL_BYTES) await writer.ask({ kind: 'checkpoint' });
}

function createIdentityCheck({ path, health, isOpen }: UpkeepParts): () => Promise<void> {
  let opened: string | null = null;
  return async () => {
    if (!isOpen()) return;
    const found = await identityOf(path);
    opened ??= found;
    if (found === opened) health.end('replaced');
    else {
      const what = 'or a file beside it was removed or replaced while the gateway runs';
      health.begin('replaced', `${path} ${what}: put it back, or restart the gateway`);
    }
  };
}

/** Device and inode numbers of the database, its log and its lock; null when one of them is missing. */
async function identityOf(path: string): Promise<string | null> {
  try {
    const found = await Promise.all(['', '-wal', '.lock'].map((suffix) => stat(path + suffix, { bigint: true })));
    return found.map(({ dev, ino }) => `${dev}/${ino}`).join(' ');
  } catch {
    return null;
  }
}
