/**
 * The store over one SQLite file: changes go to the writer in groups, questions to the reader. In a server both are
 * threads, so that nothing blocks the event loop, and once a second this file sees to them: a checkpoint, a look whether
 * the file is still the one that was opened, another try where the medium failed.
 */
import { stat } from 'node:fs/promises';
import type { Dispatch } from '../../../schemas/generated/types.ts';
import type { Logger } from '../../log.ts';
import type { Mutation, MutationKind, MutationResults } from '../mutations.ts';
import type { DamageReport, Query, QueryResults } from '../queries.ts';
import type { Store, StoreProblem } from '../store.ts';
import { StoreUnavailable } from '../store.ts';
import type { EncodedChange } from './encode.ts';
import { GroupCommit } from './group-commit.ts';
import { WAL_BYTES } from './open-database.ts';
import type { Asked } from './read.ts';
import { readRaw } from './read.ts';
import type { ReaderRequest, ReadResult } from './reader.ts';
import { RecentDispatches } from './recent-dispatches.ts';
import { StoreRefused } from './store-refused.ts';
import type { Client } from './thread.ts';
import { ThreadEnded } from './thread.ts';
import type { CommitResult, PrepareResult, WriterRequest } from './writer.ts';

export interface StoreParts {
  readonly path: string;
  readonly writer: Client<WriterRequest>;
  readonly reader: Client<ReaderRequest>;
  /** For the look through a file that was not closed; null: none is made. */
  readonly checker: Client<ReaderRequest> | null;
  readonly log: Logger;
  readonly beforeCommit: (() => void) | undefined;
  /** Takes the store's lock. @throws StoreRefused when another process keeps it; other errors when the medium fails */
  readonly lock: () => Promise<{ release(): void }>;
  /** Unix ms. */
  readonly now: () => number;
}

/** Between two checkpoints, and two looks at the file, in ms. */
const TICK_MS = 1000;
const LOOK_MS = 400;
const PAGE_BYTES = 4096;

interface Reading {
  readonly query: Asked;
  /** What the query need not load. */
  readonly known: Dispatch | null;
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

export class SqliteStore implements Store {
  private readonly parts: StoreParts;
  private readonly group: GroupCommit;
  private lock: { release(): void } | null = null;
  private opened = false;
  private closing: Promise<void> | null = null;
  private timers: NodeJS.Timeout[] = [];
  /** Device and number of the database and its log. */
  private identity: string | null = null;
  private trouble: StoreProblem | null = null;
  private readonly reading: Reading[] = [];
  private readonly recent = new RecentDispatches();

  constructor(parts: StoreParts) {
    this.parts = parts;
    this.group = new GroupCommit({
      commit: (changes) => this.commit(changes),
      beforeCommit: parts.beforeCommit,
      committed: (problem) => this.note('unavailable', problem),
      now: () => performance.now(),
    });
  }

  /** @throws StoreRefused; other errors of the medium only become a problem */
  async open(): Promise<void> {
    try {
      this.lock ??= await this.parts.lock();
      const result = await this.parts.writer.ask<PrepareResult>({ kind: 'prepare', now: this.parts.now() });
      if (result.kind === 'refused') throw new StoreRefused(result.message);
      if (result.kind !== 'prepared') return this.note('unavailable', result.message);
      this.identity = await this.look();
      this.opened = true;
      this.note('unavailable', null);
      if (result.damage !== null) this.report(result.damage);
      if (result.unclean) void this.check();
    } catch (error) {
      if (error instanceof StoreRefused) throw error;
      this.note('unavailable', error instanceof Error ? error.message : String(error));
    }
  }

  /** Sees to the threads from now on. */
  start(): void {
    void this.parts.writer.ask({ kind: 'lengthen_log' }).catch(() => {});
    const every = (ms: number, work: () => Promise<void>): void => {
      const timer = setInterval(() => void work().catch((error) => this.note('unavailable', String(error))), ms);
      timer.unref();
      this.timers.push(timer);
    };
    every(TICK_MS, () => this.tick());
    every(LOOK_MS, () => this.compare());
  }

  write<M extends Mutation>(mutation: M): Promise<MutationResults[M['kind']]> {
    const { trouble } = this;
    if (this.closing !== null) return Promise.reject(new StoreUnavailable('the store is closed'));
    if (!this.opened || trouble?.kind === 'replaced' || (trouble?.kind === 'full' && takesRoom(mutation))) {
      return Promise.reject(new StoreUnavailable(trouble?.message ?? 'the store is not open yet'));
    }
    return this.group.write(mutation).then((result) => {
      this.written(mutation, result);
      return result;
    });
  }

  private written(mutation: Mutation, result: MutationResults[MutationKind]): void {
    if (mutation.kind === 'accept') {
      const accepted = result as MutationResults['accept'];
      if (accepted.kind === 'stored') this.recent.add(accepted.ref, mutation.dispatch);
    } else if (mutation.kind === 'trim') {
      const { removed, bytes } = result as MutationResults['trim'];
      const size = `the store has reached its size of ${Math.round(mutation.max_bytes / 2 ** 20)} MB`;
      if (bytes <= mutation.max_bytes) this.note('full', null);
      else if (removed === 0) this.note('full', `${size}, and nothing in it has ended`);
    }
  }

  read<Q extends Query>(query: Q): Promise<QueryResults[Q['kind']]> {
    if (!this.opened || this.closing !== null) {
      return Promise.reject(new StoreUnavailable(this.trouble?.message ?? 'the store is not open'));
    }
    return new Promise((resolve, reject) => {
      const known = query.kind === 'load' ? this.recent.get(query.ref) : null;
      this.reading.push({ query: known === null ? query : { ...query, has_body: true }, known, resolve, reject });
      if (this.reading.length === 1) queueMicrotask(() => void this.sendReading());
    });
  }

  problem(): StoreProblem | null {
    return this.trouble;
  }

  close(): Promise<void> {
    this.closing ??= this.end();
    return this.closing;
  }

  private async end(): Promise<void> {
    const { writer, reader, checker } = this.parts;
    for (const timer of this.timers) clearInterval(timer);
    await this.group.settled();
    await checker?.end();
    for (const client of [reader, writer]) {
      await client.ask({ kind: 'close' }).catch(() => {});
      await client.end();
    }
    this.lock?.release();
  }

  private async commit(changes: readonly EncodedChange[]): Promise<readonly CommitResult[]> {
    const { writer } = this.parts;
    const send = (again: boolean): Promise<string> => writer.ask<string>({ kind: 'commit', changes, again });
    const text = await send(false).catch((error: unknown) => {
      // Whether it was committed is for the next thread to find out.
      if (error instanceof ThreadEnded) return send(true);
      throw error;
    });
    return JSON.parse(text) as readonly CommitResult[];
  }

  /** All that is asked in one turn crosses to the reader at once. */
  private async sendReading(): Promise<void> {
    const asked = this.reading.splice(0);
    const queries = asked.map(({ query }) => query);
    try {
      const results = await this.parts.reader.ask<readonly ReadResult[]>({ kind: 'read', queries });
      for (const [index, { query, known, resolve, reject }] of asked.entries()) {
        const result = results[index];
        if (result?.kind === 'ok') resolve(readRaw(query.kind, result.value, known) as never);
        else reject(new StoreUnavailable(`cannot read the store: ${result?.message ?? 'no answer'}`));
      }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      for (const { reject } of asked) reject(new StoreUnavailable(`cannot read the store: ${message}`));
    }
  }

  private async tick(): Promise<void> {
    if (this.closing !== null) return;
    if (!this.opened) return this.open();
    // An empty group: a failed commit is overwritten, a new connection opened.
    if (this.trouble?.kind === 'unavailable') await this.probe();
    const pages = await this.parts.reader.ask<number>({ kind: 'checkpoint' });
    // Under a steady load the reader never reaches the end of the log: only the writer can, between two commits.
    if (pages * PAGE_BYTES > WAL_BYTES) await this.parts.writer.ask({ kind: 'checkpoint' });
  }

  private async probe(): Promise<void> {
    const results = await this.commit([]);
    if (results.length === 0) this.note('unavailable', null);
  }

  /** Through all of a file that was not closed: what is broken in it is better known now. */
  private async check(): Promise<void> {
    const { checker, path, now } = this.parts;
    const broken = await checker?.ask<string | null>({ kind: 'check' }).catch(() => null);
    await checker?.end();
    if (typeof broken !== 'string') return;
    const damage = { at: now(), message: `${path} is damaged: ${broken}`, copy: null };
    this.report(damage);
    await this.parts.writer.ask({ kind: 'note_damage', damage }).catch(() => {});
  }

  private report({ message, copy }: DamageReport): void {
    this.parts.log.error({ copy }, message);
  }

  private async compare(): Promise<void> {
    if (!this.opened || this.closing !== null) return;
    const gone = (await this.look()) === this.identity ? null : 'has been removed or replaced while it is served';
    const what = gone === null ? null : `${this.parts.path} ${gone}: put it back, or restart the gateway`;
    this.note('replaced', what);
  }

  /** Null: not there. */
  private async look(): Promise<string | null> {
    try {
      const found = await Promise.all(['', '-wal'].map((suffix) => stat(this.parts.path + suffix, { bigint: true })));
      return found.map(({ dev, ino }) => `${dev}/${ino}`).join(' ');
    } catch {
      return null;
    }
  }

  /** Null ends a problem of this kind. */
  private note(kind: StoreProblem['kind'], message: string | null): void {
    const { trouble, parts } = this;
    if (message === null) {
      if (trouble?.kind !== kind) return;
      this.trouble = null;
      parts.log.info({ after_ms: parts.now() - trouble.since }, 'the store takes changes again');
    } else if (trouble === null || (trouble.kind !== kind && kind === 'replaced')) {
      this.trouble = { kind, message, since: parts.now() };
      parts.log.error({ reason: message }, 'the store takes no changes');
    }
  }
}

const takesRoom = ({ kind }: Mutation): boolean => kind === 'accept' || kind === 'join_group' || kind === 'fire_job';
